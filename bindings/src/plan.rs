//! Planning how much of each tool result stays in a history.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::policy::{PolicyHandle, unknown};
use crate::units::{Numbers, Units};
use spillway::encoding::Utf16;
use spillway::plan::{Aggregate, Floor, Latest, Order, ToolResult, notice_chars, plan_with_originals};
use spillway::truncate::figures::Original;
use spillway::truncate::input::Input;

/// A budget for all results of a history.
#[napi(object, object_to_js = false)]
pub struct BudgetFields {
    pub max_chars: f64,
    #[napi(ts_type = "'oldest' | 'newest'")]
    pub order: String,
    /// When the latest results shrink.
    #[napi(ts_type = "'asOthers' | 'last' | 'never'")]
    pub latest: String,
    pub min_keep_chars: f64,
    /// `minKeepChars` stay even over budget.
    pub keeps_content: bool,
}

impl BudgetFields {
    pub fn budget(&self) -> Result<Aggregate> {
        Ok(Aggregate {
            chars: self.max_chars as usize,
            order: match &*self.order {
                "oldest" => Order::Oldest,
                "newest" => Order::Newest,
                other => return Err(unknown("order", other)),
            },
            latest: match &*self.latest {
                "asOthers" => Latest::AsOthers,
                "last" => Latest::Last,
                "never" => Latest::Never,
                other => return Err(unknown("latest", other)),
            },
            min_keep: self.min_keep_chars as usize,
            floor: if self.keeps_content { Floor::Content } else { Floor::Dots },
        })
    }
}

/// Numbers per result: its chars, those of its original, 1 if it is among the latest, the chars by
/// which a notice is longer that names its saved output, and 1 if its original was looked up.
const COLUMNS: usize = 5;
const KNOWN: usize = 4;

/// Plans with the notice of a policy. Writes the chars that each result may keep to `left`, and to
/// `results` what `original` returns of one: its original chars, and those of its saved name.
#[napi(catch_unwind)]
pub fn plan_results(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    max_each: f64,
    budget: BudgetFields,
    #[napi(ts_arg_type = "Float64Array")] results: Numbers,
    #[napi(ts_arg_type = "Float64Array")] left: Numbers,
    #[napi(ts_arg_type = "(index: number) => readonly [number, number]")] original: Function<u32, Vec<f64>>,
) -> Result<()> {
    let names = policy.notice.names_saved();
    let mut rows: Vec<ToolResult> =
        results.chunks_exact(COLUMNS).map(|row| unpack_result(row, names)).collect();
    let mut failed = None;
    let look_up = |index: usize| {
        let row = &mut results[index * COLUMNS..][..COLUMNS];
        if row[KNOWN] != 0.0 || failed.is_some() {
            return None;
        }
        match original.call(index as u32) {
            Ok(told) => (row[1], row[3], row[KNOWN]) = (told[0], told[1], 1.0),
            Err(error) => failed = Some(error),
        }
        let ToolResult { original, named, .. } = unpack_result(row, names);
        Some(Original { chars: original, named })
    };
    let notice = |missing| notice_chars(policy, missing);
    let steps = plan_with_originals(&mut rows, max_each as usize, &budget.budget()?, notice, look_up);
    for step in steps {
        left[step.index] = step.max_chars as f64;
    }
    failed.map_or(Ok(()), Err)
}

fn unpack_result(numbers: &[f64], names: bool) -> ToolResult {
    ToolResult {
        chars: numbers[0] as usize,
        original: numbers[1] as usize,
        latest: numbers[2] != 0.0,
        named: if names { numbers[3] as usize } else { 0 },
    }
}

/// Returns the chars that a text had before it was first truncated, and those by which a notice is
/// longer that names its saved output. For a long text, `head` and `tail` are windows, as in
/// `truncate_text`.
#[napi(catch_unwind)]
pub fn original(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Vec<f64> {
    let Original { chars, named } = Original::of(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize));
    vec![chars as f64, named as f64]
}

/// Returns the advice on getting the full output of a text whose notices name one. Windows as for
/// `original`.
#[napi(catch_unwind)]
pub fn saved_advice(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Option<String> {
    Original::advice(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize))
}

/// Returns the name of the saved output that the notices in a text name, then "part" if it is the
/// start of the output. Null if they name none, or several.
#[napi(catch_unwind)]
pub fn saved_name(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Option<Vec<String>> {
    Original::saved(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize))
}
