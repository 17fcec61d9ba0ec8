//! Crowds of lines: those of one form, and the changes of one file in a diff.
//!
//! Each line of a list brings a name that no line before has. So the more lines of a crowd are
//! kept, the less the new names of the others are worth. Without that, 300 invented names take half
//! of a text's room.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::{Part, PlainHasher, hash};

/// So many kept lines of a crowd halve the worth of the others.
const HALF: u32 = 10;

/// Maximum bytes of a line that are read.
const READ: usize = 160;

/// The kinds of bytes in a form: signs, those of words, and blanks.
const SIGN: u8 = 0;
const WORD: u8 = 1;
const BLANK: u8 = 2;

const KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([SIGN; 256], 0);
    while byte < kinds.len() {
        let ascii = byte as u8;
        kinds[byte] = match ascii {
            b' ' | b'\t'..=b'\r' => BLANK,
            b'_' | b'$' | 0x80.. => WORD,
            _ if ascii.is_ascii_alphanumeric() => WORD,
            _ => SIGN,
        };
        byte += 1;
    }
    kinds
};

/// The crowd of each line of a text, and the lines of each crowd that were charged to it.
#[derive(Clone, Debug, Default)]
pub struct Crowds {
    numbers: HashMap<u64, u32, BuildHasherDefault<PlainHasher>>,
    of_lines: Vec<u32>,
    charged: Vec<u32>,
}

impl Crowds {
    /// Takes the next line.
    pub fn take(&mut self, line: &[u8], part: Part) {
        let crowd = if let Part::Change(file) = part { !(file as u64) } else { form(line) };
        let next = self.charged.len() as u32;
        let number = *self.numbers.entry(crowd).or_insert(next);
        if number == next {
            self.charged.push(0);
        }
        self.of_lines.push(number);
    }

    /// Takes the last line again.
    pub fn repeat_last(&mut self) {
        self.of_lines.extend(self.of_lines.last().copied());
    }

    pub fn charge(&mut self, line: usize) {
        self.charged[self.of_lines[line] as usize] += 1;
    }

    /// Returns the worth of a line in its crowd.
    pub fn worth(&self, line: usize, alone: u32) -> u32 {
        alone * HALF / (HALF + self.charged[self.of_lines[line] as usize])
    }
}

/// Hashes a line with each run of letters and digits, and each run of blanks, as one byte.
pub fn form(line: &[u8]) -> u64 {
    let line = line.trim_ascii_end();
    let line = &line[..line.len().min(READ)];
    let (mut form, mut written, mut before) = ([0; READ], 0, SIGN);
    for byte in line {
        let kind = KINDS[usize::from(*byte)];
        form[written] = if kind == SIGN { *byte } else { kind };
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
        crowds.repeat_last();
        crowds.take(b"fn d() {", Part::Change(1));
        (0..HALF).for_each(|_| crowds.charge(0));
        assert_eq!([0, 1, 2, 3, 4].map(|line| crowds.worth(line, 40)), [20, 20, 40, 40, 40]);
    }
}
