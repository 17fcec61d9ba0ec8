//! Truncates a string that contains JSON and keeps it valid.

use std::borrow::Cow;
use std::collections::HashMap;

use super::caller::Caller;
use super::clamp_slots::clamp_text;
use super::payload_name::{medium_of, omitted, with_names};
use super::slot_rules::SlotRules;
use crate::json::{Document, Literal, Value, string};

/// The rules for the texts of the JSON, and the caller.
#[derive(Clone)]
struct Cutter<'a> {
    rules: Cow<'a, SlotRules>,
    caller: Caller<'a>,
}

impl Cutter<'_> {
    /// Returns a cutter that leaves at most this many chars.
    fn shortened(&self, chars: usize) -> Self {
        Cutter { rules: Cow::Owned(self.rules.shortened(chars)), caller: self.caller.elsewhere() }
    }

    /// Returns what is left of a text, `None` if it fits as it is.
    fn cut(&self, text: &Literal) -> Option<String> {
        clamp_text(text, &self.rules, self.caller).string(text)
    }
}

/// Truncates the strings of an object to equal lengths, or replaces the whole with one string. Text
/// that is not valid JSON is truncated as it is. Returns `None` if the text fits. `most`: chars
/// that the limits allow.
pub fn clamp(text: &Literal, most: usize, rules: &SlotRules, caller: Caller) -> Option<String> {
    let cutter = &Cutter { rules: Cow::Borrowed(rules), caller };
    let cut = cutter.cut(text)?;
    let json = text.string();
    let Some(document) = Document::parse(json.as_bytes()) else { return Some(cut) };
    let (root, most) = (document.root(), most.min(text.size().chars));
    let names = names_in(root);
    let strings = |chars| members_cut(root, &names, &cutter.shortened(chars));
    let lean = with_names(&json).map(Literal::from);
    let left = |cutter: &_| left(lean.as_ref().unwrap_or(text), cutter);
    let whole = |chars| string(&left(&cutter.shortened(chars)));
    let of_strings = if root.is_object() { longest(most, cutter, strings) } else { None };
    let last = || if lean.is_some() { left(cutter) } else { cut };
    Some(of_strings.or_else(|| longest(most, cutter, whole)).unwrap_or_else(last))
}

/// Returns the replacements of the payloads among the members of an object, by position.
fn names_in(object: Value) -> HashMap<u32, Vec<String>> {
    let members: Vec<Value> = object.members().collect();
    let medium = medium_of(&members);
    let names = |member: &Value| Some((member.id(), omitted(&member.text()?, medium.as_deref())?));
    members.iter().filter_map(names).collect()
}

/// Returns the object with its strings truncated.
fn members_cut(object: Value, names: &HashMap<u32, Vec<String>>, cutter: &Cutter) -> String {
    object.compact_with(|leaf| {
        let text = leaf.text().filter(|_| leaf.parent() == Some(object))?;
        let Some(cut) = cutter.cut(&text) else {
            // U+FFFD takes less room than the escape of a lone surrogate.
            return text.has_lone().then(|| string(&text.string()));
        };
        let fits = |words: &&String| cutter.cut(&(*words).clone().into()).is_none();
        let name = names.get(&leaf.id()).and_then(|names| names.iter().find(fits));
        Some(string(name.unwrap_or(&cut)))
    })
}

fn left(text: &Literal, cutter: &Cutter) -> String {
    cutter.cut(text).unwrap_or_else(|| text.string())
}

/// Returns the longest text that fits, to a sixteenth of its length. Escapes make it longer than
/// its content.
fn longest(most: usize, cutter: &Cutter, make: impl Fn(usize) -> String) -> Option<String> {
    let (mut low, mut high) = (0, most);
    let mut best = None;
    while (high - low) * 16 > high {
        let chars = (low + high).div_ceil(2);
        let json = make(chars);
        if cutter.cut(&json.clone().into()).is_none() {
            (best, low) = (Some(json), chars);
        } else {
            high = chars - 1;
        }
    }
    best
}
