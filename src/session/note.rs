//! The note of a session's repairs, `<file>.bak.note`: what each repair read and what it wrote in
//! its place.
//!
//! A backup is the whole old file, so a repair of any kind is undone by putting it back, if nobody
//! has touched the repaired file since. The rows of the two files do not tell that: a repair may
//! add, remove, split and join rows. So each repair notes the length and the digest of the bytes
//! that it read and of those that it wrote. A file that begins with the latter is the repaired one,
//! and all that stands behind is by others.
//!
//! Rows that reach the old file while the names are exchanged are in the backup, and are appended
//! to the new file as well. They are recognised there by their hashes; where such a row is cut,
//! both hashes are noted before it is appended.
//!
//! The note is written before the exchange, so a repair that is killed may leave an entry for a
//! file that never had the session's name. It is harmless: an entry counts only for a file that
//! begins with the bytes that it describes. For the same reason nothing else in a note needs to be
//! trusted.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::backup::{FIRST, LATEST};
use super::beside::{self, Owner};
use super::conversation::Conversation;
use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::rows::Rows;
use super::session_file::SessionFile;
use super::temp_file::{TempFile, with_end};
use crate::platform;

/// The end of a note's name. No pattern of a host for its sessions matches it.
pub const END: &str = ".bak.note";

/// Bytes read of a note. Notes are shorter.
const LONGEST: u64 = 4 << 20;
/// Repairs in a note: the first, and the latest. A note with fewer has them all.
pub const MOST: usize = 8;
/// Late rows in a note, so that it stays shorter than [`LONGEST`]. An undo takes further ones for
/// rows that others appended.
const MOST_LATE: usize = 1 << 16;
const VERSION: u64 = 1;

/// Bytes by their number and digest, or messages.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Content {
    pub length: u64,
    pub xxh3: String,
}

impl Content {
    pub fn of(length: u64, digest: u128) -> Content {
        Content { length, xxh3: format!("{digest:032x}") }
    }
}

/// A repair.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The bytes that were read, and how many of them belong to an incomplete last row.
    pub from: Content,
    pub rest: u64,
    /// The bytes that were written.
    pub to: Content,
    /// The messages of a document that was written, compared by value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub messages: Option<Content>,
    /// It was an undo: all that it wrote had been in the session before, or is by others.
    #[serde(skip_serializing_if = "is_false", default)]
    pub undoes: bool,
    /// The hashes of rows that reached the old file after it was read, and of the same rows as they
    /// were cut.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub late: Vec<(u64, u64)>,
}

fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct NoteFile {
    version: u64,
    repairs: Vec<Written>,
}

#[derive(Debug)]
pub struct RepairNote<'s> {
    session: &'s SessionFile,
    /// Oldest first.
    pub repairs: Vec<Written>,
}

impl<'s> RepairNote<'s> {
    /// Reads the note of a session. It is empty if there is none, and if no backup is left that it
    /// is about.
    pub fn read(session: &'s SessionFile) -> RepairNote<'s> {
        let has_backup =
            [FIRST, LATEST].iter().any(|end| with_end(&session.path, end).symlink_metadata().is_ok());
        let repairs = has_backup.then(|| parsed(session)).flatten();
        RepairNote { session, repairs: repairs.unwrap_or_default() }
    }

    /// Adds a repair, or an undo, that read `rows` of the session and wrote the file at a path.
    pub fn add(&mut self, rows: &Rows, written: &Path, undoes: bool) -> Result<(), Failure> {
        let new = SessionFile::open_any(written.to_owned())?;
        let (mut to, mut buffer, mut length) = (Fingerprint::default(), vec![0; 1 << 20], 0);
        loop {
            let count = (&new.file).read(&mut buffer)?;
            if count == 0 {
                break;
            }
            to.push(&buffer[..count]);
            length += count as u64;
        }
        let mut written = Written {
            from: Content::of(rows.read, rows.fingerprint.digest()),
            rest: rows.rest().len() as u64,
            to: Content::of(length, to.digest()),
            messages: Conversation::read(&new)?.map(|all| all.content()),
            undoes,
            late: vec![],
        };
        self.repairs.retain(|other| {
            let is_same = (&other.from, &other.to) == (&written.from, &written.to);
            written.undoes &= other.undoes || !is_same;
            !is_same
        });
        if self.repairs.len() >= MOST {
            self.repairs.remove(1);
        }
        self.repairs.push(written);
        self.write()
    }

    /// Notes that the latest repair appends rows in another form.
    pub fn add_late(&mut self, rows: &[(u64, u64)]) -> Result<(), Failure> {
        let known: usize = self.repairs.iter().map(|repair| repair.late.len()).sum();
        let more = &rows[..rows.len().min(MOST_LATE.saturating_sub(known))];
        let Some(latest) = self.repairs.last_mut().filter(|_| !more.is_empty()) else { return Ok(()) };
        latest.late.extend_from_slice(more);
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let path = with_end(&self.session.path, END);
        let (mut beside, file) = TempFile::make(&path, "", |path| platform::creation().open(path))?;
        self.session.give_rights(&file)?;
        let all = NoteFile { version: VERSION, repairs: self.repairs.clone() };
        (&file).write_all(serde_json::to_string(&all).expect("numbers and texts").as_bytes())?;
        file.sync_all()?;
        beside.rename(path)?;
        beside.leave();
        Ok(())
    }
}

/// Reads a note that is a file of the session's owner.
fn parsed(session: &SessionFile) -> Option<Vec<Written>> {
    let owner = Owner::Of(platform::owner(&session.found));
    let (file, _) = beside::open(&with_end(&session.path, END), owner).ok()??;
    let mut text = vec![];
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let all: NoteFile = serde_json::from_slice(&text).ok()?;
    (all.version == VERSION).then_some(all.repairs)
}

/// Removes the note of a session without a backup, which a repair that came to no end left.
pub fn tidy(session: &Path) {
    let found = |end: &str| fs::symlink_metadata(with_end(session, end));
    let is_none = |end: &&str| found(end).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    if [FIRST, LATEST].iter().all(is_none) && found(END).is_ok_and(|note| note.is_file()) {
        let _ = fs::remove_file(with_end(session, END));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(dir: &Path) -> SessionFile {
        let path = dir.join("s.jsonl");
        fs::write(&path, "{}\n").unwrap();
        SessionFile::open(path).unwrap()
    }

    #[test]
    fn the_first_repair_and_the_latest_are_noted() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path());
        fs::write(with_end(&session.path, ".bak"), "").unwrap();
        let new = dir.path().join("new");
        let add = |text: &str| {
            fs::write(&new, text).unwrap();
            let mut note = RepairNote::read(&session);
            note.add(&Rows::of_session(&session), &new, false).unwrap();
            note.add_late(&[(1, 2)]).unwrap();
        };
        // The same repair is noted once.
        (0..20).for_each(|at| add(&format!("{at}")));
        add("19");
        let found: Vec<u64> =
            RepairNote::read(&session).repairs.iter().map(|repair| repair.to.length).collect();
        assert_eq!(found, [1, 2, 2, 2, 2, 2, 2, 2]);
        assert_eq!(RepairNote::read(&session).repairs[7].late, [(1, 2)]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
        // A note is about backups.
        fs::remove_file(with_end(&session.path, ".bak")).unwrap();
        assert!(RepairNote::read(&session).repairs.is_empty());
        tidy(&session.path);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_note_is_shorter_than_what_is_read_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path());
        fs::write(with_end(&session.path, ".bak"), "").unwrap();
        let mut note = RepairNote::read(&session);
        note.add(&Rows::of_session(&session), &session.path, false).unwrap();
        let late = vec![(u64::MAX, u64::MAX); MOST_LATE / 2 + 1];
        (0..3).for_each(|_| note.add_late(&late).unwrap());
        assert!(fs::metadata(with_end(&session.path, END)).unwrap().len() < LONGEST);
        assert_eq!(RepairNote::read(&session).repairs[0].late.len(), MOST_LATE);
    }

    #[test]
    fn what_is_not_a_note_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path());
        let (path, good) = (with_end(&session.path, END), r#"{"version":1,"repairs":[]}"#);
        fs::write(with_end(&session.path, ".bak"), "").unwrap();
        for text in ["", "{", "[]", "{\"version\":1}", "{\"version\":2,\"repairs\":[]}", "\0\0\0"] {
            fs::write(&path, text).unwrap();
            assert_eq!(parsed(&session), None, "{text}");
        }
        fs::write(&path, good).unwrap();
        assert_eq!(parsed(&session), Some(vec![]));
        #[cfg(unix)]
        {
            let other = dir.path().join("other");
            fs::rename(&path, &other).unwrap();
            std::os::unix::fs::symlink(&other, &path).unwrap();
            assert_eq!(parsed(&session), None);
        }
    }
}
