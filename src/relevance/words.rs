//! The words and the names of a text.
//!
//! A name is a text that an agent uses next: an identifier, a file, a path. `parseHTTPResponse_v2`
//! is one name with the words *parse*, *http* and *response*; `src/http/parse.rs` is one name with
//! the words *src*, *http*, *parse*.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::hasher::{PlainHasher, hash, hash_with};
use super::letters::{BLOCK, Letters};
use super::scripts::wide_word;
use crate::encoding::byte_table::byte_table;

/// A word in any case, or a name in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word(u64);

impl Word {
    /// Returns true for a name.
    pub fn is_name(self) -> bool {
        self.0 & 1 == 1
    }

    fn name(text: &[u8]) -> Word {
        Word(hash(text) << 1 | 1)
    }

    /// Returns a word in lower case.
    pub fn lower(text: &[u8]) -> Word {
        Word(hash(text) << 1)
    }

    /// Returns a word of ASCII letters.
    fn letters(text: &[u8]) -> Word {
        Word(hash_with(text, LOWER) << 1)
    }
}

/// The bit that makes a letter lower case, in each byte.
const LOWER: u64 = 0x2020_2020_2020_2020;

/// Values by word. A word is a hash already.
pub type Words<V> = HashMap<Word, V, BuildHasherDefault<PlainHasher>>;

/// Minimum bytes of a word, of an identifier, and of a path.
pub const SHORTEST: usize = 3;
const SHORTEST_NAME: usize = 4;
const SHORTEST_PATH: usize = 5;

/// Passes on the words and the names of a text, each as often as it occurs, as it is spelt, and in
/// any order. Leaves out those that are not wanted, whose hash is not needed.
pub fn each_word(text: &[u8], wants: impl Fn(&[u8]) -> bool, each: &mut impl FnMut(Word, &[u8])) {
    let mut at = 0;
    while at < text.len() {
        let letters = Letters::of(&text[at..]);
        let block = &text[at..text.len().min(at + BLOCK)];
        let is_last = at + block.len() == text.len();
        let end = if is_last { block.len() } else { letters.whole(block.len()) };
        let letters = letters.until(end);
        if end == 0 || !letters.is_ascii() {
            at = by_byte(text, at, at + end.max(1), &wants, each);
            continue;
        }
        let long = |range: &Range<usize>, least| range.len() >= least && wants(&block[range.clone()]);
        for word in letters.words().filter(|word| wants(&block[word.clone()])) {
            each(Word::letters(&block[word.clone()]), &block[word]);
        }
        let names = letters.identifiers().filter(|name| long(name, SHORTEST_NAME));
        let paths = letters.paths().filter(|path| long(path, SHORTEST_PATH));
        names.chain(paths).for_each(|name| each(Word::name(&block[name.clone()]), &block[name]));
        at += end;
    }
}

/// Passes on the words and the names that begin before a place, and returns the end of the last.
fn by_byte(
    text: &[u8],
    start: usize,
    end: usize,
    wants: &impl Fn(&[u8]) -> bool,
    each: &mut impl FnMut(Word, &[u8]),
) -> usize {
    let mut at = start;
    while at < end {
        let Some(start) = text[at..].iter().position(|byte| is_part(*byte)).map(|skip| at + skip) else {
            return text.len();
        };
        at = if start < end { path(text, start, wants, each) } else { end };
    }
    at
}

/// Passes on a path and its identifiers, and returns its end. A single identifier is a path, too.
fn path(
    text: &[u8],
    start: usize,
    wants: &impl Fn(&[u8]) -> bool,
    each: &mut impl FnMut(Word, &[u8]),
) -> usize {
    let mut at = start;
    loop {
        let end = at + text[at..].iter().position(|byte| !is_part(*byte)).unwrap_or(text.len() - at);
        identifier(&text[at..end], wants, each);
        let next = match &text[end..] {
            [b'.' | b'/' | b'-', next, ..] if is_part(*next) => end + 1,
            [b':', b':', next, ..] if is_part(*next) => end + 2,
            _ => {
                let name = &text[start..end];
                if at > start && name.len() >= SHORTEST_PATH && wants(name) && is_spelt(name) {
                    each(Word::name(name), name);
                }
                return end;
            }
        };
        at = next;
    }
}

/// Passes on an identifier if it is more than a plain word, and its words.
fn identifier(text: &[u8], wants: &impl Fn(&[u8]) -> bool, each: &mut impl FnMut(Word, &[u8])) {
    let mut parts = 0;
    let mut start = 0;
    while start < text.len() {
        let part = part(text, start);
        parts += 1;
        start = part.end;
        word(&text[part], wants, each);
    }
    if parts > 1 && text.len() >= SHORTEST_NAME && wants(text) && is_spelt(text) {
        each(Word::name(text), text);
    }
}

/// Returns the part of an identifier from `start`: a word, a number, or underscores.
fn part(text: &[u8], start: usize) -> Range<usize> {
    /// Returns the end of a run of bytes.
    #[inline]
    fn run(text: &[u8], from: usize, is: impl Fn(&u8) -> bool) -> usize {
        from + text[from..].iter().take_while(|byte| is(byte)).count()
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let end = match text[start] {
        b'0'..=b'9' => run(text, start, u8::is_ascii_digit),
        b'_' | b'$' => run(text, start, |byte| matches!(byte, b'_' | b'$')),
        first => {
            let capitals = run(text, start, u8::is_ascii_uppercase);
            let word = run(text, capitals, u8::is_ascii_lowercase);
            let is_plain = first.is_ascii_lowercase() || capitals == start + 1;
            // Most words end here.
            if is_plain && !text.get(word).is_some_and(is_letter) {
                return start..word;
            }
            let letters = run(text, start, is_letter);
            match capitals {
                _ if !text[start..letters].is_ascii() => letters,
                _ if is_plain => word,
                // The last capital of `HTTPResponse` begins the next word.
                capitals if capitals < letters => capitals - 1,
                capitals => capitals,
            }
        }
    };
    start..end
}

fn word(text: &[u8], wants: &impl Fn(&[u8]) -> bool, each: &mut impl FnMut(Word, &[u8])) {
    if !text.is_ascii() {
        wide_word(text, &mut |word, text| {
            if wants(text) {
                each(word, text);
            }
        });
    } else if text.len() >= SHORTEST && text[0].is_ascii_alphabetic() && wants(text) {
        each(Word::letters(text), text);
    }
}

/// Returns true if two letters stand side by side, as in no number, date or time.
fn is_spelt(name: &[u8]) -> bool {
    name.windows(2).any(|pair| pair.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()))
}

#[inline]
fn is_part(byte: u8) -> bool {
    PARTS[usize::from(byte)]
}

/// The bytes of identifiers.
const PARTS: [bool; 256] =
    byte_table!(byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii());

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<Word> {
        let mut words = vec![];
        each_word(text.as_bytes(), |_| true, &mut |word, _| words.push(word));
        words
    }

    fn has(text: &str, part: &str) -> bool {
        let all = words(text);
        words(part).iter().all(|word| all.contains(word))
    }

    proptest! {
        #[test]
        fn masks_tell_the_words_that_a_loop_over_bytes_finds(
            parts in prop::collection::vec(
                prop_oneof![
                    6 => "[a-zA-Z0-9_$./:-]{1,9}",
                    2 => "[a-z]{1,9}([A-Z]{1,4}[a-z]{0,9}){0,3}",
                    2 => "[ (,\"]{1,3}",
                    1 => "[é漢✓]{1,2}",
                    1 => "[a-zA-Z./]{100,300}",
                ],
                0..60,
            ),
            wanted in 0..9usize,
        ) {
            let text = parts.concat();
            let (mut found, mut expected) = (vec![], vec![]);
            let wants = |word: &[u8]| word.len() != wanted;
            each_word(text.as_bytes(), wants, &mut |word, text| found.push((word, text.to_vec())));
            by_byte(text.as_bytes(), 0, text.len(), &wants, &mut |word, text| expected.push((word, text.to_vec())));
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn identifiers_and_paths_are_names_of_words() {
        let names = |text| words(text).iter().filter(|word| word.is_name()).count();
        assert_eq!(words("parse the request").len(), 3);
        assert_eq!((words("parseHTTPResponse_v2").len(), names("parseHTTPResponse_v2")), (4, 1));
        assert!(has("parseHTTPResponse_v2", "Parse http response"));
        assert_eq!((words("src/http/parse.rs:12").len(), names("src/http/parse.rs:12")), (4, 1));
        assert_eq!(names("a::Cut::new and --max-lines and av-75h"), 3);
        assert!(has("NavigationBar", "navigation bar") && !has("navigation bar", "NavigationBar"));
    }

    #[test]
    fn numbers_dates_and_marks_are_no_words() {
        for text in ["12 3.14 0x1f", "2026-04-22T16:09:39.67Z", "-- => {} ___", "at of is", ""] {
            assert!(words(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn other_scripts_have_words() {
        assert!(has("Ошибка чтения", "ошибка") && !has("Ошибка", "чтения"));
        assert!(has("設定ファイルが見つかりません", "設定") && has("読み込み設定", "設定"));
        assert_eq!(words("été\u{fffd}").len(), 1);
    }
}
