//! Conversion of other encodings to UTF-8.

use super::Utf16;

const BLOCK: usize = 16;

/// Appends Latin-1 as UTF-8.
pub fn latin1(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    for block in bytes.chunks(BLOCK) {
        if block.is_ascii() {
            out.extend_from_slice(block);
        } else {
            block.iter().for_each(|&byte| push(byte.into(), out));
        }
    }
}

/// Appends UTF-16 as UTF-8, lone surrogates as U+FFFD.
pub fn utf16(units: &[u16], out: &mut Vec<u8>) {
    out.reserve(units.len());
    let mut rest = units;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            out.extend(block.iter().map(|&unit| unit as u8));
            rest = after;
            continue;
        }
        // A pair may extend beyond the block.
        let mut taken = 0;
        for point in Utf16(rest).chars() {
            push(point, out);
            taken += point.len_utf16();
            if taken >= BLOCK {
                break;
            }
        }
        rest = &rest[taken..];
    }
}

fn push(point: char, out: &mut Vec<u8>) {
    out.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn output_matches_the_standard_library(
            units in prop::collection::vec(prop_oneof![any::<u16>(), 0x61u16..0x7F, 0x80u16..0x100, 0xD83Du16..0xD83F, 0xDE00u16..0xDE02], 0..90)
        ) {
            let mut out = vec![];
            utf16(&units, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), String::from_utf16_lossy(&units));
            let bytes: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
            let mut out = vec![];
            latin1(&bytes, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), bytes.iter().map(|&byte| char::from(byte)).collect::<String>());
        }
    }
}
