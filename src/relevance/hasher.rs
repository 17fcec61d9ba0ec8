//! Hashes of words, and of keys that are hashes already.

use std::hash::Hasher;

/// Hashes a text. Equal on every platform.
pub fn hash(text: &[u8]) -> u64 {
    hash_with(text, 0)
}

/// Hashes a text, eight bytes at once, with bits set in each of its bytes.
pub fn hash_with(text: &[u8], set: u64) -> u64 {
    let mix = |hash: u64, eight: u64| {
        let product = u128::from(hash ^ eight) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        (product >> 64) as u64 ^ product as u64
    };
    let (eights, rest) = text.as_chunks();
    let hash =
        eights.iter().fold(text.len() as u64 + 1, |hash, eight| mix(hash, u64::from_le_bytes(*eight) | set));
    if rest.is_empty() {
        return hash;
    }
    let within = (1 << (8 * rest.len())) - 1;
    mix(hash, small(rest) | set & within)
}

/// Returns one to seven bytes as a number. Two reads that overlap take less time than a copy.
fn small(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
            first | last << (8 * (bytes.len() - 4))
        }
        _ => [0, bytes.len() / 2, bytes.len() - 1]
            .map(|at| u64::from(bytes[at]) << (8 * at))
            .iter()
            .fold(0, |all, byte| all | byte),
    }
}

/// Uses a hash as its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainHasher(u64);

impl Hasher for PlainHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(8) ^ hash(bytes);
    }

    fn write_usize(&mut self, number: usize) {
        // A table tells values apart by the first bits too.
        self.0 = (self.0.rotate_left(8) ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u32(&mut self, hash: u32) {
        self.write_usize(hash as usize);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_hash_reads_the_last_bytes_as_if_zeros_followed(text in prop::collection::vec(any::<u8>(), 1..8)) {
            let mut eight = [0; 8];
            eight[..text.len()].copy_from_slice(&text);
            prop_assert_eq!(small(&text), u64::from_le_bytes(eight));
        }
    }
}
