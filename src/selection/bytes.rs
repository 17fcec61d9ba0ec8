//! The words of a line, and its text without escape sequences, for scoring.

use std::borrow::Cow;

use crate::encoding::mask::{self, BLOCK};

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

/// The classes of a block's bytes, one bit per byte.
#[derive(Clone, Copy, Debug, Default)]
struct Classes {
    letters: u64,
    capitals: u64,
    /// Letters, digits and underscores.
    words: u64,
}

impl Classes {
    /// Classifies up to [`BLOCK`] bytes.
    #[inline]
    fn of(block: &[u8]) -> Classes {
        let mut bytes = [0; BLOCK];
        bytes[..block.len()].copy_from_slice(block);
        // Loops over arrays without branches, which become vector code.
        let within =
            |first: u8, last: u8| bytes.map(|byte| u8::from(byte.wrapping_sub(first) <= last - first));
        let [small, capitals, digits] = [within(b'a', b'z'), within(b'A', b'Z'), within(b'0', b'9')]
            .map(|found| mask::of_byte(&found, 1));
        let others = digits | mask::of_byte(&bytes, b'_');
        Classes { letters: small | capitals, capitals, words: small | capitals | others }
    }
}

/// Finds the starts of words, block by block. A word runs from the first letter of a run of
/// letters, digits and underscores to the end of that run.
#[derive(Clone, Copy, Debug, Default)]
struct Starts {
    /// The previous block ended in a run that had no letter yet.
    inside: bool,
    leading: bool,
}

impl Starts {
    /// Returns the starts in the next block.
    #[inline]
    fn next(&mut self, classes: Classes) -> u64 {
        let Classes { letters, words, .. } = classes;
        let digits = words & !letters;
        let runs = words & !(words << 1 | u64::from(self.inside));
        // The addition carries through the digits that begin a run and sets the bit after them.
        let (carried, leading) = digits.overflowing_add(runs & digits | u64::from(self.leading));
        *self = Starts { inside: words >> 63 == 1, leading };
        (runs | carried & !digits) & letters
    }
}

/// A word of a line, as far as its block tells.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    pub first: u8,
    /// The byte after the first, which may be behind the word.
    pub second: u8,
    pub length: usize,
    /// A bit for each capital, the first byte's lowest.
    pub capitals: u64,
}

/// Finds a word of a line by its start and its end. Leaves out those that may not be it, which are
/// nearly all: a processor tells that of all words of a block without a guess.
pub fn any_word(
    line: &[u8],
    may_be: impl Fn(Beginning) -> bool,
    mut is: impl FnMut(usize, usize) -> bool,
) -> bool {
    let mut starts = Starts::default();
    line.chunks(BLOCK).enumerate().any(|(nth, block)| {
        let classes = Classes::of(block);
        let (mut rest, mut candidates) = (starts.next(classes), 0_u64);
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let length = (!(classes.words >> at)).trailing_zeros() as usize;
            let second = block.get(at + 1).copied().unwrap_or(0);
            let word = Beginning { first: block[at], second, length, capitals: classes.capitals >> at };
            let goes_on = at + length == BLOCK;
            candidates |= u64::from(goes_on | may_be(word)) << at;
        }
        mask::bits(candidates).any(|at| {
            let start = nth * BLOCK + at;
            let length = match (!(classes.words >> at)).trailing_zeros() as usize {
                // The word goes on behind the block.
                length if at + length == BLOCK => word_length(&line[start..]),
                length => length,
            };
            is(start, start + length)
        })
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
        if done == 0 {
            text.reserve_exact(line.len());
        }
        let before = &line[done..bracket];
        let escape = before.strip_suffix(&[ESCAPE]).or_else(|| before.strip_suffix(b"^["));
        text.extend_from_slice(escape.unwrap_or(before));
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
    let is_colour = |end| {
        end == b'm' && length > 0 && text[..length].iter().all(|byte| matches!(byte, b'0'..=b'9' | b';'))
    };
    match text.get(length) {
        Some(&end @ 0x40..0x7F) if is_escaped || is_colour(end) => Some(length + 1),
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
        fn words_are_those_of_a_plain_scan(
            text in prop::collection::vec(
                prop_oneof![any::<u8>(), b'a'..=b'z', b'A'..=b'Z', b'0'..=b'9', Just(b'_'), Just(b'"')],
                0..300,
            ),
            length in 0..9usize,
        ) {
            let (mut found, mut at, mut expected) = (vec![], 0, vec![]);
            let may_be = |word: Beginning| {
                word.length > length && (word.first.is_ascii_uppercase() == (word.capitals & 1 == 1))
            };
            any_word(&text, may_be, |start, end| {
                found.push((start, end));
                false
            });
            while at < text.len() {
                if text[at].is_ascii_alphabetic() {
                    let end = at + word_length(&text[at..]);
                    // A word that a block cuts is among those that it may be.
                    if end - at > length || end / BLOCK > at / BLOCK {
                        expected.push((at, end));
                    }
                    at = end;
                } else {
                    at += 1;
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
