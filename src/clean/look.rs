//! A fast scan for text that needs no cleaning, as most text does.

use std::ops::ControlFlow;

use super::repeats::LONGEST;
use super::special;
use crate::encoding::{Text, Utf16};

/// A code unit of an encoding in which every control character is one unit.
pub trait Unit: Copy + PartialEq + Into<u32> {
    fn find_newline(units: &[Self]) -> Option<usize>;
}

impl Unit for u8 {
    fn find_newline(units: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', units)
    }
}

impl Unit for u16 {
    fn find_newline(units: &[u16]) -> Option<usize> {
        Utf16(units).find_newline(0)
    }
}

/// Scans a piece of a text. Breaks if it may need cleaning: it has a control character other than tab and newline, or,
/// with `repeats`, three identical lines in a row. Otherwise continues with the position where the next piece must
/// begin to recognise repeats across pieces. A last line without a newline counts as complete.
pub fn look<U: Unit>(piece: &[U], repeats: bool) -> ControlFlow<(), usize> {
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

fn has_control_of_utf8(bytes: &[u8]) -> bool {
    // Fixed-size blocks compile to vector code.
    let is_special =
        |byte: u8| (byte < 0x20) & (byte != b'\t') & (byte != b'\n') | (byte == 0x7F) | (byte == C1_OR_SIGN);
    if !bytes.chunks(256).any(|block| block.iter().fold(false, |has, &byte| has | is_special(byte))) {
        return false;
    }
    let mut rest = bytes;
    loop {
        let at = special::find(rest);
        match rest.get(at) {
            None => return false,
            Some(b'\n') => rest = &rest[at + 1..],
            Some(&C1_OR_SIGN) if rest[at + 1] >= 0xA0 => rest = &rest[at + 2..],
            Some(_) => return true,
        }
    }
}

/// The first byte of a C1 control or a Latin-1 character; the second byte tells which.
const C1_OR_SIGN: u8 = 0xC2;

fn has_control<U: Unit>(units: &[U]) -> bool {
    let is_control = |unit: U| {
        let unit: u32 = unit.into();
        (unit < 0x20) & (unit != 0x09) & (unit != 0x0A) | (unit.wrapping_sub(0x7F) <= 0x9F - 0x7F)
    };
    // Fixed-size blocks compile to vector code.
    units.chunks(256).any(|block| block.iter().fold(false, |has, &unit| has | is_control(unit)))
}

fn has_repeats<U: Unit>(piece: &[U]) -> ControlFlow<(), usize> {
    // The number of identical lines at the end so far, and the start of the first one.
    let (mut lines, mut run) = (0, 0);
    let mut last: &[U] = &[];
    let mut start = 0;
    while start < piece.len() {
        let rest = &piece[start..];
        let newline = U::find_newline(rest);
        let line = &rest[..newline.unwrap_or(rest.len())];
        let same = lines > 0 && line == last;
        if same && lines == 2 {
            return ControlFlow::Break(());
        }
        let Some(newline) = newline else {
            // The line may continue in the next piece and complete a repeat, unless it is too long.
            return ControlFlow::Continue(if line.len() > LONGEST { piece.len() } else { run });
        };
        (lines, run) = match () {
            _ if line.len() > LONGEST => (0, start + newline + 1),
            _ if same => (2, run),
            _ => (1, start),
        };
        last = line;
        start += newline + 1;
    }
    ControlFlow::Continue(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Options, clean};
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
                lines.insert(at.min(lines.len()), "x".repeat(length * LONGEST / 2));
            }
            let text = lines.join("\n");
            let is_clean = clean(text.as_bytes(), Options::ALL) == text.as_bytes();
            prop_assert_eq!(has_work(text.as_bytes(), usize::MAX / 2), !is_clean);
            if !is_clean {
                prop_assert!(has_work(text.as_bytes(), 3 * LONGEST + 4));
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
}
