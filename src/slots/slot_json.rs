//! JSON of a result that still parses when it is cut.

use super::caller::{Caller, ShapeForm, ShapedJson, amounts, exceeded};
use super::clamp_slots::{SlotEdit, SlotKind, is_rest};
use super::payload_name::with_names;
use super::side_data::written;
use super::slot_rules::SlotRules;
use crate::dialect::path::As;
use crate::encoding::Utf8;
use crate::json::{Document, Literal, Value};
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::notice::Notice;
use crate::policy::{JsonForm, Keep, Policy};
use crate::shape::{shape, shape_told};
use crate::tokens::Estimate;
use crate::truncate::worded::{NoticeFacts, Words};

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
pub fn keep_shape(
    kind: SlotKind,
    text: &Literal,
    limits: Limits,
    rules: &SlotRules,
    caller: Caller,
) -> Option<SlotJson> {
    let form = if is_rest(kind) { JsonForm::Shape } else { rules.policy.json };
    if !is_rest(kind) && !may_shape(text, rules) {
        return None;
    }
    let text = text.string();
    let lean = if kind.is_some() { with_names(&text) } else { None };
    let policy = Policy { limits, ..rules.policy.clone() };
    let form = ShapeForm { tells: form == JsonForm::Data, is_rest: is_rest(kind) };
    let cut = |policy: &Policy| match caller.shape {
        Some(shape) => shape(lean.as_deref().unwrap_or(&text), policy, form),
        None => rewritten(lean.as_deref().unwrap_or(&text), policy, form),
    };
    let (json, cuts) = match caller.words.filter(|_| form.tells) {
        None => cut(&policy)?,
        Some(words) => worded(lean.as_deref().unwrap_or(&text), &policy, words, cut)?,
    };
    if json.is_empty() {
        return None;
    }
    let is_data = kind.is_some_and(|json| json != As::Encoded);
    let edit = if is_data { SlotEdit::Put(json) } else { SlotEdit::Replace(json) };
    Some(SlotJson { edit, is_less: cuts || lean.is_some() })
}

/// Rewrites JSON to fit a policy.
fn rewritten(json: &str, policy: &Policy, form: ShapeForm) -> Option<ShapedJson> {
    let made = match form {
        ShapeForm { tells: true, .. } => shape_told(json, policy)?,
        // A schema is that of a result, not of its parts.
        ShapeForm { is_rest: true, .. } => shape(json, &policy.of_rest())?,
        _ => shape(json, policy)?,
    };
    Some((String::from_utf8(made.json).ok()?, made.is_less))
}

/// Cuts JSON that says inside what is missing, in the words of the caller for a cut without a
/// notice.
fn worded(
    json: &str,
    policy: &Policy,
    words: Words,
    cut: impl Fn(&Policy) -> Option<ShapedJson>,
) -> Option<ShapedJson> {
    let (silent, is_less) = cut(&Policy { notice: Notice::None, ..policy.clone() })?;
    if !is_less {
        return Some((silent, is_less));
    }
    let text = Literal::from(json.to_owned());
    let facts = NoticeFacts {
        keep: Keep::Head,
        total: amounts(&text),
        kept: Usage { lines: 0, ..amounts(&silent.clone().into()) },
        lines: vec![],
        exceeded: exceeded(&[&text], &policy.limits),
    };
    let notice = words(&facts).map_or(Notice::Pi, Notice::Literal);
    cut(&Policy { notice, ..policy.clone() }).or(Some((silent, is_less)))
}

/// Returns true if a text may be the JSON of a list or an object, and rules leave such a text JSON.
/// Its start tells, so a text that JavaScript holds is not read for it.
pub fn may_shape(text: &Literal, rules: &SlotRules) -> bool {
    let is_space = |unit: &&u16| JSON_SPACES.contains(*unit);
    let starts =
        |start: &[u16]| start.iter().find(|unit| !is_space(unit)).map(|unit| CONTAINERS.contains(unit));
    rules.policy.json != JsonForm::Text && starts(&text.head(START)).unwrap_or(text.len() > START)
}

/// Chars in which a text that is JSON mostly starts. After as much white space, only all of it can
/// tell.
const START: usize = 64;

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

const JSON_SPACES: [u16; 4] = [b' ' as u16, b'\t' as u16, b'\r' as u16, b'\n' as u16];
const CONTAINERS: [u16; 2] = [b'{' as u16, b'[' as u16];

/// Returns JSON as a row has it: lone surrogates are replaced.
pub fn as_written(json: &str) -> Option<String> {
    Document::parse(json.as_bytes()).map(|document| written(document.root()))
}
