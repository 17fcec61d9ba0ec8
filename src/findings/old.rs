//! Notices and marks of earlier cuts in a text that is searched.

use std::collections::BTreeMap;

use super::choice::Piece;
use super::unit::Unit;
use super::{Findings, State};
use crate::text::earlier::{self, Earlier};
use crate::text::notice_line;
use crate::text::size::Size;
use crate::text::units::Text;
use crate::text::utf8::Utf8;

/// Notices of earlier cuts.
#[derive(Debug, Default)]
pub struct Old {
    /// What they say is missing already, and whether in bytes.
    pub hidden: usize,
    pub in_bytes: bool,
    /// What each takes of the text.
    pub sizes: Vec<Size>,
    /// Those that may be kept as text, by the number of their unit.
    pub units: Vec<(usize, Size)>,
    /// What marks between findings take of the text.
    pub marks: Size,
    /// Bytes that one at the end takes.
    pub cut_at_end: usize,
}

impl Old {
    /// What a unit takes of the text, where it is a notice or a mark.
    pub fn size_of(&self, number: usize, text: &[u8]) -> Option<Size> {
        let notice = self.units.binary_search_by_key(&number, |(number, _)| *number);
        let is_mark = || self.marks.chars > 0 && is_mark(text);
        notice.map(|at| self.units[at].1).ok().or_else(|| is_mark().then(|| Utf8(text).size()))
    }
}

/// Notices between ends that are remembered; a text that was cut before has few, and only a forged one more.
const NOTICES: usize = 256;

/// A notice of an earlier cut between two ends.
#[derive(Clone, Copy, Debug)]
pub struct OldNotice {
    unit: usize,
    size: Size,
    hidden: usize,
    in_bytes: bool,
}

/// Whether a line is a mark between findings.
fn is_mark(text: &[u8]) -> bool {
    text.first() == Some(&b'[') && notice_line::is_mark(text.strip_suffix(b"\n").unwrap_or(text))
}

impl State {
    /// Takes note of a line that is a notice of an earlier cut between two empty lines, or a mark of an earlier search.
    pub fn look_for_notice(&mut self, unit: Unit, text: &[u8], size: Size) {
        if is_mark(text) {
            self.marks = self.marks + size;
        }
        let is_blank = text == b"\n";
        if is_blank && self.notices.len() < NOTICES {
            self.notices.extend(self.maybe);
        }
        self.maybe = None;
        if self.blank && matches!(text, [b'[' | b'.', .., b'\n']) {
            let parsed = notice_line::parse(&text[..text.len() - 1]);
            // The newlines around it are its own but for that of its line: two before it, one behind.
            let size = size + Size { bytes: 3, chars: 3, newlines: 3, broken: 0 };
            self.maybe =
                parsed.map(|(hidden, in_bytes)| OldNotice { unit: unit.number, size, hidden, in_bytes });
        }
        self.blank = is_blank;
    }
}

impl Findings {
    /// Notices of earlier cuts, where one of ours would stand.
    pub(super) fn old_notices(&self) -> Old {
        let state = &self.state;
        let (head, tail) = (Utf8(state.head.text()), Utf8(state.recent.text()));
        let ends = Earlier::at_ends(head, tail, state.size.bytes);
        let mut old = Old { hidden: ends.hidden, in_bytes: ends.in_bytes, ..Old::default() };
        for span in ends.spans {
            old.sizes.push(span.size);
            if span.start == 0 {
                old.units.push((0, span.size));
            } else {
                // What is kept of the text ends before it.
                old.cut_at_end = span.end - span.start;
            }
        }
        if state.size.bytes <= earlier::SEARCHED {
            for notice in &state.notices {
                old.sizes.push(notice.size);
                old.units.push((notice.unit, notice.size));
                if notice.hidden > old.hidden {
                    (old.hidden, old.in_bytes) = (notice.hidden, notice.in_bytes);
                }
            }
            old.marks = if old.hidden > 0 { state.marks } else { Size::default() };
        }
        old
    }

    /// All units that are still here, in order, without a notice at the end.
    pub(super) fn pieces(&self, old: &Old) -> Vec<Piece<'_>> {
        let state = &self.state;
        let mut pieces: BTreeMap<usize, Piece> = BTreeMap::new();
        for (unit, text) in state.shelf.units().chain(state.head.iter()) {
            pieces.insert(unit.number, Piece { unit, text });
        }
        let mut left = state.recent.bytes().saturating_sub(old.cut_at_end);
        for (mut unit, text) in state.recent.iter() {
            let text = &text[..text.len().min(left)];
            left -= text.len();
            if text.is_empty() {
                pieces.split_off(&unit.number);
                break;
            }
            if text.len() < unit.bytes {
                let size = Utf8(text).size();
                (unit.bytes, unit.chars, unit.ends_line) = (text.len(), size.chars, size.newlines > 0);
            }
            pieces.insert(unit.number, Piece { unit, text });
        }
        pieces.into_values().collect()
    }
}
