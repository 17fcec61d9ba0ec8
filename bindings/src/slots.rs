//! Data of tool results, as JSON.

use std::cell::RefCell;
use std::collections::HashMap;

use napi::JsString;
use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::cut::JsText;
use spillway::json::{Document, Literal};
use spillway::slots::nested_json::{self, Cutter};
use spillway::slots::payload_name;
use spillway::slots::side_data::shrink;

/// Shrinks JSON to `max` bytes, and states its original size inside if that is given. Returns null
/// if not even an empty value fits.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn shrink_data(json: String, max: f64, original: Option<f64>) -> Option<JsText> {
    let document = Document::parse(json.as_bytes())?;
    let original = original.map(|bytes| bytes as usize);
    Some(answer(shrink(document.root(), max as usize, original)?.into_bytes()))
}

/// Returns JSON with its payloads replaced by their types and sizes. Returns null if it has none,
/// or is not JSON.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn with_payload_names(json: String) -> Option<JsText> {
    Some(answer(payload_name::with_names(&json)?.into_bytes()))
}

/// Cuts JSON that is a text of a result and keeps it valid. Returns null if it fits. `most`: chars
/// that the limits allow. `cut` returns what is left of a text within the limits and this many
/// chars, or null if the text fits.
#[napi(catch_unwind, ts_return_type = "string | null")]
pub fn clamp_nested(
    env: Env,
    json: String,
    most: f64,
    #[napi(ts_arg_type = "(text: string, chars: number) => string | null")] cut: Cut,
) -> Result<Option<JsText>> {
    let live = Live { env: &env, cut: &cut, texts: RefCell::default(), failed: RefCell::default() };
    let cutter = LiveCutter { live: &live, chars: f64::INFINITY };
    let left = nested_json::clamp(&Literal::from(json), most as usize, &cutter);
    match live.failed.take() {
        Some(error) => Err(error),
        None => Ok(left.map(|left| answer(left.into_bytes()))),
    }
}

type Cut<'a> = Function<'a, FnArgs<(JsString<'a>, f64)>, Option<String>>;

/// The side of JavaScript, which cuts texts since a notice may be a function of the caller.
struct Live<'a> {
    env: &'a Env,
    cut: &'a Cut<'a>,
    /// Texts of the JSON by position: a long one crosses once.
    texts: RefCell<HashMap<u32, JsString<'a>>>,
    /// The first error of a call.
    failed: RefCell<Option<Error>>,
}

impl<'a> Live<'a> {
    fn text(&self, text: &Literal, at: Option<u32>) -> Result<JsString<'a>> {
        if let Some(known) = at.and_then(|at| self.texts.borrow().get(&at).copied()) {
            return Ok(known);
        }
        let sent = match text.ascii() {
            Some(ascii) => self.env.create_string_latin1(ascii),
            None => self.env.create_string_utf16(text.units()),
        }?;
        self.texts.borrow_mut().extend(at.map(|at| (at, sent)));
        Ok(sent)
    }
}

struct LiveCutter<'a> {
    live: &'a Live<'a>,
    chars: f64,
}

impl Cutter for LiveCutter<'_> {
    fn shortened(&self, chars: usize) -> Self {
        LiveCutter { chars: chars as f64, ..*self }
    }

    fn cut(&self, text: &Literal, at: Option<u32>) -> Option<String> {
        let Live { cut, failed, .. } = self.live;
        if failed.borrow().is_some() {
            return None;
        }
        let sent = self.live.text(text, at);
        let left = sent.and_then(|sent| cut.call(FnArgs::from((sent, self.chars))));
        left.unwrap_or_else(|error| {
            *failed.borrow_mut() = Some(error);
            None
        })
    }
}
