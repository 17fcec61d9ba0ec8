//! The last lines of output, which the cursor can still reach.
//!
//! Lines that leave the window are final: the cursor stops at its top. If a line becomes too long
//! to edit, its start and all lines above become final, and the line continues as if it began
//! there.

use std::collections::VecDeque;

use super::line::Line;
use super::motion::Motion;
use super::repeats::Repeats;
use crate::encoding::{Text, Utf8};

/// Maximum lines that can be edited; progress displays take fewer.
pub const LINES: usize = 64;

/// Maximum bytes of a line that can be edited, or its cells once it is.
pub const LONGEST: usize = 4096;

/// The sink of final lines.
#[derive(Debug)]
pub struct Final<'a> {
    pub repeats: &'a mut Repeats,
    pub out: &'a mut Vec<u8>,
}

impl Final<'_> {
    pub fn text(&mut self, text: &str) {
        // Comparing empty slices can take 100 ns.
        if !text.is_empty() {
            self.repeats.text(text.as_bytes(), self.out);
        }
    }

    pub fn newline(&mut self) {
        self.repeats.newline(self.out);
    }
}

#[derive(Clone, Debug)]
pub struct Screen {
    /// The lines that are not final. Never empty.
    lines: VecDeque<Line>,
    most_lines: usize,
    row: usize,
    column: Column,
    /// Kept sequences that precede the next printed char.
    sequences: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    At(usize),
    /// After the text of a line that is not edited, whose cells need not be counted.
    End,
}

impl Screen {
    /// Creates an empty screen that keeps up to this many lines.
    pub fn new(most_lines: usize) -> Self {
        let lines = VecDeque::from([Line::default()]);
        Screen { lines, most_lines, row: 0, column: Column::At(0), sequences: String::new() }
    }

    /// Prints text at the cursor, over existing text.
    pub fn print(&mut self, text: &str, end: &mut Final) {
        if !self.appends() {
            self.edit(end);
        }
        if self.appends() {
            return self.append(text, end);
        }
        for (at, char) in text.char_indices() {
            let (column, line) = (self.cell(), &mut self.lines[self.row]);
            if column >= LONGEST {
                self.make_final(end);
                return self.append(&text[at..], end);
            }
            self.column = Column::At(line.put(column, char, &mut self.sequences));
        }
    }

    /// Keeps a sequence as a part of the line that takes no columns.
    pub fn keep(&mut self, raw: &str, end: &mut Final) {
        self.sequences.push_str(raw);
        if self.sequences.len() + self.line().kept() > LONGEST {
            self.make_final(end);
        }
    }

    pub fn newline(&mut self, end: &mut Final) {
        self.settle_sequences();
        self.column = Column::At(0);
        if self.row + 1 < self.lines.len() {
            self.row += 1;
            return;
        }
        if self.lines.len() < self.most_lines {
            self.lines.push_back(Line::default());
            self.row += 1;
            return;
        }
        self.write_first(end);
        // The new line reuses the buffers of the old one.
        self.lines[0].clear();
        self.lines.rotate_left(1);
    }

    pub fn carriage_return(&mut self) {
        self.column = Column::At(0);
    }

    pub fn backspace(&mut self, end: &mut Final) {
        self.apply(Motion::Left(1), end);
    }

    pub fn apply(&mut self, motion: Motion, end: &mut Final) {
        let start = Column::At(0);
        match motion {
            Motion::Column(0) | Motion::NextLine(_) | Motion::PreviousLine(_) => self.column = start,
            Motion::Right(_) | Motion::Column(_) | Motion::EraseToStart => self.edit(end),
            // Common motions are applied without converting to cells.
            Motion::Up(_) | Motion::Down(_) if self.column != Column::End => {}
            Motion::EraseToEnd | Motion::EraseBelow if self.column == Column::End => {}
            _ if self.column == start => {}
            _ => self.edit(end),
        }
        let (column, row) = (self.cell(), self.row);
        let line = &mut self.lines[row];
        match motion {
            Motion::Up(count) | Motion::PreviousLine(count) => self.row = row.saturating_sub(count),
            Motion::Down(count) | Motion::NextLine(count) => {
                self.row = self.lines.len().min(row + count + 1) - 1
            }
            Motion::Right(count) => self.column = Column::At(line.reach().min(column + count).max(column)),
            Motion::Left(count) => self.column = Column::At(column.saturating_sub(count)),
            Motion::Column(to) => self.column = Column::At(if to == 0 { 0 } else { line.reach().min(to) }),
            Motion::EraseToStart => line.erase_to(column),
            Motion::EraseLine => line.clear(),
            Motion::EraseToEnd | Motion::EraseBelow => {
                match self.column {
                    Column::At(0) => line.clear(),
                    Column::At(column) => line.erase_from(column),
                    Column::End => {}
                }
                if motion == Motion::EraseBelow {
                    self.lines.range_mut(row + 1..).for_each(Line::clear);
                }
            }
        }
    }

    /// Writes all lines above the last one, which must be empty.
    pub fn make_all_final(&mut self, end: &mut Final) {
        debug_assert!(self.row + 1 == self.lines.len() && self.line().is_empty(), "a newline came last");
        self.write_above(end);
    }

    /// Ends the text. Empty lines below the cursor are dropped, but the newline after the last
    /// non-empty one is kept.
    pub fn finish(&mut self, end: &mut Final) {
        self.settle_sequences();
        let mut below = self.lines.range_mut(self.row + 1..);
        let shown = below.rposition(|line| !line.settle().is_empty()).map_or(0, |last| last + 2);
        self.lines.truncate(self.row + 1 + shown);
        self.row = self.lines.len() - 1;
        self.lines[self.row].settle();
        self.make_final(end);
    }

    pub fn memory(&self) -> usize {
        self.lines.iter().map(Line::memory).sum::<usize>() + self.sequences.capacity()
    }

    fn line(&self) -> &Line {
        &self.lines[self.row]
    }

    /// Returns true if printing appends to text.
    fn appends(&self) -> bool {
        let line = self.line();
        let at_end = self.column == Column::End || (self.column == Column::At(0) && line.is_empty());
        at_end && !line.is_edited() && self.sequences.is_empty()
    }

    fn append(&mut self, mut text: &str, end: &mut Final) {
        loop {
            let fits = Utf8(text.as_bytes()).floor(text.len().min(LONGEST - self.line().text_len()));
            self.lines[self.row].append(&text[..fits]);
            self.column = Column::End;
            if fits == text.len() {
                return;
            }
            text = &text[fits..];
            self.make_final(end);
        }
    }

    /// Converts the line to cells and the cursor to a column.
    fn edit(&mut self, end: &mut Final) {
        let line = &mut self.lines[self.row];
        line.edit();
        if self.column == Column::End {
            self.column = Column::At(line.cells());
        }
        // Only tabs make more cells than bytes.
        if line.cells() > LONGEST {
            self.make_final(end);
        }
    }

    /// Returns the cursor's column on an edited line, and 0 elsewhere.
    fn cell(&self) -> usize {
        match self.column {
            Column::At(column) => column,
            Column::End => 0,
        }
    }

    /// Writes everything up to the end of the cursor's line, which continues as an empty line.
    fn make_final(&mut self, end: &mut Final) {
        self.write_above(end);
        end.text(self.lines[0].settle_part());
        end.text(&std::mem::take(&mut self.sequences));
        self.lines[0].clear();
        self.column = Column::At(0);
    }

    /// Writes the lines above the cursor.
    fn write_above(&mut self, end: &mut Final) {
        for _ in 0..std::mem::take(&mut self.row) {
            self.write_first(end);
            self.lines.pop_front();
        }
    }

    fn write_first(&mut self, end: &mut Final) {
        end.text(self.lines[0].settle());
        end.newline();
    }

    /// Appends the pending sequences to the line.
    fn settle_sequences(&mut self) {
        if !self.sequences.is_empty() {
            let line = &mut self.lines[self.row];
            line.settle();
            line.append(&std::mem::take(&mut self.sequences));
        }
    }
}
