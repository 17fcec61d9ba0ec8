//! Structured content of MCP results.

use napi_derive::napi;

use crate::policy::PolicyHandle;
use spillway::dialect::structured::repeats;
use spillway::json::Document;

/// Tells of each text if it repeats structured content, given as JSON.
#[napi(catch_unwind)]
pub fn repeats_structured(structured: String, texts: Vec<String>) -> Vec<bool> {
    match Document::parse(structured.as_bytes()) {
        Some(document) => repeats(document.root(), &texts),
        None => vec![false; texts.len()],
    }
}

/// Returns the advice on getting what is omitted, as notices give it under a policy.
#[napi(catch_unwind)]
pub fn advice(#[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle) -> String {
    policy.saved.advice(policy.pages)
}
