//! Bytes of a line as the scoring sees them.

use std::borrow::Cow;

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
