//! Reads a saved output page by page: by lines, or by bytes if a line is longer than a page.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::ops::Range;

use super::{Failure, Store};
use crate::encoding::{Text, Utf8};
use crate::truncate::fit::prefix_of_bytes;

/// The page to read.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    pub start: Start,
    pub lines: u64,
    /// Bytes of the returned text, in which an invalid sequence counts as U+FFFD.
    pub bytes: usize,
}

#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// The start of a line, 1-based. The page then ends at a line end, if it has one.
    Line(u64),
    /// A byte, or the start of the sequence that contains it.
    Byte(u64),
}

/// The text of a page. Consecutive pages make up the whole output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    pub text: String,
    /// The line in which it begins.
    pub line: u64,
    pub byte: u64,
    pub total_lines: u64,
    pub total_bytes: u64,
    /// `None` if the next page begins inside a line.
    pub next_line: Option<u64>,
    pub next_byte: Option<u64>,
}

/// Bytes of the longest sequence for one code point.
const SEQUENCE: u64 = 4;

/// Bytes read at once when counting lines.
const BUFFER: usize = 256 * 1024;

pub fn read(store: &Store, id: &str, page: Page) -> Result<Slice, Failure> {
    let (entry, file) = store.open(id)?;
    let lines = entry.name.whole.filter(|_| entry.is_complete()).map(|whole| whole.lines);
    Ok(read_page(&file, entry.size, lines, page)?)
}

/// Reads a page from the first `size` bytes of a file. Counts their lines if not known.
fn read_page(file: &File, size: u64, lines: Option<u64>, page: Page) -> io::Result<Slice> {
    let byte = match page.start {
        Start::Line(line) => line_start(file, line, size)?,
        Start::Byte(byte) => sequence_start(file, byte.min(size))?,
    };
    let most = size.min(byte.saturating_add(page.bytes as u64).saturating_add(SEQUENCE));
    let bytes = bytes_of(file, byte..most)?;
    let kept = &bytes[..end(&bytes, byte + bytes.len() as u64 == size, page)];
    let next = byte + kept.len() as u64;
    let line = 1 + newlines(file, byte)?;
    let next_line = line + memchr::memchr_iter(b'\n', kept).count() as u64;
    Ok(Slice {
        text: String::from_utf8_lossy(kept).into_owned(),
        line,
        byte,
        total_lines: lines.map_or_else(|| lines_of(file, size), Ok)?,
        total_bytes: size,
        next_line: (next < size && kept.ends_with(b"\n")).then_some(next_line),
        next_byte: (next < size).then_some(next),
    })
}

/// Reads the bytes of a range, or fewer if the file ends within it.
pub fn bytes_of(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    part(file, range)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Counts the lines of the first `size` bytes.
pub fn lines_of(file: &File, size: u64) -> io::Result<u64> {
    let last = bytes_of(file, size.saturating_sub(1)..size)?;
    let open = last.first().is_some_and(|&last| last != b'\n');
    Ok(newlines(file, size)? + u64::from(open))
}

/// Counts the newlines in the first `size` bytes.
fn newlines(file: &File, size: u64) -> io::Result<u64> {
    let mut text = BufReader::with_capacity(BUFFER, part(file, 0..size)?);
    let mut count = 0;
    loop {
        let bytes = text.fill_buf()?.len();
        if bytes == 0 {
            return Ok(count);
        }
        count += memchr::memchr_iter(b'\n', text.buffer()).count() as u64;
        text.consume(bytes);
    }
}

/// Returns the start of a line in the first `size` bytes, or `size` if they have fewer lines.
fn line_start(file: &File, line: u64, size: u64) -> io::Result<u64> {
    let mut text = BufReader::with_capacity(BUFFER, part(file, 0..size)?);
    let mut start = 0;
    for _ in 1..line {
        match text.skip_until(b'\n')? {
            0 => return Ok(size),
            skipped => start += skipped as u64,
        }
    }
    Ok(start)
}

fn part(mut file: &File, range: Range<u64>) -> io::Result<Take<&File>> {
    file.seek(SeekFrom::Start(range.start))?;
    Ok(file.take(range.end.saturating_sub(range.start)))
}

fn sequence_start(file: &File, byte: u64) -> io::Result<u64> {
    let from = byte.saturating_sub(SEQUENCE - 1);
    let around = bytes_of(file, from..byte + SEQUENCE)?;
    Ok(from + Utf8(&around).floor((byte - from) as usize) as u64)
}

/// Returns the end of a page. A page has at least one code point, so paging ends under any limit.
fn end(bytes: &[u8], is_last: bool, page: Page) -> usize {
    if bytes.is_empty() {
        return 0;
    }
    let text = Utf8(bytes);
    let most = prefix_of_bytes(text, page.bytes).max(text.decode(0).1);
    let newline = memchr::memchr_iter(b'\n', &bytes[..most]).nth(page.lines as usize - 1);
    if let Some(newline) = newline {
        return newline + 1;
    }
    let whole_lines = matches!(page.start, Start::Line(_)) && !(is_last && most == bytes.len());
    text.rfind_newline(most).filter(|_| whole_lines).map_or(most, |newline| newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn page(content: &[u8], start: Start, lines: u64, bytes: usize) -> Slice {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        read_page(&file, content.len() as u64, None, Page { start, lines, bytes }).unwrap()
    }

    #[test]
    fn pages_by_line_end_at_line_ends() {
        let slice = page(b"one\ntwo\nthree\n", Start::Line(2), 9, 7);
        assert_eq!((slice.text.as_str(), slice.line, slice.byte), ("two\n", 2, 4));
        assert_eq!((slice.next_line, slice.next_byte), (Some(3), Some(8)));
        assert_eq!((slice.total_lines, slice.total_bytes), (3, 14));
        let slice = page(b"one\ntwo\nthree\n", Start::Line(1), 2, 99);
        assert_eq!((slice.text.as_str(), slice.next_line), ("one\ntwo\n", Some(3)));
    }

    #[test]
    fn a_page_inside_a_long_line_continues_by_byte() {
        let slice = page("漢字漢字\nok\n".as_bytes(), Start::Line(1), 9, 7);
        assert_eq!((slice.text.as_str(), slice.next_line, slice.next_byte), ("漢字", None, Some(6)));
        let slice = page("漢字漢字\nok\n".as_bytes(), Start::Byte(6), 9, 7);
        assert_eq!((slice.text.as_str(), slice.line, slice.next_line), ("漢字\n", 1, Some(2)));
    }

    #[test]
    fn a_byte_inside_a_sequence_moves_to_its_start() {
        assert_eq!(page("a😀b".as_bytes(), Start::Byte(3), 9, 9).byte, 1);
        // An invalid sequence: each byte is separate.
        assert_eq!(page(b"a\x80\x80\x80b", Start::Byte(3), 9, 9).byte, 3);
    }

    #[test]
    fn pages_beyond_the_end_are_empty() {
        for start in [Start::Line(9), Start::Byte(99)] {
            let slice = page(b"one\ntwo\n", start, 9, 9);
            assert_eq!((slice.text.as_str(), slice.byte, slice.line), ("", 8, 3));
            assert_eq!((slice.next_line, slice.next_byte), (None, None));
        }
    }

    #[test]
    fn invalid_bytes_count_as_their_replacement() {
        let slice = page(b"\xFF\xFF\xFF\xFF", Start::Byte(0), 9, 7);
        assert_eq!((slice.text.as_str(), slice.next_byte), ("\u{FFFD}\u{FFFD}", Some(2)));
    }
}
