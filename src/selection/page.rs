//! The units of a text that can be kept, and those that are kept so far.

use std::ops::RangeInclusive;

use super::diff::{Place, Role};
use super::owners::Owners;
use super::unit::Unit;
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::relevance::Lines;
use std::cell::OnceCell;

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
    /// The places of the pieces in a diff, if any is in one.
    places: &'a [Option<Place>],
    owners: OnceCell<Owners>,
    kept: Vec<bool>,
    /// The room of each piece, and if the piece before it stands directly before it in the text.
    /// The search for names asks for both many times a line.
    rooms: Vec<u32>,
    joined: Vec<bool>,
    /// The first and the last piece are those of the text.
    has_first: bool,
    has_last: bool,
    /// The room of a mark. Room is counted in chars, or in lines if only these are limited.
    mark: u64,
    in_lines: bool,
}

impl<'a> Page<'a> {
    /// Starts with nothing kept. `pieces` are in order. `units` are the numbers of the text's first
    /// and last unit. `mark` is the chars of the largest mark.
    pub fn new(
        pieces: &'a [Piece<'a>],
        places: &'a [Option<Place>],
        units: RangeInclusive<usize>,
        mark: usize,
        limits: &Limits,
    ) -> Self {
        let in_lines = Limits { lines: UNLIMITED, line_bytes: UNLIMITED, ..*limits } == Limits::NONE;
        let mark = if in_lines { 1 } else { mark as u64 };
        let number = |piece: &Piece| piece.unit.number;
        let room = |piece: &Piece| if in_lines { 1 } else { piece.unit.chars.max(1) as u32 };
        let follows = |pair: &[Piece]| number(&pair[0]) + 1 == number(&pair[1]);
        Page {
            pieces,
            places,
            owners: OnceCell::new(),
            kept: vec![false; pieces.len()],
            rooms: pieces.iter().map(room).collect(),
            joined: std::iter::once(false).chain(pieces.windows(2).map(follows)).collect(),
            has_first: pieces.first().map(number) == Some(*units.start()),
            has_last: pieces.last().map(number) == Some(*units.end()),
            mark,
            in_lines,
        }
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
        u64::from(self.rooms[at])
    }

    /// Returns the room of a few lines.
    pub fn little(&self) -> u64 {
        if self.in_lines { 2 } else { 40 }
    }

    fn place(&self, at: usize) -> Option<Place> {
        self.places.get(at).copied().flatten()
    }

    pub fn is_in_diff(&self, at: usize) -> bool {
        self.place(at).is_some()
    }

    /// Returns true for a line that a diff shows beside a change.
    pub fn is_context(&self, at: usize) -> bool {
        self.place(at).is_some_and(|place| place.role == Role::Context)
    }

    /// Returns the context of a diff that is not kept, the nearest to a change first.
    pub fn context(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.places.len()).collect();
        let (mut distances, mut last) = (vec![usize::MAX; all.len()], None);
        for at in all.iter().chain(all.iter().rev()) {
            match self.place(*at).map(|place| place.role) {
                Some(Role::Change) => last = Some(*at),
                Some(Role::Context) => {
                    let distance = last.map_or(usize::MAX, |last: usize| last.abs_diff(*at));
                    distances[*at] = distances[*at].min(distance);
                }
                _ => last = None,
            }
        }
        let mut context: Vec<usize> =
            all.into_iter().filter(|at| self.is_context(*at) && !self.kept[*at]).collect();
        context.sort_by_key(|at| distances[*at]);
        context
    }

    /// Returns the lines that say whose a line is: its headers in a diff, or the names of the
    /// records that it is in.
    pub fn owners(&self, at: usize) -> Vec<usize> {
        match self.place(at) {
            Some(place) => place.headers.into_iter().flatten().collect(),
            None => self.owners.get_or_init(|| Owners::new(self.pieces)).of(self.pieces, at),
        }
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
        self.before(at).map_or(at == 0 && self.has_first, |before| self.kept[before])
    }

    fn has_kept_after(&self, at: usize) -> bool {
        self.after(at).map_or(at + 1 == self.kept.len() && self.has_last, |after| self.kept[after])
    }

    /// Returns the piece directly before another, if it is stored.
    pub fn before(&self, at: usize) -> Option<usize> {
        if self.joined[at] { Some(at - 1) } else { None }
    }

    pub fn after(&self, at: usize) -> Option<usize> {
        if self.joined.get(at + 1) == Some(&true) { Some(at + 1) } else { None }
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
        if self.has_first { Some(0) } else { None }
    }

    pub fn last(&self) -> Option<usize> {
        if self.has_last { Some(self.pieces.len() - 1) } else { None }
    }
}

impl Lines for Page<'_> {
    fn is_kept(&self, at: usize) -> bool {
        self.kept[at]
    }

    fn around(&self, at: usize) -> RangeInclusive<usize> {
        if self.places.is_empty() {
            return at - usize::from(self.joined[at])..=self.after(at).unwrap_or(at);
        }
        let is_diff = self.place(at).is_some();
        let joins = |beside: &usize| !(is_diff && self.is_context(*beside));
        self.before(at).filter(joins).unwrap_or(at)..=self.after(at).filter(joins).unwrap_or(at)
    }

    fn cost(&self, lines: RangeInclusive<usize>) -> u64 {
        let (first, last) = (*lines.start(), *lines.end());
        let new = (first..last + 1).filter(|at| !self.kept[*at]).map(|at| self.room(at)).sum::<u64>();
        let is_apart = !self.has_kept_before(first) && !self.has_kept_after(last);
        let gap = if is_apart { GAP * self.mark } else { 0 };
        if self.places.is_empty() {
            return new.max(1) + gap;
        }
        let headers = self.place(first).or_else(|| self.place(last));
        let headers = headers.map_or([None; 2], |place| place.headers).into_iter().flatten();
        let headers =
            headers.filter(|at| !self.kept[*at] && !lines.contains(at)).map(|at| self.room(at)).sum::<u64>();
        new.max(1) + headers + gap
    }
}
