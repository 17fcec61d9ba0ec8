//! Reads the lines of a file in constant memory.

use std::io::{self, Read};

use crate::encoding::{Text, Utf8};

/// Bytes of the longest part of a line examined at once.
pub const WINDOW: usize = 32 * 1024;
/// Bytes shared by consecutive parts of a line. Shorter matches lie within one part.
pub const OVERLAP: usize = 16 * 1024;

/// A line, or a part of one that is longer than a window.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
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

#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    /// Position of the buffer in the file.
    at: u64,
    line: u64,
    begins: bool,
    ended: bool,
}

impl<R: Read> LineReader<R> {
    pub fn new(input: R) -> LineReader<R> {
        LineReader {
            input,
            buffer: vec![0; WINDOW],
            start: 0,
            filled: 0,
            at: 0,
            line: 1,
            begins: true,
            ended: false,
        }
    }

    /// Returns the next part, or `None` at the end.
    pub fn next_part(&mut self) -> io::Result<Option<Part<'_>>> {
        let newline = loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.start..self.filled]);
            if newline.is_some() || self.ended || self.filled - self.start == self.buffer.len() {
                break newline.map(|newline| self.start + newline);
            }
            self.fill()?;
        };
        let (start, end) = (self.start, newline.unwrap_or(self.filled));
        let begins = self.begins;
        if start == self.filled && begins {
            return Ok(None);
        }
        let ends = newline.is_some() || self.ended;
        let bytes = &self.buffer[start..end];
        let bytes = if newline.is_some() { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        let part = Part { line: self.line, at: self.at + start as u64, bytes, begins, ends };
        self.begins = ends;
        if ends {
            self.start = newline.map_or(end, |newline| newline + 1);
            self.line += 1;
        } else {
            self.start = start + Utf8(&self.buffer[start..end]).floor(self.buffer.len() - OVERLAP);
        }
        Ok(Some(part))
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.at += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        let read = self.input.read(&mut self.buffer[self.filled..])?;
        self.filled += read;
        self.ended = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_exclude_their_terminators() {
        let mut reader = LineReader::new(&b"one\r\n\ntwo\rx\nthree"[..]);
        let mut lines = vec![];
        while let Some(part) = reader.next_part().unwrap() {
            assert!(part.begins && part.ends);
            lines.push((part.line, part.at, String::from_utf8_lossy(part.bytes).into_owned()));
        }
        let expected = [(1, 0, "one"), (2, 5, ""), (3, 6, "two\rx"), (4, 12, "three")];
        assert_eq!(lines, expected.map(|(line, at, text)| (line, at, text.to_owned())));
    }

    #[test]
    fn a_long_line_is_split_into_overlapping_parts() {
        let line = "漢".repeat(WINDOW);
        let text = format!("a\n{line}\nb\n");
        let mut lines = LineReader::new(text.as_bytes());
        let mut reached = 2;
        let mut parts = 0;
        while let Some(part) = lines.next_part().unwrap() {
            if part.line != 2 {
                continue;
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
        }
        assert_eq!(reached, 2 + line.len() as u64);
        assert!(parts > 3);
    }
}
