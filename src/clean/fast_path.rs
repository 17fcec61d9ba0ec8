//! Fast scans for text that needs no cleaning, as most text does, and for long runs of one line.

use std::ops::{ControlFlow, Range};

use multiversion::multiversion;

use super::{repeats, screen};
use crate::encoding::positions::{self, positions};

/// Lines read on either side of a skipped part: those that can still be edited, and those needed
/// for folding.
const READ: usize = screen::LINES + 4;

/// Lines read of a run. The first ones may be printed over others, so the ones to be folded follow
/// them.
const READ_OF_RUN: usize = screen::LINES + READ;

/// Minimum lines and bytes of a skipped part for its search to pay off.
const LEAST_LINES: usize = 2 * READ_OF_RUN;
const LEAST_BYTES: usize = 8 * 1024;

/// Maximum bytes of a line in a skipped run.
const LONGEST: usize = 1024;

/// Size of the blocks that are compared or scanned at once, by vector code.
const BLOCK: usize = 256;

/// The content of a part that need not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// This many repetitions of the preceding line.
    Repeated(usize),
    /// Whole lines that need no cleaning, without three identical ones in a row if those are
    /// folded.
    Clean,
}

/// Finds the first part of a text that can be skipped, or soon returns `None`. By its start, all
/// lines that could be edited are final.
pub fn find_skip(text: &[u8], repeats: bool) -> Option<(Range<usize>, Skip)> {
    find_repeated(text).filter(|_| repeats).or_else(|| find_clean(text, repeats))
}

fn find_repeated(text: &[u8]) -> Option<(Range<usize>, Skip)> {
    let start = memchr::memchr(b'\n', text)? + 1;
    let line = &text[start..];
    let length = memchr::memchr(b'\n', &line[..line.len().min(LONGEST)])? + 1;
    let line = &line[..length];
    if !text[start + length..].starts_with(line) || !is_clean(line, false) {
        return None;
    }
    let lines = 1 + same(&text[start..], &text[start + length..]) / length;
    let at = |lines| start + lines * length;
    (lines >= LEAST_LINES).then(|| (at(READ_OF_RUN)..at(lines), Skip::Repeated(lines - READ_OF_RUN)))
}

fn find_clean(text: &[u8], repeats: bool) -> Option<(Range<usize>, Skip)> {
    let start = memchr::memchr_iter(b'\n', text).nth(READ)? + 1;
    let end = memchr::memrchr_iter(b'\n', text).nth(READ)? + 1;
    (start + LEAST_BYTES <= end && is_clean(text, repeats)).then_some((start..end, Skip::Clean))
}

/// Returns the length of the common prefix.
fn same(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

/// A code unit of an encoding in which every control character is one unit.
pub trait CleanUnit: positions::CodeUnit {
    /// Returns true for a control character other than tab and newline.
    fn is_control(self) -> bool;
}

impl CleanUnit for u8 {
    fn is_control(self) -> bool {
        (self < 0x20) & (self != b'\t') & (self != b'\n') | (self.wrapping_sub(0x7F) <= 0x9F - 0x7F)
    }
}

impl CleanUnit for u16 {
    fn is_control(self) -> bool {
        (self < 0x20) & (self != 0x09) & (self != 0x0A) | (self.wrapping_sub(0x7F) <= 0x9F - 0x7F)
    }
}

/// Scans a piece of a text. Breaks if it may need cleaning: it has a control character other than
/// tab and newline, or, with `repeats`, three identical lines in a row. Otherwise continues with
/// the position where the next piece must begin to recognise repeats across pieces. A last line
/// without a newline counts as complete.
pub fn look<U: CleanUnit>(piece: &[U], repeats: bool) -> ControlFlow<(), usize> {
    if has_control(piece) {
        return ControlFlow::Break(());
    }
    if repeats { has_repeats(piece) } else { ControlFlow::Continue(piece.len()) }
}

/// Returns true if bytes are well-formed UTF-8 that needs no cleaning.
pub fn is_clean(bytes: &[u8], repeats: bool) -> bool {
    if simdutf8::basic::from_utf8(bytes).is_err() {
        return false;
    }
    !has_control_of_utf8(bytes) && (!repeats || has_repeats(bytes).is_continue())
}

/// Returns true if well-formed UTF-8 has a control character other than tab and newline.
#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
fn has_control_of_utf8(bytes: &[u8]) -> bool {
    // 0xC2 begins the C1 controls and a part of the printable characters.
    let is_control = |byte: u8, next: u8| {
        (byte < 0x20) & (byte != b'\t') & (byte != b'\n') | (byte == 0x7F) | (byte == 0xC2) & (next < 0xA0)
    };
    let Some((&last, _)) = bytes.split_last() else { return false };
    let mut blocks = bytes.chunks(BLOCK).zip(bytes[1..].chunks(BLOCK));
    is_control(last, u8::MAX)
        || blocks.any(|(block, after)| {
            block.iter().zip(after).fold(false, |has, (&byte, &next)| has | is_control(byte, next))
        })
}

#[multiversion(targets("x86_64+avx512bw", "x86_64+avx2"))]
fn has_control<U: CleanUnit>(units: &[U]) -> bool {
    units.chunks(BLOCK).any(|block| block.iter().fold(false, |has, &unit| has | unit.is_control()))
}

fn has_repeats<U: CleanUnit>(piece: &[U]) -> ControlFlow<(), usize> {
    // The number of identical lines at the end so far, and the start of the first one.
    let (mut lines, mut run) = (0, 0);
    let mut last: &[U] = &[];
    let mut start = 0;
    for newline in positions(piece, b'\n') {
        let line = &piece[start..newline];
        let same = lines > 0 && equal(line, last);
        if same && lines == 2 {
            return ControlFlow::Break(());
        }
        (lines, run) = match () {
            _ if line.len() > repeats::LONGEST => (0, newline + 1),
            _ if same => (2, run),
            _ => (1, start),
        };
        last = line;
        start = newline + 1;
    }
    let line = &piece[start..];
    if !line.is_empty() && lines == 2 && line == last {
        return ControlFlow::Break(());
    }
    // The line may continue in the next piece and complete a repeat, unless it is too long.
    ControlFlow::Continue(if line.len() > repeats::LONGEST { piece.len() } else { run })
}

/// Returns true if lines are equal. Most of equal length differ near their start.
fn equal<U: CleanUnit>(line: &[U], other: &[U]) -> bool {
    line.len() == other.len() && line.first_chunk::<8>() == other.first_chunk() && line == other
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{CleanOptions, Cleaner, clean};
    use proptest::prelude::*;

    /// Scans piece by piece, as callers do.
    fn has_work(text: &[u8], piece: usize) -> bool {
        let mut start = 0;
        loop {
            let end = text.len().min(start + piece);
            match look(&text[start..end], true) {
                ControlFlow::Break(()) => return true,
                ControlFlow::Continue(_) if end == text.len() => return false,
                ControlFlow::Continue(next) => {
                    assert!(next > 0, "the next piece begins further on");
                    start += next;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn text_that_passes_needs_no_cleaning(
            lines in prop::collection::vec((prop::sample::select(vec!["", "a", "a\t", "bcd"]), 1..4usize), 0..8),
            long in prop::collection::vec((0..12usize, 1..6usize), 0..4),
        ) {
            let mut lines: Vec<String> =
                lines.iter().flat_map(|(line, times)| vec![line.to_string(); *times]).collect();
            for (at, length) in long {
                lines.insert(at.min(lines.len()), "x".repeat(length * repeats::LONGEST / 2));
            }
            let text = lines.join("\n");
            let is_clean = clean(text.as_bytes(), CleanOptions::ALL) == text.as_bytes();
            prop_assert_eq!(has_work(text.as_bytes(), usize::MAX / 2), !is_clean);
            if !is_clean {
                prop_assert!(has_work(text.as_bytes(), 3 * repeats::LONGEST + 4));
            }
        }
    }

    #[test]
    fn bytes_are_scanned_as_decoded_text() {
        for (bytes, clean) in [
            (&b"a\n\xC2\xA0\xC3\x9B\xE6\xBC\xA2\t"[..], true),
            (b"", true),
            (b"a\xC2\x9B", false),
            (b"a\xC2", false),
            (b"\xFF", false),
            (b"a\r", false),
            (b"a\na\na", false),
        ] {
            assert_eq!(is_clean(bytes, true), clean, "{bytes:?}");
        }
        assert!(is_clean(b"a\na\na", false));
    }

    #[test]
    fn control_characters_are_found_in_both_widths() {
        for unit in 0..0x100u16 {
            let mut units = [0x61; 600];
            units[555] = unit;
            let bytes = units.map(|unit| unit as u8);
            let control =
                char::from_u32(unit.into()).is_some_and(char::is_control) && !matches!(unit, 9 | 10);
            assert_eq!(look(&units, true).is_break(), control, "{unit:#x}");
            assert_eq!(look(&bytes, true).is_break(), control, "{unit:#x}");
        }
        assert!(look(&[0x4E0Du16, 0x187F, 0x2028], true).is_continue());
    }

    #[test]
    fn runs_are_counted_after_the_folded_lines() {
        let text = "begin\n".to_owned() + &"x y\n".repeat(1_000) + "x z\n";
        let again = (6 + READ_OF_RUN * 4..4_006, Skip::Repeated(1_000 - READ_OF_RUN));
        assert_eq!(find_skip(text.as_bytes(), true), Some(again));
        for none in ["", "x\n", &"a\nb\n".repeat(500), &"x\x07\n".repeat(500), &"y\n".repeat(LEAST_LINES)] {
            assert_eq!(find_skip(none.as_bytes(), true), None, "{none:?}");
        }
    }

    #[test]
    fn skipping_equals_reading() {
        let printed_over = format!("{}xy\n\x1B[31A", "x\n".repeat(30));
        let ends = [
            "",
            "x",
            "\n",
            "\n\n",
            "\x1B[2A",
            "\x1B[70Ab",
            &printed_over,
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
                CleanOptions::ALL,
                CleanOptions { ansi: false, ..CleanOptions::ALL },
                CleanOptions { carriage_returns: false, ..CleanOptions::ALL },
                CleanOptions { repeats: false, ..CleanOptions::ALL },
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
