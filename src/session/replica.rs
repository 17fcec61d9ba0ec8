//! The rewritten file of a session, written beside the original.

use std::fs::File;
use std::io::{self, Read, Write};

use super::failure::Failure;
use super::file::{Beside, State};
use super::rows::Rows;
use super::stored::Session;
use super::swap::Swap;
use super::watch::Watch;
use crate::platform;

/// Bytes copied or written per step.
pub const CHUNK: usize = 1 << 20;

#[derive(Debug)]
pub struct Replica {
    beside: Beside,
    file: File,
}

impl Replica {
    /// Creates the file with the session's access rights and the first `unchanged` bytes of its content.
    pub fn begin(session: &Session, unchanged: u64, watch: &Watch) -> Result<Replica, Failure> {
        watch.step()?;
        let (beside, file) = Beside::make(&session.path, "", |path| platform::creation().open(path))?;
        session.give_rights(&file)?;
        let mut left = unchanged;
        session.from_start(|old| {
            while left > 0 {
                watch.step()?;
                let copied = io::copy(&mut old.take(left.min(8 * CHUNK as u64)), &mut &file)?;
                if copied == 0 {
                    return Err(session.changed("became shorter"));
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

    /// Truncates the file to `bytes`.
    pub fn shorten(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    /// Syncs the file to disk.
    pub fn sync(&self, watch: &Watch) -> Result<(), Failure> {
        watch.step()?;
        self.file.sync_all()?;
        watch.step()
    }

    /// Replaces the session. `rows` are those read from it.
    pub fn replace<'s>(
        self,
        session: &'s Session,
        rows: &Rows,
        backup: bool,
        watch: &'s Watch,
    ) -> Result<Swap<'s>, Failure> {
        let made = self.file.metadata()?;
        let state = State {
            old: platform::number(&session.found),
            new: platform::number(&made),
            read: rows.read,
            rest: rows.rest().len() as u64,
            written: made.len(),
            row: 0,
            backup,
        };
        Swap::begin(self.beside, session, state, watch)
    }
}
