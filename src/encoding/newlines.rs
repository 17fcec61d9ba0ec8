//! The newlines of a text, found in blocks.

/// Units of a block, each a bit of its mask.
const BLOCK: usize = u64::BITS as usize;

/// A code unit in which a newline is one unit.
pub trait Unit: Copy + Eq {
    /// Returns a bit for each newline of a block, the first one lowest.
    fn newlines(block: &[Self; BLOCK]) -> u64;
    fn is_newline(self) -> bool;
}

impl Unit for u8 {
    fn newlines(block: &[u8; BLOCK]) -> u64 {
        mask::of_bytes(block)
    }
    fn is_newline(self) -> bool {
        self == b'\n'
    }
}

impl Unit for u16 {
    fn newlines(block: &[u16; BLOCK]) -> u64 {
        mask::of_utf16(block)
    }
    fn is_newline(self) -> bool {
        self == super::NEWLINE
    }
}

/// Returns the positions of all newlines. Where lines are short, that takes a third of the time of a search for each.
pub fn newlines<U: Unit>(units: &[U]) -> impl Iterator<Item = usize> {
    let (blocks, rest) = units.as_chunks();
    let last = std::iter::once_with(|| plain(rest));
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

fn plain<U: Unit>(units: &[U]) -> u64 {
    units.iter().rev().fold(0, |mask, unit| mask << 1 | u64::from(unit.is_newline()))
}

/// SSE2, which all of these processors have. Compilers make no such mask of a loop.
#[cfg(target_arch = "x86_64")]
mod mask {
    use super::BLOCK;
    use std::arch::x86_64::*;

    pub fn of_bytes(block: &[u8; BLOCK]) -> u64 {
        let (parts, _) = block.as_chunks::<16>();
        let mask = |part: &[u8; 16]| {
            // SAFETY: the processor has SSE2, and the load is one of 16 bytes.
            unsafe {
                let part = _mm_loadu_si128(part.as_ptr().cast());
                _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(b'\n' as i8)))
            }
        };
        parts.iter().rev().fold(0, |all, part| all << 16 | mask(part) as u64)
    }

    pub fn of_utf16(block: &[u16; BLOCK]) -> u64 {
        let (parts, _) = block.as_chunks::<16>();
        let mask = |part: &[u16; 16]| {
            // SAFETY: the processor has SSE2, and the loads are two of 16 bytes.
            unsafe {
                let newline = _mm_set1_epi16(b'\n'.into());
                let one = _mm_cmpeq_epi16(_mm_loadu_si128(part.as_ptr().cast()), newline);
                let other = _mm_cmpeq_epi16(_mm_loadu_si128(part[8..].as_ptr().cast()), newline);
                _mm_movemask_epi8(_mm_packs_epi16(one, other))
            }
        };
        parts.iter().rev().fold(0, |all, part| all << 16 | mask(part) as u64)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod mask {
    use super::{BLOCK, plain};

    pub fn of_bytes(block: &[u8; BLOCK]) -> u64 {
        plain(block)
    }

    pub fn of_utf16(block: &[u16; BLOCK]) -> u64 {
        plain(block)
    }
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
