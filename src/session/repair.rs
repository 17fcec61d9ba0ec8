//! Repairs a stored session: rewrites it row by row beside the original, then replaces that in one
//! step.

use std::borrow::Cow;
use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use super::ahead::{Ahead, RowOutput};
use super::backup;
use super::broken_document::BrokenDocument;
use super::budget_survey::{Limit, ResultsTarget, Survey};
use super::cuts::Cuts;
use super::failure::Failure;
use super::history::{History, ResultRow};
use super::layout::{Layout, Mended};
use super::lock::{self, Lock};
use super::mend::{Mender, Piece, Taken, is_json};
use super::pairs::Pairs;
use super::prefilter::Prefilter;
use super::progress::{Progress, ProgressCounts};
use super::question::name_of;
use super::replacement::{Cause, Replacement};
use super::report::{Reason, Report};
use super::rewrite_row::{Options, RowChange, texts_of};
use super::row_format::{Entry, SessionKind};
use super::rows::{Row, RowReader, Rows, each_row};
use super::scraps::Scraps;
use super::session_file::SessionFile;
use super::swap::{self, Swap};
use crate::dialect::ToolResult;
use crate::json::Document;
use crate::platform;

/// The parameters of a repair.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: PathBuf,
    pub options: Options,
    pub budget: Option<ResultsTarget>,
    pub backup: bool,
    pub dry_run: bool,
    pub lock: bool,
    /// Read the rows that damaged lines still hold, and put the rest aside.
    pub mend: bool,
    /// Put in results of calls that have none.
    pub pairs: bool,
    /// The start time of this process.
    pub born: SystemTime,
}

/// Maximum checks of a growing file before the remaining rows are left to be carried over, and
/// attempts to pair its calls.
const LOOKS: usize = 8;

/// Repairs the requested session.
pub fn repair(request: &Request, progress: &Progress) -> Result<Report, Failure> {
    progress.step()?;
    let path = fs::canonicalize(&request.path)?;
    // A file that is not JSON Lines needs no lock, and its name may not allow one.
    SessionFile::open(path.clone())?;
    let is_locked = request.lock && !request.dry_run;
    let _locks = is_locked.then(|| locks(&request.path, &path, request.born, progress)).transpose()?;
    let recovered = if request.dry_run { 0 } else { swap::recover(&path, progress)? };
    let session = SessionFile::open_any(path)?;
    if request.backup && !request.dry_run {
        backup::check(&session)?;
    }
    // Rows that come while calls are paired may have the results of these.
    let made = (0..LOOKS).find_map(|_| made_of(&session, request, progress).transpose());
    let report = made.unwrap_or_else(|| Err(session.changed("grew while its calls were paired")))?;
    // Settling an earlier repair counts as a change.
    let reason = report.reason.filter(|reason| recovered == 0 || *reason != Reason::NothingToDo);
    Ok(Report { recovered, changed: report.changed || recovered > 0, reason, ..report })
}

/// Repairs an open session. Returns `None`, and changes nothing, if its pairs are no longer those
/// that were read.
fn made_of(session: &SessionFile, request: &Request, progress: &Progress) -> Result<Option<Report>, Failure> {
    let keeps_offsets = session.keeps_offsets()?;
    // No row comes or goes where others count the bytes.
    let mends = request.mend && !keeps_offsets;
    let pairs = match request.pairs {
        true => Pairs::read(session, mends, &request.options, progress)?,
        false => Pairs::default(),
    };
    let survey = |budget: Option<&ResultsTarget>, lights: &[Limit]| {
        budget.map_or(Ok((vec![], 0)), |budget| {
            Survey::read(session, budget, request, mends, &pairs, lights, progress)
        })
    };
    // A plan says itself which payloads stay.
    let is_planned = matches!(request.budget, Some(ResultsTarget::Plan(_)));
    let media = request.options.media.filter(|_| !is_planned).map(ResultsTarget::Media);
    let (lights, _) = survey(media.as_ref(), &[])?;
    let (limits, unmatched) = survey(request.budget.as_ref(), &lights)?;
    let made = thread::scope(|scope| {
        let mut repair = Repair {
            request,
            progress,
            gate: Prefilter::of(&request.options),
            pairs: &pairs,
            lights: &lights,
            limits: &limits,
            known: session.found.modified().ok(),
            session,
            keeps_offsets,
            history: History::of(session),
            ahead: Ahead::new(scope, &request.options, session.found.len()),
            out: None,
            mender: (mends && session.document.is_none()).then(Mender::default),
            is_made: false,
            scraps: None,
            tally: Tally::of(session),
        };
        let mut rows = Rows::of_session(session);
        repair.write(&mut rows)?;
        repair.finish(rows)
    });
    (&session.file).seek(SeekFrom::Start(0))?;
    let Some(made) = made? else { return Ok(None) };
    let unmended = if request.mend && keeps_offsets { made.damaged } else { 0 };
    let Pairs { paired, unpaired, orphans, strays, rearranged, .. } = pairs;
    Ok(Some(Report { unmatched, paired, unpaired, orphans, strays, rearranged, unmended, ..made }))
}

/// Takes the lock beside the given name, and the one beside the resolved file if that differs.
/// `born`: the start time of this process.
pub fn locks(
    given: &Path,
    resolved: &Path,
    born: SystemTime,
    progress: &Progress,
) -> Result<Vec<Lock>, Failure> {
    let mut paths = vec![lock::path_of(given)?, lock::path_of(resolved)?];
    paths.dedup();
    paths.iter().map(|path| Lock::take(path, born, progress)).collect()
}

/// The counts so far.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    reading: RowReader,
    /// The position in the rows as they are, before calls and results are paired.
    unpaired: RowReader,
    /// Messages of a document.
    messages: u64,
    shape: SessionKind,
    clamped: u64,
    cuts: Cuts,
    damaged: u64,
    /// A damaged row may hold a result over the limits.
    hides: bool,
    /// Bytes put aside.
    scraps: u64,
    /// Bytes of the new file.
    bytes: u64,
    /// The new file differs from the old one.
    changes: bool,
    torn: bool,
    /// Blanks that keep the length of rows.
    padded: u64,
    unredacted: u64,
    /// The number of limits applied.
    limits: usize,
}

impl Tally {
    fn of(session: &SessionFile) -> Tally {
        let reading = RowReader::of_session(session);
        Tally { reading, unpaired: reading, ..Tally::default() }
    }
}

struct Repair<'a, 'e> {
    request: &'a Request,
    progress: &'a Progress,
    session: &'a SessionFile,
    /// No row may start at another place.
    keeps_offsets: bool,
    history: History<'a>,
    ahead: Ahead<'a, 'e>,
    gate: Prefilter,
    pairs: &'a Pairs,
    /// Limits of payloads, and of texts.
    lights: &'a [Limit],
    limits: &'a [Limit],
    /// The modification time at which all that was read was last known to be unchanged.
    known: Option<SystemTime>,
    /// The new file, once it differs.
    out: Option<Replacement>,
    mender: Option<Mender>,
    /// The row at hand does not stand so in the file.
    is_made: bool,
    /// The parts that are not JSON, once there are some.
    scraps: Option<Scraps>,
    tally: Tally,
}

/// The outcome for one row.
enum Outcome {
    Same,
    New(Vec<u8>),
    /// The row waits until another thread has cut it.
    Ahead,
}

impl Repair<'_, '_> {
    /// Writes all rows, including those appended meanwhile.
    fn write(&mut self, rows: &mut Rows) -> Result<(), Failure> {
        for look in 1.. {
            self.write_rows(rows)?;
            let (settled, waiting) = (self.tally, self.mender.clone());
            self.write_rest(rows.rest(), rows.read)?;
            if let Some(out) = &self.out {
                out.sync(self.progress)?;
            }
            if let Some(scraps) = &self.scraps {
                scraps.sync(self.progress)?;
            }
            if self.out.is_none() || look == LOOKS || !self.has_grown(rows)? {
                break;
            }
            self.out.iter().try_for_each(|out| out.shorten(settled.bytes))?;
            self.scraps.iter().try_for_each(|scraps| scraps.shorten(settled.scraps))?;
            (self.tally, self.mender) = (settled, waiting);
        }
        // A limit that was not applied shows that the file changed between measuring and
        // truncating.
        if self.tally.limits < self.lights.len() + self.limits.len() {
            return Err(self.session.changed("was modified after its results were measured"));
        }
        Ok(())
    }

    /// Returns true if the session has grown since. Fails if it was replaced or modified.
    fn has_grown(&mut self, rows: &Rows) -> Result<bool, Failure> {
        self.session.check_name()?;
        self.session.has_grown(rows, &mut self.known, self.progress)
    }

    fn write_rows(&mut self, rows: &mut Rows) -> Result<(), Failure> {
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

    fn tell(&self, bytes: u64, read: u64) {
        self.progress.tell(ProgressCounts {
            bytes,
            total: self.session.found.len().max(read),
            rows: self.tally.reading.rows,
            clamped: self.tally.clamped,
        });
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
                Outcome::Same => continue,
                Outcome::Ahead => self.write_waiting(false)?,
                Outcome::New(new) => {
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
    fn write_pieces(&mut self, pieces: Vec<Piece>, start: u64) -> Result<(), Failure> {
        self.begin()?;
        self.tally.changes = true;
        self.is_made = true;
        for piece in pieces {
            let (row, how) = match piece {
                Piece::Row(row) => (row, None),
                Piece::Glued(row) => (row, Some(Mended::Glued)),
                Piece::Recoded(row) => (row, Some(Mended::Bytes)),
                Piece::Scrap(bytes) => {
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
            let entry = Entry::of(document.root(), format);
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

    /// Returns true if another thread may cut a row.
    fn is_cut_ahead(&self, row: &[u8]) -> bool {
        self.tally.shape != SessionKind::Unknown && self.ahead.takes(row)
    }

    /// Writes rows, or lets them wait for others before them.
    fn pass(&mut self, rows: &[u8], is_new: bool) -> Result<(), Failure> {
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

    fn count(&mut self, change: &RowChange, is_new: bool) {
        self.tally.limits += change.limits;
        self.tally.clamped += u64::from(change.cuts.any());
        self.tally.cuts += change.cuts;
        self.tally.padded += change.padded;
        self.tally.unredacted += u64::from(change.unredacted);
        self.tally.changes |= is_new;
    }

    /// Writes the incomplete last row and ends it with a newline.
    fn write_rest(&mut self, rest: &[u8], end: u64) -> Result<(), Failure> {
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
            let Taken { before, is_whole } = mender.take(rest, start);
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
        let scrap = (!scrap.is_empty()).then_some(Piece::Scrap(scrap));
        self.write_pieces(Some(Piece::Row(text)).into_iter().chain(scrap).collect(), start)
    }

    /// Returns the new row, or `None` if a row, which starts at `start` in the old file, stays
    /// unchanged.
    fn rewritten(&mut self, bytes: &[u8], start: u64) -> Result<Option<Vec<u8>>, Failure> {
        match self.outcome(bytes, start, false)? {
            Outcome::New(new) => Ok(Some(new)),
            _ => Ok(None),
        }
    }

    /// Rewrites a row, which starts at `start` in the old file, after its calls and results are
    /// paired. `ahead`: another thread may do so.
    fn outcome(&mut self, bytes: &[u8], start: u64, ahead: bool) -> Result<Outcome, Failure> {
        let Some(rows) = self.pairs.in_place_of(bytes, &mut self.tally.unpaired) else {
            return self.cut(bytes, start, ahead);
        };
        self.tally.changes = true;
        let was_made = std::mem::replace(&mut self.is_made, true);
        let mut all = vec![];
        for row in &rows {
            match self.cut(row, start, false)? {
                Outcome::New(new) => all.extend(new),
                _ => all.extend(row),
            }
        }
        self.is_made = was_made;
        // What takes the place of a row may have no result.
        if let Some(document) = Document::parse(bytes).filter(|_| self.tally.shape == SessionKind::Unknown) {
            let format = self.tally.unpaired.format.unwrap_or_default();
            self.tally.shape = SessionKind::of(&Entry::of(document.root(), format), true);
        }
        Ok(Outcome::New(all))
    }

    /// Rewrites a row of the new file.
    fn cut(&mut self, bytes: &[u8], start: u64, ahead: bool) -> Result<Outcome, Failure> {
        let ahead = ahead && self.is_cut_ahead(bytes);
        let Some(row) = self.tally.reading.next(bytes) else { return Ok(Outcome::Same) };
        let [lights, limits] = [self.lights, self.limits].map(|limits| Limit::in_row(limits, row.number));
        let may_matter = !lights.is_empty() || !limits.is_empty() || self.gate.may_matter(row.text);
        let is_known = self.tally.shape != SessionKind::Unknown;
        if is_known && !may_matter {
            self.tally.damaged += u64::from(self.mender.is_none() && !is_json(row.text));
            return Ok(Outcome::Same);
        }
        self.progress.step()?;
        let mark = &bytes[..bytes.len() - row.text.len()];
        let once = self.request.options.sent_once(&row);
        let row = Row { text: once.as_deref().unwrap_or(row.text), ..row };
        let Some(document) = row.document() else {
            self.tally.damaged += 1;
            self.tally.hides |= may_matter;
            return Ok(Outcome::Same);
        };
        let (entry, options) = (row.entry(&document), &self.request.options);
        let keeps_length = self.keeps_offsets;
        self.tally.messages += entry.messages.len() as u64;
        if !is_known {
            self.tally.shape = SessionKind::of(&entry, !options.results(&entry).is_empty());
        }
        if !may_matter {
            return Ok(Outcome::Same);
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
                return Ok(Outcome::Ahead);
            }
        }
        let ask = &mut |result: &ToolResult| self.history.asked(result, &parsed);
        let mut change = options.rewrite(row.text, &entry, lights, limits, ask);
        self.history.check()?;
        let new = change.row.take().or_else(|| once.clone());
        let marked = |new: Vec<u8>| if mark.is_empty() { new } else { [mark, &new].concat() };
        let new = change.of_length(new.map(marked), keeps_length.then_some(bytes));
        self.count(&change, new.is_some());
        Ok(new.map_or(Outcome::Same, Outcome::New))
    }

    /// Starts the new file, if that has not happened, with a copy of the rows before, which are all
    /// unchanged.
    fn begin(&mut self) -> Result<(), Failure> {
        if !self.request.dry_run && self.out.is_none() {
            self.out = Some(Replacement::begin(self.session, self.tally.bytes, self.progress)?);
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.tally.bytes += bytes.len() as u64;
        self.out.iter().try_for_each(|out| out.put(bytes, self.progress))
    }

    /// Replaces the old file with the new one, if there are changes. Returns `None`, and changes
    /// nothing, if rows came after calls were paired.
    fn finish(mut self, mut rows: Rows) -> Result<Option<Report>, Failure> {
        if self.pairs.are_old(rows.read) {
            return Ok(None);
        }
        let (bytes_before, mut backup, mut aside) = (rows.read, None, None);
        let (is_unknown, is_empty) = (self.is_unknown(), self.is_empty());
        if is_unknown {
            let Tally { reading, damaged, .. } = self.tally;
            self.scraps = None;
            self.tally = Tally { reading, damaged, bytes: bytes_before, ..Tally::default() };
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
        let reason = match changes {
            _ if is_unknown => Some(Reason::FormatUnknown),
            true if self.request.dry_run => Some(Reason::DryRun),
            true => None,
            false if tally.hides => Some(Reason::DamagedRows),
            false if is_empty => Some(Reason::EmptySession),
            false => Some(Reason::NothingToDo),
        };
        Ok(Some(Report {
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
            ..Report::default()
        }))
    }

    /// Returns true if the file is not a session: no line is a row of one, only its header is or,
    /// in a file that begins like another text, most lines are not. A manual may show a row.
    fn is_unknown(&self) -> bool {
        let Tally { shape, reading, damaged, scraps, .. } = self.tally;
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
