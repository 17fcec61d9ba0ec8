//! Searches a saved output line by line, in one pass over its bytes and in bounded memory.

use std::collections::VecDeque;
use std::io::{Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::line_reader::{LinePart, LineReader};
use super::pattern::SearchPattern;
use super::{Store, StoreFailure};
use crate::encoding::{Text, Utf8};

/// The search to run.
#[derive(Debug)]
pub struct SearchRequest {
    pub pattern: SearchPattern,
    /// The first line to search.
    pub line: u64,
    /// Lines shown before and after each match.
    pub context: usize,
    pub max: usize,
}

/// A matching line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMatch {
    pub line: u64,
    /// Position of the match in the file.
    pub byte: u64,
    pub text: String,
    pub before: Vec<Arc<str>>,
    pub after: Vec<Arc<str>>,
}

/// Time after which a search is aborted, because it delays others.
const LONGEST: Duration = Duration::from_secs(30);
/// Bytes shown of a line.
const SHOWN: usize = 500;
/// Of these, bytes before a match.
const LEAD: u64 = 150;
/// Bytes on either side of a position among which those shown are, and a UTF-8 sequence cut by
/// their ends.
const REACH: usize = SHOWN + 3;
/// Maximum bytes of an answer.
const ANSWER: usize = 40_960;
/// Bytes read at once.
const BUFFER: usize = 256 * 1024;

pub fn search(store: &Store, id: &str, query: SearchRequest) -> Result<Vec<LineMatch>, StoreFailure> {
    let (entry, mut file) = store.open(id)?;
    file.rewind()?;
    find(file.take(entry.size), query)
}

fn find(mut file: impl Read, query: SearchRequest) -> Result<Vec<LineMatch>, StoreFailure> {
    let mut searcher = Searcher::new(query, 0, 1);
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 || !searcher.push(&buffer[..read])? {
            return searcher.finish();
        }
    }
}

/// A search that is given the bytes of an output in order, in any pieces.
#[derive(Debug)]
pub struct Searcher {
    query: SearchRequest,
    lines: LineReader,
    state: ScanState,
    /// Time that it may still take.
    left: Duration,
}

#[derive(Debug, Default)]
struct ScanState {
    line: SearchLine,
    /// The lines before this one.
    recent: VecDeque<Arc<str>>,
    matches: Vec<LineMatch>,
    /// No more lines may match: there is no room for them, or there are enough.
    full: bool,
    /// Bytes that the matching lines leave to others.
    room: usize,
}

/// The line that is being read: its first bytes, and those around a match.
#[derive(Debug, Default)]
struct SearchLine {
    start: u64,
    head: LineContext,
    found: Option<LineContext>,
}

/// A position in the output, and bytes around it.
#[derive(Debug, Default)]
struct LineContext {
    at: u64,
    from: u64,
    bytes: Vec<u8>,
}

impl Searcher {
    /// Begins with the bytes at a position in a line. If they begin inside that line, it must come
    /// before all lines to search and to show.
    pub fn new(query: SearchRequest, at: u64, line: u64) -> Searcher {
        let state = ScanState { room: ANSWER, full: query.max == 0, ..ScanState::default() };
        Searcher { query, lines: LineReader::new(at, line), state, left: LONGEST }
    }

    /// Searches the next bytes. Returns false if no more are needed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, StoreFailure> {
        let deadline = Instant::now() + self.left;
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.lines.fill(rest);
            if !self.read(deadline)? {
                return Ok(false);
            }
        }
        self.left = deadline.saturating_duration_since(Instant::now());
        Ok(true)
    }

    /// Ends the bytes, and returns the matching lines.
    pub fn finish(&mut self) -> Result<Vec<LineMatch>, StoreFailure> {
        self.lines.end();
        self.read(Instant::now() + self.left)?;
        self.state.crop();
        Ok(std::mem::take(&mut self.state.matches))
    }

    fn read(&mut self, deadline: Instant) -> Result<bool, StoreFailure> {
        let Searcher { query, lines, state, .. } = self;
        while !state.is_done(query)
            && let Some(part) = lines.next_part()
        {
            if part.begins {
                state.line = SearchLine { start: part.at, head: LineContext::of(&part, 0), found: None };
            }
            if state.line.found.is_none() && part.line >= query.line && !state.full {
                let found = query.pattern.find(&part, REACH);
                state.line.found = found.map(|found| LineContext::of(&part, found.start));
                if Instant::now() > deadline {
                    let longest = LONGEST.as_secs();
                    return Err(StoreFailure::Refused(format!(
                        "the search took longer than {longest} seconds: look for a plain text, or a simpler pattern"
                    )));
                }
            }
            if part.ends {
                state.end_line(query, &part);
            }
        }
        Ok(!state.is_done(query))
    }
}

impl ScanState {
    fn is_done(&self, query: &SearchRequest) -> bool {
        self.full && self.matches.last().is_none_or(|last| last.after.len() >= query.context)
    }

    fn end_line(&mut self, query: &SearchRequest, part: &LinePart) {
        let line = std::mem::take(&mut self.line);
        let place = line.start..part.at + part.bytes.len() as u64;
        if query.context > 0 {
            let text: Arc<str> = line.head.excerpt(&place).into();
            for found in self.matches.iter_mut().rev().take_while(|found| found.after.len() < query.context) {
                found.after.push(Arc::clone(&text));
            }
            if let Some(found) = line.found {
                self.add(query, part.line, &found, &place);
            }
            self.recent.push_back(text);
            if self.recent.len() > query.context {
                self.recent.pop_front();
            }
        } else if let Some(found) = line.found {
            self.add(query, part.line, &found, &place);
        }
    }

    /// Adds a matching line if there is room for it, or if it is the first.
    fn add(&mut self, query: &SearchRequest, line: u64, found: &LineContext, place: &Range<u64>) {
        let text = found.excerpt(place);
        let size = size_of_line(&text);
        self.full = size > self.room && !self.matches.is_empty();
        if self.full {
            return;
        }
        self.room = self.room.saturating_sub(size);
        let before = self.recent.iter().cloned().collect();
        self.matches.push(LineMatch { line, byte: found.at, text, before, after: vec![] });
        self.full = self.matches.len() == query.max;
    }

    /// Drops the lines around matches for which there is no room: those of the first matches stay,
    /// the nearest first.
    fn crop(&mut self) {
        let mut room = self.room;
        for found in &mut self.matches {
            let before = fitting(found.before.iter().rev(), &mut room);
            found.before.drain(..found.before.len() - before);
            found.after.truncate(fitting(found.after.iter(), &mut room));
        }
    }
}

/// Counts the lines that fit.
fn fitting<'a>(lines: impl Iterator<Item = &'a Arc<str>>, room: &mut usize) -> usize {
    let mut fits = |line: &&Arc<str>| room.checked_sub(size_of_line(line)).map(|left| *room = left).is_some();
    lines.take_while(|line| fits(line)).count()
}

/// Returns the bytes of a line in an answer, including its newline: empty lines count too.
fn size_of_line(line: &str) -> usize {
    line.len() + 1
}

impl LineContext {
    fn of(part: &LinePart, at: usize) -> LineContext {
        let from = at.saturating_sub(REACH);
        let bytes = part.bytes[from..part.bytes.len().min(at + REACH)].to_vec();
        LineContext { at: part.at + at as u64, from: part.at + from as u64, bytes }
    }

    /// Shows a line. Only the text around the position is shown of a long line, between marks that
    /// name the omitted bytes.
    fn excerpt(&self, place: &Range<u64>) -> String {
        let shown = SHOWN as u64;
        if place.end - place.start <= shown {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        let start = self.at.saturating_sub(LEAD).clamp(place.start, place.end - shown).max(self.from);
        let text = Utf8(&self.bytes);
        let floor = |at: u64| text.floor(self.bytes.len().min((at - self.from) as usize));
        let kept = floor(start)..floor((start + shown).min(place.end));
        let mark = |bytes: u64| if bytes == 0 { String::new() } else { format!("[+{bytes} bytes]") };
        [
            mark(self.from + kept.start as u64 - place.start),
            String::from_utf8_lossy(&self.bytes[kept.clone()]).into_owned(),
            mark(place.end - (self.from + kept.end as u64)),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pattern: &str, context: usize) -> SearchRequest {
        SearchRequest { pattern: SearchPattern::regex(pattern, false).unwrap(), line: 1, context, max: 9 }
    }

    fn hits(text: &str, pattern: &str) -> Vec<LineMatch> {
        find(text.as_bytes(), query(pattern, 0)).unwrap()
    }

    #[test]
    fn a_search_that_takes_too_long_is_aborted() {
        let mut searcher = Searcher::new(query("b", 0), 0, 1);
        assert!(searcher.push(b"a\nb\n").unwrap());
        searcher.left = Duration::ZERO;
        assert!(matches!(searcher.push(b"a\nb\n"), Err(StoreFailure::Refused(_))));
    }

    #[test]
    fn pieces_do_not_matter() {
        let text = ["one\ntwo\nneedle\nthree\n", &"漢".repeat(30_000), "needle\nlast"].concat();
        let whole = find(text.as_bytes(), query("needle", 2)).unwrap();
        assert_eq!(whole.len(), 2);
        for size in [1_009, 40_000] {
            let mut searcher = Searcher::new(query("needle", 2), 0, 1);
            for piece in text.as_bytes().chunks(size) {
                assert!(searcher.push(piece).unwrap());
            }
            assert_eq!(searcher.finish().unwrap(), whole);
        }
    }

    #[test]
    fn a_search_begins_where_its_bytes_do() {
        let text = "one\ntwo\nneedle\nthree\n";
        let mut searcher = Searcher::new(SearchRequest { line: 3, ..query("needle", 1) }, 2, 1);
        searcher.push(&text.as_bytes()[2..]).unwrap();
        assert_eq!(searcher.finish().unwrap(), find(text.as_bytes(), query("needle", 1)).unwrap());
    }

    #[test]
    fn no_more_bytes_are_needed_after_the_last_match() {
        let mut searcher = Searcher::new(SearchRequest { max: 1, ..query("b", 1) }, 0, 1);
        assert!(searcher.push(b"a\nb\n").unwrap());
        assert!(!searcher.push(b"c\n").unwrap());
    }

    #[test]
    fn matching_lines_come_before_those_around_them() {
        let line = "x".repeat(400);
        let text = format!("{line}\nneedle {line}\n{line}\n").repeat(200);
        let found = find(text.as_bytes(), SearchRequest { max: 99, ..query("needle", 9) }).unwrap();
        let around = |found: &LineMatch| found.before.len() + found.after.len();
        assert_eq!(found.len(), 99);
        assert_eq!((around(&found[0]), around(&found[98])), (1, 0));
    }

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let line = ["漢".repeat(300), "needle".to_owned(), "字".repeat(300)].concat();
        let found = hits(&line, "needle");
        let lead = "漢".repeat(50);
        let trail = "字".repeat((500 - 156) / 3);
        assert_eq!(found[0].text, format!("[+750 bytes]{lead}needle{trail}[+558 bytes]"));
        assert_eq!(found[0].byte, 900);
        let found = hits(&line, "字$");
        assert!(found[0].text.starts_with("[+1305 bytes]") && found[0].text.ends_with('字'));
    }
}
