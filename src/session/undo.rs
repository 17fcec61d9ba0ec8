//! Undoes a repair: puts the file before the latest repair, or before the first, back in place of
//! the session. The repaired file becomes the latest backup, so undoing twice changes nothing.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use super::backup::{self, FIRST, LATEST};
use super::beside::{self, Owner};
use super::failure::Failure;
use super::progress::Progress;
use super::repair::locks;
use super::replacement::{CHUNK, Replacement};
use super::report::Report;
use super::row_format::is_blank;
use super::rows::{RowReader, Rows, each_row};
use super::session_file::SessionFile;
use super::swap::{self, Swap};
use super::temp_file::with_end;
use crate::json::{Document, Value, equal};
use crate::platform;

/// The parameters of an undo.
#[derive(Clone, Debug)]
pub struct Undo {
    pub path: PathBuf,
    /// Takes the file before the first repair, and not before the latest.
    pub first: bool,
    /// Carries over rows that were appended since the repair, instead of failing.
    pub keep_appended: bool,
    /// The start time of this process.
    pub born: SystemTime,
}

/// Undoes the latest repair of a session.
pub fn undo(request: &Undo, progress: &Progress) -> Result<Report, Failure> {
    progress.step()?;
    let path = fs::canonicalize(&request.path)?;
    SessionFile::open(path.clone())?;
    let _locks = locks(&request.path, &path, request.born, progress)?;
    let recovered = swap::recover(&path, progress)?;
    let session = SessionFile::open_any(path)?;
    backup::check(&session)?;
    let backup = backup_of(&session, request.first)?;
    let appended = appended_since(&session, &backup, progress)?;

    let mut known = session.found.modified().ok();
    let mut rows = Rows::of_session(&session);
    while rows.next(|_| progress.step())?.is_some() {}
    let news = rows_from(&session, appended, rows.read)?;
    let count = each_row(&news).filter(|row| !is_blank(row)).count() as u64;
    if count > 0 && !request.keep_appended {
        let rows = if count == 1 { "1 row was".into() } else { format!("{count} rows were") };
        let name = session.path.display();
        return Err(Failure::Appended(format!("{rows} appended to {name} since the repair")));
    }
    let new = Replacement::begin(&session, 0, progress)?;
    let (mut at_end, mut total) = (true, 0);
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = (&backup.file).read(&mut buffer)?;
        let Some(last) = buffer[..read].last() else { break };
        at_end = *last == b'\n';
        total += read as u64;
        new.put(&buffer[..read], progress)?;
    }
    if count > 0 && !at_end {
        new.put(b"\n", progress)?;
    }
    if count > 0 {
        new.put(&news, progress)?;
        total += news.len() as u64 + u64::from(!at_end);
    }
    new.sync(progress)?;
    session.check_name()?;
    session.has_grown(&rows, &mut known, progress)?;
    let bytes_before = rows.read;
    let mut swap = new.replace(&session, &rows, true, progress)?;
    if let Err(failure) = session.has_grown(&rows, &mut known, progress) {
        return Err(swap.give_back(failure));
    }
    let kept = finish(&session, &mut rows, &mut swap, progress)
        .map_err(|failure| failure.after_rename(swap.abandon()))?;
    Ok(Report {
        changed: true,
        rows: count,
        bytes_before,
        bytes_after: total,
        recovered,
        backup: kept,
        ..Report::default()
    })
}

/// Opens the backup to restore: the file before the latest repair if there were several, else
/// before the only one.
fn backup_of(session: &SessionFile, first: bool) -> Result<SessionFile, Failure> {
    let ends: &[&str] = if first { &[FIRST] } else { &[LATEST, FIRST] };
    for end in ends {
        let path = with_end(&session.path, end);
        let owner = Owner::Of(platform::owner(&session.found));
        let Some((file, found)) = beside::open(&path, owner)? else { continue };
        let document = session.document;
        return Ok(SessionFile { path, found, file, document, is_broken: false, begins: true });
    }
    Err(session.undone("there is no backup of it"))
}

/// Returns the offset at which the rows of the session begin that its backup does not have. Fails
/// unless all rows before it can come from a repair of the backup.
fn appended_since(session: &SessionFile, backup: &SessionFile, progress: &Progress) -> Result<u64, Failure> {
    if session.document.is_some() {
        let is_same = messages_of(session)? == messages_of(backup)?;
        let end = session.found.len();
        return if is_same { Ok(end) } else { Err(session.undone("messages were added since the repair")) };
    }
    session.from(0, |now| {
        let (mut now, mut then) = (FullRows::of(now), FullRows::of(&backup.file));
        loop {
            progress.step()?;
            let Some(old) = then.next()? else { break };
            let Some(new) = now.next()? else {
                return Err(session.undone("it has fewer rows than its backup"));
            };
            if !may_come_from(&new, &old) {
                return Err(session.undone("it has other rows than its backup"));
            }
        }
        (&backup.file).seek(SeekFrom::Start(0))?;
        Ok(now.at)
    })
}

/// Reads rows that are not blank, one at a time.
struct FullRows<'f> {
    file: BufReader<&'f fs::File>,
    /// The end of the last row in the file.
    at: u64,
}

impl<'f> FullRows<'f> {
    fn of(file: &'f fs::File) -> Self {
        FullRows { file: BufReader::with_capacity(CHUNK, file), at: 0 }
    }

    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let mut row = vec![];
            self.at += self.file.read_until(b'\n', &mut row)? as u64;
            if row.is_empty() {
                return Ok(None);
            }
            if !is_blank(&row) {
                return Ok(Some(row));
            }
        }
    }
}

/// Returns true if a repair may have made one row of another: it shortens strings and leaves out
/// copies, and changes no name and no other value. Containers are not compared.
fn may_come_from(new: &[u8], old: &[u8]) -> bool {
    if new.trim_ascii_end() == old.trim_ascii_end() {
        return true;
    }
    let (Some(new), Some(old)) = (Document::parse(new), Document::parse(old)) else { return false };
    let (new, old) = (new.root(), old.root());
    let is_cut =
        |new: Value, old: Value| new.text().zip(old.text()).is_some_and(|(new, old)| new.len() < old.len());
    new.is_object()
        && old.is_object()
        && new.members().all(|member| {
            let name = member.name().and_then(Value::string).unwrap_or_default();
            old.get(&name).is_some_and(|then| {
                member.is_container() && then.is_container() || equal(member, then) || is_cut(member, then)
            })
        })
}

/// Counts the messages of a document.
fn messages_of(session: &SessionFile) -> Result<Option<usize>, Failure> {
    session.from(0, |mut file| {
        let mut all = vec![];
        file.read_to_end(&mut all)?;
        let mut reading = RowReader::of_session(session);
        let Some(row) = reading.next(&all) else { return Ok(None) };
        Ok(row.document().map(|document| row.entry(&document).messages.len()))
    })
}

/// Reads the rows from an offset on, each with a newline.
fn rows_from(session: &SessionFile, start: u64, end: u64) -> Result<Vec<u8>, Failure> {
    session.from(start, |file| {
        let mut rows = vec![];
        file.take(end.saturating_sub(start)).read_to_end(&mut rows)?;
        if !is_blank(&rows) && !rows.ends_with(b"\n") {
            rows.push(b'\n');
        }
        Ok(rows)
    })
}

/// Carries over rows that reached the repaired file meanwhile, and keeps it as the latest backup.
fn finish(
    session: &SessionFile,
    rows: &mut Rows,
    swap: &mut Swap,
    progress: &Progress,
) -> Result<Option<PathBuf>, Failure> {
    for is_synced in [false, true] {
        progress.note();
        let mut at = rows.read - rows.rest().len() as u64;
        while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
            for row in each_row(block) {
                swap.append(row, row, at)?;
                at += row.len() as u64;
            }
        }
        swap.sync(at)?;
        if !is_synced {
            platform::sync_names(session.path.parent().unwrap_or(&session.path));
        }
    }
    swap.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_only_shortens_strings_and_leaves_out_copies() {
        let old =
            br#"{"type":"message","id":"a","n":1,"message":{"content":"long"},"content":"a long text"}"#;
        let cases: [(&[u8], bool); 8] = [
            (old, true),
            (br#"{"type":"message","id":"a","n":1,"message":{"content":"l"},"content":"a lo"}"#, true),
            (br#"{"type":"message","id":"a","n":1,"message":{}}"#, true),
            (br#"{"type":"message","id":"b","n":1,"message":{},"content":"a long text"}"#, false),
            (br#"{"type":"message","id":"a","n":2,"message":{},"content":"a long text"}"#, false),
            (
                br#"{"type":"message","id":"a","n":1,"message":{},"content":"a longer text than before"}"#,
                false,
            ),
            (br#"{"type":"message","id":"a","new":1}"#, false),
            (b"{\"type\":\"mess", false),
        ];
        for (new, is_same) in cases {
            assert_eq!(may_come_from(new, old), is_same, "{}", String::from_utf8_lossy(new));
        }
    }
}
