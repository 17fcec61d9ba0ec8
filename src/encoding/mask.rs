//! Masks of blocks: a bit for each unit, the first one lowest. Compilers make no such mask of a
//! loop.

/// Units of a block.
pub const BLOCK: usize = u64::BITS as usize;

/// Iterates over the places of a mask, the lowest first.
#[inline]
pub fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (at < BLOCK).then_some(at)
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub use scalar::*;
#[cfg(target_arch = "x86_64")]
pub use vector::*;

/// The functions of `scalar` by SSE2, which all of these processors have.
#[cfg(target_arch = "x86_64")]
mod vector {
    use super::BLOCK;
    use std::arch::x86_64::*;

    const PART: usize = 16;

    #[inline]
    pub fn of_byte(block: &[u8; BLOCK], byte: u8) -> u64 {
        let (parts, _) = block.as_chunks::<PART>();
        // SAFETY: the processor has SSE2, and each load is one of 16 bytes.
        gathered(parts, |part| unsafe {
            let part = _mm_loadu_si128(part.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(byte as i8)))
        })
    }

    #[inline]
    pub fn of_unit(block: &[u16; BLOCK], unit: u16) -> u64 {
        let (parts, _) = block.as_chunks::<PART>();
        // SAFETY: the processor has SSE2, and the loads are two of 16 bytes.
        gathered(parts, |part| unsafe {
            let unit = _mm_set1_epi16(unit as i16);
            let one = _mm_cmpeq_epi16(_mm_loadu_si128(part.as_ptr().cast()), unit);
            let other = _mm_cmpeq_epi16(_mm_loadu_si128(part[8..].as_ptr().cast()), unit);
            _mm_movemask_epi8(_mm_packs_epi16(one, other))
        })
    }

    #[inline]
    pub fn changes(block: &[u8; BLOCK]) -> u64 {
        let (parts, _) = block.as_chunks::<PART>();
        // SAFETY: the processor has SSE2.
        let mut next = unsafe { _mm_setzero_si128() };
        // Shifted in registers: a load across two recent stores would wait for both.
        // SAFETY: the processor has SSE2, and each load is one of 16 bytes.
        let same = gathered(parts, |part| unsafe {
            let part = _mm_loadu_si128(part.as_ptr().cast());
            let after = _mm_or_si128(_mm_srli_si128::<1>(part), _mm_slli_si128::<15>(next));
            next = part;
            _mm_movemask_epi8(_mm_cmpeq_epi8(part, after))
        });
        // A bit of `same` marks the first of two equal bytes. Shifted, it marks the second.
        !(same << 1)
    }

    /// Joins the masks of the parts of a block, from the last one on.
    #[inline]
    fn gathered<T>(parts: &[T], mut mask: impl FnMut(&T) -> i32) -> u64 {
        parts.iter().rev().fold(0, |all, part| all << PART | mask(part) as u64)
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod scalar {
    use super::BLOCK;

    /// Returns the places of a byte in a block.
    pub fn of_byte(block: &[u8; BLOCK], byte: u8) -> u64 {
        gathered(|at| block[at] == byte)
    }

    /// Returns the places of a unit of UTF-16 in a block.
    pub fn of_unit(block: &[u16; BLOCK], unit: u16) -> u64 {
        gathered(|at| block[at] == unit)
    }

    /// Returns the bytes that differ from the byte before them. The first byte counts as one.
    pub fn changes(block: &[u8; BLOCK]) -> u64 {
        gathered(|at| at == 0 || block[at] != block[at - 1])
    }

    fn gathered(test: impl Fn(usize) -> bool) -> u64 {
        (0..BLOCK).rev().fold(0, |mask, at| mask << 1 | u64::from(test(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_mask_what_a_loop_masks(
            units in prop::collection::vec(prop_oneof![Just(10u16), Just(0x0A0A), Just(0x0A00), 0..4u16], BLOCK),
        ) {
            let block: [u16; BLOCK] = units.try_into().expect("it is as long");
            let bytes = block.map(|unit| unit as u8);
            for unit in [10, 0, 3] {
                prop_assert_eq!(of_unit(&block, unit), scalar::of_unit(&block, unit));
                prop_assert_eq!(of_byte(&bytes, unit as u8), scalar::of_byte(&bytes, unit as u8));
            }
            prop_assert_eq!(changes(&bytes), scalar::changes(&bytes));
        }
    }
}
