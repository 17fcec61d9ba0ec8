//! Planning what stays of the tool results of a history.

use napi_derive::napi;

use super::policy::unpack;
use super::units::{Numbers, Units};
use crate::context::plan::{Aggregate, Order, ToolResult, notice_chars, plan};
use crate::text::Utf16;
use crate::text::figures;
use crate::text::source::Source;

/// Numbers of each result: its chars, those of its original, and 1 when it is of the latest.
const COLUMNS: usize = 3;

/// Plans under the notice of a policy. `budget`: the most chars of one result and of all, 1 when the newest give way
/// first, 1 when the latest are protected, chars that each keeps. In `results` the chars of each become what it may keep.
#[napi(catch_unwind)]
pub fn plan_results(
    policy: &[f64],
    notice: String,
    source: String,
    budget: &[f64],
    #[napi(ts_arg_type = "Float64Array")] results: Numbers,
) {
    let (policy, _) = unpack(policy, notice, source, vec![]);
    let (cap, budget) = (budget[0] as usize, unpack_budget(budget));
    let rows: Vec<ToolResult> = results.chunks_exact(COLUMNS).map(unpack_result).collect();
    for step in plan(&rows, cap, &budget, |missing| notice_chars(&policy, missing)) {
        results[step.index * COLUMNS] = step.max_chars as f64;
    }
}

/// Reads a budget over all results, in that order.
pub fn unpack_budget(numbers: &[f64]) -> Aggregate {
    Aggregate {
        chars: numbers[1] as usize,
        order: if numbers[2] == 0.0 { Order::Oldest } else { Order::Newest },
        protect_latest: numbers[3] != 0.0,
        min_keep: numbers[4] as usize,
    }
}

fn unpack_result(numbers: &[f64]) -> ToolResult {
    ToolResult { chars: numbers[0] as usize, original: numbers[1] as usize, latest: numbers[2] != 0.0 }
}

/// Tells how many chars a text had before it was first cut. Of a long one, `head` and `tail` are windows, as for a clamp.
#[napi(catch_unwind)]
pub fn original_chars(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> f64 {
    figures::original_chars(&Source::ends(Utf16(&head), Utf16(&tail), chars as usize)) as f64
}
