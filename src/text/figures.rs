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
        !T::UTF16 || self.earlier.in_bytes && self.source.is_whole()
    }

    /// Figures for the most that limits could keep.
    pub fn at_least(&self, limits: &Limits, needs: Needs) -> Counts {
        let most = limits.bytes.min(limits.chars);
        let totals = self.source.size(needs);
        let beside = self.source.beside;
        let amount = |total: usize, beside: usize| Amount {
            omitted: (total.saturating_sub(most) + beside).max(self.earlier.hidden).max(1),
            total: total + beside,
        };
        Counts {
            chars: amount(totals.chars, beside.chars),
            bytes: amount(totals.bytes, beside.bytes),
            ..Counts::default()
        }
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
            bytes: self.amount(kept, totals.bytes, size.bytes, beside.bytes, |span| span.size.bytes),
            ..Counts::default()
        };
        if needs.lines {
            let lines = KeptLines::of(self.source, kept, totals);
            counts.lines = Amount {
                omitted: lines.total - lines.kept() + beside.newlines,
                total: lines.total + beside.newlines,
            };
            counts.kept_lines = line_ranges([(1, lines.head), (lines.first_of_tail, lines.total)]);
        }
        counts
    }

    /// What is missing of a total of which `size` is kept; `of` measures marks and notices in the same unit.
    fn amount(&self, kept: Kept, total: usize, size: usize, beside: usize, of: fn(&Span) -> usize) -> Amount {
        let size = size.saturating_sub(kept.of(self.source.marks).map(of).sum());
        let omitted = total.saturating_sub(size);
        if self.earlier.hidden == 0 {
            return Amount { omitted: omitted + beside, total: total + beside };
        }
        let notices: usize = self.earlier.spans.iter().map(of).sum();
        let original = (total.saturating_sub(notices) + self.earlier.hidden).max(total);
        let of_original =
            original.saturating_sub(size.saturating_sub(kept.of(&self.earlier.spans).map(of).sum()));
        Amount { omitted: of_original.max(omitted) + beside, total: original + beside }
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
        let none = KeptLines { head: 0, first_of_tail: lines.total + 1, ..lines };
        (size, if size.chars == 0 { none } else { lines })
    }
}

/// Which lines of a text are kept, whole or in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLines {
    /// Lines of the head.
    pub head: usize,
    /// Number of the first line of the tail; past the last when there is none.
    pub first_of_tail: usize,
    pub total: usize,
}

impl KeptLines {
    pub fn of<T: Text>(source: &Source<T>, kept: Kept, totals: Size) -> KeptLines {
        let open = |text: T| !text.is_empty() && !text.ends_with_newline();
        let (head, tail) = source.parts(kept);
        let total = totals.lines(source.is_open());
        KeptLines {
            head: head.size().lines(open(head)),
            first_of_tail: total + 1 - tail.size().lines(open(tail)),
            total,
        }
    }

    /// How many; a line of which both parts keep something counts once.
    pub fn kept(&self) -> usize {
        let shared = usize::from(self.first_of_tail <= self.head);
        self.head + (self.total + 1 - self.first_of_tail) - shared
    }
}
