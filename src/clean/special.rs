//! Finds the end of plain text.

/// One byte in each of eight lanes. Coloured output has short runs: there, vector instructions gain only a fifth. They
/// are three times faster on long plain text, but other steps dominate there.
const LANES: u64 = 0x0101_0101_0101_0101;

/// Returns the position of the first byte that may not be plain text, or the length. Such bytes are control characters
/// other than tab, DEL, and the first byte of C1 controls, which begins half the characters of Latin-1 too.
pub fn find(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (at, &word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word);
        let controls = zeros(word & (0xE0 * LANES)) & !zeros(word ^ (0x09 * LANES));
        let special = controls | zeros(word ^ (0x7F * LANES)) | zeros(word ^ (0xC2 * LANES));
        if special != 0 {
            return at * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let start = bytes.len() - rest.len();
    let is_special = |&byte: &u8| (byte < 0x20 && byte != b'\t') || byte == 0x7F || byte == 0xC2;
    start + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Sets the top bit of each lane that is zero. Lanes do not carry into each other.
fn zeros(word: u64) -> u64 {
    let low = 0x7F * LANES;
    !(((word & low) + low) | word | low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_at_any_position() {
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
