//! The figures that a notice names: what is missing of a text, and of the original that it was cut from.

use std::ops::Range;

use super::amounts::{Amount, Counts, Needs, line_ranges};
use super::earlier::{Closing, Earlier, SEARCHED, Told};
use super::lines::Span;
use super::size::Size;
use super::source::{Kept, Source, raw_size};
use super::units::Text;
use crate::limits::Limits;

#[derive(Clone, Copy, Debug)]
pub struct Figures<'a, T> {
    pub source: &'a Source<'a, T>,
    pub earlier: &'a Earlier,
    pub closing: Option<Closing>,
}

impl<T: Text> Figures<'_, T> {
    /// Whether the text is counted in bytes: as it was when it was cut before, or because it came as bytes. A text that
    /// is not here whole, or too long to be looked through, goes by what it came as.
    pub fn in_bytes(&self) -> bool {
        let looked_through = self.source.is_whole() && self.source.total <= SEARCHED;
        if looked_through && self.earlier.told != Told::default() {
            self.earlier.in_bytes()
        } else {
            self.source.in_bytes()
        }
    }

    /// Figures for the most that limits could keep.
    pub fn at_least(&self, limits: &Limits, needs: Needs) -> Counts {
        Counts::at_least(self.source.size(needs), self.source.beside, self.earlier.hidden(), limits)
    }

    /// Figures for what is kept; those that are not needed may be untrue.
    pub fn of(&self, kept: Kept, needs: Needs) -> Counts {
        let (totals, beside) = (self.source.size(needs), self.source.beside);
        let (head, tail) = self.source.parts(kept);
        let in_units = !needs.lines && if T::UTF16 { !needs.bytes } else { !needs.chars };
        let size = if in_units {
            let units = head.len() + tail.len();
            Size { chars: units, bytes: units, ..Size::default() }
        } else {
            raw_size(head) + raw_size(tail)
        };
        let marks = kept.of(self.source.marks).fold(Size::default(), |sum, mark| sum + mark.size);
        let bytes = match self.source.input.filter(|_| needs.bytes) {
            // What is kept of the input holds no mark.
            Some(input) => input.bytes_of(&kept.parts()),
            None => size.bytes.saturating_sub(marks.bytes),
        };
        let chars = size.chars.saturating_sub(marks.chars);
        let mut counts = Counts {
            chars: self.amount(kept, totals.chars, chars, beside.chars, |size| size.chars),
            bytes: self.amount(kept, totals.bytes, bytes, beside.bytes, |size| size.bytes),
            ..Counts::default()
        };
        if needs.lines {
            let (_, lines) = self.source.kept(kept);
            let missing = lines.total - lines.kept();
            let total = self.closing.map_or(lines.total, |closing| {
                let shown =
                    lines.total - self.source.in_tail(closing.start..self.source.total).size().newlines;
                lines.total.max(closing.lines(shown))
            });
            counts.lines = Amount {
                omitted: missing + (total - lines.total) + beside.newlines,
                total: total + beside.newlines,
            };
            counts.kept_lines = line_ranges(lines.ranges);
        }
        counts
    }

    /// What is missing of a total of which `size` is kept, marks not counted; `of` tells what notices take of it.
    fn amount(&self, kept: Kept, total: usize, size: usize, beside: usize, of: fn(Size) -> usize) -> Amount {
        let sum = |spans: &mut dyn Iterator<Item = &Span>| spans.map(|span| of(span.size)).sum();
        let cutting = Cutting {
            total,
            kept: size,
            beside,
            hidden: of(self.earlier.hidden()),
            notices: sum(&mut self.earlier.spans.iter()),
            kept_notices: sum(&mut kept.of(&self.earlier.spans)),
        };
        cutting.amount()
    }
}

/// Chars of the text that this one was cut from, as its notices tell; its own where there are none.
pub fn original_chars<T: Text>(source: &Source<T>) -> usize {
    let earlier = Earlier::find(source.head, source.tail, source.total);
    let notices = earlier.spans.iter().map(|span| span.size.chars).sum();
    let total = source.size(Needs { chars: true, ..Needs::default() }).chars;
    Cutting { total, hidden: earlier.hidden().chars, notices, ..Cutting::default() }.amount().total
}

impl Counts {
    /// Figures for the most that limits could keep of a text, of which `hidden` was missing before.
    pub fn at_least(totals: Size, beside: Size, hidden: Size, limits: &Limits) -> Counts {
        let most = limits.bytes.min(limits.chars);
        let amount = |of: fn(Size) -> usize| {
            let [total, beside, hidden] = [totals, beside, hidden].map(of);
            Cutting { total, beside, hidden, ..Cutting::default() }.at_least(most)
        };
        Counts { chars: amount(|size| size.chars), bytes: amount(|size| size.bytes), ..Counts::default() }
    }
}

/// One amount of a text that is cut, in chars or bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cutting {
    pub total: usize,
    /// What is kept of it, marks of ours not counted.
    pub kept: usize,
    /// Text that is left out beside it.
    pub beside: usize,
    /// What notices of earlier cuts say is missing already, and what they take of the text and of what is kept.
    pub hidden: usize,
    pub notices: usize,
    pub kept_notices: usize,
}

impl Cutting {
    /// What is missing, of the original where the text was cut before.
    pub fn amount(&self) -> Amount {
        let omitted = self.total.saturating_sub(self.kept);
        if self.hidden == 0 {
            return Amount { omitted: omitted + self.beside, total: self.total + self.beside };
        }
        let original = (self.total.saturating_sub(self.notices) + self.hidden).max(self.total);
        let of_original = original.saturating_sub(self.kept.saturating_sub(self.kept_notices));
        Amount { omitted: of_original.max(omitted) + self.beside, total: original + self.beside }
    }

    /// What is missing where `most` of the text could be kept.
    pub fn at_least(&self, most: usize) -> Amount {
        let omitted = self.total.saturating_sub(most) + self.beside;
        Amount { omitted: omitted.max(self.hidden).max(1), total: self.total + self.beside }
    }
}

impl<T: Text> Source<'_, T> {
    /// What is kept of the input: its size, marks not counted, and its lines.
    pub fn kept(&self, kept: Kept) -> (Size, KeptLines) {
        let (head, tail) = self.parts(kept);
        let size = raw_size(head) + raw_size(tail);
        let marks = kept.of(self.marks).fold(Size::default(), |sum, mark| sum + mark.size);
        let size = Size { bytes: size.bytes - marks.bytes, chars: size.chars - marks.chars, ..size };
        (size, KeptLines::of(self, kept, self.size(Needs::ALL)))
    }

    /// The same where nothing is left out but what marks stand for.
    pub fn kept_whole(&self) -> (Size, KeptLines) {
        self.kept(Kept::all(self.total))
    }
}

/// Which lines of a text are kept, whole or in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptLines {
    /// First and last, counted from 1, in order. Two ranges may share a line of which both keep a part.
    pub ranges: Vec<(usize, usize)>,
    pub total: usize,
}

impl KeptLines {
    /// A line of which nothing but a mark is left is not kept.
    pub fn of<T: Text>(source: &Source<T>, kept: Kept, totals: Size) -> KeptLines {
        let is_open = |part: &Range<usize>, text: T| {
            let mark = source.marks.iter().find(|mark| mark.end == part.end);
            let end = mark.map_or(text.len(), |mark| mark.start.max(part.start) - part.start);
            let text = text.slice(0..end);
            !text.is_empty() && !text.ends_with_newline()
        };
        let (head, tail) = source.parts(kept);
        let [head_part, tail_part] = kept.parts();
        let before = source.head.slice(0..kept.start).size().newlines;
        let after = source.in_tail(kept.end..source.total).size().newlines;
        let (breaks, end) = (tail.size().newlines, totals.newlines - after);
        let ranges = [
            (before + 1, before + head.size().lines(is_open(&head_part, head))),
            (end - breaks + 1, end + usize::from(is_open(&tail_part, tail))),
        ];
        let total = totals.lines(source.is_open());
        KeptLines { ranges: ranges.into_iter().filter(|(first, last)| first <= last).collect(), total }
    }

    /// How many; a line of which two ranges keep a part counts once.
    pub fn kept(&self) -> usize {
        let mut last = 0;
        let news = |&(start, end): &(usize, usize)| {
            let news = (end + 1).saturating_sub(start.max(last + 1));
            last = last.max(end);
            news
        };
        self.ranges.iter().map(news).sum()
    }
}
