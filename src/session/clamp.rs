//! Truncates the texts of one tool result, as `lib/result/blocks.ts` does for live objects.

use super::body::{Body, Windows, parted, shows};
use super::encoded;
use super::payload::with_names;
use crate::dialect::Slot;
use crate::dialect::path::As;
use crate::findings;
use crate::json::escape::well_formed;
use crate::json::tree::{TOP, Tree};
use crate::json::{Literal, Span, write};
use crate::limits::UNLIMITED;
use crate::lined::clamp_lines;
use crate::policy::{Keep, Policy};
use crate::share::{Block, Share, exceeded, share};
use crate::text::clamp::clamp_to;
use crate::text::notice::Notice;
use crate::text::source::Source;
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
    #[inline(never)]
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
    WellFormed,
    Text(Vec<u16>),
    Gone,
}

/// The outcome for the texts of one result.
#[derive(Clone, Debug, Default)]
pub struct Clamped {
    pub left: Vec<Left>,
    /// Some text was omitted.
    pub truncated: bool,
}

impl Clamped {
    pub fn changes(&self) -> bool {
        self.left.iter().any(|left| *left != Left::Same)
    }
}

/// Returns the text of a slot as the model sees it.
pub fn body_of<'a>(row: &'a [u8], slot: &Slot) -> Body<'a> {
    if slot.is_data {
        let source = slot.source(row);
        return Body::Made(write::escaped(Tree::of(&source, Span { start: 0, end: source.len() }).json(TOP)));
    }
    Body::Row(Literal::of(slot.value.of(row)))
}

/// Truncates the texts of one result.
pub fn clamp_slots(row: &[u8], slots: &[Slot], bodies: &[Body], rules: &Rules) -> Clamped {
    if rules.clean.is_none() && surely_fit(bodies, &rules.policy) {
        return Clamped {
            left: slots.iter().map(|slot| whole(row, slot, false)).collect(),
            truncated: false,
        };
    }
    match (slots, bodies) {
        ([slot], [body]) => clamp_one(row, slot, body, rules),
        _ => clamp_together(row, slots, bodies, rules),
    }
}

/// Returns true if the texts fit by their length alone: a char takes at most three bytes and one line.
fn surely_fit(bodies: &[Body], policy: &Policy) -> bool {
    let limits = &policy.limits;
    let least = limits.lines.min(limits.chars).min(limits.tokens / MOST_PER_CHAR);
    let least = least.min(limits.bytes / 3).min(limits.line_bytes / 3);
    // A text is never longer than its literal.
    bodies.iter().map(|body| body.literal().len()).sum::<usize>() <= least
}

/// Returns the outcome of a slot that is kept whole.
fn whole(row: &[u8], slot: &Slot, broken: bool) -> Left {
    let repairs = broken || memchr::memmem::find(slot.value.of(row), b"\\u").is_some();
    if repairs && well_formed(slot.value.of(row)).is_some() { Left::WellFormed } else { Left::Same }
}

#[inline(never)]
fn clamp_one(row: &[u8], slot: &Slot, body: &Body, rules: &Rules) -> Clamped {
    if slot.json == Some(As::Encoded) {
        let truncated = matches!(clamp_text(body, rules), Fit::Cut(_));
        let left = encoded::clamp(body, rules).map_or_else(|| whole(row, slot, false), Left::Text);
        return Clamped { left: vec![left], truncated };
    }
    let fit = match slot.json {
        Some(As::Rest) => clamp(body, &rules.policy),
        Some(_) => clamp_json(body, &rules.policy),
        None => clamp_text(body, rules),
    };
    let truncated = matches!(fit, Fit::Cut(_));
    let left = match fit {
        Fit::Whole => whole(row, slot, false),
        Fit::Broken => Left::WellFormed,
        Fit::Cleaned(text) => Left::Text(text),
        Fit::Cut(text) => Left::Text(showing(parted(text, rules.clean), body, rules)),
    };
    Clamped { left: vec![left], truncated }
}

/// Truncates JSON. If it does not fit, its payloads are replaced by their names first.
pub fn clamp_json(body: &Body, policy: &Policy) -> Fit {
    let fit = clamp(body, policy);
    let lean = if matches!(fit, Fit::Cut(_)) { named(body) } else { None };
    lean.map_or(fit, |lean| match clamp(&lean, policy) {
        Fit::Whole | Fit::Broken => Fit::Cut(lean.literal().units()),
        fit => fit,
    })
}

/// Returns JSON with its payloads replaced by their names, or `None` if it has no payloads.
fn named(json: &Body) -> Option<Body<'static>> {
    with_names(&encoded::escaped(json.literal())).map(Body::Made)
}

/// Returns the truncated text. If that has no visible chars, returns the visible start of the original instead.
fn showing(clamped: Vec<u16>, body: &Body, rules: &Rules) -> Vec<u16> {
    if shows(&clamped) {
        return clamped;
    }
    let Some(text) = body.trimmed() else { return clamped };
    let body = Body::Made(text);
    match clamp_text(&body, &rules.head()) {
        Fit::Whole | Fit::Broken => body.literal().units(),
        Fit::Cleaned(text) | Fit::Cut(text) => text,
    }
}

/// The outcome of fitting a text to its limits.
#[derive(Clone, Debug)]
pub enum Fit {
    Whole,
    /// Whole, except for lone surrogates.
    Broken,
    Cleaned(Vec<u16>),
    Cut(Vec<u16>),
}

/// Cleans and truncates a tool's text.
#[inline(never)]
pub fn clamp_text(body: &Body, rules: &Rules) -> Fit {
    let Some(text) = body.cleaned(rules.clean) else { return clamp_parted(body, rules) };
    let body = Body::Made(text);
    match clamp_parted(&body, rules) {
        Fit::Whole | Fit::Broken => Fit::Cleaned(body.literal().units()),
        fit => fit,
    }
}

/// Truncates a cleaned text so that cleaning it again changes nothing.
fn clamp_parted(body: &Body, rules: &Rules) -> Fit {
    match clamp(body, &rules.policy) {
        Fit::Cut(text) => Fit::Cut(parted(text, rules.clean)),
        fit => fit,
    }
}

/// Truncates a text without cleaning.
#[inline(never)]
pub fn clamp(body: &Body, policy: &Policy) -> Fit {
    let (size, limits) = (body.size(), &policy.limits);
    let whole = if size.broken > 0 { Fit::Broken } else { Fit::Whole };
    // Most measured texts fit and need not be decoded.
    let is_small = size.bytes <= limits.bytes.min(limits.line_bytes)
        && size.chars <= limits.chars.min(limits.tokens / MOST_PER_CHAR)
        && size.newlines < limits.lines;
    if is_small {
        return whole;
    }
    if limits.line_bytes < size.chars.saturating_mul(3)
        && let Some(lined) = clamp_lines(Utf16(&body.literal().units()), policy)
    {
        return Fit::Cut(lined.text);
    }
    if policy.searches() {
        let windows = body.searched(size.chars, policy);
        let source = source(&windows, size);
        if !source.fits(limits)
            && let Some(found) = findings::clamp(&source, limits, policy, &policy.notice)
        {
            return Fit::Cut(found.text.encode_utf16().collect());
        }
    }
    let windows = body.windows(size.chars, policy);
    let source = source(&windows, size);
    match clamp_to(&source, limits, policy, &policy.notice) {
        Some(cut) => Fit::Cut(source.compose(&cut)),
        None => whole,
    }
}

fn source(windows: &Windows, size: Size) -> Source<'_, Utf16<'_>> {
    Source::ends(Utf16(&windows.0), Utf16(&windows.1), size.chars).with_totals(Some(size))
}

#[inline(never)]
fn clamp_together(row: &[u8], slots: &[Slot], bodies: &[Body], rules: &Rules) -> Clamped {
    let mut made: Vec<Option<Body>> = slots
        .iter()
        .zip(bodies)
        .map(|(slot, body)| body.cleaned(rules.clean.filter(|_| slot.json.is_none())).map(Body::Made))
        .collect();
    let mut truncated = false;
    loop {
        let texts: Vec<&Body> =
            bodies.iter().zip(&made).map(|(body, made)| made.as_ref().unwrap_or(body)).collect();
        let shared = share_texts(&texts, rules);
        truncated |= shared.iter().any(|shared| *shared != Shared::Whole);
        // Naming the payloads of one text may leave room for another. Unread data names its payloads when it is shrunk.
        let is_json = |at: usize| slots[at].json.is_some_and(|json| json != As::Rest);
        let lean =
            |at: usize| if shared[at] == Shared::Whole || !is_json(at) { None } else { named(texts[at]) };
        let named: Vec<Option<Body>> = (0..slots.len()).map(lean).collect();
        if named.iter().all(Option::is_none) {
            let left = shared.into_iter().enumerate().map(|(at, shared)| match shared {
                Shared::Whole if made[at].is_some() => Left::Text(texts[at].literal().units()),
                Shared::Whole => whole(row, &slots[at], texts[at].size().broken > 0),
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
    Text(Vec<u16>),
    Gone,
}

/// Shares the limits among the texts of one result.
fn share_texts(texts: &[&Body], rules: &Rules) -> Vec<Shared> {
    let policy = &rules.policy;
    let sizes: Vec<Size> = texts.iter().map(|text| text.size()).collect();
    let max = policy.limits.line_bytes;
    let windows: Vec<Windows> = texts
        .iter()
        .zip(&sizes)
        .map(|(text, size)| match policy.searches() {
            _ if max != UNLIMITED => (text.literal().units(), vec![]),
            true => text.searched(size.chars, policy),
            false => text.windows(size.chars, policy),
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
