//! Repairing and inspecting stored sessions.
//!
//! Reports go back as JSON: an object takes much machine code, and these are made once a file.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::plan::unpack_budget;
use super::policy::{unpack, write};
use super::task::Background;
use super::units::Numbers;
use crate::session::budget::{Budget, Step};
use crate::session::clamp::Rules;
use crate::session::failure::Failure;
use crate::session::inspect::inspect;
use crate::session::repair::{Request, repair};
use crate::session::row::{Options, SideData};
use crate::session::watch::Watch;

/// Makes what work on another thread is watched and stopped by.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'watch'>")]
pub fn start_watch() -> External<Arc<Watch>> {
    External::new(Arc::default())
}

/// Asks the work to stop.
#[napi(catch_unwind)]
pub fn stop_work(#[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>) {
    watch.stop();
}

/// Writes how far the work has come: bytes, all bytes, rows, and rows that were clamped.
#[napi(catch_unwind)]
pub fn read_progress(
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) {
    let progress = watch.progress();
    let counts = [progress.bytes, progress.total, progress.rows, progress.clamped];
    write(numbers, &counts.map(|count| count as usize));
}

/// Repairs a session. `how` as `unpack_options` reads it; `work`: 1 to keep a backup, 1 for a dry run, 1 to take the lock,
/// when this process started in milliseconds since 1970, and a budget as `unpack_plan` reads it, with the ids of `calls`.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
#[allow(clippy::too_many_arguments, reason = "plain arguments take the least machine code")]
pub fn repair_session(
    path: String,
    policy: &[f64],
    strings: Vec<String>,
    needles: Vec<String>,
    how: &[f64],
    work: &[f64],
    calls: Vec<String>,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>,
) -> AsyncTask<Background> {
    let request = Request {
        path: path.into(),
        options: unpack_options(policy, strings, needles, how),
        budget: unpack_plan(&work[4..], calls),
        backup: work[0] != 0.0,
        dry_run: work[1] != 0.0,
        lock: work[2] != 0.0,
        born: UNIX_EPOCH + Duration::from_millis(work[3] as u64),
    };
    let watch = Arc::clone(watch);
    Background::run(move || repair(&request, &watch).map_or_else(failed, |report| report.json()))
}

/// Tells what a session's context is spent on, and its `top` largest results.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn inspect_session(
    path: String,
    policy: &[f64],
    strings: Vec<String>,
    needles: Vec<String>,
    how: &[f64],
    top: f64,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>,
) -> AsyncTask<Background> {
    let (options, watch) = (unpack_options(policy, strings, needles, how), Arc::clone(watch));
    Background::run(move || {
        inspect(path.as_ref(), &options, top as usize, &watch).map_or_else(failed, |report| report.json())
    })
}

/// Reads a policy and, as `strings`, its notice, its source and a dialect, which is empty for any. `how`: bytes that are
/// left of side data, Infinity to keep it and -1 to drop it, 1 where texts are cleaned, and what is.
fn unpack_options(policy: &[f64], strings: Vec<String>, needles: Vec<String>, how: &[f64]) -> Options {
    let mut strings = strings.into_iter();
    let mut next = || strings.next().unwrap_or_default();
    let (policy, share) = unpack(policy, next(), next(), needles);
    let dialect = Some(next()).filter(|name| !name.is_empty());
    let side = match how[0] {
        max if max < 0.0 => SideData::Drop,
        f64::INFINITY => SideData::Keep,
        max => SideData::Cap(max as usize),
    };
    let flag = |at: usize| how[at] != 0.0;
    let clean = flag(1).then(|| [flag(2), flag(3), flag(4), flag(5)].into());
    Options { rules: Rules { policy, share, clean }, side, dialect }
}

/// Reads a budget: 0 for none, 1 before one as `plan_results` takes it, 2 before the steps of a plan, each its index, its
/// chars, the most that are to stay, and 1 where it has an id.
fn unpack_plan(numbers: &[f64], calls: Vec<String>) -> Option<Budget> {
    let (kind, numbers) = numbers.split_first()?;
    let mut calls = calls.into_iter();
    let mut step = |step: &[f64]| Step {
        index: step[0] as u64,
        chars: step[1] as usize,
        max_chars: step[2] as usize,
        call_id: if step[3] != 0.0 { calls.next() } else { None },
    };
    match *kind as usize {
        0 => None,
        1 => Some(Budget::Aggregate(unpack_budget(numbers))),
        _ => Some(Budget::Plan(numbers.chunks_exact(4).map(&mut step).collect())),
    }
}

fn failed(failure: Failure) -> String {
    failure.json()
}
