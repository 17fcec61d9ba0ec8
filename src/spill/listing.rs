//! What a store holds.

use super::failure::Failure;
use super::name::Whole;
use super::reader::lines_of;
use super::store::Store;
use super::writer::Record;

/// Lists the outputs, oldest first. One that is still written, or whose writer died, is not complete.
pub fn list(store: &Store) -> Result<Vec<Record>, Failure> {
    let mut records = vec![];
    for entry in store.entries()? {
        let (entry, whole) = match entry.name.whole {
            Some(whole) => (entry, whole),
            None => match store.open(&entry.name.id) {
                Ok((entry, file)) => {
                    let held = Whole { bytes: entry.size, lines: lines_of(&file, entry.size)? };
                    let whole = entry.name.whole.unwrap_or(held);
                    (entry, whole)
                }
                // It was removed since.
                Err(Failure::Refused(_)) => continue,
                Err(error) => return Err(error),
            },
        };
        let (path, complete) = (store.path(&entry.name), entry.is_complete());
        records.push(Record { id: entry.name.id, path, whole, complete });
    }
    Ok(records)
}
