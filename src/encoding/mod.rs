//! The supported encodings, behind one trait.
//!
//! JavaScript strings arrive as UTF-16, which may contain lone surrogates, or as Latin-1 if no char
//! is wider. A `Uint8Array` arrives as UTF-8 and may contain any bytes. All are truncated without
//! conversion: positions are in their own units, and ill-formed parts count as the U+FFFD that
//! replaces them.

pub(crate) mod byte_table;
pub mod count;
pub mod decoder;
pub mod mask;
mod piece;
pub mod positions;
pub mod size;
pub mod transcode;
pub mod utf8;
pub mod whitespace;

use std::ops::Range;

pub use piece::StringPiece;
pub use size::Size;
pub use utf8::Utf8;

/// A borrowed text in one encoding. Cheap to copy.
pub trait Text: Copy {
    /// True if units are UTF-16 chars.
    const UTF16: bool;

    /// Returns the length in units of the encoding.
    fn len(self) -> usize;
    fn is_empty(self) -> bool {
        self.len() == 0
    }
    fn slice(self, range: Range<usize>) -> Self;
    /// Returns the unit at `at`. Newlines and ASCII marks have equal units in all encodings.
    fn unit(self, at: usize) -> u16;
    /// Returns the next `N` units, if there are as many and all are ASCII.
    fn ascii<const N: usize>(self, at: usize) -> Option<[u8; N]>;
    /// Measures the text in one pass. If pieces split no code point, their sizes add up to the size
    /// of the whole.
    fn size(self) -> Size;
    /// Returns the length in UTF-16 chars.
    fn chars(self) -> usize {
        if Self::UTF16 { self.len() } else { self.size().chars }
    }
    /// Returns the ill-formed code points.
    fn broken(self) -> usize {
        self.size().broken
    }
    /// Returns the code point that starts at `at` and its length in units. `at` must be a boundary
    /// before the end.
    fn decode(self, at: usize) -> (char, usize);
    /// Moves `at` back to the start of a code point. Returns boundaries unchanged.
    fn floor(self, at: usize) -> usize;
    /// Returns the position of the first newline at or after `from`.
    fn find_newline(self, from: usize) -> Option<usize>;
    /// Returns the position of the first two consecutive newlines at or after `from`.
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
    /// Returns the position of the last newline before `to`.
    fn rfind_newline(self, to: usize) -> Option<usize>;
    /// Appends the text as UTF-16, with ill-formed parts as U+FFFD.
    fn write(self, out: &mut Vec<u16>);

    /// Passes on the text as UTF-8 in pieces, with ill-formed parts as U+FFFD.
    fn each_utf8(self, each: &mut dyn FnMut(&[u8]));

    /// Returns the code point that ends at `at` and its length in units. `at` must be a boundary
    /// after the start.
    fn decode_before(self, at: usize) -> (char, usize) {
        let start = self.floor(at - 1);
        (self.decode(start).0, at - start)
    }
    fn ends_with_newline(self) -> bool {
        !self.is_empty() && self.unit(self.len() - 1) == NEWLINE
    }
}

/// Units per piece. The converted piece fits in the processor's cache.
pub const PIECE: usize = 16_384;

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

impl<'a> Utf16<'a> {
    /// Returns the code points, with U+FFFD for lone surrogates.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        char::decode_utf16(self.0.iter().copied()).map(|point| point.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
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
    fn ascii<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        let units = self.0[at..].first_chunk::<N>()?;
        let is_ascii = units.iter().fold(0, |all, unit| all | unit) < 0x80;
        is_ascii.then(|| units.map(|unit| unit as u8))
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
        // Vector code skips whole blocks. Only the block with a newline is searched.
        let blocks = self.0[from..].chunks(64);
        let block = blocks
            .clone()
            .position(|block| block.iter().fold(false, |has, &unit| has | (unit == NEWLINE)))?;
        let start = from + block * 64;
        self.0[start..].iter().position(|&unit| unit == NEWLINE).map(|at| start + at)
    }
    fn find_blank_line(self, from: usize) -> Option<usize> {
        // Like `find_newline`: most lines are not blank, and the vector code does not stop at them.
        let units = &self.0[from..];
        let pairs = units.iter().zip(units.get(1..)?).map(|(&one, &next)| one == NEWLINE && next == NEWLINE);
        let next = units[1..].chunks(64);
        let block = units.chunks(64).zip(next).position(|(units, next)| {
            units
                .iter()
                .zip(next)
                .fold(false, |has, (&one, &next)| has | ((one == NEWLINE) & (next == NEWLINE)))
        })?;
        pairs.skip(block * 64).position(|is_blank| is_blank).map(|at| from + block * 64 + at)
    }
    fn rfind_newline(self, to: usize) -> Option<usize> {
        self.0[..to].iter().rposition(|&unit| unit == NEWLINE)
    }
    fn write(self, out: &mut Vec<u16>) {
        if self.size().broken == 0 {
            return out.extend_from_slice(self.0);
        }
        let mut buffer = [0; 2];
        for point in self.chars() {
            out.extend_from_slice(point.encode_utf16(&mut buffer));
        }
    }
    fn each_utf8(self, each: &mut dyn FnMut(&[u8])) {
        let (mut at, mut piece) = (0, vec![]);
        while at < self.0.len() {
            let end = self.floor(self.0.len().min(at + PIECE));
            piece.clear();
            transcode::utf16(&self.0[at..end], &mut piece);
            each(&piece);
            at = end;
        }
    }
}

/// One byte per char, the encoding of V8 for strings without wider chars.
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
    fn ascii<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        Utf8(self.0).ascii(at)
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
    fn each_utf8(self, each: &mut dyn FnMut(&[u8])) {
        for piece in self.0.chunks(PIECE) {
            if piece.is_ascii() {
                each(piece);
            } else {
                let mut text = vec![];
                transcode::latin1(piece, &mut text);
                each(&text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_are_found_across_blocks() {
        for at in [0, 1, 62, 63, 64, 65, 126, 127, 128, 200] {
            let text = format!("{}\n\n{}", "a\n".repeat(at / 2) + &"b".repeat(at % 2 + 1), "c\n".repeat(40));
            let units: Vec<u16> = text.encode_utf16().collect();
            let blank = text.find("\n\n");
            assert_eq!(Utf16(&units).find_blank_line(0), blank, "{at}");
            assert_eq!(Utf8(text.as_bytes()).find_blank_line(0), blank, "{at}");
            assert_eq!(Utf16(&units).find_blank_line(blank.unwrap_or(0) + 1), None, "{at}");
        }
        assert_eq!(Utf16(&[]).find_blank_line(0), None);
        assert_eq!(Utf16(&[10]).find_blank_line(1), None);
    }

    #[test]
    fn pairs_and_lone_surrogates_are_one_code_point_each() {
        let units = [0x61, 0xD83D, 0xDE00, 0xD83D, 0x62, 0xDE00];
        let text = Utf16(&units);
        assert_eq!(text.decode(1), ('😀', 2));
        assert_eq!(text.decode(3), (char::REPLACEMENT_CHARACTER, 1));
        assert_eq!(text.floor(2), 1);
        assert_eq!(text.floor(5), 5);
        assert_eq!(text.decode_before(3), ('😀', 2));
    }
}
