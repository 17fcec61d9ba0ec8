//! Planning how much of each tool result stays in a history.

use napi_derive::napi;

use super::policy::PolicyHandle;
use super::units::{Numbers, Units};
use crate::encoding::Utf16;
use crate::plan::{Aggregate, Floor, Latest, Order, ToolResult, notice_chars, plan};
use crate::truncate::figures::Original;
use crate::truncate::input::Input;

/// Numbers per result: its chars, those of its original, 1 if it is among the latest, and the chars by which a notice is
/// longer that names its saved output.
const COLUMNS: usize = 4;

/// Plans with the notice of a policy. `budget`: maximum chars of one result and of all, 1 to shrink the newest first, 1
/// to shrink the latest last or 2 never, minimum chars of each, and 1 to keep these even over budget. Replaces the chars of each
/// result in `results` with those it may keep.
#[napi(catch_unwind)]
pub fn plan_results(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    budget: &[f64],
    #[napi(ts_arg_type = "Float64Array")] results: Numbers,
) {
    let (cap, budget) = (budget[0] as usize, unpack_budget(budget));
    let names = policy.notice.names_saved();
    let rows = results.chunks_exact(COLUMNS).map(|row| unpack_result(row, names));
    let rows: Vec<ToolResult> = rows.collect();
    for step in plan(&rows, cap, &budget, |missing| notice_chars(policy, missing)) {
        results[step.index * COLUMNS] = step.max_chars as f64;
    }
}

/// Reads the numbers of a budget, in the order that `plan_results` documents.
pub fn unpack_budget(numbers: &[f64]) -> Aggregate {
    Aggregate {
        chars: numbers[1] as usize,
        order: if numbers[2] == 0.0 { Order::Oldest } else { Order::Newest },
        latest: [Latest::AsOthers, Latest::Last, Latest::Never][numbers[3] as usize],
        min_keep: numbers[4] as usize,
        floor: if numbers[5] == 0.0 { Floor::Dots } else { Floor::Content },
    }
}

fn unpack_result(numbers: &[f64], names: bool) -> ToolResult {
    ToolResult {
        chars: numbers[0] as usize,
        original: numbers[1] as usize,
        latest: numbers[2] != 0.0,
        named: if names { numbers[3] as usize } else { 0 },
    }
}

/// Returns the chars that a text had before it was first truncated, and those by which a notice is longer that names its
/// saved output. For a long text, `head` and `tail` are windows, as in `truncate_text`.
#[napi(catch_unwind)]
pub fn original(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Vec<f64> {
    let Original { chars, named } = Original::of(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize));
    vec![chars as f64, named as f64]
}

/// Returns the advice on getting the full output of a text whose notices name one. Windows as for `original`.
#[napi(catch_unwind)]
pub fn saved_advice(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Option<String> {
    Original::advice(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize))
}
