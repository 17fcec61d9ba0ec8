//! The text that a search keeps, put together piece by piece.

use std::ops::Range;

use super::choice::Piece;
use crate::text::amounts::grouped;
use crate::text::size::Size;
use crate::text::units::Text;
use crate::text::utf8::Utf8;

/// The kept text with its marks.
#[derive(Debug, Default)]
pub struct Body {
    pub text: Vec<u8>,
    /// Kept parts in chars, their size and the runs of their lines.
    pub ranges: Vec<Range<usize>>,
    pub kept: Size,
    /// What of it is not the input's.
    pub foreign: Size,
    pub lines: Vec<(usize, usize)>,
    /// The last of them, and chars that are kept of it, marks and its newline not counted.
    line: usize,
    chars: usize,
    /// Notices of earlier cuts that are kept as text.
    pub old: Size,
}

impl Body {
    /// Adds a piece. `old`: what of it is a notice or a mark of an earlier cut.
    pub fn add(&mut self, Piece { unit, text }: &Piece, old: Option<Size>) {
        self.text.extend_from_slice(text);
        self.kept = self.kept + Utf8(text).size();
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
            // A line of which nothing but a mark is left is not kept.
            _ if own == 0 => {}
            Some(last) if last.1 + 1 >= line => last.1 = line,
            _ => self.lines.push((line, line)),
        }
    }

    /// Adds a mark for what is missing: whole lines, or chars where it is a part of one line.
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

    /// Leaves out the newline at the end, which gives way to a separator. `kept`: it is the input's.
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
            // The line was nothing but its newline.
            if let Some(last) = self.lines.last_mut() {
                last.1 -= 1;
            }
            self.lines.pop_if(|last| last.1 < last.0);
        }
    }
}
