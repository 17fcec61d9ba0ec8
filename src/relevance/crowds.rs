//! Crowds of lines: those of one form, and the changes of one file in a diff.
//!
//! Each line of a list brings a name that no line before has. So the more lines of a crowd are
//! kept, the less the new names of the others are worth. Without that, 300 invented names take half
//! of a text's room.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Part, PlainHasher, hash};
use crate::encoding::byte_table::byte_table;

/// So many kept lines of a crowd halve the worth of the others.
const HALF: u32 = 10;

/// Maximum bytes of a line that are read.
const READ: usize = 160;

/// The kinds of bytes in a form: signs, those of words, and blanks.
const SIGN: u8 = 0;
const WORD: u8 = 1;
const BLANK: u8 = 2;

const KINDS: [u8; 256] = byte_table!(byte => match byte {
    b' ' | b'\t'..=b'\r' => BLANK,
    b'_' | b'$' | 0x80.. => WORD,
    _ if byte.is_ascii_alphanumeric() => WORD,
    _ => SIGN,
});

/// The lines of a text, and the number of those that were charged to each crowd.
///
/// The form of a line is read when its worth is asked for after the first charge: most lines are
/// never asked again.
#[derive(Clone, Debug, Default)]
pub struct Crowds<'a> {
    lines: Vec<(&'a [u8], Part)>,
    /// The crowd of each line, once it is known, and the crowds by their hash. The first is 1.
    known: Vec<Cell<u32>>,
    numbers: RefCell<HashMap<u64, u32, BuildHasherDefault<PlainHasher>>>,
    charged: Vec<u32>,
    /// Some line stands in a diff beside a change.
    any_context: bool,
}

impl<'a> Crowds<'a> {
    /// Takes the next line.
    pub fn take(&mut self, line: &'a [u8], part: Part) {
        self.any_context |= part == Part::Context;
        self.lines.push((line, part));
        self.known.push(Cell::new(0));
    }

    pub fn charge(&mut self, line: usize) {
        let crowd = self.of(line) as usize;
        self.charged.resize(self.charged.len().max(crowd + 1), 0);
        self.charged[crowd] += 1;
    }

    /// Returns the worth of a line in its crowd.
    pub fn worth(&self, line: usize, alone: u32) -> u32 {
        if self.charged.is_empty() || alone == 0 {
            return alone;
        }
        match self.charged.get(self.of(line) as usize) {
            None | Some(0) => alone,
            Some(charged) => alone * HALF / (HALF + charged),
        }
    }

    /// Returns true for a line that a diff shows beside its changes.
    pub fn is_context(&self, line: usize) -> bool {
        self.any_context && self.lines[line].1 == Part::Context
    }

    #[inline]
    fn of(&self, line: usize) -> u32 {
        match self.known[line].get() {
            0 => self.look_at(line),
            crowd => crowd,
        }
    }

    /// Reads the form of a line.
    #[cold]
    fn look_at(&self, line: usize) -> u32 {
        let (text, part) = self.lines[line];
        let crowd = match part {
            Part::Change(file) => !(file as u64),
            _ => form(text),
        };
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len() as u32 + 1;
        let number = *numbers.entry(crowd).or_insert(next);
        self.known[line].set(number);
        number
    }
}

/// Hashes a line with each run of letters and digits, and each run of blanks, as one byte.
pub fn form(line: &[u8]) -> u64 {
    let line = line.trim_ascii_end();
    let line = &line[..line.len().min(READ)];
    // A place within 256 bytes needs no check.
    let (mut form, mut written, mut before) = ([0; 256], 0, SIGN);
    const { assert!(READ < 256) }
    for byte in line {
        let kind = KINDS[usize::from(*byte)];
        form[written % 256] = if kind == SIGN { *byte } else { kind };
        // Runs end too irregularly to branch on.
        written += usize::from((kind == SIGN) | (kind != before));
        before = kind;
    }
    hash(&form[..written])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_form_share_a_crowd() {
        let alike = |a: &str, b: &str| form(a.as_bytes()) == form(b.as_bytes());
        assert!(alike("use crate::a1::{b_c, d};\n", "use  x::yz::{q, été};\n"));
        assert!(!alike("use a::b;", "use a::b::c;") && !alike("a b", "a, b"));
    }

    #[test]
    fn a_line_is_worth_less_the_more_of_its_crowd_are_kept() {
        let mut crowds = Crowds::default();
        for line in ["let a = 1;", "let b = 2;", "fn c() {"] {
            crowds.take(line.as_bytes(), Part::Text);
        }
        crowds.take(b"fn e() {", Part::Text);
        crowds.take(b"fn d() {", Part::Change(1));
        (0..HALF).for_each(|_| crowds.charge(0));
        assert_eq!([0, 1, 2, 3, 4].map(|line| crowds.worth(line, 40)), [20, 20, 40, 40, 40]);
    }
}
