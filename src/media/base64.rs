//! Base64: decoded from both alphabets, as much of it as a header needs, and encoded.

/// Decodes the start of base64, up to the first char outside its alphabet. Skips line ends.
pub fn decode<U: Copy + Into<u16>>(text: &[U]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for unit in text {
        let Some(value) = value((*unit).into()) else {
            if is_line_end((*unit).into()) {
                continue;
            }
            break;
        };
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Encodes bytes as base64.
pub fn encode(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits = chunk.iter().chain(&[0; 3]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let sign = |at: usize| if at > chunk.len() { '=' } else { SIGNS[bits >> (18 - 6 * at) & 63].into() };
        [0, 1, 2, 3].map(sign)
    };
    bytes.chunks(3).flat_map(group).collect()
}

/// Returns the number of bytes that this many chars of base64 decode to, without padding and line
/// ends.
pub fn decoded(chars: usize) -> usize {
    chars / 4 * 3 + chars % 4 * 3 / 4
}

#[inline]
pub fn is_base64(unit: u16) -> bool {
    let is_letter = (unit | 0x20).wrapping_sub(b'a'.into()) < 26;
    let is_digit = unit.wrapping_sub(b'0'.into()) < 10;
    let is_sign = unit == u16::from(b'+')
        || unit == u16::from(b'/')
        || unit == u16::from(b'-')
        || unit == u16::from(b'_');
    is_letter | is_digit | is_sign
}

pub fn is_line_end(unit: u16) -> bool {
    unit == u16::from(b'\n') || unit == u16::from(b'\r')
}

fn value(unit: u16) -> Option<u32> {
    let from = |start: u8| u32::from(unit) - u32::from(start);
    Some(match u8::try_from(unit).ok()? {
        b'A'..=b'Z' => from(b'A'),
        b'a'..=b'z' => from(b'a') + 26,
        b'0'..=b'9' => from(b'0') + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_decode() {
        assert_eq!(decode(b"aGVsbG8="), b"hello");
        assert_eq!(decode(b"aGVs\r\nbG8"), b"hello");
        assert_eq!(decode(b"-_+/"), decode(b"+/-_"));
        assert_eq!(decode(b"aGVs!bG8"), b"hel");
        assert_eq!(decode(&[0x141u16, 0x61]), b"");
        assert_eq!([0, 1, 2, 3, 4].map(decoded), [0, 0, 1, 2, 3]);
    }

    #[test]
    fn units_of_base64_are_those_that_decode() {
        for unit in 0..=u16::MAX {
            assert_eq!(is_base64(unit), value(unit).is_some(), "{unit}");
        }
    }

    #[test]
    fn bytes_are_encoded_as_they_decode() {
        for words in ["", "a", "ab", "abc", "[... 3 bytes omitted]"] {
            let encoded = encode(words.as_bytes());
            assert_eq!(encoded.len() % 4, 0);
            assert_eq!(decode(encoded.as_bytes()), words.as_bytes());
        }
        assert_eq!(encode(b"abcd"), "YWJjZA==");
    }
}
