//! Conversion of other encodings to UTF-8.

use multiversion::multiversion;

use super::Utf16;

const BLOCK: usize = 16;

/// Bytes of the longest char.
const LONGEST: usize = 4;

/// Bytes by which an output is filled up with zeros, to be written over.
const ROOM: usize = 4 << 10;

/// Appends Latin-1 as UTF-8.
pub fn latin1(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    for block in bytes.chunks(BLOCK) {
        if block.is_ascii() {
            out.extend_from_slice(block);
        } else {
            out.extend(block.iter().flat_map(|&byte| {
                let wide = [0xC0 | byte >> 6, 0x80 | byte & 0x3F];
                let (bytes, long) = if byte < 0x80 { ([byte, 0], 1) } else { (wide, 2) };
                bytes.into_iter().take(long)
            }));
        }
    }
}

/// Appends UTF-16 as UTF-8, lone surrogates as U+FFFD.
#[multiversion(targets("x86_64+avx2"))]
pub fn utf16(units: &[u16], out: &mut Vec<u8>) {
    out.reserve(units.len() + ROOM);
    let (mut rest, mut end) = (units, out.len());
    while !rest.is_empty() {
        if out.len() - end < LONGEST * BLOCK {
            out.resize(end + ROOM, 0);
        }
        let room = out[end..].first_chunk_mut().expect("room for a block");
        // All blocks have the same length: loops over fewer units would not become vector code.
        let (mut block, length) = ([0; BLOCK], rest.len().min(BLOCK));
        match rest.first_chunk() {
            Some(units) => block = *units,
            None => block[..length].copy_from_slice(rest),
        }
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            room.iter_mut().zip(block).for_each(|(byte, unit)| *byte = unit as u8);
            (rest, end) = (&rest[length..], end + length);
        } else if !block.iter().fold(false, |any, unit| any | (unit & 0xF800 == 0xD800)) {
            // Units behind the end were written as zeros.
            (rest, end) = (&rest[length..], end + encode(&block, room) + length - BLOCK);
        } else {
            // A pair may extend beyond the block.
            let mut taken = 0;
            for point in Utf16(rest).chars() {
                end += point.encode_utf8(&mut out[end..]).len();
                taken += point.len_utf16();
                if taken >= BLOCK {
                    break;
                }
            }
            rest = &rest[taken..];
        }
    }
    out.truncate(end);
}

/// Writes chars that are not surrogates, and returns the bytes written. Each is written with four
/// bytes, and the next over those that it did not need: lengths vary too much to branch on.
#[inline(always)]
fn encode(block: &[u16; BLOCK], room: &mut [u8; LONGEST * BLOCK]) -> usize {
    // Loops without branches and places, which become vector code.
    let encoded = block.map(|unit| {
        let unit = u32::from(unit);
        let last = |unit: u32| 0x80 | unit & 0x3F;
        let two = 0xC0 | unit >> 6 | last(unit) << 8;
        let three = 0xE0 | unit >> 12 | last(unit >> 6) << 8 | last(unit) << 16;
        if unit >= 0x800 {
            three
        } else if unit >= 0x80 {
            two
        } else {
            unit
        }
    });
    if block.iter().fold(true, |all, unit| all & (*unit >= 0x800)) {
        for (at, bytes) in encoded.iter().enumerate() {
            room[3 * at..3 * at + LONGEST].copy_from_slice(&bytes.to_le_bytes());
        }
        return 3 * BLOCK;
    }
    let lengths = block.map(|unit| 1 + u8::from(unit >= 0x80) + u8::from(unit >= 0x800));
    let mut end = 0;
    for (bytes, length) in encoded.iter().zip(lengths) {
        *room[end..].first_chunk_mut().expect("room for a block") = bytes.to_le_bytes();
        end += usize::from(length);
    }
    end
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
