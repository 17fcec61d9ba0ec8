//! Escape sequences in JSON strings.

use std::io::Write;

use super::literal::LiteralPart;
use crate::encoding::{is_high, is_low};

/// Appends chars as `JSON.stringify` writes them between quotes.
pub(super) fn write_units(units: impl IntoIterator<Item = u16>, out: &mut Vec<u8>) {
    for point in char::decode_utf16(units) {
        let short = match point {
            Ok('"') => b'"',
            Ok('\\') => b'\\',
            Ok('\n') => b'n',
            Ok('\r') => b'r',
            Ok('\t') => b't',
            Ok('\u{8}') => b'b',
            Ok('\u{c}') => b'f',
            Ok(point @ ..' ') => {
                let _ = write!(out, "\\u{:04x}", u32::from(point));
                continue;
            }
            Ok(point) => {
                out.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            Err(lone) => {
                let _ = write!(out, "\\u{:04x}", lone.unpaired_surrogate());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
}

/// Returns the length of the leading escape of a valid string.
pub(super) fn length(text: &[u8]) -> usize {
    if text.get(1) == Some(&b'u') { 6 } else { 2 }
}

/// Decodes the leading escape and returns its length. A surrogate pair is decoded as one part.
pub(super) fn unescape(text: &[u8]) -> (LiteralPart<'static>, usize) {
    let char = match text.get(1) {
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unescape_unit(text),
        Some(&byte) => byte.into(),
        None => '\\',
    };
    (LiteralPart::Char(char), 2)
}

fn unescape_unit(text: &[u8]) -> (LiteralPart<'static>, usize) {
    let Some(unit) = unit_of(text) else {
        return (LiteralPart::Char(char::REPLACEMENT_CHARACTER), text.len());
    };
    if let Some(point) = char::from_u32(unit.into()) {
        return (LiteralPart::Char(point), 6);
    }
    let low = if is_high(unit) { text.get(6..).and_then(unit_of).filter(|low| is_low(*low)) } else { None };
    match low.map(|low| char::decode_utf16([unit, low]).next()) {
        Some(Some(Ok(point))) => (LiteralPart::Char(point), 12),
        _ => (LiteralPart::Lone(unit), 6),
    }
}

/// Decodes a leading `\u` escape to its UTF-16 unit.
fn unit_of(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
