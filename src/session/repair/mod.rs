//! Repairs a stored session: rewrites it row by row beside the original, then replaces that in one
//! step.
//!
//! A repair reads the file several times, and each reading knows what those before have found:
//!
//! 1. [`RowChanges`] finds the calls and results that do not pair, and the rows that take the place
//!    of others. Later readings number the rows as they are then.
//! 2. [`BudgetSurvey`] measures the payloads, then the texts, and gives each that is over a budget
//!    a limit. It knows the rows by number.
//! 3. `write_rows` writes the new file. It copies rows that cannot matter, which a search of their
//!    bytes tells, and has `rewrite` change the others. Rows that threads cut wait for their turn,
//!    and so do all rows behind them. Damaged lines wait until it is known what they hold.
//! 4. `finish` puts the new file in the place of the old one.
//!
//! The new file begins with the first row that differs, as a copy of all rows before: a repair
//! with nothing to do writes nothing, and a dry run only counts. The agent may append rows all the
//! while. They are read up to [`LOOKS`] times, and what comes later is carried over once the files
//! are exchanged. Any other change of the file ends the repair, and leaves it as it is. Rows that
//! come while calls are paired may hold the results of these, so that all begins anew.

mod finish;
mod rewrite;
mod write_rows;

use std::fs;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use super::ahead::Ahead;
use super::backup;
use super::budget_survey::{BudgetSurvey, Limit, ResultsTarget};
use super::cuts::Cuts;
use super::failure::Failure;
use super::history::CallHistory;
use super::lock::{self, Lock};
use super::mend::Mender;
use super::pairs::RowChanges;
use super::prefilter::Prefilter;
use super::progress::{Progress, ProgressCounts};
use super::replacement::Replacement;
use super::report::{RepairReport, UnchangedReason};
use super::rewrite_row::RowOptions;
use super::row_format::SessionKind;
use super::rows::{RowReader, Rows};
use super::scraps::Scraps;
use super::session_file::SessionFile;
use super::swap;

/// The parameters of a repair.
#[derive(Clone, Debug)]
pub struct RepairRequest {
    pub path: PathBuf,
    pub options: RowOptions,
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
pub fn repair(request: &RepairRequest, progress: &Progress) -> Result<RepairReport, Failure> {
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
    let reason = report.reason.filter(|reason| recovered == 0 || *reason != UnchangedReason::NothingToDo);
    Ok(RepairReport { recovered, changed: report.changed || recovered > 0, reason, ..report })
}

/// Repairs an open session. Returns `None`, and changes nothing, if its pairs are no longer those
/// that were read.
fn made_of(
    session: &SessionFile,
    request: &RepairRequest,
    progress: &Progress,
) -> Result<Option<RepairReport>, Failure> {
    let keeps_offsets = session.keeps_offsets()?;
    // No row comes or goes where others count the bytes.
    let mends = request.mend && !keeps_offsets;
    let pairs = match request.pairs {
        true => RowChanges::read(session, mends, &request.options, progress)?,
        false => RowChanges::default(),
    };
    let survey = |budget: Option<&ResultsTarget>, lights: &[Limit]| {
        budget.map_or(Ok((vec![], 0)), |budget| {
            BudgetSurvey::read(session, budget, request, mends, &pairs, lights, progress)
        })
    };
    // A plan says itself which payloads stay.
    let is_planned = matches!(request.budget, Some(ResultsTarget::Plan(_)));
    let media = request.options.media.filter(|_| !is_planned).map(ResultsTarget::Media);
    let (lights, _) = survey(media.as_ref(), &[])?;
    let (limits, unmatched) = survey(request.budget.as_ref(), &lights)?;
    let made = thread::scope(|scope| {
        let mut repair = RepairRun {
            request,
            progress,
            gate: Prefilter::of(&request.options),
            pairs: &pairs,
            lights: &lights,
            limits: &limits,
            known: session.found.modified().ok(),
            session,
            keeps_offsets,
            history: CallHistory::of(session),
            ahead: Ahead::new(scope, &request.options, session.found.len()),
            out: None,
            mender: (mends && session.document.is_none()).then(Mender::default),
            is_made: false,
            scraps: None,
            tally: RepairTally::of(session),
        };
        let mut rows = Rows::of_session(session);
        repair.write(&mut rows)?;
        repair.finish(rows)
    });
    (&session.file).seek(SeekFrom::Start(0))?;
    let Some(made) = made? else { return Ok(None) };
    let unmended = if request.mend && keeps_offsets { made.damaged } else { 0 };
    let RowChanges { paired, unpaired, orphans, strays, rearranged, .. } = pairs;
    Ok(Some(RepairReport { unmatched, paired, unpaired, orphans, strays, rearranged, unmended, ..made }))
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
struct RepairTally {
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

impl RepairTally {
    fn of(session: &SessionFile) -> RepairTally {
        let reading = RowReader::of_session(session);
        RepairTally { reading, unpaired: reading, ..RepairTally::default() }
    }
}

struct RepairRun<'a, 'e> {
    request: &'a RepairRequest,
    progress: &'a Progress,
    session: &'a SessionFile,
    /// No row may start at another place.
    keeps_offsets: bool,
    history: CallHistory<'a>,
    ahead: Ahead<'a, 'e>,
    gate: Prefilter,
    pairs: &'a RowChanges,
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
    tally: RepairTally,
}

impl RepairRun<'_, '_> {
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

    fn tell(&self, bytes: u64, read: u64) {
        self.progress.tell(ProgressCounts {
            bytes,
            total: self.session.found.len().max(read),
            rows: self.tally.reading.rows,
            clamped: self.tally.clamped,
        });
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
}
