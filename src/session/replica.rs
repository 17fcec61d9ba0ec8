//! The new file of a session, which is written beside the old one and takes its place.

use std::fs::File;
use std::io::{self, Read, Write};

use super::failure::Failure;
use super::file::{Beside, State};
use super::rows::Rows;
use super::stored::Session;
use super::swap::Swap;
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
    /// Makes one, with the rights of a session and so many bytes of its start.
    pub fn begin(session: &Session, unchanged: u64, watch: &Watch) -> Result<Replica, Failure> {
        watch.step()?;
        let (beside, file) = Beside::make(&session.path, "", |path| system::creation().open(path))?;
        session.give_rights(&file)?;
        let mut left = unchanged;
        session.from_start(|old| {
            while left > 0 {
                watch.step()?;
                let copied = io::copy(&mut old.take(left.min(8 * CHUNK as u64)), &mut &file)?;
                if copied == 0 {
                    return Err(session.changed("has become shorter"));
                }
                left -= copied;
            }
            Ok(())
        })?;
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

    /// Takes the place of a session of which these rows were read.
    pub fn replace<'s>(
        self,
        session: &'s Session,
        rows: &Rows,
        backup: bool,
        watch: &'s Watch,
    ) -> Result<Swap<'s>, Failure> {
        let made = self.file.metadata()?;
        let state = State {
            old: system::number(&session.found),
            new: system::number(&made),
            read: rows.read,
            rest: rows.rest().len() as u64,
            written: made.len(),
            row: 0,
            backup,
        };
        Swap::begin(self.beside, session, state, watch)
    }
}
