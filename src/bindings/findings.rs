//! Searching a text for findings.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::cut::Cut;
use super::policy::{totals, unpack};
use super::units::{Narrow, Numbers, Units};
use crate::findings::{self, Findings, Request};
use crate::text::{Latin1, Source, Text, Utf8, Utf16};

/// Clamps a text that is over its limits to its findings; nothing when it has none. It comes in pieces, which hold no
/// char over 0xFF where they are `narrow`. `skipped`: the number of pieces after which a part of the text is passed over,
/// and the chars, bytes and newlines of that part; no number when there is none.
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

/// The same for bytes, where they stand.
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
