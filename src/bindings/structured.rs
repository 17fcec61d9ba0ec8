//! Structured content of MCP results.

use napi_derive::napi;

use crate::dialect::structured::repeats;
use crate::json::Document;

/// Tells of each text if it repeats structured content, given as JSON.
#[napi(catch_unwind)]
pub fn repeats_structured(structured: String, texts: Vec<String>) -> Vec<bool> {
    match Document::parse(structured.as_bytes()) {
        Some(document) => repeats(document.root(), &texts),
        None => vec![false; texts.len()],
    }
}
