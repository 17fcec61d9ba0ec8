//! Undoes a repair: puts the file before the latest repair, or before the first, back in place of
//! the session. The repaired file becomes the latest backup, so undoing twice changes nothing.
//!
//! The note of the session tells what others did since ([`super::note`], [`super::lineage`]). What
//! they appended is carried over; anything else that they changed is only in the repaired file, so
//! an undo then fails unless it is asked to discard that. A row that is carried over follows a row
//! that stays ([`super::ancestry`]).

use std::fs;
use std::io::Read;
use std::path::{Display, PathBuf};
use std::time::SystemTime;

use super::ancestry::Ancestry;
use super::backup::{self, FIRST, LATEST};
use super::beside::{self, Owner};
use super::conversation::Conversation;
use super::failure::Failure;
use super::likeness;
use super::lineage::{self, FileStart, ForeignChange};
use super::note::RepairNote;
use super::progress::Progress;
use super::repair::locks;
use super::replacement::{CHUNK, Cause, Replacement};
use super::report::RepairReport;
use super::row_format::is_blank;
use super::rows::{Rows, each_row};
use super::session_file::SessionFile;
use super::swap::{self, Swap};
use super::temp_file::with_end;
use crate::platform;

/// The parameters of an undo.
#[derive(Clone, Debug)]
pub struct Undo {
    pub path: PathBuf,
    /// Takes the file before the first repair, and not before the latest.
    pub first: bool,
    /// Carries over what was appended since the repair, instead of failing.
    pub keep_appended: bool,
    /// Carries over nothing, instead of failing. The repaired file with all changes since is the
    /// latest backup then.
    pub discard_changes: bool,
    /// The start time of this process.
    pub born: SystemTime,
}

/// Undoes the latest repair of a session.
pub fn undo(request: &Undo, progress: &Progress) -> Result<RepairReport, Failure> {
    progress.step()?;
    let path = fs::canonicalize(&request.path)?;
    SessionFile::open(path.clone())?;
    let _locks = locks(&request.path, &path, request.born, progress)?;
    let recovered = swap::recover(&path, progress)?;
    let session = SessionFile::open_any(path)?;
    backup::check(&session)?;
    let backup = backup_of(&session, request.first)?;

    let mut known = session.found.modified().ok();
    let mut rows = Rows::of_session(&session);
    while rows.next(|_| progress.step())?.is_some() {}
    let latest = if request.first { backup_at(&session, LATEST)? } else { None };
    let Restored { news, count } = restored(&session, latest.as_ref(), &backup, &rows, request, progress)?;
    let repaired: Vec<&SessionFile> = latest.iter().chain([&session]).collect();
    let mut ancestry = match session.document {
        Some(_) => Ancestry::default(),
        None => Ancestry::of(&repaired, &backup, progress)?,
    };
    let new = Replacement::begin(&session, 0, progress)?;
    let total = write(&new, news, &backup, &mut ancestry, progress)?;
    new.sync(progress)?;
    session.check_name()?;
    session.has_grown(&rows, &mut known, progress)?;
    let bytes_before = rows.read;
    let mut swap = new.replace(&session, &rows, Cause::Undo, progress)?;
    if let Err(failure) = session.has_grown(&rows, &mut known, progress) {
        return Err(swap.give_back(failure));
    }
    let kept = finish(&session, &mut rows, &mut swap, &mut ancestry, progress)
        .map_err(|failure| failure.after_rename(swap.abandon()))?;
    Ok(RepairReport {
        changed: true,
        rows: count,
        bytes_before,
        bytes_after: total,
        recovered,
        backup: kept,
        ..RepairReport::default()
    })
}

/// Writes the backup with the rows of others after it, or the document that has their changes.
/// Returns the number of bytes.
fn write(
    new: &Replacement,
    news: News,
    backup: &SessionFile,
    ancestry: &mut Ancestry,
    progress: &Progress,
) -> Result<u64, Failure> {
    let (mut at_end, mut total) = (true, 0);
    match news {
        News::Document(text) => {
            new.put(&text, progress)?;
            total += text.len() as u64;
        }
        News::Rows(rows) => {
            let mut buffer = vec![0; CHUNK];
            loop {
                let read = (&backup.file).read(&mut buffer)?;
                let Some(last) = buffer[..read].last() else { break };
                at_end = *last == b'\n';
                total += read as u64;
                new.put(&buffer[..read], progress)?;
            }
            // Each row starts and ends on a line of its own.
            let carried = ancestry.carried(rows);
            for row in &carried {
                for bytes in [if at_end { &b""[..] } else { b"\n" }, row] {
                    new.put(bytes, progress)?;
                    total += bytes.len() as u64;
                }
                at_end = row.ends_with(b"\n");
            }
            if !at_end && !carried.is_empty() {
                new.put(b"\n", progress)?;
                total += 1;
            }
        }
    }
    Ok(total)
}

/// Opens the backup to restore: the file before the latest repair if there were several, else
/// before the only one.
fn backup_of(session: &SessionFile, first: bool) -> Result<SessionFile, Failure> {
    let ends: &[&str] = if first { &[FIRST] } else { &[LATEST, FIRST] };
    let found = ends.iter().find_map(|end| backup_at(session, end).transpose());
    found.unwrap_or_else(|| Err(session.undone("there is no backup of it")))
}

/// Opens a backup of the session's owner.
fn backup_at(session: &SessionFile, end: &str) -> Result<Option<SessionFile>, Failure> {
    let path = with_end(&session.path, end);
    let Some((file, found)) = beside::open(&path, Owner::Of(platform::owner(&session.found)))? else {
        return Ok(None);
    };
    SessionFile { path, found, file, document: None, is_broken: false, begins: true }.told().map(Some)
}

/// The file to restore.
struct Restored {
    news: News,
    /// Rows or messages in it that others appended.
    count: u64,
}

enum News {
    /// Rows behind those of the backup.
    Rows(Vec<Vec<u8>>),
    /// The document in place of the backup.
    Document(Vec<u8>),
}

impl Restored {
    /// The backup as it is.
    const BACKUP: Restored = Restored { news: News::Rows(vec![]), count: 0 };
}

/// Adds what others appended to the backup. Fails if they changed anything else, or if it is not to
/// be kept.
fn restored(
    session: &SessionFile,
    latest: Option<&SessionFile>,
    backup: &SessionFile,
    rows: &Rows,
    request: &Undo,
    progress: &Progress,
) -> Result<Restored, Failure> {
    if request.discard_changes {
        return Ok(Restored::BACKUP);
    }
    let note = RepairNote::read(session);
    let view = |file, length| FileStart::of(file, length, &note.repairs, progress);
    let (now, then) = (view(session, rows.read)?, view(backup, backup.found.len())?);
    let between = latest.map(|latest| view(latest, latest.found.len())).transpose()?;
    let changes = match lineage::changes_since(&now, between.as_ref(), &then, &note.repairs)? {
        None if note.repairs.is_empty() => {
            likeness::appended_since(session, backup, progress)?.map(|appended| {
                vec![ForeignChange { appended, documents: then.conversation().zip(now.conversation()) }]
            })
        }
        changes => changes,
    };
    let Some(changes) = changes else {
        return Err(not_known(session, backup, &now, &note, request.first));
    };
    let is_document = session.document.is_some();
    let added = changes.iter().flat_map(|change| &change.appended);
    let count = added.filter(|row| !is_blank(row)).count();
    let name = session.path.display();
    let said = |what: String| {
        let failure = Failure::Appended(format!("{what} to {name} since the repair"));
        if request.keep_appended { Ok(()) } else { Err(failure) }
    };
    let each = match (is_document, count) {
        (true, 1) => "message was",
        (true, _) => "messages were",
        (false, 1) => "row was",
        (false, _) => "rows were",
    };
    if !is_document {
        if count > 0 {
            said(format!("{count} {each} appended"))?;
        }
        let rows = changes.into_iter().flat_map(|change| change.appended);
        let rows = if count > 0 { rows.collect() } else { vec![] };
        return Ok(Restored { news: News::Rows(rows), count: count as u64 });
    }
    let (made, names) = with_changes(&changes, then.conversation(), &name)?;
    if count > 0 {
        said(format!("{count} {each} added"))?;
    }
    if let [first, ..] = &names[..] {
        said(format!("a new value of {first:?} was written"))?;
    }
    let news = made.filter(|_| count + names.len() > 0).map(Conversation::into_bytes);
    Ok(news.map_or(Restored::BACKUP, |text| Restored { news: News::Document(text), count: count as u64 }))
}

/// Makes the changes of others to a document. Returns it, with the names of the members to which
/// they gave another value.
fn with_changes(
    changes: &[ForeignChange],
    then: Option<&Conversation>,
    name: &Display,
) -> Result<(Option<Conversation>, Vec<String>), Failure> {
    let (mut made, mut names) = (None, vec![]);
    for ForeignChange { appended, documents } in changes {
        let own = made.as_ref().or(then);
        let with = |(old, new)| own?.with(appended, old, new);
        let Some((document, others)) = documents.and_then(with) else {
            return Err(Failure::Newer(format!(
                "{name} was changed since the repair, and its backup is not a document that takes that over"
            )));
        };
        made = Some(document);
        names.extend(others);
    }
    Ok((made, names))
}

/// Creates the failure for a session that the note or the backup does not explain.
fn not_known(
    session: &SessionFile,
    backup: &SessionFile,
    now: &FileStart,
    note: &RepairNote,
    is_first: bool,
) -> Failure {
    let (name, other) = (session.path.display(), backup.path.display());
    let is_document = session.document.is_some();
    let more = if is_document { "messages added behind it" } else { "rows appended" };
    let is_known = note.repairs.iter().any(|repair| now.written_by(repair).is_some());
    Failure::Newer(match &note.repairs[..] {
        [] => format!(
            "{name} has other content than a repair of {other} has, and no note says what was written"
        ),
        _ if is_known && is_first => {
            format!("{name} grew between its repairs, and what came then is not known any more")
        }
        _ if is_known => format!("{other} is not the file that the repair of {name} read"),
        repairs if repairs.iter().all(|repair| session.found.len() < repair.to.length) && !is_document => {
            format!("{name} became shorter since the repair")
        }
        _ => format!("what the repair wrote to {name} was changed since, not only {more}"),
    })
}

/// Carries over rows that reached the repaired file meanwhile, and keeps it as the latest backup.
fn finish(
    session: &SessionFile,
    rows: &mut Rows,
    swap: &mut Swap,
    ancestry: &mut Ancestry,
    progress: &Progress,
) -> Result<Option<PathBuf>, Failure> {
    for is_synced in [false, true] {
        progress.note();
        let mut at = rows.read - rows.rest().len() as u64;
        while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
            let mut all = vec![];
            for row in each_row(block) {
                ancestry.keep(row);
                all.push((row, ancestry.row(row)));
            }
            swap.append(&all, at)?;
            at += block.len() as u64;
        }
        swap.sync(at)?;
        if !is_synced {
            platform::sync_names(session.path.parent().unwrap_or(&session.path));
        }
    }
    swap.end()
}
