//! Truncates a string that contains JSON and keeps it valid, as `lib/dialect/encoded.ts` does for live objects.

use super::body::Body;
use super::clamp::{Fit, Rules, clamp_text};
use super::payload::{medium_of, omitted, with_names};
use crate::json::literal::Part;
use crate::json::scan::Kind;
use crate::json::tree::{Id, Out, TOP, Tree, string};
use crate::json::{Literal, write};

/// Truncates the strings of an object to equal lengths, or replaces the whole with one string. Text that is not valid
/// JSON is truncated as it is. Returns `None` if the text fits.
pub fn clamp(body: &Body, rules: &Rules) -> Option<Vec<u16>> {
    let cut = match clamp_text(body, rules) {
        Fit::Whole => return None,
        fit => units_of(fit, body),
    };
    let json = escaped(body.literal());
    let Some(tree) = Tree::parse(&json) else { return Some(cut) };
    let most = body.size().chars;
    let strings = |chars| members_cut(&tree, &rules.shortened(chars));
    let lean = with_names(&json).map(Body::Made);
    let whole = |chars| string_cut(lean.as_ref().unwrap_or(body), &rules.shortened(chars));
    let of_strings = if tree.kind(TOP) == Kind::Object { longest(most, rules, strings) } else { None };
    let last = || lean.as_ref().map_or(cut, |lean| left(lean, rules));
    Some(of_strings.or_else(|| longest(most, rules, whole)).unwrap_or_else(last))
}

/// Returns the text as UTF-8. Lone surrogates, which UTF-8 cannot represent, are escaped.
pub fn escaped(text: Literal) -> Vec<u8> {
    let mut out = vec![];
    for part in text.parts() {
        match part {
            Part::Run(bytes) => Literal::plain(bytes).write_utf8(&mut out),
            Part::Char(point) => out.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes()),
            Part::Lone(unit) => write::push_unit(unit, &mut out),
        }
    }
    out
}

/// Returns the object with its strings truncated.
fn members_cut(tree: &Tree, rules: &Rules) -> Vec<u8> {
    let mut out = vec![b'{'];
    let members = tree.members(TOP);
    let medium = medium_of(tree, &members);
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.put_string(tree.literal(name));
        out.push(b':');
        member_cut(tree, value, medium.as_deref(), rules, &mut out);
    }
    out.push(b'}');
    out
}

fn member_cut(tree: &Tree, value: Id, medium: Option<&str>, rules: &Rules, out: &mut Vec<u8>) {
    if tree.kind(value) != Kind::String {
        return tree.write(value, None, out);
    }
    let text = tree.literal(value);
    let body = Body::Row(text);
    let fit = clamp_text(&body, rules);
    if matches!(fit, Fit::Whole) {
        return out.put_string(text);
    }
    let fits = |words: &String| matches!(clamp_text(&Body::Made(words.clone().into()), rules), Fit::Whole);
    match omitted(text, medium).and_then(|names| names.into_iter().find(fits)) {
        Some(name) => out.put(&string(&name)),
        None => write::literal(&units_of(fit, &body), out),
    }
}

fn string_cut(body: &Body, rules: &Rules) -> Vec<u8> {
    let mut out = vec![];
    write::literal(&left(body, rules), &mut out);
    out
}

fn left(body: &Body, rules: &Rules) -> Vec<u16> {
    units_of(clamp_text(body, rules), body)
}

/// Returns the text of an outcome.
fn units_of(fit: Fit, body: &Body) -> Vec<u16> {
    match fit {
        Fit::Whole => body.literal().units(),
        Fit::Broken => body.literal().string().encode_utf16().collect(),
        Fit::Cleaned(text) | Fit::Cut(text) => text,
    }
}

/// Returns the longest text that fits, to a sixteenth of its length. Escapes make it longer than its content.
fn longest(most: usize, rules: &Rules, make: impl Fn(usize) -> Vec<u8>) -> Option<Vec<u16>> {
    let limits = &rules.policy.limits;
    let (mut low, mut high) = (0, most.min(limits.bytes).min(limits.chars));
    let mut best = None;
    while (high - low) * 16 > high {
        let chars = (low + high).div_ceil(2);
        let body = Body::Made(make(chars));
        if matches!(clamp_text(&body, rules), Fit::Whole) {
            best = Some(body.literal().units());
            low = chars;
        } else {
            high = chars - 1;
        }
    }
    best
}
