//! An output that is being saved: one thread hands over what comes, others write it, in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::Failure;
use super::name::Name;
use super::queue::Queue;
use super::store::Store;
use super::writer::{Record, Writer};

#[derive(Debug)]
pub struct Saving {
    store: Store,
    name: Name,
    queue: Mutex<Queue>,
    /// Held by whoever writes, so that what is taken from the queue first is written first.
    file: Mutex<Stage>,
}

#[derive(Debug)]
enum Stage {
    /// No file is made before there is something to write.
    Waiting,
    Writing(Writer),
    /// Nothing comes after the end, whether it was good or bad.
    Ended,
}

impl Saving {
    pub fn new(store: Store, id: &str, tool: &str, room: u64) -> Saving {
        let (queue, file) = (Queue::new(room).into(), Stage::Waiting.into());
        Saving { store, name: Name::new(id, tool), queue, file }
    }

    /// Takes bytes, and returns how many wait to be written.
    pub fn push(&self, bytes: &[u8]) -> usize {
        open(&self.queue).push(bytes)
    }

    /// Writes what waits. After a failure there is no file.
    pub fn flush(&self) -> Result<(), Failure> {
        self.advance(Self::write)
    }

    /// Writes what waits and ends the file.
    pub fn finish(&self) -> Result<Record, Failure> {
        self.advance(|saving, stage| {
            saving.write(stage)?;
            let Stage::Writing(writer) = stage else { return Err(saving.ended()) };
            let record = writer.finish(open(&saving.queue).whole())?;
            *stage = Stage::Ended;
            Ok(record)
        })
    }

    /// Removes what was written, unless it is finished.
    pub fn discard(&self) -> Result<(), Failure> {
        remove(&mut open(&self.file))
    }

    fn advance<R>(&self, step: impl FnOnce(&Self, &mut Stage) -> Result<R, Failure>) -> Result<R, Failure> {
        let stage = &mut *open(&self.file);
        let outcome = step(self, stage);
        if outcome.is_err() {
            // What could not be written whole is not worth the room; why it could not is what is told.
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

/// Locks, also after a panic elsewhere: each step leaves a state that the next can work on.
fn open<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
