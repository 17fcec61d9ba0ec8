//! Finds the lines of a text, and the places where one of many short texts may begin, a block of
//! bytes at once.
//!
//! A place passes if some group of texts allows its first bytes. Places are independent of each
//! other, so a processor tries several at once: by vectors 32, which tell the bytes that a group
//! allows by their halves, and let some more places pass. A place that passes may begin no text.

/// Bytes that are looked at in one step, a bit for each.
pub const BLOCK: usize = 64;

/// Bytes of a place that are looked at.
const DEPTH: usize = 4;

/// Bytes of a block, and those after it that its last places reach.
const WINDOW: usize = BLOCK + DEPTH - 1;

/// Most blocks that are looked at before their places are returned.
const AHEAD: usize = 16;

/// Groups of texts, and those of one table. Fewer tables take less time.
pub const GROUPS: usize = BITS * TABLES;
pub const BITS: usize = 8;
const TABLES: usize = 4;

/// The groups that allow a half of a byte, by its distance from the place.
#[derive(Clone, Copy, Debug, Default)]
struct NibbleTable {
    low: [[u8; 16]; DEPTH],
    high: [[u8; 16]; DEPTH],
}

#[derive(Clone, Debug)]
pub struct Sieve {
    /// The groups that allow a byte, by its distance from the place.
    bytes: [[u32; 256]; DEPTH],
    tables: [NibbleTable; TABLES],
    /// The tables that have a text.
    used: usize,
}

/// The newlines of a block, and the places where a text may begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub newlines: u64,
    pub places: u64,
}

impl Default for Sieve {
    fn default() -> Self {
        Sieve { bytes: [[0; 256]; DEPTH], tables: Default::default(), used: 0 }
    }
}

impl Sieve {
    /// Adds a text to a group, by the bytes that may stand at its first places. No bytes stand for
    /// any. The more texts of a group are alike, the fewer other places pass.
    pub fn add(&mut self, group: usize, text: &[&[u8]]) {
        let any: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        self.used = self.used.max(group / BITS + 1);
        let NibbleTable { low, high } = &mut self.tables[group / BITS];
        for at in 0..DEPTH {
            let bytes = text.get(at).copied().filter(|bytes| !bytes.is_empty()).unwrap_or(&any);
            for byte in bytes.iter().copied().map(usize::from) {
                self.bytes[at][byte] |= 1 << group;
                low[at][byte & 0x0F] |= 1 << (group % BITS);
                high[at][byte >> 4] |= 1 << (group % BITS);
            }
        }
    }

    /// Adds an ASCII text in any case.
    pub fn add_word(&mut self, group: usize, word: &[u8]) {
        let cases: Vec<[u8; 2]> =
            word.iter().map(|byte| [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]).collect();
        self.add(group, &cases.iter().map(<[u8; 2]>::as_slice).collect::<Vec<_>>());
    }

    /// Iterates over the places of a text from `from` on.
    pub fn places(&self, text: &[u8], from: usize) -> impl Iterator<Item = usize> {
        // Most who find a place near by stop there, and take less time byte by byte.
        let near = if has_vectors() { text.len().min(from + BLOCK) } else { text.len() };
        let spans = std::iter::successors(Some((near, 1)), |(start, blocks)| {
            Some((start + blocks * BLOCK, AHEAD.min(2 * blocks)))
        });
        let far = spans.take_while(|(start, _)| *start < text.len()).flat_map(move |(start, blocks)| {
            let (text, mut found) = (&text[start..], [Found::default(); AHEAD]);
            self.look(text, &mut found[..blocks]);
            places(found, 0, text.len()).map(move |place| start + place)
        });
        (from..near).filter(|at| self.passes(&text[*at..])).chain(far)
    }

    /// Returns true if a text may begin with a text of the sieve.
    #[inline]
    fn passes(&self, text: &[u8]) -> bool {
        let bytes = text.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; DEPTH];
            bytes[..text.len()].copy_from_slice(text);
            bytes
        });
        let allowed = |nth: usize| self.bytes[nth][usize::from(bytes[nth])];
        allowed(0) & allowed(1) & allowed(2) & allowed(3) != 0
    }

    /// Looks at the first blocks of a text. The bytes after it are unknown, and taken for zeros.
    pub fn look(&self, text: &[u8], found: &mut [Found]) {
        let whole = found.len().min(text.len().saturating_sub(DEPTH - 1) / BLOCK);
        let (by_vector, rest) = found.split_at_mut(if has_vectors() { whole } else { 0 });
        #[cfg(target_arch = "x86_64")]
        match self.used {
            // SAFETY of each: there are blocks only if the processor has AVX2.
            _ if by_vector.is_empty() => {}
            0 => unsafe { self.look_by_vector::<0>(text, by_vector) },
            1 => unsafe { self.look_by_vector::<1>(text, by_vector) },
            2 => unsafe { self.look_by_vector::<2>(text, by_vector) },
            _ => unsafe { self.look_by_vector::<TABLES>(text, by_vector) },
        }
        let text = &text[by_vector.len() * BLOCK..];
        for (nth, found) in rest.iter_mut().enumerate() {
            let text = text.get(nth * BLOCK..).unwrap_or_default();
            *found = match text.first_chunk() {
                Some(window) => self.look_by_byte(window, BLOCK),
                None => {
                    let mut window = [0; WINDOW];
                    window[..text.len()].copy_from_slice(text);
                    self.look_by_byte(&window, text.len().min(BLOCK))
                }
            };
        }
    }

    /// Looks at a block whose text has this length.
    fn look_by_byte(&self, window: &[u8; WINDOW], length: usize) -> Found {
        let mut found = Found::default();
        for at in 0..length {
            found.newlines |= u64::from(window[at] == b'\n') << at;
            found.places |= u64::from(self.passes(&window[at..])) << at;
        }
        found
    }

    /// Looks at the first blocks of a text, behind which as many bytes follow as the last places
    /// reach.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    // An iterator over both would not be compiled for AVX2.
    #[allow(clippy::needless_range_loop)]
    fn look_by_vector<const USED: usize>(&self, text: &[u8], found: &mut [Found]) {
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
        for (block, bits) in found.iter_mut().enumerate() {
            *bits = Found::default();
            for half in 0..2 {
                let at = block * BLOCK + half * HALF;
                let bytes: &[u8; HALF + DEPTH - 1] = text[at..].first_chunk().expect("bytes after a block");
                let mut first = _mm256_setzero_si256();
                let mut groups = [_mm256_set1_epi8(-1); USED];
                for nth in 0..DEPTH {
                    // SAFETY: `nth` is less than DEPTH, so 32 bytes from there are within the
                    // chunk.
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
        }
    }
}

fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Returns the end of the line that begins at `start`, with its newline, or `None` if the text ends
/// before.
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

/// Iterates over the places from `start` to `end`, by their distance from `start`.
#[inline]
pub fn places(found: impl AsRef<[Found]>, start: usize, end: usize) -> impl Iterator<Item = usize> {
    let mut block = start / BLOCK;
    let places_of = move |block: usize| found.as_ref().get(block).map(|found| found.places);
    let mut places = places_of(block).unwrap_or(0) & !0 << (start % BLOCK);
    std::iter::from_fn(move || {
        while places == 0 {
            block += 1;
            if block * BLOCK >= end {
                return None;
            }
            places = places_of(block)?;
        }
        let place = block * BLOCK + places.trailing_zeros() as usize;
        places &= places - 1;
        (place < end).then(|| place - start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tells as the vectors do if a place passes: by the halves of its bytes.
    fn passes_by_halves(sieve: &Sieve, bytes: &[u8]) -> bool {
        sieve.tables.iter().any(|NibbleTable { low, high }| {
            let allowed = (0..DEPTH).map(|nth| {
                let byte = usize::from(*bytes.get(nth).unwrap_or(&0));
                low[nth][byte & 0x0F] & high[nth][byte >> 4]
            });
            allowed.fold(!0, |all, one| all & one) != 0
        })
    }

    proptest! {
        #[test]
        fn no_place_is_missed(
            words in prop_oneof![
                prop::collection::vec("[a-d.]{1,6}", 0..4),
                prop::collection::vec("[a-d.]{1,6}", 0..90),
            ],
            used in 1..=GROUPS,
            text in "[a-dA-D.\n é]{0,600}",
        ) {
            let mut sieve = Sieve::default();
            words.iter().enumerate().for_each(|(at, word)| sieve.add_word(at % used, word.as_bytes()));
            let (mut found, bytes) = (vec![Found::default(); text.len() / BLOCK + 2], text.as_bytes());
            sieve.look(bytes, &mut found);
            let places: Vec<usize> = sieve.places(bytes, 0).collect();
            let lower = text.to_ascii_lowercase();
            for at in 0..text.len() {
                let (begins, bit) = (words.iter().any(|word| lower.as_bytes()[at..].starts_with(word.as_bytes())), 1 << (at % BLOCK));
                let mut window = [0; WINDOW];
                let rest = &bytes[at..bytes.len().min(at + WINDOW)];
                window[..rest.len()].copy_from_slice(rest);
                let exact = sieve.look_by_byte(&window, 1).places & 1 != 0;
                let by_halves = passes_by_halves(&sieve, rest);
                let passes = found[at / BLOCK].places & bit != 0;
                prop_assert!((begins <= exact) && (exact <= passes) && (passes <= by_halves));
                prop_assert!(by_halves == passes || !has_vectors() || at + WINDOW > text.len());
                prop_assert_eq!(places.binary_search(&at).is_ok(), passes);
                prop_assert_eq!(found[at / BLOCK].newlines & bit != 0, bytes[at] == b'\n');
                let end = bytes[at..].iter().position(|byte| *byte == b'\n').map(|newline| at + newline + 1);
                prop_assert_eq!(line_end(&found, at), end);
            }
        }
    }

    #[test]
    fn other_places_are_passed_over() {
        let mut sieve = Sieve::default();
        for (group, text) in ["sk-", "token"].iter().enumerate() {
            sieve.add(group, &text.as_bytes().chunks(1).collect::<Vec<_>>());
        }
        let places = |from| sieve.places(b"skip the tools, toke tokens sk-", from).collect::<Vec<_>>();
        assert_eq!(
            [places(0), places(22), places(29), places(99)],
            [vec![16, 21, 28], vec![28], vec![], vec![]]
        );
    }
}
