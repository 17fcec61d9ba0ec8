//! Reads a saved output page by page: by lines, or by bytes if a line is longer than a page.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};
use std::ops::Range;

use super::marks::{LineMarks, recall, remember};
use super::{Store, StoreFailure};
use crate::encoding::{Text, Utf8};
use crate::truncate::fit::prefix_of_bytes;

/// The page to read.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
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

pub fn read(store: &Store, id: &str, page: PageRequest) -> Result<Slice, StoreFailure> {
    let (entry, file) = store.open(id)?;
    let lines = entry.name.whole.filter(|_| entry.is_complete()).map(|whole| whole.lines);
    let (path, found) = (store.path(&entry.name), file.metadata()?);
    let known = recall(&path, &found);
    let mut marks = LineMarks::clone(&known);
    let slice = read_page(&file, entry.size, lines, page, &mut marks)?;
    if marks.size() > known.size() {
        remember(&path, &found, marks.into());
    }
    Ok(slice)
}

/// Reads a page from the first `size` bytes of a file. Counts their lines if not known.
fn read_page(
    file: &File,
    size: u64,
    lines: Option<u64>,
    page: PageRequest,
    marks: &mut LineMarks,
) -> io::Result<Slice> {
    let start = match page.start {
        Start::Line(line) => line_start(file, line, size, marks)?,
        Start::Byte(byte) => byte.min(size),
    };
    let at = start.saturating_sub(SEQUENCE);
    let window = OutputWindow {
        bytes: &bytes_of(file, at..size.min(reach(start, page)))?,
        at,
        newlines: newlines(file, at, marks)?,
        size,
        lines: lines.map_or_else(|| all_lines(file, size, marks), Ok)?,
    };
    page_in(&window, page).map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

/// Consecutive bytes of an output, with the counts before them and the size of the whole.
#[derive(Clone, Copy, Debug)]
pub struct OutputWindow<'a> {
    pub bytes: &'a [u8],
    pub at: u64,
    pub newlines: u64,
    pub size: u64,
    pub lines: u64,
}

/// Reads a page that begins in a window. Returns the position up to which the window must reach if
/// the page may continue beyond it.
pub fn page_in(window: &OutputWindow, page: PageRequest) -> Result<Slice, u64> {
    let &OutputWindow { bytes, at, newlines, size, lines } = window;
    let start = match page.start {
        Start::Line(line) => start_of_line(bytes, (line - 1).saturating_sub(newlines)).unwrap_or(bytes.len()),
        Start::Byte(byte) => Utf8(bytes).floor(bytes.len().min(byte.saturating_sub(at) as usize)),
    };
    let byte = at + start as u64;
    let line = 1 + newlines + memchr::memchr_iter(b'\n', &bytes[..start]).count() as u64;
    let rest = &bytes[start..];
    let most = size.min(reach(byte, page));
    let kept = &rest[..end(rest, byte + rest.len() as u64 == size, page)];
    let ends_early = memchr::memchr_iter(b'\n', kept).count() as u64 == page.lines;
    if at + (bytes.len() as u64) < most && !ends_early {
        return Err(most);
    }
    let next = byte + kept.len() as u64;
    let next_line = line + memchr::memchr_iter(b'\n', kept).count() as u64;
    Ok(Slice {
        text: String::from_utf8_lossy(kept).into_owned(),
        line,
        byte,
        total_lines: lines,
        total_bytes: size,
        next_line: (next < size && kept.ends_with(b"\n")).then_some(next_line),
        next_byte: (next < size).then_some(next),
    })
}

/// Returns the position up to which a page needs bytes.
fn reach(start: u64, page: PageRequest) -> u64 {
    start.saturating_add(page.bytes as u64).saturating_add(SEQUENCE)
}

/// Returns the position after a number of newlines.
fn start_of_line(bytes: &[u8], newlines: u64) -> Option<usize> {
    let Some(last) = newlines.checked_sub(1) else { return Some(0) };
    memchr::memchr_iter(b'\n', bytes).nth(usize::try_from(last).ok()?).map(|newline| newline + 1)
}

/// Reads the bytes of a range, or fewer if the file ends within it.
pub fn bytes_of(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    part(file, range)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Counts the lines of the first `size` bytes.
pub fn lines_of(file: &File, size: u64) -> io::Result<u64> {
    all_lines(file, size, &mut LineMarks::default())
}

fn all_lines(file: &File, size: u64, marks: &mut LineMarks) -> io::Result<u64> {
    let last = bytes_of(file, size.saturating_sub(1)..size)?;
    let open = last.first().is_some_and(|&last| last != b'\n');
    Ok(newlines(file, size, marks)? + u64::from(open))
}

/// Counts the newlines before a position.
fn newlines(file: &File, at: u64, marks: &mut LineMarks) -> io::Result<u64> {
    marks.count(file, at, |_| false)?;
    let mark = marks.up_to(at);
    let mut rest = BufReader::with_capacity(BUFFER, part(file, mark.at..at)?);
    let mut count = mark.newlines;
    loop {
        let bytes = rest.fill_buf()?.len();
        if bytes == 0 {
            return Ok(count);
        }
        count += memchr::memchr_iter(b'\n', rest.buffer()).count() as u64;
        rest.consume(bytes);
    }
}

/// Returns the start of a line in the first `size` bytes, or `size` if they have fewer lines.
fn line_start(file: &File, line: u64, size: u64, marks: &mut LineMarks) -> io::Result<u64> {
    marks.count(file, size, |marks| marks.newlines() >= line - 1)?;
    let mark = marks.before(line - 1);
    let mut text = BufReader::with_capacity(BUFFER, part(file, mark.at..size)?);
    let mut start = mark.at;
    for _ in mark.newlines + 1..line {
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

/// Returns the end of a page. A page has at least one code point, so paging ends under any limit.
fn end(bytes: &[u8], is_last: bool, page: PageRequest) -> usize {
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
        let (size, page) = (content.len() as u64, PageRequest { start, lines, bytes });
        let mut marks = LineMarks::default();
        let slice = read_page(&file, size, None, page, &mut marks).unwrap();
        assert_eq!(read_page(&file, size, None, page, &mut marks).unwrap(), slice);
        slice
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
    fn a_window_has_the_pages_of_the_whole() {
        let text = "one\ntwo 漢字\nthree\n\nfour";
        let starts = (0..30).map(Start::Byte).chain((1..8).map(Start::Line));
        for (start, lines) in starts.flat_map(|start| [1, 2, 99].map(|lines| (start, lines))) {
            let whole = page(text.as_bytes(), start, lines, 7);
            // The window begins anywhere before the page.
            for at in 0..whole.byte as usize {
                let bytes = &text.as_bytes()[at..];
                let newlines = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64;
                let window =
                    OutputWindow { bytes, at: at as u64, newlines, size: text.len() as u64, lines: 5 };
                let page = PageRequest { start, lines, bytes: 7 };
                // A sequence is whole, or the position is not in it.
                if text.is_char_boundary(at) {
                    assert_eq!(page_in(&window, page), Ok(whole.clone()), "{start:?} {lines} {at}");
                }
                let short = OutputWindow { bytes: &bytes[..whole.byte as usize - at], ..window };
                let is_empty = whole.byte == window.size;
                assert_eq!(page_in(&short, page).is_ok(), is_empty, "{start:?} {lines} {at}");
            }
        }
    }

    #[test]
    fn a_page_deep_in_an_output_is_that_of_a_first_look() {
        let long = "漢".repeat(200_000);
        let text =
            (0..60_000).map(|at| format!("{}\n", "x".repeat(at % 31))).chain([long]).collect::<String>();
        let (size, lines) = (text.len() as u64, 60_001);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let mut known = LineMarks::default();
        let starts = (0..9).flat_map(|at| [Start::Byte(at * 187_331), Start::Line(1 + at * 7_919)]);
        for start in starts.chain([Start::Byte(3), Start::Line(60_001), Start::Line(70_000), Start::Line(2)])
        {
            let page = PageRequest { start, lines: 9, bytes: 300 };
            let first = read_page(&file, size, Some(lines), page, &mut LineMarks::default()).unwrap();
            assert_eq!(read_page(&file, size, None, page, &mut known).unwrap(), first, "{start:?}");
            let before = &text.as_bytes()[..first.byte as usize];
            assert_eq!(first.line, 1 + memchr::memchr_iter(b'\n', before).count() as u64);
        }
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
