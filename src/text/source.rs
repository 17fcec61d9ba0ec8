//! A text to be cut, and what a cut leaves of it.

use std::ops::Range;

use super::amounts::Needs;
use super::earlier::Closing;
use super::extent::Extent;
use super::lines::{CutLines, Span};
use super::size::Size;
use super::units::{PIECE, Text};
use super::utf8::Utf8;
use crate::limits::{Limits, UNLIMITED};
use crate::policy::Keep;

/// A text to be cut: its whole, or as much of both ends as any cut can keep.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, T> {
    pub(crate) head: T,
    pub(crate) tail: T,
    /// Units of the whole.
    pub(crate) total: usize,
    /// Size of what the caller gave, where it is not the whole of `head`.
    pub(crate) totals: Option<Size>,
    /// Marks in lines that were cut before.
    pub(crate) marks: &'a [Span],
    /// Notices in it are its own words: nobody has cut it before.
    pub(crate) fresh: bool,
    /// The bytes that the text was made of, where they are what the notice counts.
    pub(crate) input: Option<Input<'a>>,
    /// What else the notice answers for: blocks that go without a trace. Its newlines are lines.
    pub(crate) beside: Size,
}

/// Bytes of which the lines were cut.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub bytes: &'a [u8],
    pub cut: &'a CutLines,
}

impl Input<'_> {
    /// Bytes that stand for parts of the text, given in chars.
    pub fn bytes_of(&self, parts: &[Range<usize>]) -> usize {
        bytes_in(Utf8(self.bytes), &self.cut.ranges_of(parts))
    }
}

impl<'a, T: Text> Source<'a, T> {
    pub fn whole(text: T) -> Self {
        Source {
            head: text,
            tail: text,
            total: text.len(),
            totals: None,
            marks: &[],
            fresh: false,
            input: None,
            beside: Size::default(),
        }
    }

    /// Both ends of a text of `total` units. Each must hold more than the limits on bytes or chars allow to keep. A
    /// `head` of that length is the whole, whatever `tail` is.
    pub fn ends(head: T, tail: T, total: usize) -> Self {
        if head.len() == total { Source::whole(head) } else { Source { tail, total, ..Source::whole(head) } }
    }

    /// Tells the size of the input, for notices that name bytes or lines of a text that is not here whole.
    pub fn with_totals(self, totals: Option<Size>) -> Self {
        Source { totals, ..self }
    }

    /// Tells where lines were cut, which is where the text is not the input's.
    pub fn with_marks(self, marks: &'a [Span]) -> Self {
        Source { marks, ..self }
    }

    /// Tells that no earlier cut is to be looked for.
    pub fn fresh(self) -> Self {
        Source { fresh: true, ..self }
    }

    /// Tells what the text was made of, which is what its notice counts.
    pub fn with_input(self, input: Option<Input<'a>>) -> Self {
        Source { input, ..self }
    }

    /// Whether the notice counts bytes.
    pub fn in_bytes(&self) -> bool {
        !T::UTF16 || self.input.is_some()
    }

    /// Adds text that is left out beside this one to the amounts that the notice names.
    pub fn beside(self, size: Size) -> Self {
        Source { beside: size, ..self }
    }

    pub fn is_whole(&self) -> bool {
        self.head.len() == self.total
    }

    /// What it takes of each limit; of a text that is not here whole, more than the limits on bytes or chars allow.
    pub fn extent(&self, limits: &Limits) -> Extent {
        let mut extent = Extent::of(self.head, limits);
        if !self.is_whole() {
            extent.size.bytes = extent.size.bytes.max(self.total);
            extent.size.chars = if T::UTF16 { self.total } else { extent.size.chars };
        }
        extent
    }

    /// The limits that it is over, the others lifted.
    pub fn exceeded(&self, limits: &Limits) -> Limits {
        limits.exceeded(self.amounts(limits))
    }

    /// Bytes, lines, chars and tokens, counted no further than it takes to tell which limits they are over.
    pub fn amounts(&self, limits: &Limits) -> [usize; 4] {
        let text =
            if self.totals.is_none() || limits.counts_tokens() { self.head } else { self.head.slice(0..0) };
        let set = [limits.bytes, limits.lines, limits.chars, limits.tokens];
        let is_over = |(amount, limit): (usize, usize)| amount > limit || limit == UNLIMITED;
        let (mut extent, mut at) = (Extent::default(), 0);
        while at < text.len() && !extent.amounts().into_iter().zip(set).all(is_over) {
            let end = text.floor(text.len().min(at + PIECE));
            extent = extent.then(Extent::of(text.slice(at..end), limits));
            at = end;
        }
        // What is not here whole, or not as it came, is known by its totals.
        let whole = self.totals.map(|size| Extent { size, open: self.is_open(), ..extent });
        whole.unwrap_or(extent).amounts()
    }

    /// Whether it is within all limits but the one on single lines.
    pub fn fits(&self, limits: &Limits) -> bool {
        // Each unit is a byte at least, so a longer text need not be looked at.
        let least = if T::UTF16 { limits.bytes.min(limits.chars) } else { limits.bytes };
        self.is_whole() && self.total <= least && Extent::of(self.head, limits).fits(limits)
    }

    /// The end of it in which another tool says how to go on.
    pub fn closing(&self) -> Option<Closing> {
        Closing::find(self.tail, self.total)
    }

    /// What stands before a place in the tail, as a text of its own.
    pub fn before(&self, end: usize) -> Self {
        let gone = self.total - end;
        let head = self.head.slice(0..self.head.len().min(end));
        let tail = if head.len() == end { head } else { self.tail.slice(0..self.tail.len() - gone) };
        Source {
            head,
            tail,
            total: end,
            totals: self.totals.map(|size| size - raw_size(self.in_tail(end..self.total))),
            ..*self
        }
    }

    /// Whether text follows the last newline.
    pub fn is_open(&self) -> bool {
        !self.tail.is_empty() && !self.tail.ends_with_newline()
    }

    /// Code points that are not well-formed, in what is here.
    pub fn broken(&self) -> usize {
        self.head.broken()
    }

    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Whether any of them has words: a line may be too short for a mark.
    pub fn shows_marks(&self) -> bool {
        self.marks.iter().any(|mark| mark.start < mark.end)
    }

    /// The whole, well-formed.
    pub fn all(&self) -> Vec<u16> {
        let mut text = vec![];
        self.head.write(&mut text);
        text
    }

    /// The kept head and tail.
    pub fn parts(&self, kept: Kept) -> (T, T) {
        (self.head.slice(kept.start..kept.head), self.in_tail(kept.tail..kept.end))
    }

    /// Size of the input, true in what is needed.
    pub fn size(&self, needs: Needs) -> Size {
        match self.totals {
            Some(totals) => totals,
            None if T::UTF16 && !needs.bytes && !needs.lines => Size { chars: self.total, ..Size::default() },
            None if !T::UTF16 && !needs.chars && !needs.lines => {
                Size { bytes: self.total, ..Size::default() }
            }
            None => {
                debug_assert!(self.is_whole(), "a text that is not here whole comes with its totals");
                raw_size(self.head)
            }
        }
    }

    pub(crate) fn in_tail(&self, part: Range<usize>) -> T {
        let offset = self.total - self.tail.len();
        self.tail.slice(part.start - offset..part.end - offset)
    }

    /// The clamped text, well-formed.
    pub fn compose(&self, cut: &Clamped) -> Vec<u16> {
        let (head, tail) = self.parts(cut.kept);
        let mut text = Vec::with_capacity(head.len() + cut.mid.len() + tail.len());
        head.write(&mut text);
        text.extend(cut.mid.encode_utf16());
        tail.write(&mut text);
        text
    }

    /// Returns as UTF-8 the whole, or what a cut leaves.
    pub fn utf8(&self, cut: Option<&Clamped>) -> Vec<u8> {
        let mut out = vec![];
        let Some(cut) = cut else {
            self.head.each_utf8(&mut |piece| out.extend_from_slice(piece));
            return out;
        };
        let (head, tail) = self.parts(cut.kept);
        head.each_utf8(&mut |piece| out.extend_from_slice(piece));
        out.extend_from_slice(cut.mid.as_bytes());
        tail.each_utf8(&mut |piece| out.extend_from_slice(piece));
        out
    }
}

/// The parts of a text that are kept: from `start` to `head` and from `tail` to `end`. What lies beyond `start` and `end`
/// are notices of an earlier cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub start: usize,
    pub head: usize,
    pub tail: usize,
    pub end: usize,
}

impl Kept {
    pub fn all(total: usize) -> Kept {
        Kept { start: 0, head: total, tail: total, end: total }
    }

    pub fn nothing_of(content: Range<usize>) -> Kept {
        Kept { start: content.start, head: content.start, tail: content.end, end: content.end }
    }

    pub fn has_head(self) -> bool {
        self.start < self.head
    }

    pub fn has_tail(self) -> bool {
        self.tail < self.end
    }

    pub fn parts(self) -> [Range<usize>; 2] {
        [self.start..self.head, self.tail..self.end]
    }

    /// The spans that are kept.
    pub fn of(self, spans: &[Span]) -> impl Iterator<Item = &Span> {
        let is_in = |span: &Span, part: &Range<usize>| part.start <= span.start && span.end <= part.end;
        spans.iter().filter(move |span| self.parts().iter().any(|part| is_in(span, part)))
    }
}

/// What is kept of a text and what stands between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clamped {
    pub kept: Kept,
    /// The notice with what separates it from the text.
    pub mid: String,
    /// Length of the separators before and after the notice, in bytes of `mid`.
    pub separators: (usize, usize),
    /// What was asked for, [`Keep::Auto`] resolved.
    pub keep: Keep,
    /// Sizes of the kept head and tail as they come out.
    pub sizes: [Size; 2],
    /// Chars before the head and after the tail.
    pub around: [usize; 2],
}

/// Bytes of an input that stand for these chars, in order: an invalid sequence is one char, and as long as it came.
pub fn bytes_in<T: Text>(input: T, ranges: &[Range<usize>]) -> usize {
    let (mut bytes, mut char, mut at) = (0, 0, 0);
    for range in ranges {
        while char < range.end {
            let (point, len) = input.decode(at);
            bytes += if char >= range.start { len } else { 0 };
            char += point.len_utf16();
            at += len;
        }
    }
    bytes
}

/// The size of a piece of the input itself: bytes that are not well-formed count as they are.
pub fn raw_size<T: Text>(text: T) -> Size {
    let size = text.size();
    if T::UTF16 { size } else { Size { bytes: text.len(), ..size } }
}
