//! Bytes of a line as the scoring sees them.

use std::borrow::Cow;

/// Bytes of a line that are looked at.
pub const LOOKED_AT: usize = 600;

/// What a byte is to words: up to `Digit` it may be part of one, and only a letter begins one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Letter,
    Digit,
    Quote,
    Other,
}

pub const CLASS: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' | b'_' => Class::Digit,
            b'"' => Class::Quote,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

pub fn is_word(byte: u8) -> bool {
    CLASS[usize::from(byte)] <= Class::Digit
}

/// How many bytes of a word a text begins with. Eight are looked at together, which leaves no branch to guess for each.
pub fn word_length(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(eight) = text[length..].first_chunk() {
        let others = !words(u64::from_le_bytes(*eight)) & HIGH;
        if others != 0 {
            return length + others.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + text[length..].iter().take_while(|byte| is_word(**byte)).count()
}

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each of eight bytes that is a letter, a digit or an underscore.
fn words(eight: u64) -> u64 {
    let plain = eight & !HIGH;
    let within = |bytes: u64, first: u8, last: u8| {
        (bytes + LOW * u64::from(0x80 - first)) & !(bytes + LOW * u64::from(0x7F - last))
    };
    let underscore = plain ^ (LOW * u64::from(b'_'));
    let named = within(plain | (LOW * 0x20), b'a', b'z') | within(plain, b'0', b'9') | !(underscore + !HIGH);
    named & HIGH & !eight
}

/// A line without its colours: they would stick to the words.
pub fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(ESCAPE, line) else { return Cow::Borrowed(line) };
    let mut text = line[..first].to_vec();
    let mut at = first;
    while at < line.len() {
        if line[at] == ESCAPE && line.get(at + 1) == Some(&b'[') {
            let length = line[at + 2..].iter().position(|byte| (0x40..0x7F).contains(byte));
            at = length.map_or(line.len(), |length| at + 2 + length + 1);
        } else {
            text.push(line[at]);
            at += 1;
        }
    }
    Cow::Owned(text)
}

pub const ESCAPE: u8 = 0x1B;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_is_as_long_as_a_plain_walk_says(text in prop::collection::vec(prop_oneof![any::<u8>(), b'a'..=b'z', b'A'..=b'Z', Just(b'_')], 0..30)) {
            prop_assert_eq!(word_length(&text), text.iter().take_while(|byte| is_word(**byte)).count());
        }
    }
}
