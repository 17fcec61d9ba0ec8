//! Tells in one pass what a repair may have to do, for a look through thousands of sessions. It may
//! be wrong about work that is not there, never about work that is: the repair itself judges what
//! this finds.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::flaws::{FlawReader, Flaws};
use super::layout::Unpaired;
use super::prefilter::Prefilter;
use super::progress::Progress;
use super::rewrite_row::Options;
use super::row_format::{Entry, SessionKind};
use super::rows::{Row, RowReader, Rows, each_row};
use super::session_file::SessionFile;
use crate::dialect::{Table, ToolResult};
use crate::hash::hash;

/// The kinds of work that a repair may find in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub format: SessionKind,
    /// Results over the limits that a repair makes smaller for the model.
    pub over: bool,
    /// Rows that are not JSON. The rest of the file was not read, since these may hold anything.
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
pub fn triage(path: &Path, options: &Options, progress: &Progress) -> Result<Report, Failure> {
    progress.step()?;
    let session = SessionFile::open_any(path.to_owned())?;
    if let Some(layout) = session.document.filter(|_| session.is_broken) {
        return Ok(Report { format: SessionKind::Known(layout), damaged: true, ..Report::default() });
    }
    let mut triage = Triage {
        options,
        gate: Prefilter::of(options),
        reading: RowReader::of_session(&session),
        calls: Calls::default(),
        flaws: FlawReader::default(),
        line: 0,
        report: Report::default(),
    };
    let mut rows = Rows::of_session(&session);
    while let Some(block) = rows.next(|_| progress.step())? {
        each_row(block).for_each(|row| triage.take(row));
        if triage.report.damaged {
            return Ok(triage.report);
        }
    }
    triage.take(rows.rest());
    let pairs = triage.calls.need_work(triage.report.format);
    Ok(Report { pairs, flaws: triage.flaws.done(), ..triage.report })
}

struct Triage<'a> {
    options: &'a Options,
    gate: Prefilter,
    reading: RowReader,
    calls: Calls,
    flaws: FlawReader,
    line: u64,
    report: Report,
}

impl Triage<'_> {
    fn take(&mut self, row: &[u8]) {
        self.line += 1;
        let Some(row) = self.reading.next(row) else { return };
        let Some(document) = row.document() else {
            self.report.damaged = true;
            return;
        };
        let (entry, report, options) = (row.entry(&document), &mut self.report, self.options);
        let results = options.results_by_message(&entry);
        if report.format == SessionKind::Unknown {
            report.format = SessionKind::of(&entry, !results.is_empty());
        }
        report.media = report.media || options.has_media(&entry, &results);
        self.calls.take(&row, &entry, &results);
        self.flaws.push(self.line, &entry);
        let texts = results.iter().flat_map(|(_, result)| &result.slots);
        report.result_bytes += texts.map(|slot| slot.value.source().len() as u64).sum::<u64>();
        if !report.over && self.gate.may_matter(row.text) {
            let results: Vec<ToolResult> = results.into_iter().map(|(_, result)| result).collect();
            report.over = options.cuts(&entry, &results).worth > 0;
        }
    }
}

/// The calls and results that were seen, by the hashes of their ids.
#[derive(Debug, Default)]
struct Calls {
    all: HashSet<u64>,
    /// Those of `all` that wait for a result.
    open: HashSet<u64>,
    /// Calls that hold their results lack one.
    lacks: bool,
    /// Results without a call before them.
    has_orphans: bool,
    /// Calls or results of the same id, or not all on one branch.
    is_odd: bool,
    /// The rows that others follow, in a tree.
    followed: HashSet<u64>,
}

impl Calls {
    fn take(&mut self, row: &Row, entry: &Entry, results: &[(usize, ToolResult)]) {
        if self.is_odd || entry.is_aside() {
            return;
        }
        if row.format.is_tree() {
            let named = |name| entry.root.get(name).and_then(|id| id.string());
            let parent = named("parentId").map(|id| hash(id.as_bytes()));
            let is_fork = parent.is_some_and(|parent| !self.followed.insert(parent));
            self.is_odd |= is_fork || entry.root.get("targetId").or(entry.root.get("appendMode")).is_some();
        }
        let mut results = results.iter().peekable();
        for (at, message) in entry.messages.iter().copied().enumerate() {
            let mut holders = vec![];
            let mut later = vec![];
            for (kind, id, call) in Table::get().answerable(message) {
                let id = hash(id.as_bytes());
                match kind.lacks_result(call) {
                    Some(lacks) => {
                        self.lacks |= lacks;
                        self.all.insert(id);
                        holders.push(call);
                    }
                    None => later.push(id),
                }
            }
            while let Some((_, result)) = results.next_if(|(of, _)| *of == at) {
                let Some(id) = result.id().filter(|_| result.is_filled) else { continue };
                if holders.contains(&result.object) {
                    continue;
                }
                let id = hash(id.as_bytes());
                if !self.open.remove(&id) {
                    let is_known = self.all.contains(&id);
                    self.has_orphans |= !is_known && result.dialect.is_paired;
                    self.is_odd |= is_known && result.dialect.is_apart;
                }
            }
            for id in later {
                self.all.insert(id);
                self.is_odd |= !self.open.insert(id);
            }
        }
    }

    /// Returns true unless all is well, or the agent of the session mends what is not.
    fn need_work(&self, format: SessionKind) -> bool {
        let mends = |half| match format {
            SessionKind::Known(layout) => layout.mends(half),
            _ => false,
        };
        let are_open = self.lacks || !self.open.is_empty();
        self.is_odd || self.has_orphans && !mends(Unpaired::Results) || are_open && !mends(Unpaired::Calls)
    }
}
