//! A line that can still be edited.
//!
//! A line is stored as text while it is only appended to, as nearly all lines are, and as cells
//! once the cursor moves back into it. Each code point takes one cell. A tab fills the cells up to
//! its next stop; printing into it turns those into spaces.

use std::collections::BTreeMap;

/// The right margin. Gaps of blanks end here: otherwise a few bytes could request any number of
/// cells.
const MARGIN: usize = 256;

const TAB_STOP: usize = 8;

const TAB: u32 = '\t' as u32;
/// A cell covered by the tab before it.
const FILL: u32 = u32::MAX;
/// An erased or skipped cell. It becomes a space if a later cell is printed.
const BLANK: u32 = u32::MAX - 1;

/// Approximate overhead of a stored sequence in bytes.
const ENTRY: usize = 64;

/// Cells of capacity that an emptied line retains.
const KEPT_CELLS: usize = 8192;

#[derive(Clone, Debug, Default)]
pub struct Line {
    /// The whole line, unless it is edited.
    text: String,
    /// Never ends in a blank cell.
    cells: Vec<u32>,
    edited: bool,
    /// Some cells were overwritten. Trailing spaces were then printed to erase text and are
    /// dropped.
    rewritten: bool,
    /// Kept sequences, by the column of the cell that they precede.
    sequences: BTreeMap<usize, String>,
    /// Total bytes of `sequences`.
    kept: usize,
}

impl Line {
    pub fn is_edited(&self) -> bool {
        self.edited
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.cells.is_empty() && self.sequences.is_empty()
    }

    /// Returns the bytes of the text, 0 for an edited line.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of cells of an edited line.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Returns the bytes of the kept sequences.
    pub fn kept(&self) -> usize {
        self.kept
    }

    pub fn memory(&self) -> usize {
        let sequences: usize = self.sequences.values().map(|raw| raw.capacity() + ENTRY).sum();
        self.text.capacity() + self.cells.capacity() * size_of::<u32>() + sequences
    }

    /// Appends to a line that is not edited.
    pub fn append(&mut self, text: &str) {
        debug_assert!(!self.edited, "text goes on in the cells");
        self.text.push_str(text);
    }

    /// Converts text to cells.
    pub fn edit(&mut self) {
        if self.edited {
            return;
        }
        self.edited = true;
        let text = std::mem::take(&mut self.text);
        for char in text.chars() {
            if char == '\t' { self.put_tab() } else { self.cells.push(char.into()) }
        }
        self.text = text;
        self.text.clear();
    }

    /// Converts the cells of a finished line to its final text, and returns that.
    pub fn settle(&mut self) -> &str {
        while self.rewritten && self.cells.last().is_some_and(|&cell| cell == BLANK || cell == u32::from(' '))
        {
            self.cells.pop();
        }
        self.settle_part()
    }

    /// Like [`Line::settle`], for the start of a line that continues; keeps trailing spaces.
    pub fn settle_part(&mut self) -> &str {
        if !self.edited {
            return &self.text;
        }
        let mut sequences = std::mem::take(&mut self.sequences).into_iter().peekable();
        self.text.reserve(self.cells.len());
        for (column, &cell) in self.cells.iter().enumerate() {
            while let Some((_, raw)) = sequences.next_if(|(at, _)| *at <= column) {
                self.text.push_str(&raw);
            }
            match cell {
                FILL => {}
                BLANK => self.text.push(' '),
                cell => self.text.push(char::from_u32(cell).expect("other cells are chars")),
            }
        }
        self.text.extend(sequences.map(|(_, raw)| raw));
        self.drop_cells();
        &self.text
    }

    /// Empties the line.
    pub fn clear(&mut self) {
        self.text.clear();
        if self.edited {
            self.sequences.clear();
            self.drop_cells();
        }
    }

    fn drop_cells(&mut self) {
        self.cells.clear();
        self.cells.shrink_to(KEPT_CELLS);
        (self.edited, self.rewritten) = (false, false);
        self.kept = 0;
    }

    /// Returns the last column that the cursor can reach: the margin, or the end of a longer line.
    pub fn reach(&self) -> usize {
        self.cells.len().max(MARGIN - 1)
    }

    /// Prints a char at a column and returns the next column. A tab is printed only at the end of
    /// the line; elsewhere it moves the cursor. `before` holds the sequences that precede the char;
    /// they replace those of the overwritten cell.
    pub fn put(&mut self, column: usize, char: char, before: &mut String) -> usize {
        let column = column.min(self.reach());
        let end = self.cells.len();
        if char == '\t' && column != end {
            return next_stop(column);
        }
        self.attach(column, before);
        if char == '\t' {
            self.put_tab();
            return self.cells.len();
        }
        if column < end {
            self.break_tab(column);
            self.cells[column] = char.into();
            self.rewritten = true;
        } else {
            self.cells.resize(column, BLANK);
            self.cells.push(char.into());
        }
        column + 1
    }

    /// Erases from a column to the end.
    pub fn erase_from(&mut self, column: usize) {
        self.break_tab(column);
        self.cells.truncate(column);
        while self.cells.last() == Some(&BLANK) {
            self.cells.pop();
        }
        self.rewritten &= !self.cells.is_empty();
    }

    /// Erases up to and including a column.
    pub fn erase_to(&mut self, column: usize) {
        if column + 1 >= self.cells.len() {
            self.rewritten = false;
            return self.cells.clear();
        }
        self.break_tab(column);
        self.cells[..=column].fill(BLANK);
    }

    fn put_tab(&mut self) {
        let end = next_stop(self.cells.len());
        self.cells.push(TAB);
        self.cells.resize(end, FILL);
    }

    /// Replaces the tab that covers a column with spaces.
    fn break_tab(&mut self, column: usize) {
        if !matches!(self.cells.get(column), Some(&(TAB | FILL))) {
            return;
        }
        let start = self.cells[..=column].iter().rposition(|&cell| cell == TAB).unwrap_or(column);
        let fill = self.cells[start + 1..].iter().take_while(|&&cell| cell == FILL).count();
        self.cells[start..=start + fill].fill(' '.into());
    }

    fn attach(&mut self, column: usize, sequences: &mut String) {
        if self.kept > 0 {
            self.kept -= self.sequences.remove(&column).map_or(0, |covered| covered.len());
        }
        if !sequences.is_empty() {
            self.kept += sequences.len();
            self.sequences.insert(column, std::mem::take(sequences));
        }
    }
}

fn next_stop(column: usize) -> usize {
    (column / TAB_STOP + 1) * TAB_STOP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        let mut line = Line::default();
        line.append(text);
        line.edit();
        line
    }

    #[test]
    fn text_passes_through_cells_unchanged() {
        for text in ["", "a  ", "漢字\t😀\te\u{301}", "\t\t", "1234567\t8"] {
            assert_eq!(line(text).settle(), text);
        }
    }

    #[test]
    fn printing_over_a_tab_leaves_spaces() {
        for (text, column, shown) in [
            ("a\tb", 1, "ax      b"),
            ("a\tb", 7, "a      xb"),
            ("a\tb", 8, "a\tx"),
            ("\t\tb", 9, "\t x      b"),
        ] {
            let mut line = line(text);
            line.put(column, 'x', &mut String::new());
            assert_eq!(line.settle(), shown);
        }
    }

    #[test]
    fn tabs_move_over_existing_text() {
        let mut line = line("abcdefghij");
        assert_eq!(line.put(2, '\t', &mut String::new()), 8);
        assert_eq!(line.put(8, '\t', &mut String::new()), 16);
        line.put(16, 'x', &mut String::new());
        assert_eq!(line.settle(), "abcdefghij      x");
    }

    #[test]
    fn erased_cells_show_only_before_printed_ones() {
        let mut erased = line("abc  ");
        erased.erase_to(1);
        assert_eq!(erased.settle(), "  c  ");
        let mut erased = line("abc");
        erased.erase_from(1);
        erased.put(3, 'x', &mut String::new());
        erased.erase_from(3);
        assert_eq!(erased.settle(), "a");
    }

    #[test]
    fn gaps_end_at_the_margin() {
        let mut far = line("a");
        assert_eq!(far.put(60_000, 'x', &mut String::new()), MARGIN);
        assert_eq!(far.settle().len(), MARGIN);
    }

    #[test]
    fn sequences_are_replaced_with_their_cell() {
        let mut line = line("");
        for (column, char, before) in [(0, 'a', "<1>"), (1, 'b', "<2>"), (0, 'c', "<3>"), (1, 'd', "")] {
            line.put(column, char, &mut before.to_owned());
        }
        assert_eq!(line.settle(), "<3>cd");
    }
}
