//! An output file being written.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use super::failure::Failure;
use super::file_name::{Name, Whole};
use super::store::Store;
use crate::platform;

/// A saved output. It is complete if the file holds all of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: String,
    pub path: PathBuf,
    pub whole: Whole,
    pub complete: bool,
}

#[derive(Debug)]
pub struct Writer {
    store: Store,
    name: Name,
    file: File,
    written: u64,
}

impl Writer {
    pub fn create(store: &Store, name: &Name) -> Result<Writer, Failure> {
        store.prepare()?;
        loop {
            let file = store.create(name)?;
            // Sweeps skip held files, until they are closed or this process ends. A sweep that held the file first
            // removes it, and we create another.
            platform::hold_after_others(&file);
            if platform::has_name(&file.metadata()?) {
                return Ok(Writer { store: store.clone(), name: name.clone(), file, written: 0 });
            }
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Renames the file to its final name, and sets the time from which its age counts.
    pub fn finish(&mut self, whole: Whole) -> Result<Record, Failure> {
        let held = self.file.metadata()?.len();
        if held != self.written {
            return Err(self.refuse("was changed while it was written"));
        }
        // A failure affects only the age.
        let _ = self.file.set_modified(SystemTime::now());
        let finished = self.name.finished(whole);
        let path = self.store.path(&finished);
        match fs::rename(self.store.path(&self.name), &path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(self.refuse("was removed while it was written"))
            }
            renamed => {
                renamed?;
                Ok(Record { id: finished.id, path, whole, complete: held == whole.bytes })
            }
        }
    }

    fn refuse(&self, what: &str) -> Failure {
        Failure::Refused(format!("{} {what}", self.store.path(&self.name).display()))
    }

    pub fn discard(self) -> Result<(), Failure> {
        self.store.remove(&self.name)?;
        Ok(())
    }
}
