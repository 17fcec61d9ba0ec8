//! An output being saved: one thread pushes bytes, others write them, in order.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::file_name::{FileName, Whole};
use super::marks::{Marks, remember};
use super::{Failure, Record, Store};
use crate::platform;

#[derive(Debug)]
pub struct SaveQueue {
    store: Store,
    name: FileName,
    queue: Mutex<Queue>,
    /// Locked while writing, to write batches in the order in which they leave the queue.
    stage: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    /// The file is created with the first write.
    Waiting,
    /// `batch` is the memory of the bytes written last, for reuse.
    Writing { file: File, written: u64, batch: Vec<u8> },
    /// No writes follow the end, successful or not.
    Ended,
}

impl SaveQueue {
    /// Begins an output and keeps at most `room` bytes of it.
    pub fn new(store: Store, id: &str, tool: &str, room: u64) -> SaveQueue {
        let queue = Queue { room, ..Queue::default() };
        SaveQueue { store, name: FileName::new(id, tool), queue: queue.into(), stage: Stage::Waiting.into() }
    }

    /// Accepts bytes and returns the number waiting to be written.
    pub fn push(&self, bytes: &[u8]) -> usize {
        lock(&self.queue).push(bytes)
    }

    /// Writes the buffered bytes. A failure removes the file.
    pub fn flush(&self) -> Result<(), Failure> {
        self.advance(Self::write)
    }

    /// Writes the buffered bytes and finishes the file.
    pub fn finish(&self) -> Result<Record, Failure> {
        self.advance(|saving, stage| {
            saving.write(stage)?;
            let Stage::Writing { file, written, .. } = stage else { return Err(saving.ended()) };
            let record = saving.rename(file, *written)?;
            *stage = Stage::Ended;
            Ok(record)
        })
    }

    /// Removes the file, unless it is finished.
    pub fn discard(&self) -> Result<(), Failure> {
        self.remove(&mut lock(&self.stage))
    }

    fn advance<R>(&self, step: impl FnOnce(&Self, &mut Stage) -> Result<R, Failure>) -> Result<R, Failure> {
        let stage = &mut *lock(&self.stage);
        let outcome = step(self, stage);
        if outcome.is_err() {
            // An incomplete file is not worth its space. The first error is reported.
            let _ = self.remove(stage);
        }
        outcome
    }

    fn write(&self, stage: &mut Stage) -> Result<(), Failure> {
        if let Stage::Waiting = stage {
            *stage = Stage::Writing { file: self.create()?, written: 0, batch: vec![] };
        }
        let Stage::Writing { file, written, batch } = stage else { return Err(self.ended()) };
        batch.clear();
        mem::swap(batch, &mut lock(&self.queue).waiting);
        file.write_all(batch)?;
        *written += batch.len() as u64;
        Ok(())
    }

    fn create(&self) -> Result<File, Failure> {
        self.store.prepare()?;
        loop {
            let file = self.store.create(&self.name)?;
            // Sweeps skip held files, until they are closed or this process ends. A sweep that held
            // the file first removes it, and we create another.
            platform::hold_after_others(&file);
            if platform::has_name(&file.metadata()?) {
                return Ok(file);
            }
        }
    }

    /// Renames the file to its final name, and sets the time from which its age counts.
    fn rename(&self, file: &File, written: u64) -> Result<Record, Failure> {
        let (whole, marks) = {
            let mut queue = lock(&self.queue);
            (queue.whole(), mem::take(&mut queue.kept))
        };
        let from = self.store.path(&self.name);
        let refused = |what| Failure::Refused(format!("{} {what} while it was written", from.display()));
        if file.metadata()?.len() != written {
            return Err(refused("was changed"));
        }
        // A failure affects only the age.
        let _ = file.set_modified(SystemTime::now());
        let name = self.name.finished(whole);
        let path = self.store.path(&name);
        match fs::rename(&from, &path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(refused("was removed")),
            renamed => renamed?,
        }
        if let Ok(found) = file.metadata() {
            remember(&path, &found, marks.into());
        }
        Ok(Record { id: name.id, path, whole, complete: written == whole.bytes })
    }

    fn remove(&self, stage: &mut Stage) -> Result<(), Failure> {
        if let Stage::Writing { .. } = mem::replace(stage, Stage::Ended) {
            self.store.remove(&self.name)?;
        }
        Ok(())
    }

    fn ended(&self) -> Failure {
        Failure::Refused(format!("the output {} is no longer written", self.name.id))
    }
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
    kept: Marks,
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

    fn whole(&self) -> Whole {
        Whole { bytes: self.bytes, lines: self.kept.newlines() + self.newlines + u64::from(self.open) }
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
        assert_eq!(queue.whole(), Whole { bytes: 10, lines: 3 });
    }

    #[test]
    fn empty_pieces_neither_add_nor_end_lines() {
        let mut queue = Queue { room: u64::MAX, ..Queue::default() };
        assert_eq!(queue.whole(), Whole { bytes: 0, lines: 0 });
        queue.push(b"a");
        queue.push(b"");
        assert_eq!(queue.whole().lines, 1);
    }
}
