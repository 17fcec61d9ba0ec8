//! Bytes decoded as UTF-8.

use std::ops::Range;

use crate::encoding::{Size, Text, count, size};

/// Bytes decoded as UTF-8. Each maximal invalid sequence decodes to one U+FFFD, like in the WHATWG
/// decoder. A byte order mark is kept.
#[derive(Clone, Copy, Debug)]
pub struct Utf8<'a>(pub &'a [u8]);

impl Utf8<'_> {
    /// Passes on the decoded text in pieces, one if the bytes are well-formed.
    pub fn each_str(self, mut each: impl FnMut(&str)) {
        if let Ok(text) = simdutf8::basic::from_utf8(self.0) {
            return each(text);
        }
        for chunk in self.0.utf8_chunks() {
            if !chunk.valid().is_empty() {
                each(chunk.valid());
            }
            if !chunk.invalid().is_empty() {
                each("\u{FFFD}");
            }
        }
    }
}

/// Returns the UTF-16 chars of valid UTF-8.
pub fn chars_of_valid(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let [starts, fours] = count::utf8_starts(text);
    starts + fours
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

impl Text for Utf8<'_> {
    const UTF16: bool = false;

    fn len(self) -> usize {
        self.0.len()
    }
    fn slice(self, range: Range<usize>) -> Self {
        Utf8(&self.0[range])
    }
    fn unit(self, at: usize) -> u16 {
        self.0[at].into()
    }
    fn ascii<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0[at..].first_chunk().filter(|bytes| bytes.is_ascii()).copied()
    }
    fn size(self) -> Size {
        size::of_utf8(self.0)
    }
    fn decode(self, at: usize) -> (char, usize) {
        let first = self.0[at];
        if first < 0x80 {
            return (first.into(), 1);
        }
        let window = &self.0[at..self.0.len().min(at + 4)];
        let valid = match std::str::from_utf8(window) {
            Ok(text) => text,
            Err(error) if error.valid_up_to() > 0 => {
                std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default()
            }
            // No error length means that the text ends inside a sequence, which is one invalid
            // sequence.
            Err(error) => return (char::REPLACEMENT_CHARACTER, error.error_len().unwrap_or(window.len())),
        };
        valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |point| (point, point.len_utf8()))
    }
    fn floor(self, at: usize) -> usize {
        if at == 0 || at >= self.0.len() || !is_continuation(self.0[at]) {
            return at;
        }
        // A decoder starts anew at each byte that is not a continuation, so the nearest of these
        // decides.
        for back in 1..=at.min(3) {
            let start = at - back;
            if !is_continuation(self.0[start]) {
                return if start + self.decode(start).1 > at { start } else { at };
            }
        }
        at
    }
    fn find_newline(self, from: usize) -> Option<usize> {
        memchr::memchr(b'\n', &self.0[from..]).map(|at| from + at)
    }
    fn find_blank_line(self, from: usize) -> Option<usize> {
        memchr::memmem::find(&self.0[from..], b"\n\n").map(|at| from + at)
    }
    fn rfind_newline(self, to: usize) -> Option<usize> {
        memchr::memrchr(b'\n', &self.0[..to])
    }
    fn each_utf8(self, each: &mut dyn FnMut(&[u8])) {
        self.each_str(|text| each(text.as_bytes()));
    }
    fn write(self, out: &mut Vec<u16>) {
        self.each_str(|text| write_utf8(text, out));
    }
}

/// Appends valid UTF-8. ASCII blocks, the most common, are widened. Other code points are assembled
/// from their bytes, which is 3 times as fast as the standard library's iterator.
fn write_utf8(text: &str, out: &mut Vec<u16>) {
    const BLOCK: usize = 16;
    /// The fixed bits of four little-endian bytes that start with a three-byte sequence.
    const OF_THREE: u32 = 0x0080_80E0;
    const OF_THREE_MASK: u32 = 0x00C0_C0F0;
    let (bytes, start) = (text.as_bytes(), out.len());
    out.resize(start + bytes.len(), 0);
    let units = &mut out[start..];
    let (mut at, mut written) = (0, 0);
    while at < bytes.len() {
        if let Some(block) = bytes[at..].first_chunk::<BLOCK>().filter(|block| block.is_ascii()) {
            for (unit, byte) in units[written..written + BLOCK].iter_mut().zip(block) {
                *unit = u16::from(*byte);
            }
            (at, written) = (at + BLOCK, written + BLOCK);
            continue;
        }
        while let Some(four) = bytes[at..].first_chunk().map(|&four| u32::from_le_bytes(four))
            && four & OF_THREE_MASK == OF_THREE
        {
            units[written] = ((four & 0x0F) << 12 | (four >> 2) & 0x0FC0 | (four >> 16) & 0x3F) as u16;
            (at, written) = (at + 3, written + 1);
        }
        if at == bytes.len() {
            break;
        }
        let low = |behind: usize| u32::from(bytes[at + behind]) & 0x3F;
        let first = u32::from(bytes[at]);
        let (point, len) = match first {
            0..0x80 => (first, 1),
            0x80..0xE0 => ((first & 0x1F) << 6 | low(1), 2),
            0xE0..0xF0 => ((first & 0x0F) << 12 | low(1) << 6 | low(2), 3),
            _ => ((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4),
        };
        if point < 0x1_0000 {
            units[written] = point as u16;
            written += 1;
        } else {
            let above = point - 0x1_0000;
            units[written] = 0xD800 | (above >> 10) as u16;
            units[written + 1] = 0xDC00 | (above & 0x3FF) as u16;
            written += 2;
        }
        at += len;
    }
    out.truncate(start + written);
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_matches_the_standard_library(bytes in prop::collection::vec(hostile_byte(), 0..40)) {
            let text = Utf8(&bytes);
            let (mut at, mut decoded, mut starts) = (0, String::new(), vec![]);
            while at < bytes.len() {
                starts.push(at);
                let (point, len) = text.decode(at);
                decoded.push(point);
                at += len;
            }
            prop_assert_eq!(&decoded, &String::from_utf8_lossy(&bytes));
            for at in 0..bytes.len() {
                let floor = starts.iter().copied().filter(|&start| start <= at).max().unwrap_or(0);
                prop_assert_eq!(text.floor(at), floor, "floor of {}", at);
            }
            let mut written = vec![];
            text.write(&mut written);
            prop_assert_eq!(String::from_utf16(&written).unwrap(), decoded);
        }
    }

    pub fn hostile_byte() -> impl Strategy<Value = u8> {
        let bytes = vec![b'a', 0x80, 0xA0, 0xC2, 0xE2, 0x82, 0xAC, 0xED, 0xF0, 0x9F, 0xF4, 0xFF];
        prop_oneof![1 => any::<u8>(), 4 => prop::sample::select(bytes)]
    }
}
