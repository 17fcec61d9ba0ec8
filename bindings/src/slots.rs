//! Data of tool results, as JSON.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::ahead::SearchHandle;
use crate::answer::answer;
use crate::cut::JsText;
use crate::held_strings::{IsBroken, JsStrings, Part, Piece};
use crate::items::{Item, flat_cut, kind, number, text};
use crate::policy::PolicyHandle;
use crate::units::units;
use crate::words::{NoticeWords, Worded, bits, sizes};
use spillway::clean;
use spillway::dialect::path::As;
use spillway::encoding::{Latin1, Text, Utf16};
use spillway::json::held::{Held, Strings};
use spillway::json::{Document, Literal};
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::policy::Policy;
use spillway::slots::caller::{Caller, CutFigures, ShapeForm, ShapedJson};
use spillway::slots::clamp_slots::{self, SlotEdit, SlotKind, exceeded_of};
use spillway::slots::payload_name;
use spillway::slots::side_data::shrink;
use spillway::slots::slot_rules::SlotRules;
use spillway::truncate::worded::NoticeFacts;

/// Shrinks JSON to `max` bytes, and states its original size inside if that is given. Returns null
/// if not even an empty value fits.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn shrink_data(json: String, max: f64, original: Option<f64>) -> Option<JsText> {
    let document = Document::parse(json.as_bytes())?;
    let original = original.map(|bytes| bytes as usize);
    Some(answer(shrink(document.root(), max as usize, original)?.into_bytes()))
}

/// Returns JSON with its payloads replaced by their types and sizes. Returns null if it has none,
/// or is not JSON.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn with_payload_names(json: String) -> Option<JsText> {
    Some(answer(payload_name::with_names(&json)?.into_bytes()))
}

/// Kinds of texts, as in lib/text/clamp_texts.ts.
const KINDS: [SlotKind; 4] = [None, Some(As::Encoded), Some(As::String), Some(As::Rest)];

/// Truncates the texts of one result together. They come as cleaning and redaction leave them, but
/// for JSON. `kinds` has the kind of each, `lengths` its chars in `blob`, or -1 for the next of the
/// strings that stay in JavaScript: `units` has their chars, and they are read by their numbers.
/// `ask` returns what was asked; `found`: the searches of long strings that were done; `shape`
/// rewrites JSON, which threads may have done.
///
/// Returns the change of each text as an edit without a path, 0 for one that stays; then 1 if
/// anything is missing, and if `counts`, the sizes of the kept parts in bytes, chars and lines, and
/// the exceeded limits, a bit for each.
#[napi(catch_unwind, ts_return_type = "(number | string)[]")]
#[allow(clippy::too_many_arguments, reason = "an object costs more than a small cut")]
pub fn clamp_texts(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    clean: Option<Vec<bool>>,
    kinds: &[u8],
    lengths: &[i32],
    #[napi(ts_arg_type = "string")] blob: Unknown,
    is_narrow: bool,
    units: &[f64],
    #[napi(ts_arg_type = "(at: number, start: number, end: number, narrow: boolean) => string | null")]
    part: Part,
    #[napi(ts_arg_type = "(at: number, start: number, narrow: boolean) => string | null")] piece: Piece,
    #[napi(ts_arg_type = "(at: number) => boolean")] is_broken: IsBroken,
    counts: bool,
    #[napi(ts_arg_type = "(() => string[]) | undefined")] ask: Option<Function<(), Vec<String>>>,
    #[napi(ts_arg_type = "((facts: number[], keep: string) => string | null) | undefined")] words: Option<
        NoticeWords,
    >,
    #[napi(ts_arg_type = "(ExternalObject<'search'> | null)[]")] found: Vec<Option<&External<SearchHandle>>>,
    #[napi(
        ts_arg_type = "((json: string, limits: number[], notice: string | null, tells: boolean, isRest: boolean) => (string | boolean)[] | null) | undefined"
    )]
    shape: Option<Shaping>,
) -> Result<Vec<Item>> {
    let clean = clean.and_then(|steps| <[bool; 5]>::try_from(steps).ok()).map(clean::CleanOptions::from);
    // Code of the caller may set the handle to another policy.
    let rules = SlotRules { policy: Policy::clone(policy), clean };
    let strings = JsStrings::new(units, part, piece, is_broken);
    let kinds: Vec<SlotKind> = kinds.iter().map(|kind| KINDS[usize::from(*kind)]).collect();
    let found: Vec<_> = found.into_iter().map(|found| found.map(|found| Arc::clone(&found.0))).collect();
    let worded = words.as_ref().map(Worded::new);
    let word = worded.as_ref().map(|worded| |facts: &NoticeFacts| worded.text(facts));
    let rewrite = shape.as_ref().map(|shape| {
        |json: &str, policy: &Policy, form: ShapeForm| {
            strings.or_nothing(shaped_by(shape, json, policy, form))
        }
    });
    let caller = Caller {
        words: word.as_ref().map(|word| word as _),
        counts,
        found: &found,
        shape: rewrite.as_ref().map(|rewrite| rewrite as _),
        prepares: true,
    };
    let cuts = {
        let texts = texts_of(lengths, blob, is_narrow, &strings)?;
        // Nothing is gathered for texts that fit.
        let is_over = || exceeded_of(&texts.iter().collect::<Vec<_>>(), &rules.policy).contains(&true);
        let rules = match &ask {
            Some(ask) if rules.may_cut(&texts) && is_over() => {
                rules.asking(&texts, || strings.or_nothing(ask.call(())))
            }
            _ => rules,
        };
        clamp_slots::clamp_texts(&kinds, &texts, &rules, caller)
    };
    strings.check()?;
    worded.map_or(Ok(()), |worded| worded.check())?;
    let mut items: Vec<Item> = cuts.edits.into_iter().flat_map(flat).collect();
    items.push(number(cuts.truncated.into()));
    if counts {
        let CutFigures { kept, exceeded, .. } = cuts.figures;
        items.extend(sizes(kept).map(Either4::A));
        items.push(number(bits(exceeded)));
    }
    Ok(items)
}

/// Rewrites JSON to limits, in bytes, lines, chars, tokens and bytes of a line. The notice is null
/// for that of the engine.
type Shaping<'a> =
    Function<'a, FnArgs<(String, Vec<f64>, Option<String>, bool, bool)>, Option<Vec<Either<String, bool>>>>;

fn shaped_by(shape: &Shaping, json: &str, policy: &Policy, form: ShapeForm) -> Result<Option<ShapedJson>> {
    let Limits { bytes, lines, chars, tokens, line_bytes } = policy.limits;
    let limits = [bytes, lines, chars, tokens, line_bytes];
    let limits = limits.map(|limit| if limit == UNLIMITED { f64::INFINITY } else { limit as f64 });
    let notice = match &policy.notice {
        Notice::None => Some(String::new()),
        Notice::Literal(text) => Some(text.clone()),
        _ => None,
    };
    let made = shape.call((json.to_owned(), limits.to_vec(), notice, form.tells, form.is_rest).into())?;
    let mut made = made.into_iter().flatten();
    Ok(match (made.next(), made.next()) {
        (Some(Either::A(json)), Some(Either::B(is_less))) => Some((json, is_less)),
        _ => None,
    })
}

fn texts_of<'a>(
    lengths: &[i32],
    blob: Unknown,
    is_narrow: bool,
    strings: &'a dyn Strings,
) -> Result<Vec<Literal<'a>>> {
    Ok(match is_narrow {
        true => texts_in(lengths, Latin1(&units(blob)?), strings),
        false => texts_in(lengths, Utf16(&units(blob)?), strings),
    })
}

fn texts_in<'a, T: Text>(lengths: &[i32], blob: T, strings: &'a dyn Strings) -> Vec<Literal<'a>> {
    let (mut at, mut held) = (0, 0..);
    let text = |length: &i32| match usize::try_from(*length) {
        Ok(length) => {
            let end = at + length;
            let start = std::mem::replace(&mut at, end);
            Literal::copied(blob.slice(start..end))
        }
        Err(_) => Held::new(strings, held.next().unwrap_or_default()).into(),
    };
    lengths.iter().map(text).collect()
}

fn flat(edit: SlotEdit) -> Vec<Item> {
    match edit {
        SlotEdit::Keep | SlotEdit::Mend => vec![number(0)],
        SlotEdit::Replace(new) => vec![number(kind::TEXT), text(new)],
        SlotEdit::Put(json) => vec![number(kind::JSON), text(json)],
        SlotEdit::Cut(cut) => flat_cut(cut),
        SlotEdit::Drop => vec![number(kind::GONE)],
    }
}
