//! Payloads: kind, size and tokens of one, those in a text, and a budget for several.

use napi::bindgen_prelude::Float64Array;
use napi_derive::napi;

use super::policy::write;
use super::units::{Numbers, Units};
use crate::media::runs::runs;
use crate::media::{self, MediaBudget, base64, pixels, sniff};

/// Describes a payload by the start of its base64. `bytes`: those of the whole payload, decoded. `said`: its type as its
/// holder names it. Writes the width and height of an image to `numbers`, 0 if its header does not tell them, then its
/// tokens for each provider. Returns `None` for a payload that is only words about another.
#[napi(catch_unwind)]
pub fn describe_media(
    #[napi(ts_arg_type = "string")] head: Units,
    bytes: f64,
    said: Option<String>,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) -> Option<String> {
    describe(&base64::decode(&head), bytes as usize, said.as_deref(), numbers)
}

/// Like [`describe_media`], for bytes.
#[napi(catch_unwind)]
pub fn describe_media_bytes(
    head: &[u8],
    bytes: f64,
    said: Option<String>,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) -> Option<String> {
    describe(head, bytes as usize, said.as_deref(), numbers)
}

fn describe(head: &[u8], bytes: usize, said: Option<&str>, numbers: &mut [f64]) -> Option<String> {
    numbers.fill(0.0);
    if head.len() == bytes && media::are_words(head) {
        return None;
    }
    let medium = sniff(head);
    if let Some(size) = medium.and_then(|medium| medium.size) {
        write(numbers, &[size.0 as usize, size.1 as usize]);
        numbers[2..].copy_from_slice(&pixels::tokens(size));
    }
    Some(media::words(medium, said, bytes))
}

/// The payloads in a text.
#[napi(object)]
pub struct FoundMedia {
    /// For each: its start and its end in chars, and its bytes, decoded.
    pub places: Float64Array,
    /// The words that stand for each.
    pub words: Vec<String>,
}

/// Finds the payloads in a text. Returns `None` if there are none.
#[napi(catch_unwind)]
pub fn find_media(#[napi(ts_arg_type = "string")] text: Units) -> Option<FoundMedia> {
    let found = runs(&text);
    let place =
        |run: &media::runs::Run| [run.range.start, run.range.end, run.bytes].map(|number| number as f64);
    (!found.is_empty()).then(|| FoundMedia {
        places: found.iter().flat_map(place).collect::<Vec<f64>>().into(),
        words: found.iter().map(media::runs::Run::words).collect(),
    })
}

/// Applies a budget to payloads, given by their bytes. Replaces the bytes of those that go with -1.
#[napi(catch_unwind)]
pub fn keep_media(
    #[napi(ts_arg_type = "Float64Array")] sizes: Numbers,
    max_bytes: f64,
    max_items: f64,
    first: bool,
) {
    let budget = MediaBudget { bytes: max_bytes as usize, items: max_items as usize, first };
    let bytes: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
    for (size, gone) in sizes.iter_mut().zip(budget.gone(&bytes)) {
        if gone {
            *size = -1.0;
        }
    }
}
