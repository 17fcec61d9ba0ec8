//! Where plain text ends.

/// Bytes that are looked at together. Their flags make one integer, whose zeros tell the place of the first: the loop and
/// the test compile to vector code.
const BLOCK: usize = 16;

/// Position of the first byte that may not be plain text, or the length: a control character other than tab, DEL, or
/// the first byte of what may be a C1 control, as of half the signs of Latin-1.
pub fn find(bytes: &[u8]) -> usize {
    let mut blocks = bytes.chunks_exact(BLOCK);
    for (at, block) in blocks.by_ref().enumerate() {
        let mut flags = [0; BLOCK];
        for (flag, &byte) in flags.iter_mut().zip(block) {
            *flag = u8::from(is_special(byte));
        }
        let flags = u128::from_le_bytes(flags);
        if flags != 0 {
            return at * BLOCK + flags.trailing_zeros() as usize / 8;
        }
    }
    let rest = blocks.remainder();
    let start = bytes.len() - rest.len();
    start + rest.iter().position(|&byte| is_special(byte)).unwrap_or(rest.len())
}

#[inline(always)]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\t') | (byte == 0x7F) | (byte == 0xC2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_is_found_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for at in 0..70 {
                let mut bytes = [b'x'; 70];
                bytes[at] = byte;
                let plain = byte == b'\t' || (byte >= 0x20 && byte != 0x7F && byte != 0xC2);
                assert_eq!(find(&bytes), if plain { 70 } else { at }, "{byte:#x} at {at}");
            }
        }
    }
}
