//! Repairing and inspecting stored sessions.
//!
//! Reports are returned as JSON: building objects takes much machine code, and there is one report per file.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::Serialize;

use super::media::unpack_media;
use super::plan::unpack_budget;
use super::policy::{PolicyHandle, write};
use super::task::Background;
use super::units::Numbers;
use crate::dialect::structured::CopyChoice;
use crate::dialect::table::Table;
use crate::policy::Policy;
use crate::session::budget_survey::{PlanStep, ResultsTarget};
use crate::session::failure::Failure;
use crate::session::inspect::inspect;
use crate::session::progress::Progress;
use crate::session::repair::{Request, repair};
use crate::session::rewrite_row::{Options, SideData};
use crate::session::triage::triage;
use crate::session::undo::{Undo, undo};
use crate::slots::slot_rules::SlotRules;

/// Sets the table of dialects, as JSON, before the first session is read.
#[napi(catch_unwind)]
pub fn set_dialects(json: String) -> Result<()> {
    Table::set(&json).map_err(|error| Error::from_reason(format!("dialects.json: {error}")))
}

/// Makes a handle to watch and stop work on another thread.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'watch'>")]
pub fn start_watch() -> External<Arc<Progress>> {
    External::new(Arc::default())
}

/// Asks the work to stop.
#[napi(catch_unwind)]
pub fn stop_work(#[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>) {
    watch.stop();
}

/// Writes the progress: bytes done, total bytes, rows, and clamped rows.
#[napi(catch_unwind)]
pub fn read_progress(
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) {
    let progress = watch.counts();
    let counts = [progress.bytes, progress.total, progress.rows, progress.clamped];
    write(numbers, &counts.map(|count| count as usize));
}

/// Repairs a session. `how` is read by `unpack_options`. `work`: 1 to keep a backup, 1 for a dry run, 1 to take the
/// lock, the start time of this process in milliseconds since 1970, 1 to mend damaged rows, 1 to pair calls, and a
/// budget read by `unpack_plan` with the ids in `calls`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
#[allow(clippy::too_many_arguments, reason = "plain arguments take the least machine code")]
pub fn repair_session(
    path: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    dialect: Option<String>,
    how: &[f64],
    work: &[f64],
    calls: Vec<String>,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> AsyncTask<Background> {
    let request = Request {
        path: path.into(),
        options: unpack_options(policy, dialect, how),
        budget: unpack_plan(&work[6..], calls),
        backup: work[0] != 0.0,
        dry_run: work[1] != 0.0,
        lock: work[2] != 0.0,
        mend: work[4] != 0.0,
        pairs: work[5] != 0.0,
        born: UNIX_EPOCH + Duration::from_millis(work[3] as u64),
    };
    let watch = Arc::clone(watch);
    Background::run(move || told(repair(&request, &watch)))
}

/// Undoes the latest repair of a session. `how`: 1 to take the file before the first repair, 1 to carry over rows that
/// were appended since, and the start time of this process in milliseconds since 1970.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn undo_repair(
    path: String,
    how: &[f64],
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> AsyncTask<Background> {
    let request = Undo {
        path: path.into(),
        first: how[0] != 0.0,
        keep_appended: how[1] != 0.0,
        born: UNIX_EPOCH + Duration::from_millis(how[2] as u64),
    };
    let watch = Arc::clone(watch);
    Background::run(move || told(undo(&request, &watch)))
}

/// Reports the sizes of a session's context, with the `top` largest results.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn inspect_session(
    path: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    dialect: Option<String>,
    how: &[f64],
    top: f64,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> AsyncTask<Background> {
    let (options, watch) = (unpack_options(policy, dialect, how), Arc::clone(watch));
    Background::run(move || told(inspect(path.as_ref(), &options, top as usize, &watch)))
}

/// Tells what a repair of a session may have to do.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn triage_session(
    path: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    dialect: Option<String>,
    how: &[f64],
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> AsyncTask<Background> {
    let (options, watch) = (unpack_options(policy, dialect, how), Arc::clone(watch));
    Background::run(move || told(triage(path.as_ref(), &options, &watch)))
}

/// Reads the options of a session. `how`: the limit of side data in bytes (Infinity keeps it, -1 drops it), bytes
/// allowed beyond that limit, 1 to ask of results what their history says, what stays of copies (0 for all, 1 for the
/// text, 2 for structured content), 1 to clean texts, and the four options of the cleaning; 1 to bound payloads, and
/// then the limits that `unpack_media` reads.
fn unpack_options(policy: &Policy, dialect: Option<String>, how: &[f64]) -> Options {
    let side = match how[0] {
        max if max < 0.0 => SideData::Drop,
        f64::INFINITY => SideData::Keep,
        max => SideData::Cap { max: max as usize, spare: how[1] as usize },
    };
    let flag = |at: usize| how[at] != 0.0;
    let structured = [CopyChoice::Both, CopyChoice::Text, CopyChoice::Structured][how[3] as usize];
    let clean = flag(4).then(|| [flag(5), flag(6), flag(7), flag(8)].into());
    let media = flag(9).then(|| unpack_media(&how[10..]));
    Options {
        rules: SlotRules { policy: policy.clone(), clean },
        side,
        structured,
        asks: flag(2),
        media,
        dialect,
    }
}

/// Reads a budget: 0 for none; 1 and then a budget as `plan_results` takes it; or 2 and then the steps of a plan, each
/// with its index, its chars, its maximum chars, the bytes of its payloads, and 1 if it has an id.
fn unpack_plan(numbers: &[f64], calls: Vec<String>) -> Option<ResultsTarget> {
    let (kind, numbers) = numbers.split_first()?;
    let mut calls = calls.into_iter();
    let mut step = |step: &[f64]| PlanStep {
        index: step[0] as u64,
        chars: step[1] as usize,
        max_chars: step[2] as usize,
        media: step[3] as usize,
        call_id: if step[4] != 0.0 { calls.next() } else { None },
    };
    match *kind as usize {
        0 => None,
        1 => Some(ResultsTarget::Aggregate(unpack_budget(numbers))),
        _ => Some(ResultsTarget::Plan(numbers.chunks_exact(5).map(&mut step).collect())),
    }
}

fn told(report: std::result::Result<impl Serialize, Failure>) -> String {
    report.map_or_else(|failure| failure.json(), |report| serde_json::to_string(&report).unwrap_or_default())
}
