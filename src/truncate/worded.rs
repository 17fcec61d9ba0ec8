//! Notices that a function of the caller words.
//!
//! The function gets the figures of the cut that its text will stand in, and the text takes room,
//! which changes the cut. So the notice is worded for a cut without one, and again as long as the
//! cut changes. The last word is that of the standard notice: a text that does not fit, or that
//! never describes its own cut, is not used.

use std::cell::OnceCell;

use super::figures::KeptParts;
use super::input::Input;
use super::long_lines::has_long_line;
use super::{Cut, truncate};
use crate::encoding::{Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::notice::Notice;
use crate::notice::counts::NeededCounts;
use crate::policy::{Keep, Policy};

/// Returns the text of a notice, or `None` for the standard one.
pub type Words<'a> = &'a dyn Fn(&NoticeFacts) -> Option<String>;

/// The facts that a notice states.
#[derive(Clone, Debug)]
pub struct NoticeFacts {
    pub keep: Keep,
    pub total: Usage,
    pub kept: Usage,
    /// The first and the last line of each kept run.
    pub lines: Vec<(usize, usize)>,
    pub exceeded: Exceeded,
}

/// For each limit, in the order of the contract, true if it is exceeded: bytes, lines, chars,
/// tokens, bytes of a line.
pub type Exceeded = [bool; 5];

/// Most calls of a notice function for one cut.
const CALLS: usize = 3;

/// Finds a cut that its worded notice describes. `cut` truncates to a policy; `facts` are those of
/// a cut, if there is one; `has` tells if a cut has a text as its notice, and `same` if two cuts
/// keep the same.
pub fn settle<T>(
    policy: &Policy,
    words: Words,
    cut: impl Fn(&Policy) -> T,
    facts: impl Fn(&T) -> Option<NoticeFacts>,
    has: impl Fn(&T, &str) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> T {
    let with = |notice: Notice| Policy { notice, ..policy.clone() };
    let worded = |text: &str| match policy.notice {
        Notice::Glued(_) => with(Notice::Glued(Box::new(Notice::Literal(text.to_owned())))),
        _ => with(Notice::Literal(text.to_owned())),
    };
    let mut made = cut(&with(Notice::None));
    let (mut text, mut roomy) = (String::new(), None);
    for call in 0..CALLS {
        let Some(facts) = facts(&made) else { return made };
        let Some(next) = words(&facts) else { return cut(&with(Notice::Pi)) };
        if next == text {
            return made;
        }
        let new = cut(&worded(&next));
        // Either the notice did not fit and another has replaced it, or it has not changed the cut
        // that it describes.
        if !has(&new, &next) || same(&new, &made) {
            return new;
        }
        let spare = if call > 0 { spare(&text, &next) } else { None };
        let before = std::mem::replace(&mut made, new);
        if let Some(spare) = spare {
            roomy = Some((before, next.clone(), spare));
        }
        text = next;
    }
    // If two notices lead to each other's cuts, the shorter one describes the cut that the longer
    // one leaves.
    if let Some((before, text, spare)) = roomy {
        let limits = policy.limits.less(spare);
        let new = cut(&Policy { limits, ..worded(&text) });
        if has(&new, &text) && same(&new, &before) {
            return new;
        }
    }
    cut(&with(Notice::Pi))
}

/// Returns the room that is left if `text` replaces the notice `room`, or `None` if it needs more
/// of any unit.
fn spare(room: &str, text: &str) -> Option<Usage> {
    let [from, to] = [room, text].map(|text| Extent::of(Utf8(text.as_bytes()), &Limits::NONE).usage());
    to.at_most(from).then(|| from.minus(to))
}

/// Truncates a text, with the notice of a function if there is one.
pub fn truncate_worded<T: Text>(input: &Input<T>, policy: &Policy, words: Option<Words>) -> Option<Cut> {
    let Some(words) = words else { return truncate(input, policy) };
    let found = OnceCell::new();
    let cut = |own: &Policy| {
        // A search is for its limits.
        let is_other = input.found.is_some() && own.limits != policy.limits;
        truncate(&if is_other { input.with_found(&found) } else { *input }, own)
    };
    let facts = |cut: &Option<Cut>| {
        let cut = cut.as_ref()?;
        let total = input.size(NeededCounts::ALL);
        let total =
            Usage { bytes: total.bytes, lines: total.lines(input.is_open()), chars: total.chars, tokens: 0 };
        let is_long = has_long_line(input.head, policy.limits.line_bytes);
        let exceeded = exceeded_by(input.usage(&policy.limits), is_long, &policy.limits);
        Some(NoticeFacts::of(cut.keep, total, cut.kept(input), exceeded))
    };
    let has_text = |cut: &Cut, text: &str| cut.notice_text(input.parts(cut.sides).0.chars()) == text;
    let has = |cut: &Option<Cut>, text: &str| cut.as_ref().is_some_and(|cut| has_text(cut, text));
    let ranges = |cut: &Option<Cut>| cut.as_ref().map(|cut| cut.kept(input).ranges);
    settle(policy, words, cut, facts, has, |a, b| ranges(a) == ranges(b))
}

impl NoticeFacts {
    pub fn of(keep: Keep, total: Usage, kept: KeptParts, exceeded: Exceeded) -> NoticeFacts {
        NoticeFacts { keep, total, kept: kept.usage(), lines: kept.lines.ranges, exceeded }
    }
}

/// Returns the limits that an amount exceeds.
pub fn exceeded_by(all: Usage, has_long_line: bool, limits: &Limits) -> Exceeded {
    let Usage { bytes, lines, chars, tokens } = all;
    [bytes > limits.bytes, lines > limits.lines, chars > limits.chars, tokens > limits.tokens, has_long_line]
}
