//! Truncates a text that JavaScript holds.
//!
//! Only as much of it is read as a cut can need: both ends, in the width of the string, and pieces
//! where all of the text is searched or counted. The cut comes back as the kept ranges, which
//! JavaScript slices, and the text between them: a whole text would be copied four times.

use super::caller::{Caller, less};
use super::clamp_slots::Fit;
use super::slot_rules::{SlotRules, fits};
use super::slot_text::parted;
use crate::encoding::{Latin1, StringPiece, Text, Utf16};
use crate::json::Literal;
use crate::json::held::{Chars, Held};
use crate::limits::Usage;
use crate::notice::earlier;
use crate::policy::{Keep, Policy};
use crate::truncate::input::Input;
use crate::truncate::sides::Sides;
use crate::truncate::worded::truncate_worded;

/// Chars of a text that are searched, as in lib/text/pieces.ts: JavaScript waits for them.
pub const SEARCHED: usize = 16 * 1024 * 1024;

/// The rest of a held text after a cut: its sides, and the text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCut {
    /// The number of the text.
    pub at: u32,
    pub sides: Sides,
    pub middle: String,
    /// The sides have lone surrogates, which become U+FFFD.
    pub is_broken: bool,
}

impl HeldCut {
    /// Returns what is left of `text`.
    pub fn string(&self, text: &Literal) -> String {
        let [head, tail] = self.sides.parts().map(|part| match text.held() {
            Some(held) => String::from_utf16_lossy(&held.wide(part)),
            None => String::new(),
        });
        head + &self.middle + &tail
    }
}

/// Truncates a held text, which needs no preparing.
pub fn clamp_held(held: &Held, rules: &SlotRules, caller: Caller) -> Fit {
    let limits = &rules.policy.limits;
    let units = held.units();
    let is_by_size = !limits.counts_tokens() && limits.line_bytes == usize::MAX;
    if is_by_size && units <= limits.bytes.min(limits.chars) && fits(held.size(), 1, 1, limits) {
        return Fit::Whole;
    }
    let (head, tail) = reach(held, &rules.policy);
    let (head, tail) = (0..head, units - tail..units);
    match held.narrow(head.clone()).zip(held.narrow(tail.clone())) {
        Some((head, tail)) => clamp_ends(held, Latin1(&head), Latin1(&tail), rules, caller),
        None => clamp_ends(held, Utf16(&held.wide(head)), Utf16(&held.wide(tail)), rules, caller),
    }
}

/// Returns both ends that a cut of several texts can need. The tail is empty if the head is the
/// whole text.
pub fn ends<'a>(held: &Held<'a>, policy: &Policy) -> (Chars<'a, u16>, Chars<'a, u16>) {
    let ((head, tail), units) = (reach(held, policy), held.units());
    (held.wide(0..head), held.wide(units - tail..units))
}

/// Returns the chars of both ends that a cut can need, as `windows` in lib/text/pieces.ts.
fn reach(held: &Held, policy: &Policy) -> (usize, usize) {
    let (limits, units) = (&policy.limits, held.units());
    if limits.line_bytes != usize::MAX {
        return (units, 0);
    }
    let reach = limits.bytes.min(limits.chars).saturating_add(2);
    let [head, tail] = [Keep::Tail, Keep::Head].map(|other| if policy.keep == other { 0 } else { reach });
    if units <= head.max(tail).max(earlier::SEARCHED) {
        return (units, 0);
    }
    let [head, tail] = [head, tail].map(|side| side.saturating_add(earlier::LONGEST).min(units));
    (head, tail)
}

fn clamp_ends<T: Text>(held: &Held, head: T, tail: T, rules: &SlotRules, caller: Caller) -> Fit {
    let each = |take: &mut dyn FnMut(StringPiece) -> bool| held.each(take);
    let found = caller.found(held);
    let input = Input::ends(head, tail, held.units());
    let input = match input.is_whole() {
        true => input,
        false => input.with_pieces(&each, SEARCHED).with_found(&found),
    };
    let Some(cut) = truncate_worded(&input, &rules.policy, caller.words) else { return Fit::Whole };
    let mut kept = if caller.counts { cut.kept(&input).usage() } else { Usage::default() };
    if rules.prepares() {
        let joined = cut.string(&input);
        let left = parted(joined.clone(), rules);
        if left != joined {
            kept = if caller.counts { less(kept, &joined, &left) } else { kept };
            return Fit::Cut(left, kept);
        }
    }
    let (head, tail) = input.parts(cut.sides);
    let is_broken = head.broken() + tail.broken() > 0;
    Fit::Held(HeldCut { at: held.at(), sides: cut.sides, middle: cut.middle, is_broken }, kept)
}
