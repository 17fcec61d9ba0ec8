//! Planning how much of each tool result stays in a history.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::policy::{PolicyHandle, unknown};
use crate::units::{Numbers, Units};
use spillway::encoding::Utf16;
use spillway::notice::saved::SavedPart;
use spillway::plan::{Aggregate, Floor, Latest, Order, ResultLengths, notice_chars, plan_with_originals};
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
/// `results` what `originals` returns of some, for each: its original chars, and those of its saved
/// name.
#[napi(catch_unwind)]
pub fn plan_results(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    max_each: f64,
    budget: BudgetFields,
    #[napi(ts_arg_type = "Float64Array")] results: Numbers,
    #[napi(ts_arg_type = "Float64Array")] left: Numbers,
    #[napi(ts_arg_type = "(indexes: number[]) => number[]")] originals: Function<Vec<u32>, Vec<f64>>,
) -> Result<()> {
    let names = policy.notice.names_saved();
    let mut rows: Vec<ResultLengths> =
        results.chunks_exact(COLUMNS).map(|row| unpack_result(row, names)).collect();
    let mut failed = None;
    let look_up = |indexes: &[usize]| {
        let is_new = |index: &usize| results[index * COLUMNS + KNOWN] == 0.0;
        let new: Vec<u32> = indexes.iter().filter(|at| is_new(at)).map(|at| *at as u32).collect();
        let told = if new.is_empty() { Ok(vec![]) } else { originals.call(new.clone()) };
        let told = told.unwrap_or_else(|error| {
            failed = Some(error);
            vec![]
        });
        for (at, told) in new.iter().zip(told.chunks_exact(2)) {
            let row = &mut results[*at as usize * COLUMNS..][..COLUMNS];
            (row[1], row[3], row[KNOWN]) = (told[0], told[1], 1.0);
        }
        let original = |at: &usize| unpack_result(&results[at * COLUMNS..][..COLUMNS], names);
        indexes.iter().map(original).map(|row| Original { chars: row.original, named: row.named }).collect()
    };
    let notice = |missing| notice_chars(policy, missing);
    let steps = plan_with_originals(&mut rows, max_each as usize, &budget.budget()?, notice, look_up);
    for step in steps {
        left[step.index] = step.max_chars as f64;
    }
    failed.map_or(Ok(()), Err)
}

fn unpack_result(numbers: &[f64], names: bool) -> ResultLengths {
    ResultLengths {
        chars: numbers[0] as usize,
        original: numbers[1] as usize,
        latest: numbers[2] != 0.0,
        named: if names { numbers[3] as usize } else { 0 },
    }
}

/// Returns two numbers for each text: the chars of its original, and the chars that the name of its
/// saved output adds to a notice. `windows` has the head and the tail of each text, as in
/// `truncate_text`, and `chars` its length. The windows are read one after the other.
#[napi(catch_unwind)]
pub fn originals(
    #[napi(ts_arg_type = "readonly string[]")] windows: Array,
    chars: &[f64],
) -> Result<Vec<f64>> {
    let mut told = Vec::with_capacity(2 * chars.len());
    for (at, &chars) in chars.iter().enumerate() {
        let window = |at| windows.get::<Units>(at as u32).map(Option::unwrap_or_default);
        let (head, tail) = (window(2 * at)?, window(2 * at + 1)?);
        let Original { chars, named } =
            Original::of(&Input::ends(Utf16(&head), Utf16(&tail), chars as usize));
        told.extend([chars as f64, named as f64]);
    }
    Ok(told)
}

/// Returns the name of the saved output that the notices in a text name, the advice to read it, and
/// "part" if it is the start of the output. Null if they name none, or several. Windows as for
/// `originals`.
#[napi(catch_unwind)]
pub fn saved_output(
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    chars: f64,
) -> Option<Vec<String>> {
    let told = Input::ends(Utf16(&head), Utf16(&tail), chars as usize).told();
    let saved = told.saved();
    let part = matches!(saved, SavedPart::Part(_)).then(|| "part".to_owned());
    let named = !saved.name().is_empty();
    named.then(|| [saved.name().to_owned(), saved.advice(false)].into_iter().chain(part).collect())
}
