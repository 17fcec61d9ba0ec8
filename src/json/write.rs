//! String literals as `JSON.stringify` writes them.

/// Appends UTF-16 as a quoted literal; lone surrogates are escaped.
#[inline(never)]
pub fn literal(units: &[u16], out: &mut Vec<u8>) {
    out.reserve(units.len() + 2);
    out.push(b'"');
    for point in char::decode_utf16(units.iter().copied()) {
        match point {
            Ok(point) => push(point, out),
            Err(lone) => push_unit(lone.unpaired_surrogate(), out),
        }
    }
    out.push(b'"');
}

/// Escapes the control characters that JSON permits unescaped. Cleaning the result as text then leaves it alone.
pub fn escaped(json: Vec<u8>) -> Vec<u8> {
    let is_control = |at: usize| match json[at] {
        0x7F => true,
        0xC2 => json.get(at + 1).is_some_and(|byte| (0x80..0xA0).contains(byte)),
        _ => false,
    };
    if !(0..json.len()).any(is_control) {
        return json;
    }
    let (mut out, mut at) = (Vec::with_capacity(json.len() + 16), 0);
    while at < json.len() {
        if is_control(at) {
            at += usize::from(json[at] == 0xC2);
            push_unit(json[at].into(), &mut out);
        } else {
            out.push(json[at]);
        }
        at += 1;
    }
    out
}

/// Appends a code point, escaped for a literal.
pub fn push(point: char, out: &mut Vec<u8>) {
    match point {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        '\0'..'\u{20}' => push_unit(point as u16, out),
        _ => out.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Appends a unit as a `\u` escape.
pub fn push_unit(unit: u16, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |shift: u16| DIGITS[usize::from(unit >> shift & 0xF)];
    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

/// Returns the number of bytes that [`push`] appends.
pub fn width(point: char) -> usize {
    match point {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => point.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_control_characters_are_escaped() {
        let json = "[\"a\u{7f}b\u{9b}31m\u{80}\u{a0}é漢\"]".as_bytes().to_vec();
        assert_eq!(escaped(json), "[\"a\\u007fb\\u009b31m\\u0080\u{a0}é漢\"]".as_bytes());
    }

    #[test]
    fn writes_like_json_stringify() {
        let mut out = vec![];
        let mut units: Vec<u16> =
            "a\"\\/\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é漢😀\u{2028}".encode_utf16().collect();
        units.extend([0xD83D, 0x61, 0xDE00]);
        literal(&units, &mut out);
        let text = "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é漢😀\u{2028}\\ud83da\\ude00\"";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn width_equals_the_bytes_written() {
        for point in ('\0'..'\u{300}').chain(['漢', '😀', '\u{2028}']) {
            let mut out = vec![];
            push(point, &mut out);
            assert_eq!(out.len(), width(point), "{point:?}");
        }
    }
}
