//! The file of a session, open to be read.

use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::path::PathBuf;

use super::failure::Failure;
use super::system;

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

    /// Opens the same file once more, to be read from its start.
    pub fn reopen(&self) -> Result<File, Failure> {
        let file = system::open(&self.path)?;
        if system::identity(&file.metadata()?) != system::identity(&self.found) {
            return Err(Failure::Changed(format!(
                "{} was replaced while it was repaired",
                self.path.display()
            )));
        }
        Ok(file)
    }
}
