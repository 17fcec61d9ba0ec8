//! Measuring one text.

use napi::bindgen_prelude::{Array, Result};
use napi_derive::napi;

use crate::units::{Narrow, Numbers, Units};
use spillway::encoding::{Latin1, Size, Text, Utf8, Utf16};
use spillway::tokens::Estimate;
use spillway::truncate::long_lines;

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

/// Estimates the tokens of a text given in pieces. `state` is zero at first and carries over
/// between calls.
#[napi(catch_unwind)]
pub fn estimate(
    #[napi(ts_arg_type = "string")] piece: Units,
    #[napi(ts_arg_type = "Float64Array")] state: Numbers,
) -> f64 {
    let all = Estimate::from_state(state).and(Utf16(&piece));
    all.to_state(state);
    all.tokens() as f64
}

/// Estimates the tokens of each of several texts. They are read one after the other: a copy of all
/// of them at once would take as much memory as a history.
#[napi(catch_unwind)]
pub fn estimate_each(
    #[napi(ts_arg_type = "readonly string[]")] texts: Array,
    #[napi(ts_arg_type = "Float64Array")] counts: Numbers,
) -> Result<()> {
    for (at, count) in (0..).zip(counts) {
        let text: Units = texts.get(at)?.unwrap_or_default();
        *count = Estimate::of(Utf16(&text)).tokens() as f64;
    }
    Ok(())
}

#[napi(catch_unwind)]
pub fn estimate_bytes(bytes: &[u8]) -> f64 {
    Estimate::of(Utf8(bytes)).tokens() as f64
}

/// Returns true if a line is longer than `max` bytes.
#[napi(catch_unwind)]
pub fn has_long_line(#[napi(ts_arg_type = "string")] text: Units, max: f64) -> bool {
    long_lines::has_long_line(Utf16(&text), max as usize)
}

#[napi(catch_unwind)]
pub fn has_long_line_of_bytes(bytes: &[u8], max: f64) -> bool {
    long_lines::has_long_line(Utf8(bytes), max as usize)
}
