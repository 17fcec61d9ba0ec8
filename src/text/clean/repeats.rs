//! Lines that come again and again.

use std::io::Write;

/// Bytes of the longest line that is folded: one line is kept to compare with.
pub const LONGEST: usize = 4096;

/// Folds three or more identical lines in a row to the first and a mark that tells how many more there were. Two stay.
///
/// The mark is the line before what follows it, so that a text that holds such marks never comes out with three
/// identical lines in a row, and a second folding changes nothing.
#[derive(Clone, Debug)]
pub struct Repeats {
    on: bool,
    /// The line that was written last, or what is there of the one being written.
    last: Vec<u8>,
    line: Line,
    /// Further lines like the last, whole ones, not written yet.
    held: u64,
}

/// The line that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// So far the same as this much of the last one, and not written yet.
    Same(usize),
    /// Unlike the last one.
    New,
    /// Too long to compare with.
    Long,
}

impl Repeats {
    pub fn new(on: bool) -> Self {
        Repeats { on, last: vec![], line: Line::New, held: 0 }
    }

    /// Takes a part of a line.
    pub fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if !self.on {
            return out.extend_from_slice(text);
        }
        while let Line::Same(so_far) = self.line {
            if self.last[so_far..].starts_with(text) {
                self.line = Line::Same(so_far + text.len());
                return;
            }
            self.tell_apart(so_far, out);
        }
        out.extend_from_slice(text);
        if self.line == Line::New {
            if self.last.len() + text.len() <= LONGEST {
                return self.last.extend_from_slice(text);
            }
            self.line = Line::Long;
        }
    }

    /// Ends a line.
    pub fn newline(&mut self, out: &mut Vec<u8>) {
        if !self.on {
            return out.push(b'\n');
        }
        while let Line::Same(so_far) = self.line {
            if so_far == self.last.len() {
                self.held += 1;
                self.line = Line::Same(0);
                return;
            }
            self.tell_apart(so_far, out);
        }
        out.push(b'\n');
        if self.line == Line::Long {
            self.last.clear();
            self.line = Line::New;
        } else {
            self.line = Line::Same(0);
        }
    }

    /// Ends the text. What stands after the last newline is a line unless it is empty.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while let Line::Same(so_far) = self.line {
            if so_far == 0 {
                return self.write_held(out);
            }
            if so_far == self.last.len() {
                self.held += 1;
                self.write_held(out);
                out.pop();
                return;
            }
            self.tell_apart(so_far, out);
        }
    }

    /// Takes so many more lines like the last three or more, and nothing of another.
    pub fn hold(&mut self, lines: usize) {
        debug_assert!(self.held > 1 && self.line == Line::Same(0), "lines were held before");
        self.held += lines as u64;
    }

    /// Takes whole lines of which no three in a row are alike, nor with what follows them.
    pub fn pass(&mut self, lines: &[u8], out: &mut Vec<u8>) {
        if !self.on {
            return out.extend_from_slice(lines);
        }
        let mut rest = lines;
        let mut read = 0;
        // Three tell them apart from what came before; a mark that was written may be one of them.
        while read < 3 || self.held > 1 || self.line != Line::Same(0) {
            let Some(newline) = memchr::memchr(b'\n', rest) else { return };
            self.text(&rest[..newline], out);
            self.newline(out);
            (rest, read) = (&rest[newline + 1..], read + 1);
        }
        let Some((_, content)) = rest.split_last() else { return };
        self.write_held(out);
        out.extend_from_slice(rest);
        let last = &content[memchr::memrchr(b'\n', content).map_or(0, |at| at + 1)..];
        self.last.clear();
        if last.len() <= LONGEST {
            self.last.extend_from_slice(last);
        } else {
            self.line = Line::New;
        }
    }

    pub fn memory(&self) -> usize {
        self.last.capacity()
    }

    /// Writes what was held back, now that the line which began like the last one goes on differently. After a mark
    /// that line is compared with the mark.
    fn tell_apart(&mut self, so_far: usize, out: &mut Vec<u8>) {
        if self.held < 2 {
            self.write_held(out);
            out.extend_from_slice(&self.last[..so_far]);
            self.last.truncate(so_far);
            self.line = Line::New;
            return;
        }
        let begun = self.last[..so_far].to_vec();
        self.write_held(out);
        self.line = Line::Same(0);
        self.text(&begun, out);
    }

    /// Writes the lines that are held back, or the mark in their place, which is the last line then.
    fn write_held(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        if held == 0 {
            return;
        }
        if held > 1 {
            self.last.clear();
            write!(self.last, "[previous line {held} more times]").expect("a vector takes what it is given");
        }
        out.extend_from_slice(&self.last);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let (mut repeats, mut out) = (Repeats::new(true), vec![]);
        for part in text.split_inclusive('\n') {
            let content = part.strip_suffix('\n').unwrap_or(part);
            // In two parts, as chunks may cut them.
            let half = content.len() / 2;
            repeats.text(&content.as_bytes()[..half], &mut out);
            repeats.text(&content.as_bytes()[half..], &mut out);
            if content.len() < part.len() {
                repeats.newline(&mut out);
            }
        }
        repeats.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn three_become_one_and_a_mark_and_two_stay() {
        for (text, expected) in [
            ("", ""),
            ("a\na\n", "a\na\n"),
            ("a\na\nb", "a\na\nb"),
            ("a\na\na\n", "a\n[previous line 2 more times]\n"),
            ("a\na\na", "a\n[previous line 2 more times]"),
            ("a\na\naa", "a\na\naa"),
            ("a\na\na\naa\na\n", "a\n[previous line 2 more times]\naa\na\n"),
            ("ab\nab\nab\na", "ab\n[previous line 2 more times]\na"),
            ("\n\n\n\nx", "\n[previous line 3 more times]\nx"),
            ("\n\nx\n\n", "\n\nx\n\n"),
            ("a\n\n\n", "a\n\n\n"),
        ] {
            assert_eq!(folded(text), expected, "{text:?}");
        }
    }

    #[test]
    fn no_forged_mark_makes_three() {
        let mark = "[previous line 2 more times]\n";
        for marks in 0..9 {
            for tail in ["", "x\n", "[previous"] {
                let text = format!("a\na\na\n{}{tail}", mark.repeat(marks));
                let once = folded(&text);
                assert!(!once.contains(&mark.repeat(3)), "{once:?}");
                assert_eq!(folded(&once), once);
            }
        }
        assert_eq!(folded(&format!("a\na\na\n{mark}")), format!("a\n{mark}{mark}"));
        assert_eq!(folded(&mark.repeat(4)), format!("{mark}[previous line 3 more times]\n"));
    }

    #[test]
    fn a_line_over_the_bound_is_never_folded() {
        let longest = format!("{}\n", "x".repeat(LONGEST));
        assert_eq!(folded(&longest.repeat(3)), format!("{longest}[previous line 2 more times]\n"));
        let longer = format!("{}\n", "x".repeat(LONGEST + 1));
        assert_eq!(folded(&longer.repeat(3)), longer.repeat(3));
        assert_eq!(folded(&format!("{longer}\n\n\n")), format!("{longer}\n[previous line 2 more times]\n"));
    }
}
