//! The kept text of a search, assembled piece by piece.

use std::ops::Range;

use crate::encoding::Size;
use crate::notice::counts::grouped;
use crate::selection::Piece;

/// The kept text with its marks.
#[derive(Debug, Default)]
pub struct Body {
    pub text: Vec<u8>,
    /// Kept parts in chars, their size, and their runs of lines.
    pub ranges: Vec<Range<usize>>,
    pub kept: Size,
    /// Text in `kept` that is not from the input.
    pub foreign: Size,
    pub lines: Vec<(usize, usize)>,
    /// The last line, and the chars kept of it, excluding marks and its newline.
    line: usize,
    chars: usize,
    /// Notices of earlier cuts that were kept as text.
    pub old: Size,
}

impl Body {
    /// Adds a piece. `old`: the size of its notice or mark from an earlier cut.
    pub fn add(&mut self, piece: &Piece, old: Option<Size>) {
        let Piece { unit, text, .. } = piece;
        self.text.extend_from_slice(text);
        self.kept = self.kept + piece.text_size();
        self.foreign.bytes += usize::from(unit.foreign.bytes);
        self.foreign.chars += usize::from(unit.foreign.chars);
        self.old = self.old + old.unwrap_or_default();
        let (range, line) = (unit.char..unit.char + unit.chars, unit.line + 1);
        let own = unit.chars - usize::from(unit.foreign.chars);
        self.chars = own - usize::from(unit.ends_line) + if line == self.line { self.chars } else { 0 };
        self.line = line;
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
        match self.lines.last_mut() {
            // A line reduced to a mark does not count as kept.
            _ if own == 0 => {}
            Some(last) if last.1 + 1 >= line => last.1 = line,
            _ => self.lines.push((line, line)),
        }
    }

    /// Adds a mark for omitted text: whole lines, or chars within one line.
    pub fn add_mark(&mut self, lines: usize, chars: usize) {
        let mark = match lines {
            0 => format!("[... {} chars ...]\n", grouped(chars)),
            1 => "[... 1 line ...]\n".to_owned(),
            _ => format!("[... {} lines ...]\n", grouped(lines)),
        };
        if !self.text.is_empty() && !self.text.ends_with(b"\n") {
            self.text.push(b'\n');
        }
        self.text.extend_from_slice(mark.as_bytes());
    }

    /// Drops the newline at the end, which a separator replaces. `kept`: it comes from the input.
    pub fn drop_newline(&mut self, kept: bool) {
        if self.text.pop_if(|byte| *byte == b'\n').is_none() || !kept {
            return;
        }
        self.kept = self.kept - Size { bytes: 1, chars: 1, newlines: 1, broken: 0 };
        if let Some(last) = self.ranges.last_mut() {
            last.end -= 1;
        }
        self.ranges.pop_if(|last| last.start == last.end);
        if self.chars == 0 {
            // The line consisted of its newline alone.
            if let Some(last) = self.lines.last_mut() {
                last.1 -= 1;
            }
            self.lines.pop_if(|last| last.1 < last.0);
        }
    }
}
