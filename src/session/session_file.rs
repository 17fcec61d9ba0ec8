//! The file of a session, open for reading.

use std::fs::{self, File, Metadata};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use serde::de::IgnoredAny;

use super::broken_document::BrokenDocument;
use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::layout::{Database, Layout};
use super::mend::{is_json, is_row};
use super::progress::Progress;
use super::replacement::CHUNK;
use super::row_format::{SessionKind, is_blank, mark_of};
use super::rows::{RowReader, Rows, each_row};
use crate::json::Document;
use crate::json::walk::{Leniency, walk};
use crate::platform;

#[derive(Debug)]
pub struct SessionFile {
    /// All symbolic links are resolved.
    pub path: PathBuf,
    pub file: File,
    pub found: Metadata,
    /// The layout of a file that is one JSON value, and not rows.
    pub document: Option<&'static Layout>,
    /// The document is damaged.
    pub is_broken: bool,
    /// The file begins like a row.
    pub begins: bool,
}

/// Bytes read at once to find the first lines.
const LINES: usize = 1 << 16;

/// Signatures of other file formats.
const OTHERS: [(&[u8], &str); 5] = [
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\x1F\x8B", "compressed data"),
    (b"\x28\xB5\x2F\xFD", "compressed data"),
    (b"\xFF\xFE", "UTF-16 text"),
    (b"\xFE\xFF", "UTF-16 text"),
];

/// Returns true for a name that is the SHA-256 of a content, as some agents store it. Another file
/// refers to it, so content that differs is lost.
fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl SessionFile {
    /// Opens a JSON Lines file. Fails for any other.
    pub fn open(path: PathBuf) -> Result<SessionFile, Failure> {
        let file = platform::open(&path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(platform::is_directory().into());
        }
        let refuse = |what: &str| {
            Failure::Format(format!("{} is not a session in JSON (found {what})", path.display()))
        };
        if !found.is_file() {
            return Err(refuse("a device, pipe or socket"));
        }
        let mut start = vec![];
        (&file).take(16).read_to_end(&mut start)?;
        (&file).rewind()?;
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let database = Database::named(name).filter(|_| what.ends_with("database"));
            return Err(refuse(&database.map_or(
                (*what).to_owned(),
                |Database { agent, advice, .. }| {
                    format!("{what} of {agent}, which is not repaired in place: {advice}")
                },
            )));
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if is_digest(name) {
            return Err(refuse("a file that is named by its digest, so that no byte of it may change"));
        }
        Ok(SessionFile { path, file, found, document: None, is_broken: false, begins: true })
    }

    /// Opens a file and finds out if it is a document.
    pub fn open_any(path: PathBuf) -> Result<SessionFile, Failure> {
        SessionFile::open(path)?.told()
    }

    /// Finds out if an open file is a document.
    pub fn told(self) -> Result<SessionFile, Failure> {
        let [first, second] = self.first_lines()?;
        let first = &first[mark_of(&first)..];
        let begins = begins_like_row(first);
        let starts = first.trim_ascii_start().first();
        let (document, is_broken) = if !matches!(starts, Some(b'{' | b'[')) {
            (None, false)
        } else if !is_blank(&second) && is_json(first) {
            // What stands behind a document is not a row.
            let is_document = (starts == Some(&b'[') || !is_row(&second)) && layout_of(first).is_some();
            (if is_document { self.broken_layout()? } else { None }, is_document)
        } else if self.is_one()? {
            (layout_of(&self.all()?), false)
        } else {
            // A row that is damaged breaks soon, a document breaks in its last line.
            let found = walk(first, 0, Leniency::Document);
            let is_row = begins && found.end < first.trim_ascii_end().len() && !found.is_whole;
            (if is_row && BrokenDocument::of(first).is_none() { None } else { self.broken_layout()? }, true)
        };
        Ok(SessionFile { document, is_broken: is_broken && document.is_some(), begins, ..self })
    }

    /// Reads the first two lines that are not blank.
    fn first_lines(&self) -> Result<[Vec<u8>; 2], Failure> {
        self.from(0, |file| {
            let mut file = BufReader::with_capacity(LINES, file);
            let mut lines = [vec![], vec![]];
            for line in &mut lines {
                while is_blank(&line[mark_of(line)..]) {
                    // Of blank lines, there may be millions.
                    line.clear();
                    if file.read_until(b'\n', line)? == 0 {
                        break;
                    }
                }
            }
            Ok(lines)
        })
    }

    /// Returns true if the whole file is one JSON value.
    fn is_one(&self) -> Result<bool, Failure> {
        self.from(0, |file| {
            let mut file = BufReader::with_capacity(CHUNK, file);
            let mark = mark_of(file.fill_buf()?);
            file.consume(mark);
            Ok(serde_json::from_reader::<_, IgnoredAny>(file).is_ok())
        })
    }

    /// Returns the layout of the damaged document that the whole file is, if it is one.
    fn broken_layout(&self) -> Result<Option<&'static Layout>, Failure> {
        Ok(BrokenDocument::of(&self.all()?).map(|found| found.layout))
    }

    fn all(&self) -> Result<Vec<u8>, Failure> {
        let mut all = vec![];
        self.from(0, |mut file| Ok(file.read_to_end(&mut all)?))?;
        Ok(all)
    }

    /// Runs `act` on the file from a byte on, then restores the position.
    pub fn from<T>(&self, start: u64, act: impl FnOnce(&File) -> Result<T, Failure>) -> Result<T, Failure> {
        let at = (&self.file).stream_position()?;
        (&self.file).seek(SeekFrom::Start(start))?;
        let done = act(&self.file)?;
        (&self.file).seek(SeekFrom::Start(at))?;
        Ok(done)
    }

    /// Copies the owner, attributes and mode to a new file. Until all are set, only this user can
    /// access it.
    pub fn give_rights(&self, new: &File) -> Result<(), Failure> {
        platform::take_owner(new, &self.found)?;
        platform::take_attributes(new, &self.file).map_err(|(name, error)| {
            let path = self.path.display();
            Failure::Attribute(format!(
                "could not copy the attribute {name} of {path} to the new file: {error}"
            ))
        })?;
        Ok(platform::take_mode(new, &self.found)?)
    }

    /// Returns true if other files hold offsets into this one, by the first row of a known kind. No
    /// row may then start at another place; see [`super::offsets`].
    pub fn keeps_offsets(&self) -> Result<bool, Failure> {
        if let Some(layout) = self.document {
            return Ok(layout.offsets);
        }
        self.from(0, |file| {
            let (mut rows, mut reading) = (Rows::of(file), RowReader::default());
            let mut told = |row: &[u8]| {
                let row = reading.next(row)?;
                let document = row.document()?;
                let entry = row.entry(&document);
                let kind = SessionKind::of(&entry, false);
                let keeps = matches!(kind, SessionKind::Known(layout) if layout.offsets);
                (kind != SessionKind::Unknown).then_some(keeps)
            };
            while let Some(block) = rows.next(|_| Ok::<(), Failure>(()))? {
                if let Some(keeps) = each_row(block).find_map(&mut told) {
                    return Ok(keeps);
                }
            }
            Ok(told(rows.rest()).unwrap_or_default())
        })
    }

    /// Fails if the name no longer refers to the opened file.
    pub fn check_name(&self) -> Result<(), Failure> {
        let now = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.changed("was removed")),
            now => now?,
        };
        if platform::identity(&now) != platform::identity(&self.found) {
            return Err(self.changed("was replaced"));
        }
        Ok(())
    }

    /// Returns true if the file has grown since `rows` read it. `known` is the modification time at
    /// which that part was last known to be unchanged; at any other time, it is read again. Fails
    /// if it has changed.
    pub fn has_grown(
        &self,
        rows: &Rows,
        known: &mut Option<SystemTime>,
        progress: &Progress,
    ) -> Result<bool, Failure> {
        let now = self.file.metadata()?;
        if now.len() < rows.read {
            return Err(self.changed("became shorter"));
        }
        let written = now.modified().ok();
        if written != *known || written.is_none() {
            if !self.is_same(rows, progress)? {
                return Err(self.changed("was modified other than by appending"));
            }
            *known = written;
        }
        Ok(now.len() > rows.read)
    }

    /// Reads the file again and returns true if it is unchanged.
    fn is_same(&self, rows: &Rows, progress: &Progress) -> Result<bool, Failure> {
        self.from(0, |file| {
            let (mut again, mut left) = (Fingerprint::default(), rows.read);
            let mut buffer = vec![0; CHUNK];
            while left > 0 {
                progress.step()?;
                let count = file.take(left.min(CHUNK as u64)).read(&mut buffer)?;
                if count == 0 {
                    return Ok(false);
                }
                again.push(&buffer[..count]);
                left -= count as u64;
            }
            Ok(again == rows.fingerprint)
        })
    }

    /// Creates the failure for a change that cannot be carried over.
    pub fn changed(&self, how: &str) -> Failure {
        Failure::Changed(format!("{} {how} during the repair", self.path.display()))
    }

    /// Creates the failure for a repair that cannot be undone.
    pub fn undone(&self, why: &str) -> Failure {
        Failure::Undo(format!("the repair of {} cannot be undone: {why}", self.path.display()))
    }
}

/// Returns the layout of the document that a text is, with or without a byte order mark.
fn layout_of(text: &[u8]) -> Option<&'static Layout> {
    let document = Document::parse(&text[mark_of(text)..]);
    document.and_then(|document| Layout::of_document(document.root()))
}

/// Returns true if a file begins like a row, perhaps after NUL bytes: an indented document has a
/// line end behind its first bracket.
fn begins_like_row(line: &[u8]) -> bool {
    let nuls = line.iter().take_while(|byte| **byte == 0).count();
    let text = line[nuls..].trim_ascii_start();
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    text.strip_prefix(b"{")
        .is_some_and(|inside| matches!(inside.iter().find(|byte| !is_space(byte)), None | Some(b'"' | b'}')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, SessionFile) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, text).unwrap();
        let file = SessionFile::open_any(path).unwrap();
        (dir, file)
    }

    #[test]
    fn offsets_are_kept_if_a_row_of_any_kind_tells_it() {
        let meta = r#"{"type":"session_meta","payload":{"id":"x"}}"#;
        let event = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
        let item = r#"{"type":"response_item","payload":{"type":"message","role":"user"}}"#;
        let plain = r#"{"role":"user","content":"x"}"#;
        for (rows, keeps) in [
            ([meta, event, item], true),
            ([&meta[..20], event, item], true),
            ([&meta[..20], "7", item], true),
            ([r#"{"type":"session","version":3}"#, plain, event], false),
            ([event, plain, plain], false),
            ([event, event, event], false),
        ] {
            assert_eq!(file(&rows.join("\n")).1.keeps_offsets().unwrap(), keeps, "{rows:?}");
        }
    }

    #[test]
    fn blank_lines_before_others_are_not_kept() {
        let (_dir, file) = file(&format!("\u{feff}\n \r\n{}{{\"a\":1}}\n\n7", "\n".repeat(9)));
        assert_eq!(file.first_lines().unwrap(), [b"{\"a\":1}\n".to_vec(), b"7".to_vec()]);
    }
}
