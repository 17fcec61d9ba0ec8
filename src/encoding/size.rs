//! Sizes of texts.

use std::ops::{Add, Sub};

use crate::encoding::count;

/// Bytes, chars, newlines and ill-formed code points of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// UTF-8 bytes of the output text: an ill-formed part counts as U+FFFD, three bytes.
    pub bytes: usize,
    /// UTF-16 code units of the output text.
    pub chars: usize,
    pub newlines: usize,
    /// Lone surrogates, or invalid byte sequences.
    pub broken: usize,
}

impl Size {
    /// Returns the size of one code point. U+FFFD counts as ill-formed, because it usually replaces
    /// an ill-formed part.
    pub fn of_point(point: char) -> Size {
        Size {
            bytes: point.len_utf8(),
            chars: point.len_utf16(),
            newlines: usize::from(point == '\n'),
            broken: usize::from(point == char::REPLACEMENT_CHARACTER),
        }
    }

    /// Returns the lines of a text of this size. A newline ends a line. `open`: text follows the
    /// last newline.
    pub fn lines(self, open: bool) -> usize {
        self.newlines + usize::from(open)
    }
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size {
            bytes: self.bytes + other.bytes,
            chars: self.chars + other.chars,
            newlines: self.newlines + other.newlines,
            broken: self.broken + other.broken,
        }
    }
}

/// Returns the size that remains after removing a piece at either end.
impl Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        Size {
            bytes: self.bytes - other.bytes,
            chars: self.chars - other.chars,
            newlines: self.newlines - other.newlines,
            broken: self.broken.saturating_sub(other.broken),
        }
    }
}

/// Measures UTF-16. A lone surrogate counts as three bytes, like the U+FFFD that replaces it, so
/// replacement does not change sizes.
pub fn of_utf16(units: &[u16]) -> Size {
    let [over_7f, over_7ff, newlines, surrogates] = count::utf16(units);
    let pairs = if surrogates == 0 { 0 } else { count::pairs(units) };
    Size {
        bytes: units.len() + over_7f + over_7ff - 2 * pairs,
        chars: units.len(),
        newlines,
        broken: surrogates - 2 * pairs,
    }
}

/// Measures Latin-1, the encoding of one-byte JavaScript strings. Chars from 0x80 up count as two
/// bytes.
pub fn of_latin1(bytes: &[u8]) -> Size {
    let [newlines, high] = count::bytes(bytes);
    Size { bytes: bytes.len() + high, chars: bytes.len(), newlines, broken: 0 }
}

/// Measures bytes read as UTF-8.
pub fn of_utf8(bytes: &[u8]) -> Size {
    let [newlines, high] = count::bytes(bytes);
    if high == 0 {
        return Size { bytes: bytes.len(), chars: bytes.len(), newlines, broken: 0 };
    }
    // Iterating over valid parts is slow, and nearly all texts are valid.
    if simdutf8::basic::from_utf8(bytes).is_ok() {
        return Size { bytes: bytes.len(), chars: chars_of(bytes), newlines, broken: 0 };
    }
    let mut size = Size { newlines, ..Size::default() };
    for chunk in bytes.utf8_chunks() {
        size.bytes += chunk.valid().len();
        size.chars += chars_of(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() {
            size.bytes += char::REPLACEMENT_CHARACTER.len_utf8();
            size.chars += 1;
            size.broken += 1;
        }
    }
    size
}

/// Counts UTF-16 units of valid UTF-8: one per sequence, two if the sequence has four bytes.
fn chars_of(valid: &[u8]) -> usize {
    let [starts, astral] = count::utf8_starts(valid);
    starts + astral
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_newline_ends_a_line() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\nb\n", 2), ("\n\n", 2)] {
            let open = !text.is_empty() && !text.ends_with('\n');
            assert_eq!(of_utf8(text.as_bytes()).lines(open), lines, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn utf16_sizes_match_the_decoded_text(units in prop::collection::vec(prop_oneof![any::<u16>(), 0x09u16..0x7F, 0xD7F0u16..0xE010], 0..5000)) {
            let text = String::from_utf16_lossy(&units);
            let size = of_utf16(&units);
            prop_assert_eq!(size.bytes, text.len());
            prop_assert_eq!(size.chars, text.encode_utf16().count());
            prop_assert_eq!(size.newlines, text.matches('\n').count());
            let broken = char::decode_utf16(units.iter().copied()).filter(Result::is_err).count();
            prop_assert_eq!(size.broken, broken);
        }

        #[test]
        fn utf8_sizes_match_the_decoded_text(bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x20u8..0x7F], 0..900)) {
            let text = String::from_utf8_lossy(&bytes);
            let size = of_utf8(&bytes);
            prop_assert_eq!(size.bytes, text.len());
            prop_assert_eq!(size.chars, text.encode_utf16().count());
            prop_assert_eq!(size.newlines, text.matches('\n').count());
        }
    }
}
