//! Puts the new file in the place of the old one, with the rows that came meanwhile, and reports.

use std::borrow::Cow;
use std::path::PathBuf;

use super::{RepairRun, RepairTally};
use crate::platform;
use crate::session::cuts::Cuts;
use crate::session::failure::Failure;
use crate::session::replacement::Cause;
use crate::session::report::{RepairReport, UnchangedReason};
use crate::session::row_format::SessionKind;
use crate::session::rows::{RowReader, Rows, each_row};
use crate::session::swap::Swap;

impl RepairRun<'_, '_> {
    /// Replaces the old file with the new one, if there are changes. Returns `None`, and changes
    /// nothing, if rows came after calls were paired.
    pub(super) fn finish(mut self, mut rows: Rows) -> Result<Option<RepairReport>, Failure> {
        if self.pairs.are_old(rows.read) {
            return Ok(None);
        }
        let (bytes_before, mut backup, mut aside) = (rows.read, None, None);
        let (is_unknown, is_empty) = (self.is_unknown(), self.is_empty());
        if is_unknown {
            let RepairTally { reading, damaged, .. } = self.tally;
            self.scraps = None;
            self.tally = RepairTally { reading, damaged, bytes: bytes_before, ..RepairTally::default() };
        }
        let changes = self.tally.changes;
        if let Some(new) = self.out.take().filter(|_| changes) {
            self.progress.step()?;
            if self.has_grown(&rows)? && self.pairs.are_old(rows.read + 1) {
                return Ok(None);
            }
            self.progress.step()?;
            // A row is stored beside the session before the session loses it.
            aside = self.scraps.take().map(|scraps| scraps.keep(self.session)).transpose()?;
            let cause = Cause::Repair { backup: self.request.backup };
            let mut swap = new.replace(self.session, &rows, cause, self.progress)?;
            // Verify that the replaced file is the file that was read, with rows appended at most.
            match self.session.has_grown(&rows, &mut self.known, self.progress) {
                Err(failure) => return Err(swap.give_back(failure)),
                Ok(true) if self.pairs.are_old(rows.read + 1) => {
                    return Err(swap.give_back(self.session.changed("grew while its calls were paired")));
                }
                Ok(_) => {}
            }
            backup = self
                .carry_all(&mut rows, &mut swap)
                .map_err(|failure| failure.after_rename(swap.abandon()))?;
        }
        let tally = self.tally;
        let RowReader { format, rows, .. } = tally.reading;
        let format = format.unwrap_or_default();
        let rows = if format.is_document() { tally.messages } else { rows };
        let reason = self.reason(changes, is_unknown, is_empty);
        Ok(Some(RepairReport {
            changed: changes && !self.request.dry_run,
            format: tally.shape,
            rows,
            clamped: tally.clamped,
            cuts: Cuts { aside: tally.scraps, ..tally.cuts },
            damaged: tally.damaged,
            torn_tail: tally.torn,
            padded: tally.padded,
            unredacted: tally.unredacted,
            bytes_before,
            bytes_after: tally.bytes,
            backup,
            aside,
            reason,
            ..RepairReport::default()
        }))
    }

    /// Returns the reason why the file stays as it is, if it does.
    fn reason(&self, changes: bool, is_unknown: bool, is_empty: bool) -> Option<UnchangedReason> {
        match changes {
            _ if is_unknown => Some(UnchangedReason::FormatUnknown),
            true if self.request.dry_run => Some(UnchangedReason::DryRun),
            true => None,
            false if self.tally.hides => Some(UnchangedReason::DamagedRows),
            false if is_empty => Some(UnchangedReason::EmptySession),
            false => Some(UnchangedReason::NothingToDo),
        }
    }

    /// Returns true if the file is not a session: no line is a row of one, only its header is or,
    /// in a file that begins like another text, most lines are not. A manual may show a row.
    fn is_unknown(&self) -> bool {
        let RepairTally { shape, reading, damaged, scraps, .. } = self.tally;
        let as_they_were = reading.rows.saturating_sub(damaged);
        let whole = self.mender.as_ref().map_or(as_they_were, |mender| mender.whole);
        let is_other = !self.session.begins && self.session.document.is_none() && damaged >= whole.max(1);
        let is_header = scraps > 0 && self.session.document.is_none() && self.is_empty();
        reading.rows + damaged > 0 && (shape == SessionKind::Unknown || is_other || is_header)
    }

    /// Returns true if no row but a header is left.
    fn is_empty(&self) -> bool {
        let format = self.tally.reading.format.unwrap_or_default();
        match format.is_document() {
            true => self.tally.messages == 0,
            false => self.tally.reading.rows <= u64::from(format.layout.is_some()),
        }
    }

    /// Carries over rows appended before the replacement, and those appended while its name was
    /// synced. Returns the path of the old file's backup.
    fn carry_all(&mut self, rows: &mut Rows, swap: &mut Swap) -> Result<Option<PathBuf>, Failure> {
        let path = &self.session.path;
        self.progress.note();
        self.carry(rows, swap)?;
        platform::sync_names(path.parent().unwrap_or(path));
        self.progress.note();
        self.carry(rows, swap)?;
        swap.end()
    }

    /// Appends complete rows that reached the old file since it was last read. A row that was
    /// incomplete then is appended again.
    fn carry(&mut self, rows: &mut Rows, swap: &mut Swap) -> Result<(), Failure> {
        let mut at = rows.read - rows.rest().len() as u64;
        while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
            let (mut all, mut start) = (vec![], at);
            for row in each_row(block) {
                all.push((row, self.rewritten(row, start)?.map_or(Cow::Borrowed(row), Cow::Owned)));
                start += row.len() as u64;
            }
            self.tally.bytes += swap.append(&all, at)?;
            at = start;
        }
        swap.sync(at)
    }
}
