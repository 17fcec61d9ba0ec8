//! String literals as `JSON.stringify` writes them.

/// Appends UTF-16 as a literal with its quotes; lone surrogates come as escapes.
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

/// Appends a code point inside a literal.
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

/// Appends a unit as an escape.
pub fn push_unit(unit: u16, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |shift: u16| DIGITS[usize::from(unit >> shift & 0xF)];
    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

/// Bytes that a code point takes inside a literal.
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
    fn writes_what_json_stringify_writes() {
        let mut out = vec![];
        let mut units: Vec<u16> =
            "a\"\\/\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é漢😀\u{2028}".encode_utf16().collect();
        units.extend([0xD83D, 0x61, 0xDE00]);
        literal(&units, &mut out);
        let text = "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é漢😀\u{2028}\\ud83da\\ude00\"";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn a_width_is_what_is_written() {
        for point in ('\0'..'\u{300}').chain(['漢', '😀', '\u{2028}']) {
            let mut out = vec![];
            push(point, &mut out);
            assert_eq!(out.len(), width(point), "{point:?}");
        }
    }
}
