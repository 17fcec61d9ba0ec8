//! Decoding UTF-8 in chunks, which may split code points.

use super::Utf8;

/// Decodes chunks as [`Utf8`] decodes the whole.
#[derive(Clone, Debug, Default)]
pub struct Decoder(Seam);

impl Decoder {
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(&str)) {
        self.0.push(bytes, |piece| Utf8(piece).each_str(&mut sink));
    }

    pub fn finish(&mut self, sink: impl FnMut(&str)) {
        self.0.finish(|piece| Utf8(piece).each_str(sink));
    }
}

/// Realigns chunks to code point boundaries. An incomplete code point is buffered until the next
/// chunk.
#[derive(Clone, Debug, Default)]
pub struct Seam {
    begun: [u8; 4],
    len: usize,
}

impl Seam {
    /// Accepts a chunk, and passes on pieces that can be decoded as UTF-8 separately.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        if self.len > 0 {
            while self.len < length(self.begun[0])
                && let [next @ 0x80..0xC0, rest @ ..] = bytes
            {
                self.begun[self.len] = *next;
                (self.len, bytes) = (self.len + 1, rest);
            }
            if bytes.is_empty() && self.len < length(self.begun[0]) {
                return;
            }
            self.finish(&mut each);
        }
        let (whole, begun) = bytes.split_at(end_of_whole(bytes));
        if !whole.is_empty() {
            each(whole);
        }
        self.begun[..begun.len()].copy_from_slice(begun);
        self.len = begun.len();
    }

    /// Passes on the buffered bytes at the end of the stream.
    pub fn finish(&mut self, each: impl FnOnce(&[u8])) {
        let len = std::mem::take(&mut self.len);
        if len > 0 {
            each(&self.begun[..len]);
        }
    }
}

/// Returns the start of a code point that is incomplete at the end of a chunk, or else the length
/// of the chunk.
fn end_of_whole(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        if !matches!(bytes[at], 0x80..0xC0) {
            return if length(bytes[at]) > back { at } else { bytes.len() };
        }
    }
    bytes.len()
}

/// Returns the bytes of a code point with this first byte.
fn length(first: u8) -> usize {
    match first {
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::utf8::tests::hostile_byte;
    use proptest::prelude::*;

    #[test]
    fn incomplete_code_points_are_buffered_and_invalid_ones_are_not() {
        let (mut seam, mut pieces) = (Seam::default(), vec![]);
        for chunk in [&b"a\xE6\xBC"[..], b"", b"\xA2b\xF0", b"\x9F", b"c", b"\xE2"] {
            seam.push(chunk, |piece| pieces.push(piece.to_vec()));
        }
        seam.finish(|piece| pieces.push(piece.to_vec()));
        let expected: [&[u8]; 6] = [b"a", "漢".as_bytes(), b"b", b"\xF0\x9F", b"c", b"\xE2"];
        assert_eq!(pieces, expected);
    }

    proptest! {
        #[test]
        fn pieces_decode_like_the_whole(chunks in prop::collection::vec(prop::collection::vec(hostile_byte(), 0..6), 0..12)) {
            let (mut seam, mut text) = (Seam::default(), String::new());
            for chunk in &chunks {
                seam.push(chunk, |piece| text.push_str(&String::from_utf8_lossy(piece)));
            }
            seam.finish(|piece| text.push_str(&String::from_utf8_lossy(piece)));
            let whole = chunks.concat();
            prop_assert_eq!(text, String::from_utf8_lossy(&whole));
        }
    }
}
