//! Work on long strings that other threads do before a cut on the main thread uses it.
//!
//! A string is copied in pieces, between which JavaScript turns its event loop. Each answer equals
//! that of the function for the main thread.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi::sys;
use napi_derive::napi;

use crate::answer::answer;
use crate::cut::JsText;
use crate::policy::{PolicyHandle, asking};
use crate::redact::RulesHandle;
use crate::shape::{ShapeForm, ShapedJson, shaped};
use crate::task::Background;
use crate::units::{Narrow, Units, units};
use spillway::clean::CleanOptions;
use spillway::encoding::{Latin1, Size, StringPiece, Utf16, transcode};
use spillway::redact::{may_have_secrets, redacted};
use spillway::slots::slot_text::cleaned;
use spillway::truncate::pass::{self, Found, PassedPiece};

/// A copy of a string, or of both ends of it.
#[derive(Default)]
pub struct HeldText {
    pieces: Arc<Vec<HeldPiece>>,
}

enum HeldPiece {
    Narrow(Narrow),
    Wide(Units),
    Unsearched(Size),
}

impl HeldPiece {
    fn passed(&self) -> PassedPiece<'_> {
        match self {
            HeldPiece::Narrow(text) => PassedPiece::Text(StringPiece::Narrow(Latin1(text))),
            HeldPiece::Wide(text) => PassedPiece::Text(StringPiece::Wide(Utf16(text))),
            HeldPiece::Unsearched(size) => PassedPiece::Unsearched(*size),
        }
    }
}

/// Begins to hold a string.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'text'>")]
pub fn hold_text() -> External<HeldText> {
    External::new(HeldText::default())
}

/// Adds a piece, which does not end inside a surrogate pair. `narrow`: it has no chars above 0xFF.
/// `unsearched`: no work reads it, and its size is held alone.
#[napi(catch_unwind)]
pub fn hold_piece(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &mut External<HeldText>,
    #[napi(ts_arg_type = "string")] piece: Unknown,
    narrow: bool,
    unsearched: bool,
) -> Result<()> {
    let piece = if narrow { HeldPiece::Narrow(units(piece)?) } else { HeldPiece::Wide(units(piece)?) };
    let piece = match piece.passed() {
        PassedPiece::Text(text) if unsearched => HeldPiece::Unsearched(text.size()),
        _ => piece,
    };
    // Work begins when all pieces are there.
    if let Some(pieces) = Arc::get_mut(&mut text.pieces) {
        pieces.push(piece);
    }
    Ok(())
}

/// Frees a held string without waiting for the garbage collector, on another thread: that takes
/// milliseconds.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn release_text(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &mut External<HeldText>,
) -> AsyncTask<Background> {
    let text = std::mem::take(&mut **text);
    Background::run(move || drop(text))
}

/// Returns the start and the end of the part of a string that a search for a policy leaves out.
#[napi(catch_unwind)]
pub fn unsearched(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    total: f64,
    most: f64,
) -> Vec<f64> {
    let range = pass::unsearched(&policy.limits, total as usize, most as usize);
    vec![range.start as f64, range.end as f64]
}

/// Cleans a string as a policy does. Resolves to null if that changes nothing.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn clean_held(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &External<HeldText>,
    steps: Vec<bool>,
) -> AsyncTask<Background> {
    let pieces = Arc::clone(&text.pieces);
    Background::run(move || -> Option<JsText> {
        let text = String::from_utf8(utf8(&pieces)).ok()?;
        let steps = <[bool; 5]>::try_from(steps).ok()?;
        cleaned(&text, CleanOptions::from(steps)).map(|text| answer(text.into_bytes()))
    })
}

/// Removes the secrets of a string. Resolves to null if it has none.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn redact_held(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &External<HeldText>,
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] rules: &RulesHandle,
) -> AsyncTask<Background> {
    let (pieces, rules) = (Arc::clone(&text.pieces), Arc::clone(rules));
    Background::run(move || -> Option<JsText> {
        let text = utf8(&pieces);
        if !may_have_secrets(&text, &rules) {
            return None;
        }
        redacted(text, &rules).map(answer)
    })
}

/// Rewrites held JSON like `shape_json`.
#[napi(catch_unwind, ts_return_type = "Promise<ShapedJson | null>")]
pub fn shape_held(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &External<HeldText>,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    query: Option<Vec<String>>,
    tells: bool,
    is_rest: bool,
) -> AsyncTask<Background> {
    let (pieces, policy) = (Arc::clone(&text.pieces), asking(policy, query).into_owned());
    Background::run(move || -> Option<ShapedJson> {
        let json = String::from_utf8(utf8(&pieces)).ok()?;
        shaped(&json, &policy, ShapeForm { tells, is_rest })
    })
}

fn utf8(pieces: &[HeldPiece]) -> Vec<u8> {
    let mut text = vec![];
    for piece in pieces {
        match piece {
            HeldPiece::Narrow(piece) => transcode::latin1(piece, &mut text),
            HeldPiece::Wide(piece) => transcode::utf16(piece, &mut text),
            // Only a text that is searched alone is held in part.
            HeldPiece::Unsearched(_) => {}
        }
    }
    text
}

/// A search of a held string.
pub struct SearchHandle(pub Arc<Found>);

impl ToNapiValue for SearchHandle {
    unsafe fn to_napi_value(env: sys::napi_env, value: SearchHandle) -> Result<sys::napi_value> {
        // SAFETY: as the caller promises.
        unsafe { External::to_napi_value(env, External::new(value)) }
    }
}

/// Searches a string of `total` chars for a result of a policy. `most`: chars that are searched.
/// `query`: what was asked of this text alone.
#[napi(catch_unwind, ts_return_type = "Promise<ExternalObject<'search'>>")]
pub fn search_held(
    #[napi(ts_arg_type = "ExternalObject<'text'>")] text: &External<HeldText>,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    total: f64,
    most: f64,
    query: Option<Vec<String>>,
) -> AsyncTask<Background> {
    let (pieces, policy) = (Arc::clone(&text.pieces), asking(policy, query).into_owned());
    Background::run(move || {
        let pieces = pieces.iter().map(HeldPiece::passed);
        SearchHandle(Found::of(pieces, &policy, total as usize, most as usize).into())
    })
}
