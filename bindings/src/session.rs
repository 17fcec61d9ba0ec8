//! Repairing and inspecting stored sessions.
//!
//! Reports are returned as JSON: building objects takes much machine code, and there is one report
//! per file.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::Serialize;

use crate::media::MediaFields;
use crate::plan::BudgetFields;
use crate::policy::{PolicyHandle, unknown, write};
use crate::task::Background;
use crate::units::Numbers;
use spillway::clean;
use spillway::dialect::structured::CopyChoice;
use spillway::dialect::table::Table;
use spillway::media::MediaBudget;
use spillway::policy::Policy;
use spillway::session;
use spillway::session::budget_survey::{PlanStep, ResultsTarget};
use spillway::session::failure::Failure;
use spillway::session::inspect::inspect;
use spillway::session::kind::kind_of;
use spillway::session::progress::Progress;
use spillway::session::repair::RepairRequest;
use spillway::session::rewrite_row::{RowOptions, SideData};
use spillway::session::triage::triage;
use spillway::session::undo::{Undo, undo};
use spillway::slots::slot_rules::SlotRules;

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

/// The treatment of the results of a session, beside their limits.
#[napi(object, object_to_js = false)]
pub struct SessionFields {
    pub dialect: Option<String>,
    #[napi(ts_type = "'whole' | 'cap' | 'drop'")]
    pub side_data: String,
    pub max_side_bytes: f64,
    /// Bytes by which capped side data may be larger.
    pub spare_side_bytes: f64,
    /// The copies that stay.
    #[napi(ts_type = "'both' | 'text' | 'structured'")]
    pub structured: String,
    /// Asks of each result what its history says.
    pub asks: bool,
    pub clean: Option<CleanFields>,
    pub media: Option<MediaFields>,
}

/// The steps of a cleaning.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct CleanFields {
    pub ansi: bool,
    pub carriage_returns: bool,
    pub control: bool,
    pub repeats: bool,
    pub html: bool,
}

/// How to repair a session.
#[napi(object, object_to_js = false)]
pub struct RepairFields {
    pub backup: bool,
    pub dry_run: bool,
    pub lock: bool,
    /// Mends damaged rows.
    pub mend: bool,
    /// Gives each call its result.
    pub pairs: bool,
    /// The start time of this process in milliseconds since 1970.
    pub born: f64,
    pub budget: Option<BudgetFields>,
    pub plan: Option<Vec<StepFields>>,
}

/// A step of a plan.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct StepFields {
    pub index: f64,
    pub call_id: Option<String>,
    pub chars: f64,
    pub max_chars: f64,
    /// Bytes of its payloads.
    pub media: Option<f64>,
}

/// How to undo a repair.
#[napi(object, object_to_js = false)]
pub struct UndoFields {
    /// Takes the file before the first repair.
    pub first: bool,
    /// Carries over rows that were appended since.
    pub keep_appended: bool,
    /// Carries over nothing that was changed since.
    pub discard_changes: bool,
    /// The start time of this process in milliseconds since 1970.
    pub born: f64,
}

#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn repair_session(
    path: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    session: SessionFields,
    repair: RepairFields,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> Result<AsyncTask<Background>> {
    let budget = repair.budget.map(|budget| budget.budget()).transpose()?;
    let steps = |plan: Vec<StepFields>| plan.into_iter().map(PlanStep::from).collect();
    let request = RepairRequest {
        path: path.into(),
        options: session.options(policy)?,
        budget: budget.map(ResultsTarget::Aggregate).or(repair.plan.map(steps).map(ResultsTarget::Plan)),
        backup: repair.backup,
        dry_run: repair.dry_run,
        lock: repair.lock,
        mend: repair.mend,
        pairs: repair.pairs,
        born: time_of(repair.born),
    };
    let watch = Arc::clone(watch);
    Ok(Background::run(move || told(session::repair::repair(&request, &watch))))
}

/// Undoes the latest repair of a session.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn undo_repair(
    path: String,
    fields: UndoFields,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> AsyncTask<Background> {
    let request = Undo {
        path: path.into(),
        first: fields.first,
        keep_appended: fields.keep_appended,
        discard_changes: fields.discard_changes,
        born: time_of(fields.born),
    };
    let watch = Arc::clone(watch);
    Background::run(move || told(undo(&request, &watch)))
}

/// Reads a session: reports the sizes of its context, with the `top` largest results, or tells its
/// layout, or what a repair of it may have to do.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn read_session(
    path: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    session: SessionFields,
    #[napi(ts_arg_type = "'inspect' | 'kind' | 'triage'")] question: String,
    top: f64,
    #[napi(ts_arg_type = "ExternalObject<'watch'>")] watch: &External<Arc<Progress>>,
) -> Result<AsyncTask<Background>> {
    let (options, watch) = (session.options(policy)?, Arc::clone(watch));
    Ok(Background::run(move || {
        let path = path.as_ref();
        match &*question {
            "inspect" => told(inspect(path, &options, top as usize, &watch)),
            "kind" => told(kind_of(path, &options, &watch)),
            _ => told(triage(path, &options, &watch)),
        }
    }))
}

impl SessionFields {
    fn options(self, policy: &Policy) -> Result<RowOptions> {
        let side = match &*self.side_data {
            "whole" => SideData::Keep,
            "drop" => SideData::Drop,
            "cap" => {
                SideData::Cap { max: self.max_side_bytes as usize, spare: self.spare_side_bytes as usize }
            }
            other => return Err(unknown("sideData", other)),
        };
        let structured = match &*self.structured {
            "both" => CopyChoice::Both,
            "text" => CopyChoice::Text,
            "structured" => CopyChoice::Structured,
            other => return Err(unknown("structured", other)),
        };
        Ok(RowOptions {
            rules: SlotRules { policy: policy.clone(), clean: self.clean.map(clean::CleanOptions::from) },
            side,
            structured,
            asks: self.asks,
            media: self.media.map(MediaBudget::from),
            dialect: self.dialect,
        })
    }
}

impl From<CleanFields> for clean::CleanOptions {
    fn from(
        CleanFields { ansi, carriage_returns, control, repeats, html }: CleanFields,
    ) -> clean::CleanOptions {
        clean::CleanOptions { ansi, carriage_returns, control, repeats, html }
    }
}

impl From<StepFields> for PlanStep {
    fn from(step: StepFields) -> PlanStep {
        PlanStep {
            index: step.index as u64,
            call_id: step.call_id,
            chars: step.chars as usize,
            max_chars: step.max_chars as usize,
            media: step.media.unwrap_or(f64::INFINITY) as usize,
        }
    }
}

fn time_of(milliseconds: f64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds as u64)
}

fn told(report: std::result::Result<impl Serialize, Failure>) -> String {
    report.map_or_else(|failure| failure.json(), |report| serde_json::to_string(&report).unwrap_or_default())
}
