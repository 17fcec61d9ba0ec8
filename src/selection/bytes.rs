//! Byte classes of a line, for scoring.

use std::borrow::Cow;

/// Maximum bytes of a line that are scored.
pub const LOOKED_AT: usize = 600;

/// Returns true if a byte may be part of a word. Words begin with a letter.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the number of word bytes at the start of a text.
pub fn word_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_word(**byte)).count()
}

/// Bytes of a line that are classified together.
pub const BLOCK: usize = 64;

/// The classes of a block's bytes, one bit per byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Classes {
    pub letters: u64,
    /// Letters, digits and underscores.
    pub words: u64,
    pub quotes: u64,
}

impl Classes {
    /// Classifies the bytes of a block. A shorter block is padded with zeros.
    #[inline]
    pub fn of(block: &[u8]) -> Classes {
        let (parts, rest) = block.as_chunks();
        let mut classes = Classes::default();
        for (nth, part) in parts.iter().enumerate() {
            classes = classes.with(PART * nth, part_of(part));
        }
        if rest.is_empty() {
            return classes;
        }
        // Overlapping the previous part is cheaper than a copy, if there are enough bytes.
        let last = match block.last_chunk() {
            Some(last) => part_of(last).map(|bits| bits >> (PART - rest.len())),
            None => {
                let mut last = [0; PART];
                last[..rest.len()].copy_from_slice(rest);
                part_of(&last)
            }
        };
        classes.with(PART * parts.len(), last)
    }

    #[inline]
    fn with(self, at: usize, [letters, words, quotes]: [u16; 3]) -> Classes {
        Classes {
            letters: self.letters | u64::from(letters) << at,
            words: self.words | u64::from(words) << at,
            quotes: self.quotes | u64::from(quotes) << at,
        }
    }
}

const PART: usize = 16;

/// Returns the bits of letters, of word bytes, and of quotes.
#[cfg(target_arch = "x86_64")]
#[inline]
fn part_of(part: &[u8; PART]) -> [u16; 3] {
    // SAFETY: every x86-64 processor has SSE2.
    unsafe { part_by_vector(part) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn part_of(part: &[u8; PART]) -> [u16; 3] {
    part_by_eight(part)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn part_by_vector(part: &[u8; PART]) -> [u16; 3] {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8, _mm_sub_epi8,
    };
    let both = u128::from_le_bytes(*part);
    let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
    // SSE2 compares signed bytes. Subtracting 0x80 maps unsigned order to signed order.
    let within = |bytes: __m128i, first: u8, last: u8| {
        let moved = _mm_sub_epi8(bytes, _mm_set1_epi8(first.wrapping_add(0x80) as i8));
        _mm_cmplt_epi8(moved, _mm_set1_epi8((last - first + 1).wrapping_add(0x80) as i8))
    };
    let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
    let letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', b'z');
    let words = _mm_or_si128(letters, _mm_or_si128(within(bytes, b'0', b'9'), is(b'_')));
    [letters, words, is(b'"')].map(|found| _mm_movemask_epi8(found) as u16)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn part_by_eight(part: &[u8; PART]) -> [u16; 3] {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut classes = [0; 3];
    for (at, eight) in part.as_chunks().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let plain = eight & !HIGH;
        let within = |bytes: u64, first: u8, last: u8| {
            (bytes + LOW * u64::from(0x80 - first)) & !(bytes + LOW * u64::from(0x7F - last))
        };
        let letters = within(plain | (LOW * 0x20), b'a', b'z');
        let words = letters | within(plain, b'0', b'9') | within(plain, b'_', b'_');
        for (class, found) in classes.iter_mut().zip([letters, words, within(plain, b'"', b'"')]) {
            // The product gathers the eight high bits at the top.
            let bits = ((found & HIGH & !eight) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *class |= (bits as u16) << (at * 8);
        }
    }
    classes
}

/// Finds the starts of words, block by block. A word runs from the first letter of a run of
/// letters, digits and underscores to the end of that run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Starts {
    /// The previous block ended in a run that had no letter yet.
    inside: bool,
    leading: bool,
}

impl Starts {
    /// Returns the starts in the next block.
    #[inline]
    pub fn next(&mut self, classes: Classes) -> u64 {
        let Classes { letters, words, .. } = classes;
        let digits = words & !letters;
        let runs = words & !(words << 1 | u64::from(self.inside));
        // The addition carries through the digits that begin a run and sets the bit after them.
        let (carried, leading) = digits.overflowing_add(runs & digits | u64::from(self.leading));
        *self = Starts { inside: words >> 63 == 1, leading };
        (runs | carried & !digits) & letters
    }
}

/// Iterates over the positions at which words begin.
pub fn word_starts(line: &[u8]) -> impl Iterator<Item = usize> {
    let mut starts = Starts::default();
    let blocks = line.chunks(BLOCK).enumerate();
    blocks.flat_map(move |(nth, block)| bits(starts.next(Classes::of(block))).map(move |at| nth * BLOCK + at))
}

/// Iterates over the positions of set bits, lowest first.
pub fn bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}

/// Returns the first bytes of a line without escape sequences, which would otherwise stick to
/// words. Colours are removed too where their escape was written as `^[` or is missing, as in logs
/// that were shown once: `[31m`.
pub fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let line = &line[..line.len().min(LOOKED_AT)];
    let (mut text, mut done) = (vec![], 0);
    for bracket in memchr::memchr_iter(b'[', line) {
        let is_escaped = line[..bracket].ends_with(&[ESCAPE]) || line[..bracket].ends_with(b"^[");
        let Some(length) = sequence(&line[bracket + 1..], is_escaped).filter(|_| bracket >= done) else {
            continue;
        };
        text.reserve(line.len() - done);
        let mut before = &line[done..bracket];
        before = before.strip_suffix(&[ESCAPE]).or_else(|| before.strip_suffix(b"^[")).unwrap_or(before);
        text.extend_from_slice(before);
        done = bracket + 1 + length;
    }
    if done == 0 {
        return Cow::Borrowed(line);
    }
    text.extend_from_slice(&line[done..]);
    Cow::Owned(text)
}

/// Returns the bytes of an escape sequence behind its bracket. Without an escape before it, only a
/// colour is one.
pub fn sequence(text: &[u8], is_escaped: bool) -> Option<usize> {
    let length = text.iter().take_while(|byte| matches!(byte, 0x20..0x40)).count();
    let end = text.get(length).copied();
    let is_colour = end == Some(b'm')
        && length > 0
        && text[..length].iter().all(|byte| matches!(byte, b'0'..=b'9' | b';'));
    match end {
        Some(0x40..0x7F) if is_escaped || is_colour => Some(length + 1),
        None if is_escaped => Some(length),
        _ => None,
    }
}

pub const ESCAPE: u8 = 0x1B;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_are_removed_also_where_their_escape_was_lost() {
        for line in ["\u{1b}[31mred\u{1b}[0m [x]", "^[[31mred^[[0m [x]", "[31mred[0m [x]", "red [x]"] {
            assert_eq!(*plain(line.as_bytes()), *b"red [x]", "{line}");
        }
        assert_eq!(plain(&[b'x'; 2 * LOOKED_AT]).len(), LOOKED_AT);
    }

    proptest! {
        #[test]
        fn word_starts_match_a_plain_scan(
            text in prop::collection::vec(
                prop_oneof![any::<u8>(), b'a'..=b'z', b'A'..=b'Z', b'0'..=b'9', Just(b'_'), Just(b'"')],
                0..300,
            ),
        ) {
            let (mut starts, mut found) = (Starts::default(), vec![]);
            for (nth, block) in text.chunks(BLOCK).enumerate() {
                let classes = Classes::of(block);
                for part in block.as_chunks().0 {
                    prop_assert_eq!(part_of(part), part_by_eight(part));
                }
                let is_quote = |at: usize| classes.quotes >> at & 1 == 1;
                prop_assert!(block.iter().enumerate().all(|(at, byte)| is_quote(at) == (*byte == b'"')));
                let bits = starts.next(classes);
                found.extend((0..BLOCK).filter(|at| bits >> at & 1 == 1).map(|at| nth * BLOCK + at));
            }
            let (mut at, mut expected) = (0, vec![]);
            while at < text.len() {
                if text[at].is_ascii_alphabetic() {
                    expected.push(at);
                    at += word_length(&text[at..]);
                } else {
                    at += 1;
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
