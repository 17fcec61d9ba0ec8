//! Chooses the units to keep within limits: both ends, the best findings, then more of the ends.

use std::ops::RangeInclusive;

use super::shelf::Finding;
use super::unit::Unit;
use crate::limits::{Limits, Usage};

use crate::encoding::Utf8;
use crate::extent::Extent;
use crate::relevance::Lines;

/// A gap costs a reader the room of so many marks.
const GAP: usize = 3;

/// A unit that can be kept.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub unit: Unit,
    pub text: &'a [u8],
}

impl Piece<'_> {
    /// Returns the unit's share of the limits. `last` is the number of the text's last unit.
    pub fn size(&self, last: usize, limits: &Limits) -> Usage {
        // A last line without a newline counts as a line too.
        let lines = usize::from(self.unit.ends_line || self.unit.number == last);
        Usage { lines, ..Extent::of(Utf8(self.text), limits).usage() }
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
            room,
        }
    }

    /// Keeps the start and the end, each up to its share of the room.
    pub fn keep_ends(&mut self, [head, tail]: [f64; 2]) {
        let before = self.taken;
        self.grow_head(&self.room.share(head), before);
        let before = self.taken;
        self.grow_tail(&self.room.share(tail), before);
    }

    /// Keeps units, each alone, up to a share of the room.
    pub fn keep_within(&mut self, numbers: impl Iterator<Item = usize>, share: f64) {
        let (before, most) = (self.taken, self.room.share(share));
        for number in numbers {
            self.grow_at(number, &most, before);
        }
    }

    /// Keeps a finding with the lines around it, or alone if those do not fit. Returns true if it is kept.
    pub fn keep_finding(&mut self, finding: &Finding) -> bool {
        self.keep_all(finding.first..=finding.last)
            || self.keep_all(finding.unit..=finding.unit)
            || self.has(finding.unit)
    }

    /// Keeps the headings of findings, as far as there is room.
    pub fn keep_headings(&mut self, findings: &[&Finding]) {
        for heading in findings.iter().filter_map(|finding| finding.heading) {
            self.keep_all(heading..=heading);
        }
    }

    /// Gives half of the remaining room to the lines around the findings, nearest first.
    pub fn widen(&mut self, findings: &[&Finding]) {
        let left = self.room.less(self.taken.plus(self.marks(self.gaps)));
        let room = left.share(0.5);
        let before = self.taken;
        for finding in findings {
            for number in (finding.around.0..finding.unit).rev() {
                if !self.grow_at(number, &room, before) {
                    break;
                }
            }
            for number in finding.unit + 1..=finding.around.1 {
                if !self.grow_at(number, &room, before) {
                    break;
                }
            }
        }
    }

    fn has(&self, number: usize) -> bool {
        self.index(number).is_some_and(|at| self.kept[at])
    }

    fn grow_at(&mut self, number: usize, most: &Limits, before: Usage) -> bool {
        self.index(number).is_some_and(|at| self.grow(at, most, before))
    }

    /// Gives the remaining room to the end, then to the start, then to pieces smaller than the mark that would replace
    /// them.
    pub fn keep_rest(&mut self) {
        let room = self.room;
        self.grow_tail(&room, Usage::default());
        self.grow_head(&room, Usage::default());
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

    /// Keeps pieces from the start until those added since `before` would exceed `most`.
    fn grow_head(&mut self, most: &Limits, before: Usage) {
        let in_order = |(at, piece): (usize, &Piece)| piece.unit.number == self.units.start() + at;
        let known = self.pieces.iter().enumerate().take_while(|piece| in_order(*piece)).count();
        for at in 0..known {
            if !self.grow(at, most, before) {
                return;
            }
        }
    }

    fn grow_tail(&mut self, most: &Limits, before: Usage) {
        for (back, at) in (0..self.pieces.len()).rev().enumerate() {
            if self.pieces[at].unit.number + back != *self.units.end() || !self.grow(at, most, before) {
                return;
            }
        }
    }

    fn grow(&mut self, at: usize, most: &Limits, before: Usage) -> bool {
        self.kept[at] || self.taken.plus(self.sizes[at]).minus(before).within(most) && self.keep(at)
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
        self.taken.plus(self.marks(self.gaps)).within(&self.room)
    }

    fn marks(&self, gaps: usize) -> Usage {
        self.mark.zip(self.mark, |mark, _| mark * gaps)
    }

    /// Returns true if nothing is omitted directly before a piece.
    fn has_kept_before(&self, at: usize) -> bool {
        let number = self.pieces[at].unit.number;
        number == *self.units.start()
            || at > 0 && self.kept[at - 1] && self.pieces[at - 1].unit.number + 1 == number
    }

    fn has_kept_after(&self, at: usize) -> bool {
        let number = self.pieces[at].unit.number;
        let next = self.pieces.get(at + 1);
        number == *self.units.end()
            || next.is_some_and(|next| self.kept[at + 1] && next.unit.number == number + 1)
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
        let number = |at: usize| self.pieces[at].unit.number;
        let first = at.checked_sub(1).filter(|before| number(*before) + 1 == number(at));
        let last =
            Some(at + 1).filter(|after| *after < self.pieces.len() && number(at) + 1 == number(*after));
        first.unwrap_or(at)..=last.unwrap_or(at)
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
        let worth = Worth::of(Score(20), 0);
        choice.keep_finding(&Finding {
            unit: first + 1,
            first,
            last,
            around: (first, last),
            heading: None,
            worth,
        });
        choice.keep_rest();
        choice.kept().map(|piece| piece.unit.number).collect()
    }

    #[test]
    fn ends_get_their_share_and_the_remainder() {
        assert_eq!(kept(100, 10..=12), [0, 10, 11, 12, 15, 16, 17, 18, 19]);
        assert_eq!(kept(1_000, 10..=12), [0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn findings_too_large_with_context_are_kept_alone() {
        assert_eq!(kept(60, 8..=14), [9, 16, 17, 18, 19]);
        assert_eq!(kept(12, 8..=14), Vec::<usize>::new());
    }
}
