//! Saved outputs that are one JSON value, paged and searched as the lines of its outline.
//!
//! The bytes stay as they were saved: the lines are made as they are read, from a store that gives
//! ranges of bytes. A survey reads all of them once. It tells whether they are JSON, counts the
//! lines, and keeps the outline at places all over, from which pages and searches go on. So a page
//! reads some hundred KiB, wherever it is, and nothing holds the output.
//!
//! An output whose lines are short is read as it is, also if it is JSON: somebody laid it out.

use std::mem;

use super::StoreFailure;
use super::read::{OutputWindow, PageRequest, Slice, Start, page_in};
use super::search::{LineMatch, SearchRequest, Searcher};
use crate::outline::Outline;

/// Bytes of a line that a search shows whole. An output without a longer one is read as it is.
const LONG: u64 = 500;

/// Bytes outlined at once. The lines take some hundred times as many at most.
const PIECE: usize = 16 * 1024;

/// Bytes between two places that are kept, which doubles when there are too many, and their number.
const STEP: u64 = 256 * 1024;
const MOST: usize = 128;

/// Bytes before a position that may belong to the same sequence.
const SEQUENCE: u64 = 4;

/// The outline of the first bytes of an output, and its size so far.
#[derive(Clone, Debug, Default)]
struct OutlinePlace {
    source: u64,
    bytes: u64,
    newlines: u64,
    outline: Outline,
}

/// The way an output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// As it was saved.
    Text,
    /// As the lines of a JSON value.
    Outline,
    /// The value does not end: as lines if the output was not saved whole.
    OpenOutline,
}

/// All places of an output, which come as its bytes do.
#[derive(Debug)]
pub struct OutlineSurvey {
    last: OutlinePlace,
    places: Vec<OutlinePlace>,
    step: u64,
    /// Bytes of the line that is being read, and of the longest.
    line: u64,
    longest: u64,
    is_json: bool,
    lines: Vec<u8>,
}

impl Default for OutlineSurvey {
    fn default() -> OutlineSurvey {
        let places = vec![OutlinePlace::default()];
        OutlineSurvey {
            last: OutlinePlace::default(),
            places,
            step: STEP,
            line: 0,
            longest: 0,
            is_json: true,
            lines: vec![],
        }
    }
}

impl OutlineSurvey {
    /// Takes the next bytes. Returns false once they are not JSON.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let mut pieces = bytes.chunks(PIECE);
        while self.is_json
            && let Some(piece) = pieces.next()
        {
            self.measure(piece);
            let next = self.places.last().map_or(0, |place| place.source) + self.step;
            self.is_json = self.last.push(piece, &mut self.lines).is_ok();
            if self.last.source >= next {
                self.places.push(self.last.clone());
                self.thin_out();
            }
        }
        self.is_json
    }

    fn measure(&mut self, piece: &[u8]) {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', piece) {
            self.longest = self.longest.max(self.line + (newline - start) as u64);
            (self.line, start) = (0, newline + 1);
        }
        self.line += (piece.len() - start) as u64;
        self.longest = self.longest.max(self.line);
    }

    fn thin_out(&mut self) {
        if self.places.len() < MOST {
            return;
        }
        self.step *= 2;
        let mut nth = 0;
        self.places.retain(|_| {
            nth += 1;
            nth % 2 == 1
        });
    }

    /// Ends the bytes.
    pub fn finish(&mut self) -> OutputForm {
        self.last.finish(&mut self.lines);
        match (self.is_json && self.longest > LONG, self.last.outline.is_whole()) {
            (false, _) => OutputForm::Text,
            (true, true) => OutputForm::Outline,
            (true, false) => OutputForm::OpenOutline,
        }
    }

    /// Returns the last place that comes before a position, and before the sequence it is in.
    fn place_before(&self, start: Start) -> OutlinePlace {
        let is_before = |place: &OutlinePlace| match start {
            Start::Line(line) => place.newlines + 1 < line,
            Start::Byte(byte) => place.bytes + SEQUENCE <= byte,
        };
        let count = self.places.partition_point(is_before);
        self.places[count.saturating_sub(1)].clone()
    }
}

impl OutlinePlace {
    /// Outlines a piece, and counts its lines.
    fn push(&mut self, piece: &[u8], lines: &mut Vec<u8>) -> Result<(), crate::outline::NotJson> {
        lines.clear();
        self.source += piece.len() as u64;
        let pushed = self.outline.push(piece, lines);
        self.count(lines);
        pushed
    }

    fn finish(&mut self, lines: &mut Vec<u8>) {
        lines.clear();
        self.outline.finish(lines);
        self.count(lines);
    }

    fn count(&mut self, lines: &[u8]) {
        self.bytes += lines.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', lines).count() as u64;
    }
}

/// A page of an outline, which is given the bytes of the output from [`OutlinePage::source`] on.
#[derive(Debug)]
pub struct OutlinePage {
    place: OutlinePlace,
    page: PageRequest,
    /// Lines from before the page on: their bytes, position, and the newlines before them.
    window: Vec<u8>,
    at: u64,
    newlines: u64,
    size: u64,
    lines: u64,
    /// Bytes of the window at which the page may be in it.
    enough: usize,
}

impl OutlinePage {
    /// Begins a page of an output whose survey has ended.
    pub fn new(survey: &OutlineSurvey, page: PageRequest) -> OutlinePage {
        let place = survey.place_before(page.start);
        OutlinePage {
            page,
            window: vec![],
            at: place.bytes,
            newlines: place.newlines,
            size: survey.last.bytes,
            lines: survey.last.newlines,
            enough: 1,
            place,
        }
    }

    /// Returns the position of the next byte.
    pub fn source(&self) -> u64 {
        self.place.source
    }

    /// Takes the next bytes. Returns the page once they reach its end. `is_last`: they end the
    /// output.
    pub fn push(&mut self, bytes: &[u8], is_last: bool) -> Result<Option<Slice>, StoreFailure> {
        let mut lines = vec![];
        for piece in bytes.chunks(PIECE) {
            self.place.push(piece, &mut lines).map_err(|_| changed())?;
            if let Some(slice) = self.add(&lines) {
                return Ok(Some(slice));
            }
        }
        if !is_last {
            return Ok(None);
        }
        self.place.finish(&mut lines);
        self.enough = 0;
        self.add(&lines).map(Some).ok_or_else(changed)
    }

    fn add(&mut self, lines: &[u8]) -> Option<Slice> {
        self.window.extend_from_slice(lines);
        let before = self.before_page();
        self.newlines += memchr::memchr_iter(b'\n', &self.window[..before]).count() as u64;
        self.at += before as u64;
        self.window.drain(..before);
        if self.window.len() < self.enough {
            return None;
        }
        let OutlinePage { window: bytes, at, newlines, size, lines, page, .. } = &*self;
        let window = OutputWindow { bytes, at: *at, newlines: *newlines, size: *size, lines: *lines };
        match page_in(&window, *page) {
            Ok(slice) => Some(slice),
            Err(_) => {
                self.enough = self.window.len() * 2;
                None
            }
        }
    }

    /// Counts the bytes of the window that come before the page, and before the sequence it begins
    /// in.
    fn before_page(&self) -> usize {
        match self.page.start {
            Start::Byte(byte) => {
                let before = byte.saturating_sub(SEQUENCE).saturating_sub(self.at);
                self.window.len().min(usize::try_from(before).unwrap_or(usize::MAX))
            }
            Start::Line(line) => {
                let missing = (line - 1).saturating_sub(self.newlines);
                let nth = usize::try_from(missing).unwrap_or(usize::MAX);
                let mut newlines = memchr::memchr_iter(b'\n', &self.window);
                match nth.checked_sub(1).map(|last| newlines.nth(last)) {
                    None => 0,
                    Some(Some(newline)) => newline + 1,
                    // The page begins after them.
                    Some(None) => self.window.len(),
                }
            }
        }
    }
}

/// A search of an outline, which is given the bytes of the output from [`OutlineSearch::source`]
/// on.
#[derive(Debug)]
pub struct OutlineSearch {
    place: OutlinePlace,
    searcher: Searcher,
}

impl OutlineSearch {
    /// Begins a search of an output whose survey has ended.
    pub fn new(survey: &OutlineSurvey, query: SearchRequest) -> OutlineSearch {
        // A place is inside a line, which comes before those to search and to show.
        let place = survey.place_before(Start::Line(query.line.saturating_sub(query.context as u64)));
        let searcher = Searcher::new(query, place.bytes, place.newlines + 1);
        OutlineSearch { place, searcher }
    }

    /// Returns the position of the next byte.
    pub fn source(&self) -> u64 {
        self.place.source
    }

    /// Searches the next bytes. Returns false if no more are needed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<bool, StoreFailure> {
        let mut lines = vec![];
        for piece in bytes.chunks(PIECE) {
            self.place.push(piece, &mut lines).map_err(|_| changed())?;
            if !self.searcher.push(&lines)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends the bytes, and returns the matching lines.
    pub fn finish(&mut self) -> Result<Vec<LineMatch>, StoreFailure> {
        let mut lines = vec![];
        self.place.finish(&mut lines);
        self.searcher.push(&mem::take(&mut lines))?;
        self.searcher.finish()
    }
}

fn changed() -> StoreFailure {
    StoreFailure::Refused("the output was changed while it was read".into())
}
