//! The file of a session, open for reading.

use std::fs::{self, File, Metadata};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use serde::de::IgnoredAny;

use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::layout::{Database, Layout};
use super::progress::Progress;
use super::replacement::CHUNK;
use super::row_format::{is_blank, mark_of};
use super::rows::Rows;
use crate::json::Document;
use crate::platform;

#[derive(Debug)]
pub struct SessionFile {
    /// All symbolic links are resolved.
    pub path: PathBuf,
    pub file: File,
    pub found: Metadata,
    /// The layout of a file that is one JSON value, and not rows.
    pub document: Option<&'static Layout>,
}

/// Signatures of other file formats.
const OTHERS: [(&[u8], &str); 5] = [
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\x1F\x8B", "compressed data"),
    (b"\x28\xB5\x2F\xFD", "compressed data"),
    (b"\xFF\xFE", "UTF-16 text"),
    (b"\xFE\xFF", "UTF-16 text"),
];

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
        Ok(SessionFile { path, file, found, document: None })
    }

    /// Opens a file and finds out if it is a document.
    pub fn open_any(path: PathBuf) -> Result<SessionFile, Failure> {
        let session = SessionFile::open(path)?;
        let document = if session.has_rows()? { None } else { session.layout_of_all()? };
        Ok(SessionFile { document, ..session })
    }

    /// Returns true if the first row is JSON and another follows, or if the file does not start
    /// like a document.
    fn has_rows(&self) -> Result<bool, Failure> {
        let mut start = vec![];
        self.from(0, |file| Ok(file.take(CHUNK as u64).read_to_end(&mut start)?))?;
        let text = start[mark_of(&start)..].trim_ascii_start();
        let line = memchr::memchr(b'\n', text).map(|end| text.split_at(end));
        let is_row = |row: &[u8]| serde_json::from_slice::<IgnoredAny>(row).is_ok();
        Ok(!text.starts_with(b"{") && !text.starts_with(b"[")
            || line.is_some_and(|(first, others)| !is_blank(others) && is_row(first)))
    }

    /// Returns the layout of the value that the whole file is, if it is one.
    fn layout_of_all(&self) -> Result<Option<&'static Layout>, Failure> {
        let is_one = self.from(0, |file| {
            let mut file = BufReader::with_capacity(CHUNK, file);
            let mark = mark_of(file.fill_buf()?);
            file.consume(mark);
            Ok(serde_json::from_reader::<_, IgnoredAny>(file).is_ok())
        })?;
        if !is_one {
            return Ok(None);
        }
        let mut all = vec![];
        self.from(0, |mut file| Ok(file.read_to_end(&mut all)?))?;
        let document = Document::parse(&all[mark_of(&all)..]);
        Ok(document.and_then(|document| Layout::of_document(document.root())))
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
