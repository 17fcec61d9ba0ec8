//! Escape sequences in JSON strings.

use super::literal::Part;
use crate::text::units::{is_high, is_low};

/// Returns the length of the leading escape, or `None` if it is not valid JSON.
pub(super) fn length(text: &[u8]) -> Option<usize> {
    match text.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => text.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// Decodes the leading escape and returns its length. A surrogate pair is decoded as one part.
#[inline(never)]
pub(super) fn unescape(text: &[u8]) -> (Part<'static>, usize) {
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
    (Part::Char(char), 2)
}

fn unescape_unit(text: &[u8]) -> (Part<'static>, usize) {
    let Some(unit) = unit_of(text) else { return (Part::Char(char::REPLACEMENT_CHARACTER), text.len()) };
    if let Some(point) = char::from_u32(unit.into()) {
        return (Part::Char(point), 6);
    }
    let low = if is_high(unit) { text.get(6..).and_then(unit_of).filter(|low| is_low(*low)) } else { None };
    match low.map(|low| char::decode_utf16([unit, low]).next()) {
        Some(Some(Ok(point))) => (Part::Char(point), 12),
        _ => (Part::Lone(unit), 6),
    }
}

/// Decodes a leading `\u` escape to its UTF-16 unit.
fn unit_of(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Replaces every escaped lone surrogate with U+FFFD, or returns `None` if there are none. The length stays.
pub fn well_formed(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        at += found;
        let (part, length) = unescape(&json[at..]);
        if matches!(part, Part::Lone(_)) {
            repaired.get_or_insert_with(|| json.to_vec())[at..at + length].copy_from_slice(b"\\ufffd");
        }
        at += length;
    }
    repaired
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Literal;
    use crate::json::literal::tests::literals;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn well_formed_json_differs_only_in_lone_surrogates((quoted, units) in literals()) {
            let repaired = well_formed(&quoted);
            let is_broken = char::decode_utf16(units.iter().copied()).any(|point| point.is_err());
            prop_assert_eq!(repaired.is_some(), is_broken);
            if let Some(repaired) = repaired {
                prop_assert_eq!(repaired.len(), quoted.len());
                prop_assert_eq!(Literal::of(&repaired).units(), String::from_utf16_lossy(&units).encode_utf16().collect::<Vec<_>>());
            }
        }
    }
}
