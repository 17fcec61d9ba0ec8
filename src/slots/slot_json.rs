//! JSON of a result that still parses when it is cut.

use super::clamp_slots::SlotEdit;
use super::payload_name::with_names;
use super::side_data::written;
use super::slot_rules::SlotRules;
use crate::dialect::Slot;
use crate::dialect::path::As;
use crate::encoding::Utf8;
use crate::json::{Document, Literal, Value};
use crate::limits::{Limits, UNLIMITED};
use crate::policy::{JsonForm, Policy};
use crate::shape::{shape, shape_told};
use crate::tokens::Estimate;

/// JSON after a cut.
#[derive(Debug)]
pub struct SlotJson {
    pub edit: SlotEdit,
    /// More than white space is missing.
    pub is_less: bool,
}

/// Cuts the text of a slot to limits if it is a list or an object, and if the rules leave it JSON.
///
/// Data that no path reads always keeps its shape: it may hold the result of a host whose form is
/// not known, with its id and its name. So its longest texts are cut, where they stand. Words are
/// shorter than these and stay, and no value is replaced by another.
pub fn keep_shape(slot: &Slot, text: &Literal, limits: Limits, rules: &SlotRules) -> Option<SlotJson> {
    let form = if slot.is_rest() { JsonForm::Shape } else { rules.policy.json };
    if form == JsonForm::Text {
        return None;
    }
    let text = text.string();
    if !slot.is_rest() && !text.trim_start_matches(JSON_SPACES).starts_with(['{', '[']) {
        return None;
    }
    let lean = if slot.json.is_some() { with_names(&text) } else { None };
    let policy = Policy { limits, ..rules.policy.clone() };
    // A schema is that of a result, not of its parts.
    let policy = if slot.is_rest() { policy.of_rest() } else { policy };
    let cut = if form == JsonForm::Data { shape_told } else { shape };
    let made = cut(lean.as_deref().unwrap_or(&text), &policy)?;
    let json = String::from_utf8(made.json).ok().filter(|json| !json.is_empty())?;
    let is_data = slot.json.is_some_and(|json| json != As::Encoded);
    let edit = if is_data { SlotEdit::Put(as_written(&json)?) } else { SlotEdit::Replace(json) };
    Some(SlotJson { edit, is_less: made.is_less || lean.is_some() })
}

/// Cuts structured content that takes more than `most` bytes to `max`. `None` if it does not.
pub fn cap_shape(value: Value, max: usize, most: usize, policy: &Policy) -> Option<Option<String>> {
    let json = value.compact();
    if json.len() <= most {
        return None;
    }
    let limits = Limits { bytes: max, ..Limits::NONE };
    let made = shape(&json, &Policy { limits, ..policy.clone() })?;
    Some(String::from_utf8(made.json).ok().and_then(|json| as_written(&json)))
}

/// Returns the limits that JSON in place of a text has: the room that the text takes, under the
/// limits that there are. Its other texts may have fewer chars for the same bytes, or more.
pub fn room_of(text: &str, policy: &Policy) -> Limits {
    let of = |limit: usize, size: fn(&str) -> usize| if limit == UNLIMITED { UNLIMITED } else { size(text) };
    let limits = policy.limits;
    let tokens = match limits.counts_tokens() {
        true => Estimate::of(Utf8(text.as_bytes())).tokens(),
        false => UNLIMITED,
    };
    let (bytes, chars) = (of(limits.bytes, str::len), of(limits.chars, |text| text.encode_utf16().count()));
    Limits { bytes, chars, tokens, ..limits }
}

const JSON_SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

fn as_written(json: &str) -> Option<String> {
    Document::parse(json.as_bytes()).map(|document| written(document.root()))
}
