//! The file of a session, open to be read.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::replica::CHUNK;
use super::rows::Rows;
use super::watch::Watch;
use crate::system;

#[derive(Debug)]
pub struct Session {
    /// With all links resolved.
    pub path: PathBuf,
    pub file: File,
    pub found: Metadata,
}

/// How files begin that hold sessions in another form, and what they are.
const OTHERS: [(&[u8], &str); 5] = [
    (b"SQLite format 3\0", "a SQLite database"),
    (b"\x1F\x8B", "compressed"),
    (b"\x28\xB5\x2F\xFD", "compressed"),
    (b"\xFF\xFE", "UTF-16"),
    (b"\xFE\xFF", "UTF-16"),
];

impl Session {
    /// Opens a file of rows; refuses anything else.
    pub fn open(path: PathBuf) -> Result<Session, Failure> {
        let file = system::open(&path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(system::is_directory().into());
        }
        let refuse =
            |what: &str| Failure::Format(format!("{} is no file of JSON rows: it is {what}", path.display()));
        if !found.is_file() {
            return Err(refuse("no file"));
        }
        let mut start = vec![];
        (&file).take(16).read_to_end(&mut start)?;
        (&file).rewind()?;
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
            return Err(refuse(what));
        }
        Ok(Session { path, file, found })
    }

    /// Does something with the file from its start, and comes back to where it was read to.
    pub fn from_start<T>(&self, act: impl FnOnce(&File) -> Result<T, Failure>) -> Result<T, Failure> {
        let at = (&self.file).stream_position()?;
        (&self.file).rewind()?;
        let done = act(&self.file)?;
        (&self.file).seek(SeekFrom::Start(at))?;
        Ok(done)
    }

    /// Gives a new file the owner, the attributes and the mode of this. Until it has all of them, it is this user's alone.
    pub fn give_rights(&self, new: &File) -> Result<(), Failure> {
        system::take_owner(new, &self.found)?;
        system::take_attributes(new, &self.file).map_err(|(name, error)| {
            let path = self.path.display();
            Failure::Attribute(format!("{path} has the attribute {name}, which cannot be kept: {error}"))
        })?;
        Ok(system::take_mode(new, &self.found)?)
    }

    /// Fails unless the name still stands for the file that was opened.
    pub fn check_name(&self) -> Result<(), Failure> {
        let now = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.changed("was removed")),
            now => now?,
        };
        if system::identity(&now) != system::identity(&self.found) {
            return Err(self.changed("was replaced"));
        }
        Ok(())
    }

    /// Tells whether the file has grown since `rows` read it. `known` is the modification time at which what was read
    /// was last seen unchanged; any other is checked by reading again. Fails unless it is as it was with more at its end.
    pub fn has_grown(
        &self,
        rows: &Rows,
        known: &mut Option<SystemTime>,
        watch: &Watch,
    ) -> Result<bool, Failure> {
        let now = self.file.metadata()?;
        if now.len() < rows.read {
            return Err(self.changed("has become shorter"));
        }
        let written = now.modified().ok();
        if written != *known || written.is_none() {
            if !self.is_same(rows, watch)? {
                return Err(self.changed("was written to otherwise than at its end"));
            }
            *known = written;
        }
        Ok(now.len() > rows.read)
    }

    /// Reads again what was read, and tells whether it is the same.
    fn is_same(&self, rows: &Rows, watch: &Watch) -> Result<bool, Failure> {
        self.from_start(|file| {
            let (mut again, mut left) = (Fingerprint::default(), rows.read);
            let mut buffer = vec![0; CHUNK];
            while left > 0 {
                watch.step()?;
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

    /// Says how it changed in a way that cannot be carried over.
    #[inline(never)]
    pub fn changed(&self, how: &str) -> Failure {
        Failure::Changed(format!("{} {how} while it was repaired", self.path.display()))
    }
}
