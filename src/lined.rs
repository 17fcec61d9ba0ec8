//! Truncates a text with overlong lines: first the lines, then the text.

use std::ops::Range;

use crate::outcome::{self, Outcome};
use crate::policy::{Keep, Policy};
use crate::text::amounts::Needs;
use crate::text::figures::KeptLines;
use crate::text::lines::{cut_lines, has_long_line};
use crate::text::size::Size;
use crate::text::source::{Input, Source, bytes_in};
use crate::text::units::{Text, Utf16};
use crate::text::utf8::Utf8;

/// The result, and the kept parts of the input.
#[derive(Clone, Debug)]
pub struct Lined {
    pub text: Vec<u16>,
    /// The position of the notice in the text.
    pub notice: Range<usize>,
    pub keep: Keep,
    /// Kept parts of the input, in chars.
    pub ranges: Vec<Range<usize>>,
    /// Size of the kept input.
    pub kept: Size,
    pub lines: KeptLines,
}

/// Truncates a text with lines over the policy's limit. Returns `None` if it has no such lines.
pub fn clamp_lines<T: Text>(input: T, policy: &Policy) -> Option<Lined> {
    clamp_lines_of(input, None, policy)
}

/// Like [`clamp_lines`], for bytes, which the notice counts as they are.
pub fn clamp_lines_of_bytes(bytes: &[u8], policy: &Policy) -> Option<Lined> {
    clamp_lines_of(Utf8(bytes), Some(bytes), policy)
}

fn clamp_lines_of<T: Text>(input: T, bytes: Option<&[u8]>, policy: &Policy) -> Option<Lined> {
    if !has_long_line(input, policy.limits.line_bytes) {
        return None;
    }
    let cut = cut_lines(input, policy.limits.line_bytes);
    let policy = &*policy.naming(&policy.notice, |limits| Source::whole(input).exceeded(limits));
    let totals = Source::whole(input).size(Needs::ALL);
    let source = Source::whole(Utf16(&cut.text))
        .with_totals(Some(totals))
        .with_marks(&cut.marks)
        .with_input(bytes.map(|bytes| Input { bytes, cut: &cut }));
    let limits = policy.limits.after_cutting_lines();
    let length = cut.text.len();
    let outcome = outcome::clamp(&source, &limits, policy, &policy.notice);
    let outcome = outcome.as_ref();
    let all = Range { start: 0, end: length };
    let ranges = cut.ranges_of(&outcome.map_or_else(|| vec![all], |outcome| outcome.ranges(length)));
    let (size, lines) = outcome.map_or_else(|| source.kept_whole(), |outcome| outcome.kept(&source));
    Some(Lined {
        lines,
        notice: outcome.map_or(length..length, Outcome::notice),
        keep: outcome.map_or(Keep::Head, Outcome::keep),
        kept: if T::UTF16 { size } else { Size { bytes: bytes_in(input, &ranges), ..size } },
        text: outcome.map_or_else(|| source.all(), |outcome| outcome.text(&source)),
        ranges,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::text::notice::Notice;

    #[test]
    fn ranges_and_sizes_are_those_of_the_input() {
        let limits = Limits { line_bytes: 16, chars: 60, ..Limits::NONE };
        let policy = Policy { limits, keep: Keep::Head, notice: Notice::Pi, ..Policy::default() };
        let input = ("é".repeat(30) + "\nok\n").repeat(9);
        let lined = clamp_lines_of_bytes(input.as_bytes(), &policy).unwrap();
        // The notice with a number is longer than a line may be.
        let line = "éé[+28 chars]\nok\n";
        assert_eq!(String::from_utf16(&lined.text).unwrap(), line.repeat(3) + "[...]");
        assert_eq!(lined.ranges, [0..2, 30..36, 64..70, 98..102]);
        assert_eq!((lined.kept.bytes, lined.kept.chars), (2 * 6 + 4 * 3, 18));
        assert_eq!(lined.lines, KeptLines { ranges: vec![(1, 6)], total: 18 });
    }

    #[test]
    fn a_text_without_overlong_lines_is_skipped() {
        let policy = Policy { limits: Limits { line_bytes: 3, ..Limits::NONE }, ..Policy::default() };
        assert!(clamp_lines_of_bytes(b"abc\r\nabc\n", &policy).is_none());
    }
}
