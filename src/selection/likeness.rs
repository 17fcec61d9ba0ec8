//! Detects repeated lines, which differ only in numbers, quoted texts and white space, and crowds
//! of lines, which also differ in names with dots, slashes or colons inside.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use crate::encoding::byte_table::byte_table;
use crate::relevance::{PlainHasher, hash};

/// Maximum bytes that are compared, after the ignored prefix.
const COMPARED: usize = 160;

/// Maximum length of a quoted text that is ignored.
const QUOTED: usize = 60;

/// Maximum distinct lines stored. Further lines always count as new.
const REMEMBERED: usize = 8_192;

/// Counts lines by likeness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LikenessCounts {
    counts: HashMap<u32, u32, BuildHasherDefault<PlainHasher>>,
}

/// Numbers of earlier lines like one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    pub same: u32,
    pub crowd: u32,
    pub form: u32,
}

/// The hashes of a line by which others are like it: all but numbers, quoted texts and blanks; all
/// but names, too; and its form, in which all words are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likeness {
    pub same: u64,
    pub crowd: u64,
    pub form: u64,
}

impl LikenessCounts {
    /// Counts a line by its likeness.
    pub fn count(&mut self, Likeness { same, crowd, form }: Likeness) -> Earlier {
        Earlier { same: self.add(same), crowd: self.add(crowd), form: self.add(form) }
    }

    /// Counts a number of lines like one that was just counted.
    pub fn count_more(&mut self, Likeness { same, crowd, form }: Likeness, lines: u32) {
        for hash in [same, crowd, form] {
            if let Some(count) = self.counts.get_mut(&(hash as u32)) {
                *count = count.saturating_add(lines);
            }
        }
    }

    fn add(&mut self, hash: u64) -> u32 {
        // Half of the hash takes half of the memory.
        let hash = hash as u32;
        let is_full = self.counts.len() >= REMEMBERED;
        match self.counts.entry(hash) {
            Entry::Occupied(mut count) => {
                let earlier = *count.get();
                *count.get_mut() = earlier.saturating_add(1);
                earlier.min(u32::MAX - 1)
            }
            Entry::Vacant(count) => {
                if !is_full {
                    count.insert(1);
                }
                0
            }
        }
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<(u32, u32)>()
    }
}

/// Hashes a line, ignoring numbers, quoted texts and the width of white space, and once more,
/// ignoring names too.
pub fn likeness(line: &[u8]) -> Likeness {
    let (mut bytes, mut named) = ([0; ROOM], [0; COMPARED]);
    let shape = shape(line, &mut bytes);
    let (mut done, mut written) = (0, 0);
    let mut write = |text: &[u8]| {
        named[written..written + text.len()].copy_from_slice(text);
        written += text.len();
    };
    // A sign inside makes a name of what stands between two spaces.
    while let Some(sign) = inner_sign(shape, done) {
        let start = memchr::memrchr(b' ', &shape[done..sign]).map_or(done, |space| done + space + 1);
        write(&shape[done..start]);
        write(b"N");
        done = memchr::memchr(b' ', &shape[sign..]).map_or(shape.len(), |space| sign + space);
    }
    write(&shape[done..]);
    Likeness { same: hash(shape), crowd: !hash(&named[..written]), form: form(shape) }
}

/// The bytes of words in a form.
const IN_WORD: [bool; 256] = byte_table!(byte => byte.is_ascii_alphanumeric()
    || matches!(byte, b'_' | b'-' | b'.' | b'/')
    || !byte.is_ascii());

/// Hashes a shape in which all words are alike.
fn form(shape: &[u8]) -> u64 {
    // A place within 256 bytes needs no check.
    let (mut bytes, mut written, mut inside) = ([0; 256], 0, false);
    const { assert!(COMPARED <= 256) }
    for byte in shape {
        let is_word = IN_WORD[usize::from(*byte)];
        bytes[written % 256] = if is_word { b'W' } else { *byte };
        written += usize::from(!(is_word && inside));
        inside = is_word;
    }
    hash(&bytes[..written]).rotate_left(7)
}

/// Returns the first dot, slash or colon from a place on that is inside a path, a place or a
/// qualified name: behind another char, and before a letter, a digit or a colon.
fn inner_sign(shape: &[u8], from: usize) -> Option<usize> {
    memchr::memchr3_iter(b'/', b'.', b':', &shape[from..]).map(|at| from + at).find(|at| {
        let is_behind = *at > 0 && shape[at - 1] != b' ';
        is_behind && shape.get(at + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b':')
    })
}

/// The kinds of bytes in a shape: digits, blanks, quotes, and others.
const OTHER: u8 = 0;
const DIGIT: u8 = 1;
const BLANK: u8 = 2;
const QUOTE: u8 = 3;

const KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([OTHER; 256], 0);
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b' ' | b'\t' => BLANK,
            b'"' | b'\'' | b'`' => QUOTE,
            _ => OTHER,
        };
        byte += 1;
    }
    kinds
};

/// Bytes of a shape, and those that are written before it is known that they do not count.
const ROOM: usize = COMPARED + 1;

/// Writes a line with each number, quoted text and run of blanks replaced by one byte.
fn shape<'s>(line: &[u8], shape: &'s mut [u8; ROOM]) -> &'s [u8] {
    let line = line.trim_ascii();
    let (mut at, mut written, mut before) = (0, 0, OTHER);
    while at < line.len() && written < COMPARED {
        let byte = line[at];
        let kind = KINDS[usize::from(byte)];
        shape[written] = match kind {
            DIGIT => b'0',
            BLANK => b' ',
            _ => byte,
        };
        // A loop over bytes that only looks at the kind before: runs end too irregularly to branch
        // on.
        written += usize::from((kind == OTHER) | (kind != before));
        at += 1;
        if kind == QUOTE {
            before = OTHER;
            if let Some(end) = closing(&line[at - 1..], byte) {
                shape[written - 1] = b'Q';
                at += end;
            }
        } else if byte == b'0'
            && before != DIGIT
            && let [b'x' | b'X', digit, ..] = line[at..]
            && digit.is_ascii_hexdigit()
        {
            before = DIGIT;
            at += 1 + line[at + 1..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        } else {
            before = kind;
        }
    }
    &shape[..written]
}

/// Returns the end of a short, non-empty quoted text.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let end = 1 + memchr::memchr(quote, &text[1..text.len().min(QUOTED + 2)])?;
    (end > 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alike(a: &str, b: &str) -> (bool, bool) {
        let (a, b) = (likeness(a.as_bytes()), likeness(b.as_bytes()));
        (a.same == b.same, a.crowd == b.crowd)
    }

    /// Reads a line as the rules say it.
    fn plain_shape(line: &[u8]) -> Vec<u8> {
        let mut rest = line.trim_ascii();
        let mut shape = vec![];
        while !rest.is_empty() && shape.len() < COMPARED {
            let count = |is: &dyn Fn(&u8) -> bool| rest.iter().take_while(|byte| is(byte)).count();
            let (byte, length) = match *rest {
                [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => {
                    (b'0', 2 + rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count())
                }
                [b'0'..=b'9', ..] => (b'0', count(&u8::is_ascii_digit)),
                [quote @ (b'"' | b'\'' | b'`'), ..] => {
                    closing(rest, quote).map_or((quote, 1), |end| (b'Q', end + 1))
                }
                [b' ' | b'\t', ..] => (b' ', count(&|byte| matches!(byte, b' ' | b'\t'))),
                [byte, ..] => (byte, 1),
                [] => break,
            };
            shape.push(byte);
            rest = &rest[length..];
        }
        shape
    }

    proptest! {
        #[test]
        fn a_shape_is_as_the_rules_say(line in "([a-z]{0,9}|[0-9]{1,3}|0x?[0-9a-g]{0,3}| {1,3}|\t|[\"'`]{1,2}|[\"'][a-c 0-9]{0,70}[\"']|[./:é]){0,60}") {
            prop_assert_eq!(shape(line.as_bytes(), &mut [0; ROOM]).to_vec(), plain_shape(line.as_bytes()));
        }

        #[test]
        fn a_crowd_leaves_out_names(line in "([a-z]{0,3}|[0-9]|[./: ]|::){0,80}") {
            let shape = plain_shape(line.as_bytes());
            let is_name = |token: &&[u8]| (1..token.len()).any(|at| {
                let next = token.get(at + 1).copied().unwrap_or(b' ');
                matches!(token[at], b'/' | b'.' | b':') && (next.is_ascii_alphanumeric() || next == b':')
            });
            let tokens = shape.split(|byte| *byte == b' ').map(|token| if is_name(&token) { b"N" } else { token });
            let named = tokens.collect::<Vec<_>>().join(&b' ');
            let likeness = likeness(line.as_bytes());
            prop_assert_eq!((likeness.same, likeness.crowd), (hash(&shape), !hash(&named)));
        }
    }

    #[test]
    fn numbers_quotes_and_blanks_are_ignored() {
        assert_eq!(
            alike("  error 17 at 0x7fe in 'a.c'", "error   2 at 0x0 in 'long name.c'  "),
            (true, true)
        );
        assert_eq!(alike("error in a", "error in b"), (false, false));
        assert_eq!(alike("it's 1", "its 1"), (false, false));
    }

    #[test]
    fn a_crowd_differs_in_names() {
        assert_eq!(
            alike("src/a.ts(1,2): error X12: no 'a'", "lib/b/c.ts(30,4): error X12: no 'b'"),
            (false, true)
        );
        assert_eq!(alike("test a::b::c failed", "test d::e failed"), (false, true));
        assert_eq!(alike("a.ts: error", "a.ts: warning"), (false, false));
    }

    #[test]
    fn repeats_are_counted_up_to_a_number_of_distinct_lines() {
        let mut seen = LikenessCounts::default();
        let mut same = |line: &str| seen.count(likeness(line.as_bytes())).same;
        assert_eq!([same("error 1"), same("error 2"), same("other")], [0, 1, 0]);
        for n in 0..100_000_u32 {
            same(&n.to_string().bytes().map(|digit| (digit + 49) as char).collect::<String>());
        }
        assert_eq!(same("error 3"), 2);
        assert!(seen.memory() <= 2 * REMEMBERED * 8);
    }
}
