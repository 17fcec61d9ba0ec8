//! Truncation of overlong lines.

use std::ops::Range;

use super::fit::prefix_of_bytes;
use crate::encoding::{RETURN, Text, size};
use crate::notice::span::Span;

/// A text with truncated lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutLines {
    /// Well-formed UTF-16.
    pub text: Vec<u16>,
    pub marks: Vec<Span>,
}

impl CutLines {
    /// Returns the parts of the input kept in these parts of the text, in chars.
    pub fn ranges_of(&self, kept: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut ranges = vec![];
        let mut from = 0;
        // Chars that marks take up and chars they stand for: the offset of the text after them.
        let (mut taken, mut hidden) = (0, 0);
        let mut add = |part: Range<usize>, taken: usize, hidden: usize| {
            let first = kept.partition_point(|kept| kept.end <= part.start);
            for kept in kept[first..].iter().take_while(|kept| kept.start < part.end) {
                let side = part.start.max(kept.start)..part.end.min(kept.end);
                if side.start < side.end {
                    ranges.push(side.start + hidden - taken..side.end + hidden - taken);
                }
            }
        };
        for mark in &self.marks {
            add(from..mark.start, taken, hidden);
            taken += mark.end - mark.start;
            hidden += mark.hidden;
            from = mark.end;
        }
        add(from..self.text.len(), taken, hidden);
        ranges
    }
}

/// Returns true if a line exceeds `max` bytes without its terminator.
pub fn has_long_line<T: Text>(text: T, max: usize) -> bool {
    // A unit is at most three bytes.
    max < text.len().saturating_mul(3)
        && lines(text).any(|line| text.slice(line.start..line.content).size().bytes > max)
}

/// Truncates lines to `max` bytes, including a mark `[+N chars]` at the end. If the mark does not
/// fit, the line is truncated without one.
pub fn cut_lines<T: Text>(text: T, max: usize) -> CutLines {
    let mut cut = CutLines::default();
    for line in lines(text) {
        let content = text.slice(line.start..line.content);
        let size = content.size();
        if size.bytes <= max {
            text.slice(line.start..line.end).write(&mut cut.text);
            continue;
        }
        let (kept, mark) = place_mark(content, size.chars, max);
        content.slice(0..kept).write(&mut cut.text);
        let start = cut.text.len();
        cut.text.extend(mark.encode_utf16());
        let hidden = size.chars - content.slice(0..kept).chars();
        let size = size::of_utf8(mark.as_bytes());
        cut.marks.push(Span { start, end: cut.text.len(), size, hidden });
        text.slice(line.content..line.end).write(&mut cut.text);
    }
    cut
}

/// Bytes of the longest mark at the end of a line.
pub const LONGEST_MARK: usize = "[+18446744073709551615 chars]".len();

/// Returns the end of the longest head that leaves room for its mark, and the mark. `chars` is the
/// size of `content`.
pub fn place_mark<T: Text>(content: T, chars: usize, max: usize) -> (usize, String) {
    let mut mark = mark_for(0);
    // Omitting more can only make the mark longer. The first mark that keeps its length leaves the
    // longest head.
    while let Some(room) = max.checked_sub(mark.len()) {
        let kept = prefix_of_bytes(content, room);
        let next = mark_for(chars - content.slice(0..kept).chars());
        if next.len() == mark.len() {
            return (kept, next);
        }
        mark = next;
    }
    (prefix_of_bytes(content, max), String::new())
}

fn mark_for(chars: usize) -> String {
    format!("[+{chars} chars]")
}

/// One line: its content, and its end after the terminator, `\n` or `\r\n`.
#[derive(Clone, Copy, Debug)]
pub struct LineBounds {
    pub start: usize,
    pub content: usize,
    pub end: usize,
}

pub fn lines<T: Text>(text: T) -> impl Iterator<Item = LineBounds> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let newline = text.find_newline(start);
        let end = newline.map_or(text.len(), |newline| newline + 1);
        let content = match newline {
            Some(newline) if newline > start && text.unit(newline - 1) == RETURN => newline - 1,
            Some(newline) => newline,
            None => end,
        };
        let line = LineBounds { start, content, end };
        start = end;
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf8;

    fn cut(text: &str, max: usize) -> String {
        String::from_utf16(&cut_lines(Utf8(text.as_bytes()), max).text).unwrap()
    }

    #[test]
    fn the_mark_counts_towards_the_limit() {
        assert_eq!(cut("0123456789abcdef\nok\n", 15), "0123[+12 chars]\nok\n");
        assert_eq!(cut("0123456789abcdef\r\nok", 14), "012[+13 chars]\r\nok");
        assert_eq!(cut("漢字漢字漢字漢字", 16), "漢字[+6 chars]");
    }

    #[test]
    fn a_mark_that_does_not_fit_is_omitted() {
        assert_eq!(cut("0123456789abcdef\n", 9), "012345678\n");
        assert_eq!(cut("😀😀", 5), "😀");
        assert_eq!(cut("abc\n", 0), "\n");
    }

    #[test]
    fn a_terminator_does_not_count_but_a_lone_return_does() {
        assert!(!has_long_line(Utf8(b"abc\r\nabc\n"), 3));
        assert!(has_long_line(Utf8(b"abc\r"), 3));
    }

    #[test]
    fn marks_have_positions_and_hidden_chars() {
        let lines = cut_lines(Utf8("é".repeat(30).as_bytes()), 20);
        let size = size::of_utf8(b"[+26 chars]");
        assert_eq!(lines.marks, [Span { start: 4, end: 15, size, hidden: 26 }]);
    }
}
