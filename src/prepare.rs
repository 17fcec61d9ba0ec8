//! A text before the limits apply: cleaned, then without its secrets.

use std::sync::Arc;

use crate::clean::{self, Cleaner};
use crate::redact::{Redactor, SecretRules};

/// Prepares a stream. Finishing a clone does not affect the original.
#[derive(Clone, Debug)]
pub struct Preparation {
    cleaner: Option<Cleaner>,
    cleaned: Vec<u8>,
    redactor: Option<Redactor>,
}

impl Preparation {
    /// Returns `None` if the text stays as it is.
    pub fn new(clean: Option<clean::CleanOptions>, redact: Option<&Arc<SecretRules>>) -> Option<Preparation> {
        let (cleaner, redactor) = (clean.map(Cleaner::new), redact.cloned().map(Redactor::new));
        let changes = cleaner.is_some() || redactor.is_some();
        changes.then_some(Preparation { cleaner, cleaned: vec![], redactor })
    }

    pub fn cleans(&self) -> bool {
        self.cleaner.is_some()
    }

    /// Reads a chunk and appends the output that is final so far.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Preparation { cleaner, cleaned, redactor } = self;
        match (cleaner, redactor) {
            (Some(cleaner), Some(redactor)) => {
                cleaner.push(bytes, cleaned);
                redactor.push(cleaned, out);
                cleaned.clear();
            }
            (Some(cleaner), None) => cleaner.push(bytes, out),
            (None, Some(redactor)) => redactor.push(bytes, out),
            (None, None) => out.extend_from_slice(bytes),
        }
    }

    /// Ends the stream and appends the rest of the output.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let mut last = vec![];
        if let Some(cleaner) = &mut self.cleaner {
            cleaner.finish(&mut last);
        }
        match &mut self.redactor {
            None => out.append(&mut last),
            Some(redactor) => {
                redactor.push(&last, out);
                redactor.finish(out);
            }
        }
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let cleaner = self.cleaner.as_ref().map_or(0, Cleaner::memory);
        cleaner + self.cleaned.capacity() + self.redactor.as_ref().map_or(0, Redactor::memory)
    }
}
