//! Decoding UTF-8 in chunks.

use crate::encoding::chunks::Seam;

/// Decodes chunks as the WHATWG decoder does: each maximal invalid sequence becomes one U+FFFD. Byte order marks are
/// kept as text.
#[derive(Clone, Debug, Default)]
pub struct Decoder(Seam);

impl Decoder {
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(&str)) {
        self.0.push(bytes, |piece| decode(piece, &mut sink));
    }

    pub fn finish(&mut self, mut sink: impl FnMut(&str)) {
        self.0.finish(|piece| decode(piece, &mut sink));
    }
}

fn decode(bytes: &[u8], sink: &mut impl FnMut(&str)) {
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return sink(text);
    }
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            sink(chunk.valid());
        }
        if !chunk.invalid().is_empty() {
            sink("\u{FFFD}");
        }
    }
}
