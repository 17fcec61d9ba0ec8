//! The new file of a session, which is written beside the old one and takes its place.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::failure::Failure;
use super::file::{Beside, sweep};
use super::stored::Session;
use super::watch::Watch;
use crate::system;

/// Bytes that are copied or written at once.
pub const CHUNK: usize = 1 << 20;

#[derive(Debug)]
pub struct Replica {
    beside: Beside,
    file: File,
}

impl Replica {
    /// Makes one, with the owner and the mode of a session and so many bytes of its start.
    pub fn begin(session: &Session, unchanged: u64, watch: &Watch) -> Result<Replica, Failure> {
        sweep(&session.path);
        watch.step()?;
        let (beside, file) = Beside::make(&session.path, |path| system::creation().open(path))?;
        system::take_after(&file, &session.found)?;
        // A place in a file belongs to who opened it.
        let old = session.reopen()?;
        let mut left = unchanged;
        while left > 0 {
            watch.step()?;
            let copied = io::copy(&mut (&old).take(left.min(8 * CHUNK as u64)), &mut &file)?;
            if copied == 0 {
                return Err(session.changed("has become shorter"));
            }
            left -= copied;
        }
        Ok(Replica { beside, file })
    }

    pub fn put(&self, bytes: &[u8], watch: &Watch) -> Result<(), Failure> {
        for chunk in bytes.chunks(CHUNK) {
            watch.step()?;
            (&self.file).write_all(chunk)?;
        }
        Ok(())
    }

    /// Takes back what was written last.
    pub fn shorten(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    /// Has all of it on the disk.
    pub fn sync(&self, watch: &Watch) -> Result<(), Failure> {
        watch.step()?;
        self.file.sync_all()?;
        watch.step()
    }

    /// Takes the place of a file, and goes on as that.
    pub fn replace(self, path: &Path) -> io::Result<File> {
        self.beside.rename(path)?;
        Ok(self.file)
    }
}
