//! Tells in one pass what a repair may have to do, for a look through thousands of sessions. It may
//! be wrong about work that is not there, never about work that is: the repair itself judges what
//! this finds.

use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::flaws::{FlawReader, Flaws};
use super::pairs::well_paired::WellPaired;
use super::prefilter::Prefilter;
use super::progress::Progress;
use super::rewrite_row::RowOptions;
use super::row_format::SessionKind;
use super::rows::{RowReader, Rows, each_row};
use super::session_file::SessionFile;
use crate::dialect::ToolResult;

/// The kinds of work that a repair may find in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Triage {
    pub format: SessionKind,
    /// Results over the limits that a repair makes smaller for the model.
    pub over: bool,
    /// Rows that are not JSON. Behind these only flaws were looked for, where the agent loses what
    /// precedes such a row: they may hold anything.
    pub damaged: bool,
    /// Calls without a result, results without a call, or results that others replace, apart from
    /// those that the agent mends.
    pub pairs: bool,
    /// Images or files, whatever their size.
    pub media: bool,
    /// Bytes of the texts of all results.
    #[serde(rename = "resultBytes")]
    pub result_bytes: u64,
    pub flaws: Flaws,
}

/// Reads a session until it is known what a repair may find in it.
pub fn triage(path: &Path, options: &RowOptions, progress: &Progress) -> Result<Triage, Failure> {
    progress.step()?;
    let session = SessionFile::open_any(path.to_owned())?;
    if let Some(layout) = session.document.filter(|_| session.is_broken) {
        return Ok(Triage { format: SessionKind::Known(layout), damaged: true, ..Triage::default() });
    }
    let mut triage = TriageScan {
        options,
        gate: Prefilter::of(options),
        reading: RowReader::of_session(&session),
        pairs: WellPaired::default(),
        flaws: FlawReader::default(),
        line: 0,
        report: Triage::default(),
    };
    let mut rows = Rows::of_session(&session);
    while let Some(block) = rows.next(|_| progress.step())? {
        each_row(block).for_each(|row| triage.take(row));
        if triage.is_done() {
            return Ok(triage.report);
        }
    }
    triage.take(rows.rest());
    if triage.report.damaged {
        let flaws = if triage.is_done() { Flaws::default() } else { triage.flaws.done() };
        return Ok(Triage { flaws, ..triage.report });
    }
    Ok(Triage { pairs: triage.pairs.is_odd(), flaws: triage.flaws.done(), ..triage.report })
}

struct TriageScan<'a> {
    options: &'a RowOptions,
    gate: Prefilter,
    reading: RowReader,
    pairs: WellPaired,
    flaws: FlawReader,
    line: u64,
    report: Triage,
}

impl TriageScan<'_> {
    /// Returns true if the rest of the file tells nothing.
    fn is_done(&self) -> bool {
        let loses = matches!(self.report.format, SessionKind::Known(layout) if layout.loses);
        self.report.damaged && !loses
    }

    fn take(&mut self, row: &[u8]) {
        self.line += 1;
        let Some(row) = self.reading.next(row) else { return };
        let Some(document) = row.document() else {
            self.report.damaged = true;
            return;
        };
        let (entry, report, options) = (row.entry(&document), &mut self.report, self.options);
        self.flaws.push(self.line, &entry);
        if report.damaged {
            return;
        }
        let results = options.results_by_message(&entry);
        if report.format == SessionKind::Unknown {
            report.format = SessionKind::of(&entry, !results.is_empty());
        }
        report.media = report.media || options.has_media(&entry, &results);
        self.pairs.take(&row, &entry);
        let texts = results.iter().flat_map(|(_, result)| &result.slots);
        report.result_bytes += texts.map(|slot| slot.value.source().len() as u64).sum::<u64>();
        if !report.over && self.gate.may_matter(row.text) {
            let results: Vec<ToolResult> = results.into_iter().map(|(_, result)| result).collect();
            report.over = options.is_worth(&entry, &results);
        }
    }
}
