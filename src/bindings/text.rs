//! Measuring and truncating one text.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::cut::Cut;
use super::policy::{kept_as, totals, unpack, write};
use super::units::{Narrow, Numbers, Units};
use crate::lined::{clamp_lines, clamp_lines_of_bytes};
use crate::policy::Policy;
use crate::text::clamp::clamp;
use crate::text::lines;
use crate::text::source::{Clamped, Kept, Source};
use crate::text::tokens::Estimate;
use crate::text::{Latin1, Size, Text, Utf8, Utf16};

/// Adds the size of a piece of text to `sum`: bytes, chars, newlines, ill-formed code points.
#[napi(catch_unwind)]
pub fn measure(
    #[napi(ts_arg_type = "string")] piece: Units,
    #[napi(ts_arg_type = "Float64Array")] sum: Numbers,
) {
    add(sum, Utf16(&piece).size());
}

#[napi(catch_unwind)]
pub fn measure_latin1(
    #[napi(ts_arg_type = "string")] piece: Narrow,
    #[napi(ts_arg_type = "Float64Array")] sum: Numbers,
) {
    add(sum, Latin1(&piece).size());
}

/// Like [`measure`], for bytes, which are measured as decoded text.
#[napi(catch_unwind)]
pub fn measure_bytes(bytes: &[u8], #[napi(ts_arg_type = "Float64Array")] sum: Numbers) {
    add(sum, Utf8(bytes).size());
}

fn add(sum: &mut [f64], size: Size) {
    for (sum, more) in sum.iter_mut().zip([size.bytes, size.chars, size.newlines, size.broken]) {
        *sum += more as f64;
    }
}

/// Estimates the tokens of a text given in pieces. `state` is zero at first and carries over between calls.
#[napi(catch_unwind)]
pub fn estimate(
    #[napi(ts_arg_type = "string")] piece: Units,
    #[napi(ts_arg_type = "Float64Array")] state: Numbers,
) -> f64 {
    let all = Estimate::from_state(state).and(Utf16(&piece));
    all.to_state(state);
    all.tokens() as f64
}

/// Estimates the tokens of several concatenated texts. Replaces each length with its estimate.
#[napi(catch_unwind)]
pub fn estimate_each(
    #[napi(ts_arg_type = "string")] texts: Units,
    #[napi(ts_arg_type = "Float64Array")] lengths: Numbers,
) {
    let mut rest = &texts[..];
    for length in lengths {
        let (text, after) = rest.split_at(*length as usize);
        (rest, *length) = (after, Estimate::of(Utf16(text)).tokens() as f64);
    }
}

#[napi(catch_unwind)]
pub fn estimate_bytes(bytes: &[u8]) -> f64 {
    Estimate::of(Utf8(bytes)).tokens() as f64
}

/// Truncates a text given as the windows `head` and `tail`; if `tail` is empty, `head` is the whole text. `io` brings
/// the length of the text, then its bytes and newlines, or NaN if the notice does not name them. `report` overwrites
/// it. Returns the text between the kept parts.
#[napi(catch_unwind)]
pub fn clamp_text(
    policy: &[f64],
    notice: String,
    source: String,
    #[napi(ts_arg_type = "string")] head: Units,
    #[napi(ts_arg_type = "string")] tail: Units,
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
) -> String {
    let (policy, _) = unpack(policy, notice, source, vec![]);
    clamp_windows(Utf16(&head), Utf16(&tail), &policy, io)
}

/// Like [`clamp_text`], for strings without chars above 0xFF, which are read in half the time.
#[napi(catch_unwind)]
pub fn clamp_latin1(
    policy: &[f64],
    notice: String,
    source: String,
    #[napi(ts_arg_type = "string")] head: Narrow,
    #[napi(ts_arg_type = "string")] tail: Narrow,
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
) -> String {
    let (policy, _) = unpack(policy, notice, source, vec![]);
    clamp_windows(Latin1(&head), Latin1(&tail), &policy, io)
}

fn clamp_windows<T: Text>(head: T, tail: T, policy: &Policy, io: &mut [f64]) -> String {
    let text = Source::ends(head, tail, io[0] as usize).with_totals(totals(io));
    let cut = clamp(&text, policy);
    report(&text, cut.as_ref(), io);
    cut.map(|cut| cut.mid).unwrap_or_default()
}

/// Returns true if a line is longer than `max` bytes.
#[napi(catch_unwind)]
pub fn has_long_line(#[napi(ts_arg_type = "string")] text: Units, max: f64) -> bool {
    lines::has_long_line(Utf16(&text), max as usize)
}

#[napi(catch_unwind)]
pub fn has_long_line_of_bytes(bytes: &[u8], max: f64) -> bool {
    lines::has_long_line(Utf8(bytes), max as usize)
}

/// Truncates bytes in place and returns the whole result. `io` as in `clamp_text`; positions are in bytes.
#[napi(catch_unwind)]
pub fn clamp_bytes(
    policy: &[f64],
    notice: String,
    source: String,
    bytes: &[u8],
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
) -> Either<Latin1String, Utf16String> {
    let (policy, _) = unpack(policy, notice, source, vec![]);
    let text = Source::whole(Utf8(bytes));
    let cut = clamp(&text, &policy);
    report(&text, cut.as_ref(), io);
    let kept = cut.as_ref().map_or(Kept::all(bytes.len()), |cut| cut.kept);
    let mid = cut.as_ref().map_or("", |cut| &cut.mid);
    let [head, tail] = kept.parts().map(|part| &bytes[part]);
    let parts = [head, mid.as_bytes(), tail];
    // Parts are decoded separately: ill-formed bytes at the end of one must not combine with the start of the next.
    if parts.iter().all(|part| part.is_ascii()) {
        return Either::A(String::from_utf8(parts.concat()).unwrap_or_default().into());
    }
    Either::B(cut.map_or_else(|| text.all(), |cut| text.compose(&cut)).into())
}

/// Truncates a text that has lines over the limit, or returns `None` if it has none.
#[napi(catch_unwind)]
pub fn clamp_long_lines(
    policy: &[f64],
    notice: String,
    source: String,
    needles: Vec<String>,
    #[napi(ts_arg_type = "string")] text: Units,
) -> Option<Cut> {
    let (policy, _) = unpack(policy, notice, source, needles);
    clamp_lines(Utf16(&text), &policy).map(Cut::from)
}

#[napi(catch_unwind)]
pub fn clamp_long_lines_of_bytes(
    policy: &[f64],
    notice: String,
    source: String,
    needles: Vec<String>,
    bytes: &[u8],
) -> Option<Cut> {
    let (policy, _) = unpack(policy, notice, source, needles);
    clamp_lines_of_bytes(bytes, &policy).map(Cut::from)
}

/// Writes 16 numbers: 1 if the text was truncated, the end of the head, the start of the tail, ill-formed code points
/// in the kept parts, the lengths of the two separators, the kind of cut, and the length of the middle in chars; the
/// bytes, chars and newlines of the head and of the tail; the start of the head and the end of the tail.
fn report<T: Text>(text: &Source<T>, cut: Option<&Clamped>, io: &mut [f64]) {
    let Some(cut) = cut else { return write(io, &[0, 0, 0, text.broken()]) };
    let (lead, trail) = cut.separators;
    let mid = cut.mid.encode_utf16().count();
    let [head, tail] = cut.sizes;
    let broken = head.broken + tail.broken;
    let kept = cut.kept;
    write(io, &[1, kept.head, kept.tail, broken, lead, trail, kept_as(cut.keep), mid]);
    write(&mut io[8..], &[head.bytes, head.chars, head.newlines, tail.bytes, tail.chars, tail.newlines]);
    write(&mut io[14..], &[kept.start, kept.end]);
}
