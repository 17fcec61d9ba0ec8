//! Finds the places in a text where a word of failure or a shape may begin, and the marks of
//! headings.
//!
//! A sieve finds places a block at a time, and lets twice as many pass as begin anything. The hash
//! of four letters rules out most of the others, so that most lines keep no place.

use std::sync::LazyLock;

use super::bytes::{ESCAPE, is_word};
use super::words::{PHRASES, WORDS};
use crate::sieve::{BLOCK, Found, Sieve};

/// Groups of the sieve that hold words; the others hold shapes.
const OF_WORDS: usize = 10;

/// Returns lower-case words and phrases, in order: those of failure, and those that begin a shape.
fn words() -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = WORDS
        .iter()
        .filter(|(_, weight)| *weight > 0)
        .map(|(word, _)| word.as_bytes().to_vec())
        .chain(PHRASES.iter().map(|(first, rest, _)| [first.as_bytes(), rest.as_bytes()].concat()))
        .chain(["nan", "inf", "level", "severity", "status"].map(|word| word.as_bytes().to_vec()))
        .chain(["notfound", "backoff", "err"].map(|word| word.as_bytes().to_vec()))
        .collect();
    words.sort();
    words
}

static SIEVE: LazyLock<Sieve> = LazyLock::new(|| {
    const DIGIT: &[u8] = b"0123456789";
    let (mut sieve, words) = (Sieve::default(), words());
    for (at, word) in words.iter().enumerate() {
        sieve.add_word(at * OF_WORDS / words.len(), word);
    }
    let shapes: [(usize, &[&[u8]]); 16] = [
        (10, &[b"EF", DIGIT, DIGIT, DIGIT]),
        (10, &[b"H", b"T", b"T", b"P"]),
        (10, &[b"R", b"U", b"N", b" "]),
        (10, &[b"W", b"A", b"R", b"N"]),
        (11, &[b"\"", b" ", b"5", DIGIT]),
        (11, &[b"#", b"#", b"[", b"g"]),
        (11, &[b":", b":", b"g", b"r"]),
        (12, &[b"+"]),
        (13, &[b"$", b" "]),
        (13, &[b"\xE2", b"\x9C\x97\x9D\xA8"]),
        (13, &[b"\xC3", b"\x97"]),
        (14, &[&[ESCAPE]]),
        (14, &[b"^", b"[", b"["]),
        (14, &[b"[", b"0123456789;"]),
        (15, &[b">", b" "]),
        (15, &[b"E", b" ", b" "]),
    ];
    shapes.iter().for_each(|(group, shape)| sieve.add(*group, shape));
    sieve
});

/// Returns the sieve that finds the places.
pub fn sieve() -> &'static Sieve {
    &SIEVE
}

/// The first four bytes of words and shapes, in any case, as bits of their hashes.
struct Fours([u64; (1 << Fours::BITS) / 64]);

static FOURS: LazyLock<Fours> = LazyLock::new(|| {
    let mut fours = Fours([0; _]);
    for word in words().iter().map(Vec::as_slice).chain([&b"http"[..], b"run ", b"infi", b"warn"]) {
        match word {
            [a, b, c] => {
                // A part of the name of a state continues in the next part; `nan` and `inf` end.
                let goes_on = !matches!(word, b"nan" | b"inf");
                let next = (0..=u8::MAX).filter(|next| goes_on || !is_word(*next));
                next.for_each(|next| fours.add([*a, *b, *c, next]))
            }
            word => fours.add(*word.first_chunk().expect("no word is shorter than three letters")),
        }
    }
    fours
});

impl Fours {
    const BITS: u32 = 14;

    fn add(&mut self, four: [u8; 4]) {
        let bit = Fours::bit(four);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    #[inline]
    fn bit(four: [u8; 4]) -> usize {
        let lower = u32::from_le_bytes(four) | u32::from_le_bytes([0x20; 4]);
        (lower.wrapping_mul(0x9E37_79B1) >> (u32::BITS - Fours::BITS)) as usize
    }

    /// Returns true if a place may begin something. Shapes that do not begin with two letters are
    /// few, and all pass.
    #[inline]
    fn pass(&self, four: [u8; 4]) -> bool {
        let ([first, second, ..], bit) = (four, Fours::bit(four));
        let is_known = self.0[bit / 64] >> (bit % 64) & 1 == 1;
        is_known | !(first.is_ascii_alphabetic() & second.is_ascii_alphabetic())
    }
}

/// Drops places where nothing begins. Those of the last three bytes stay.
pub fn sift(text: &[u8], found: &mut [Found]) {
    let fours = &*FOURS;
    for (block, found) in found.iter_mut().enumerate() {
        let text = text.get(block * BLOCK..).unwrap_or_default();
        let (mut places, mut kept) = (found.places, 0);
        while places != 0 {
            let place = places.trailing_zeros();
            places &= places - 1;
            let four = text.get(place as usize..).and_then(<[u8]>::first_chunk);
            kept |= u64::from(four.is_none_or(|four| fours.pass(*four))) << place;
        }
        found.places = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &[u8]) -> Vec<usize> {
        let mut found = vec![Found::default(); text.len().div_ceil(BLOCK)];
        SIEVE.look(text, &mut found);
        sift(text, &mut found);
        crate::sieve::places(found, 0, text.len()).collect()
    }

    #[test]
    fn no_word_is_dropped_in_any_case_and_at_any_end() {
        for word in words() {
            for word in [word.to_ascii_uppercase(), word] {
                for (before, after) in
                    [("", ""), ("", " "), ("x", "\n"), ("1_", "_"), ("漢", "é"), ("xxxx ", "(s)")]
                {
                    let is_number = [&b"nan"[..], b"inf"].iter().any(|none| word.eq_ignore_ascii_case(none));
                    let after = if is_number && after == "_" { "-" } else { after };
                    let text = [before.as_bytes(), &word, after.as_bytes()].concat();
                    assert!(places(&text).contains(&before.len()), "{}", String::from_utf8_lossy(&text));
                }
            }
        }
    }

    #[test]
    fn usual_words_are_dropped() {
        assert!(places(b"INFO connection 3 compiling crates, idle, in a while (see nothing)   ").is_empty());
    }
}
