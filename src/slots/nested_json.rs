//! Truncates a string that contains JSON and keeps it valid.

use super::clamp_slots::{Fit, clamp_text};
use super::payload_name::{medium_of, omitted, with_names};
use super::slot_rules::SlotRules;
use crate::json::{Document, Literal, Value, string};

/// Truncates the strings of an object to equal lengths, or replaces the whole with one string. Text that is not valid
/// JSON is truncated as it is. Returns `None` if the text fits.
pub fn clamp(text: &Literal, rules: &SlotRules) -> Option<String> {
    let cut = match clamp_text(text, rules) {
        Fit::Whole => return None,
        Fit::Prepared(cut) | Fit::Cut(cut) => cut,
    };
    let json = text.string();
    let Some(document) = Document::parse(json.as_bytes()) else { return Some(cut) };
    let (root, most) = (document.root(), text.size().chars);
    let strings = |chars| members_cut(root, &rules.shortened(chars));
    let lean = with_names(&json).map(Literal::from);
    let whole = |chars| string(&left(lean.as_ref().unwrap_or(text), &rules.shortened(chars)));
    let of_strings = if root.is_object() { longest(most, rules, strings) } else { None };
    let last = || lean.as_ref().map_or(cut, |lean| left(lean, rules));
    Some(of_strings.or_else(|| longest(most, rules, whole)).unwrap_or_else(last))
}

/// Returns the object with its strings truncated.
fn members_cut(object: Value, rules: &SlotRules) -> String {
    let members: Vec<Value> = object.members().collect();
    let medium = medium_of(&members);
    object.compact_with(|leaf| {
        let text = leaf.text().filter(|_| leaf.parent() == Some(object))?;
        let cut = match clamp_text(&text, rules) {
            // U+FFFD takes less room than the escape of a lone surrogate.
            Fit::Whole => return text.has_lone().then(|| string(&text.string())),
            Fit::Prepared(cut) | Fit::Cut(cut) => cut,
        };
        let fits = |words: &String| matches!(clamp_text(&words.clone().into(), rules), Fit::Whole);
        let names = omitted(&text.string(), medium.as_deref());
        Some(string(&names.and_then(|names| names.into_iter().find(fits)).unwrap_or(cut)))
    })
}

fn left(text: &Literal, rules: &SlotRules) -> String {
    match clamp_text(text, rules) {
        Fit::Whole => text.string(),
        Fit::Prepared(cut) | Fit::Cut(cut) => cut,
    }
}

/// Returns the longest text that fits, to a sixteenth of its length. Escapes make it longer than its content.
fn longest(most: usize, rules: &SlotRules, make: impl Fn(usize) -> String) -> Option<String> {
    let limits = &rules.policy.limits;
    let (mut low, mut high) = (0, most.min(limits.bytes).min(limits.chars));
    let mut best = None;
    while (high - low) * 16 > high {
        let chars = (low + high).div_ceil(2);
        let json = make(chars);
        if matches!(clamp_text(&json.clone().into(), rules), Fit::Whole) {
            (best, low) = (Some(json), chars);
        } else {
            high = chars - 1;
        }
    }
    best
}
