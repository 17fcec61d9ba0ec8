//! How the streams share the room.

use super::bytes::plain;
use super::code::is_code;
use super::diff::Place;
use super::log::{is_log, may_be_log};
use super::prefix::without_prefix;
use super::score::{Score, score};
use super::tally::is_tally;
use super::{Selection, told};
use crate::policy::{Keep, Policy};

/// The streams that a cut takes lines from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// From the start of the text, and from its end.
    Head,
    Tail,
    /// Findings, each alone, the highest worth first.
    Findings,
    /// The lines next to findings, and the heading of each.
    Context,
    /// More lines on either side of findings.
    Around,
    /// Lines that state results, the last one first, and lines before the last one.
    Tallies,
    Before,
    /// Lines that have most of the question.
    Answers,
    /// Lines that have names and words that no kept line has.
    Names,
}

impl Stream {
    pub fn name(self) -> &'static str {
        match self {
            Stream::Head => "head",
            Stream::Tail => "tail",
            Stream::Findings => "findings",
            Stream::Context => "context",
            Stream::Around => "around",
            Stream::Tallies => "tallies",
            Stream::Before => "before",
            Stream::Answers => "answers",
            Stream::Names => "names",
        }
    }
}

pub const STREAMS: [Stream; 9] = [
    Stream::Head,
    Stream::Tail,
    Stream::Findings,
    Stream::Context,
    Stream::Around,
    Stream::Tallies,
    Stream::Before,
    Stream::Answers,
    Stream::Names,
];

/// The share of each stream in thousandths.
pub type Shares = [u64; STREAMS.len()];

/// Shares of a text that tells of a failure, and of one that tells of none. The comment at the head
/// of the module tells where they come from.
const FAILED: Shares = [50, 70, 230, 330, 100, 120, 100, 90, 60];
const PLAIN: Shares = [110, 110, 0, 0, 0, 0, 0, 80, 700];

/// All of the weight of a failure.
pub const WHOLE: u64 = 1_000;
/// The weight of a failure that only the end of the text tells of, and nothing else.
const VERDICT: u64 = 550;
/// The weight of a failure in a text that tells of none, unless it is code.
const UNTOLD: u64 = 250;

/// Lines of a text that are looked at to tell a log or code.
const SAMPLE: usize = 600;

/// The last lines of a text that may hold a verdict, and the least score of one.
const LAST: usize = 40;
const VERDICT_SCORE: Score = Score(16);

/// The weight of a failure, and the share of each stream by it or by the ends that a policy keeps.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub weight: u64,
    pub shares: Shares,
}

impl Mix {
    /// Shares the room, given the weight of a failure.
    pub fn of_failure(weight: u64) -> Mix {
        let share = |at: usize| (FAILED[at] * weight + PLAIN[at] * (WHOLE - weight)) / WHOLE;
        Mix { weight, shares: std::array::from_fn(share) }
    }

    /// Shares what needles leave of the room between the ends.
    fn of_ends(policy: &Policy) -> Mix {
        let head = match policy.keep {
            Keep::Head => WHOLE,
            Keep::Tail => 0,
            _ => (policy.head_share * WHOLE as f64) as u64,
        };
        let mut shares = Shares::default();
        shares[Stream::Head as usize] = head;
        shares[Stream::Tail as usize] = WHOLE - head;
        Mix { weight: 0, shares }
    }
}

impl Selection {
    /// Weighs how the streams share the room.
    pub fn mix(&self, policy: &Policy, places: &[Option<Place>]) -> Mix {
        if policy.reserves() { Mix::of_ends(policy) } else { Mix::of_failure(self.weight(policy, places)) }
    }

    /// Weighs whether the text tells of a failure, up to [`WHOLE`].
    fn weight(&self, policy: &Policy, places: &[Option<Place>]) -> u64 {
        if policy.seeks_failure() {
            return WHOLE;
        }
        if policy.keep == Keep::Relevant {
            return 0;
        }
        let lines = || self.lines().step_by(1 + self.lines().size_hint().0 / SAMPLE);
        let back = self.state.recent.texts_back().chain(self.state.head.texts_back());
        if told::tells_failure(self.lines(), back) {
            return WHOLE;
        }
        // Changed lines may say anything.
        if places.iter().flatten().count() * 2 > places.len() && !places.is_empty() {
            return 0;
        }
        if is_log(lines()) {
            return WHOLE;
        }
        let (mut all, mut code) = (0, 0);
        for line in lines().filter(|line| !line.trim_ascii().is_empty()) {
            all += 1;
            code += u64::from(is_code(line));
        }
        let rest = 100 - 100 * code / all.max(1);
        if rest > 50 && self.ends_in_verdict() {
            return if may_be_log(lines()) { WHOLE } else { VERDICT };
        }
        UNTOLD * rest * rest / 10_000
    }

    /// Returns true if the last lines state a result that is a failure.
    fn ends_in_verdict(&self) -> bool {
        self.state.recent.texts_back().take(LAST).any(|text| {
            let text = plain(text);
            let said = without_prefix(&text);
            let score = score(said);
            !is_code(said) && (score >= VERDICT_SCORE || score > Score::default() && is_tally(said))
        })
    }
}
