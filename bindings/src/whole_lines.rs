//! Whole lines from either end, for the compatibility APIs.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::policy::write;
use crate::units::{Numbers, units};
use spillway::encoding::{Latin1, Text, Utf16};
use spillway::truncate::whole_lines::{head, tail};

/// Finds the whole lines that fit at one end of a text. `window` holds more than the limits allow.
/// `io` brings the maximum lines, the maximum bytes, and 1 for the tail. It returns the start, end,
/// lines, bytes, 1 for a partial line, 1 if the first line is too long, and 1 if the kept text is
/// ill-formed.
#[napi(catch_unwind)]
pub fn whole_lines(
    #[napi(ts_arg_type = "string")] window: Unknown,
    narrow: bool,
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
) -> Result<()> {
    match narrow {
        true => find(Latin1(&units(window)?), io),
        false => find(Utf16(&units(window)?), io),
    }
    Ok(())
}

fn find<T: Text>(text: T, io: &mut [f64]) {
    let (max_lines, max_bytes) = (io[0] as usize, io[1] as usize);
    let kept = if io[2] == 0.0 { head(text, max_lines, max_bytes) } else { tail(text, max_lines, max_bytes) };
    let size = text.slice(kept.range.clone()).size();
    let flags = [kept.partial.into(), kept.first_too_long.into(), usize::from(size.broken > 0)];
    write(io, &[&[kept.range.start, kept.range.end, kept.lines, size.bytes], &flags[..]].concat());
}
