//! Clamps a text that has lines over the limit: the lines are cut first, then the text is.

use std::ops::Range;

use super::amounts::Needs;
use super::clamp::clamp_to;
use super::figures::KeptLines;
use super::lines::{CutLines, cut_lines, has_long_line};
use super::size::Size;
use super::source::{Clamped, Kept, Source};
use super::units::{Text, Utf16};
use crate::policy::{Keep, Policy};

/// The result, and what it keeps of the input.
#[derive(Clone, Debug)]
pub struct Lined {
    pub text: Vec<u16>,
    /// Where the notice with its separators stands in the text.
    pub mid: Range<usize>,
    pub separators: (usize, usize),
    pub keep: Keep,
    /// Kept parts of the input, in chars.
    pub ranges: Vec<Range<usize>>,
    /// Size of what is kept of the input.
    pub kept: Size,
    pub lines: KeptLines,
}

/// Clamps a text that has lines over the policy's limit; `None` when it has none.
pub fn clamp_lines<T: Text>(input: T, policy: &Policy) -> Option<Lined> {
    if !has_long_line(input, policy.limits.line_bytes) {
        return None;
    }
    let cut = cut_lines(input, policy.limits.line_bytes);
    let totals = Source::whole(input).size(Needs::ALL);
    let source = Source::whole(Utf16(&cut.text)).with_totals(Some(totals)).with_marks(&cut.marks);
    let limits = policy.limits.after_cutting_lines();
    let clamped = clamp_to(&source, &limits, policy, &policy.notice);
    let kept = clamped.as_ref().map_or(Kept { head: cut.text.len(), tail: cut.text.len() }, Clamped::kept);
    let ranges = kept_ranges(&cut, kept);
    let (size, lines) = source.kept(kept);
    Some(Lined {
        lines,
        mid: kept.head..kept.head + clamped.as_ref().map_or(0, |cut| cut.mid.encode_utf16().count()),
        separators: clamped.as_ref().map_or((0, 0), |cut| cut.separators),
        keep: clamped.as_ref().map_or(Keep::Head, |cut| cut.keep),
        kept: if T::UTF16 { size } else { Size { bytes: bytes_in(input, &ranges), ..size } },
        text: clamped.as_ref().map_or_else(|| source.all(), |cut| source.compose(cut)),
        ranges,
    })
}

/// The parts of the input that stand in the kept parts of its cut lines.
fn kept_ranges(cut: &CutLines, kept: Kept) -> Vec<Range<usize>> {
    let mut ranges = vec![];
    let mut from = 0;
    // What marks took and what they stand for: the text after them stands at other places in the input.
    let (mut taken, mut hidden) = (0, 0);
    let mut add = |part: Range<usize>, taken: usize, hidden: usize| {
        for side in [part.start..part.end.min(kept.head), part.start.max(kept.tail)..part.end] {
            if side.start < side.end {
                ranges.push(side.start + hidden - taken..side.end + hidden - taken);
            }
        }
    };
    for mark in &cut.marks {
        add(from..mark.start, taken, hidden);
        taken += mark.end - mark.start;
        hidden += mark.hidden;
        from = mark.end;
    }
    add(from..cut.text.len(), taken, hidden);
    ranges
}

/// Bytes of an input that stand for these chars: an invalid sequence is one char, and as long as it came.
fn bytes_in<T: Text>(input: T, ranges: &[Range<usize>]) -> usize {
    let (mut bytes, mut char, mut at) = (0, 0, 0);
    for range in ranges {
        while char < range.end {
            let (point, len) = input.decode(at);
            bytes += if char >= range.start { len } else { 0 };
            char += point.len_utf16();
            at += len;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::text::Utf8;
    use crate::text::notice::Notice;

    #[test]
    fn ranges_and_sizes_are_those_of_the_input() {
        let limits = Limits { line_bytes: 16, chars: 60, ..Limits::NONE };
        let policy = Policy { limits, keep: Keep::Head, notice: Notice::Pi, ..Policy::default() };
        let input = ("é".repeat(30) + "\nok\n").repeat(9);
        let lined = clamp_lines(Utf8(input.as_bytes()), &policy).unwrap();
        // The notice that names a number is longer than a line may be.
        let line = "éé[+28 chars]\nok\n";
        assert_eq!(String::from_utf16(&lined.text).unwrap(), line.repeat(3) + "[...]");
        assert_eq!(lined.ranges, [0..2, 30..36, 64..70, 98..102]);
        assert_eq!((lined.kept.bytes, lined.kept.chars), (2 * 6 + 4 * 3, 18));
        assert_eq!(lined.lines, KeptLines { head: 6, first_of_tail: 19, total: 18 });
    }

    #[test]
    fn a_text_without_long_lines_is_left_to_others() {
        let policy = Policy { limits: Limits { line_bytes: 3, ..Limits::NONE }, ..Policy::default() };
        assert!(clamp_lines(Utf8(b"abc\r\nabc\n"), &policy).is_none());
    }
}
