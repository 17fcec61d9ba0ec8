//! A session file that rows are appended to.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::rows::{Rows, each_row};
use crate::platform;

#[derive(Debug)]
pub struct AppendedFile {
    file: File,
    /// The file's inode number.
    pub number: u64,
    /// Hashes of existing rows that must not be appended again.
    rows: HashSet<u64>,
}

impl AppendedFile {
    /// Opens the file that currently has the name. Fails if it is not a regular file or belongs to
    /// another user.
    pub fn open(path: &Path, owner: u32) -> io::Result<AppendedFile> {
        let file = platform::open_itself(path, OpenOptions::new().read(true).append(true))?;
        let found = file.metadata()?;
        if !found.is_file() || platform::owner(&found) != owner {
            return Err(ErrorKind::PermissionDenied.into());
        }
        Ok(AppendedFile { file, number: platform::number(&found), rows: HashSet::new() })
    }

    /// Records the hashes of rows from an offset on, as far as `counts` accepts them.
    pub fn know(&mut self, from: u64, counts: impl Fn(u64) -> bool) -> io::Result<()> {
        (&self.file).seek(SeekFrom::Start(from))?;
        let mut rows = Rows::of(&self.file);
        while let Some(block) = rows.next(|_| Ok::<(), io::Error>(()))? {
            self.rows.extend(each_row(block).map(hash_of).filter(|hash| counts(*hash)));
        }
        self.rows.extend(Some(hash_of(rows.rest())).filter(|hash| counts(*hash)));
        Ok(())
    }

    /// Returns true if the file has this row or one with the hash `or`. Each recorded row matches
    /// once.
    pub fn has(&mut self, row: &[u8], or: u64) -> bool {
        self.rows.remove(&hash_of(row)) || self.rows.remove(&or)
    }

    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Appends a row in one write, starting on a new line. `length` is the length of the file.
    /// Returns the bytes written.
    pub fn append(&self, row: &[u8], length: u64) -> io::Result<u64> {
        let (mut bytes, mut last) = (vec![], [b'\n']);
        if length > 0 {
            (&self.file).seek(SeekFrom::Start(length - 1))?;
            (&self.file).read_exact(&mut last)?;
        }
        let newline = |ends: bool| if ends { &b""[..] } else { b"\n" };
        bytes.extend_from_slice(newline(last == [b'\n']));
        bytes.extend_from_slice(row);
        bytes.extend_from_slice(newline(row.ends_with(b"\n")));
        (&self.file).write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Syncs the file to disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}

/// Hashes a row, for later versions as well. Never returns 0, which means a missing row.
pub fn hash_of(row: &[u8]) -> u64 {
    xxh3_64(row.strip_suffix(b"\n").unwrap_or(row)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn live(text: &str) -> (tempfile::NamedTempFile, AppendedFile) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let owner = platform::owner(&file.as_file().metadata().unwrap());
        let live = AppendedFile::open(file.path(), owner).unwrap();
        (file, live)
    }

    #[test]
    fn rows_are_appended_on_lines_of_their_own() {
        for (text, row, expected) in [
            ("", "a", "a\n"),
            ("a\n", "b\n", "a\nb\n"),
            ("half", "b\n", "half\nb\n"),
            ("half", "b", "half\nb\n"),
        ] {
            let (file, live) = live(text);
            let added = live.append(row.as_bytes(), live.length().unwrap()).unwrap();
            assert_eq!(fs::read_to_string(file.path()).unwrap(), expected);
            assert_eq!(added, (expected.len() - text.len()) as u64);
        }
    }

    #[test]
    fn existing_rows_match_once_each() {
        let (_file, mut live) = live("a\nb\nc\nlast");
        assert!(!live.has(b"c\n", 0));
        live.know(2, |hash| hash != hash_of(b"c")).unwrap();
        assert!(!live.has(b"a\n", 0) && !live.has(b"c\n", 0));
        assert!(live.has(b"b\n", 0) && !live.has(b"b\n", 0));
        assert!(live.has(b"as it was\n", hash_of(b"last\n")));
    }

    #[test]
    fn files_of_other_users_are_not_written() {
        let (file, live) = live("a\n");
        let owner = platform::owner(&file.as_file().metadata().unwrap());
        drop(live);
        if cfg!(unix) {
            assert!(AppendedFile::open(file.path(), owner + 1).is_err());
        }
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(file.path(), &link).unwrap();
            assert!(AppendedFile::open(&link, owner).is_err());
        }
    }
}
