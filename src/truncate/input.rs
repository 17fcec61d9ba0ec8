//! A text to be truncated.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::closing::Closing;
use super::long_lines::CutLines;
use super::pass::Found;
use super::sides::Sides;
use crate::encoding::{PIECE, Size, StringPiece, Text, Utf8, Utf16};
use crate::extent::Extent;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::notice::Notice;
use crate::notice::counts::NeededCounts;
use crate::notice::earlier::{EarlierNotices, NoticeAmounts};
use crate::notice::saved::SavedPart;
use crate::notice::span::Span;

/// A text to be truncated: the whole text, or as much of both ends as any cut can keep.
#[derive(Clone, Copy)]
pub struct Input<'a, T> {
    pub(crate) head: T,
    pub(crate) tail: T,
    /// Units of the whole text.
    pub(crate) total: usize,
    /// Reads the whole text if `head` and `tail` are only its ends.
    pub(crate) pieces: Option<Pieces<'a>>,
    /// Chars of the whole text, if they cannot be counted in `head`.
    pub(crate) chars: Option<usize>,
    /// Size of the input, if it is known or differs from `head`.
    pub(crate) totals: Option<Size>,
    /// Marks in lines that were truncated.
    pub(crate) marks: &'a [Span],
    /// Notices in the text are part of it: it was not cut before.
    pub(crate) fresh: bool,
    /// The notices of earlier cuts, once they were looked for.
    pub(crate) earlier: Option<&'a EarlierNotices>,
    /// Measures the input bytes of parts of the text, given in chars, if the notice counts those.
    pub(crate) bytes_of: Option<BytesOf<'a>>,
    /// Size of the dropped blocks that the notice also counts. Its newlines are lines.
    pub(crate) beside: Size,
    /// Size of the text that is kept beside this one, which the total of the notice includes.
    pub(crate) apart: Size,
    /// The saved output that these name.
    pub(crate) named: Option<&'a SavedPart>,
    /// Maximum chars searched for findings, most of them at the end.
    pub(crate) most_searched: usize,
    /// The search of the whole text, which several cuts share.
    pub(crate) found: Option<&'a OnceCell<Arc<Found>>>,
    /// The text is the JSON of data that is shortened in place. A cut of it only says how much room
    /// that has, so it takes all of the room.
    pub(crate) is_data: bool,
}

/// Passes a text on in pieces until `false` is returned. No piece ends inside a surrogate pair.
pub type Pieces<'a> = &'a dyn Fn(&mut dyn FnMut(StringPiece) -> bool);

/// Returns the input bytes behind parts of a text.
pub type BytesOf<'a> = &'a dyn Fn(&[Range<usize>]) -> usize;

impl StringPiece<'_> {
    pub fn extent(self, limits: &Limits) -> Extent {
        match self {
            StringPiece::Narrow(text) => Extent::of(text, limits),
            StringPiece::Wide(text) => Extent::of(text, limits),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Input<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Input { head, tail, total, totals, marks, .. } = self;
        f.debug_tuple("Input").field(head).field(tail).field(total).field(totals).field(marks).finish()
    }
}

impl<'a, T: Text> Input<'a, T> {
    pub fn whole(text: T) -> Self {
        Input {
            head: text,
            tail: text,
            total: text.len(),
            pieces: None,
            chars: None,
            totals: None,
            marks: &[],
            fresh: false,
            earlier: None,
            bytes_of: None,
            beside: Size::default(),
            apart: Size::default(),
            named: None,
            most_searched: UNLIMITED,
            found: None,
            is_data: false,
        }
    }

    /// Creates an input from both ends of a text of `total` units. Each end must exceed the limits
    /// on bytes or chars. A `head` of `total` units is the whole text, and `tail` is then ignored.
    pub fn ends(head: T, tail: T, total: usize) -> Self {
        if head.len() == total { Input::whole(head) } else { Input { tail, total, ..Input::whole(head) } }
    }

    /// Sets a reader of the whole text.
    pub fn with_pieces(self, pieces: Pieces<'a>, most_searched: usize) -> Self {
        Input { pieces: Some(pieces), most_searched, ..self }
    }

    /// Sets the place of the search, which may have been done.
    pub fn with_found(self, found: &'a OnceCell<Arc<Found>>) -> Self {
        let size = found.get().map(|found| found.size());
        Input { found: Some(found), totals: self.totals.or(size), ..self }
    }

    /// Sets the size of the input, which differs from that of the text if its lines were truncated.
    pub fn with_totals(self, totals: Size) -> Self {
        Input { totals: Some(totals), ..self }
    }

    /// Sets the marks of truncated lines, which are not part of the input.
    pub fn with_marks(self, marks: &'a [Span]) -> Self {
        Input { marks, ..self }
    }

    /// Marks the JSON of data that is shortened in place.
    pub fn of_data(self, is_data: bool) -> Self {
        Input { is_data, ..self }
    }

    /// Disables the search for earlier notices.
    pub fn fresh(self) -> Self {
        Input { fresh: true, ..self }
    }

    /// Adds text omitted beside this one to the amounts of the notice, and the saved output that it
    /// names.
    pub fn beside(self, size: Size, named: &'a SavedPart) -> Self {
        Input { beside: size, named: Some(named), ..self }
    }

    /// Adds the size of the text if the notice needs it and it is not known yet.
    pub fn measured(self, notice: &Notice) -> Self {
        let needs = notice.needs(self.in_bytes());
        let known = self.is_whole() || self.pieces.is_none() || !needs.bytes && !needs.lines;
        Input { totals: if known { self.totals } else { Some(self.size(needs)) }, ..self }
    }

    /// Returns true if the notice counts bytes.
    pub fn in_bytes(&self) -> bool {
        !T::UTF16 || self.bytes_of.is_some()
    }

    pub fn is_whole(&self) -> bool {
        self.head.len() == self.total
    }

    /// Returns the extent of the text. For an incomplete text, it exceeds the limits on bytes or
    /// chars.
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
        limits.exceeded(self.usage(limits))
    }

    /// Returns the usage of the limits, counted only until all set limits are known to be exceeded.
    pub fn usage(&self, limits: &Limits) -> Usage {
        let least = if T::UTF16 && !self.is_whole() { self.total } else { 0 };
        let mut extent = Extent::default();
        let mut add = |piece: Extent| {
            extent = extent.then(piece);
            let Usage { bytes, lines, chars, tokens } = extent.usage();
            let is_over = |used: usize, limit: usize| used > limit || limit == UNLIMITED;
            !(is_over(bytes.max(least), limits.bytes)
                && is_over(lines, limits.lines)
                && is_over(chars.max(least), limits.chars)
                && is_over(tokens, limits.tokens))
        };
        match (self.totals, self.pieces) {
            // The tokens of a text that is not here whole are unknown if nothing reads it.
            (Some(size), _) if !limits.counts_tokens() => {
                extent = Extent { size, open: self.is_open(), ..extent };
            }
            (_, Some(pieces)) => pieces(&mut |piece| add(piece.extent(limits))),
            _ => {
                let mut at = 0;
                while at < self.head.len() {
                    let end = self.head.floor(self.head.len().min(at + PIECE));
                    if !add(Extent::of(self.head.slice(at..end), limits)) {
                        break;
                    }
                    at = end;
                }
            }
        }
        // If the text is incomplete or modified, its totals are used.
        let whole = self.totals.map(|size| Extent { size, open: self.is_open(), ..extent });
        let Usage { bytes, lines, chars, tokens } = whole.unwrap_or(extent).usage();
        Usage { bytes: bytes.max(least), lines, chars: chars.max(least), tokens }
    }

    /// Returns true if the text is within all limits except the one on single lines.
    pub fn fits(&self, limits: &Limits) -> bool {
        // Each unit is at least one byte, so longer texts need not be measured.
        let least = if T::UTF16 { limits.bytes.min(limits.chars) } else { limits.bytes };
        self.is_whole() && self.total <= least && Extent::of(self.head, limits).fits(limits)
    }

    /// Returns the notices of earlier cuts.
    pub fn earlier(&self) -> Cow<'a, EarlierNotices> {
        match self.earlier {
            Some(earlier) => Cow::Borrowed(earlier),
            None if self.fresh => Cow::default(),
            None => Cow::Owned(EarlierNotices::find(self.head, self.tail, self.total)),
        }
    }

    /// Returns the facts that notices of earlier cuts state.
    pub fn told(&self) -> NoticeAmounts {
        self.earlier().into_owned().told
    }

    /// Returns the closing, in which another tool says how to continue.
    pub fn closing(&self) -> Option<Closing> {
        Closing::find(self.tail, self.total)
    }

    /// Returns the text before a position in the tail.
    pub fn before(&self, end: usize) -> Self {
        let gone = self.total - end;
        let head = self.head.slice(0..self.head.len().min(end));
        let tail = if head.len() == end { head } else { self.tail.slice(0..self.tail.len() - gone) };
        let less = |size| size - raw_size(self.in_tail(end..self.total));
        Input { head, tail, total: end, totals: self.totals.map(less), earlier: None, ..*self }
    }

    /// Returns true if text follows the last newline.
    pub fn is_open(&self) -> bool {
        !self.tail.is_empty() && !self.tail.ends_with_newline()
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
    pub fn parts(&self, sides: Sides) -> (T, T) {
        (self.head.slice(sides.start..sides.head), self.in_tail(sides.tail..sides.end))
    }

    /// Returns the size of the input. Only the needed figures are accurate.
    pub fn size(&self, needs: NeededCounts) -> Size {
        match (self.totals, self.pieces) {
            (Some(totals), _) => totals,
            (None, _) if T::UTF16 && !needs.bytes && !needs.lines => {
                Size { chars: self.total, ..Size::default() }
            }
            (None, _) if !T::UTF16 && !needs.chars && !needs.lines => {
                Size { bytes: self.total, ..Size::default() }
            }
            (None, Some(pieces)) => {
                let mut size = Size::default();
                pieces(&mut |piece| {
                    size = size + piece.size();
                    true
                });
                size
            }
            (None, None) => {
                debug_assert!(self.is_whole(), "a text that is not here whole comes with its totals");
                raw_size(self.head)
            }
        }
    }

    /// Returns the chars of the text.
    pub fn chars(&self) -> usize {
        self.chars.unwrap_or_else(|| if T::UTF16 { self.total } else { self.head.chars() })
    }

    /// Returns the ill-formed code points in the available text.
    pub fn broken(&self) -> usize {
        self.head.broken()
    }

    pub(crate) fn in_tail(&self, part: Range<usize>) -> T {
        let offset = self.total - self.tail.len();
        self.tail.slice(part.start - offset..part.end - offset)
    }
}

impl Input<'_, Utf8<'_>> {
    /// Sets the size of well-formed bytes.
    pub fn with_counts(self, chars: usize, newlines: usize) -> Self {
        let totals = Size { bytes: self.total, chars, newlines, broken: 0 };
        Input { chars: Some(chars), ..self.with_totals(totals) }
    }
}

impl<'a> Input<'a, Utf16<'a>> {
    /// Creates an input from a text with truncated lines. `totals`: the size of that text before.
    pub fn of_lines(lines: &'a CutLines, totals: Size) -> Self {
        Input::whole(Utf16(&lines.text)).with_totals(totals).with_marks(&lines.marks)
    }
}

/// Returns the input bytes behind ranges of chars, in order. An invalid sequence is one char, and
/// counts with its original length.
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
