//! The listing of a store.

use std::fs::File;

use super::failure::Failure;
use super::file_name::Whole;
use super::read::lines_of;
use super::store::{Entry, Store};
use super::writer::Record;

/// Lists the outputs, oldest first. Unfinished outputs, including those of a terminated writer, are not complete.
pub fn list(store: &Store) -> Result<Vec<Record>, Failure> {
    let mut records = vec![];
    for entry in store.entries()? {
        let (entry, whole) = match entry.name.whole {
            Some(whole) => (entry, whole),
            None => match open(store, entry) {
                Ok((entry, file)) => {
                    let held = Whole { bytes: entry.size, lines: lines_of(&file, entry.size)? };
                    let whole = entry.name.whole.unwrap_or(held);
                    (entry, whole)
                }
                // It was removed in the meantime.
                Err(Failure::Refused(_)) => continue,
                Err(error) => return Err(error),
            },
        };
        let (path, complete) = (store.path(&entry.name), entry.is_complete());
        records.push(Record { id: entry.name.id, path, whole, complete });
    }
    Ok(records)
}

/// Opens a file. If it was renamed in the meantime, searches for its id, which reads the whole directory.
fn open(store: &Store, entry: Entry) -> Result<(Entry, File), Failure> {
    let id = entry.name.id.clone();
    match store.open_entry(entry)? {
        Some(open) => Ok(open),
        None => store.open(&id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_output_is_opened_by_its_listed_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        store.prepare().unwrap();
        // A search by id, which reads the whole directory, would return one of these files for both.
        std::fs::write(dir.path().join("0123456789abcdef.bash.part"), "one\ntwo").unwrap();
        std::fs::write(dir.path().join("0123456789abcdef.node.part"), "three").unwrap();
        let mut sizes: Vec<u64> = list(&store).unwrap().iter().map(|record| record.whole.bytes).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [5, 7]);
    }

    #[test]
    fn a_renamed_or_removed_output_is_searched_by_id() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        let part = dir.path().join("0123456789abcdef.bash.part");
        store.prepare().unwrap();
        std::fs::write(&part, "one\n").unwrap();
        let seen = store.entries().unwrap().remove(0);
        std::fs::rename(&part, dir.path().join("0123456789abcdef.bash.4b.1l.txt")).unwrap();
        assert!(open(&store, seen.clone()).unwrap().0.is_complete());
        std::fs::remove_file(dir.path().join("0123456789abcdef.bash.4b.1l.txt")).unwrap();
        assert!(matches!(open(&store, seen), Err(Failure::Refused(_))));
    }
}
