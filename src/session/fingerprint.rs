//! Tells whether bytes that were read before are still the same.

/// Made of all bytes in order, however they were cut into pieces. It tells chance apart, not malice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    lanes: [u64; LANES],
    /// Bytes that do not fill a block yet.
    rest: [u8; BLOCK],
    length: u64,
}

const LANES: usize = 4;
const BLOCK: usize = LANES * 8;
/// Odd, with its bits spread.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint { lanes: [1, 2, 3, 4], rest: [0; BLOCK], length: 0 }
    }
}

impl Fingerprint {
    pub fn push(&mut self, bytes: &[u8]) {
        let filled = (self.length % BLOCK as u64) as usize;
        self.length += bytes.len() as u64;
        let mut bytes = bytes;
        if filled > 0 {
            let (first, after) = bytes.split_at(bytes.len().min(BLOCK - filled));
            self.rest[filled..filled + first.len()].copy_from_slice(first);
            bytes = after;
            if filled + first.len() < BLOCK {
                return;
            }
            let block = self.rest;
            self.mix(&block);
        }
        let blocks = bytes.chunks_exact(BLOCK);
        let rest = blocks.remainder();
        blocks.for_each(|block| self.mix(block));
        // What a block left behind must not count.
        self.rest = [0; BLOCK];
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// Four chains, so that none waits for another.
    fn mix(&mut self, block: &[u8]) {
        for (lane, word) in self.lanes.iter_mut().zip(block.chunks_exact(8)) {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            *lane = (*lane ^ word).wrapping_mul(FACTOR).rotate_left(29);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(bytes: &[u8]) -> Fingerprint {
        let mut whole = Fingerprint::default();
        whole.push(bytes);
        whole
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter_and_every_byte_does(bytes in prop::collection::vec(any::<u8>(), 1..300), cuts in prop::collection::vec(0..300usize, 0..6), at in 0..300usize) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Fingerprint::default(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(&pieces, &of(&bytes));
            let mut other = bytes.clone();
            let at = at % bytes.len();
            other[at] ^= 1;
            prop_assert_ne!(of(&other), pieces.clone());
            other[at] ^= 1;
            other.push(0);
            prop_assert_ne!(of(&other), pieces);
        }
    }
}
