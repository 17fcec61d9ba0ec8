//! Data of tool results, as JSON.

use std::cell::RefCell;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::answer::answer;
use super::cut::JsText;
use crate::json::{Document, Literal};
use crate::slots::nested_json::{self, Cutter};
use crate::slots::payload_name;
use crate::slots::side_data::shrink;

/// Shrinks JSON to `max` bytes, and states its original size inside if that is given. Returns null if not even an empty
/// value fits.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn shrink_data(json: String, max: f64, original: Option<f64>) -> Option<JsText> {
    let document = Document::parse(json.as_bytes())?;
    let original = original.map(|bytes| bytes as usize);
    Some(answer(shrink(document.root(), max as usize, original)?.into_bytes()))
}

/// Returns JSON with its payloads replaced by their types and sizes. Returns null if it has none, or is not JSON.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn with_payload_names(json: String) -> Option<JsText> {
    Some(answer(payload_name::with_names(&json)?.into_bytes()))
}

/// Cuts JSON that is a text of a result and keeps it valid. Returns null if it fits. `most`: chars that the limits allow.
/// `cut` returns what is left of a text within the limits and this many chars, or null if the text fits.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn clamp_nested(
    json: String,
    most: f64,
    #[napi(ts_arg_type = "(text: string, chars: number) => string | null")] cut: Cut,
) -> Result<Option<JsText>> {
    let failed = RefCell::new(None);
    let cutter = LiveCutter { cut: &cut, chars: f64::INFINITY, failed: &failed };
    let left = nested_json::clamp(&Literal::from(json), most as usize, &cutter);
    match failed.take() {
        Some(error) => Err(error),
        None => Ok(left.map(|left| answer(left.into_bytes()))),
    }
}

type Cut<'a> = Function<'a, FnArgs<(JsText, f64)>, Option<String>>;

/// Has JavaScript cut texts, where a notice may be a function of the caller.
struct LiveCutter<'a> {
    cut: &'a Cut<'a>,
    chars: f64,
    /// The first error of a call.
    failed: &'a RefCell<Option<Error>>,
}

impl Cutter for LiveCutter<'_> {
    fn shortened(&self, chars: usize) -> Self {
        LiveCutter { chars: chars as f64, ..*self }
    }

    fn cut(&self, text: &Literal) -> Option<String> {
        let left = self.cut.call(FnArgs::from((answer(text.string().into_bytes()), self.chars)));
        left.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            None
        })
    }
}
