//! Truncates the texts of one tool result.

use std::cell::OnceCell;
use std::sync::Arc;

use super::caller::{Caller, CutFigures, amounts, exceeded, less};
use super::held_text::{HeldCut, clamp_held};
use super::nested_json;
use super::payload_name::with_names;
use super::shared_texts::{Shared, SharedText, share_texts};
use super::slot_json::{SlotJson, as_written, keep_shape, may_shape, room_of};
use super::slot_rules::{SlotRules, fits, surely_fit};
use super::slot_text::{ends, has_long_lines, input, parted, prepared, windows_for};
use crate::dialect::Slot;
use crate::dialect::path::As;
use crate::encoding::whitespace::{is_space, is_visible};
use crate::encoding::{Latin1, NEWLINE, Text, size};
use crate::json::{Literal, Value};
use crate::limits::{Limits, Usage};
use crate::policy::{Policy, Share};
use crate::truncate::input::Input;
use crate::truncate::pass::Found;
use crate::truncate::worded::{Exceeded, truncate_worded};

/// The change to one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotEdit {
    Keep,
    /// Replace lone surrogates with U+FFFD.
    Mend,
    Replace(String),
    /// Cut a text that JavaScript holds.
    Cut(HeldCut),
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
    /// Those of all texts together, if they are read. The total is that of the given texts.
    pub figures: CutFigures,
}

/// Truncates the texts of one result, which are those of its slots.
pub fn clamp_slots(slots: &[Slot], texts: &[Literal], rules: &SlotRules, caller: Caller) -> SlotCuts {
    let kinds: Vec<SlotKind> = slots.iter().map(|slot| slot.json).collect();
    let mut cuts = clamp_texts(&kinds, texts, rules, caller);
    for (edit, slot) in cuts.edits.iter_mut().zip(slots) {
        match edit {
            SlotEdit::Keep => *edit = whole(slot),
            SlotEdit::Put(json) => {
                if let Some(made) = as_written(json) {
                    *json = made;
                }
            }
            _ => {}
        }
    }
    cuts
}

/// The form of a text that is JSON of data, or a string with JSON.
pub type SlotKind = Option<As>;

pub fn is_rest(kind: SlotKind) -> bool {
    kind == Some(As::Rest)
}

/// Truncates the texts of one result. Lone surrogates of a text that is kept stay.
pub fn clamp_texts(kinds: &[SlotKind], texts: &[Literal], rules: &SlotRules, caller: Caller) -> SlotCuts {
    let is_joined = rules.policy.share == Share::Stay && texts.len() > 1;
    if !rules.prepares() && !is_joined && surely_fit(texts, &rules.policy) {
        return SlotCuts { edits: vec![SlotEdit::Keep; kinds.len()], ..SlotCuts::default() };
    }
    match (kinds, texts) {
        ([kind], [text]) => clamp_one(*kind, text, rules, caller),
        _ if is_joined => clamp_joined(kinds, texts, rules, caller),
        _ => clamp_together(kinds, texts, rules, caller),
    }
}

/// Returns the outcome of a slot that is kept whole.
fn whole(slot: &Slot) -> SlotEdit {
    let has_escape = memchr::memmem::find(slot.value.source(), b"\\u").is_some();
    let mut texts = slot.values().iter().flat_map(|value| value.leaves()).filter_map(Value::text);
    if has_escape && texts.any(|text| text.has_lone()) { SlotEdit::Mend } else { SlotEdit::Keep }
}

fn clamp_one(kind: SlotKind, text: &Literal, rules: &SlotRules, caller: Caller) -> SlotCuts {
    let limits = &rules.policy.limits;
    let figures = |kept: Usage, judged: &Literal| match caller.counts {
        true => CutFigures { total: amounts(text), kept, exceeded: exceeded(&[judged], limits) },
        false => CutFigures::default(),
    };
    if is_rest(kind) {
        let is_over = clamp(text, &rules.head(), Caller::default()).is_cut();
        let edit = if is_over { shorten_rest(text, *limits, rules) } else { SlotEdit::Keep };
        let figures = if is_over { figures(left_of(&edit), text) } else { CutFigures::default() };
        return SlotCuts { edits: vec![edit], truncated: is_over, figures };
    }
    // JSON stays as it is, unless it is a string with texts of its own.
    let made = match kind {
        None if caller.prepares => None,
        None => prepared(text, rules),
        Some(As::Encoded) => prepared(text, rules),
        Some(_) => None,
    };
    let ready = made.as_ref().unwrap_or(text);
    let json = if kind.is_none() { ready } else { text };
    if let Some(SlotJson { edit, is_less }) = shape_one(kind, json, rules, caller) {
        let figures = if is_less { figures(left_of(&edit), json) } else { CutFigures::default() };
        return SlotCuts { edits: vec![edit], truncated: is_less, figures };
    }
    let fit = match (kind, &made) {
        (_, Some(made)) => fit_prepared(made, rules, caller),
        (Some(As::Encoded) | None, None) => clamp(text, rules, caller),
        (Some(_), None) => clamp_json(text, rules, caller),
    };
    let (truncated, figures) = match &fit {
        Fit::Cut(_, kept) | Fit::Held(_, kept) => (true, figures(*kept, ready)),
        Fit::Whole | Fit::Prepared(_) => (false, CutFigures::default()),
    };
    let edit = match fit {
        Fit::Whole => SlotEdit::Keep,
        _ if kind == Some(As::Encoded) => {
            let most = limits.bytes.min(limits.chars);
            nested_json::clamp(text, most, rules, caller).map_or(SlotEdit::Keep, SlotEdit::Replace)
        }
        Fit::Prepared(text) => SlotEdit::Replace(text),
        Fit::Cut(cut, _) => SlotEdit::Replace(showing(cut, ready, rules)),
        Fit::Held(cut, _) if is_visible(cut.middle.chars()) => SlotEdit::Cut(cut),
        Fit::Held(cut, _) => SlotEdit::Replace(showing(cut.string(text), ready, rules)),
    };
    SlotCuts { edits: vec![edit], truncated, figures }
}

/// Measures the JSON that an edit leaves.
fn left_of(edit: &SlotEdit) -> Usage {
    match edit {
        SlotEdit::Put(json) | SlotEdit::Replace(json) => amounts(&json.clone().into()),
        _ => Usage::default(),
    }
}

fn shape_one(kind: SlotKind, text: &Literal, rules: &SlotRules, caller: Caller) -> Option<SlotJson> {
    let is_over = may_shape(text, rules) && clamp(text, &rules.head(), Caller::default()).is_cut();
    if is_over { keep_shape(kind, text, rules.policy.limits, rules, caller) } else { None }
}

/// Shortens the JSON of data that no path reads. It is dropped if not even an empty value fits.
fn shorten_rest(text: &Literal, limits: Limits, rules: &SlotRules) -> SlotEdit {
    let shaped = keep_shape(Some(As::Rest), text, limits, rules, Caller::default());
    shaped.map_or(SlotEdit::Drop, |shaped| shaped.edit)
}

/// Truncates JSON. If it does not fit, its payloads are replaced by their names first.
pub fn clamp_json(text: &Literal, rules: &SlotRules, caller: Caller) -> Fit {
    let fit = clamp(text, rules, caller);
    let lean = if fit.is_cut() { with_names(&text.string()) } else { None };
    lean.map_or(fit, |lean| match clamp(&lean.clone().into(), rules, caller) {
        Fit::Whole => {
            let kept = if caller.counts { amounts(&lean.clone().into()) } else { Usage::default() };
            Fit::Cut(lean, kept)
        }
        fit => fit,
    })
}

/// Returns the truncated text. If that has no visible chars, returns the visible start of the text
/// instead, which is prepared.
fn showing(cut: String, text: &Literal, rules: &SlotRules) -> String {
    if is_visible(cut.chars()) {
        return cut;
    }
    let visible = text.string().trim_start_matches(is_space).to_owned();
    if visible.is_empty() {
        return cut;
    }
    let fit = clamp_text(&visible.clone().into(), &rules.head(), Caller::default());
    fit.string(text).unwrap_or(visible)
}

/// The outcome of fitting a text to its limits. A cut has the size of the kept parts, if figures
/// are read.
#[derive(Clone, Debug)]
pub enum Fit {
    Whole,
    Prepared(String),
    Cut(String, Usage),
    Held(HeldCut, Usage),
}

impl Fit {
    pub fn is_cut(&self) -> bool {
        matches!(self, Fit::Cut(..) | Fit::Held(..))
    }

    /// Returns what is left of a text, or `None` if all of it is.
    pub fn string(self, text: &Literal) -> Option<String> {
        match self {
            Fit::Whole => None,
            Fit::Prepared(left) | Fit::Cut(left, _) => Some(left),
            Fit::Held(cut, _) => Some(cut.string(text)),
        }
    }
}

/// Prepares and truncates a tool's text.
pub fn clamp_text(text: &Literal, rules: &SlotRules, caller: Caller) -> Fit {
    match prepared(text, rules) {
        None => clamp(text, rules, caller),
        Some(prepared) => fit_prepared(&prepared, rules, caller),
    }
}

fn fit_prepared(prepared: &Literal, rules: &SlotRules, caller: Caller) -> Fit {
    match clamp(prepared, rules, caller) {
        Fit::Whole => Fit::Prepared(prepared.string()),
        fit => fit,
    }
}

/// Truncates a prepared text, so that preparing it again changes nothing.
fn clamp(text: &Literal, rules: &SlotRules, caller: Caller) -> Fit {
    let policy = &rules.policy;
    if let Some(held) = text.held() {
        return clamp_held(held, rules, caller);
    }
    // A search reads the whole text, and without its escapes, it is counted sooner.
    if policy.searches()
        && let Some(ascii) = text.ascii()
    {
        let size = size::of_utf8(&ascii);
        let input = Input::whole(Latin1(&ascii)).with_totals(size);
        return if fits(size, 1, 1, &policy.limits) { Fit::Whole } else { cut(&input, rules, caller) };
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
        return cut(&input(&ends, size).with_found(&found), rules, caller);
    }
    cut(&input(&windows_for(text, size, policy), size), rules, caller)
}

pub(super) fn cut<T: Text>(input: &Input<T>, rules: &SlotRules, caller: Caller) -> Fit {
    let Some(cut) = truncate_worded(input, &rules.policy, caller.words) else { return Fit::Whole };
    let joined = cut.string(input);
    if !caller.counts {
        return Fit::Cut(parted(joined, rules), Usage::default());
    }
    let left = parted(joined.clone(), rules);
    let kept = less(cut.kept(input).usage(), &joined, &left);
    Fit::Cut(left, kept)
}

/// Truncates texts that all stay, and that a reader joins by newlines.
fn clamp_joined(kinds: &[SlotKind], texts: &[Literal], rules: &SlotRules, caller: Caller) -> SlotCuts {
    let (limits, joints) = (rules.policy.limits, texts.len() - 1);
    let room = joints.min(limits.bytes).min(limits.chars);
    let clamp = |more: usize| {
        let taken = Usage { bytes: room, chars: room, lines: more.min(limits.lines), tokens: 0 };
        let policy = Policy { limits: limits.less(taken), ..rules.policy.clone() };
        clamp_together(kinds, texts, &SlotRules { policy, ..rules.clone() }, caller.elsewhere())
    };
    // A joint is a line of its own only after a text that is empty or ends a line, which a cut may
    // bring about.
    let is_line = |text: &&Literal| text.tail(1).first().is_none_or(|unit| *unit == NEWLINE);
    let more = texts[..joints].iter().filter(is_line).count();
    let clamped = clamp(more);
    let left = |(text, edit): (&Literal, &SlotEdit)| match edit {
        SlotEdit::Keep | SlotEdit::Mend => text.string(),
        SlotEdit::Replace(text) | SlotEdit::Put(text) => text.clone(),
        SlotEdit::Cut(cut) => cut.string(text),
        SlotEdit::Drop => String::new(),
    };
    let all: Vec<String> = texts.iter().zip(&clamped.edits).map(left).collect();
    let fits = more == joints || amounts(&all.join("\n").into()).lines <= limits.lines;
    if fits { clamped } else { clamp(joints) }
}

fn clamp_together(kinds: &[SlotKind], texts: &[Literal], rules: &SlotRules, caller: Caller) -> SlotCuts {
    let prepare = |(kind, text): (&SlotKind, &Literal)| match kind {
        None if !caller.prepares => prepared(text, rules),
        _ => None,
    };
    let mut made: Vec<Option<Literal>> = kinds.iter().zip(texts).map(prepare).collect();
    let (mut truncated, mut figures) = (false, CutFigures::default());
    loop {
        let now: Vec<&Literal> =
            texts.iter().zip(&made).map(|(text, made)| made.as_ref().unwrap_or(text)).collect();
        let shared = share_texts(kinds, &now, rules, caller);
        let is_cut = shared.iter().any(|shared| shared.left != SharedText::Whole);
        if caller.counts && is_cut && !truncated {
            figures.exceeded = exceeded_of(&now, &rules.policy);
        }
        truncated |= is_cut;
        // Naming the payloads of one text may leave room for another.
        let lean = |at: usize| match shared[at].left {
            SharedText::Whole => None,
            _ if kinds[at].is_none() => None,
            _ => with_names(&now[at].string()).map(Literal::from),
        };
        let named: Vec<Option<Literal>> = (0..kinds.len()).map(lean).collect();
        if named.iter().all(Option::is_none) {
            let mut edits = vec![];
            for (at, Shared { left, kept }) in shared.into_iter().enumerate() {
                let (edit, is_shaped) = edit_of(kinds[at], now[at], made[at].is_some(), left, rules, caller);
                figures.kept = figures.kept.plus(if is_shaped { left_of(&edit) } else { kept });
                edits.push(edit);
            }
            if caller.counts && truncated {
                figures.total = texts.iter().fold(Usage::default(), |sum, text| sum.plus(amounts(text)));
            }
            return SlotCuts { edits, truncated, figures };
        }
        for (made, named) in made.iter_mut().zip(named) {
            *made = named.or(made.take());
        }
    }
}

/// Returns the change of a text, and true if it is JSON in the room of its share. `is_new`: it is
/// not the given text.
fn edit_of(
    kind: SlotKind,
    text: &Literal,
    is_new: bool,
    left: SharedText,
    rules: &SlotRules,
    caller: Caller,
) -> (SlotEdit, bool) {
    let shaped = |room: &str| keep_shape(kind, text, room_of(room, &rules.policy), rules, caller);
    match left {
        SharedText::Whole if is_new && is_rest(kind) => {
            (shorten_rest(text, rules.policy.limits, rules), true)
        }
        SharedText::Whole if is_new => (SlotEdit::Replace(text.string()), false),
        SharedText::Whole => (SlotEdit::Keep, false),
        SharedText::Text(room) if is_rest(kind) => {
            (shorten_rest(text, room_of(&room, &rules.policy), rules), true)
        }
        SharedText::Text(left) if !may_shape(text, rules) => (SlotEdit::Replace(left), false),
        SharedText::Text(left) => match shaped(&left) {
            Some(shaped) => (shaped.edit, true),
            None => (SlotEdit::Replace(left), false),
        },
        SharedText::Notice(_) if is_rest(kind) => (SlotEdit::Drop, false),
        SharedText::Notice(text) => (SlotEdit::Replace(text), false),
        SharedText::Gone => (SlotEdit::Drop, false),
    }
}

/// Returns the limits that texts exceed, together or, with [`Share::Each`], any of them.
pub fn exceeded_of(texts: &[&Literal], policy: &Policy) -> Exceeded {
    if policy.share != Share::Each {
        return exceeded(texts, &policy.limits);
    }
    let each = texts.iter().map(|text| exceeded(&[text], &policy.limits));
    each.fold(Exceeded::default(), |all, one| std::array::from_fn(|at| all[at] || one[at]))
}
