//! The rows before those that an undo takes away.
//!
//! In some hosts each row names the row that it follows, and a host reads that chain from the last
//! row back. A row that came after a repair may follow a row that the repair added or mended. An
//! undo takes that row away, and the chain would end there: the host would send nothing of what
//! came before. So a row that is carried over follows the nearest row before that is in the
//! restored file, over the chain of the repaired one. The same holds for other members that name a
//! row. A row that names no removed row keeps all its bytes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::failure::Failure;
use super::pairs::NAMING;
use super::progress::Progress;
use super::row_format::RowEntry;
use super::rows::{RowReader, Rows, each_row};
use super::session_file::SessionFile;
use super::splice::Splices;
use crate::json::{Document, Value, string};

/// The members with the id of a row and of the row that it follows.
type Chain = &'static [String; 2];

#[derive(Debug, Default)]
pub struct Ancestry {
    /// `None` if rows name no others.
    chain: Option<Chain>,
    /// The ids of rows of the restored file, and of those that are carried over to it.
    stays: HashSet<String>,
    /// The row before each row of the repaired files, by their ids.
    before: HashMap<String, Option<String>>,
}

impl Ancestry {
    /// Reads the files that repairs wrote, the latest last, and the file to restore.
    pub fn of(
        repaired: &[&SessionFile],
        restored: &SessionFile,
        progress: &Progress,
    ) -> Result<Ancestry, Failure> {
        let mut chain = None;
        for file in repaired {
            each_entry(file, progress, |entry| {
                chain = chain.or_else(|| entry.known_layout()?.chain.as_ref());
                chain.is_none()
            })?;
        }
        let mut all = Ancestry { chain, ..Ancestry::default() };
        let Some([id, parent]) = chain else { return Ok(all) };
        for file in repaired {
            each_entry(file, progress, |entry| {
                if let Some(id) = named(entry.root, id) {
                    all.before.insert(id, named(entry.root, parent));
                }
                true
            })?;
        }
        each_entry(restored, progress, |entry| {
            all.stays.extend(named(entry.root, id));
            true
        })?;
        Ok(all)
    }

    /// Returns the rows to carry over. Each follows a row that stays.
    pub fn carried(&mut self, rows: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        rows.iter().for_each(|row| self.keep(row));
        rows.into_iter().map(|row| self.row(&row).into_owned()).collect()
    }

    /// Records that a row is carried over.
    pub fn keep(&mut self, row: &[u8]) {
        let Some([id, _]) = self.chain else { return };
        self.stays.extend(Document::parse(row).and_then(|document| named(document.root(), id)));
    }

    /// Returns a row that follows one that stays.
    pub fn row<'r>(&mut self, row: &'r [u8]) -> Cow<'r, [u8]> {
        let Some([_, parent]) = self.chain else { return Cow::Borrowed(row) };
        let Some(document) = Document::parse(row) else { return Cow::Borrowed(row) };
        let (root, mut splices) = (document.root(), Splices::default());
        for member in NAMING.into_iter().chain([&**parent]) {
            let Some((value, id)) = root.get(member).and_then(|value| Some((value, value.string()?))) else {
                continue;
            };
            // A row that was never there is not one that an undo takes away.
            if !self.stays.contains(&id) && self.before.contains_key(&id) {
                let left = self.left_of(id);
                splices.replace(value, left.map_or_else(|| "null".to_owned(), |id| string(&id)));
            }
        }
        if splices.is_empty() { Cow::Borrowed(row) } else { Cow::Owned(splices.written_row(root)) }
    }

    /// Returns the nearest row before a removed one that stays. Each removed row is passed once in
    /// all: then it names what was found.
    fn left_of(&mut self, id: String) -> Option<String> {
        let (mut at, mut passed) = (Some(id), vec![]);
        while let Some(id) = at.take_if(|id| !self.stays.contains(id)) {
            // A row that was never there stays unknown.
            let Some(before) = self.before.get_mut(&id) else { break };
            // Rows that follow each other have no end.
            at = before.take();
            passed.push(id);
        }
        self.before.extend(passed.into_iter().map(|id| (id, at.clone())));
        at
    }
}

fn named(row: Value, member: &str) -> Option<String> {
    row.get(member)?.string()
}

/// Reads the rows of a file that are JSON, as long as `act` returns true.
fn each_entry(
    file: &SessionFile,
    progress: &Progress,
    mut act: impl FnMut(&RowEntry) -> bool,
) -> Result<(), Failure> {
    file.from(0, |file| {
        let (mut rows, mut reader) = (Rows::of(file), RowReader::default());
        let mut takes = |row: &[u8]| {
            let Some(row) = reader.next(row) else { return true };
            row.document().is_none_or(|document| act(&row.entry(&document)))
        };
        while let Some(block) = rows.next(|_| progress.step())? {
            if !each_row(block).all(&mut takes) {
                return Ok(());
            }
        }
        takes(rows.rest());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn row(id: usize, parent: Option<usize>) -> String {
        let parent = parent.map_or("null".into(), |parent| format!("\"r{parent}\""));
        format!(
            "{{\"type\":\"message\", \"id\":\"r{id}\",\"parentId\" : {parent},\"message\":{{\"role\":\"user\"}}}}\n"
        )
    }

    proptest! {
        /// Parents may be any row, so that rows follow each other as well.
        #[test]
        fn a_row_follows_the_nearest_row_before_that_stays(
            parents in prop::collection::vec((prop::option::of(0..12usize), any::<bool>()), 1..12),
            late in prop::collection::vec(0..30usize, 1..6),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let file = |name: &str, rows: String| {
                fs::write(dir.path().join(name), format!("{{\"type\":\"session\",\"version\":3}}\n{rows}")).unwrap();
                SessionFile::open_any(dir.path().join(name)).unwrap()
            };
            let stays = |id: usize| id >= 20 || parents.get(id).is_some_and(|(_, stays)| *stays);
            let all = || parents.iter().enumerate();
            let repaired = file("repaired", all().map(|(id, (parent, _))| row(id, *parent)).collect());
            let restored = file("restored", all().filter(|(id, _)| stays(*id)).map(|(id, (parent, _))| row(id, *parent)).collect());
            let mut ancestry = Ancestry::of(&[&repaired], &restored, &Progress::default()).unwrap();
            let rows = late.iter().enumerate().map(|(at, parent)| row(20 + at, Some(*parent)).into_bytes()).collect();
            let expected = late.iter().enumerate().map(|(at, parent)| {
                // Those that were never there stay named.
                let is_known = *parent < parents.len() || (20..20 + late.len()).contains(parent);
                let (mut found, mut steps) = (Some(*parent), 0);
                while let Some(id) = found.filter(|id| is_known && !stays(*id)) {
                    steps += 1;
                    found = parents.get(id).and_then(|(parent, _)| *parent).filter(|_| steps <= parents.len());
                }
                row(20 + at, found)
            });
            let made: Vec<String> = ancestry.carried(rows).into_iter().map(|row| String::from_utf8(row).unwrap()).collect();
            prop_assert_eq!(made, expected.collect::<Vec<_>>());
        }
    }
}
