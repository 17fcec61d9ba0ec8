//! Truncating a text to its findings.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::cut::Cut;
use super::policy::{totals, unpack};
use super::units::{Narrow, Numbers, Units};
use crate::findings::{self, Findings, Request};
use crate::text::{Latin1, Source, Text, Utf8, Utf16};

/// Truncates a text that is over its limits to its findings, or returns `None` if it has none. Pieces are one-byte
/// strings if `narrow`. `skipped` describes a part of the text that is not searched: the number of pieces before it,
/// then its chars, bytes and newlines; NaN if nothing is skipped.
#[napi(catch_unwind)]
pub fn clamp_findings(
    policy: &[f64],
    notice: String,
    source: String,
    needles: Vec<String>,
    #[napi(ts_arg_type = "string[]")] pieces: Array,
    narrow: bool,
    #[napi(ts_arg_type = "Float64Array")] skipped: Numbers,
) -> Result<Option<Cut>> {
    let (policy, _) = unpack(policy, notice, source, needles);
    let mut findings = Findings::new(&policy.limits, &policy.needles);
    for at in 0..pieces.len() {
        if f64::from(at) == skipped[0] {
            findings.skip(totals(&skipped[1..]).unwrap_or_default());
        }
        if narrow {
            let piece: Option<Narrow> = pieces.get(at)?;
            Latin1(&piece.unwrap_or_default()).each_utf8(&mut |text| findings.push(text));
        } else {
            let piece: Option<Units> = pieces.get(at)?;
            Utf16(&piece.unwrap_or_default()).each_utf8(&mut |text| findings.push(text));
        }
    }
    findings.finish();
    Ok(findings.clamp(&Request::of(&policy, findings.size())).map(Cut::from))
}

/// Like [`clamp_findings`], for bytes in place.
#[napi(catch_unwind)]
pub fn clamp_findings_of_bytes(
    policy: &[f64],
    notice: String,
    source: String,
    needles: Vec<String>,
    bytes: &[u8],
) -> Option<Cut> {
    let (policy, _) = unpack(policy, notice, source, needles);
    findings::clamp(&Source::whole(Utf8(bytes)), &policy.limits, &policy, &policy.notice).map(Cut::from)
}
