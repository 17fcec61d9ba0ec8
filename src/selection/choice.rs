//! Chooses the units to keep within limits: both ends, the best findings, then more of the ends.

use std::ops::RangeInclusive;

use super::shelf::Finding;
use super::unit::Unit;
use crate::limits::{Limits, Usage};

use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::relevance::Lines;

/// A gap costs a reader the room of so many marks.
const GAP: usize = 3;

/// Shares of the room for the lines that state results, for what precedes the last of them, for findings on their own,
/// and, of what is left after these, for the lines around them.
const TALLIES: f64 = 0.15;
const BEFORE_TALLY: f64 = 0.16;
const LINES: f64 = 0.3;
const AROUND: f64 = 0.5;

/// A unit that can be kept.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub unit: Unit,
    pub text: &'a [u8],
}

impl Piece<'_> {
    /// Measures the text. Most is ASCII, of which all is known.
    pub fn text_size(&self) -> Size {
        let Piece { unit, text } = self;
        if unit.chars != text.len() {
            return Utf8(text).size();
        }
        Size { bytes: text.len(), chars: text.len(), newlines: usize::from(unit.ends_line), broken: 0 }
    }

    /// Returns the unit's share of the limits. `last` is the number of the text's last unit.
    pub fn size(&self, last: usize, limits: &Limits) -> Usage {
        // A last line without a newline counts as a line too.
        let lines = usize::from(self.unit.ends_line || self.unit.number == last);
        Usage { lines, ..Extent::sized(Utf8(self.text), self.text_size(), limits).usage() }
    }
}

/// The units kept so far.
#[derive(Debug)]
pub struct Choice<'a> {
    pieces: &'a [Piece<'a>],
    /// The size of each piece.
    sizes: &'a [Usage],
    kept: Vec<bool>,
    /// Numbers of the first and the last unit of the text.
    units: RangeInclusive<usize>,
    taken: Usage,
    /// Runs of omitted units, and the maximum size of a mark.
    gaps: usize,
    mark: Usage,
    /// All room, and the part of it that may be used at present.
    whole: Limits,
    room: Limits,
}

impl<'a> Choice<'a> {
    /// Starts an empty choice. `pieces` are in order, each with its size. `units` are the numbers of the text's first
    /// and last unit.
    pub fn new(
        pieces: &'a [Piece<'a>],
        sizes: &'a [Usage],
        units: RangeInclusive<usize>,
        mark: Usage,
        room: Limits,
    ) -> Self {
        Choice {
            pieces,
            sizes,
            kept: vec![false; pieces.len()],
            units,
            taken: Usage::default(),
            gaps: 1,
            mark,
            whole: room,
            room,
        }
    }

    /// Keeps the start and the end, each up to its share of the room.
    pub fn keep_ends(&mut self, [head, tail]: [f64; 2]) {
        self.within(head, Choice::grow_head);
        self.within(tail, |choice| choice.grow_back(*choice.units.end()));
    }

    /// Keeps the lines that state results, given the last one first, and what precedes the last one.
    pub fn keep_tallies(&mut self, tallies: &[usize]) {
        self.within(TALLIES, |choice| {
            for tally in tallies {
                choice.keep_all(*tally..=*tally);
            }
        });
        if let Some(last) = tallies.first() {
            self.within(BEFORE_TALLY, |choice| choice.grow_back(*last));
        }
    }

    /// Keeps findings, given in order of their worth: first their lines alone, then the lines close to them and their
    /// headings, then more lines alone, then more of what is around. Returns true if any is kept.
    pub fn keep_findings(&mut self, findings: &[&Finding]) -> bool {
        let lines = |choice: &mut Self| {
            for finding in findings {
                choice.keep_all(finding.unit..=finding.unit);
            }
        };
        self.within(LINES, lines);
        let kept: Vec<_> = findings.iter().filter(|finding| self.has(finding.unit)).collect();
        for finding in &kept {
            if let Some(heading) = finding.heading {
                self.keep_all(heading..=heading);
            }
            self.keep_all(finding.first..=finding.last);
        }
        lines(self);
        let left = self.room.less(self.used()).share(AROUND);
        self.within_limits(&left, |choice| {
            for finding in &kept {
                let before = (finding.around.0..finding.unit).rev();
                before.take_while(|number| choice.keep_number(*number)).for_each(drop);
                (finding.unit + 1..=finding.around.1)
                    .take_while(|number| choice.keep_number(*number))
                    .for_each(drop);
            }
        });
        findings.iter().any(|finding| self.has(finding.unit))
    }

    /// Takes a step that may use this share of all room.
    fn within(&mut self, share: f64, step: impl FnOnce(&mut Self)) {
        self.within_limits(&self.whole.share(share), step);
    }

    fn within_limits(&mut self, most: &Limits, step: impl FnOnce(&mut Self)) {
        let room = self.room;
        self.room = room.at_most(self.used(), most);
        step(self);
        self.room = room;
    }

    fn has(&self, number: usize) -> bool {
        self.index(number).is_some_and(|at| self.kept[at])
    }

    fn keep_number(&mut self, number: usize) -> bool {
        self.index(number).is_some_and(|at| self.keep(at))
    }

    /// Gives the remaining room to what precedes the last tally, to the end, to the start, then to pieces smaller than
    /// the mark that would replace them.
    pub fn keep_rest(&mut self, tally: Option<usize>) {
        for last in tally.into_iter().chain([*self.units.end()]) {
            self.grow_back(last);
        }
        self.grow_head();
        for at in 0..self.pieces.len() {
            if !self.kept[at] && self.has_kept_before(at) && self.has_kept_after(at) {
                self.keep(at);
            }
        }
    }

    /// Iterates over the kept pieces, in order.
    pub fn kept(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.pieces.iter().zip(&self.kept).filter(|(_, kept)| **kept).map(|(piece, _)| piece)
    }

    /// Keeps pieces from the start, as far as they fit.
    fn grow_head(&mut self) {
        let mut next = self.index(*self.units.start());
        while let Some(at) = next.filter(|at| self.keep(*at)) {
            next = self.after(at);
        }
    }

    /// Keeps a piece and those before it, as far as they fit.
    fn grow_back(&mut self, last: usize) {
        let mut next = self.index(last);
        while let Some(at) = next.filter(|at| self.keep(*at)) {
            next = self.before(at);
        }
    }

    fn keep_all(&mut self, numbers: RangeInclusive<usize>) -> bool {
        let start = self.pieces.partition_point(|piece| piece.unit.number < *numbers.start());
        let end = self.pieces.partition_point(|piece| piece.unit.number <= *numbers.end());
        let (taken, gaps) = (self.taken, self.gaps);
        let news: Vec<usize> = (start..end).filter(|&at| !self.kept[at]).collect();
        for &at in &news {
            self.add(at);
        }
        if !news.is_empty() && self.fits() {
            return true;
        }
        for at in &news {
            self.kept[*at] = false;
        }
        (self.taken, self.gaps) = (taken, gaps);
        false
    }

    fn keep(&mut self, at: usize) -> bool {
        if self.kept[at] {
            return true;
        }
        let (taken, gaps) = (self.taken, self.gaps);
        self.add(at);
        if !self.fits() {
            self.kept[at] = false;
            (self.taken, self.gaps) = (taken, gaps);
        }
        self.kept[at]
    }

    fn add(&mut self, at: usize) {
        // A piece between two kept ones closes a gap. A piece apart from kept ones splits a gap in two.
        match (self.has_kept_before(at), self.has_kept_after(at)) {
            (true, true) => self.gaps -= 1,
            (false, false) => self.gaps += 1,
            _ => {}
        }
        self.kept[at] = true;
        self.taken = self.taken.plus(self.sizes[at]);
    }

    fn fits(&self) -> bool {
        self.used().within(&self.room)
    }

    /// Returns what the kept units and the marks between them take.
    fn used(&self) -> Usage {
        self.taken.plus(self.marks(self.gaps))
    }

    fn marks(&self, gaps: usize) -> Usage {
        self.mark.zip(self.mark, |mark, _| mark * gaps)
    }

    /// Returns true if nothing is omitted directly before a piece.
    fn has_kept_before(&self, at: usize) -> bool {
        self.pieces[at].unit.number == *self.units.start() || self.before(at).is_some_and(|at| self.kept[at])
    }

    fn has_kept_after(&self, at: usize) -> bool {
        self.pieces[at].unit.number == *self.units.end() || self.after(at).is_some_and(|at| self.kept[at])
    }

    /// Returns the piece directly before another, if it is stored.
    fn before(&self, at: usize) -> Option<usize> {
        at.checked_sub(1).filter(|before| self.pieces[*before].unit.number + 1 == self.pieces[at].unit.number)
    }

    fn after(&self, at: usize) -> Option<usize> {
        let number = self.pieces[at].unit.number;
        self.pieces.get(at + 1).filter(|next| next.unit.number == number + 1).map(|_| at + 1)
    }

    fn index(&self, number: usize) -> Option<usize> {
        self.pieces.binary_search_by_key(&number, |piece| piece.unit.number).ok()
    }
}

impl Lines for Choice<'_> {
    fn is_kept(&self, at: usize) -> bool {
        self.kept[at]
    }

    fn around(&self, at: usize) -> RangeInclusive<usize> {
        self.before(at).unwrap_or(at)..=self.after(at).unwrap_or(at)
    }

    fn cost(&self, lines: RangeInclusive<usize>) -> u64 {
        let new = lines.clone().filter(|at| !self.kept[*at]).map(|at| self.sizes[at]);
        let size = new.fold(Usage::default(), Usage::plus);
        let is_apart = !self.has_kept_before(*lines.start());
        let closes = self.has_kept_after(*lines.end());
        let mark = if is_apart && !closes { self.marks(GAP) } else { Usage::default() };
        self.room.load(size.plus(mark))
    }

    fn keep(&mut self, lines: RangeInclusive<usize>) -> bool {
        let number = |at: usize| self.pieces[at].unit.number;
        self.keep_all(number(*lines.start())..=number(*lines.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::score::Score;
    use super::super::shelf::Worth;
    use super::*;

    /// Chooses from 20 lines of 10 bytes, of which lines 4 to 7 are no longer stored.
    fn kept(room: usize, finding: RangeInclusive<usize>) -> Vec<usize> {
        let units = (0..20).map(|number| Unit {
            number,
            char: number * 10,
            line: number,
            bytes: 10,
            chars: 10,
            foreign: Default::default(),
            ends_line: true,
        });
        let text = [b'x'; 10];
        let pieces: Vec<_> = units
            .filter(|unit| !(4..8).contains(&unit.number))
            .map(|unit| Piece { unit, text: &text })
            .collect();
        let mark = Usage { bytes: 5, lines: 1, chars: 5, tokens: 0 };
        let room = Limits { bytes: room, ..Limits::NONE };
        let sizes: Vec<_> = pieces.iter().map(|piece| piece.size(19, &room)).collect();
        let mut choice = Choice::new(&pieces, &sizes, 0..=19, mark, room);
        choice.keep_ends([0.15, 0.3]);
        let (first, last) = (*finding.start(), *finding.end());
        choice.keep_findings(&[&Finding {
            unit: first + 1,
            worth: Worth::of(Score(20), Default::default()),
            first,
            last,
            around: (first, last),
            heading: None,
        }]);
        choice.keep_rest(None);
        choice.kept().map(|piece| piece.unit.number).collect()
    }

    #[test]
    fn ends_get_their_share_and_the_remainder() {
        assert_eq!(kept(100, 10..=12), [0, 10, 11, 12, 15, 16, 17, 18, 19]);
        assert_eq!(kept(1_000, 10..=12), [0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn findings_too_large_with_context_are_kept_with_less() {
        assert_eq!(kept(60, 8..=14), [8, 9, 17, 18, 19]);
        assert_eq!(kept(12, 8..=14), Vec::<usize>::new());
    }
}
