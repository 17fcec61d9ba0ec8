//! Shortening of strings.

use crate::json::Literal;

/// Writes the beginning of a string of `chars` chars, given with its quotes, and the count of the
/// chars that are missing, in at most `room` bytes. Without room for the count, an empty string.
pub fn write_shortened(quoted: &[u8], chars: usize, room: usize, out: &mut Vec<u8>) {
    let mark = |missing: usize| format!("[+{missing} chars]");
    let content = &quoted[1..quoted.len() - 1];
    out.push(b'"');
    if let Some(room) = room.checked_sub(2 + mark(chars).len()) {
        let (mut at, mut kept) = (0, 0);
        while let Some((bytes, chars)) = point(&content[at..]).filter(|(bytes, _)| at + bytes <= room) {
            (at, kept) = (at + bytes, kept + chars);
        }
        out.extend_from_slice(&content[..at]);
        out.extend_from_slice(mark(chars - kept).as_bytes());
    }
    out.push(b'"');
}

/// Returns the bytes of a string when only the count of its chars is left.
pub fn mark_bytes(chars: usize) -> usize {
    format!("\"[+{chars} chars]\"").len()
}

/// Returns the chars of a string, given with its quotes.
pub fn chars_of(quoted: &[u8]) -> usize {
    Literal::of(quoted).size().chars
}

/// Returns the bytes and the chars of the first code point, escaped or not.
fn point(content: &[u8]) -> Option<(usize, usize)> {
    let is_half = |from: usize, digits: &[u8]| {
        content.get(from..from + 2) == Some(b"\\u")
            && content.get(from + 2).is_some_and(|digit| digit.eq_ignore_ascii_case(&b'd'))
            && content.get(from + 3).is_some_and(|digit| digits.contains(&digit.to_ascii_lowercase()))
    };
    Some(match (content.first()?, content.get(1)) {
        (b'\\', Some(b'u')) if is_half(0, b"89ab") && is_half(6, b"cdef") => (12, 2),
        (b'\\', Some(b'u')) => (6, 1),
        (b'\\', _) => (2, 1),
        (0..0x80, _) => (1, 1),
        (0..0xE0, _) => (2, 1),
        (0..0xF0, _) => (3, 1),
        _ => (4, 2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_and_escapes_stay_whole() {
        let quoted = format!(r#""a\n\u00e9é漢😀\ud83d\ude00{}""#, "x".repeat(90));
        for (room, shown) in [
            (12, r#""""#),
            (13, r#""[+99 chars]""#),
            (16, r#""a\n[+97 chars]""#),
            (21, r#""a\n[+97 chars]""#),
            (22, r#""a\n\u00e9[+96 chars]""#),
            (30, r#""a\n\u00e9é漢[+94 chars]""#),
            (42, r#""a\n\u00e9é漢😀[+92 chars]""#),
            (43, r#""a\n\u00e9é漢😀\ud83d\ude00[+90 chars]""#),
        ] {
            let mut out = vec![];
            write_shortened(quoted.as_bytes(), chars_of(quoted.as_bytes()), room, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{room}");
        }
    }
}
