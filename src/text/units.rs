//! The encodings that reach us, behind one trait.
//!
//! JavaScript strings arrive as UTF-16 and may hold lone surrogates, or as Latin-1 where no char is wider; a `Uint8Array`
//! arrives as UTF-8 and may hold anything. All are cut where they stand: positions are in their own units, and what is
//! not well-formed counts as the U+FFFD that it comes out as.

use std::ops::Range;

use super::size::{self, Size};

/// A borrowed text in one encoding. Cheap to copy.
pub trait Text: Copy {
    /// Whether units are chars.
    const UTF16: bool;

    /// Length in own units.
    fn len(self) -> usize;
    fn is_empty(self) -> bool {
        self.len() == 0
    }
    fn slice(self, range: Range<usize>) -> Self;
    /// The unit at `at`; newlines and ASCII marks can be looked for in units of either encoding.
    fn unit(self, at: usize) -> u16;
    /// Measures in one pass. Sizes of pieces that split no code point add up to the size of the whole.
    fn size(self) -> Size;
    /// Code points that are not well-formed.
    fn broken(self) -> usize {
        self.size().broken
    }
    /// Decodes the code point that starts at `at`, with its length in units. `at` must be a boundary before the end.
    fn decode(self, at: usize) -> (char, usize);
    /// Moves `at` back to where a code point starts; stays where it is on a boundary.
    fn floor(self, at: usize) -> usize;
    /// Position of the first newline at or after `from`.
    fn find_newline(self, from: usize) -> Option<usize>;
    /// Position of the first two newlines in a row at or after `from`.
    fn find_blank_line(self, from: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let newline = self.find_newline(from)?;
            from = newline + 1;
            if from < self.len() && self.unit(from) == NEWLINE {
                return Some(newline);
            }
        }
    }
    /// Position of the last newline before `to`.
    fn rfind_newline(self, to: usize) -> Option<usize>;
    /// Appends the text as UTF-16, ill-formed parts as U+FFFD.
    fn write(self, out: &mut Vec<u16>);

    /// The code point that ends at `at`, which must be a boundary after the start.
    fn decode_before(self, at: usize) -> (char, usize) {
        let start = self.floor(at - 1);
        (self.decode(start).0, at - start)
    }
    fn ends_with_newline(self) -> bool {
        !self.is_empty() && self.unit(self.len() - 1) == NEWLINE
    }
}

pub const NEWLINE: u16 = b'\n' as u16;
pub const RETURN: u16 = b'\r' as u16;

/// UTF-16 code units, lone surrogates allowed.
#[derive(Clone, Copy, Debug)]
pub struct Utf16<'a>(pub &'a [u16]);

pub fn is_high(unit: u16) -> bool {
    unit & 0xFC00 == 0xD800
}

pub fn is_low(unit: u16) -> bool {
    unit & 0xFC00 == 0xDC00
}

impl Text for Utf16<'_> {
    const UTF16: bool = true;

    fn len(self) -> usize {
        self.0.len()
    }
    fn slice(self, range: Range<usize>) -> Self {
        Utf16(&self.0[range])
    }
    fn unit(self, at: usize) -> u16 {
        self.0[at]
    }
    fn size(self) -> Size {
        size::of_utf16(self.0)
    }
    fn decode(self, at: usize) -> (char, usize) {
        let unit = self.0[at];
        if is_high(unit) && self.0.get(at + 1).is_some_and(|&next| is_low(next)) {
            let point = 0x10000 + ((u32::from(unit) & 0x3FF) << 10) + (u32::from(self.0[at + 1]) & 0x3FF);
            return (char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER), 2);
        }
        (char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER), 1)
    }
    fn floor(self, at: usize) -> usize {
        let inside = at > 0 && at < self.0.len() && is_low(self.0[at]) && is_high(self.0[at - 1]);
        at - usize::from(inside)
    }
    fn find_newline(self, from: usize) -> Option<usize> {
        // Whole blocks are passed over with vector code; only the block that has one is searched.
        let blocks = self.0[from..].chunks(64);
        let block = blocks
            .clone()
            .position(|block| block.iter().fold(false, |has, &unit| has | (unit == NEWLINE)))?;
        let start = from + block * 64;
        self.0[start..].iter().position(|&unit| unit == NEWLINE).map(|at| start + at)
    }
    fn rfind_newline(self, to: usize) -> Option<usize> {
        self.0[..to].iter().rposition(|&unit| unit == NEWLINE)
    }
    fn write(self, out: &mut Vec<u16>) {
        if self.size().broken == 0 {
            return out.extend_from_slice(self.0);
        }
        let mut buffer = [0; 2];
        for point in char::decode_utf16(self.0.iter().copied()) {
            let point = point.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(point.encode_utf16(&mut buffer));
        }
    }
}

/// Bytes read as UTF-8; each maximal invalid sequence stands for one U+FFFD, as in the WHATWG decoder. A byte order
/// mark is text like any other.
#[derive(Clone, Copy, Debug)]
pub struct Utf8<'a>(pub &'a [u8]);

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
            // No error length means that the text ends inside a sequence: what is there is one invalid sequence.
            Err(error) => return (char::REPLACEMENT_CHARACTER, error.error_len().unwrap_or(window.len())),
        };
        valid.chars().next().map_or((char::REPLACEMENT_CHARACTER, 1), |point| (point, point.len_utf8()))
    }
    fn floor(self, at: usize) -> usize {
        if at == 0 || at >= self.0.len() || !is_continuation(self.0[at]) {
            return at;
        }
        // A decoder starts afresh at every byte that continues nothing, so the nearest one decides.
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
    fn write(self, out: &mut Vec<u16>) {
        if let Ok(text) = std::str::from_utf8(self.0) {
            return write_utf8(text, out);
        }
        for chunk in self.0.utf8_chunks() {
            write_utf8(chunk.valid(), out);
            if !chunk.invalid().is_empty() {
                out.push(char::REPLACEMENT_CHARACTER as u16);
            }
        }
    }
}

/// Appends UTF-8 that is known to be valid. Blocks that are ASCII, as most are, are widened; other code points are put
/// together from their bytes, which is 3 times as fast as pushing what the standard library's iterator gives.
fn write_utf8(text: &str, out: &mut Vec<u16>) {
    const BLOCK: usize = 16;
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

/// One byte a char: what V8 keeps of a string in which no char is wider.
#[derive(Clone, Copy, Debug)]
pub struct Latin1<'a>(pub &'a [u8]);

impl Text for Latin1<'_> {
    const UTF16: bool = true;

    fn len(self) -> usize {
        self.0.len()
    }
    fn slice(self, range: Range<usize>) -> Self {
        Latin1(&self.0[range])
    }
    fn unit(self, at: usize) -> u16 {
        self.0[at].into()
    }
    fn size(self) -> Size {
        size::of_latin1(self.0)
    }
    fn broken(self) -> usize {
        0
    }
    fn decode(self, at: usize) -> (char, usize) {
        (self.0[at].into(), 1)
    }
    fn floor(self, at: usize) -> usize {
        at
    }
    fn find_newline(self, from: usize) -> Option<usize> {
        Utf8(self.0).find_newline(from)
    }
    fn find_blank_line(self, from: usize) -> Option<usize> {
        Utf8(self.0).find_blank_line(from)
    }
    fn rfind_newline(self, to: usize) -> Option<usize> {
        Utf8(self.0).rfind_newline(to)
    }
    fn write(self, out: &mut Vec<u16>) {
        out.extend(self.0.iter().copied().map(u16::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pair_is_one_code_point_and_a_lone_half_is_one_too() {
        let units = [0x61, 0xD83D, 0xDE00, 0xD83D, 0x62, 0xDE00];
        let text = Utf16(&units);
        assert_eq!(text.decode(1), ('😀', 2));
        assert_eq!(text.decode(3), (char::REPLACEMENT_CHARACTER, 1));
        assert_eq!(text.floor(2), 1);
        assert_eq!(text.floor(5), 5);
        assert_eq!(text.decode_before(3), ('😀', 2));
    }

    proptest! {
        #[test]
        fn bytes_decode_as_the_standard_library_decodes_them(bytes in hostile_bytes()) {
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

    fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            any::<u8>(),
            Just(0x80),
            Just(0xE2),
            Just(0x82),
            Just(0xAC),
            Just(0xF0),
            Just(0x9F),
            Just(0xED)
        ];
        prop::collection::vec(byte, 0..40)
    }
}
