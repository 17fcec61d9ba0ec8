//! Cleaning a text.

use std::ops::ControlFlow;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::redact::RulesHandle;
use crate::units::{Given, Units, units};
use spillway::clean::{CleanOptions, clean, is_page, look};
use spillway::notice::parse;
use spillway::policy::Policy;
use spillway::slots::slot_rules::SlotRules;
use spillway::slots::slot_text::{cleaned, cleaned_with, parted};

/// Scans a piece. Returns -1 if it may need cleaning, else the position where the next piece must
/// begin.
#[napi(catch_unwind)]
pub fn look_for_dirt(
    #[napi(ts_arg_type = "string")] piece: Unknown,
    narrow: bool,
    repeats: bool,
) -> Result<f64> {
    let found = match narrow {
        true => look(&units::<u8>(piece)?[..], repeats),
        false => look(&units::<u16>(piece)?[..], repeats),
    };
    Ok(if let ControlFlow::Continue(next) = found { next as f64 } else { -1.0 })
}

/// Returns true if a text that begins like this is a page of HTML.
#[napi(catch_unwind)]
pub fn begins_page(start: String) -> bool {
    is_page(start.as_bytes())
}

/// Cleans a text: as a policy does, which minds the notices of earlier cuts and leaves no text
/// empty, or else by the steps alone. `steps`: ANSI, carriage returns, control characters, repeats,
/// HTML. Returns null if that changes nothing, and bytes for bytes: their text may be longer than a
/// string can be.
#[napi(catch_unwind, ts_return_type = "string | Buffer | null")]
pub fn clean_text(
    #[napi(ts_arg_type = "string | Uint8Array")] text: Unknown,
    narrow: bool,
    steps: Vec<bool>,
    by_policy: bool,
) -> Result<Option<Either3<Latin1String, Utf16String, Buffer>>> {
    let given = Given::read(text, narrow)?;
    let steps = <[bool; 5]>::try_from(steps).map_err(|_| Error::from_reason("five steps"))?;
    let (text, options) = (given.text(), CleanOptions::from(steps));
    let made = match &given {
        _ if by_policy => cleaned(&text, options),
        Given::Bytes(_) => cleaned_with(&text, options),
        // A look has found that it may need cleaning.
        _ => String::from_utf8(clean(text.as_bytes(), options)).ok().filter(|left| *left != text),
    };
    Ok(made.map(|made| given.answer(made.into_bytes())))
}

/// Removes from a cut of a prepared text, with `folds`, all but two of equal lines that the cut
/// made neighbors, and with `rules` secrets that the cut joined.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn part_text(
    #[napi(ts_arg_type = "string")] text: Units,
    folds: bool,
    #[napi(ts_arg_type = "ExternalObject<'redaction'> | undefined")] rules: Option<&RulesHandle>,
) -> Either<Latin1String, Utf16String> {
    let policy = Policy { redact: rules.map(|rules| Arc::clone(rules)), ..Policy::default() };
    let rules = SlotRules { policy, clean: Some(CleanOptions { repeats: folds, ..CleanOptions::NONE }) };
    answer(parted(String::from_utf16_lossy(&text), &rules).into_bytes())
}

/// Returns true if a text contains one of our notices or marks. Chars above 0xFF, which no notice
/// needs, lose their upper half.
#[napi(catch_unwind)]
pub fn has_notice(#[napi(ts_arg_type = "string")] text: Unknown) -> Result<bool> {
    Ok(parse::has_notice(&units::<u8>(text)?))
}
