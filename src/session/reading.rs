//! The rows of a session one after another, as the first of them has the others read.

use super::entry::{Entry, Format, Shape, format_of, is_blank, mark_of};
use super::row::Options;
use crate::dialect::Table;

/// How far a file was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// Nothing before the first row that is not blank.
    pub format: Option<Format>,
    /// Rows that were not blank.
    pub rows: u64,
    begun: bool,
}

/// A row that is not blank.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// Counted from 0, blank ones left out.
    pub number: u64,
    pub format: Format,
    /// Without the mark that a file may begin with.
    pub text: &'r [u8],
}

impl Reading {
    /// Bytes of the next row that are a mark before its text.
    pub fn mark_in(&self, row: &[u8]) -> usize {
        if self.begun { 0 } else { mark_of(row) }
    }

    /// Takes the next row; `None` when it is blank.
    pub fn next<'r>(&mut self, row: &'r [u8]) -> Option<Row<'r>> {
        let text = &row[self.mark_in(row)..];
        self.begun = true;
        if is_blank(text) {
            return None;
        }
        let format = *self.format.get_or_insert_with(|| format_of(text));
        let number = self.rows;
        self.rows += 1;
        Some(Row { number, format, text })
    }
}

impl Row<'_> {
    /// Reads what stands in it; `None` when it is no JSON.
    pub fn entry(&self) -> Option<Entry> {
        Entry::read(self.text, self.format)
    }

    /// The kind of session that it tells.
    pub fn shape(&self, entry: &Entry, options: &Options) -> Shape {
        let has_results = !options.results(self.text, entry).is_empty();
        Shape::of(Table::get().follower(self.text), entry, self.format, has_results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3}"#;

    #[test]
    fn the_first_row_that_is_not_blank_tells_the_format() {
        let mut reading = Reading::default();
        let marked = format!("\u{feff}{HEADER}\n");
        for blank in ["\u{feff}\n", " \r\n", ""] {
            assert!(reading.next(blank.as_bytes()).is_none(), "{blank:?}");
        }
        let rows = [HEADER, r#"{"role":"user"}"#, &marked];
        let read: Vec<Row> = rows.iter().filter_map(|row| reading.next(row.as_bytes())).collect();
        assert!(read.iter().all(|row| row.format == Format::Pi { version: 3 }));
        assert_eq!(read.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 1, 2]);
        // A mark is one at the start of the file alone.
        assert_eq!(read.iter().map(|row| row.entry().is_some()).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn a_mark_is_no_part_of_the_first_row() {
        let mut reading = Reading::default();
        let marked = format!("\u{feff}{HEADER}");
        assert_eq!(reading.mark_in(marked.as_bytes()), 3);
        assert_eq!(reading.next(marked.as_bytes()).unwrap().text, HEADER.as_bytes());
        assert_eq!((reading.mark_in(marked.as_bytes()), reading.rows), (0, 1));
    }
}
