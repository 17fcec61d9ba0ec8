//! Iterates over a session's rows. The first row determines the format of the others.

use super::entry::{Entry, Format, Shape, format_of, is_blank, mark_of};
use super::row::Options;
use crate::dialect::Table;

/// The position in a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// `None` before the first row that is not blank.
    pub format: Option<Format>,
    /// Rows that are not blank.
    pub rows: u64,
    begun: bool,
}

/// A row that is not blank.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// Counted from 0 without blank rows.
    pub number: u64,
    pub format: Format,
    /// Excludes the file's byte order mark.
    pub text: &'r [u8],
}

impl Reading {
    /// Returns the length of the byte order mark in the next row.
    pub fn mark_in(&self, row: &[u8]) -> usize {
        if self.begun { 0 } else { mark_of(row) }
    }

    /// Takes the next row. Returns `None` if it is blank.
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
    /// Parses the row, or returns `None` if it is not valid JSON.
    pub fn entry(&self) -> Option<Entry> {
        Entry::read(self.text, self.format)
    }

    /// Returns the kind of session that this row indicates.
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
    fn the_first_row_that_is_not_blank_determines_the_format() {
        let mut reading = Reading::default();
        let marked = format!("\u{feff}{HEADER}\n");
        for blank in ["\u{feff}\n", " \r\n", ""] {
            assert!(reading.next(blank.as_bytes()).is_none(), "{blank:?}");
        }
        let rows = [HEADER, r#"{"role":"user"}"#, &marked];
        let read: Vec<Row> = rows.iter().filter_map(|row| reading.next(row.as_bytes())).collect();
        assert!(read.iter().all(|row| row.format == Format::Pi { version: 3 }));
        assert_eq!(read.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 1, 2]);
        // A byte order mark counts only at the start of the file.
        assert_eq!(read.iter().map(|row| row.entry().is_some()).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn byte_order_marks_are_not_part_of_the_first_row() {
        let mut reading = Reading::default();
        let marked = format!("\u{feff}{HEADER}");
        assert_eq!(reading.mark_in(marked.as_bytes()), 3);
        assert_eq!(reading.next(marked.as_bytes()).unwrap().text, HEADER.as_bytes());
        assert_eq!((reading.mark_in(marked.as_bytes()), reading.rows), (0, 1));
    }
}
