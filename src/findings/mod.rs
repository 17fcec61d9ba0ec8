//! Finds the lines of a stream that tell what went wrong, wherever they stand, in one pass and bounded memory.
//!
//! Lines are scored as they pass; those that tell something are kept with the lines around them, the best of them as
//! far as the budget goes, beside the start and the end of the stream. Nothing is looked at twice, so a text that is
//! here whole and one that comes in chunks are the same to it.

mod body;
mod bytes;
mod choice;
mod found;
mod headings;
mod likeness;
mod old;
mod open;
mod score;
mod shapes;
mod shelf;
mod unit;
mod words;

use std::collections::VecDeque;

use aho_corasick::AhoCorasick;

use crate::limits::{Limits, UNLIMITED};
use crate::text::Size;
use crate::text::earlier;
use crate::text::units::Text;
use crate::text::utf8::Utf8;
use headings::Headings;
use likeness::Seen;
use old::OldNotice;
use open::{AROUND, Open};
use score::Score;
use shelf::{Shelf, Worth};
use unit::{Foreign, Splitter, Stretch, Unit};

pub use found::{Found, Request, clamp};

/// Units that a finding may reach back to when all around it has come.
const REACH: usize = AROUND + 1 + AROUND + 1;

/// A search that goes on as text arrives.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Bytes that a result can have.
    budget: usize,
    needles: Option<Needles>,
    splitter: Splitter,
    state: State,
}

/// Texts that make a line a finding, looked for at once: however many they are, a line is walked through once.
#[derive(Clone, Debug)]
struct Needles {
    all: AhoCorasick,
    /// Bytes of the longest.
    longest: usize,
}

impl Needles {
    /// Nothing where there are none, or where they take more memory than an automaton can address.
    fn new(needles: &[String]) -> Option<Needles> {
        let needles: Vec<&String> = needles.iter().filter(|needle| !needle.is_empty()).collect();
        let longest = needles.iter().map(|needle| needle.len()).max()?;
        Some(Needles { all: AhoCorasick::new(needles).ok()?, longest })
    }
}

#[derive(Clone, Debug)]
struct State {
    /// The first units, up to a part of the budget, and whether more may come.
    head: Stretch,
    head_open: bool,
    head_most: usize,
    /// The last units, as many as a result can have.
    recent: Stretch,
    /// The unit that came last.
    last: Option<Unit>,
    size: Size,
    /// What is foreign of the text that is still to come in a unit, by where it ends.
    foreign: VecDeque<(usize, Foreign)>,
    /// Escape sequences, or anything but ASCII, have come: till then nobody need look for them in every line.
    coloured: bool,
    wide: bool,
    seen: Seen,
    headings: Headings,
    shelf: Shelf,
    /// Findings whose lines after them are still to come.
    open: Vec<Open>,
    notices: Vec<OldNotice>,
    /// What marks of an earlier search take of the text.
    marks: Size,
    /// What a needle may have begun with, of a line that is in pieces.
    line: Vec<u8>,
    /// How the unit that came last starts.
    start: [u8; 3],
    /// The unit before the last was an empty line, and so was the one before a notice that may stand in the last.
    blank: bool,
    maybe: Option<OldNotice>,
}

impl Findings {
    /// A search for a result within limits. `needles` are texts that make a line a finding.
    pub fn new(limits: &Limits, needles: &[String]) -> Findings {
        let budget = budget(limits);
        Findings {
            budget,
            needles: Needles::new(needles),
            splitter: Splitter::default(),
            state: State {
                head: Stretch::default(),
                head_open: true,
                // More than the head's share: what is left over may go to it, and a notice may stand there.
                head_most: (budget / 4).max(earlier::LONGEST),
                recent: Stretch::default(),
                last: None,
                size: Size::default(),
                foreign: VecDeque::new(),
                coloured: false,
                wide: false,
                seen: Seen::default(),
                headings: Headings::default(),
                shelf: Shelf::new(budget.saturating_mul(3)),
                open: vec![],
                notices: vec![],
                marks: Size::default(),
                line: vec![],
                start: [0; 3],
                blank: false,
                maybe: None,
            },
        }
    }

    /// Takes the next text, valid UTF-8 that may end anywhere.
    pub fn push(&mut self, text: &[u8]) {
        let Findings { budget, needles, splitter, state } = self;
        state.coloured |= memchr::memchr(bytes::ESCAPE, text).is_some();
        state.wide |= !text.is_ascii();
        splitter.push(text, |unit| state.take(unit, needles.as_ref(), *budget));
    }

    /// Takes U+FFFD in place of so many bytes, at most three, that are no UTF-8.
    pub fn push_broken(&mut self, bytes: usize) {
        const BROKEN: [u8; 3] = *b"\xEF\xBF\xBD";
        self.push_foreign(&BROKEN, Foreign { bytes: (BROKEN.len() - bytes) as u16, chars: 0 });
    }

    /// Takes a mark at the end of a line that was cut, which is ASCII. It counts as text, but not as the input's.
    pub fn push_mark(&mut self, mark: &[u8]) {
        let length = mark.len() as u16;
        self.push_foreign(mark, Foreign { bytes: length, chars: length });
    }

    fn push_foreign(&mut self, text: &[u8], foreign: Foreign) {
        if foreign != Foreign::default() {
            let end = self.state.size.bytes + self.splitter.pending() + text.len();
            self.state.foreign.push_back((end, foreign));
        }
        self.push(text);
    }

    /// Passes over text that is not looked at. What is pending is a unit of its own then.
    pub fn skip(&mut self, size: Size) {
        self.finish();
        let state = &mut self.state;
        // A unit that nobody has stands for it.
        let unit = state.next_unit(Size { newlines: 0, ..size });
        state.last = Some(Unit { line: unit.line + size.newlines, ..unit });
        state.size = state.size + size;
        state.head_open = false;
        state.recent = Stretch::default();
        (state.blank, state.maybe) = (false, None);
        state.line.clear();
    }

    /// Takes the end of the text.
    pub fn finish(&mut self) {
        let Findings { budget, needles, splitter, state } = self;
        splitter.finish(|unit| state.take(unit, needles.as_ref(), *budget));
        for open in std::mem::take(&mut state.open) {
            state.close(open);
        }
    }

    /// Size of all that was taken.
    pub fn size(&self) -> Size {
        self.state.size
    }

    /// Bytes of memory that the search takes.
    pub fn memory(&self) -> usize {
        let State { head, recent, seen, shelf, notices, foreign, .. } = &self.state;
        let lists =
            notices.capacity() * size_of::<OldNotice>() + foreign.capacity() * size_of::<(usize, Foreign)>();
        head.memory() + recent.memory() + seen.memory() + shelf.memory() + lists
    }
}

/// Bytes that a result within the limits can have, about: lines that no other limit bounds count as long as a unit.
fn budget(limits: &Limits) -> usize {
    let times =
        |limit: usize, bytes: usize| if limit == UNLIMITED { limit } else { limit.saturating_mul(bytes) };
    let most = limits.bytes.min(times(limits.chars, 3)).min(times(limits.tokens, 8));
    most.min(times(limits.lines, unit::LONG_LINE))
}

impl State {
    fn take(&mut self, text: &[u8], needles: Option<&Needles>, budget: usize) {
        let chars = if self.wide && !text.is_ascii() { Utf8(text).size().chars } else { text.len() };
        let size = Size { bytes: text.len(), chars, newlines: usize::from(text.ends_with(b"\n")), broken: 0 };
        let unit = Unit { foreign: self.foreign_of(size.bytes), ..self.next_unit(size) };
        self.go_on(unit, text);
        // A piece inside a long line is no line.
        let starts = self.last.is_none_or(|last| last.ends_line);
        self.size = self.size + size;
        // In a longer text none is looked for, so that they cannot take up memory.
        if self.size.bytes <= earlier::SEARCHED {
            self.look_for_notice(unit, text, size);
        }
        // An empty line tells nothing, and some texts have little else.
        let mut score = if text == b"\n" { Score::default() } else { score::score(text, self.coloured) };
        if needles.is_some_and(|needles| self.holds(needles, text)) {
            score = score.max(Score::ASKED_FOR);
        }
        let start = shapes::start(text);
        if shapes::is_changed(&self.start, &start) {
            score = score.max(Score::CHANGED);
        }
        self.start = start;
        let heading = if starts { self.headings.take(unit, text) } else { None };
        if score.tells() {
            let worth = Worth::of(score, self.seen.count(text));
            if self.shelf.wants(unit.number, worth) {
                let heading = heading.map(|(unit, text)| (unit, text.to_vec()));
                self.open.push(Open::new(unit.number, score, worth, heading));
            }
        }
        self.keep(unit, text, budget);
    }

    /// Keeps a unit at the end of what came last, and of the head while that may grow.
    fn keep(&mut self, unit: Unit, text: &[u8], budget: usize) {
        self.last = Some(unit);
        self.head_open &= self.head.bytes() + text.len() <= self.head_most;
        if self.head_open {
            self.head.push(unit, text);
        }
        self.recent.push(unit, text);
        // Where lines are so short that their number would take more memory than their text, there are fewer of them.
        while self.recent.units() > REACH
            && (self.recent.bytes() - self.recent.first_bytes() >= budget
                || self.recent.units() > REACH + budget / 4)
        {
            self.recent.pop_front();
        }
    }

    /// Whether a needle is in a unit, or reaches into it from the pieces of the same line before it.
    fn holds(&mut self, needles: &Needles, text: &[u8]) -> bool {
        let line = &mut self.line;
        let from = line.len();
        line.extend_from_slice(text);
        let found = needles.all.is_match(&*line);
        // A needle that was found is not found again, and one that has begun is kept whole.
        let keep = if found || line.ends_with(b"\n") { 0 } else { needles.longest - 1 };
        line.drain(..(from + text.len()).saturating_sub(keep));
        found
    }

    /// What is foreign of the next unit, which has so many bytes.
    fn foreign_of(&mut self, bytes: usize) -> Foreign {
        let end = self.size.bytes + bytes;
        let mut sum = Foreign::default();
        while let Some((_, foreign)) = self.foreign.front().filter(|(at, _)| *at <= end) {
            sum = sum.plus(*foreign);
            self.foreign.pop_front();
        }
        sum
    }

    fn next_unit(&self, size: Size) -> Unit {
        let Size { bytes, chars, newlines, .. } = size;
        let foreign = Foreign::default();
        match self.last {
            None => Unit { number: 0, char: 0, line: 0, bytes, chars, foreign, ends_line: newlines > 0 },
            Some(last) => last.next(bytes, chars, newlines > 0),
        }
    }
}
