//! Finds the lines of a text, and the places where one of many short texts may begin, a block of bytes at once.
//!
//! A place passes if some group of texts allows its first bytes. The bytes that a group allows are told by their halves,
//! which a processor looks up for 32 bytes in one step.

/// Bytes that are looked at in one step, a bit for each.
pub const BLOCK: usize = 64;

/// Bytes of a place that are looked at.
const DEPTH: usize = 4;

/// Bytes of a block, and those after it that its last places reach.
const WINDOW: usize = BLOCK + DEPTH - 1;

/// Groups of texts, and those of one table: a byte has a bit for each.
pub const GROUPS: usize = BITS * TABLES;
pub const BITS: usize = 8;
const TABLES: usize = 2;

/// The groups that allow a half of a byte, by its distance from the place.
#[derive(Clone, Copy, Debug, Default)]
struct Table {
    low: [[u8; 16]; DEPTH],
    high: [[u8; 16]; DEPTH],
}

#[derive(Clone, Debug, Default)]
pub struct Sieve {
    tables: [Table; TABLES],
    /// The tables that have a text.
    used: usize,
}

/// The newlines of a block, and the places where a text may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub newlines: u64,
    pub places: u64,
}

impl Sieve {
    /// Adds a text to a group, by the bytes that may stand at its first places. No bytes stand for any.
    pub fn add(&mut self, group: usize, text: &[&[u8]]) {
        self.used = self.used.max(group / BITS + 1);
        let Table { low, high } = &mut self.tables[group / BITS];
        let bit = 1 << (group % BITS);
        for at in 0..DEPTH {
            match text.get(at).filter(|bytes| !bytes.is_empty()) {
                None => low[at].iter_mut().chain(&mut high[at]).for_each(|groups| *groups |= bit),
                Some(bytes) => bytes.iter().for_each(|byte| {
                    low[at][usize::from(byte & 0x0F)] |= bit;
                    high[at][usize::from(byte >> 4)] |= bit;
                }),
            }
        }
    }

    /// Adds an ASCII text in any case.
    pub fn add_word(&mut self, group: usize, word: &[u8]) {
        let cases: Vec<[u8; 2]> =
            word.iter().map(|byte| [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]).collect();
        self.add(group, &cases.iter().map(<[u8; 2]>::as_slice).collect::<Vec<_>>());
    }

    /// Looks at a text block by block. The bytes after it are unknown, and taken for zeros.
    pub fn look(&self, text: &[u8], found: &mut Vec<Found>) {
        found.clear();
        let whole = text.len().saturating_sub(DEPTH - 1) / BLOCK;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY of each: the processor has AVX2.
            match self.used {
                0 => unsafe { self.look_by_vector::<0>(text, whole, found) },
                1 => unsafe { self.look_by_vector::<1>(text, whole, found) },
                _ => unsafe { self.look_by_vector::<TABLES>(text, whole, found) },
            }
        }
        for at in (found.len() * BLOCK..text.len()).step_by(BLOCK) {
            let mut window = [0; WINDOW];
            let bytes = &text[at..text.len().min(at + WINDOW)];
            window[..bytes.len()].copy_from_slice(bytes);
            found.push(self.look_by_byte(&window));
        }
    }

    fn look_by_byte(&self, window: &[u8; WINDOW]) -> Found {
        let mut found = Found::default();
        for at in 0..BLOCK {
            let passes = self.tables.iter().any(|Table { low, high }| {
                let allowed = |nth: usize| {
                    let byte = window[at + nth];
                    low[nth][usize::from(byte & 0x0F)] & high[nth][usize::from(byte >> 4)]
                };
                allowed(0) & allowed(1) & allowed(2) & allowed(3) != 0
            });
            found.newlines |= u64::from(window[at] == b'\n') << at;
            found.places |= u64::from(passes) << at;
        }
        found
    }

    /// Looks at the first blocks of a text, after which as many bytes follow as the last places reach.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    // An iterator over both would not be compiled for AVX2.
    #[allow(clippy::needless_range_loop)]
    fn look_by_vector<const USED: usize>(&self, text: &[u8], blocks: usize, found: &mut Vec<Found>) {
        use std::arch::x86_64::{
            __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256,
            _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
            _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
        };
        const HALF: usize = BLOCK / 2;
        let of_halves = |halves: &[[u8; 16]; DEPTH]| {
            // SAFETY: 16 bytes are read of an array of 16.
            halves.each_ref().map(|groups| unsafe {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(groups.as_ptr().cast::<__m128i>()))
            })
        };
        let tables = self.tables.each_ref().map(|table| [of_halves(&table.low), of_halves(&table.high)]);
        let (low_half, newline) = (_mm256_set1_epi8(0x0F), _mm256_set1_epi8(b'\n' as i8));
        found.reserve(text.len() / BLOCK + 1);
        for block in 0..blocks {
            let mut bits = Found::default();
            for half in 0..2 {
                let at = block * BLOCK + half * HALF;
                let bytes: &[u8; HALF + DEPTH - 1] = text[at..].first_chunk().expect("bytes after a block");
                let mut first = _mm256_setzero_si256();
                let mut groups = [_mm256_set1_epi8(-1); USED];
                for nth in 0..DEPTH {
                    // SAFETY: `nth` is less than DEPTH, so 32 bytes from there are within the chunk.
                    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(nth).cast::<__m256i>()) };
                    first = if nth == 0 { bytes } else { first };
                    let low = _mm256_and_si256(bytes, low_half);
                    let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
                    for table in 0..USED {
                        let [of_low, of_high] = &tables[table];
                        let of_low = _mm256_shuffle_epi8(of_low[nth], low);
                        let of_high = _mm256_shuffle_epi8(of_high[nth], high);
                        groups[table] = _mm256_and_si256(groups[table], _mm256_and_si256(of_low, of_high));
                    }
                }
                let mut any = _mm256_setzero_si256();
                for table in 0..USED {
                    any = _mm256_or_si256(any, groups[table]);
                }
                let none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(any, _mm256_setzero_si256())) as u32;
                let newlines = _mm256_movemask_epi8(_mm256_cmpeq_epi8(first, newline)) as u32;
                bits.places |= u64::from(!none) << (half * HALF);
                bits.newlines |= u64::from(newlines) << (half * HALF);
            }
            found.push(bits);
        }
    }
}

/// Returns the end of the line that begins at `start`, with its newline, or `None` if the text ends before.
#[inline]
pub fn line_end(found: &[Found], start: usize) -> Option<usize> {
    let mut block = start / BLOCK;
    let mut newlines = found.get(block)?.newlines & !0 << (start % BLOCK);
    while newlines == 0 {
        block += 1;
        newlines = found.get(block)?.newlines;
    }
    Some(block * BLOCK + newlines.trailing_zeros() as usize + 1)
}

/// Returns the first place from `start` to `end`.
#[inline]
pub fn next_place(found: &[Found], start: usize, end: usize) -> Option<usize> {
    let mut block = start / BLOCK;
    let mut places = found.get(block)?.places & !0 << (start % BLOCK);
    while places == 0 {
        block += 1;
        if block * BLOCK >= end {
            return None;
        }
        places = found.get(block)?.places;
    }
    Some(block * BLOCK + places.trailing_zeros() as usize).filter(|place| *place < end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vectors_find_what_single_bytes_do(
            words in prop_oneof![
                prop::collection::vec("[a-d.]{1,6}", 0..4),
                prop::collection::vec("[a-d.]{1,6}", 0..40),
            ],
            text in "[a-dA-D.\n é]{0,300}",
        ) {
            let mut sieve = Sieve::default();
            words.iter().enumerate().for_each(|(at, word)| sieve.add_word(at % GROUPS, word.as_bytes()));
            let (mut found, bytes) = (vec![], text.as_bytes());
            sieve.look(bytes, &mut found);
            for (nth, found) in found.iter().enumerate() {
                let mut window = [0; WINDOW];
                let rest = &bytes[nth * BLOCK..bytes.len().min(nth * BLOCK + WINDOW)];
                window[..rest.len()].copy_from_slice(rest);
                prop_assert_eq!(*found, sieve.look_by_byte(&window));
            }
            let lower = text.to_ascii_lowercase();
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                if words.iter().any(|word| lower[at..].starts_with(word.as_str())) {
                    prop_assert_eq!(next_place(&found, at, text.len()), Some(at));
                }
                let end = text[at..].find('\n').map(|newline| at + newline + 1);
                prop_assert_eq!(line_end(&found, at), end);
            }
        }
    }
}
