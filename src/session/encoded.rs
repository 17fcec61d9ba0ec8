//! Clamps a text that is itself JSON, so that it stays JSON, as `lib/dialect/encoded.ts` does for live objects.

use super::body::Body;
use super::clamp::{Fit, Rules, clamp_text};
use crate::json::literal::Part;
use crate::json::scan::Kind;
use crate::json::tree::{Id, Out, TOP, Tree};
use crate::json::{Literal, write};

/// Cuts the strings of an object, each to the same length, or else makes the whole one string. A text that is no JSON is
/// cut as it is. `None` where the text fits.
pub fn clamp(body: &Body, rules: &Rules) -> Option<Vec<u16>> {
    let cut = match clamp_text(body, rules) {
        Fit::Whole => return None,
        Fit::Broken => body.literal().string().encode_utf16().collect(),
        Fit::Cleaned(text) | Fit::Cut(text) => text,
    };
    let json = escaped(body.literal());
    let Some(tree) = Tree::parse(&json) else { return Some(cut) };
    let most = body.size().chars;
    let strings = |chars| members_cut(&tree, &rules.shortened(chars));
    let whole = |chars| string_cut(body, &rules.shortened(chars));
    let of_strings = if tree.kind(TOP) == Kind::Object { longest(most, rules, strings) } else { None };
    Some(of_strings.or_else(|| longest(most, rules, whole)).unwrap_or(cut))
}

/// The text in UTF-8, in which a lone surrogate, which has no place there, stands as an escape.
fn escaped(text: Literal) -> Vec<u8> {
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

/// The object with its strings cut; what else it holds stays.
fn members_cut(tree: &Tree, rules: &Rules) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (at, (name, value)) in tree.members(TOP).into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.put_string(tree.literal(name));
        out.push(b':');
        member_cut(tree, value, rules, &mut out);
    }
    out.push(b'}');
    out
}

fn member_cut(tree: &Tree, value: Id, rules: &Rules, out: &mut Vec<u8>) {
    if tree.kind(value) != Kind::String {
        return tree.write(value, None, out);
    }
    let body = Body::Row(tree.literal(value));
    match clamp_text(&body, rules) {
        Fit::Whole => out.put_string(tree.literal(value)),
        Fit::Broken => write::literal(
            &String::from_utf16_lossy(&body.literal().units()).encode_utf16().collect::<Vec<_>>(),
            out,
        ),
        Fit::Cleaned(text) | Fit::Cut(text) => write::literal(&text, out),
    }
}

fn string_cut(body: &Body, rules: &Rules) -> Vec<u8> {
    let mut out = vec![];
    let text = match clamp_text(body, rules) {
        Fit::Whole => body.literal().units(),
        Fit::Broken => body.literal().string().encode_utf16().collect(),
        Fit::Cleaned(text) | Fit::Cut(text) => text,
    };
    write::literal(&text, &mut out);
    out
}

/// The text of the greatest length, to a sixteenth, that fits; escapes make it longer than what it says.
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
