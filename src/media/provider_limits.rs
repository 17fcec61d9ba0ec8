//! The limits of a provider for the payloads of one request. `lib/media_limits.json` has the
//! numbers.

use super::item::{Class, Item};

/// Limits of one request; [`usize::MAX`] for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Chars of the base64 of one image.
    pub image_base64: usize,
    /// Bytes of one image, decoded.
    pub image_bytes: usize,
    /// Pixels of the longer side of an image.
    pub pixels: usize,
    /// Images in a request above which each side has at most `many_pixels`.
    pub many: usize,
    pub many_pixels: usize,
    pub images: usize,
    /// Bytes of one document, decoded.
    pub document_bytes: usize,
    pub documents: usize,
    /// Bytes of the body of a request.
    pub request_bytes: usize,
    /// Images whose bytes are not of the type that they claim.
    pub broken_images: usize,
}

impl ProviderLimits {
    pub const NONE: ProviderLimits = ProviderLimits {
        image_base64: usize::MAX,
        image_bytes: usize::MAX,
        pixels: usize::MAX,
        many: usize::MAX,
        many_pixels: usize::MAX,
        images: usize::MAX,
        document_bytes: usize::MAX,
        documents: usize::MAX,
        request_bytes: usize::MAX,
        broken_images: usize::MAX,
    };

    /// Returns the chars that all payloads may take. A tenth of a request is left to its texts.
    pub fn room(&self) -> usize {
        self.request_bytes - self.request_bytes / 10
    }

    /// Returns the reason for which a provider rejects a payload that is alone in a request.
    pub fn alone(&self, item: &Item) -> Option<OmissionReason> {
        match item.class {
            Class::Broken if self.broken_images == 0 => Some(OmissionReason::ImageType),
            class
                if class.is_image() && (item.sent() > self.image_base64 || item.bytes > self.image_bytes) =>
            {
                Some(OmissionReason::ImageBytes)
            }
            class if class.is_image() && item.side() > self.pixels => Some(OmissionReason::ImagePixels),
            Class::Document if item.bytes > self.document_bytes => Some(OmissionReason::DocumentBytes),
            _ => None,
        }
    }
}

/// The limit for which a payload is omitted, in the order of REASONS in lib/media_options.ts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// That of the caller.
    Budget = 1,
    ImageBytes,
    ImagePixels,
    ManyImagesPixels,
    Images,
    DocumentBytes,
    Documents,
    RequestBytes,
    ImageType,
}
