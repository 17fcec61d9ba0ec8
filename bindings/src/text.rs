//! Measuring texts.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::units::{Given, Numbers, in_encoding};
use spillway::encoding::Text;
use spillway::tokens::Estimate;
use spillway::truncate::long_lines;

/// Adds the size of a piece of text to `sum`: bytes, chars, newlines, ill-formed code points. Bytes
/// are measured as decoded text.
#[napi(catch_unwind)]
pub fn measure(
    #[napi(ts_arg_type = "string | Uint8Array")] piece: Unknown,
    narrow: bool,
    #[napi(ts_arg_type = "Float64Array")] sum: Numbers,
) -> Result<()> {
    let size = in_encoding!(&Given::read(piece, narrow)?, text => text.size());
    for (sum, more) in sum.iter_mut().zip([size.bytes, size.chars, size.newlines, size.broken]) {
        *sum += more as f64;
    }
    Ok(())
}

/// Estimates the tokens of texts. `owners` has the number of the text that each piece belongs to,
/// in order. The pieces are read one after the other: a copy of all of them at once would take as
/// much memory as a history.
#[napi(catch_unwind)]
pub fn estimate_each(
    #[napi(ts_arg_type = "readonly (string | Uint8Array)[]")] pieces: Array,
    owners: &[u32],
    #[napi(ts_arg_type = "Float64Array")] counts: Numbers,
) -> Result<()> {
    let (mut estimate, mut last) = (Estimate::default(), None);
    for (at, &owner) in (0..).zip(owners) {
        let Some(piece) = pieces.get(at)? else { continue };
        let before = if last == Some(owner) { estimate } else { Estimate::default() };
        estimate = in_encoding!(&Given::read(piece, false)?, text => before.and(text));
        counts[owner as usize] = estimate.tokens() as f64;
        last = Some(owner);
    }
    Ok(())
}

/// Returns true if a line is longer than `max` bytes.
#[napi(catch_unwind)]
pub fn has_long_line(#[napi(ts_arg_type = "string | Uint8Array")] text: Unknown, max: f64) -> Result<bool> {
    Ok(in_encoding!(&Given::read(text, false)?, text => long_lines::has_long_line(text, max as usize)))
}
