//! Where plain text ends.

/// A byte in each of eight lanes. Wide integers do for the short runs of coloured output: vector instructions are a fifth
/// faster there and three times on long plain text, which other steps take longer over.
const LANES: u64 = 0x0101_0101_0101_0101;

/// Position of the first byte that may not be plain text, or the length: a control character other than tab, DEL, or
/// the first byte of what may be a C1 control, as of half the signs of Latin-1.
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

/// The top bit of each lane that is zero. No lane carries over into the next.
fn zeros(word: u64) -> u64 {
    let low = 0x7F * LANES;
    !(((word & low) + low) | word | low)
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
