//! Repairing and inspecting stored sessions.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::clean::options_of;
use super::plan::unpack_budget;
use super::policy::{unpack, write};
use super::task::Background;
use super::units::Numbers;
use crate::session::budget::{Budget, Step};
use crate::session::clamp::Rules;
use crate::session::failure::Failure;
use crate::session::inspect::{self, OfResult, OfTool, Shape, inspect};
use crate::session::repair::{Reason, Report, Request, repair};
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
    write(
        numbers,
        &[progress.bytes, progress.total, progress.rows, progress.clamped].map(|count| count as usize),
    );
}

/// A session, and the policy for its results.
#[napi(object)]
pub struct SessionWork {
    pub path: String,
    /// As `pack` in lib/policy.ts has it.
    pub policy: Vec<f64>,
    pub notice: String,
    pub source: String,
    pub needles: Vec<String>,
    /// What is cleaned, as `Cleaning` in lib/cleaning.ts has it.
    pub clean: Option<Vec<bool>>,
    /// Bytes that are left of side data: -1 drops it, nothing keeps it.
    pub max_side_bytes: Option<f64>,
    pub dialect: Option<String>,
}

impl SessionWork {
    fn options(&self) -> Options {
        let (notice, source, needles) = (self.notice.clone(), self.source.clone(), self.needles.clone());
        let (policy, share) = unpack(&self.policy, notice, source, needles);
        let side = match self.max_side_bytes {
            None => SideData::Keep,
            Some(max) if max < 0.0 => SideData::Drop,
            Some(max) => SideData::Cap(max as usize),
        };
        let clean = self.clean.as_deref().map(options_of);
        Options { rules: Rules { policy, share, clean }, side, dialect: self.dialect.clone() }
    }
}

/// What a repair does besides.
#[napi(object)]
pub struct RepairWork {
    /// A budget as `plan_results` takes it.
    pub aggregate: Option<Vec<f64>>,
    pub plan: Option<Vec<PlannedStep>>,
    pub backup: bool,
    pub dry_run: bool,
    pub lock: bool,
    /// When this process started, in milliseconds since 1970.
    pub born: f64,
}

#[napi(object)]
pub struct PlannedStep {
    pub index: f64,
    pub call_id: Option<String>,
    pub chars: f64,
    pub max_chars: f64,
}

impl RepairWork {
    fn request(self, session: &SessionWork) -> Request {
        let step = |step: PlannedStep| Step {
            index: step.index as u64,
            call_id: step.call_id,
            chars: step.chars as usize,
            max_chars: step.max_chars as usize,
        };
        let plan = self.plan.map(|steps| Budget::Plan(steps.into_iter().map(step).collect()));
        let aggregate = self.aggregate.map(|numbers| Budget::Aggregate(unpack_budget(&numbers)));
        Request {
            path: session.path.clone().into(),
            options: session.options(),
            budget: plan.or(aggregate),
            backup: self.backup,
            dry_run: self.dry_run,
            lock: self.lock,
            born: UNIX_EPOCH + Duration::from_millis(self.born as u64),
        }
    }
}

/// Why something could not be done. Of what the system refused the number is given.
#[napi(object)]
pub struct SessionFailure {
    pub code: String,
    pub errno: Option<i32>,
    pub message: String,
}

impl From<Failure> for SessionFailure {
    fn from(failure: Failure) -> SessionFailure {
        let (code, message) = match failure {
            Failure::System(error) => {
                let (errno, message) = (error.raw_os_error(), error.to_string());
                return SessionFailure { code: "EIO".into(), errno, message };
            }
            Failure::Locked { message, own: true } => ("OWN_LOCK", message),
            Failure::Locked { message, own: false } => ("ERR_SPILLWAY_LOCKED", message),
            Failure::Changed(message) => ("ERR_SPILLWAY_CHANGED", message),
            Failure::Format(message) => ("ERR_SPILLWAY_FORMAT", message),
            Failure::Stopped => ("STOPPED", String::new()),
        };
        SessionFailure { code: code.into(), errno: None, message }
    }
}

#[napi(object)]
pub struct Repaired {
    pub changed: bool,
    pub rows: f64,
    pub clamped: f64,
    pub damaged: f64,
    pub torn_tail: bool,
    pub bytes_before: f64,
    pub bytes_after: f64,
    pub unmatched: f64,
    pub backup_path: Option<String>,
    pub reason: Option<String>,
}

impl From<Report> for Repaired {
    fn from(report: Report) -> Repaired {
        let reason = |reason| match reason {
            Reason::NothingToDo => "nothing to do",
            Reason::EmptySession => "empty session",
            Reason::DryRun => "dry run",
        };
        Repaired {
            changed: report.changed,
            rows: report.rows as f64,
            clamped: report.clamped as f64,
            damaged: report.damaged as f64,
            torn_tail: report.torn_tail,
            bytes_before: report.bytes_before as f64,
            bytes_after: report.bytes_after as f64,
            unmatched: report.unmatched as f64,
            backup_path: report.backup.map(|path| path.to_string_lossy().into_owned()),
            reason: report.reason.map(|why| reason(why).to_owned()),
        }
    }
}

/// Repairs a session.
#[napi(catch_unwind, ts_return_type = "Promise<Repaired | SessionFailure>")]
pub fn repair_session(
    session: SessionWork,
    work: RepairWork,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>,
) -> AsyncTask<Background> {
    let (request, watch) = (work.request(&session), Arc::clone(watch));
    Background::run(move || outcome(repair(&request, &watch), Repaired::from))
}

#[napi(object)]
pub struct ToolShare {
    pub tool: String,
    pub results: f64,
    pub chars: f64,
    pub bytes: f64,
}

impl From<OfTool> for ToolShare {
    fn from(of: OfTool) -> ToolShare {
        let OfTool { tool, results, chars, bytes } = of;
        ToolShare { tool, results: results as f64, chars: chars as f64, bytes: bytes as f64 }
    }
}

#[napi(object)]
pub struct LargeResult {
    pub row: f64,
    pub tool: Option<String>,
    pub call_id: Option<String>,
    pub chars: f64,
    pub bytes: f64,
}

impl From<OfResult> for LargeResult {
    fn from(of: OfResult) -> LargeResult {
        let OfResult { row, tool, call_id, chars, bytes } = of;
        LargeResult { row: row as f64, tool, call_id, chars: chars as f64, bytes: bytes as f64 }
    }
}

#[napi(object)]
pub struct Inspected {
    pub format: String,
    pub rows: f64,
    pub bytes: f64,
    pub tool_results: f64,
    pub by_tool: Vec<ToolShare>,
    pub largest: Vec<LargeResult>,
    pub oversized: f64,
    pub damaged: f64,
}

impl From<inspect::Report> for Inspected {
    fn from(report: inspect::Report) -> Inspected {
        let format = match report.format {
            Shape::Pi => "pi",
            Shape::ClaudeCode => "claude-code",
            Shape::Messages => "messages",
            Shape::Unknown => "unknown",
        };
        Inspected {
            format: format.into(),
            rows: report.rows as f64,
            bytes: report.bytes as f64,
            tool_results: report.results as f64,
            by_tool: report.by_tool.into_iter().map(ToolShare::from).collect(),
            largest: report.largest.into_iter().map(LargeResult::from).collect(),
            oversized: report.oversized as f64,
            damaged: report.damaged as f64,
        }
    }
}

/// Tells what a session's context is spent on, and its `top` largest results.
#[napi(catch_unwind, ts_return_type = "Promise<Inspected | SessionFailure>")]
pub fn inspect_session(
    session: SessionWork,
    top: f64,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Watch>>,
) -> AsyncTask<Background> {
    let watch = Arc::clone(watch);
    Background::run(move || {
        outcome(inspect(session.path.as_ref(), &session.options(), top as usize, &watch), Inspected::from)
    })
}

fn outcome<T, R>(
    outcome: std::result::Result<T, Failure>,
    shown: impl FnOnce(T) -> R,
) -> Either<R, SessionFailure> {
    match outcome {
        Ok(value) => Either::A(shown(value)),
        Err(failure) => Either::B(failure.into()),
    }
}
