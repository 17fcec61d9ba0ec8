//! Character references: `&amp;`, `&eacute;`, `&#233;`, `&#xE9;`.
//!
//! `entities.txt` lists the names of HTML 4 and `apos`, with their code points. Others stay as they
//! are: newer names stand for signs that pages write as chars.

use std::sync::LazyLock;

static NAMES: LazyLock<Vec<(&str, char)>> = LazyLock::new(|| {
    let parse = |row: &'static str| {
        let (name, code) = row.split_once(' ')?;
        Some((name, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))
    };
    include_str!("entities.txt").lines().filter_map(parse).collect()
});

/// Bytes of the longest reference that is read, without "&" and ";".
pub const LONGEST: usize = 12;

/// Code points that pages of Windows write for 0x80 to 0x9F.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Returns true for a byte of a reference after the "&".
pub fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'#'
}

/// Returns the char of a reference, which is given without "&" and ";".
pub fn char_of(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    let Some(number) = name.strip_prefix('#') else {
        let at = NAMES.binary_search_by_key(&name, |(known, _)| known).ok()?;
        return Some(NAMES[at].1);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    let code = code.ok()?;
    let windows = code.checked_sub(0x80).and_then(|at| WINDOWS.chars().nth(at as usize));
    let is_char = |char: &char| *char != '\0';
    Some(windows.or(char::from_u32(code)).filter(is_char).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// Returns a text with chars in place of its references.
pub fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..start]);
        rest = &rest[start + 1..];
        let size = rest.iter().take(LONGEST).take_while(|byte| is_part(**byte)).count();
        match char_of(&rest[..size]).filter(|_| rest.get(size) == Some(&b';')) {
            Some(char) => {
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[size + 1..];
            }
            None => out.push(b'&'),
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_chars() {
        for (text, expected) in [
            ("a &amp; b &lt;c&gt; &eacute;&#233;&#xE9; &hellip;&euro;", "a & b <c> ééé …€"),
            ("&apos;&quot;&#39;&#x2019;", "'\"'’"),
            ("&#150;&#x80;", "–€"),
            (
                "&amp;lt; &copy &nothing; & &; &#; &#x; &#99999999999;",
                "&lt; &copy &nothing; & &; &#; &#x; &#99999999999;",
            ),
            ("&#0;&#xD800;&#x110000;", "\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("漢&nbsp;字", "漢\u{a0}字"),
        ] {
            assert_eq!(String::from_utf8(decoded(text.as_bytes())).unwrap(), expected);
        }
    }

    #[test]
    fn names_are_sorted_and_within_the_longest() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| *name));
        assert!(NAMES.len() > 250 && NAMES.iter().all(|(name, _)| name.len() <= LONGEST));
    }
}
