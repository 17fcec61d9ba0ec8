//! Splits bytes into lines in constant memory.

use crate::encoding::{Text, Utf8};

/// Bytes of the longest part of a line examined at once.
pub const WINDOW: usize = 32 * 1024;
/// Bytes shared by consecutive parts of a line. Shorter matches lie within one part.
pub const OVERLAP: usize = 16 * 1024;

/// A line, or a part of one that is longer than a window.
#[derive(Clone, Copy, Debug)]
pub struct LinePart<'a> {
    /// Counted from 1.
    pub line: u64,
    /// Position of the part in the file.
    pub at: u64,
    /// Without the terminator.
    pub bytes: &'a [u8],
    /// The part starts, or ends, its line.
    pub begins: bool,
    pub ends: bool,
}

/// Bytes that arrive in pieces. The parts depend on the bytes alone, not on the pieces.
#[derive(Debug)]
pub struct LineReader {
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    /// Position of the buffer in the file.
    at: u64,
    line: u64,
    begins: bool,
    ended: bool,
}

impl LineReader {
    /// Reads bytes that stand at a position and in a line, counted from 1.
    pub fn new(at: u64, line: u64) -> LineReader {
        LineReader { buffer: vec![0; WINDOW], start: 0, filled: 0, at, line, begins: true, ended: false }
    }

    /// Takes as many bytes as there is room for. Returns the others.
    pub fn fill<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.at += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        let (taken, rest) = bytes.split_at(bytes.len().min(self.buffer.len() - self.filled));
        self.buffer[self.filled..self.filled + taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        rest
    }

    /// Ends the bytes, and with them the last line.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// Returns the next part, or `None` if it needs more bytes.
    pub fn next_part(&mut self) -> Option<LinePart<'_>> {
        let (start, begins) = (self.start, self.begins);
        let newline = memchr::memchr(b'\n', &self.buffer[start..self.filled]).map(|newline| start + newline);
        let is_last = self.ended && !(start == self.filled && begins);
        if newline.is_none() && !is_last && self.filled - start < self.buffer.len() {
            return None;
        }
        let end = newline.unwrap_or(self.filled);
        let ends = newline.is_some() || self.ended;
        let bytes = &self.buffer[start..end];
        let bytes = if newline.is_some() { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        let part = LinePart { line: self.line, at: self.at + start as u64, bytes, begins, ends };
        self.begins = ends;
        if ends {
            self.start = newline.map_or(end, |newline| newline + 1);
            self.line += 1;
        } else {
            self.start = start + Utf8(&self.buffer[start..end]).floor(self.buffer.len() - OVERLAP);
        }
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function with all parts of a text that arrives in pieces.
    fn read(text: &[u8], size: usize, mut each: impl FnMut(LinePart)) {
        let mut reader = LineReader::new(0, 1);
        for piece in text.chunks(size) {
            let mut rest = piece;
            while !rest.is_empty() {
                rest = reader.fill(rest);
                while let Some(part) = reader.next_part() {
                    each(part);
                }
            }
        }
        reader.end();
        while let Some(part) = reader.next_part() {
            each(part);
        }
    }

    #[test]
    fn lines_exclude_their_terminators() {
        for size in [1, 3, 99] {
            let mut lines = vec![];
            read(b"one\r\n\ntwo\rx\nthree", size, |part| {
                assert!(part.begins && part.ends);
                lines.push((part.line, part.at, String::from_utf8_lossy(part.bytes).into_owned()));
            });
            let expected = [(1, 0, "one"), (2, 5, ""), (3, 6, "two\rx"), (4, 12, "three")];
            assert_eq!(lines, expected.map(|(line, at, text)| (line, at, text.to_owned())));
        }
    }

    #[test]
    fn a_long_line_is_split_into_overlapping_parts() {
        let line = "漢".repeat(WINDOW);
        let text = format!("a\n{line}\nb\n");
        let mut reached = 2;
        let mut parts = 0;
        read(text.as_bytes(), 10_007, |part| {
            if part.line != 2 {
                return;
            }
            parts += 1;
            assert_eq!(part.begins, parts == 1);
            // An overlap begins at a char boundary.
            assert!(part.begins || part.at < reached && reached - part.at < OVERLAP as u64 + 3);
            let range = part.at as usize..part.at as usize + part.bytes.len();
            assert_eq!(part.bytes, &text.as_bytes()[range.clone()]);
            assert!(text.is_char_boundary(range.start));
            reached = range.end as u64;
            assert_eq!(part.ends, reached == 2 + line.len() as u64);
        });
        assert_eq!(reached, 2 + line.len() as u64);
        assert!(parts > 3);
    }
}
