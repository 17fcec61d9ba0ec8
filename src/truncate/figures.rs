//! The figures of a notice: the amounts omitted from a text, and from the original of earlier cuts.

use std::ops::Range;

use super::closing::Closing;
use super::input::{Input, raw_size};
use super::sides::Sides;
use crate::encoding::{Size, Text};
use crate::limits::{Limits, Usage};
use crate::notice::counts::{Amount, Counts, NeededCounts, line_ranges};
use crate::notice::earlier::{EarlierNotices, NoticeAmounts, SEARCHED};
use crate::notice::span::Span;
use crate::selection::reason::Reasons;

#[derive(Clone, Copy, Debug)]
pub struct Figures<'a, T> {
    pub input: &'a Input<'a, T>,
    pub earlier: &'a EarlierNotices,
    pub closing: Option<&'a Closing>,
}

impl<T: Text> Figures<'_, T> {
    /// Returns true if the text is counted in bytes: an earlier cut counted bytes, or the text
    /// arrived as bytes. A text that is incomplete or too long to search is judged only by how it
    /// arrived.
    pub fn in_bytes(&self) -> bool {
        let looked_through = self.input.is_whole() && self.input.total <= SEARCHED;
        if looked_through && self.earlier.told != NoticeAmounts::default() {
            self.earlier.in_bytes()
        } else {
            self.input.in_bytes()
        }
    }

    /// Returns figures for the most text that the limits could keep.
    pub fn at_least(&self, limits: &Limits, needs: NeededCounts) -> Counts {
        let Input { beside, apart, .. } = *self.input;
        Counts::at_least(self.input.size(needs), [beside, apart], self.earlier.hidden(), limits)
    }

    /// Returns figures for the kept parts. Figures that are not needed may be inaccurate.
    pub fn of(&self, sides: Sides, needs: NeededCounts) -> Counts {
        let (totals, beside) = (self.input.size(needs), self.input.beside);
        let (head, tail) = self.input.parts(sides);
        let in_units = !needs.lines && if T::UTF16 { !needs.bytes } else { !needs.chars };
        let size = if in_units {
            let units = head.len() + tail.len();
            Size { chars: units, bytes: units, ..Size::default() }
        } else {
            raw_size(head) + raw_size(tail)
        };
        let marks = sides.of(self.input.marks).fold(Size::default(), |sum, mark| sum + mark.size);
        let bytes = match self.input.bytes_of.filter(|_| needs.bytes) {
            // The kept parts of the input contain no marks.
            Some(bytes_of) => bytes_of(&sides.parts()),
            None => size.bytes.saturating_sub(marks.bytes),
        };
        let chars = size.chars.saturating_sub(marks.chars);
        let mut counts = Counts {
            chars: self.amount(sides, totals.chars, chars, |size| size.chars),
            bytes: self.amount(sides, totals.bytes, bytes, |size| size.bytes),
            ..Counts::default()
        };
        if needs.lines {
            let lines = KeptLines::of(self.input, sides);
            let missing = lines.total - lines.kept();
            let total = self.closing.map_or(lines.total, |closing| {
                let shown = lines.total - closing.text.matches('\n').count();
                lines.total.max(closing.lines(shown))
            });
            counts.lines = Amount {
                omitted: missing + (total - lines.total) + beside.newlines,
                total: total + beside.newlines + self.input.apart.newlines,
            };
            counts.kept_lines = line_ranges(lines.ranges);
        }
        counts
    }

    /// Returns the amount omitted from `total`. `size` is the kept amount without marks, and `of`
    /// selects the unit.
    fn amount(&self, sides: Sides, total: usize, size: usize, of: fn(Size) -> usize) -> Amount {
        let end = self.closing.map_or(0, |closing| of(closing.beside_original()));
        let sum =
            |spans: &mut dyn Iterator<Item = &Span>| end + spans.map(|span| of(span.size)).sum::<usize>();
        let cutting = Omission {
            total,
            kept: size,
            beside: of(self.input.beside),
            apart: of(self.input.apart),
            hidden: of(self.earlier.hidden()),
            notices: sum(&mut self.earlier.spans.iter()),
            kept_notices: sum(&mut sides.of(&self.earlier.spans)),
        };
        cutting.amount()
    }
}

/// The size and the saved name of an original, as notices in a text state them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original {
    /// Chars of the original, or of the text itself if it has no notice.
    pub chars: usize,
    /// Chars that the name of a saved output adds to a notice, with the exit line behind it.
    pub named: usize,
}

impl Original {
    pub fn of<T: Text>(input: &Input<T>) -> Original {
        let earlier = EarlierNotices::find(input.head, input.tail, input.total);
        let notices = earlier.spans.iter().map(|span| span.size.chars).sum();
        let total = input.size(NeededCounts { chars: true, ..NeededCounts::default() }).chars;
        let cutting = Omission { total, hidden: earlier.hidden().chars, notices, ..Omission::default() };
        let saved = earlier.told.saved();
        let line = saved.line().filter(|_| saved.has_line());
        let exit = input.closing().map_or(0, |closing| closing.beside_original().chars);
        let named = exit + line.map_or(0, |line| 1 + line.encode_utf16().count());
        Original { chars: cutting.amount().total, named }
    }

    /// Adds the original of another text of the same result, because a result has one notice.
    pub fn and(self, other: Original) -> Original {
        Original { chars: self.chars + other.chars, named: self.named.max(other.named) }
    }
}

impl Counts {
    /// Returns figures for the most text that the limits could keep, if earlier cuts omitted
    /// `hidden`.
    pub fn at_least(totals: Size, [beside, apart]: [Size; 2], hidden: Size, limits: &Limits) -> Counts {
        let most = limits.bytes.min(limits.chars);
        let amount = |of: fn(Size) -> usize| {
            let [total, beside, apart, hidden] = [totals, beside, apart, hidden].map(of);
            Omission { total, beside, apart, hidden, ..Omission::default() }.at_least(most)
        };
        Counts { chars: amount(|size| size.chars), bytes: amount(|size| size.bytes), ..Counts::default() }
    }
}

/// One amount of a truncated text, in chars or bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Omission {
    pub total: usize,
    /// The kept amount, without our marks.
    pub kept: usize,
    /// The amounts that are omitted and kept beside this text.
    pub beside: usize,
    pub apart: usize,
    /// The amount omitted according to earlier notices, and the amounts that notices take up in the
    /// text and in its kept parts.
    pub hidden: usize,
    pub notices: usize,
    pub kept_notices: usize,
}

impl Omission {
    /// Returns the omitted amount, counted against the original if the text was cut before.
    pub fn amount(&self) -> Amount {
        let omitted = self.total.saturating_sub(self.kept);
        if self.hidden == 0 {
            return self.with_others(omitted, self.total);
        }
        let original = self.total.saturating_sub(self.notices) + self.hidden;
        let omitted = original.saturating_sub(self.kept.saturating_sub(self.kept_notices));
        self.with_others(omitted, original)
    }

    fn with_others(&self, omitted: usize, total: usize) -> Amount {
        Amount { omitted: omitted + self.beside, total: total + self.beside + self.apart }
    }

    /// Returns the least omitted amount if at most `most` of the text can be kept.
    pub fn at_least(&self, most: usize) -> Amount {
        let Amount { omitted, total } = self.with_others(self.total.saturating_sub(most), self.total);
        Amount { omitted: omitted.max(self.hidden).max(1), total }
    }
}

/// The kept parts of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptParts {
    /// Non-empty ranges in chars, in order.
    pub ranges: Vec<Range<usize>>,
    /// Their size, without marks.
    pub size: Size,
    pub lines: KeptLines,
    /// The reasons of lines that a search keeps, if the policy asks for them.
    pub reasons: Option<Reasons>,
}

impl KeptParts {
    /// Returns the size of the parts. A line in two of them counts once.
    pub fn usage(&self) -> Usage {
        Usage { bytes: self.size.bytes, lines: self.lines.kept(), chars: self.size.chars, tokens: 0 }
    }

    pub fn of<T: Text>(input: &Input<T>, sides: Sides) -> KeptParts {
        let (head, tail) = input.parts(sides);
        let marks = sides.of(input.marks).fold(Size::default(), |sum, mark| sum + mark.size);
        let size = raw_size(head) + raw_size(tail);
        let start = input.head.slice(0..sides.start).chars();
        let end = input.chars() - input.in_tail(sides.end..input.total).chars();
        let ranges = [start..start + head.chars(), end - tail.chars()..end];
        KeptParts {
            ranges: ranges.into_iter().filter(|range| !range.is_empty()).collect(),
            size: Size { bytes: size.bytes - marks.bytes, chars: size.chars - marks.chars, ..size },
            lines: KeptLines::of(input, sides),
            reasons: None,
        }
    }
}

impl KeptParts {
    /// Adds the end of the input from `start` on.
    pub fn and_end<T: Text>(mut self, input: &Input<T>, start: usize) -> KeptParts {
        let end = input.in_tail(start..input.total);
        let total = input.chars();
        self.ranges.push(total - end.chars()..total);
        self.size = self.size + raw_size(end);
        let lines = self.lines.total;
        self.lines.ranges.push((lines + 1 - end.size().lines(input.is_open()).max(1), lines));
        self
    }
}

/// The lines of a text that are kept, whole or in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptLines {
    /// First and last line of each range, 1-based, in order. Two ranges share a line if both keep a
    /// part of it.
    pub ranges: Vec<(usize, usize)>,
    pub total: usize,
}

impl KeptLines {
    /// Returns the kept lines. A line with only a mark left is not kept.
    pub fn of<T: Text>(input: &Input<T>, sides: Sides) -> KeptLines {
        let is_open = |part: &Range<usize>, text: T| {
            let mark = input.marks.iter().find(|mark| mark.end == part.end);
            let end = mark.map_or(text.len(), |mark| mark.start.max(part.start) - part.start);
            let text = text.slice(0..end);
            !text.is_empty() && !text.ends_with_newline()
        };
        let totals = input.size(NeededCounts::ALL);
        let (head, tail) = input.parts(sides);
        let [head_part, tail_part] = sides.parts();
        let before = input.head.slice(0..sides.start).size().newlines;
        let after = input.in_tail(sides.end..input.total).size().newlines;
        let (breaks, end) = (tail.size().newlines, totals.newlines - after);
        let ranges = [
            (before + 1, before + head.size().lines(is_open(&head_part, head))),
            (end - breaks + 1, end + usize::from(is_open(&tail_part, tail))),
        ];
        let total = totals.lines(input.is_open());
        KeptLines { ranges: ranges.into_iter().filter(|(first, last)| first <= last).collect(), total }
    }

    /// Returns the number of kept lines. A line shared by two ranges counts once.
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
