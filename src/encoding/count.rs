//! Counting loops that compile to vector code.
//!
//! Each loop adds comparisons to an array of lanes as wide as a few registers. The lanes are summed
//! before any of them can overflow. `multiversion` also compiles the source for AVX2 and selects
//! that version at run time if the processor supports it. That is 3 times as fast as the baseline,
//! without intrinsics.

use multiversion::multiversion;

/// Counts newlines, and bytes from 0x80 up.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
pub fn bytes(bytes: &[u8]) -> [usize; 2] {
    two_of_bytes(bytes, |byte| byte == b'\n', |byte| byte >= 0x80)
}

/// Counts bytes that start a code point, and bytes that start a code point of four bytes.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
pub fn utf8_starts(bytes: &[u8]) -> [usize; 2] {
    two_of_bytes(bytes, |byte| byte & 0xC0 != 0x80, |byte| byte >= 0xF0)
}

/// Counts control characters below 0x20 except BEL, BS, HT, LF, VT, FF, CR and ESC.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
pub fn controls(bytes: &[u8]) -> usize {
    let [low, high] =
        two_of_bytes(bytes, |byte| byte < 0x07, |byte| byte.wrapping_sub(0x0E) < 0x12 && byte != 0x1B);
    low + high
}

/// Counts the bytes that pass each of two tests.
#[inline(always)]
fn two_of_bytes(bytes: &[u8], one: impl Fn(u8) -> bool, other: impl Fn(u8) -> bool) -> [usize; 2] {
    const LANES: usize = 64;
    let mut sums = [0; 2];
    for rounds in bytes.chunks(LANES * u8::MAX as usize) {
        let mut counts = [[0u8; LANES]; 2];
        let mut blocks = rounds.chunks_exact(LANES);
        for block in &mut blocks {
            for lane in 0..LANES {
                counts[0][lane] += u8::from(one(block[lane]));
                counts[1][lane] += u8::from(other(block[lane]));
            }
        }
        for (sum, lanes) in sums.iter_mut().zip(counts) {
            *sum += lanes.iter().map(|&n| usize::from(n)).sum::<usize>();
        }
        for &byte in blocks.remainder() {
            sums[0] += usize::from(one(byte));
            sums[1] += usize::from(other(byte));
        }
    }
    sums
}

/// Counts units from 0x80 up, units from 0x800 up, newlines, and surrogates.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
pub fn utf16(units: &[u16]) -> [usize; 4] {
    const LANES: usize = 32;
    let mut sums = [0; 4];
    for rounds in units.chunks(LANES * u16::MAX as usize) {
        let mut counts = [[0u16; LANES]; 4];
        let mut blocks = rounds.chunks_exact(LANES);
        for block in &mut blocks {
            for lane in 0..LANES {
                let unit = block[lane];
                counts[0][lane] += u16::from(unit >= 0x80);
                counts[1][lane] += u16::from(unit >= 0x800);
                counts[2][lane] += u16::from(unit == 0x0A);
                counts[3][lane] += u16::from(unit & 0xF800 == 0xD800);
            }
        }
        for (sum, lanes) in sums.iter_mut().zip(counts) {
            *sum += lanes.iter().map(|&n| usize::from(n)).sum::<usize>();
        }
        for &unit in blocks.remainder() {
            sums[0] += usize::from(unit >= 0x80);
            sums[1] += usize::from(unit >= 0x800);
            sums[2] += usize::from(unit == 0x0A);
            sums[3] += usize::from(unit & 0xF800 == 0xD800);
        }
    }
    sums
}

/// Counts high surrogates followed by a low one.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
pub fn pairs(units: &[u16]) -> usize {
    const LANES: usize = 32;
    let behind = units.get(1..).unwrap_or_default();
    let mut sum = 0;
    for (units, behind) in
        units.chunks(LANES * u16::MAX as usize).zip(behind.chunks(LANES * u16::MAX as usize))
    {
        let mut counts = [0u16; LANES];
        for (block, next) in units.chunks_exact(LANES).zip(behind.chunks_exact(LANES)) {
            for lane in 0..LANES {
                counts[lane] += u16::from((block[lane] & 0xFC00 == 0xD800) & (next[lane] & 0xFC00 == 0xDC00));
            }
        }
        sum += counts.iter().map(|&n| usize::from(n)).sum::<usize>();
        let counted = behind.len() / LANES * LANES;
        let rest = units[counted..].iter().zip(&behind[counted..]);
        sum += rest.filter(|(unit, next)| **unit & 0xFC00 == 0xD800 && **next & 0xFC00 == 0xDC00).count();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_match_a_plain_loop(all in prop::collection::vec(any::<u8>(), 0..40_000)) {
            let plain = [all.iter().filter(|&&b| b == b'\n').count(), all.iter().filter(|&&b| b >= 0x80).count()];
            prop_assert_eq!(bytes(&all), plain);
            let plain = all.iter().filter(|&&b| b < 0x20 && !b"\x07\x08\t\n\x0B\x0C\r\x1B".contains(&b)).count();
            prop_assert_eq!(controls(&all), plain);
            let units: Vec<u16> = all.chunks_exact(2).map(|pair| u16::from(pair[0] & 0xDF) << 8 | u16::from(pair[1])).collect();
            let count = |test: fn(u16) -> bool| units.iter().filter(|&&unit| test(unit)).count();
            let plain = [count(|u| u >= 0x80), count(|u| u >= 0x800), count(|u| u == 10), count(|u| (0xD800..0xE000).contains(&u))];
            prop_assert_eq!(utf16(&units), plain);
            let units: Vec<u16> = all.iter().map(|&byte| [0xD83D, 0xDE00, 0x61][usize::from(byte % 3)]).collect();
            let plain = units.windows(2).filter(|pair| pair[0] == 0xD83D && pair[1] == 0xDE00).count();
            prop_assert_eq!(pairs(&units), plain);
        }
    }

    #[test]
    fn lanes_do_not_overflow() {
        assert_eq!(bytes(&[0x8A; 100_000]), [0, 100_000]);
        assert_eq!(bytes(&[b'\n'; 100_000]), [100_000, 0]);
        assert_eq!(utf16(&vec![0xDC0A; 5_000_000]), [5_000_000, 5_000_000, 0, 5_000_000]);
    }
}
