//! Parts of a chunk that need not be read line by line: long runs of one line, and text that needs no cleaning.

use std::ops::Range;

use super::look::is_clean;
use super::{screen, special};

/// Lines read on either side: those that can still be edited, and those needed for folding.
const READ: usize = screen::LINES + 4;

/// Minimum lines and bytes for the scan to pay off.
const LEAST_LINES: usize = 2 * READ;
const LEAST_BYTES: usize = 8 * 1024;

/// Maximum bytes of a line in a run.
const LONGEST: usize = 1024;

/// A part between lines that are read. By its start, all lines that could be edited are final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Short {
    /// Repetitions of the preceding line, and their number.
    Again(Range<usize>, usize),
    /// Whole lines that need no cleaning, without three identical ones in a row if those are folded.
    Clean(Range<usize>),
}

impl Short {
    /// Returns the first skippable part, or soon `None` if there is none.
    pub fn find(text: &[u8], repeats: bool) -> Option<Short> {
        if text.len() < LEAST_BYTES && !repeats {
            return None;
        }
        Short::again(text).filter(|_| repeats).or_else(|| Short::clean(text, repeats))
    }

    fn again(text: &[u8]) -> Option<Short> {
        let start = memchr::memchr(b'\n', text)? + 1;
        let line = &text[start..];
        let length = memchr::memchr(b'\n', &line[..line.len().min(LONGEST)])? + 1;
        let line = &line[..length];
        if !text[start + length..].starts_with(line) || special::find(line) + 1 < length {
            return None;
        }
        let lines = 1 + same(&text[start..], &text[start + length..]) / length;
        let at = |lines| start + lines * length;
        (lines >= LEAST_LINES).then(|| Short::Again(at(READ)..at(lines), lines - READ))
    }

    fn clean(text: &[u8], repeats: bool) -> Option<Short> {
        let start = memchr::memchr_iter(b'\n', text).nth(READ)? + 1;
        let end = memchr::memrchr_iter(b'\n', text).nth(READ)? + 1;
        (start + LEAST_BYTES <= end && is_clean(text, repeats)).then_some(Short::Clean(start..end))
    }
}

/// Returns the length of the common prefix.
fn same(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::super::{Cleaner, Options};
    use super::*;

    #[test]
    fn runs_are_counted_after_the_folded_lines() {
        let text = "begin\n".to_owned() + &"x y\n".repeat(1_000) + "x z\n";
        let again = Short::Again(6 + READ * 4..4_006, 1_000 - READ);
        assert_eq!(Short::find(text.as_bytes(), true), Some(again));
        for none in ["", "x\n", &"a\nb\n".repeat(500), &"x\x07\n".repeat(500), &"y\n".repeat(LEAST_LINES)] {
            assert_eq!(Short::find(none.as_bytes(), true), None, "{none:?}");
        }
    }

    #[test]
    fn skipping_equals_reading() {
        let ends = [
            "",
            "x",
            "\n",
            "\n\n",
            "\x1B[2A",
            "\x1B[70Ab",
            "ab\x1B[2D",
            "\x1B[",
            "\x1B]t",
            "\r",
            "x\r",
            "x\n\x1B[A",
            "[previous line 2 more times]\n",
            "0\n0\n",
            "漢\n漢\n",
            "\x1B[5Cy",
            "9\n9\n9",
        ];
        let counted = |twice: bool| -> String {
            (0..2_600).map(|n| format!("{n}\n").repeat(if twice { 2 } else { 1 })).collect()
        };
        let runs = ["x\n", "\n", "漢字\n", "a line\tof words\n", "[previous line 2 more times]\n"];
        let middles =
            runs.map(|line| line.repeat(LEAST_LINES + 9)).into_iter().chain([counted(false), counted(true)]);
        for middle in middles {
            for options in [
                Options::ALL,
                Options { ansi: false, ..Options::ALL },
                Options { carriage_returns: false, ..Options::ALL },
                Options { repeats: false, ..Options::ALL },
            ] {
                for before in ends {
                    for after in ends {
                        let cleaned = |chunks: &[&str]| {
                            let (mut cleaner, mut out) = (Cleaner::new(options), vec![]);
                            chunks.iter().for_each(|chunk| cleaner.push(chunk.as_bytes(), &mut out));
                            cleaner.finish(&mut out);
                            String::from_utf8(out).unwrap()
                        };
                        let text = [before, &middle, after].concat();
                        let lines: Vec<&str> = text.split_inclusive('\n').collect();
                        let read = cleaned(&lines);
                        let told = || format!("{before:?} {after:?} {middle:.20?}");
                        assert!(cleaned(&[&text]) == read, "{}", told());
                        assert!(cleaned(&[before, &middle, after]) == read, "{}", told());
                    }
                }
            }
        }
    }
}
