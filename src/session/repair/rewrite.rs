//! Rewrites one row: its calls and results are paired, then its texts and payloads cut.

use super::RepairRun;
use crate::dialect::ToolResult;
use crate::json::Document;
use crate::session::budget_survey::Limit;
use crate::session::failure::Failure;
use crate::session::history::ResultRow;
use crate::session::mend::is_json;
use crate::session::question::name_of;
use crate::session::rewrite_row::{RowChange, texts_of};
use crate::session::row_format::{RowEntry, SessionKind};
use crate::session::rows::Row;

/// The outcome for one row.
pub enum RowOutcome {
    Same,
    New(Vec<u8>),
    /// The row waits until another thread has cut it.
    Ahead,
}

impl RepairRun<'_, '_> {
    /// Returns true if another thread may cut a row.
    pub(super) fn is_cut_ahead(&self, row: &[u8]) -> bool {
        self.tally.shape != SessionKind::Unknown && self.ahead.takes(row)
    }

    /// Returns the new row, or `None` if a row, which starts at `start` in the old file, stays
    /// unchanged.
    pub(super) fn rewritten(&mut self, bytes: &[u8], start: u64) -> Result<Option<Vec<u8>>, Failure> {
        match self.outcome(bytes, start, false)? {
            RowOutcome::New(new) => Ok(Some(new)),
            _ => Ok(None),
        }
    }

    /// Rewrites a row, which starts at `start` in the old file, after its calls and results are
    /// paired. `ahead`: another thread may do so.
    pub(super) fn outcome(&mut self, bytes: &[u8], start: u64, ahead: bool) -> Result<RowOutcome, Failure> {
        let Some(rows) = self.pairs.in_place_of(bytes, &mut self.tally.unpaired) else {
            return self.cut(bytes, start, ahead);
        };
        self.tally.changes = true;
        let was_made = std::mem::replace(&mut self.is_made, true);
        let mut all = vec![];
        for row in &rows {
            match self.cut(row, start, false)? {
                RowOutcome::New(new) => all.extend(new),
                _ => all.extend(row),
            }
        }
        self.is_made = was_made;
        // What takes the place of a row may have no result.
        if let Some(document) = Document::parse(bytes).filter(|_| self.tally.shape == SessionKind::Unknown) {
            let format = self.tally.unpaired.format.unwrap_or_default();
            self.tally.shape = SessionKind::of(&RowEntry::of(document.root(), format), true);
        }
        Ok(RowOutcome::New(all))
    }

    /// Rewrites a row of the new file.
    fn cut(&mut self, bytes: &[u8], start: u64, ahead: bool) -> Result<RowOutcome, Failure> {
        let ahead = ahead && self.is_cut_ahead(bytes);
        let Some(row) = self.tally.reading.next(bytes) else { return Ok(RowOutcome::Same) };
        let [lights, limits] = [self.lights, self.limits].map(|limits| Limit::in_row(limits, row.number));
        let may_matter = !lights.is_empty() || !limits.is_empty() || self.gate.may_matter(row.text);
        let is_known = self.tally.shape != SessionKind::Unknown;
        if is_known && !may_matter {
            self.tally.damaged += u64::from(self.mender.is_none() && !is_json(row.text));
            return Ok(RowOutcome::Same);
        }
        self.progress.step()?;
        let mark = &bytes[..bytes.len() - row.text.len()];
        let once = self.request.options.sent_once(&row);
        let row = Row { text: once.as_deref().unwrap_or(row.text), ..row };
        let Some(document) = row.document() else {
            self.tally.damaged += 1;
            self.tally.hides |= may_matter;
            return Ok(RowOutcome::Same);
        };
        let (entry, options) = (row.entry(&document), &self.request.options);
        let keeps_length = self.keeps_offsets;
        self.tally.messages += entry.messages.len() as u64;
        if !is_known {
            self.tally.shape = SessionKind::of(&entry, !options.results(&entry).is_empty());
        }
        if !may_matter {
            return Ok(RowOutcome::Same);
        }
        let is_of_file = once.is_none() && !self.is_made;
        let bytes_of_file = if self.is_made { &[] } else { bytes };
        let entry_of_file = is_of_file.then_some(&entry);
        let parsed = ResultRow { start, bytes: bytes_of_file, format: row.format, entry: entry_of_file };
        // Limits of a budget are for few rows, and those without a change need no thread.
        let is_plain = once.is_none() && mark.is_empty() && lights.is_empty() && limits.is_empty();
        if ahead && is_plain {
            let results = options.results(&entry);
            let long: Vec<&ToolResult> =
                results.iter().filter(|result| options.rules.may_cut(&texts_of(result))).collect();
            let asks = options.asks && options.rules.policy.asks();
            let ask = |result: &&ToolResult| (name_of(result), self.history.asked(result, &parsed));
            let asked = long.iter().filter(|_| asks).map(ask).collect();
            self.history.check()?;
            if !long.is_empty() && self.ahead.cut(row, &document, asked, keeps_length) {
                return Ok(RowOutcome::Ahead);
            }
        }
        let ask = &mut |result: &ToolResult| self.history.asked(result, &parsed);
        let mut change = options.rewrite(row.text, &entry, lights, limits, ask);
        self.history.check()?;
        let new = change.row.take().or_else(|| once.clone());
        let marked = |new: Vec<u8>| if mark.is_empty() { new } else { [mark, &new].concat() };
        let new = change.of_length(new.map(marked), keeps_length.then_some(bytes));
        self.count(&change, new.is_some());
        Ok(new.map_or(RowOutcome::Same, RowOutcome::New))
    }

    pub(super) fn count(&mut self, change: &RowChange, is_new: bool) {
        self.tally.limits += change.limits;
        self.tally.clamped += u64::from(change.cuts.any());
        self.tally.cuts += change.cuts;
        self.tally.padded += change.padded;
        self.tally.unredacted += u64::from(change.unredacted);
        self.tally.changes |= is_new;
    }
}
