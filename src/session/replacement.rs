//! The rewritten file of a session, written beside the original.

use std::io::{self, BufReader, Read};

use super::failure::Failure;
use super::new_file::NewFile;
use super::note::RepairNote;
use super::progress::Progress;
use super::rows::Rows;
use super::session_file::SessionFile;
use super::swap::Swap;
use super::temp_file::{SwapState, TempFile};
use crate::platform;

/// Bytes copied or written per step.
pub const CHUNK: usize = 1 << 20;

/// The cause of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Repair { backup: bool },
    Undo,
}

#[derive(Debug)]
pub struct Replacement {
    beside: TempFile,
    file: NewFile,
}

impl Replacement {
    /// Creates the file with the session's access rights and the first `unchanged` bytes of its
    /// content.
    pub fn begin(session: &SessionFile, unchanged: u64, progress: &Progress) -> Result<Replacement, Failure> {
        progress.step()?;
        let (beside, file) = TempFile::make(&session.path, "", |path| platform::creation().open(path))?;
        session.give_rights(&file)?;
        let mut left = unchanged;
        session.from(0, |old| {
            while left > 0 {
                progress.step()?;
                let part = old.take(left.min(8 * CHUNK as u64));
                let copied = io::copy(&mut BufReader::with_capacity(CHUNK, part), &mut &file)?;
                if copied == 0 {
                    return Err(session.changed("became shorter"));
                }
                left -= copied;
            }
            Ok(())
        })?;
        Ok(Replacement { beside, file: NewFile::of(file) })
    }

    pub fn put(&self, bytes: &[u8], progress: &Progress) -> Result<(), Failure> {
        for chunk in bytes.chunks(CHUNK) {
            progress.step()?;
            self.file.put(chunk)?;
        }
        Ok(())
    }

    /// Truncates the file to `bytes`.
    pub fn shorten(&self, bytes: u64) -> io::Result<()> {
        self.file.whole()?.set_len(bytes)
    }

    /// Syncs the file to disk.
    pub fn sync(&self, progress: &Progress) -> Result<(), Failure> {
        progress.step()?;
        self.file.whole()?.sync_all()?;
        progress.step()
    }

    /// Replaces the session. `rows` are those read from it.
    pub fn replace<'s>(
        self,
        session: &'s SessionFile,
        rows: &Rows,
        cause: Cause,
        progress: &'s Progress,
    ) -> Result<Swap<'s>, Failure> {
        let backup = cause != Cause::Repair { backup: false };
        let made = self.file.whole()?.metadata()?;
        let state = SwapState {
            old: platform::number(&session.found),
            new: platform::number(&made),
            read: rows.read,
            rest: rows.rest().len() as u64,
            written: made.len(),
            row: 0,
            backup,
        };
        let mut note = RepairNote::read(session);
        // A repair without a backup is a part of the way back to one that is there.
        let notes = backup || !note.repairs.is_empty();
        if notes {
            note.add(rows, self.beside.path(), cause == Cause::Undo)?;
        }
        Swap::begin(self.beside, session, state, notes.then_some(note), progress)
    }
}
