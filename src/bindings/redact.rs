//! Redacting a text.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::answer::answer;
use super::units::{Narrow, Units};
use crate::encoding::transcode;
use crate::redact::{self, Rules, redacted};

/// Rules that the engine keeps for a policy.
pub type RulesHandle = External<Arc<Rules>>;

/// Returns the kinds of secrets that have a format.
#[napi(catch_unwind)]
pub fn secret_kinds() -> Vec<&'static str> {
    redact::kinds().collect()
}

/// Makes rules that find these kinds.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redaction'>")]
pub fn redaction(kinds: Vec<String>) -> RulesHandle {
    External::new(Arc::new(Rules::of(&kinds)))
}

/// Adds an expression to new rules. Returns the reason if it is refused.
#[napi(catch_unwind)]
pub fn add_secret(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &mut RulesHandle,
    kind: String,
    expression: String,
) -> Option<String> {
    Arc::make_mut(rules).add(kind, &expression).err()
}

/// Returns the text without its secrets, null if it has none.
#[napi(catch_unwind)]
pub fn redact_text(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    #[napi(ts_arg_type = "string")] text: Units,
) -> Option<Either<Latin1String, Utf16String>> {
    let mut bytes = vec![];
    transcode::utf16(&text, &mut bytes);
    redacted(&bytes, rules).map(answer)
}

#[napi(catch_unwind)]
pub fn redact_latin1(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    #[napi(ts_arg_type = "string")] text: Narrow,
) -> Option<Either<Latin1String, Utf16String>> {
    let mut bytes = vec![];
    transcode::latin1(&text, &mut bytes);
    redacted(&bytes, rules).map(answer)
}

#[napi(catch_unwind)]
pub fn redact_bytes(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    bytes: &[u8],
) -> Option<Buffer> {
    redacted(bytes, rules).map(Buffer::from)
}
