//! Removes saved outputs by age and size.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use super::StoreFailure;
use super::store::{Store, StoredFile};
use crate::platform;

/// The limits on retained outputs.
#[derive(Clone, Debug)]
pub struct Retention {
    pub total_bytes: u64,
    pub max_age: Duration,
    /// Minimum age of removed outputs.
    pub min_age: Duration,
}

/// The outputs removed by this sweep, without those removed by concurrent ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub removed: u64,
    pub bytes: u64,
}

/// Removes outputs that are too old, then the oldest until the total is within its limit. Keeps
/// outputs that are listed in `retain`, too young, or being written.
pub fn sweep(
    store: &Store,
    limits: &Retention,
    retain: &[String],
    now: SystemTime,
) -> Result<Swept, StoreFailure> {
    let entries = store.entries()?;
    // An output may also be retained by the id that it had while it was written.
    let aliases = store.aliases()?.into_iter().filter(|alias| retain.contains(&alias.running));
    let retained: HashSet<String> = aliases.map(|alias| alias.id).chain(retain.iter().cloned()).collect();
    let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
    let mut swept = Swept::default();
    let mut failure = None;
    for entry in entries {
        // A modification time in the future counts as now.
        let age = now.duration_since(entry.modified).unwrap_or_default();
        let is_due = age >= limits.max_age || total > limits.total_bytes;
        if !is_due || age < limits.min_age || retained.contains(&entry.name.id) {
            continue;
        }
        match remove(store, &entry) {
            Ok(Removal::ByUs) => {
                swept.removed += 1;
                swept.bytes += entry.size;
                total -= entry.size;
            }
            Ok(Removal::Before) => total -= entry.size,
            Ok(Removal::Not) => {}
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or_else(|| remove_aliases(store), Err)?;
    Ok(swept)
}

/// Removes the aliases of outputs that are gone. One that is made now has its output in a moment.
fn remove_aliases(store: &Store) -> Result<(), StoreFailure> {
    let aliases = store.aliases()?;
    if aliases.is_empty() {
        return Ok(());
    }
    let ids: HashSet<String> = store.entries()?.into_iter().map(|entry| entry.name.id).collect();
    for alias in aliases.iter().filter(|alias| !ids.contains(&alias.id) && !ids.contains(&alias.running)) {
        let _ = fs::remove_file(store.path_of(&alias.to_string()));
    }
    Ok(())
}

enum Removal {
    ByUs,
    /// A concurrent sweep removed it.
    Before,
    /// It is still being written.
    Not,
}

fn remove(store: &Store, entry: &StoredFile) -> Result<Removal, StoreFailure> {
    let remove = || Ok(if store.remove(&entry.name)? { Removal::ByUs } else { Removal::Before });
    if entry.name.whole.is_some() {
        // The same output may have been saved again, under the same name.
        let file = match store.open_to_read(&entry.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Removal::Before),
            file => file?,
        };
        let is_other = file.metadata()?.modified()? != entry.modified;
        return if is_other { Ok(Removal::Not) } else { remove() };
    }
    // Held until the file is removed.
    let file = match store.open_to_read(&entry.name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Removal::Before),
        file => file?,
    };
    if !platform::hold(&file) {
        return Ok(Removal::Not);
    }
    // A concurrent sweep may have removed it, and its writer created another with this name.
    if platform::has_name(&file.metadata()?) { remove() } else { Ok(Removal::Before) }
}
