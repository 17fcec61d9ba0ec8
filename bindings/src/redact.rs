//! Redacting a text.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::units::{Narrow, Units};
use spillway::encoding::transcode;
use spillway::redact::{
    self, Redactor, SecretRules, dropped, may_have_secrets, may_have_secrets_in_units, redacted,
    redacted_member, redacted_pair,
};

/// Rules that the engine keeps for a policy.
pub type RulesHandle = External<Arc<SecretRules>>;

/// Returns the kinds of secrets that have a format.
#[napi(catch_unwind)]
pub fn secret_kinds() -> Vec<&'static str> {
    redact::kinds().collect()
}

/// Makes rules that find these kinds.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redaction'>")]
pub fn redaction(kinds: Vec<String>) -> RulesHandle {
    External::new(Arc::new(SecretRules::of(&kinds)))
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
    if !may_have_secrets_in_units(&text, rules) {
        return None;
    }
    let mut bytes = vec![];
    transcode::utf16(&text, &mut bytes);
    redacted(bytes, rules).map(answer)
}

#[napi(catch_unwind)]
pub fn redact_latin1(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    #[napi(ts_arg_type = "string")] text: Narrow,
) -> Option<Either<Latin1String, Utf16String>> {
    if !may_have_secrets(&text, rules) {
        return None;
    }
    let mut bytes = vec![];
    transcode::latin1(&text, &mut bytes);
    redacted(bytes, rules).map(answer)
}

/// Like [`redact_text`], for a member of an object, whose name may tell that it is a secret.
#[napi(catch_unwind)]
pub fn redact_member(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    name: String,
    #[napi(ts_arg_type = "string")] text: Units,
) -> Option<Either<Latin1String, Utf16String>> {
    redacted_member(&name, &String::from_utf16_lossy(&text), rules).map(answer)
}

/// Like [`redact_member`], for a value behind its name in a list, null if that is not a secret.
#[napi(catch_unwind)]
pub fn redact_pair(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    name: String,
    #[napi(ts_arg_type = "string")] text: Units,
) -> Option<Either<Latin1String, Utf16String>> {
    redacted_pair(&name, &String::from_utf16_lossy(&text), rules).map(answer)
}

/// Returns a part of a redacted text without what looks like a secret only in that part, null if
/// there is none.
#[napi(catch_unwind)]
pub fn drop_secrets(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    #[napi(ts_arg_type = "string")] text: Units,
) -> Option<Either<Latin1String, Utf16String>> {
    let mut bytes = vec![];
    transcode::utf16(&text, &mut bytes);
    dropped(bytes, rules).map(answer)
}

/// Begins to redact a stream of bytes.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redactor'>")]
pub fn start_redacting(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
) -> External<Redactor> {
    External::new(Redactor::new(Arc::clone(rules)))
}

/// Takes a chunk and returns the output that is final so far.
#[napi(catch_unwind)]
pub fn redact_chunk(
    #[napi(ts_arg_type = "ExternalObject<'redactor'>")] redactor: &mut External<Redactor>,
    chunk: &[u8],
) -> Buffer {
    let mut out = vec![];
    redactor.push(chunk, &mut out);
    out.into()
}

/// Ends the stream and returns the rest.
#[napi(catch_unwind)]
pub fn finish_redacting(
    #[napi(ts_arg_type = "ExternalObject<'redactor'>")] redactor: &mut External<Redactor>,
) -> Buffer {
    let mut out = vec![];
    redactor.finish(&mut out);
    out.into()
}

#[napi(catch_unwind)]
pub fn redact_bytes(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    bytes: &[u8],
) -> Option<Buffer> {
    if !may_have_secrets(bytes, rules) {
        return None;
    }
    redacted(bytes, rules).map(Buffer::from)
}
