//! Payloads: kind, size and tokens of one, those in a text, and a budget for several.

use std::borrow::Cow;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::policy::write;
use crate::units::{Given, Numbers, Units};
use spillway::media::item::{Class, Item};
use spillway::media::runs::runs;
use spillway::media::{self, MediaBudget, ProviderLimits, base64, pixels, sniff};

/// Describes a payload by its start, in base64 or bytes. `bytes`: those of the whole payload,
/// decoded. `said`: its type as its holder names it. Writes the width and height of an image to
/// `numbers`, 0 if its header does not tell them, then its class, its tokens for each of three
/// providers, and 1 if its header goes on. Returns `None` for a payload that is only words about
/// another.
#[napi(catch_unwind)]
pub fn describe_media(
    #[napi(ts_arg_type = "string | Uint8Array")] head: Unknown,
    bytes: f64,
    said: Option<String>,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) -> Result<Option<String>> {
    let given = Given::read(head, false)?;
    let head = match &given {
        Given::Wide(base64) => Cow::Owned(base64::decode(base64)),
        Given::Narrow(_) => Cow::default(),
        Given::Bytes(head) => Cow::Borrowed(&head[..]),
    };
    Ok(describe(&head, bytes as usize, said.as_deref(), numbers))
}

fn describe(head: &[u8], bytes: usize, said: Option<&str>, numbers: &mut [f64]) -> Option<String> {
    numbers.fill(0.0);
    if head.len() == bytes && media::are_words(head) {
        return None;
    }
    let medium = sniff(head);
    if let Some(size) = medium.and_then(|medium| medium.size) {
        write(numbers, &[size.0 as usize, size.1 as usize]);
        numbers[3..6].copy_from_slice(&pixels::tokens(size));
    }
    numbers[6] = f64::from(sniff::goes_on(head));
    numbers[2] = f64::from(Class::of(medium, said, head.len() == bytes) as u8);
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
    let place = |run: &media::runs::PayloadRun| {
        [run.range.start, run.range.end, run.bytes].map(|number| number as f64)
    };
    (!found.is_empty()).then(|| FoundMedia {
        places: found.iter().flat_map(place).collect::<Vec<f64>>().into(),
        words: found.iter().map(media::runs::PayloadRun::words).collect(),
    })
}

/// Members of a payload in an array: its bytes, its width and height or 0, its class, and 1 if the
/// user sent it.
const COLUMNS: usize = 5;

/// Applies a budget to payloads, given in `items` by their members. Replaces the first member of
/// each with the reason to omit it, 0 if it stays.
#[napi(catch_unwind)]
pub fn judge_media(#[napi(ts_arg_type = "Float64Array")] items: Numbers, budget: MediaFields) {
    let read = |item: &[f64]| Item {
        bytes: item[0] as usize,
        size: (item[1] > 0.0).then_some((item[1] as u32, item[2] as u32)),
        class: [Class::Other, Class::Image, Class::Document, Class::Broken][item[3] as usize],
        from_user: item[4] != 0.0,
    };
    let read: Vec<Item> = items.chunks_exact(COLUMNS).map(read).collect();
    let reasons = MediaBudget::from(budget).judge(&read);
    for (item, reason) in items.chunks_exact_mut(COLUMNS).zip(reasons) {
        item[0] = reason.map_or(0.0, |reason| f64::from(reason as u8));
    }
}

/// A checked budget of payloads. `Infinity` lifts a limit.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct MediaFields {
    pub max_bytes: f64,
    pub max_items: f64,
    /// Keeps the first payloads rather than the latest.
    pub first: bool,
    pub limits: Option<ProviderFields>,
}

/// The limits of a provider.
#[napi(object, object_to_js = false)]
#[derive(Debug)]
pub struct ProviderFields {
    pub image_base64: f64,
    pub image_bytes: f64,
    pub pixels: f64,
    pub many_images: f64,
    pub many_pixels: f64,
    pub images: f64,
    pub document_bytes: f64,
    pub documents: f64,
    pub request_bytes: f64,
    pub broken_images: f64,
}

impl From<MediaFields> for MediaBudget {
    fn from(fields: MediaFields) -> MediaBudget {
        MediaBudget {
            bytes: fields.max_bytes as usize,
            items: fields.max_items as usize,
            first: fields.first,
            provider: fields.limits.map_or(ProviderLimits::NONE, ProviderLimits::from),
        }
    }
}

impl From<ProviderFields> for ProviderLimits {
    fn from(fields: ProviderFields) -> ProviderLimits {
        ProviderLimits {
            image_base64: fields.image_base64 as usize,
            image_bytes: fields.image_bytes as usize,
            pixels: fields.pixels as usize,
            many: fields.many_images as usize,
            many_pixels: fields.many_pixels as usize,
            images: fields.images as usize,
            document_bytes: fields.document_bytes as usize,
            documents: fields.documents as usize,
            request_bytes: fields.request_bytes as usize,
            broken_images: fields.broken_images as usize,
        }
    }
}
