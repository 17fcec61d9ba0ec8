//! The start and the end of a stream, as far as a cut can keep them.

use std::collections::VecDeque;

use crate::encoding::{Size, Text, Utf8, size};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::span::Span;
use crate::policy::Keep;
use crate::tokens::MOST_BYTES;
use crate::truncate::closing::CLOSING_BYTES;
use crate::truncate::important_end;

/// Exceeds a mark and a code point: a cut never ends at the edge of a window.
const SLACK: usize = 64;

/// The maximum reach of a cut, in bytes, or in newlines if the bytes are unlimited.
#[derive(Clone, Copy, Debug)]
struct Reach {
    bytes: usize,
    newlines: usize,
    /// Bytes that are examined under any limits.
    least: usize,
}

impl Reach {
    fn of(limits: &Limits, keep: Keep) -> Reach {
        // A char takes at most three bytes, and ill-formed bytes become longer.
        let tokens = limits.tokens.saturating_mul(MOST_BYTES);
        let bytes = limits.bytes.min(limits.chars.saturating_mul(3)).min(tokens);
        let newlines = if bytes == UNLIMITED { limits.lines.saturating_add(2) } else { UNLIMITED };
        // The end that is examined has chars of at most three bytes each.
        let least =
            if keep == Keep::HeadOrEnds { 3 * important_end::LOOKED_AT + SLACK } else { CLOSING_BYTES };
        Reach { bytes: bytes.saturating_add(SLACK).max(least), newlines, least }
    }
}

#[derive(Clone, Debug)]
pub struct Window {
    reach: Reach,
    /// After a head that is kept alone, only the last bytes matter.
    tail_reach: Reach,
    head: Vec<u8>,
    newlines: usize,
    head_marks: Vec<Span>,
    /// Present once the head is full.
    tail: Option<Tail>,
    /// Bytes of all input, and its decoded size.
    total: usize,
    size: Size,
}

#[derive(Clone, Debug)]
struct Tail {
    reach: Reach,
    text: Vec<u8>,
    newlines: usize,
    marks: VecDeque<Span>,
}

impl Window {
    pub fn new(limits: &Limits, keep: Keep) -> Window {
        let reach = Reach::of(limits, keep);
        let alone = Reach { bytes: CLOSING_BYTES, newlines: UNLIMITED, least: 0 };
        Window {
            reach,
            tail_reach: if keep == Keep::Head { alone } else { reach },
            head: vec![],
            newlines: 0,
            head_marks: vec![],
            tail: None,
            total: 0,
            size: Size::default(),
        }
    }

    /// Takes the next text of the given size. It ends between two code points.
    pub fn push(&mut self, text: &[u8], size: Size) {
        self.total += text.len();
        self.size = self.size + size;
        match &mut self.tail {
            Some(tail) => tail.push(text),
            None => {
                let taken = self.take(text);
                if taken < text.len() {
                    let mut tail = Tail {
                        reach: self.tail_reach,
                        text: self.head.clone(),
                        newlines: self.newlines,
                        marks: VecDeque::new(),
                    };
                    tail.push(&text[taken..]);
                    self.tail = Some(tail);
                }
            }
        }
    }

    /// Takes one of our own marks.
    pub fn push_mark(&mut self, mark: &[u8]) {
        let size = size::of_utf8(mark);
        let span = Span { start: self.total, end: self.total + mark.len(), size, hidden: 0 };
        match &mut self.tail {
            _ if mark.is_empty() => {}
            Some(tail) => tail.marks.push_back(span),
            None => self.head_marks.push(span),
        }
        self.push(mark, size);
        let start = self.total - self.tail().len();
        if let Some(tail) = &mut self.tail {
            while tail.marks.front().is_some_and(|mark| mark.start < start) {
                tail.marks.pop_front();
            }
        }
    }

    /// Fills the head and returns the number of bytes taken.
    fn take(&mut self, text: &[u8]) -> usize {
        let mut taken = text.len();
        if taken > self.reach.bytes - self.head.len() {
            taken = Utf8(text).floor(self.reach.bytes - self.head.len());
        }
        if self.reach.newlines != UNLIMITED {
            let left = self.reach.newlines - self.newlines;
            let last = memchr::memchr_iter(b'\n', &text[..taken]).take(left).enumerate().last();
            let (newlines, end) = last.map_or((0, 0), |(at, newline)| (at + 1, newline + 1));
            self.newlines += newlines;
            taken = if newlines == left { end } else { taken };
        }
        self.head.extend_from_slice(&text[..taken]);
        taken
    }

    /// Returns true if the head holds the whole input.
    pub fn is_whole(&self) -> bool {
        self.tail.is_none()
    }

    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the last part of the input; all of it if the head holds it.
    pub fn tail(&self) -> &[u8] {
        self.tail.as_ref().map_or(&self.head, |tail| &tail.text)
    }

    pub fn total(&self) -> usize {
        self.total
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the marks in both parts, in order, by their position in all bytes.
    pub fn marks(&self) -> Vec<Span> {
        self.head_marks.iter().chain(self.tail_marks()).copied().collect()
    }

    /// Like [`Window::marks`], by their position in all chars.
    pub fn marks_in_chars(&self) -> Vec<Span> {
        let start = self.total - self.tail().len();
        let before = if self.tail_marks().next().is_some() {
            self.size.chars - Utf8(self.tail()).size().chars
        } else {
            0
        };
        let in_head = in_chars(self.head_marks.iter(), &self.head, 0, 0);
        in_head.chain(in_chars(self.tail_marks(), self.tail(), start, before)).collect()
    }

    fn tail_marks(&self) -> impl Iterator<Item = &Span> {
        let start = self.total - self.tail().len();
        self.tail.iter().flat_map(|tail| &tail.marks).filter(move |mark| mark.start >= start)
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let marks = |count: usize| count * size_of::<Span>();
        let tail = self.tail.as_ref().map_or(0, |tail| tail.text.capacity() + marks(tail.marks.capacity()));
        self.head.capacity() + marks(self.head_marks.capacity()) + tail
    }
}

/// Converts marks to chars. `text` starts at byte `start` and at char `chars`.
fn in_chars<'a>(
    marks: impl Iterator<Item = &'a Span>,
    text: &[u8],
    start: usize,
    mut chars: usize,
) -> impl Iterator<Item = Span> {
    let mut at = start;
    marks.map(move |mark| {
        chars += Utf8(&text[at - start..mark.start - start]).size().chars;
        at = mark.start;
        Span { start: chars, end: chars + mark.size.chars, ..*mark }
    })
}

impl Tail {
    fn push(&mut self, text: &[u8]) {
        let Reach { bytes, newlines, least } = self.reach;
        if text.len() >= bytes {
            self.text.clear();
            let start = Utf8(text).floor(text.len() - bytes);
            return self.text.extend_from_slice(&text[start..]);
        }
        self.text.extend_from_slice(text);
        // Removing half at a time moves each byte only once.
        if self.text.len() > bytes.saturating_mul(2) {
            self.text.drain(..Utf8(&self.text).floor(self.text.len() - bytes));
        }
        if newlines != UNLIMITED {
            self.newlines += memchr::memchr_iter(b'\n', text).count();
            if self.newlines > newlines.saturating_mul(2) && self.text.len() > 2 * least {
                let start = memchr::memrchr_iter(b'\n', &self.text).nth(newlines).map_or(0, |at| at + 1);
                let start = start.min(Utf8(&self.text).floor(self.text.len() - least));
                self.text.drain(..start);
                self.newlines = memchr::memchr_iter(b'\n', &self.text).count();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(limits: Limits, text: &str, chunk: usize) -> Window {
        let mut window = Window::new(&limits, Keep::Ends);
        for chunk in text.as_bytes().chunks(chunk) {
            window.push(chunk, Utf8(chunk).size());
        }
        window
    }

    #[test]
    fn both_ends_are_kept_in_limited_memory() {
        let text: String = (0..40_000).map(|n| format!("{n:023}\n")).collect();
        // More than a closing takes, which the tail always holds.
        let bytes = 2 * CLOSING_BYTES;
        for chunk in [1, 7, 1_000, 100_000, text.len()] {
            let window = pushed(Limits { bytes, ..Limits::NONE }, &text, chunk);
            assert!(window.head().len() >= bytes && text.as_bytes().starts_with(window.head()));
            assert!(window.tail().len() >= bytes && text.as_bytes().ends_with(window.tail()));
            assert!(window.memory() < 8 * bytes, "{}", window.memory());
            let window = pushed(Limits { lines: 100, ..Limits::NONE }, &text, chunk);
            let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count();
            assert!(lines(window.head()) == 102 && (102..=204).contains(&lines(window.tail())));
            assert!(text.as_bytes().starts_with(window.head()) && text.as_bytes().ends_with(window.tail()));
        }
    }

    #[test]
    fn unlimited_text_is_stored_once() {
        let window = pushed(Limits::NONE, &"line\n".repeat(1_000), 7);
        assert!(window.is_whole() && window.head().len() == 5_000);
    }
}
