//! Chooses what is kept of a search within limits: both ends, the findings that are worth most, and more of the ends.

use std::ops::RangeInclusive;

use super::shelf::Finding;
use super::unit::Unit;
use crate::limits::Limits;
use crate::room::Taken;
use crate::text::extent::Extent;
use crate::text::utf8::Utf8;

/// Parts of the room that the start and the end of a text get before any finding does.
const HEAD_SHARE: f64 = 0.15;
const TAIL_SHARE: f64 = 0.3;

/// A unit that can be kept.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub unit: Unit,
    pub text: &'a [u8],
}

impl Piece<'_> {
    /// What it takes of the limits in a text of which the last unit has this number.
    pub fn size(&self, last: usize, limits: &Limits) -> Taken {
        // A last line that no newline ends is a line too.
        let lines = usize::from(self.unit.ends_line || self.unit.number == last);
        Taken { lines, ..Taken::of(Extent::of(Utf8(self.text), limits)) }
    }
}

/// What is kept so far.
#[derive(Debug)]
pub struct Choice<'a> {
    pieces: &'a [Piece<'a>],
    /// What each piece takes.
    sizes: &'a [Taken],
    kept: Vec<bool>,
    /// Numbers of the first and the last unit of the text.
    units: RangeInclusive<usize>,
    taken: Taken,
    /// Runs of units that are left out, and what a mark for one takes at most.
    gaps: usize,
    mark: Taken,
    room: Limits,
}

impl<'a> Choice<'a> {
    /// Nothing is kept yet. `pieces` are in order, with what each takes; `units` are the numbers of the text's first and
    /// last unit.
    pub fn new(
        pieces: &'a [Piece<'a>],
        sizes: &'a [Taken],
        units: RangeInclusive<usize>,
        mark: Taken,
        room: Limits,
    ) -> Self {
        Choice {
            pieces,
            sizes,
            kept: vec![false; pieces.len()],
            units,
            taken: Taken::default(),
            gaps: 1,
            mark,
            room,
        }
    }

    /// Keeps the start and the end, each up to its share of the room.
    pub fn keep_ends(&mut self) {
        let before = self.taken;
        self.grow_head(&self.room.share(HEAD_SHARE), before);
        let before = self.taken;
        self.grow_tail(&self.room.share(TAIL_SHARE), before);
    }

    /// Keeps a finding with the lines around it, or by itself where that does not fit. Tells whether it is kept.
    pub fn keep_finding(&mut self, finding: &Finding) -> bool {
        self.keep_all(finding.first..=finding.last)
            || self.keep_all(finding.unit..=finding.unit)
            || self.has(finding.unit)
    }

    /// Keeps the lines that findings stand under, as far as there is room.
    pub fn keep_headings(&mut self, findings: &[&Finding]) {
        for heading in findings.iter().filter_map(|finding| finding.heading) {
            self.keep_all(heading..=heading);
        }
    }

    /// Gives half of what is left of the room to the lines around the findings, nearest first.
    pub fn widen(&mut self, findings: &[&Finding]) {
        let left = self.taken.plus(self.marks()).rest_of(&self.room);
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

    fn grow_at(&mut self, number: usize, most: &Limits, before: Taken) -> bool {
        self.index(number).is_some_and(|at| self.grow(at, most, before))
    }

    /// Gives what is left of the room to the end, then to the start, then to pieces that take less than the mark in
    /// their place.
    pub fn keep_rest(&mut self) {
        let room = self.room;
        self.grow_tail(&room, Taken::default());
        self.grow_head(&room, Taken::default());
        for at in 0..self.pieces.len() {
            if !self.kept[at] && self.has_kept_before(at) && self.has_kept_after(at) {
                self.keep(at);
            }
        }
    }

    /// The pieces that are kept, in order.
    pub fn kept(&self) -> impl Iterator<Item = &Piece<'a>> {
        self.pieces.iter().zip(&self.kept).filter(|(_, kept)| **kept).map(|(piece, _)| piece)
    }

    /// Keeps pieces from the start as far as they go, until what is taken since `before` is past `most`.
    fn grow_head(&mut self, most: &Limits, before: Taken) {
        let in_order = |(at, piece): (usize, &Piece)| piece.unit.number == self.units.start() + at;
        let known = self.pieces.iter().enumerate().take_while(|piece| in_order(*piece)).count();
        for at in 0..known {
            if !self.grow(at, most, before) {
                return;
            }
        }
    }

    fn grow_tail(&mut self, most: &Limits, before: Taken) {
        for (back, at) in (0..self.pieces.len()).rev().enumerate() {
            if self.pieces[at].unit.number + back != *self.units.end() || !self.grow(at, most, before) {
                return;
            }
        }
    }

    fn grow(&mut self, at: usize, most: &Limits, before: Taken) -> bool {
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
        // A piece between two that are kept closes a gap; one by itself makes a gap of one two.
        match (self.has_kept_before(at), self.has_kept_after(at)) {
            (true, true) => self.gaps -= 1,
            (false, false) => self.gaps += 1,
            _ => {}
        }
        self.kept[at] = true;
        self.taken = self.taken.plus(self.sizes[at]);
    }

    fn fits(&self) -> bool {
        self.taken.plus(self.marks()).within(&self.room)
    }

    fn marks(&self) -> Taken {
        Taken {
            bytes: self.mark.bytes * self.gaps,
            lines: self.mark.lines * self.gaps,
            chars: self.mark.chars * self.gaps,
            tokens: self.mark.tokens * self.gaps,
        }
    }

    /// Whether nothing is missing before a piece.
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

#[cfg(test)]
mod tests {
    use super::super::score::Score;
    use super::super::shelf::Worth;
    use super::*;

    /// Keeps of 20 lines of 10 bytes, of which those from 4 to 7 are not here any more.
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
        let mark = Taken { bytes: 5, lines: 1, chars: 5, tokens: 0 };
        let room = Limits { bytes: room, ..Limits::NONE };
        let sizes: Vec<_> = pieces.iter().map(|piece| piece.size(19, &room)).collect();
        let mut choice = Choice::new(&pieces, &sizes, 0..=19, mark, room);
        choice.keep_ends();
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
    fn ends_have_a_share_and_get_what_is_left() {
        assert_eq!(kept(100, 10..=12), [0, 10, 11, 12, 15, 16, 17, 18, 19]);
        assert_eq!(kept(1_000, 10..=12), [0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn a_finding_that_does_not_fit_with_its_lines_is_kept_by_itself() {
        assert_eq!(kept(60, 8..=14), [9, 16, 17, 18, 19]);
        assert_eq!(kept(12, 8..=14), Vec::<usize>::new());
    }
}
