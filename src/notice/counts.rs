//! Amounts, limits and line ranges, as notices name them.

use std::fmt::Write;

use crate::limits::{Limits, UNLIMITED};
use crate::notice::saved::SavedPart;

/// The figures of a notice. Only those it uses are accurate, see [`needs`](super::Notice::needs).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub chars: Amount,
    pub bytes: Amount,
    pub lines: Amount,
    /// Such as `1-120,4803-5000`.
    pub kept_lines: String,
    /// Values of JSON that are omitted.
    pub elements: usize,
    pub members: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub omitted: usize,
    pub total: usize,
}

/// The figures that must be counted for a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeededCounts {
    pub chars: bool,
    pub bytes: bool,
    pub lines: bool,
}

impl NeededCounts {
    pub const ALL: NeededCounts = NeededCounts { chars: true, bytes: true, lines: true };
}

/// The values of a notice besides figures.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The exceeded limits; the others are unlimited.
    pub limits: Limits,
    pub source: &'a str,
    pub saved: &'a SavedPart,
    /// The tool has `offset` and `limit` parameters.
    pub pages: bool,
    /// Amounts are counted in bytes: the text arrived as bytes and is not scanned to count chars.
    pub in_bytes: bool,
}

impl Counts {
    /// Names the omitted values, such as ` with 897 elements and 1 member`.
    pub fn values(&self) -> String {
        let counted = [(self.elements, "element"), (self.members, "member")].map(|(count, noun)| {
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{} {noun}{plural}", grouped(count)))
        });
        let named: Vec<String> = counted.into_iter().flatten().collect();
        if named.is_empty() { String::new() } else { format!(" with {}", named.join(" and ")) }
    }
}

/// Formats limits, such as `50KB or 2,000 lines`. The limit on single lines is named only if there
/// is no other.
pub fn limits_text(limits: &Limits) -> String {
    let (bytes, unit) = match limits.bytes {
        n if n >= 1 << 20 && n.is_multiple_of(1 << 20) => (n >> 20, "MB"),
        n if n >= 1 << 10 && n.is_multiple_of(1 << 10) => (n >> 10, "KB"),
        n => (n, "B"),
    };
    let mut text = String::with_capacity(48);
    for (limit, named, unit) in [
        (limits.bytes, bytes, unit),
        (limits.lines, limits.lines, " lines"),
        (limits.chars, limits.chars, " chars"),
        (limits.tokens, limits.tokens, " tokens"),
    ] {
        if limit != UNLIMITED {
            let or = if text.is_empty() { "" } else { " or " };
            let _ = write!(text, "{or}{}{unit}", grouped(named));
        }
    }
    if text.is_empty() && limits.line_bytes != UNLIMITED {
        let _ = write!(text, "{}B a line", grouped(limits.line_bytes));
    }
    text
}

/// Groups digits by three: `12,345`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats kept lines as 1-based, inclusive ranges. Adjacent ranges are merged.
pub fn line_ranges(ranges: impl IntoIterator<Item = (usize, usize)>) -> String {
    let mut merged: Vec<(usize, usize)> = vec![];
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        match merged.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    let mut text = String::new();
    for (first, last) in merged {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{first}-{last}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_exactly() {
        let named = |bytes, lines, chars, tokens| {
            limits_text(&Limits { bytes, lines, chars, tokens, line_bytes: UNLIMITED })
        };
        assert_eq!(named(1_000, UNLIMITED, 40, 9), "1,000B or 40 chars or 9 tokens");
        assert_eq!(named(2 << 20, 2_000, UNLIMITED, UNLIMITED), "2MB or 2,000 lines");
        let lines_alone = Limits { line_bytes: 5_000, ..Limits::NONE };
        assert_eq!(limits_text(&lines_alone), "5,000B a line");
    }

    #[test]
    fn adjacent_ranges_are_merged() {
        assert_eq!(line_ranges([(1, 120), (4_803, 5_000)]), "1-120,4803-5000");
        assert_eq!(line_ranges([(1, 3), (3, 9)]), "1-9");
        assert_eq!(line_ranges([(1, 0), (7, 7)]), "7-7");
    }
}
