//! Truncates the texts of one tool result.

use std::cell::OnceCell;
use std::sync::Arc;

use super::nested_json;
use super::payload_name::with_names;
use super::slot_json::{SlotJson, keep_shape, room_of};
use super::slot_rules::{SlotRules, fits, surely_fit};
use super::slot_text::{Windows, ends, parted, prepared, windows};
use crate::dialect::Slot;
use crate::dialect::path::As;
use crate::encoding::whitespace::{is_space, is_visible};
use crate::encoding::{Latin1, Size, Text, Utf16, size};
use crate::json::{Literal, Value};
use crate::limits::Limits;
use crate::policy::{JsonForm, Policy};
use crate::share::{Block, share};
use crate::truncate::input::Input;
use crate::truncate::pass::Found;
use crate::truncate::truncate;

/// The change to one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotEdit {
    Keep,
    /// Replace lone surrogates with U+FFFD.
    Mend,
    Replace(String),
    /// Put JSON in the place of JSON.
    Put(String),
    Drop,
}

/// The changes to the texts of one result.
#[derive(Clone, Debug, Default)]
pub struct SlotCuts {
    pub edits: Vec<SlotEdit>,
    /// Some text was omitted.
    pub truncated: bool,
}

/// Truncates the texts of one result, which are those of its slots.
pub fn clamp_slots(slots: &[Slot], texts: &[Literal], rules: &SlotRules) -> SlotCuts {
    if !rules.prepares() && surely_fit(texts, &rules.policy) {
        return SlotCuts { edits: slots.iter().map(whole).collect(), truncated: false };
    }
    match (slots, texts) {
        ([slot], [text]) => clamp_one(slot, text, rules),
        _ => clamp_together(slots, texts, rules),
    }
}

/// Returns the outcome of a slot that is kept whole.
fn whole(slot: &Slot) -> SlotEdit {
    let has_escape = memchr::memmem::find(slot.value.source(), b"\\u").is_some();
    let mut texts = slot.values().iter().flat_map(|value| value.leaves()).filter_map(Value::text);
    if has_escape && texts.any(|text| text.has_lone()) { SlotEdit::Mend } else { SlotEdit::Keep }
}

fn clamp_one(slot: &Slot, text: &Literal, rules: &SlotRules) -> SlotCuts {
    if slot.is_rest() {
        let is_over = matches!(clamp(text, &rules.head()), Fit::Cut(_));
        let edit = if is_over { shorten_rest(slot, text, rules.policy.limits, rules) } else { whole(slot) };
        return SlotCuts { edits: vec![edit], truncated: is_over };
    }
    if let Some(SlotJson { edit, is_less }) = shape_one(slot, text, rules) {
        return SlotCuts { edits: vec![edit], truncated: is_less };
    }
    let fit = match slot.json {
        Some(As::Encoded) | None => clamp_text(text, rules),
        Some(_) => clamp_json(text, rules),
    };
    let truncated = matches!(fit, Fit::Cut(_));
    let edit = match fit {
        Fit::Whole => whole(slot),
        _ if slot.json == Some(As::Encoded) => {
            let most = rules.policy.limits.bytes.min(rules.policy.limits.chars);
            nested_json::clamp(text, most, rules).map_or_else(|| whole(slot), SlotEdit::Replace)
        }
        Fit::Prepared(text) => SlotEdit::Replace(text),
        Fit::Cut(cut) => SlotEdit::Replace(showing(cut, text, rules)),
    };
    SlotCuts { edits: vec![edit], truncated }
}

fn shape_one(slot: &Slot, text: &Literal, rules: &SlotRules) -> Option<SlotJson> {
    if rules.policy.json == JsonForm::Text {
        return None;
    }
    let made = if slot.json.is_none() { prepared(text, rules) } else { None };
    let text = made.as_ref().unwrap_or(text);
    let is_over = matches!(clamp(text, &rules.head()), Fit::Cut(_));
    if is_over { keep_shape(slot, text, rules.policy.limits, rules) } else { None }
}

/// Shortens the JSON of data that no path reads. It is dropped if not even an empty value fits.
fn shorten_rest(slot: &Slot, text: &Literal, limits: Limits, rules: &SlotRules) -> SlotEdit {
    keep_shape(slot, text, limits, rules).map_or(SlotEdit::Drop, |shaped| shaped.edit)
}

/// Truncates JSON. If it does not fit, its payloads are replaced by their names first.
pub fn clamp_json(text: &Literal, rules: &SlotRules) -> Fit {
    let fit = clamp(text, rules);
    let lean = if matches!(fit, Fit::Cut(_)) { with_names(&text.string()) } else { None };
    lean.map_or(fit, |lean| match clamp(&lean.clone().into(), rules) {
        Fit::Whole => Fit::Cut(lean),
        fit => fit,
    })
}

/// Returns the truncated text. If that has no visible chars, returns the visible start of the
/// original instead.
fn showing(cut: String, text: &Literal, rules: &SlotRules) -> String {
    if is_visible(cut.chars()) {
        return cut;
    }
    let visible = text.string().trim_start_matches(is_space).to_owned();
    if visible.is_empty() {
        return cut;
    }
    match clamp_text(&visible.clone().into(), &rules.head()) {
        Fit::Whole => visible,
        Fit::Prepared(text) | Fit::Cut(text) => text,
    }
}

/// The outcome of fitting a text to its limits.
#[derive(Clone, Debug)]
pub enum Fit {
    Whole,
    Prepared(String),
    Cut(String),
}

/// Prepares and truncates a tool's text.
pub fn clamp_text(text: &Literal, rules: &SlotRules) -> Fit {
    let Some(prepared) = prepared(text, rules) else { return clamp(text, rules) };
    match clamp(&prepared, rules) {
        Fit::Whole => Fit::Prepared(prepared.string()),
        fit => fit,
    }
}

/// Truncates a prepared text, so that preparing it again changes nothing.
fn clamp(text: &Literal, rules: &SlotRules) -> Fit {
    let policy = &rules.policy;
    // A search reads the whole text, and without its escapes, it is counted sooner.
    if policy.searches()
        && let Some(ascii) = text.ascii()
    {
        let size = size::of_utf8(&ascii);
        let input = Input::whole(Latin1(&ascii)).with_totals(size);
        return if fits(size, 1, 1, &policy.limits) { Fit::Whole } else { cut(&input, rules) };
    }
    let size = text.size();
    // Most measured texts fit and need not be decoded.
    if fits(size, 1, 1, &policy.limits) {
        return Fit::Whole;
    }
    // A search reads UTF-8, which a long text is in already.
    if policy.searches()
        && !has_long_lines(size, policy)
        && let Some(ends) = ends(text, size.chars, policy)
    {
        let found = OnceCell::from(Arc::new(Found::of_text(&text.string(), policy)));
        return cut(&input(&ends, size).with_found(&found), rules);
    }
    cut(&input(&windows_for(text, size, policy), size), rules)
}

fn cut<T: Text>(input: &Input<T>, rules: &SlotRules) -> Fit {
    match truncate(input, &rules.policy) {
        Some(cut) => Fit::Cut(parted(cut.string(input), rules)),
        None => Fit::Whole,
    }
}

/// Returns the parts of a text that a cut can need: the whole text if lines are limited.
fn windows_for(text: &Literal, size: Size, policy: &Policy) -> Windows {
    if has_long_lines(size, policy) { (text.units(), vec![]) } else { windows(text, size.chars, policy) }
}

/// Returns true if a text may have a line over the limit of one line.
fn has_long_lines(size: Size, policy: &Policy) -> bool {
    policy.limits.line_bytes < size.chars.saturating_mul(3)
}

fn input(windows: &Windows, size: Size) -> Input<'_, Utf16<'_>> {
    Input::ends(Utf16(&windows.0), Utf16(&windows.1), size.chars).with_totals(size)
}

fn clamp_together(slots: &[Slot], texts: &[Literal], rules: &SlotRules) -> SlotCuts {
    let prepare =
        |(slot, text): (&Slot, &Literal)| if slot.json.is_none() { prepared(text, rules) } else { None };
    let mut made: Vec<Option<Literal>> = slots.iter().zip(texts).map(prepare).collect();
    let mut truncated = false;
    loop {
        let texts: Vec<&Literal> =
            texts.iter().zip(&made).map(|(text, made)| made.as_ref().unwrap_or(text)).collect();
        let shared = share_texts(slots, &texts, rules);
        truncated |= shared.iter().any(|shared| *shared != SharedText::Whole);
        // Naming the payloads of one text may leave room for another.
        let is_json = |at: usize| slots[at].json.is_some();
        let lean = |at: usize| match shared[at] {
            SharedText::Whole => None,
            _ if !is_json(at) => None,
            _ => with_names(&texts[at].string()).map(Literal::from),
        };
        let named: Vec<Option<Literal>> = (0..slots.len()).map(lean).collect();
        if named.iter().all(Option::is_none) {
            let edits = shared.into_iter().enumerate().map(|(at, shared)| match shared {
                SharedText::Whole if made[at].is_some() && slots[at].is_rest() => {
                    shorten_rest(&slots[at], texts[at], rules.policy.limits, rules)
                }
                SharedText::Whole if made[at].is_some() => SlotEdit::Replace(texts[at].string()),
                SharedText::Whole => whole(&slots[at]),
                SharedText::Text(text) => {
                    let room = room_of(&text, &rules.policy);
                    if slots[at].is_rest() {
                        return shorten_rest(&slots[at], texts[at], room, rules);
                    }
                    let shaped = keep_shape(&slots[at], texts[at], room, rules);
                    shaped.map_or(SlotEdit::Replace(text), |shaped| shaped.edit)
                }
                SharedText::Notice(_) if slots[at].is_rest() => SlotEdit::Drop,
                SharedText::Notice(text) => SlotEdit::Replace(text),
                SharedText::Gone => SlotEdit::Drop,
            });
            return SlotCuts { edits: edits.collect(), truncated };
        }
        for (made, named) in made.iter_mut().zip(named) {
            *made = named.or(made.take());
        }
    }
}

/// The outcome for one of several texts.
#[derive(PartialEq, Eq)]
enum SharedText {
    Whole,
    Text(String),
    /// The text was dropped, and a notice is in its place.
    Notice(String),
    Gone,
}

/// Shares the limits among the texts of one result.
fn share_texts(slots: &[Slot], texts: &[&Literal], rules: &SlotRules) -> Vec<SharedText> {
    let (policy, of_data) = (&rules.policy, &rules.head().policy);
    let sizes: Vec<Size> = texts.iter().map(|text| text.size()).collect();
    let all = || slots.iter().map(Slot::is_rest).zip(&sizes);
    let windows: Vec<Windows> = texts
        .iter()
        .zip(all())
        .map(|(text, (is_rest, size))| windows_for(text, *size, if is_rest { of_data } else { policy }))
        .collect();
    let inputs: Vec<_> = windows
        .iter()
        .zip(all())
        .map(|(windows, (is_rest, size))| input(windows, *size).of_data(is_rest))
        .collect();
    let left = |block| match block {
        Block::Whole => SharedText::Whole,
        Block::Lines(text) => SharedText::Text(parted(String::from_utf16_lossy(&text), rules)),
        Block::Cut(cut) => SharedText::Text(parted(cut.middle, rules)),
        Block::Gone => SharedText::Gone,
        Block::Replaced(text) => SharedText::Notice(parted(text.into_owned(), rules)),
    };
    share(&inputs, policy, false).into_iter().map(left).collect()
}
