//! Writes the rows of the new file in the order of the old one: whole rows as they are or
//! rewritten, what is left of damaged lines, and rows that wait for a thread.

use super::RepairRun;
use super::rewrite::RowOutcome;
use crate::json::Document;
use crate::session::ahead::RowOutput;
use crate::session::broken_document::BrokenDocument;
use crate::session::damaged_lines::Fragment;
use crate::session::failure::Failure;
use crate::session::layout::{Layout, Mended};
use crate::session::mend::{LineVerdict, Mender};
use crate::session::row_format::{RowEntry, SessionKind};
use crate::session::rows::{Rows, each_row};
use crate::session::scraps::Scraps;

impl RepairRun<'_, '_> {
    pub(super) fn write_rows(&mut self, rows: &mut Rows) -> Result<(), Failure> {
        let mut start = rows.read - rows.rest().len() as u64;
        let (mut done, progress) = (start, self.progress);
        while let Some(block) = rows.next(|_| progress.step())? {
            self.write_block(block, start)?;
            start += block.len() as u64;
            self.write_waiting(false)?;
            // Rows that wait are not done.
            done = start.saturating_sub(self.ahead.bytes()).max(done);
            self.tell(done, start);
        }
        self.write_waiting(true)?;
        if done < start {
            self.tell(start, start);
        }
        Ok(())
    }

    /// Writes a block of complete rows, which starts at `start` in the old file.
    fn write_block(&mut self, block: &[u8], start: u64) -> Result<(), Failure> {
        if self.mender.is_some() {
            let mut at = start;
            for line in each_row(block) {
                self.write_line(line, at)?;
                at += line.len() as u64;
            }
            return Ok(());
        }
        let (mut same, mut at) = (0, 0);
        for row in each_row(block) {
            let from = at;
            at += row.len();
            // A row that is cut ahead lets those before it wait as well, unless they are written.
            if self.is_cut_ahead(row) {
                self.pass(&block[same..from], false)?;
                same = from;
            }
            match self.outcome(row, start + from as u64, true)? {
                RowOutcome::Same => continue,
                RowOutcome::Ahead => self.write_waiting(false)?,
                RowOutcome::New(new) => {
                    self.pass(&block[same..from], false)?;
                    self.pass(&new, true)?;
                }
            }
            same = at;
        }
        self.pass(&block[same..], false)
    }

    /// Writes a line, which starts at `start` in the old file, or lets it wait if it is damaged.
    fn write_line(&mut self, line: &[u8], start: u64) -> Result<(), Failure> {
        let Some(mender) = &mut self.mender else { return Ok(()) };
        let taken = mender.take(line, start);
        self.tally.damaged = mender.damaged;
        if let Some(pieces) = taken.before {
            self.write_pieces(pieces, start)?;
        }
        if !taken.is_whole {
            return Ok(());
        }
        match self.rewritten(line, start)? {
            Some(new) => self.pass(&new, true),
            None => self.pass(line, false),
        }
    }

    /// Writes the rows of damaged lines before `start` in the old file, and puts the rest aside.
    fn write_pieces(&mut self, pieces: Vec<Fragment>, start: u64) -> Result<(), Failure> {
        self.begin()?;
        self.tally.changes = true;
        self.is_made = true;
        for piece in pieces {
            let (row, how) = match piece {
                Fragment::Row(row) => (row, None),
                Fragment::Glued(row) => (row, Some(Mended::Glued)),
                Fragment::Recoded(row) => (row, Some(Mended::Bytes)),
                Fragment::Scrap(bytes) => {
                    self.put_aside(&bytes)?;
                    continue;
                }
            };
            let new = self.rewritten(&row, start)?;
            self.pass(new.as_deref().unwrap_or(&row), true)?;
            self.tally.cuts.mended += u64::from(self.is_back(&row, how));
        }
        self.is_made = false;
        Ok(())
    }

    /// Returns true if a host reads a row now and did not before, and misses it: it holds a message
    /// that no other row repeats, or others may name it. `how`: the mend that it took.
    fn is_back(&self, row: &[u8], how: Option<Mended>) -> bool {
        let format = self.tally.reading.format.unwrap_or_default();
        Document::parse(row).is_some_and(|document| {
            let entry = RowEntry::of(document.root(), format);
            let layout = match self.tally.shape {
                SessionKind::Known(layout) => Some(layout),
                _ => entry.known_layout(),
            };
            let chain = layout.and_then(|layout| layout.chain.as_ref());
            // A row of no layout has a message only in a file that has none.
            let holds = !entry.messages.is_empty() && entry.known_layout() == layout;
            let is_read = holds || chain.is_some_and(|[id, _]| entry.root.get(id).is_some());
            let is_spare =
                |layout: &Layout| how.is_some_and(|how| layout.mends(how)) || layout.repeats(entry.root);
            is_read && !layout.is_some_and(is_spare)
        })
    }

    fn put_aside(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.tally.scraps += bytes.len() as u64 + 1;
        if self.request.dry_run {
            return Ok(());
        }
        if self.scraps.is_none() {
            self.scraps = Some(Scraps::begin(self.session)?);
        }
        self.scraps.iter().try_for_each(|scraps| scraps.put(bytes, self.progress))
    }

    /// Writes rows, or lets them wait for others before them.
    pub(super) fn pass(&mut self, rows: &[u8], is_new: bool) -> Result<(), Failure> {
        if rows.is_empty() && !is_new {
            return Ok(());
        }
        if !self.ahead.is_empty() {
            self.ahead.push(rows, is_new);
            return Ok(());
        }
        if is_new {
            self.begin()?;
        }
        self.put(rows)
    }

    /// Writes the rows that wait no longer. `all`: waits for the others.
    fn write_waiting(&mut self, all: bool) -> Result<(), Failure> {
        while let Some(RowOutput { rows, is_new, change }) = self.ahead.next(all) {
            self.count(&change, is_new);
            if is_new {
                self.begin()?;
            }
            self.put(&rows)?;
        }
        Ok(())
    }

    /// Writes the incomplete last row and ends it with a newline.
    pub(super) fn write_rest(&mut self, rest: &[u8], end: u64) -> Result<(), Failure> {
        if rest.len() == self.tally.reading.mark_in(rest) {
            self.put(rest)?;
            let pieces = self.mender.as_mut().and_then(Mender::end);
            return pieces.map_or(Ok(()), |pieces| self.write_pieces(pieces, end));
        }
        let start = end - rest.len() as u64;
        if let Some(layout) = self.session.document {
            if self.session.is_broken {
                return self.write_broken(rest, start, layout);
            }
            return match self.rewritten(rest, start)? {
                Some(new) => self.pass(&new, true),
                None => self.put(rest),
            };
        }
        self.tally.torn = true;
        self.begin()?;
        if let Some(mender) = &mut self.mender {
            let LineVerdict { before, is_whole } = mender.take(rest, start);
            let last = if is_whole { None } else { mender.end() };
            self.tally.damaged = mender.damaged;
            for pieces in before.into_iter().chain(last) {
                self.write_pieces(pieces, start)?;
            }
            if !is_whole {
                return Ok(());
            }
        }
        let new = self.rewritten(rest, start)?;
        self.put(new.as_deref().unwrap_or(rest))?;
        self.tally.changes = true;
        self.put(b"\n")
    }

    /// Writes what is whole of a damaged document, and puts the rest aside.
    fn write_broken(&mut self, rest: &[u8], start: u64, layout: &'static Layout) -> Result<(), Failure> {
        let found = if self.request.mend { BrokenDocument::of(rest) } else { None };
        self.tally.damaged = 1;
        let Some(BrokenDocument { text, scrap, .. }) = found else {
            (self.tally.shape, self.tally.hides) = (SessionKind::Known(layout), true);
            return self.put(rest);
        };
        let scrap = (!scrap.is_empty()).then_some(Fragment::Scrap(scrap));
        self.write_pieces(Some(Fragment::Row(text)).into_iter().chain(scrap).collect(), start)
    }
}
