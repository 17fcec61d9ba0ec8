//! Notices and marks of earlier cuts in a searched text.

use std::ops::RangeInclusive;

use super::page::Piece;
use super::unit::Unit;
use super::{SearchState, Selection};
use crate::encoding::{Size, Text, Utf8};
use crate::notice::earlier::{self, EarlierNotices, NoticeAmounts};
use crate::notice::saved::SavedPart;
use crate::notice::{MIDDLE, parse};

/// Notices of earlier cuts.
#[derive(Debug, Default)]
pub struct Old {
    /// The amounts that they report as omitted, and if those were counted in bytes.
    pub hidden: Size,
    pub in_bytes: bool,
    /// The saved output that they name.
    pub saved: SavedPart,
    /// The size of each notice in the text.
    pub sizes: Vec<Size>,
    /// Sizes of notices that may be kept as text, by unit number.
    pub units: Vec<(usize, Size)>,
    /// First and last unit numbers of notices between two ends, with the blank lines around them.
    pub between: Vec<(usize, usize)>,
    /// Total size of marks between findings.
    pub marks: Size,
    /// Bytes of a notice at the end.
    pub cut_at_end: usize,
    /// The position after a notice at the start.
    pub first: Unit,
}

/// Returns the units of the only notice of a text, which the next one replaces. Several were
/// printed by a tool, and are text.
fn only_between(old: &Old) -> Option<RangeInclusive<usize>> {
    match old.between[..] {
        [(first, last)] if old.sizes.len() == 1 => Some(first..=last),
        _ => None,
    }
}

impl Old {
    /// Returns the total size of notices and marks.
    pub fn taken(&self) -> Size {
        self.sizes.iter().fold(self.marks, |sum, size| sum + *size)
    }

    /// Drops each notice that would lose one of its blank lines, with the remaining ones: it would
    /// not be recognised again.
    pub fn leave_out_parts(&self, kept: &mut Vec<&Piece>) {
        for (first, last) in &self.between {
            let all = *first..last + 1;
            let start = kept.partition_point(|piece| piece.unit.number < all.start);
            let end = kept.partition_point(|piece| piece.unit.number < all.end);
            if end - start < all.len() {
                kept.drain(start..end);
            }
        }
    }

    /// Returns the size of the part of a notice or a mark in a unit. `goes_on`: the next unit is
    /// kept too.
    pub fn size_of(&self, number: usize, text: &[u8], goes_on: bool) -> Option<Size> {
        if self.marks.chars > 0 && is_mark(text) {
            return Some(Utf8(text).size());
        }
        // Without the notice after it, the newline of a line is its own.
        if !goes_on && self.between.iter().any(|(first, _)| *first == number + 1) {
            return None;
        }
        self.units.binary_search_by_key(&number, |(number, _)| *number).ok().map(|at| self.units[at].1)
    }
}

/// Maximum notices stored. A genuine text has few; only a forged one exceeds this.
const NOTICES: usize = 256;

/// A notice of an earlier cut between two ends.
#[derive(Clone, Debug)]
pub struct OldNotice {
    /// The unit of its line, and the first one of the lines that separate it from the head.
    unit: usize,
    first: usize,
    size: Size,
    /// The size of those lines, with the newline of the head.
    before: Size,
    hidden: usize,
    in_bytes: bool,
    saved: SavedPart,
    /// Another line may follow, which names the saved output.
    takes_name: bool,
    /// The size of that line.
    name: Option<Size>,
}

impl OldNotice {
    fn last(&self) -> usize {
        self.unit + usize::from(self.name.is_some())
    }
}

/// Returns true if a line is a mark between findings.
pub fn is_mark(text: &[u8]) -> bool {
    text.first() == Some(&b'[') && parse::is_mark(text.strip_suffix(b"\n").unwrap_or(text))
}

/// Returns the size of a mark that shares its line with a notice of `trailing` units after it.
fn glued_mark(tail: Utf8, trailing: usize) -> Size {
    let (before, notice) = tail.0.split_at(tail.len() - trailing);
    let line = &before[memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)..];
    let is_glued = notice.first().is_some_and(|byte| *byte != b'\n') && is_mark(line);
    if is_glued { Utf8(line).size() } else { Size::default() }
}

impl SearchState {
    /// Records a line that is a notice between two blank lines, or a mark of an earlier search.
    pub fn look_for_notice(&mut self, unit: Unit, text: &[u8], size: Size) {
        if is_mark(text) {
            self.marks = self.marks + size;
        }
        let is_blank = text == b"\n";
        if is_blank && self.notices.len() < NOTICES {
            self.notices.extend(self.maybe.take());
        }
        let named = self.maybe.take().filter(|notice| notice.takes_name && notice.name.is_none());
        self.maybe = named.and_then(|notice| {
            let saved = SavedPart::parse_line(text.strip_suffix(b"\n")?);
            (saved != SavedPart::Nowhere).then_some(OldNotice { saved, name: Some(size), ..notice })
        });
        if self.blank && matches!(text, [b'[' | b'.', .., b'\n']) {
            let notice = &text[..text.len() - 1];
            self.maybe = parse::parse(notice).map(|(hidden, in_bytes)| {
                // A cut of OpenClaw has a line of its own there.
                let is_middle = self.recent.text().ends_with(MIDDLE.as_bytes());
                let (before, lines) = if is_middle { (MIDDLE, 3) } else { ("\n\n", 1) };
                OldNotice {
                    unit: unit.number,
                    first: unit.number - lines,
                    size,
                    before: Utf8(before.as_bytes()).size(),
                    hidden,
                    in_bytes,
                    saved: parse::saved(notice),
                    takes_name: parse::takes_name(notice),
                    name: None,
                }
            });
        }
        self.blank = is_blank;
    }
}

impl Selection {
    /// Finds notices of earlier cuts at the positions that ours take, before an end of `end` bytes.
    pub(crate) fn old_notices(&self, end: usize) -> Old {
        let state = &self.state;
        let recent = state.recent.text();
        let (head, tail) = (Utf8(state.head.text()), Utf8(&recent[..recent.len() - end]));
        let ends = EarlierNotices::at_ends(head, tail, state.size.bytes - end);
        // Only the text between the notices at both ends can be kept.
        let mut old =
            Old { cut_at_end: ends.trailing, first: state.head.place_after(ends.leading), ..Old::default() };
        old.sizes.extend(ends.spans.iter().map(|span| span.size));
        let mut told = ends.told;
        if state.size.bytes <= earlier::SEARCHED {
            // A notice directly before `end` or an exit line was counted above.
            let behind = end + ends.behind;
            let before = || {
                let (mut left, mut units) = (behind, state.recent.between(0, usize::MAX).into_iter());
                units.find(|(_, text)| left.checked_sub(text.len()).map(|rest| left = rest).is_none())
            };
            let counted = if behind > 0 && old.cut_at_end > 0 { before() } else { None };
            let is_counted =
                |notice: &&OldNotice| counted.is_some_and(|(unit, _)| unit.number == notice.last());
            let notices: Vec<_> = state.notices.iter().filter(|notice| !is_counted(notice)).collect();
            for notice in notices {
                let OldNotice { unit, first, size, before, hidden, in_bytes, ref saved, name, .. } = *notice;
                let last = notice.last();
                old.between.push((first, last + 1));
                let newline = Size { bytes: 1, chars: 1, newlines: 1, broken: 0 };
                old.sizes.push(before + size + name.unwrap_or_default() + newline);
                // The notice owns the newlines around it: that of the preceding line, and the blank
                // lines on either side.
                old.units.extend(first.checked_sub(1).map(|line| (line, newline)));
                old.units.extend([(first, newline), (unit, size), (last + 1, newline)]);
                if first + 1 < unit {
                    let marker = before - newline - newline - newline;
                    old.units.extend([(unit - 2, marker), (unit - 1, newline)]);
                }
                old.units.extend(name.map(|size| (last, size)));
                told.add(hidden, in_bytes, saved.clone());
            }
            old.units.sort_unstable_by_key(|(unit, _)| *unit);
            if told != NoticeAmounts::default() {
                old.marks = state.marks + glued_mark(tail, ends.trailing);
            }
        }
        let taken = old.taken();
        let left = Size {
            bytes: state.size.bytes.saturating_sub(taken.bytes),
            chars: state.size.chars.saturating_sub(taken.chars),
            ..state.size
        };
        (old.hidden, old.in_bytes) = (told.hidden(left), told.in_bytes(left));
        old.saved = told.saved().clone();
        old
    }

    /// Returns all stored units in order, without a notice at the end.
    pub(crate) fn pieces(&self, old: &Old) -> Vec<Piece<'_>> {
        let state = &self.state;
        let first = state.recent.numbers().map_or(usize::MAX, |(first, _)| first);
        let findings = state.lines.units().chain(state.contexts.units()).chain(state.tallies.units());
        let findings = findings.chain(state.starts.units());
        let weighed = state.head.iter().chain(state.asked.units()).map(|piece| (piece, true));
        let before = weighed.chain(findings.map(|piece| (piece, false)));
        // A unit that is stored more than once is taken from the recent ones; the last may be cut
        // at its end.
        let before = before.filter(|((unit, _), _)| unit.number < first);
        let mut pieces: Vec<_> =
            before.map(|((unit, text), is_weighed)| Piece { unit, text, is_weighed }).collect();
        pieces.sort_by_key(|piece| piece.unit.number);
        pieces.dedup_by_key(|piece| piece.unit.number);
        let mut left = state.recent.bytes().saturating_sub(old.cut_at_end);
        let mut end = usize::MAX;
        for (mut unit, text) in state.recent.iter() {
            let text = &text[..text.len().min(left)];
            left -= text.len();
            if text.is_empty() {
                end = unit.number;
                break;
            }
            if text.len() < unit.bytes {
                let size = Utf8(text).size();
                (unit.bytes, unit.chars, unit.ends_line) = (text.len(), size.chars, size.newlines > 0);
            }
            pieces.push(Piece { unit, text, is_weighed: true });
        }
        let gap = only_between(old);
        let is_old = |number| gap.as_ref().is_some_and(|gap| gap.contains(&number));
        pieces.retain(|piece| {
            let number = piece.unit.number;
            (old.first.number..end).contains(&number) && !is_old(number)
        });
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::selection::SearchTerms;

    fn marks(text: &str) -> usize {
        let sought = SearchTerms { failure: true, needles: &[], query: &[] };
        let mut selection = Selection::new(&Limits::NONE, sought);
        selection.push(text.as_bytes());
        selection.finish();
        selection.old_notices(0).marks.chars
    }

    #[test]
    fn a_mark_is_none_of_the_text_with_or_without_a_newline_before_a_notice() {
        let mark = "[... 9 lines ...]";
        let notice = "[... 1686 more characters truncated]";
        assert_eq!(marks(&format!("a\n{mark}\nb{notice}")), mark.len() + 1);
        assert_eq!(marks(&format!("a\n{mark}{notice}")), mark.len());
        assert_eq!(marks(&format!("a\n{mark}\nb\n{mark}{notice}")), 2 * mark.len() + 1);
        assert_eq!(marks(&format!("a\n{mark}\nb")), 0);
    }
}
