//! Redacting a text.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::units::{Given, Units};
use spillway::redact::{
    self, Redactor, SecretRules, may_have_secrets, may_have_secrets_in_units, redacted, redacted_member,
    redacted_pair,
};

/// Rules that the engine keeps for a policy.
pub type RulesHandle = External<Arc<SecretRules>>;

/// Returns the kinds of secrets that have a format.
#[napi(catch_unwind)]
pub fn secret_kinds() -> Vec<&'static str> {
    redact::kinds().collect()
}

/// Makes rules that find these kinds, and the matches of expressions, each after its kind. Returns
/// the place of the first expression that is refused, and the reason.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redaction'> | [number, string]")]
pub fn redaction(kinds: Vec<String>, patterns: Vec<(String, String)>) -> Either<RulesHandle, (u32, String)> {
    let mut rules = SecretRules::of(&kinds);
    for (at, (kind, expression)) in (0..).zip(patterns) {
        if let Err(reason) = rules.add(kind, &expression) {
            return Either::B((at, reason));
        }
    }
    Either::A(External::new(Arc::new(rules)))
}

/// Returns the text without its secrets, null if it has none.
#[napi(catch_unwind, ts_return_type = "string | Buffer | null")]
pub fn redact_text(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    #[napi(ts_arg_type = "string | Uint8Array")] text: Unknown,
    narrow: bool,
) -> Result<Option<Either3<Latin1String, Utf16String, Buffer>>> {
    let given = Given::read(text, narrow)?;
    let may_have = match &given {
        Given::Narrow(text) => may_have_secrets(text, rules),
        Given::Wide(text) => may_have_secrets_in_units(text, rules),
        Given::Bytes(text) => may_have_secrets(text, rules),
    };
    let made = may_have.then(|| redacted(given.utf8(), rules)).flatten();
    Ok(made.map(|made| given.answer(made)))
}

/// Like [`redact_text`], for a text under a name that may tell that it is a secret: a member of an
/// object, or if `is_pair`, a value behind its name in a list, null if that is not a secret.
#[napi(catch_unwind)]
pub fn redact_member(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
    name: String,
    #[napi(ts_arg_type = "string")] text: Units,
    is_pair: bool,
) -> Option<Either<Latin1String, Utf16String>> {
    let redacted = if is_pair { redacted_pair } else { redacted_member };
    redacted(&name, &String::from_utf16_lossy(&text), rules).map(answer)
}

/// Begins to redact a stream of bytes.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redactor'>")]
pub fn start_redacting(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
) -> External<Redactor> {
    External::new(Redactor::new(Arc::clone(rules)))
}

/// Takes a chunk and returns the output that is final so far. Ends the stream without one.
#[napi(catch_unwind)]
pub fn redact_chunk(
    #[napi(ts_arg_type = "ExternalObject<'redactor'>")] redactor: &mut External<Redactor>,
    chunk: Option<&[u8]>,
) -> Buffer {
    let mut out = vec![];
    match chunk {
        Some(chunk) => redactor.push(chunk, &mut out),
        None => redactor.finish(&mut out),
    }
    out.into()
}
