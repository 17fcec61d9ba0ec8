//! The units of a text that can be kept, and those that are kept so far.

use std::ops::RangeInclusive;

use super::unit::Unit;
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::relevance::Lines;

/// A gap costs a reader the room of so many marks.
const GAP: u64 = 3;

/// A unit that can be kept.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub unit: Unit,
    pub text: &'a [u8],
    /// Its words count. Those of findings between the ends do not.
    pub is_weighed: bool,
}

impl Piece<'_> {
    /// Measures the text. Most is ASCII, whose sizes all equal its length.
    pub fn text_size(&self) -> Size {
        let Piece { unit, text, .. } = self;
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

/// The units of a text, and those that are kept so far.
#[derive(Debug)]
pub struct Page<'a> {
    pieces: &'a [Piece<'a>],
    /// Numbers of the first and the last unit of the text.
    units: RangeInclusive<usize>,
    kept: Vec<bool>,
    /// The room of a mark. Room is counted in chars, or in lines if only these are limited.
    mark: u64,
    in_lines: bool,
}

impl<'a> Page<'a> {
    /// Starts with nothing kept. `pieces` are in order. `units` are the numbers of the text's first
    /// and last unit. `mark` is the chars of the largest mark.
    pub fn new(pieces: &'a [Piece<'a>], units: RangeInclusive<usize>, mark: usize, limits: &Limits) -> Self {
        let in_lines = Limits { lines: UNLIMITED, line_bytes: UNLIMITED, ..*limits } == Limits::NONE;
        let mark = if in_lines { 1 } else { mark as u64 };
        Page { pieces, units, kept: vec![false; pieces.len()], mark, in_lines }
    }

    /// Keeps a piece. Returns how the number of gaps changes.
    pub fn keep(&mut self, at: usize) -> isize {
        self.kept[at] = true;
        // A piece between two kept ones closes a gap. A piece apart from kept ones splits a gap in
        // two.
        match (self.has_kept_before(at), self.has_kept_after(at)) {
            (true, true) => -1,
            (false, false) => 1,
            _ => 0,
        }
    }

    /// Returns the room of a piece.
    pub fn room(&self, at: usize) -> u64 {
        if self.in_lines { 1 } else { self.pieces[at].unit.chars.max(1) as u64 }
    }

    /// Returns the room of a few lines.
    pub fn little(&self) -> u64 {
        if self.in_lines { 2 } else { 40 }
    }

    /// Returns the pieces next to a kept one that stand alone between two kept ones and take no
    /// more room than a reader pays for the gap in their place.
    pub fn closes(&self, at: usize) -> impl Iterator<Item = usize> {
        let is_small = |at: &usize| {
            !self.kept[*at]
                && self.room(*at) <= GAP * self.mark
                && self.has_kept_before(*at)
                && self.has_kept_after(*at)
        };
        [self.before(at), self.after(at)].into_iter().flatten().filter(is_small)
    }

    /// Returns true if nothing is omitted directly before a piece.
    fn has_kept_before(&self, at: usize) -> bool {
        self.pieces[at].unit.number == *self.units.start() || self.before(at).is_some_and(|at| self.kept[at])
    }

    fn has_kept_after(&self, at: usize) -> bool {
        self.pieces[at].unit.number == *self.units.end() || self.after(at).is_some_and(|at| self.kept[at])
    }

    /// Returns the piece directly before another, if it is stored.
    pub fn before(&self, at: usize) -> Option<usize> {
        at.checked_sub(1).filter(|before| self.pieces[*before].unit.number + 1 == self.pieces[at].unit.number)
    }

    pub fn after(&self, at: usize) -> Option<usize> {
        let number = self.pieces[at].unit.number;
        self.pieces.get(at + 1).filter(|next| next.unit.number == number + 1).map(|_| at + 1)
    }

    pub fn index(&self, number: usize) -> Option<usize> {
        self.pieces.binary_search_by_key(&number, |piece| piece.unit.number).ok()
    }

    /// Returns the piece of a unit near that of another, which most often is as near in the page.
    pub fn index_near(&self, at: usize, unit: usize) -> Option<usize> {
        let guess = (at + unit).wrapping_sub(self.pieces[at].unit.number);
        let is_there = self.pieces.get(guess).is_some_and(|piece| piece.unit.number == unit);
        if is_there { Some(guess) } else { self.index(unit) }
    }

    /// Returns the first and the last piece if they are those of the text.
    pub fn first(&self) -> Option<usize> {
        self.index(*self.units.start())
    }

    pub fn last(&self) -> Option<usize> {
        self.index(*self.units.end())
    }
}

impl Lines for Page<'_> {
    fn is_kept(&self, at: usize) -> bool {
        self.kept[at]
    }

    fn around(&self, at: usize) -> RangeInclusive<usize> {
        self.before(at).unwrap_or(at)..=self.after(at).unwrap_or(at)
    }

    fn cost(&self, lines: RangeInclusive<usize>) -> u64 {
        let new = lines.clone().filter(|at| !self.kept[*at]).map(|at| self.room(at)).sum::<u64>();
        let is_apart = !self.has_kept_before(*lines.start()) && !self.has_kept_after(*lines.end());
        new.max(1) + if is_apart { GAP * self.mark } else { 0 }
    }
}
