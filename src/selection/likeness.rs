//! Detects repeated lines, which differ only in numbers, quoted texts and white space, and crowds
//! of lines, which also differ in names with dots, slashes or colons inside.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

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
}

impl LikenessCounts {
    /// Counts a line by its likeness.
    pub fn count(&mut self, (same, crowd): (u64, u64)) -> Earlier {
        Earlier { same: self.add(same), crowd: self.add(crowd) }
    }

    /// Counts a number of lines like one that was just counted.
    pub fn count_more(&mut self, (same, crowd): (u64, u64), lines: u32) {
        for hash in [same, crowd] {
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
pub fn likeness(line: &[u8]) -> (u64, u64) {
    let (mut bytes, mut named) = ([0; COMPARED], [0; COMPARED]);
    let shape = shape(line, &mut bytes);
    let (mut done, mut written) = (0, 0);
    let mut write = |text: &[u8]| {
        named[written..written + text.len()].copy_from_slice(text);
        written += text.len();
    };
    // A name holds one of these signs.
    while let Some(sign) = memchr::memchr3(b'/', b'.', b':', &shape[done..]).map(|at| done + at) {
        let start = memchr::memrchr(b' ', &shape[done..sign]).map_or(done, |space| done + space + 1);
        let end = memchr::memchr(b' ', &shape[sign..]).map_or(shape.len(), |space| sign + space);
        if is_name(&shape[start..end]) {
            write(&shape[done..start]);
            write(b"N");
        } else {
            write(&shape[done..end]);
        }
        done = end;
    }
    write(&shape[done..]);
    (hash(shape), !hash(&named[..written]))
}

/// Returns true for a path, a place or a qualified name: letters, and a dot, slash or colon between
/// them.
fn is_name(token: &[u8]) -> bool {
    let is_inner =
        |at: usize| token.get(at + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b':');
    memchr::memchr3_iter(b'/', b'.', b':', token).any(|at| at > 0 && is_inner(at))
}

/// Writes a line with each number, quoted text and run of blanks replaced by one byte.
fn shape<'s>(line: &[u8], shape: &'s mut [u8; COMPARED]) -> &'s [u8] {
    let line = line.trim_ascii();
    let (mut at, mut written) = (0, 0);
    while at < line.len() && written < COMPARED {
        let rest = &line[at..];
        let (byte, length) = match rest[0] {
            b'0'..=b'9' => {
                let hex = matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
                let number = if hex { &rest[2..] } else { rest };
                let is_digit = |byte: &u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
                (b'0', rest.len() - number.len() + number.iter().take_while(|byte| is_digit(byte)).count())
            }
            quote @ (b'"' | b'\'' | b'`') => closing(rest, quote).map_or((quote, 1), |end| (b'Q', end + 1)),
            b' ' | b'\t' => (b' ', rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()),
            byte => (byte, 1),
        };
        shape[written] = byte;
        written += 1;
        at += length;
    }
    &shape[..written]
}

/// Returns the end of a short, non-empty quoted text.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let end = 1 + text[1..].iter().take(QUOTED + 1).position(|byte| *byte == quote)?;
    (end > 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(a: &str, b: &str) -> (bool, bool) {
        let (a, b) = (likeness(a.as_bytes()), likeness(b.as_bytes()));
        (a.0 == b.0, a.1 == b.1)
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
