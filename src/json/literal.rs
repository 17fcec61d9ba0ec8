//! Texts of JSON strings, measured and cut without decoding the whole text.

use std::borrow::Cow;
use std::fmt::Write;

use super::escape::{self, unescape};
use super::held::Held;
use super::string;
use crate::encoding::positions::positions;
use crate::encoding::{Size, Text, Utf8, size};

/// The text of a string: escaped as in a JSON row, plain, or held in JavaScript.
#[derive(Clone, Debug)]
pub struct Literal<'a> {
    bytes: Cow<'a, [u8]>,
    escaped: bool,
    /// The string in JavaScript, without bytes here.
    held: Option<Held<'a>>,
}

/// A decoded part of a text: bytes without escapes, or the value of one escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralPart<'a> {
    Run(&'a [u8]),
    Char(char),
    /// An unpaired surrogate.
    Lone(u16),
}

impl LiteralPart<'_> {
    fn push_to(self, out: &mut String) {
        match self {
            LiteralPart::Run(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
            LiteralPart::Char(point) => out.push(point),
            LiteralPart::Lone(_) => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
}

/// Bytes measured per step when reading from the end: at first, and at most.
const BLOCK: usize = 64 * 1024;
const LARGEST: usize = 64 * BLOCK;

/// A text in which a backslash is an ordinary character.
impl From<String> for Literal<'_> {
    fn from(text: String) -> Self {
        Literal::without_escapes(text.into_bytes())
    }
}

impl<'a> From<Held<'a>> for Literal<'a> {
    fn from(held: Held<'a>) -> Self {
        Literal { held: Some(held), ..Literal::without_escapes(vec![]) }
    }
}

impl<'a> Literal<'a> {
    pub(super) fn without_escapes(bytes: Vec<u8>) -> Self {
        Literal { bytes: bytes.into(), escaped: false, held: None }
    }

    pub(super) fn with_escapes(bytes: Vec<u8>) -> Self {
        Literal { escaped: true, ..Literal::without_escapes(bytes) }
    }

    /// Copies a JavaScript string. Its lone surrogates are kept.
    pub fn copied(text: impl Text) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        if text.broken() > 0 {
            escape::write_units((0..text.len()).map(|at| text.unit(at)), &mut bytes);
            return Literal::with_escapes(bytes);
        }
        text.each_utf8(&mut |piece| bytes.extend_from_slice(piece));
        Literal::without_escapes(bytes)
    }

    /// Returns the text of a literal given with its quotes.
    pub fn of(quoted: &'a [u8]) -> Self {
        let bytes = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        Literal { bytes: bytes.into(), escaped: memchr::memchr(b'\\', bytes).is_some(), held: None }
    }

    /// Returns the string in JavaScript, if that holds the text.
    pub fn held(&self) -> Option<&Held<'a>> {
        self.held.as_ref()
    }

    /// Returns the text with its bytes here. All of a held string is read.
    fn here(&self) -> &Literal<'a> {
        self.held.as_ref().map_or(self, |held| held.pulled())
    }

    fn slice(&self, start: usize, end: usize) -> Literal<'_> {
        Literal { bytes: self.bytes[start..end].into(), escaped: self.escaped, held: None }
    }

    /// Returns the number of bytes in the row, escapes included, or of chars in JavaScript. The
    /// text is never longer in chars.
    pub fn len(&self) -> usize {
        self.held.as_ref().map_or(self.bytes.len(), Held::units)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the escapes, each with its position, its value and its length.
    fn escapes(&self) -> impl Iterator<Item = (usize, LiteralPart<'static>, usize)> {
        let mut end = 0;
        let Literal { bytes, escaped, .. } = self.here();
        let backslashes = positions(if *escaped { bytes } else { &[] }, b'\\');
        backslashes.filter_map(move |at| {
            // An escape may have more than one.
            if at < end {
                return None;
            }
            let (part, length) = unescape(&bytes[at..]);
            end = at + length;
            Some((at, part, length))
        })
    }

    pub fn parts(&self) -> impl Iterator<Item = LiteralPart<'_>> {
        let bytes = &self.here().bytes;
        let (mut at, mut escapes) = (0, self.escapes());
        let mut next = escapes.next();
        std::iter::from_fn(move || {
            let end = next.map_or(bytes.len(), |(start, ..)| start);
            if at < end {
                let run = &bytes[std::mem::replace(&mut at, end)..end];
                return Some(LiteralPart::Run(run));
            }
            let (_, part, length) = next?;
            at += length;
            next = escapes.next();
            Some(part)
        })
    }

    /// Returns true if the text has a lone surrogate.
    pub fn has_lone(&self) -> bool {
        if let Some(held) = &self.held {
            return held.is_broken();
        }
        self.parts().any(|part| matches!(part, LiteralPart::Lone(_)))
    }

    /// Measures the text as JavaScript sees it: invalid UTF-8 counts as U+FFFD, which is
    /// well-formed.
    pub fn size(&self) -> Size {
        if let Some(held) = &self.held {
            return held.size();
        }
        let mut sum = Size { broken: 0, ..size::of_utf8(&self.bytes) };
        // Escapes are ASCII. All bytes are counted first, then each escape is replaced with its
        // value's size.
        self.escapes().for_each(|(_, part, length)| {
            let stands = match part {
                LiteralPart::Char(point) => Size { broken: 0, ..Size::of_point(point) },
                _ => Size { bytes: 3, chars: 1, newlines: 0, broken: 1 },
            };
            sum.bytes -= length;
            sum.chars -= length;
            sum = sum + stands;
        });
        sum
    }

    /// Returns the whole text as UTF-16; lone surrogates are kept.
    pub fn units(&self) -> Vec<u16> {
        self.head(usize::MAX)
    }

    /// Returns the first `count` UTF-16 units.
    pub fn head(&self, count: usize) -> Vec<u16> {
        if let Some(held) = &self.held {
            return held.wide(0..count.min(held.units())).to_vec();
        }
        let mut units = vec![];
        for part in self.parts() {
            let room = count - units.len();
            match part {
                // A unit takes at most three bytes.
                LiteralPart::Run(bytes) => {
                    Utf8(&bytes[..bytes.len().min(room.saturating_mul(3).saturating_add(3))])
                        .write(&mut units)
                }
                LiteralPart::Char(point) => units.extend_from_slice(point.encode_utf16(&mut [0; 2])),
                LiteralPart::Lone(unit) => units.push(unit),
            }
            if units.len() >= count {
                units.truncate(count);
                break;
            }
        }
        units
    }

    /// Returns the last `count` UTF-16 units.
    pub fn tail(&self, count: usize) -> Vec<u16> {
        if let Some(held) = &self.held {
            return held.wide(held.units().saturating_sub(count)..held.units()).to_vec();
        }
        let (mut start, mut chars, mut block) = (self.bytes.len(), 0, BLOCK);
        while chars < count && start > 0 {
            let end = start;
            start = self.boundary(end.saturating_sub(block));
            // Finding a boundary inside a run of backslashes scans the whole run. Growing blocks
            // make that rare.
            block = (2 * block).min(LARGEST);
            chars += self.slice(start, end).size().chars;
        }
        let mut units = self.slice(start, self.bytes.len()).units();
        units.drain(..units.len().saturating_sub(count));
        units
    }

    /// Moves `at` back to the start of the part that contains it.
    fn boundary(&self, at: usize) -> usize {
        let bytes = &*self.bytes;
        let Some(last) = memchr::memrchr(b'\\', &bytes[..at]).filter(|last| self.escaped && at - last < 6)
        else {
            return Utf8(bytes).floor(at);
        };
        // Backslashes pair up from the start of their run, so its length decides which of them is
        // escaped.
        let before = bytes[..last].iter().rev().take_while(|byte| **byte == b'\\').count();
        let mut start = last - before % 2;
        while start < at {
            let next = start + if bytes[start] == b'\\' { escape::length(&bytes[start..]) } else { 1 };
            if next > at {
                return start;
            }
            start = next;
        }
        Utf8(bytes).floor(at)
    }

    /// Returns the whole text, or `None` if it is not ASCII.
    pub fn ascii(&self) -> Option<Cow<'_, [u8]>> {
        let Literal { bytes, escaped, .. } = self.here();
        if !bytes.is_ascii() {
            return None;
        }
        if !escaped {
            return Some(Cow::Borrowed(bytes));
        }
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        self.escapes().try_for_each(|(start, part, length)| {
            out.extend_from_slice(&bytes[at..start]);
            let LiteralPart::Char(point) = part else { return None };
            out.push(u8::try_from(point).ok().filter(u8::is_ascii)?);
            at = start + length;
            Some(())
        })?;
        out.extend_from_slice(&bytes[at..]);
        Some(out.into())
    }

    /// Returns the text as UTF-8; lone surrogates become U+FFFD.
    pub fn string(&self) -> String {
        let mut out = String::with_capacity(self.len());
        self.parts().for_each(|part| part.push_to(&mut out));
        out
    }

    /// Appends the text as `JSON.stringify` writes it, with quotes.
    pub fn write_json(&self, out: &mut String) {
        let mut text = String::with_capacity(self.len());
        let push = |text: &str, out: &mut String| {
            let json = string(text);
            out.push_str(&json[1..json.len() - 1]);
        };
        out.push('"');
        for part in self.parts() {
            if let LiteralPart::Lone(unit) = part {
                push(&std::mem::take(&mut text), out);
                let _ = write!(out, "\\u{unit:04x}");
            } else {
                part.push_to(&mut text);
            }
        }
        push(&text, out);
        out.push('"');
    }

    /// Returns true if the decoded text equals `text`.
    pub fn is(&self, text: &str) -> bool {
        let Literal { bytes, escaped, .. } = self.here();
        if *escaped { self.string() == text } else { **bytes == *text.as_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generates literals from hostile parts, with their decoded units.
    fn literals() -> impl Strategy<Value = (Vec<u8>, Vec<u16>)> {
        let part = prop_oneof![
            4 => "[a-zé漢😀 ]{0,9}".prop_map(|text| (text.clone().into_bytes(), text.encode_utf16().collect())),
            2 => any::<u16>().prop_map(|unit| (format!("\\u{unit:04x}").into_bytes(), vec![unit])),
            1 => Just((b"\\uD83D\\uDE00".to_vec(), vec![0xD83D, 0xDE00])),
            2 => Just((b"\\n".to_vec(), vec![0x0A])),
            2 => Just((b"\\\\".to_vec(), vec![0x5C])),
            1 => Just((b"\\\"".to_vec(), vec![0x22])),
            1 => Just((b"\xE2\x82".to_vec(), vec![0xFFFD])),
            1 => Just((b"\xFF".to_vec(), vec![0xFFFD])),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| {
            let mut quoted = b"\"".to_vec();
            let mut units = vec![];
            for (bytes, text) in parts {
                quoted.extend(bytes);
                units.extend(text);
            }
            quoted.push(b'"');
            (quoted, units)
        })
    }

    proptest! {
        #[test]
        fn decodes_like_the_model((quoted, units) in literals(), count in 0..60usize) {
            let literal = Literal::of(&quoted);
            prop_assert_eq!(&literal.units(), &units);
            prop_assert_eq!(literal.size(), size::of_utf16(&units));
            prop_assert_eq!(literal.head(count), &units[..count.min(units.len())]);
            prop_assert_eq!(literal.tail(count), &units[units.len().saturating_sub(count)..]);
            prop_assert_eq!(literal.string(), String::from_utf16_lossy(&units));
            let ascii = Some(literal.string().into_bytes()).filter(|bytes| bytes.is_ascii());
            prop_assert_eq!(literal.ascii().map(Cow::into_owned), ascii);
            let mut json = String::new();
            literal.write_json(&mut json);
            prop_assert_eq!(&Literal::of(json.as_bytes()).units(), &units);
            prop_assert_eq!(literal.has_lone(), char::decode_utf16(units).any(|point| point.is_err()));
        }

        #[test]
        fn boundaries_never_split_a_part((quoted, _) in literals(), at in 0..200usize) {
            let literal = Literal::of(&quoted);
            let at = at.min(literal.bytes.len());
            let boundary = literal.boundary(at);
            prop_assert!(boundary <= at && at - boundary < 6);
            let [head, tail] = [(0, boundary), (boundary, literal.bytes.len())]
                .map(|(start, end)| literal.slice(start, end).units());
            prop_assert_eq!([head, tail].concat(), literal.units());
        }
    }

    #[test]
    fn tail_of_a_long_text_is_read_in_blocks() {
        let quoted = format!("\"{}end\"", "\\\\é\\u00e9\\n".repeat(60_000));
        let literal = Literal::of(quoted.as_bytes());
        let units = literal.units();
        for count in [3, 5_000, 200_000, 900_000] {
            assert_eq!(literal.tail(count), units[units.len().saturating_sub(count)..]);
        }
    }

    #[test]
    fn a_tail_starts_in_a_long_run_of_backslashes() {
        for count in [7_000_000, 7_000_001] {
            let quoted = format!("\"{}n\"", "\\\\".repeat(count));
            let tail = Literal::of(quoted.as_bytes()).tail(6_000_000);
            assert!(tail.len() == 6_000_000 && tail.ends_with(&[0x5C, 0x6E]));
            assert!(tail[..tail.len() - 1].iter().all(|unit| *unit == 0x5C));
        }
    }

    #[test]
    fn is_compares_decoded_text() {
        assert!(Literal::of(br#""r\u006fle""#).is("role"));
        assert!(Literal::of(br#""role""#).is("role"));
    }
}
