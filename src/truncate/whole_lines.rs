//! Whole lines from either end of a text, as Pi keeps them: joined by newlines, without one at the
//! end.

use std::ops::Range;

use crate::encoding::{NEWLINE, Text};
use crate::extent::Room;
use crate::truncate::fit::{prefix, suffix};

/// The kept lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeLines {
    pub range: Range<usize>,
    /// Number of kept lines. Empty lines count, so lines may be kept although the range is empty.
    pub lines: usize,
    /// The last line alone is too long, and only its end is kept.
    pub partial: bool,
    /// The first line alone exceeds the limit on bytes, and no text is kept.
    pub first_too_long: bool,
}

/// Keeps the first `max_lines` lines within `max_bytes`. For an incomplete text, `text` must exceed
/// that at its start.
pub fn head<T: Text>(text: T, max_lines: usize, max_bytes: usize) -> WholeLines {
    let longest = prefix(text, &Room::lines(max_lines.saturating_sub(1), max_bytes)).at;
    let at_line_end = longest == text.len() || text.unit(longest) == NEWLINE;
    let end = if at_line_end { Some(longest) } else { text.rfind_newline(longest) };
    match end {
        None => WholeLines { first_too_long: true, ..WholeLines::default() },
        Some(_) if max_lines == 0 => WholeLines::default(),
        Some(end) => WholeLines {
            lines: text.slice(0..end).size().newlines + 1,
            range: 0..end,
            ..WholeLines::default()
        },
    }
}

/// Keeps the last `max_lines` lines within `max_bytes`, or the end of the last line if it alone is
/// too long. For an incomplete text, `text` must exceed that at its end.
pub fn tail<T: Text>(text: T, max_lines: usize, max_bytes: usize) -> WholeLines {
    let end = text.len() - usize::from(text.ends_with_newline());
    if max_lines == 0 {
        return WholeLines { range: end..end, ..WholeLines::default() };
    }
    let text = text.slice(0..end);
    let longest = suffix(text, &Room::lines(max_lines - 1, max_bytes));
    let at_line_start = longest == 0 || text.unit(longest - 1) == NEWLINE;
    let start =
        if at_line_start { Some(longest) } else { text.find_newline(longest).map(|newline| newline + 1) };
    match start {
        Some(start) => WholeLines {
            lines: text.slice(start..end).size().newlines + 1,
            range: start..end,
            ..WholeLines::default()
        },
        None => WholeLines {
            lines: usize::from(longest < end),
            range: longest..end,
            partial: true,
            first_too_long: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf8;

    #[test]
    fn only_whole_lines_are_kept() {
        let kept = |text: &'static str, lines, bytes| {
            let text = text.as_bytes();
            let (head, tail) = (head(Utf8(text), lines, bytes), tail(Utf8(text), lines, bytes));
            let show =
                |kept: WholeLines| (String::from_utf8_lossy(&text[kept.range]).into_owned(), kept.lines);
            (show(head), show(tail))
        };
        let both = |head: &str, a, tail: &str, b| ((head.to_owned(), a), (tail.to_owned(), b));
        assert_eq!(kept("a\nb\nc", 2, 9), both("a\nb", 2, "b\nc", 2));
        assert_eq!(kept("aa\nbb\ncc", 9, 4), both("aa", 1, "cc", 1));
        assert_eq!(kept("aa\nbb\ncc\n", 9, 5), both("aa\nbb", 2, "bb\ncc", 2));
        assert_eq!(kept("\n\n\n", 2, 9), both("\n", 2, "\n", 2));
        assert_eq!(kept("\nabc", 9, 0), both("", 1, "", 0));
    }

    #[test]
    fn an_overlong_line_has_no_head_and_a_partial_tail() {
        let text = "é".repeat(9) + "\n";
        assert!(head(Utf8(text.as_bytes()), 5, 7).first_too_long);
        let kept = tail(Utf8(text.as_bytes()), 5, 7);
        assert_eq!((kept.partial, kept.lines, kept.range), (true, 1, 12..18));
    }
}
