//! An output being saved: one thread pushes bytes, others write them, in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::Failure;
use super::file_name::Name;
use super::queue::Queue;
use super::store::Store;
use super::writer::{Record, Writer};

#[derive(Debug)]
pub struct Saving {
    store: Store,
    name: Name,
    queue: Mutex<Queue>,
    /// Locked while writing, to write batches in the order in which they leave the queue.
    file: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    /// The file is created with the first write.
    Waiting,
    Writing(Writer),
    /// No writes follow the end, successful or not.
    Ended,
}

impl Saving {
    pub fn new(store: Store, id: &str, tool: &str, room: u64) -> Saving {
        let (queue, file) = (Queue::new(room).into(), Stage::Waiting.into());
        Saving { store, name: Name::new(id, tool), queue, file }
    }

    /// Accepts bytes and returns the number waiting to be written.
    pub fn push(&self, bytes: &[u8]) -> usize {
        open(&self.queue).push(bytes)
    }

    /// Writes the buffered bytes. A failure removes the file.
    pub fn flush(&self) -> Result<(), Failure> {
        self.advance(Self::write)
    }

    /// Writes the buffered bytes and finishes the file.
    pub fn finish(&self) -> Result<Record, Failure> {
        self.advance(|saving, stage| {
            saving.write(stage)?;
            let Stage::Writing(writer) = stage else { return Err(saving.ended()) };
            let record = writer.finish(open(&saving.queue).whole())?;
            *stage = Stage::Ended;
            Ok(record)
        })
    }

    /// Removes the file, unless it is finished.
    pub fn discard(&self) -> Result<(), Failure> {
        remove(&mut open(&self.file))
    }

    fn advance<R>(&self, step: impl FnOnce(&Self, &mut Stage) -> Result<R, Failure>) -> Result<R, Failure> {
        let stage = &mut *open(&self.file);
        let outcome = step(self, stage);
        if outcome.is_err() {
            // An incomplete file is not worth its space. The first error is reported.
            let _ = remove(stage);
        }
        outcome
    }

    fn write(&self, stage: &mut Stage) -> Result<(), Failure> {
        if let Stage::Waiting = stage {
            *stage = Stage::Writing(Writer::create(&self.store, &self.name)?);
        }
        let Stage::Writing(writer) = stage else { return Err(self.ended()) };
        let batch = open(&self.queue).take();
        let written = writer.write(&batch);
        open(&self.queue).recycle(batch);
        written
    }

    fn ended(&self) -> Failure {
        Failure::Refused(format!("the output {} is no longer written", self.name.id))
    }
}

fn remove(stage: &mut Stage) -> Result<(), Failure> {
    match std::mem::replace(stage, Stage::Ended) {
        Stage::Writing(writer) => writer.discard(),
        Stage::Waiting | Stage::Ended => Ok(()),
    }
}

/// Locks a mutex even if it is poisoned: every step leaves a usable state.
fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
