//! The newlines of a text, found in blocks.

use super::mask::{self, BLOCK};

/// A code unit in which a newline is one unit.
pub trait Unit: Copy + Default + Eq {
    /// Returns a bit for each newline of a block, the first one lowest.
    fn newlines(block: &[Self; BLOCK]) -> u64;
}

impl Unit for u8 {
    fn newlines(block: &[u8; BLOCK]) -> u64 {
        mask::newlines_of_bytes(block)
    }
}

impl Unit for u16 {
    fn newlines(block: &[u16; BLOCK]) -> u64 {
        mask::newlines_of_utf16(block)
    }
}

/// Returns the positions of all newlines. Where lines are short, that takes a third of the time of a search for each.
pub fn newlines<U: Unit>(units: &[U]) -> impl Iterator<Item = usize> {
    let (blocks, rest) = units.as_chunks();
    // Filled up to a block with units that are no newlines.
    let last = std::iter::once_with(|| {
        let mut block = [U::default(); BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        U::newlines(&block)
    });
    blocks
        .iter()
        .map(U::newlines)
        .chain(last)
        .enumerate()
        .flat_map(|(at, mask)| bits(mask).map(move |bit| at * BLOCK + bit))
}

/// Returns the positions of the bits that are set, from the lowest on.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < BLOCK).then_some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_are_those_of_a_plain_search(units in prop::collection::vec(prop_oneof![Just(10u16), Just(0x0A0A), Just(0x0A00), any::<u16>()], 0..400)) {
            let plain: Vec<_> = (0..units.len()).filter(|&at| units[at] == 10).collect();
            prop_assert_eq!(newlines(&units).collect::<Vec<_>>(), plain);
            let bytes: Vec<u8> = units.iter().map(|&unit| unit as u8).collect();
            let plain: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at] == 10).collect();
            prop_assert_eq!(newlines(&bytes).collect::<Vec<_>>(), plain);
        }
    }
}
