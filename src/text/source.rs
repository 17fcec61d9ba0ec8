//! A text to be truncated, and the result of truncating it.

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

/// A text to be truncated: the whole text, or as much of both ends as any cut can keep.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, T> {
    pub(crate) head: T,
    pub(crate) tail: T,
    /// Units of the whole text.
    pub(crate) total: usize,
    /// Size of the input, if it differs from `head`.
    pub(crate) totals: Option<Size>,
    /// Marks in lines that were truncated.
    pub(crate) marks: &'a [Span],
    /// Notices in the text are part of it: it was not cut before.
    pub(crate) fresh: bool,
    /// The input bytes, if the notice counts those.
    pub(crate) input: Option<Input<'a>>,
    /// Size of the dropped blocks that the notice also counts. Its newlines are lines.
    pub(crate) beside: Size,
}

/// Input bytes with truncated lines.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub bytes: &'a [u8],
    pub cut: &'a CutLines,
}

impl Input<'_> {
    /// Returns the input bytes behind parts of the text, given in chars.
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

    /// Creates a source from both ends of a text of `total` units. Each end must exceed the limits on bytes or chars. A
    /// `head` of `total` units is the whole text, and `tail` is then ignored.
    pub fn ends(head: T, tail: T, total: usize) -> Self {
        if head.len() == total { Source::whole(head) } else { Source { tail, total, ..Source::whole(head) } }
    }

    /// Sets the size of the input, for notices that name bytes or lines of an incomplete text.
    pub fn with_totals(self, totals: Option<Size>) -> Self {
        Source { totals, ..self }
    }

    /// Sets the marks of truncated lines, which are not part of the input.
    pub fn with_marks(self, marks: &'a [Span]) -> Self {
        Source { marks, ..self }
    }

    /// Disables the search for earlier notices.
    pub fn fresh(self) -> Self {
        Source { fresh: true, ..self }
    }

    /// Sets the input bytes, for notices that count those.
    pub fn with_input(self, input: Option<Input<'a>>) -> Self {
        Source { input, ..self }
    }

    /// Returns true if the notice counts bytes.
    pub fn in_bytes(&self) -> bool {
        !T::UTF16 || self.input.is_some()
    }

    /// Adds text omitted beside this one to the amounts of the notice.
    pub fn beside(self, size: Size) -> Self {
        Source { beside: size, ..self }
    }

    pub fn is_whole(&self) -> bool {
        self.head.len() == self.total
    }

    /// Returns the extent of the text. For an incomplete text, it exceeds the limits on bytes or chars.
    pub fn extent(&self, limits: &Limits) -> Extent {
        let mut extent = Extent::of(self.head, limits);
        if !self.is_whole() {
            extent.size.bytes = extent.size.bytes.max(self.total);
            extent.size.chars = if T::UTF16 { self.total } else { extent.size.chars };
        }
        extent
    }

    /// Returns the exceeded limits, with the others set to unlimited.
    pub fn exceeded(&self, limits: &Limits) -> Limits {
        limits.exceeded(self.amounts(limits))
    }

    /// Returns bytes, lines, chars and tokens, counted only until all set limits are known to be exceeded.
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
        // If the text is incomplete or modified, its totals are used.
        let whole = self.totals.map(|size| Extent { size, open: self.is_open(), ..extent });
        whole.unwrap_or(extent).amounts()
    }

    /// Returns true if the text is within all limits except the one on single lines.
    pub fn fits(&self, limits: &Limits) -> bool {
        // Each unit is at least one byte, so longer texts need not be measured.
        let least = if T::UTF16 { limits.bytes.min(limits.chars) } else { limits.bytes };
        self.is_whole() && self.total <= least && Extent::of(self.head, limits).fits(limits)
    }

    /// Returns the closing, in which another tool says how to continue.
    pub fn closing(&self) -> Option<Closing> {
        Closing::find(self.tail, self.total)
    }

    /// Returns the text before a position in the tail as a source.
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

    /// Returns true if text follows the last newline.
    pub fn is_open(&self) -> bool {
        !self.tail.is_empty() && !self.tail.ends_with_newline()
    }

    /// Returns the ill-formed code points in the available text.
    pub fn broken(&self) -> usize {
        self.head.broken()
    }

    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Returns true if any mark is visible. If a line is too short for a mark, its mark is empty.
    pub fn shows_marks(&self) -> bool {
        self.marks.iter().any(|mark| mark.start < mark.end)
    }

    /// Returns the whole text as well-formed UTF-16.
    pub fn all(&self) -> Vec<u16> {
        let mut text = vec![];
        self.head.write(&mut text);
        text
    }

    /// Returns the kept head and tail.
    pub fn parts(&self, kept: Kept) -> (T, T) {
        (self.head.slice(kept.start..kept.head), self.in_tail(kept.tail..kept.end))
    }

    /// Returns the size of the input. Only the needed figures are accurate.
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

    /// Returns the truncated text as well-formed UTF-16.
    pub fn compose(&self, cut: &Clamped) -> Vec<u16> {
        let (head, tail) = self.parts(cut.kept);
        let mut text = Vec::with_capacity(head.len() + cut.mid.len() + tail.len());
        head.write(&mut text);
        text.extend(cut.mid.encode_utf16());
        tail.write(&mut text);
        text
    }

    /// Returns the whole text as UTF-8, or the truncated text if `cut` is given.
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

/// The kept parts of a text: from `start` to `head` and from `tail` to `end`. Notices of an earlier cut lie outside
/// `start` and `end`.
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

    /// Returns the spans inside the kept parts.
    pub fn of(self, spans: &[Span]) -> impl Iterator<Item = &Span> {
        let is_in = |span: &Span, part: &Range<usize>| part.start <= span.start && span.end <= part.end;
        spans.iter().filter(move |span| self.parts().iter().any(|part| is_in(span, part)))
    }
}

/// The kept parts of a text and the notice between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clamped {
    pub kept: Kept,
    /// The notice with its separators.
    pub mid: String,
    /// Lengths of the separators before and after the notice, in bytes of `mid`.
    pub separators: (usize, usize),
    /// The requested part, [`Keep::Auto`] resolved.
    pub keep: Keep,
    /// Sizes of the kept head and tail in the output.
    pub sizes: [Size; 2],
    /// Chars before the head and after the tail.
    pub around: [usize; 2],
}

/// Returns the input bytes behind ranges of chars, in order. An invalid sequence is one char, and counts with its
/// original length.
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

/// Returns the size of a piece of the input, in which ill-formed bytes count as they are.
pub fn raw_size<T: Text>(text: T) -> Size {
    let size = text.size();
    if T::UTF16 { size } else { Size { bytes: text.len(), ..size } }
}
