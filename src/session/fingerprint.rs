//! Detects changes to bytes that were read before.

use std::fmt;

use xxhash_rust::xxh3::Xxh3Default;

/// A hash of all bytes in order, independent of how they are split. It detects accidental changes,
/// not malicious ones.
#[derive(Clone, Default)]
pub struct Fingerprint(Xxh3Default);

impl Fingerprint {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub fn digest(&self) -> u128 {
        self.0.digest128()
    }
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "Fingerprint({:032x})", self.digest())
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
        fn depends_on_every_byte_and_not_on_the_pieces(bytes in prop::collection::vec(any::<u8>(), 1..300), cuts in prop::collection::vec(0..300usize, 0..6), at in 0..300usize) {
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
