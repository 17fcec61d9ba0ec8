//! The kind, size and tokens of a payload.

use napi_derive::napi;

use super::policy::write;
use super::units::{Numbers, Units};
use crate::media::{self, base64, pixels, sniff};

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
