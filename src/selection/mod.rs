//! Finds the lines of a stream that explain a failure, in one pass and bounded memory.
//!
//! Each line is scored as it passes. Lines that score high enough are kept with their context, and the best survive
//! within the budget, besides the start and the end of the stream. The result does not depend on how the stream is
//! chunked.

mod beginnings;
mod body;
mod bytes;
mod choice;
mod compose;
mod gate;
mod headings;
mod likeness;
mod old;
mod open;
mod prefix;
mod score;
mod shapes;
mod shelf;
mod skim;
mod tally;
mod unit;
mod words;

use std::collections::VecDeque;

use aho_corasick::AhoCorasick;

use crate::encoding::{Size, Text, Utf8};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::earlier;
use crate::relevance::Question;
use crate::sieve::Found;
use gate::Gate;
use headings::Headings;
use likeness::Seen;
use old::OldNotice;
use open::{AROUND, Open};
use prefix::without_prefix;
use score::Score;
use shelf::{Shelf, Worth};
use skim::Reader;
use tally::{Tallies, is_tally};
use unit::{Foreign, Splitter, Stretch, Unit};

pub use compose::select;
pub use score::score;

/// Units before the current one that closing a finding may need.
const REACH: usize = AROUND + 1 + AROUND + 1;

/// The lines that a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought<'a> {
    /// Lines that explain a failure. A line that contains one of these needles does.
    Failure(&'a [String]),
    /// Lines that an agent uses next, as the answer to a question.
    Answer(&'a [String]),
}

/// A search over a stream of text.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Maximum bytes of the last units that are stored.
    window: usize,
    aim: Aim,
    gate: Gate,
    splitter: Splitter,
    state: State,
    /// Places that the sieve of the gate found in the text that is read.
    found: Vec<Found>,
    lengths: Vec<u16>,
}

#[derive(Clone, Debug)]
enum Aim {
    Failure(Option<Needles>),
    Answer(Question),
}

/// Multiple of the result that is weighed at either end of a text. Between them, only words of the question count.
const WEIGHED: usize = 4;

/// A needle on more units than this says nothing if it is also on more than one of this many.
const FEW: usize = 8;
const COMMON: usize = 33;

/// Texts that make any line with them a finding. All are searched in one pass.
#[derive(Clone, Debug)]
struct Needles {
    all: AhoCorasick,
    /// Bytes of the longest needle.
    longest: usize,
    /// The units so far that have each needle.
    units: Vec<usize>,
}

impl Needles {
    /// Returns `None` if there are no needles, or if they exceed the memory that an automaton can address.
    fn new(needles: &[String]) -> Option<Needles> {
        let needles: Vec<&String> = needles.iter().filter(|needle| !needle.is_empty()).collect();
        let longest = needles.iter().map(|needle| needle.len()).max()?;
        let units = vec![0; needles.len()];
        Some(Needles { all: AhoCorasick::new(needles).ok()?, longest, units })
    }

    /// Counts the needles of a unit. Returns if it has any, and if one of them is rare among the units so far.
    fn count(&mut self, text: &[u8], units: usize) -> (bool, bool) {
        let mut found: Vec<usize> =
            self.all.find_overlapping_iter(text).map(|found| found.pattern().as_usize()).collect();
        found.sort_unstable();
        found.dedup();
        let mut is_rare = false;
        for needle in &found {
            let count = &mut self.units[*needle];
            *count += 1;
            is_rare |= *count <= FEW || *count * COMMON <= units;
        }
        (!found.is_empty(), is_rare)
    }
}

#[derive(Clone, Debug)]
struct State {
    /// The first units, up to a share of the budget, and if more may follow.
    head: Stretch,
    head_open: bool,
    head_most: usize,
    /// The last units, as many as a result can hold.
    recent: Stretch,
    /// The most recent unit.
    last: Option<Unit>,
    size: Size,
    /// Foreign parts of text that is not in a unit yet, by their ends.
    foreign: VecDeque<(usize, Foreign)>,
    /// The input has contained non-ASCII text; until then, lines need no check for it.
    wide: bool,
    seen: Seen,
    headings: Headings,
    /// The best findings with their headings, and fewer of them with the lines around them.
    lines: Shelf,
    contexts: Shelf,
    tallies: Tallies,
    /// Findings still waiting for trailing context lines.
    open: Vec<Open>,
    notices: Vec<OldNotice>,
    /// Total size of marks from an earlier search.
    marks: Size,
    /// The end of a line in pieces, in which a needle may have begun.
    line: Vec<u8>,
    /// The first bytes of the most recent unit.
    start: [u8; 3],
    /// The unit before the most recent one is blank, and that one may be a notice.
    blank: bool,
    maybe: Option<OldNotice>,
}

impl Selection {
    /// Starts a search for a result within limits.
    pub fn new(limits: &Limits, sought: Sought) -> Selection {
        let budget = budget(limits);
        let weighed = budget.saturating_mul(WEIGHED);
        let (aim, gate, head, window) = match sought {
            Sought::Failure(needles) => {
                let needles = Needles::new(needles);
                let gate = if needles.is_some() { Gate::Shut } else { Gate::Failure };
                // Exceeds the head's share: the head may get leftover room.
                (Aim::Failure(needles), gate, budget / 4, budget)
            }
            Sought::Answer(question) => {
                let question = Question::new(question);
                let gate = Gate::of_question(&question);
                (Aim::Answer(question), gate, weighed, weighed)
            }
        };
        Selection {
            window,
            aim,
            gate,
            splitter: Splitter::default(),
            found: vec![],
            lengths: vec![],
            state: State {
                head: Stretch::default(),
                head_open: true,
                // The head may begin with a notice.
                head_most: head.max(earlier::LONGEST),
                recent: Stretch::default(),
                last: None,
                size: Size::default(),
                foreign: VecDeque::new(),
                wide: false,
                seen: Seen::default(),
                headings: Headings::default(),
                lines: Shelf::new(budget.saturating_mul(3)),
                contexts: Shelf::new(budget.saturating_mul(3)),
                tallies: Tallies::default(),
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

    /// Takes the next text: valid UTF-8, split anywhere.
    pub fn push(&mut self, text: &[u8]) {
        let Selection { window, aim, gate, splitter, state, found, lengths } = self;
        state.wide |= !text.is_ascii();
        for text in text.chunks(skim::PART) {
            gate.look(text, found);
            splitter.push(text, &mut Reader { state, aim, gate, found, text, lengths, window: *window });
        }
    }

    /// Takes U+FFFD in place of up to three bytes of invalid UTF-8.
    pub fn push_broken(&mut self, bytes: usize) {
        const BROKEN: [u8; 3] = *b"\xEF\xBF\xBD";
        self.push_foreign(&BROKEN, Foreign { bytes: (BROKEN.len() - bytes) as u16, chars: 0 });
    }

    /// Takes an ASCII mark at the end of a line that was cut. It counts as text but not as input.
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

    /// Skips text that is not searched. Pending text becomes a unit of its own.
    pub fn skip(&mut self, size: Size) {
        self.finish();
        let state = &mut self.state;
        // A placeholder unit, which is never stored, represents the skipped text.
        let unit = state.next_unit(Size { newlines: 0, ..size });
        state.last = Some(Unit { line: unit.line + size.newlines, ..unit });
        state.size = state.size + size;
        state.head_open = false;
        state.recent = Stretch::default();
        (state.blank, state.maybe) = (false, None);
        state.line.clear();
    }

    /// Ends the text.
    pub fn finish(&mut self) {
        let Selection { window, aim, splitter, state, .. } = self;
        splitter.finish(&mut |unit: &[u8]| state.take(unit, aim, *window));
        for open in std::mem::take(&mut state.open) {
            state.close(open);
        }
    }

    /// Returns the size of the text so far.
    pub fn size(&self) -> Size {
        self.state.size
    }

    /// Iterates over the lines that are stored at the start and at the end of the text.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let State { head, recent, .. } = &self.state;
        let end = head.numbers().map_or(0, |(_, last)| last + 1);
        let in_head = recent.numbers().map_or(0, |(first, _)| end.saturating_sub(first));
        head.texts().chain(recent.texts().skip(in_head))
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let State { head, recent, seen, lines, contexts, tallies, notices, foreign, .. } = &self.state;
        let question = match &self.aim {
            Aim::Failure(_) => 0,
            Aim::Answer(question) => question.memory(),
        };
        let lists =
            notices.capacity() * size_of::<OldNotice>() + foreign.capacity() * size_of::<(usize, Foreign)>();
        let shelves = lines.memory() + contexts.memory() + tallies.memory();
        let found = self.found.capacity() * size_of::<Found>() + self.lengths.capacity() * size_of::<u16>();
        head.memory() + recent.memory() + seen.memory() + shelves + lists + question + found
    }
}

/// Estimates the maximum bytes of a result within the limits. If only lines are limited, each counts as the longest
/// unit.
fn budget(limits: &Limits) -> usize {
    let times =
        |limit: usize, bytes: usize| if limit == UNLIMITED { limit } else { limit.saturating_mul(bytes) };
    let most = limits.bytes.min(times(limits.chars, 3)).min(times(limits.tokens, 8));
    most.min(times(limits.lines, unit::LONG_LINE))
}

impl State {
    fn take(&mut self, text: &[u8], aim: &mut Aim, window: usize) {
        let chars = if self.wide && !text.is_ascii() { Utf8(text).size().chars } else { text.len() };
        let size = Size { bytes: text.len(), chars, newlines: usize::from(text.ends_with(b"\n")), broken: 0 };
        let unit = Unit { foreign: self.foreign_of(size.bytes), ..self.next_unit(size) };
        self.go_on(unit, text);
        // A piece inside a long line does not start a line.
        let starts = self.last.is_none_or(|last| last.ends_line);
        self.size = self.size + size;
        // Longer texts are not searched for notices, which bounds memory.
        if self.size.bytes <= earlier::SEARCHED {
            self.look_for_notice(unit, text, size);
        }
        match aim {
            Aim::Failure(needles) => {
                let plain = bytes::plain(text);
                let said = if starts { without_prefix(&plain) } else { &plain };
                let score = self.score_failure(unit, text, said, needles.as_mut());
                let worth = self.worth(unit, said, score);
                let heading = if starts { self.headings.take(unit, text, said) } else { None };
                if let Some(worth) = worth {
                    let heading = heading.map(|(unit, text)| (unit, text.to_vec()));
                    self.open.push(Open::new(unit.number, score, worth, heading));
                }
            }
            // The head is weighed as a whole.
            Aim::Answer(_) if self.head_open => {}
            Aim::Answer(question) => {
                let score = Score(question.score(text) as i32);
                if let Some(worth) = self.worth(unit, text, score) {
                    self.open.push(Open::new(unit.number, score, worth, None));
                }
            }
        }
        self.keep(unit, text, window);
    }

    /// Returns the worth of a unit that is a finding and that the shelf wants.
    fn worth(&mut self, unit: Unit, said: &[u8], score: Score) -> Option<Worth> {
        let worth = score.tells().then(|| Worth::of(score, self.seen.count(said)))?;
        self.lines.wants(unit.number, worth).then_some(worth)
    }

    /// Scores a unit by what it says behind its prefix.
    fn score_failure(
        &mut self,
        unit: Unit,
        text: &[u8],
        said: &[u8],
        needles: Option<&mut Needles>,
    ) -> Score {
        // Blank lines are never findings, and some texts consist of little else.
        let mut score = if said == b"\n" { Score::default() } else { score::score(said) };
        if score > Score::default() && is_tally(said) {
            self.tallies.put(unit, text, said);
            score = score.max(Score::TALLY);
        }
        if needles.is_some_and(|needles| self.holds(needles, unit, text)) {
            score = score.max(Score::ASKED_FOR);
        }
        let start = shapes::start(said);
        if shapes::is_changed(&self.start, &start) {
            score = score.max(Score::CHANGED);
        }
        self.start = start;
        score
    }

    /// Appends a unit to the recent ones, and to the head while that may grow.
    fn keep(&mut self, unit: Unit, text: &[u8], window: usize) {
        self.last = Some(unit);
        self.head_open &= self.head.bytes() + text.len() <= self.head_most;
        if self.head_open {
            self.head.push(unit, text);
        }
        self.recent.push(unit, text);
        self.forget(window);
    }

    /// Drops the recent units that no result can hold.
    fn forget(&mut self, window: usize) {
        // Lines can be so short that their count takes more memory than their text. Store fewer of those.
        while self.recent.units() > REACH
            && (self.recent.bytes() - self.recent.first_bytes() >= window
                || self.recent.units() > REACH + window / 4)
        {
            self.recent.pop_front();
        }
    }

    /// Returns true if a rare needle ends in this unit. It may begin in earlier pieces of the line.
    fn holds(&mut self, needles: &mut Needles, unit: Unit, text: &[u8]) -> bool {
        let line = &mut self.line;
        let from = line.len();
        line.extend_from_slice(text);
        let (found, is_rare) = needles.count(line, unit.number + 1);
        // After a match, start over. Otherwise keep enough of the line to complete a needle.
        let keep = if found || line.ends_with(b"\n") { 0 } else { needles.longest - 1 };
        line.drain(..(from + text.len()).saturating_sub(keep));
        is_rare
    }

    /// Sums the foreign parts of the next unit, which has this many bytes.
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
