//! Finds the lines of a stream that matter, in one pass and bounded memory: those that explain a
//! failure, those that answer a question, and those that differ from the rest. The result does not
//! depend on how the stream is chunked.
//!
//! The needs of a reader are unknown in advance. So one search asks two questions of every text
//! (which failure does it show, which names will the agent use next), and only the shares of the
//! room depend on the kind of text (`shares`). A search that first classified a text, and then
//! spent all room on findings or on relevant lines, lost the line that explains a failure wherever
//! the class was wrong: in 116 CI logs that were not marked as failed it kept 63 % of the annotated
//! lines at 8,000 chars, while a plain tail keeps 73 %.
//!
//! **The order does not know the room** (`order`). Nine streams each know their next unit, and the
//! stream that has used least of its share goes next. The result is the longest beginning of that
//! order that fits, so more room only adds lines. Phases, which fill a share of the room before the
//! next may begin, cannot promise that: of 353 logs 6 lost a marked line when the room doubled, of
//! 521 results 16. For the same reason the stored text has a fixed size up to the usual limits
//! (`USUAL`), instead of a multiple of each limit.
//!
//! **Where the shares come from.** `FAILED` began as the phases of the former search for findings:
//! 5 % head, 8 % tail, 15 % tallies, 16 % lines before the last tally, 30 % findings, the rest
//! around them. `PLAIN` began as a quarter for either end and half for names (see below). Some
//! twenty-five random settings near those were scored on 31 CI logs, 486 tool results with the
//! names that agents used next, 18 questions, 9 logs of public reports, 8 logs of a benchmark and
//! 54 recorded outputs, all sets in one sum; the best were within one point of each other. Three
//! changes raised the sum: more context for findings (20 to 33 %; +4 at 4,000 chars on logs marked
//! as failures), less for findings alone (30 to 23 %), and more lines at a distance (6 to 10 %).
//! The share of tallies between 8 and 16 % moved nothing, nor did the weight of a verdict between
//! 545 and 600. A weight of 350, 475 or 590 for a failure that is not marked scored alike; the
//! least favours sources.
//!
//! **What was tried and lost.** Letting an end pay for the lines that another stream had kept in
//! its way (-2 on tool results at 4,000 chars, -11 on questions). Taking the words of lines that
//! the ends are about to keep for known, so that names are not sought there (+1 at 16,000, -3 at
//! 4,000). Keeping the frames of a trace as one thing, up to 16 of them with the line that names
//! their error and never without it (+0.3 on CI logs at 4,000, -3 on the benchmark). Earlier
//! experiments found that a stream of rare shapes is worth 0.2 points, and that rounds that fill
//! the ends first cost up to 8 on logs.
//!
//! **Odd lines** (`odd`). Of 392 cuts of 3,000 lines that bring a new name each, all but one, 194
//! lost the odd line, told of a failure or not: the stream of names pays for new words, and a line
//! of a shape that is seen 3,000 times has one. A finding by rarity needs no word. Of these cuts it
//! leaves 30 without the line; 26 of these do not store it. Of 174 cuts of 520 warnings of gcc and
//! one error, in 29 languages, half of them invented, 156 lost the error, and none does. Of 13 logs
//! of public reports it keeps 9 at 8,000 chars, where 5 were kept. It takes at least 7 bits, among
//! 256 lines on either side: with 4 bits among 64 lines it costs 1.5 points at 16,000 on logs that
//! others marked, and 0.4 on tool results at 8,000; with 6 bits among 256, 0.3 on the latter. A
//! score above other findings gained nothing. To leave odd lines out of texts that tell of no
//! failure lost 61 more of the 392 and gained nothing.
//!
//! **Events.** One error may be several odd lines: what it says, the place in the source, the
//! command that stops. Five of them near each other hid one another. Now up to six count as one: +1
//! of 8 public reports of known failures at 4,000 chars, -0.1 on logs that others marked.
//!
//! **Odd lines of long texts** (`starts`). Only the ends and the findings of a text are stored. So
//! of JSON logs of 255 KB with an odd record in the middle, 6 of 7 lost it. Now a line that begins
//! as no line before it is stored, and none of the 7 does. Of 5,274 results, 2 differ.
//!
//! **Time of odd lines and crowds.** Since the search has both, 1 MB of CSV takes 2.2 times as
//! long as before, lines all unlike 1.9 times, Markdown 1.4 times. In a profile of CSV the queue
//! of names takes most of that, and odd lines less: a kept line takes value from all lines of its
//! crowd, so most lines are weighed again for the next one. A tree of the ways on took base64 from
//! 1.5 to 1.25 times, blank lines from 1.3 to 1.2. A queue for each crowd, whose order a charge
//! does not change, takes CSV to 1.9 and unlike lines to 1.5 times; it keeps other lines where
//! those of two crowds stand side by side. To take a line that has 15 of 16 parts of the highest
//! value takes CSV to 2.1. Both were scored only beside another change, so neither is built. That
//! change, to count no ways on from a place that has more than 64, costs tool results up to 1.5
//! points at 4,000 chars: lines beside other odd ones seem alone. To round the number of kept lines
//! of a crowd to two or three binary digits saves no instructions, and with two, searches lose 3
//! points at 4,000 chars. Rooms and joints of lines in lists of their own take CSV to 0.90 and
//! unlike lines to 0.88 of the instructions, with equal results, but to no less than 0.99 and 0.92
//! of the time.
//!
//! **Banners** (`banners`). Of 36 tests of one run that failed alike, 15 names stayed at 8,000
//! chars, and now 35 do. That moves no other set by more than 0.3.
//!
//! **Prose was tried and lost.** To weigh failures by the share of lines that look like sentences
//! takes the room of failures in 24 pages of documentation from 7 to 78 % down to 2 to 18 %, and
//! tool results gain 0.6 at 8,000 chars. But one error among 46,000 lines of words alone is lost.
//!
//! **Prefixes.** Of lines behind a step's number, a service's bar, a clock or a counter, all 26
//! that two findings can bring are kept at 4,000 chars: 34 to 44 % of the room, since these lines
//! are shorter than those of other logs. A rule for a column of any form (a name, a number or a
//! clock between signs, before a sign or a gap) takes 535 of 600 logs behind generated prefixes for
//! logs, where the five forms here take 99. But no marked line of 138 logs and 398 tool results
//! more or less is kept, lines of `[  +12 ms]` are a log no longer, and it reads three times as
//! long.
//!
//! **Crowds by form.** Findings whose words all differ are a crowd by their form. A point less each
//! time their pairs double gains 3.2 points at 4,000 and 1.6 at 8,000 on CI logs that are known to
//! have failed. To begin with the first line instead costs 6 on the benchmark at 4,000.
//!
//! **Floods** (`spread`). In the middle of 28 CI logs, 22 KB of invented errors of five forms took
//! 30 of 90 points at 8,000 chars, and of invented results 10 to 13. Now findings are charged by
//! parts of the text and alternate with the best four of each block: the errors take 2 points, and
//! the results none. Logs that others marked gain 0.2 at 4,000 and 0.4 at 51,200, the benchmark 2
//! at 8,000, no other set loses. Lost: every third finding from the best of a block (errors take
//! 7), the best two or three (1 on logs at 4,000), the charge without blocks (errors take 23) or
//! four times as large (3 on CI logs at 4,000), and to halve findings instead (3 at 8,000).
//!
//! **Runs.** Of several runs of one command the last counts, so findings in it have the worth of
//! equal ones before it. That moves no set. To prefer the last of all equal findings costs 2 at
//! 8,000 on logs that others marked and 9 on the benchmark at 4,000.
//!
//! **Texts that tell of no failure.** The ends of `PLAIN` had 22 % each, names 45 %. Per char an
//! end brought half of what names bring, but it was the shield against a flood of invented names.
//! Now a crowd is the shield: new names are worth half behind ten kept lines of their form,
//! counting the lines that names and answers keep. So 11 % are enough for an end. On 486 tool
//! results, at 4,000, 8,000 and 16,000 chars: +0.8, +1.4 and +2.2 points with the question, +1.2, 0
//! and +1.0 without; diffs +17 and searches +8 at 4,000, reports of subagents -4 at 4,000 and +3 at
//! 8,000. Texts whose question is unknown lose 3 to 11. Lost: ends of 10 % (one log of 31 at
//! 16,000) and of 13 and 16 % (1 to 2 on tool results); the first line of a group worth half a name
//! (-2 with the question at 4,000); a crowd that charges the lines of ends and findings too (-3 on
//! searches), that charges words of the question (-0.3), or that is half as strong again (-0.5); a
//! weight of 350 for a failure that is not marked (-1 at 4,000 against 250).
//!
//! **Logs.** A text whose end states a failure, and that has one more sign of a log, is a failure
//! with all weight: +7.3 and +1.3 on 31 CI logs at 4,000 and 8,000. Without that other sign tool
//! results lose 0.6. A text whose lines share columns of any form is a log, too.
//!
//! **Diffs.** Who asks for a diff asks for the changes. Of generated diffs, 10 to 55 % of the
//! changes were kept, and as much of the context; now 78 to 100 % of the changes are, and no
//! context before them.
//!
//! **Records.** A line that answers the question brings the lines that say whose it is: +3, +6 and
//! +10 on 18 questions. Names do not bring theirs.
//!
//! **Little room.** With one finding in a text, results of up to 273 chars or 6 lines were both
//! ends and a notice. Now the finding comes before the ends, whether a failure is known or not, so
//! it is kept from 65 chars or 3 lines on. Results of 4,000 chars and more keep the same lines.
//!
//! **Words.** A name of a state is split into its words by one rule (`score::state`); a warning is
//! a level, so it takes weight only where it labels its line; a line that says it passed keeps a
//! third. With the frames (`told`) and the ends of pieces (`unit`) these are worth +7 points at
//! 8,000 chars on logs that are not marked and +11 on the reports; the merge alone is worth +12 and
//! +55.

mod banners;
mod beginnings;
mod bytes;
mod code;
pub mod diff;
mod echo;
mod finder;
mod gate;
mod headings;
mod likeness;
mod log;
mod needles;
mod odd;
mod old;
mod open;
mod order;
mod owners;
mod page;
mod prefix;
pub mod reason;
mod score;
mod shapes;
mod shares;
mod shelf;
mod skim;
mod spread;
mod starts;
mod steps;
mod tally;
mod told;
mod unit;
mod words;

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::encoding::{Size, utf8};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::earlier;
use crate::policy::{Keep, Policy};
use crate::relevance::Question;
use bytes::LOOKED_AT;
use echo::Echo;
use gate::{Gate, Places, Silence};
use headings::Headings;
use likeness::{Earlier, Likeness, LikenessCounts};
use needles::{Frequency, Needles};
use old::OldNotice;
use open::{AROUND, Open};
use prefix::without_prefix;
use score::Score;
use shelf::{Shelf, Worth};
use skim::UnitReader;
use starts::Starts;
use tally::Tallies;
use unit::{ESCAPED_NEWLINE, Foreign, Length, Splitter, Stretch, Unit};

pub(crate) use old::Old;
pub(crate) use page::Piece;
pub use score::score;
pub(crate) use shares::{Mix, WHOLE};
pub(crate) use steps::Addition;
pub use told::is_failed_member;

/// Units before the current one that closing a finding may need.
const REACH: usize = AROUND + 1 + AROUND + 1;

/// The terms of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTerms<'a> {
    /// Lines that explain a failure.
    pub failure: bool,
    /// Lines that contain one of these texts.
    pub needles: &'a [String],
    /// Lines that answer this question.
    pub query: &'a [String],
}

impl<'a> SearchTerms<'a> {
    /// Returns the terms of a policy. Unless `keep` is 'relevant', lines of failure count, because
    /// any command may have failed.
    pub fn of(policy: &'a Policy) -> SearchTerms<'a> {
        let failure = policy.keep != Keep::Relevant && !policy.reserves();
        let query: &[String] = if policy.reserves() { &[] } else { &policy.query };
        SearchTerms { failure, needles: &policy.needles, query }
    }
}

/// A search over a stream of text.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Maximum bytes that are stored at either end.
    window: usize,
    aim: Aim,
    gate: Gate,
    splitter: Splitter,
    state: SearchState,
    /// Places that the sieves of the gate found in the text that is read.
    found: Places,
    lengths: Vec<Length>,
}

#[derive(Clone, Debug)]
struct Aim {
    failure: bool,
    needles: Option<Needles>,
    question: Question,
}

/// Limits up to this size store the same text, so that more room only adds lines. Larger limits
/// store more.
const USUAL: usize = 51_200;

/// Multiples of the limit: of the text at either end that is weighed, and of each shelf. Between
/// the ends, only findings and words of the question count.
const WEIGHED: usize = 2;
const SHELVED: usize = 3;

/// The score of a unit. It may have a rare needle, and state a result.
struct Judged {
    score: Score,
    is_asked_for: bool,
    is_tally: bool,
}

/// A line that no shelf wants. Each repeat adds to the numbers of lines like it, if it has a score.
#[derive(Clone, Copy, Debug)]
struct Unwanted {
    likeness: Option<Likeness>,
}

#[derive(Clone, Debug)]
struct SearchState {
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
    echo: Echo,
    seen: LikenessCounts,
    headings: Headings,
    /// The best findings with their headings, and fewer of them with the lines around them.
    lines: Shelf,
    contexts: Shelf,
    /// The lines between the ends that have words of the question, and the lines around them.
    asked: Shelf,
    asked_seen: LikenessCounts,
    tallies: Tallies,
    /// The starts of the lines behind the head.
    starts: Starts,
    /// Findings still waiting for trailing context lines.
    open: Vec<Open>,
    notices: Vec<OldNotice>,
    /// Total size of marks from an earlier search.
    marks: Size,
    /// The end of a line in pieces, in which a needle may have begun.
    line: Vec<u8>,
    /// The first bytes of the most recent unit.
    start: [u8; 3],
    /// The most recent unit is a line that no shelf wants. Repeats of it are worth less, so none
    /// wants them either.
    unwanted: Option<Unwanted>,
    /// The unit before the most recent one is blank, and that one may be a notice.
    blank: bool,
    maybe: Option<OldNotice>,
}

impl Selection {
    /// Starts a search for a result within limits.
    pub fn new(limits: &Limits, sought: SearchTerms) -> Selection {
        let budget = budget(limits).max(USUAL);
        let window = Selection::window_of(limits);
        let aim = Aim {
            failure: sought.failure,
            needles: Needles::new(sought.needles),
            question: Question::new(sought.query),
        };
        let gate = match aim.needles {
            Some(_) => Gate::default(),
            None => Gate::new(aim.failure, &aim.question),
        };
        Selection {
            window,
            aim,
            gate,
            splitter: Splitter::default(),
            found: Places::default(),
            lengths: vec![],
            state: SearchState {
                head: Stretch::default(),
                head_open: true,
                head_most: window,
                recent: Stretch::default(),
                last: None,
                size: Size::default(),
                foreign: VecDeque::new(),
                wide: false,
                echo: Echo::default(),
                seen: LikenessCounts::default(),
                headings: Headings::default(),
                lines: Shelf::new(budget.saturating_mul(SHELVED)),
                contexts: Shelf::new(budget.saturating_mul(SHELVED)),
                asked: Shelf::new(budget.saturating_mul(SHELVED)),
                asked_seen: LikenessCounts::default(),
                tallies: Tallies::default(),
                starts: Starts::default(),
                open: vec![],
                notices: vec![],
                marks: Size::default(),
                line: vec![],
                start: [0; 3],
                unwanted: None,
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
            gate.renew(&aim.question);
            found.clear();
            let (window, telling) = (*window, None);
            let mut reader = UnitReader { state, aim, gate, found, text, lengths, window, telling };
            splitter.push(text, &mut reader);
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
        (state.blank, state.maybe, state.unwanted) = (false, None, None);
        state.line.clear();
    }

    /// Ends the text.
    pub fn finish(&mut self) {
        let Selection { window, aim, splitter, state, .. } = self;
        splitter.finish(&mut |unit: &[u8]| state.take(unit, aim, *window, Silence::default()));
        for open in std::mem::take(&mut state.open) {
            state.close(open);
        }
    }

    /// Returns the maximum bytes that a search for a result within limits stores at either end. All
    /// else that limits decide follows from it.
    pub(crate) fn window_of(limits: &Limits) -> usize {
        budget(limits).max(USUAL).saturating_mul(WEIGHED)
    }

    /// Returns the maximum bytes that are stored at either end.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Returns the size of the text so far.
    pub fn size(&self) -> Size {
        self.state.size
    }

    /// Returns true if text follows the last newline.
    pub fn is_open(&self) -> bool {
        self.state.last.is_some_and(|last| !last.ends_line)
    }

    /// Iterates over the lines that are stored at the start and at the end of the text.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let SearchState { head, recent, .. } = &self.state;
        let end = head.numbers().map_or(0, |(_, last)| last + 1);
        let in_head = recent.numbers().map_or(0, |(first, _)| end.saturating_sub(first));
        head.texts().chain(recent.texts().skip(in_head))
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let SearchState {
            head,
            recent,
            seen,
            asked_seen,
            lines,
            contexts,
            asked,
            tallies,
            starts,
            notices,
            foreign,
            ..
        } = &self.state;
        let lists =
            notices.capacity() * size_of::<OldNotice>() + foreign.capacity() * size_of::<(usize, Foreign)>();
        let shelves =
            lines.memory() + contexts.memory() + asked.memory() + tallies.memory() + starts.memory();
        let seen = seen.memory() + asked_seen.memory();
        let found = self.found.memory() + self.lengths.capacity() * size_of::<Length>();
        head.memory() + recent.memory() + seen + shelves + lists + self.aim.question.memory() + found
    }
}

/// Estimates the bytes of a result within the limits. If only lines are limited, each counts as the
/// longest unit. A result of wide chars may take more, but less than the text stored at both ends.
fn budget(limits: &Limits) -> usize {
    let times =
        |limit: usize, bytes: usize| if limit == UNLIMITED { limit } else { limit.saturating_mul(bytes) };
    let most = limits.bytes.min(limits.chars).min(times(limits.tokens, 4));
    most.min(times(limits.lines, unit::LONG_LINE))
}

impl SearchState {
    /// Adds a unit, which need not be scored for some questions.
    fn take(&mut self, text: &[u8], aim: &mut Aim, window: usize, silence: Silence) {
        let chars = if self.wide { utf8::chars_of_valid(text) } else { text.len() };
        let size = Size { bytes: text.len(), chars, newlines: usize::from(text.ends_with(b"\n")), broken: 0 };
        let unit = Unit { foreign: self.foreign_of(size.bytes), ..self.next_unit(size) };
        self.go_on(unit, text);
        // A piece inside a long line starts a line only behind an escaped newline.
        let is_piece = self.last.is_some_and(|last| !last.ends_line);
        let starts = !is_piece || self.recent.text().ends_with(ESCAPED_NEWLINE);
        self.size = self.size + size;
        // Longer texts are not searched for notices, which bounds memory.
        if self.size.bytes <= earlier::SEARCHED {
            self.look_for_notice(unit, text, size);
        }
        let mut unwanted = None;
        if aim.failure || aim.needles.is_some() {
            let read = if is_piece { unit::unescaped(text) } else { Cow::Borrowed(text) };
            let is_dull = match &read {
                Cow::Borrowed(_) if silence.of_failure => true,
                read => is_piece && gate::is_dull_piece(read),
            };
            let plain = match is_dull {
                true => Cow::Borrowed(&read[..read.len().min(LOOKED_AT)]),
                false => bytes::plain(&read),
            };
            let said = if starts { without_prefix(&plain) } else { &plain };
            let Judged { score, is_asked_for, is_tally } = self.score_failure(unit, text, said, is_dull, aim);
            let worth = self.worth(unit, said, score, is_asked_for);
            // A tally replaces the one before, and a command begins a paragraph.
            let is_as_read = !is_piece && unit.ends_line && matches!(plain, Cow::Borrowed(_));
            let repeats = is_as_read && !is_tally && !headings::is_command(said);
            let is_sought = worth.is_some() || aim.needles.is_some();
            unwanted = (repeats && !is_sought)
                .then(|| Unwanted { likeness: score.tells().then(|| self.echo.likeness(said)) });
            let heading = if starts { self.headings.take(unit, text, said) } else { None };
            if let Some(worth) = worth {
                let heading = heading.map(|(unit, text)| (unit, text.to_vec()));
                let likeness = self.echo.likeness(said).same as u32;
                self.open.push(Open::new(unit.number, score, worth, likeness, heading));
            }
        }
        let mut answers = !aim.question.is_empty() && !silence.of_question;
        // The head is weighed as a whole.
        if !self.head_open && !silence.of_question {
            let score = Score(aim.question.score(text) as i32);
            // Repeats have no other words, and worn ones stay worn.
            answers = score > Score::default();
            if score.tells() {
                let worth =
                    Worth::of(score, Earlier { form: 0, ..self.asked_seen.count(self.echo.likeness(text)) });
                if self.asked.wants(unit.number, worth) {
                    self.open.push(Open::asked(unit.number, worth));
                }
            }
        }
        self.unwanted = unwanted.filter(|_| !answers);
        self.keep(unit, text, window);
        if aim.failure && !self.head_open && !is_piece && unit.ends_line {
            self.starts.take(text, || unit);
        }
    }

    /// Returns the worth of a unit that is a finding and may enter the shelf.
    fn worth(&mut self, unit: Unit, said: &[u8], score: Score, is_asked_for: bool) -> Option<Worth> {
        let worth = match is_asked_for {
            true => Worth::ASKED_FOR,
            false => score.tells().then(|| Worth::of(score, self.seen.count(self.echo.likeness(said))))?,
        };
        self.lines.wants(unit.number, worth).then_some(worth)
    }

    /// Scores a unit by its text after the prefix.
    fn score_failure(
        &mut self,
        unit: Unit,
        text: &[u8],
        said: &[u8],
        is_dull: bool,
        aim: &mut Aim,
    ) -> Judged {
        let (mut score, mut is_tally) = (Score::default(), false);
        if aim.failure {
            // Blank lines are never findings, and some texts consist of little else.
            if !is_dull && said != b"\n" {
                (score, is_tally) = self.echo.score(said);
                if is_tally {
                    self.tallies.put(unit, text, self.echo.likeness(said).same);
                    score = score.max(Score::TALLY);
                }
            }
            let start = shapes::start(said);
            if shapes::is_changed(&self.start, &start) {
                score = score.max(Score::CHANGED);
            }
            self.start = start;
        }
        let frequency = aim.needles.as_mut().and_then(|needles| self.holds(needles, unit, text));
        if frequency.is_some() {
            score = score.max(Score::ASKED_FOR);
        }
        Judged { score, is_asked_for: frequency == Some(Frequency::Few), is_tally }
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
        // Lines can be so short that their count takes more memory than their text. Store fewer of
        // those.
        while self.recent.units() > REACH
            && (self.recent.bytes() - self.recent.first_bytes() >= window
                || self.recent.units() > REACH + window / 4)
        {
            self.recent.pop_front();
        }
    }

    /// Returns how often a needle that ends in this unit occurs, if it is rare. It may begin in
    /// earlier pieces of the line.
    fn holds(&mut self, needles: &mut Needles, unit: Unit, text: &[u8]) -> Option<Frequency> {
        let line = &mut self.line;
        let from = line.len();
        line.extend_from_slice(text);
        let (found, frequency) = needles.count(line, unit.number + 1);
        // After a match, start over. Otherwise keep enough of the line to complete a needle.
        let keep = if found || line.ends_with(b"\n") { 0 } else { needles.longest - 1 };
        line.drain(..(from + text.len()).saturating_sub(keep));
        frequency
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
