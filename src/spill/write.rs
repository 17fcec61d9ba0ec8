//! An output being saved: one thread pushes bytes, others write them, in order.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::file_name::{Alias, FileName, OutputSize};
use super::identity::{Identity, StoreKey};
use super::key_file::key_of;
use super::marks::{LineMarks, remember};
use super::{Record, Store, StoreFailure};
use crate::platform;

#[derive(Debug)]
pub struct SaveQueue {
    store: Store,
    origin: SavedCall,
    queue: Mutex<Queue>,
    /// Locked while writing, to write batches in the order in which they leave the queue.
    stage: Mutex<Stage>,
    /// The name of the file while it is written.
    running: Mutex<Option<FileName>>,
}

/// The call whose output is saved, and the secret of the store unless that is in its directory.
#[derive(Clone, Debug, Default)]
pub struct SavedCall {
    pub tool: String,
    pub call: String,
    pub secret: Option<String>,
}

#[derive(Debug)]
enum Stage {
    /// The file is created with the first write.
    Waiting,
    Writing(Box<Writing>),
    /// No writes follow the end, successful or not.
    Ended,
}

#[derive(Debug)]
struct Writing {
    file: File,
    name: FileName,
    identity: Identity,
    written: u64,
    /// The memory of the bytes written last, for reuse.
    batch: Vec<u8>,
}

/// Outputs that begin alike and are written at once, at most.
const ALIKE: u32 = 4_096;

impl SaveQueue {
    /// Begins an output and keeps at most `room` bytes of it.
    pub fn new(store: Store, origin: SavedCall, room: u64) -> SaveQueue {
        let queue = Queue { room, ..Queue::default() };
        let stage = Stage::Waiting.into();
        SaveQueue { store, origin, queue: queue.into(), stage, running: None.into() }
    }

    /// Returns the id and the path under which the output can be read while it is written, once
    /// something was.
    pub fn running(&self) -> Option<(String, PathBuf)> {
        let name = lock(&self.running).clone()?;
        Some((name.id.clone(), self.store.path(&name)))
    }

    /// Accepts bytes and returns the number waiting to be written.
    pub fn push(&self, bytes: &[u8]) -> usize {
        lock(&self.queue).push(bytes)
    }

    /// Writes the buffered bytes. A failure removes the file.
    pub fn flush(&self) -> Result<(), StoreFailure> {
        self.advance(Self::write)
    }

    /// Writes the buffered bytes and finishes the file. `told`: a snapshot named its running id,
    /// which leads to the output from now on.
    pub fn finish(&self, told: bool) -> Result<Record, StoreFailure> {
        self.advance(|saving, stage| {
            saving.write(stage)?;
            let Stage::Writing(writing) = stage else { return Err(ended()) };
            let record = saving.rename(writing, told)?;
            *stage = Stage::Ended;
            Ok(record)
        })
    }

    /// Removes the file, unless it is finished.
    pub fn discard(&self) -> Result<(), StoreFailure> {
        self.remove(&mut lock(&self.stage))
    }

    fn advance<R>(
        &self,
        step: impl FnOnce(&Self, &mut Stage) -> Result<R, StoreFailure>,
    ) -> Result<R, StoreFailure> {
        let stage = &mut *lock(&self.stage);
        let outcome = step(self, stage);
        if outcome.is_err() {
            // An incomplete file is not worth its space. The first error is reported.
            let _ = self.remove(stage);
        }
        outcome
    }

    fn write(&self, stage: &mut Stage) -> Result<(), StoreFailure> {
        if let Stage::Waiting = stage {
            let mut batch = mem::take(&mut lock(&self.queue).waiting);
            *stage = Stage::Writing(self.begin(&batch)?.into());
            let Stage::Writing(writing) = stage else { return Err(ended()) };
            writing.write(&batch)?;
            mem::swap(&mut writing.batch, &mut batch);
            return Ok(());
        }
        let Stage::Writing(writing) = stage else { return Err(ended()) };
        let mut batch = mem::take(&mut writing.batch);
        batch.clear();
        mem::swap(&mut batch, &mut lock(&self.queue).waiting);
        writing.identity.add(&batch);
        writing.write(&batch)?;
        writing.batch = batch;
        Ok(())
    }

    /// Creates the file of an output that begins with these bytes.
    fn begin(&self, bytes: &[u8]) -> Result<Writing, StoreFailure> {
        let SavedCall { tool, call, secret } = &self.origin;
        self.store.prepare()?;
        let key = match secret {
            Some(secret) => StoreKey::of(secret.as_bytes()),
            None => key_of(&self.store)?,
        };
        let mut identity = Identity::new(key, tool, call);
        let call = identity.clone();
        identity.add(bytes);
        let mut ended = self.ended()?;
        for nth in 0..ALIKE {
            let name = FileName::new(&call.running(nth), tool);
            if ended.contains(&name.id) {
                continue;
            }
            let file = match self.create(&name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // The writer that had this name may just have ended.
            ended = self.ended()?;
            if ended.contains(&name.id) {
                self.store.remove(&name)?;
                continue;
            }
            *lock(&self.running) = Some(name.clone());
            return Ok(Writing { file, name, identity, written: 0, batch: vec![] });
        }
        Err(StoreFailure::Refused("too many outputs of one call are saved".into()))
    }

    /// Returns the running ids that lead to outputs which have ended.
    fn ended(&self) -> Result<HashSet<String>, StoreFailure> {
        Ok(self.store.aliases()?.into_iter().map(|alias| alias.running).collect())
    }

    fn create(&self, name: &FileName) -> io::Result<File> {
        loop {
            let file = self.store.create(name)?;
            // Sweeps skip held files, until they are closed or this process ends. A sweep that held
            // the file first removes it, and we create another.
            platform::hold_after_others(&file);
            if platform::has_name(&file.metadata()?) {
                return Ok(file);
            }
        }
    }

    /// Renames the file to its final name, and sets the time from which its age counts.
    fn rename(&self, writing: &Writing, told: bool) -> Result<Record, StoreFailure> {
        let Writing { file, name: part, identity, written, .. } = writing;
        let (whole, marks) = {
            let mut queue = lock(&self.queue);
            (queue.whole(), mem::take(&mut queue.kept))
        };
        let from = self.store.path(part);
        let refused = |what| StoreFailure::Refused(format!("{} {what} while it was written", from.display()));
        if file.metadata()?.len() != *written {
            return Err(refused("was changed"));
        }
        // A failure affects only the age.
        let _ = file.set_modified(SystemTime::now());
        let name = part.finished(identity.finished(whole), whole);
        let path = self.store.path(&name);
        if told {
            // A failure affects only who asks for the running id.
            let alias = Alias { running: part.id.clone(), id: name.id.clone() };
            let _ = self.store.create_named(&alias.to_string());
        }
        match fs::rename(&from, &path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(refused("was removed")),
            renamed => renamed?,
        }
        if let Ok(found) = file.metadata() {
            remember(&path, &found, marks.into());
        }
        Ok(Record { id: name.id, path, whole, complete: *written == whole.bytes })
    }

    fn remove(&self, stage: &mut Stage) -> Result<(), StoreFailure> {
        if let Stage::Writing(writing) = mem::replace(stage, Stage::Ended) {
            self.store.remove(&writing.name)?;
        }
        Ok(())
    }
}

impl Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

fn ended() -> StoreFailure {
    StoreFailure::Refused("the output is no longer written".into())
}

/// Locks a mutex even if it is poisoned: every step leaves a usable state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes waiting to be written, and the size of the whole output.
#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<u8>,
    /// Bytes that the file can still accept.
    room: u64,
    bytes: u64,
    kept: LineMarks,
    /// Newlines of the bytes that are not kept.
    newlines: u64,
    /// Text follows the last newline.
    open: bool,
}

impl Queue {
    /// Accepts bytes and returns the number of buffered ones. Bytes beyond the room are only
    /// counted.
    fn push(&mut self, bytes: &[u8]) -> usize {
        self.bytes += bytes.len() as u64;
        self.open = bytes.last().map_or(self.open, |&last| last != b'\n');
        let fits = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        let (kept, rest) = bytes.split_at(fits);
        self.kept.add(kept);
        self.newlines += memchr::memchr_iter(b'\n', rest).count() as u64;
        self.waiting.extend_from_slice(kept);
        self.room -= fits as u64;
        self.waiting.len()
    }

    fn whole(&self) -> OutputSize {
        OutputSize { bytes: self.bytes, lines: self.kept.newlines() + self.newlines + u64::from(self.open) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_room_are_counted_but_not_kept() {
        let mut queue = Queue { room: 5, ..Queue::default() };
        assert_eq!(queue.push(b"ab\n"), 3);
        assert_eq!(queue.push(b"cd\nef"), 5);
        assert_eq!(queue.waiting, b"ab\ncd");
        assert_eq!(queue.push(b"gh"), 5);
        assert_eq!(queue.whole(), OutputSize { bytes: 10, lines: 3 });
    }

    #[test]
    fn empty_pieces_neither_add_nor_end_lines() {
        let mut queue = Queue { room: u64::MAX, ..Queue::default() };
        assert_eq!(queue.whole(), OutputSize { bytes: 0, lines: 0 });
        queue.push(b"a");
        queue.push(b"");
        assert_eq!(queue.whole().lines, 1);
    }
}
