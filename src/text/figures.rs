//! The figures that a notice names: what is missing of a text, and of the original that it was cut from.

use super::amounts::{Amount, Counts, Needs, line_ranges};
use super::earlier::Earlier;
use super::lines::Span;
use super::size::Size;
use super::source::{Kept, Source, raw_size};
use super::units::Text;
use crate::limits::Limits;

#[derive(Clone, Copy, Debug)]
pub struct Figures<'a, T> {
    pub source: &'a Source<'a, T>,
    pub earlier: &'a Earlier,
}

impl<T: Text> Figures<'_, T> {
    /// Whether the text is counted in bytes: it came as bytes, or was counted so when it was cut before.
    pub fn in_bytes(&self) -> bool {
        self.source.in_bytes() || self.earlier.in_bytes && self.source.is_whole()
    }

    /// Figures for the most that limits could keep.
    pub fn at_least(&self, limits: &Limits, needs: Needs) -> Counts {
        Counts::at_least(self.source.size(needs), self.source.beside, self.earlier.hidden, limits)
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
        let mut counts = Counts {
            chars: self.amount(kept, totals.chars, size.chars, beside.chars, |span| span.size.chars),
            bytes: match self.source.input.filter(|_| needs.bytes) {
                // What is kept of the input holds no mark.
                Some(input) => {
                    let parts = [0..kept.head, kept.tail..self.source.total];
                    let size = input.bytes_of(&parts);
                    self.amount_of_text(kept, totals.bytes, size, beside.bytes, |span| span.size.bytes)
                }
                None => self.amount(kept, totals.bytes, size.bytes, beside.bytes, |span| span.size.bytes),
            },
            ..Counts::default()
        };
        if needs.lines {
            let (_, lines) = self.source.kept(kept);
            counts.lines = Amount {
                omitted: lines.total - lines.kept() + beside.newlines,
                total: lines.total + beside.newlines,
            };
            counts.kept_lines = line_ranges(lines.ranges);
        }
        counts
    }

    /// What is missing of a total of which `size` is kept; `of` measures marks and notices in the same unit.
    fn amount(&self, kept: Kept, total: usize, size: usize, beside: usize, of: fn(&Span) -> usize) -> Amount {
        let size = size.saturating_sub(kept.of(self.source.marks).map(of).sum());
        self.amount_of_text(kept, total, size, beside, of)
    }

    /// The same where `size` holds no mark.
    fn amount_of_text(
        &self,
        kept: Kept,
        total: usize,
        size: usize,
        beside: usize,
        of: fn(&Span) -> usize,
    ) -> Amount {
        let cutting = Cutting {
            total,
            kept: size,
            beside,
            hidden: self.earlier.hidden,
            notices: self.earlier.spans.iter().map(of).sum(),
            kept_notices: kept.of(&self.earlier.spans).map(of).sum(),
        };
        cutting.amount()
    }
}

/// Chars of the text that this one was cut from, as its notices tell; its own where there are none.
pub fn original_chars<T: Text>(source: &Source<T>) -> usize {
    let Earlier { spans, hidden, .. } = Earlier::find(source.head, source.tail, source.total);
    let notices = spans.iter().map(|span| span.size.chars).sum();
    let total = source.size(Needs { chars: true, ..Needs::default() }).chars;
    Cutting { total, hidden, notices, ..Cutting::default() }.amount().total
}

impl Counts {
    /// Figures for the most that limits could keep of a text, of which `hidden` was missing before.
    pub fn at_least(totals: Size, beside: Size, hidden: usize, limits: &Limits) -> Counts {
        let most = limits.bytes.min(limits.chars);
        let amount = |total, beside| Cutting { total, beside, hidden, ..Cutting::default() }.at_least(most);
        Counts {
            chars: amount(totals.chars, beside.chars),
            bytes: amount(totals.bytes, beside.bytes),
            ..Counts::default()
        }
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
        let lines = KeptLines::of(self, kept, self.size(Needs::ALL));
        // Where marks are all that is left, nothing is kept of any line.
        (size, if size.chars == 0 { KeptLines { ranges: vec![], ..lines } } else { lines })
    }

    /// The same where nothing is left out but what marks stand for.
    pub fn kept_whole(&self) -> (Size, KeptLines) {
        self.kept(Kept { head: self.total, tail: self.total })
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
    pub fn of<T: Text>(source: &Source<T>, kept: Kept, totals: Size) -> KeptLines {
        let open = |text: T| !text.is_empty() && !text.ends_with_newline();
        let (head, tail) = source.parts(kept);
        let total = totals.lines(source.is_open());
        let ranges = [(1, head.size().lines(open(head))), (total + 1 - tail.size().lines(open(tail)), total)];
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
