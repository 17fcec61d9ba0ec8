//! Reads the rows of a file in blocks. Memory holds one block, or the longest row. The first row
//! that is JSON determines the format of the others. A document is one row, with all its newlines.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use super::broken_document::BrokenDocument;
use super::damaged_lines::Fragment;
use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::mend::{LineVerdict, Mender};
use super::progress::Progress;
use super::row_format::{RowEntry, RowFormat, is_blank, mark_of};
use super::session_file::SessionFile;
use crate::json::Document;

/// Bytes per read, and at the end of a file.
const CHUNK: usize = 1 << 20;
const LEAST: usize = 1 << 14;
/// Maximum capacity that is kept after a long row.
const KEPT: usize = 16 * CHUNK;

/// Reads complete rows, each with its newline.
#[derive(Debug)]
pub struct Rows<'f> {
    file: &'f File,
    /// The file is one row.
    is_document: bool,
    /// That is damaged.
    is_broken: bool,
    /// Room for bytes, which is reused.
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read, and those of them that were returned.
    filled: usize,
    taken: usize,
    /// Of all bytes read.
    pub fingerprint: Fingerprint,
    pub read: u64,
    /// Bytes of the file when it was opened, if it is a session's.
    length: u64,
}

impl<'f> Rows<'f> {
    pub fn of(file: &'f File) -> Self {
        Rows {
            file,
            is_document: false,
            is_broken: false,
            buffer: vec![],
            filled: 0,
            taken: 0,
            fingerprint: Fingerprint::default(),
            read: 0,
            length: u64::MAX,
        }
    }

    pub fn of_session(session: &'f SessionFile) -> Self {
        let (is_document, length) = (session.document.is_some(), session.found.len());
        Rows { is_document, is_broken: session.is_broken, length, ..Rows::of(&session.file) }
    }

    /// Returns the next complete rows, or `None` at the current end of the file. Calls `wait`
    /// before each read.
    pub fn next<E: From<io::Error>>(
        &mut self,
        mut wait: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<&[u8]>, E> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= std::mem::take(&mut self.taken);
        if self.buffer.capacity() > KEPT && self.filled < CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
        loop {
            wait(self.read)?;
            // There may be thousands of small files, so each takes little room.
            let left = self.length.saturating_sub(self.read).clamp(LEAST as u64, CHUNK as u64);
            let (from, end) = (self.filled, self.filled + left as usize);
            if self.buffer.len() < end {
                self.buffer.resize(end, 0);
            }
            let count = read(self.file, &mut self.buffer[from..end])?;
            if count == 0 {
                return Ok(None);
            }
            self.filled += count;
            let news = &self.buffer[from..self.filled];
            self.fingerprint.push(news);
            self.read += count as u64;
            if let Some(newline) = memchr::memrchr(b'\n', news).filter(|_| !self.is_document) {
                self.taken = from + newline + 1;
                return Ok(Some(&self.buffer[..self.taken]));
            }
        }
    }

    /// Returns the bytes after the last newline, at the end of the file.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..self.filled]
    }

    /// Returns these bytes or, of a damaged document, what is whole of it.
    pub fn mended_rest(&self) -> Cow<'_, [u8]> {
        let broken = if self.is_broken { BrokenDocument::of(self.rest()) } else { None };
        broken.map_or(Cow::Borrowed(self.rest()), |broken| Cow::Owned(broken.text))
    }
}

/// Reads the next bytes of a file. Returns 0 at its end.
fn read(mut file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            count => return count,
        }
    }
}

/// Iterates over the rows of a block, each with its newline.
pub fn each_row(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    memchr::memchr_iter(b'\n', block).map(move |newline| {
        let row = &block[from..=newline];
        from = newline + 1;
        row
    })
}

/// Calls back with each row of a session, the byte where its line begins, and whether a mend made
/// it. `mends`: with the rows that damaged lines still hold in place of these. Returns the bytes
/// read.
pub fn each_line(
    session: &SessionFile,
    mends: bool,
    progress: &Progress,
    mut each: impl FnMut(&[u8], u64, bool) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut rows = Rows::of_session(session);
    let mut mender = (mends && session.document.is_none()).then(Mender::default);
    let mut start = 0;
    let mut take = |line: &[u8]| {
        let from = start;
        start += line.len() as u64;
        let Some(mender) = &mut mender else { return each(line, from, false) };
        let LineVerdict { before, is_whole } = mender.take(line, from);
        before.iter().flatten().filter_map(Fragment::row).try_for_each(|row| each(row, from, true))?;
        if is_whole { each(line, from, false) } else { Ok(()) }
    };
    while let Some(block) = rows.next(|_| progress.step())? {
        each_row(block).try_for_each(&mut take)?;
    }
    take(&if mends { rows.mended_rest() } else { rows.rest().into() })?;
    let last = mender.as_mut().and_then(Mender::end);
    last.iter().flatten().filter_map(Fragment::row).try_for_each(|row| each(row, start, true))?;
    (&session.file).seek(SeekFrom::Start(0))?;
    Ok(rows.read)
}

/// The position in a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowReader {
    /// `None` before the first row that is JSON.
    pub format: Option<RowFormat>,
    /// Rows that are not blank.
    pub rows: u64,
    begun: bool,
}

/// A row that is not blank.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    /// Counted from 0 without blank rows.
    pub number: u64,
    pub format: RowFormat,
    /// Excludes the file's byte order mark.
    pub text: &'r [u8],
}

impl RowReader {
    pub fn of_session(session: &SessionFile) -> RowReader {
        RowReader { format: session.document.map(RowFormat::of_document), ..RowReader::default() }
    }

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
        self.format = self.format.or_else(|| RowFormat::of(text));
        let format = self.format.unwrap_or_default();
        let number = self.rows;
        self.rows += 1;
        Some(Row { number, format, text })
    }
}

impl Row<'_> {
    /// Parses the row, or returns `None` if it is not valid JSON. Rows are UTF-8, since some
    /// programs read no session with others.
    pub fn document(&self) -> Option<Document<'_>> {
        let is_read = self.format.is_document() || simdutf8::basic::from_utf8(self.text).is_ok();
        if is_read { Document::parse(self.text) } else { None }
    }

    /// Parses the row as programs on Node do, to which bytes that are not UTF-8 are U+FFFD: its
    /// calls and its place in the chain count.
    pub fn document_on_node(&self) -> Option<Document<'_>> {
        Document::parse(self.text)
    }

    pub fn entry<'d>(&self, document: &'d Document<'d>) -> RowEntry<'d> {
        RowEntry::of(document.root(), self.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    const HEADER: &str = r#"{"type":"session","version":3}"#;

    #[test]
    fn the_first_row_that_is_not_blank_determines_the_format() {
        let mut reading = RowReader::default();
        let marked = format!("\u{feff}{HEADER}\n");
        for blank in ["\u{feff}\n", " \r\n", ""] {
            assert!(reading.next(blank.as_bytes()).is_none(), "{blank:?}");
        }
        let rows = [HEADER, r#"{"role":"user"}"#, &marked];
        let read: Vec<Row> = rows.iter().filter_map(|row| reading.next(row.as_bytes())).collect();
        assert!(read.iter().all(|row| row.format.is_tree()));
        assert_eq!(read.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 1, 2]);
        // A byte order mark counts only at the start of the file.
        assert_eq!(read.iter().map(|row| row.document().is_some()).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn byte_order_marks_are_not_part_of_the_first_row() {
        let mut reading = RowReader::default();
        let marked = format!("\u{feff}{HEADER}");
        assert_eq!(reading.mark_in(marked.as_bytes()), 3);
        assert_eq!(reading.next(marked.as_bytes()).unwrap().text, HEADER.as_bytes());
        assert_eq!((reading.mark_in(marked.as_bytes()), reading.rows), (0, 1));
    }

    #[test]
    fn rows_are_complete_at_any_length() {
        let file = tempfile::tempfile().unwrap();
        let long = "x".repeat(3 * CHUNK);
        let text = format!("a\n\nbc\n{long}\nlast\n{long}\ntorn");
        (&file).write_all(text.as_bytes()).unwrap();
        (&file).rewind().unwrap();
        let mut rows = Rows::of(&file);
        let mut seen = vec![];
        while let Some(block) = rows.next(|_| Ok::<(), io::Error>(())).unwrap() {
            assert_eq!(each_row(block).map(<[u8]>::len).sum::<usize>(), block.len());
            seen.extend_from_slice(block);
        }
        assert_eq!(rows.rest(), b"torn");
        seen.extend_from_slice(rows.rest());
        assert!(seen == text.as_bytes());
        // Reading continues at the previous end.
        (&file).write_all(b" no more\nx").unwrap();
        (&file).seek(io::SeekFrom::Start(text.len() as u64)).unwrap();
        assert_eq!(rows.next(|_| Ok::<(), io::Error>(())).unwrap(), Some(&b"torn no more\n"[..]));
        assert_eq!((rows.rest(), rows.read), (&b"x"[..], text.len() as u64 + 10));
    }
}
