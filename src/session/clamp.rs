//! Truncates the texts of one tool result.

use super::body::{Windows, cleaned, is_visible, parted, windows};
use super::nested_json;
use super::payload::with_names;
use crate::dialect::Slot;
use crate::dialect::path::As;
use crate::findings;
use crate::json::{Literal, Value};
use crate::limits::UNLIMITED;
use crate::lined::clamp_lines;
use crate::policy::{Keep, Policy};
use crate::share::{Block, Share, exceeded, share};
use crate::text::clamp::clamp_to;
use crate::text::notice::Notice;
use crate::text::source::Source;
use crate::text::space::is_space;
use crate::text::tokens::MOST_PER_CHAR;
use crate::text::{Size, Utf16, clean};

/// The rules for truncating texts.
#[derive(Clone, Debug)]
pub struct Rules {
    pub policy: Policy,
    pub share: Share,
    pub clean: Option<clean::Options>,
}

impl Rules {
    /// Returns rules with a tighter limit in chars, shared by all blocks of a result.
    pub fn shortened(&self, max_chars: usize) -> Rules {
        let mut rules = self.clone();
        rules.policy.limits.chars = rules.policy.limits.chars.min(max_chars);
        if rules.share == Share::Each {
            rules.share = Share::Fair;
        }
        rules
    }

    /// Returns rules for the result of a tool, which failed if `is_error`.
    pub fn failed(&self, is_error: bool) -> Rules {
        let mut rules = self.clone();
        rules.policy.is_error |= is_error;
        rules
    }

    /// Returns rules that keep the head alone, without a notice.
    fn head(&self) -> Rules {
        let policy = Policy { keep: Keep::Head, notice: Notice::None, ..self.policy.clone() };
        Rules { policy, ..self.clone() }
    }
}

/// The outcome for one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    Same,
    /// Unchanged except that lone surrogates become U+FFFD.
    Mended,
    Text(String),
    Gone,
}

/// The outcome for the texts of one result.
#[derive(Clone, Debug, Default)]
pub struct Clamped {
    pub left: Vec<Left>,
    /// Some text was omitted.
    pub truncated: bool,
}

/// Truncates the texts of one result, which are those of its slots.
pub fn clamp_slots(slots: &[Slot], texts: &[Literal], rules: &Rules) -> Clamped {
    if rules.clean.is_none() && surely_fit(texts, &rules.policy) {
        return Clamped { left: slots.iter().map(whole).collect(), truncated: false };
    }
    match (slots, texts) {
        ([slot], [text]) => clamp_one(slot, text, rules),
        _ => clamp_together(slots, texts, rules),
    }
}

/// Returns true if the texts fit by their length alone: a char takes at most three bytes and one line.
fn surely_fit(texts: &[Literal], policy: &Policy) -> bool {
    let limits = &policy.limits;
    let least = limits.lines.min(limits.chars).min(limits.tokens / MOST_PER_CHAR);
    let least = least.min(limits.bytes / 3).min(limits.line_bytes / 3);
    texts.iter().map(Literal::len).sum::<usize>() <= least
}

/// Returns the outcome of a slot that is kept whole.
fn whole(slot: &Slot) -> Left {
    let has_escape = memchr::memmem::find(slot.value.source(), b"\\u").is_some();
    let mut texts = slot.values().iter().flat_map(|value| value.leaves()).filter_map(Value::text);
    if has_escape && texts.any(|text| text.has_lone()) { Left::Mended } else { Left::Same }
}

fn clamp_one(slot: &Slot, text: &Literal, rules: &Rules) -> Clamped {
    let fit = match slot.json {
        Some(As::Rest) => clamp(text, &rules.policy, rules.clean),
        Some(As::Encoded) | None => clamp_text(text, rules),
        Some(_) => clamp_json(text, rules),
    };
    let truncated = matches!(fit, Fit::Cut(_));
    let left = match fit {
        Fit::Whole => whole(slot),
        _ if slot.json == Some(As::Encoded) => {
            nested_json::clamp(text, rules).map_or_else(|| whole(slot), Left::Text)
        }
        Fit::Cleaned(text) => Left::Text(text),
        Fit::Cut(cut) => Left::Text(showing(cut, text, rules)),
    };
    Clamped { left: vec![left], truncated }
}

/// Truncates JSON. If it does not fit, its payloads are replaced by their names first.
pub fn clamp_json(text: &Literal, rules: &Rules) -> Fit {
    let fit = clamp(text, &rules.policy, rules.clean);
    let lean = if matches!(fit, Fit::Cut(_)) { with_names(&text.string()) } else { None };
    lean.map_or(fit, |lean| match clamp(&lean.clone().into(), &rules.policy, rules.clean) {
        Fit::Whole => Fit::Cut(lean),
        fit => fit,
    })
}

/// Returns the truncated text. If that has no visible chars, returns the visible start of the original instead.
fn showing(cut: String, text: &Literal, rules: &Rules) -> String {
    if is_visible(&cut) {
        return cut;
    }
    let visible = text.string().trim_start_matches(is_space).to_owned();
    if visible.is_empty() {
        return cut;
    }
    match clamp_text(&visible.clone().into(), &rules.head()) {
        Fit::Whole => visible,
        Fit::Cleaned(text) | Fit::Cut(text) => text,
    }
}

/// The outcome of fitting a text to its limits.
#[derive(Clone, Debug)]
pub enum Fit {
    Whole,
    Cleaned(String),
    Cut(String),
}

/// Cleans and truncates a tool's text.
pub fn clamp_text(text: &Literal, rules: &Rules) -> Fit {
    let Some(cleaned) = cleaned(text, rules.clean) else { return clamp(text, &rules.policy, rules.clean) };
    match clamp(&cleaned, &rules.policy, rules.clean) {
        Fit::Whole => Fit::Cleaned(cleaned.string()),
        fit => fit,
    }
}

/// Truncates a text that was cleaned with these options, so that cleaning it again changes nothing.
fn clamp(text: &Literal, policy: &Policy, clean: Option<clean::Options>) -> Fit {
    let (size, limits) = (text.size(), &policy.limits);
    // Most measured texts fit and need not be decoded.
    let is_small = size.bytes <= limits.bytes.min(limits.line_bytes)
        && size.chars <= limits.chars.min(limits.tokens / MOST_PER_CHAR)
        && size.newlines < limits.lines;
    if is_small {
        return Fit::Whole;
    }
    let cut = |cut| Fit::Cut(parted(cut, clean));
    if limits.line_bytes < size.chars.saturating_mul(3)
        && let Some(lined) = clamp_lines(Utf16(&text.units()), policy)
    {
        return cut(lined.text);
    }
    let windows = windows(text, size.chars, policy);
    let source = source(&windows, size);
    if policy.searches()
        && !source.fits(limits)
        && let Some(found) = findings::clamp(&source, limits, policy, &policy.notice)
    {
        return cut(found.text.encode_utf16().collect());
    }
    clamp_to(&source, limits, policy, &policy.notice).map_or(Fit::Whole, |kept| cut(source.compose(&kept)))
}

fn source(windows: &Windows, size: Size) -> Source<'_, Utf16<'_>> {
    Source::ends(Utf16(&windows.0), Utf16(&windows.1), size.chars).with_totals(Some(size))
}

fn clamp_together(slots: &[Slot], texts: &[Literal], rules: &Rules) -> Clamped {
    let clean = |slot: &Slot| rules.clean.filter(|_| slot.json.is_none());
    let mut made: Vec<Option<Literal>> =
        slots.iter().zip(texts).map(|(slot, text)| cleaned(text, clean(slot))).collect();
    let mut truncated = false;
    loop {
        let texts: Vec<&Literal> =
            texts.iter().zip(&made).map(|(text, made)| made.as_ref().unwrap_or(text)).collect();
        let shared = share_texts(&texts, rules);
        truncated |= shared.iter().any(|shared| *shared != Shared::Whole);
        // Naming the payloads of one text may leave room for another. Unread data names its payloads when it is shrunk.
        let is_json = |at: usize| slots[at].json.is_some_and(|json| json != As::Rest);
        let lean = |at: usize| match shared[at] {
            Shared::Whole => None,
            _ if !is_json(at) => None,
            _ => with_names(&texts[at].string()).map(Literal::from),
        };
        let named: Vec<Option<Literal>> = (0..slots.len()).map(lean).collect();
        if named.iter().all(Option::is_none) {
            let left = shared.into_iter().enumerate().map(|(at, shared)| match shared {
                Shared::Whole if made[at].is_some() => Left::Text(texts[at].string()),
                Shared::Whole => whole(&slots[at]),
                Shared::Text(text) => Left::Text(text),
                Shared::Gone => Left::Gone,
            });
            return Clamped { left: left.collect(), truncated };
        }
        for (made, named) in made.iter_mut().zip(named) {
            *made = named.or(made.take());
        }
    }
}

/// The outcome for one of several texts.
#[derive(PartialEq, Eq)]
enum Shared {
    Whole,
    Text(String),
    Gone,
}

/// Shares the limits among the texts of one result.
fn share_texts(texts: &[&Literal], rules: &Rules) -> Vec<Shared> {
    let policy = &rules.policy;
    let sizes: Vec<Size> = texts.iter().map(|text| text.size()).collect();
    let max = policy.limits.line_bytes;
    let windows: Vec<Windows> = texts
        .iter()
        .zip(&sizes)
        .map(|(text, size)| match max {
            UNLIMITED => windows(text, size.chars, policy),
            _ => (text.units(), vec![]),
        })
        .collect();
    let given: Vec<_> = windows.iter().zip(&sizes).map(|(windows, size)| source(windows, *size)).collect();
    let policy = &*policy.naming(&policy.notice, |limits| exceeded(&given, limits, rules.share));
    let lines: Vec<_> = windows
        .iter()
        .map(|(text, _)| (max != UNLIMITED).then(|| crate::text::lines::cut_lines(Utf16(text), max)))
        .collect();
    let sources: Vec<Source<Utf16>> = given
        .iter()
        .zip(&lines)
        .zip(&sizes)
        .map(|((given, lines), size)| match lines {
            Some(cut) => Source::whole(Utf16(&cut.text)).with_totals(Some(*size)).with_marks(&cut.marks),
            None => *given,
        })
        .collect();
    let left = |(block, source): (&Block, &Source<Utf16>)| match block {
        Block::Whole if source.has_marks() => Shared::Text(parted(source.all(), rules.clean)),
        Block::Whole => Shared::Whole,
        Block::Cut(cut) => Shared::Text(parted(cut.text(source), rules.clean)),
        Block::Gone => Shared::Gone,
        Block::Replaced(text) => Shared::Text(parted(text.encode_utf16().collect(), rules.clean)),
    };
    share(&sources, policy, rules.share).iter().zip(&sources).map(left).collect()
}
