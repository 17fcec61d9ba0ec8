//! Removes saved outputs by age and size.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use super::failure::Failure;
use super::store::{Entry, Store};
use crate::system;

/// What may stay.
#[derive(Clone, Debug)]
pub struct Limits {
    pub total_bytes: u64,
    pub max_age: Duration,
    /// Nothing younger is removed.
    pub min_age: Duration,
}

/// What was removed by this sweep, not by others beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: u64,
    pub bytes: u64,
}

/// Removes what is too old, then the oldest until the rest is small enough. What is in `retain`, too young, or still
/// written stays.
pub fn sweep(store: &Store, limits: &Limits, retain: &[String], now: SystemTime) -> Result<Swept, Failure> {
    let entries = store.entries()?;
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    let mut swept = Swept::default();
    let mut failure = None;
    for entry in entries {
        // A file from the future is young.
        let age = now.duration_since(entry.modified).unwrap_or_default();
        let is_due = age >= limits.max_age || total > limits.total_bytes;
        if !is_due || age < limits.min_age || retain.contains(&entry.name.id) {
            continue;
        }
        match remove(store, &entry) {
            Ok(Gone::ByUs) => {
                swept.removed += 1;
                swept.bytes += entry.size;
                total -= entry.size;
            }
            Ok(Gone::Before) => total -= entry.size,
            Ok(Gone::Not) => {}
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(swept), Err)
}

enum Gone {
    ByUs,
    /// Another sweep came first.
    Before,
    /// It is still written.
    Not,
}

fn remove(store: &Store, entry: &Entry) -> Result<Gone, Failure> {
    let mut marked = None;
    if entry.name.whole.is_none() {
        match store.open_to_read(&entry.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Gone::Before),
            file => marked = Some(file?),
        }
    }
    if let Some(file) = &marked {
        if !system::hold(file) {
            return Ok(Gone::Not);
        }
        // Another sweep has removed it, and its writer has made another by this name.
        if !system::has_name(&file.metadata()?) {
            return Ok(Gone::Before);
        }
    }
    Ok(if store.remove(&entry.name)? { Gone::ByUs } else { Gone::Before })
}
