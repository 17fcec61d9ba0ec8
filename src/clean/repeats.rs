//! Folding of repeated lines.

use std::io::Write;

use crate::encoding::{NEWLINE, Text, Utf16};

/// Maximum bytes of a line that is folded, since one line is buffered for comparison.
pub const LONGEST: usize = 4096;

/// Folds three or more identical lines in a row into the first one and a mark with the number of
/// repetitions. Two identical lines stay.
///
/// The mark counts as the preceding line of the next one. So text that contains marks never yields
/// three identical lines in a row, and folding is idempotent.
#[derive(Clone, Debug)]
pub struct Repeats {
    on: bool,
    /// The last line written, or the written part of the current line.
    last: Vec<u8>,
    line: RepeatState,
    /// Complete repetitions of the last line that were not written yet.
    held: u64,
}

/// The state of the current line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepeatState {
    /// Equal to this many bytes of the last line so far, and not written yet.
    Same(usize),
    /// Different from the last line.
    New,
    /// Too long to compare.
    Long,
}

impl Repeats {
    pub fn new(on: bool) -> Self {
        Repeats { on, last: vec![], line: RepeatState::New, held: 0 }
    }

    /// Takes part of a line.
    pub fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if !self.on {
            return out.extend_from_slice(text);
        }
        while let RepeatState::Same(so_far) = self.line {
            if self.last[so_far..].starts_with(text) {
                self.line = RepeatState::Same(so_far + text.len());
                return;
            }
            self.tell_apart(so_far, out);
        }
        out.extend_from_slice(text);
        if self.line == RepeatState::New {
            if self.last.len() + text.len() <= LONGEST {
                return self.last.extend_from_slice(text);
            }
            self.line = RepeatState::Long;
        }
    }

    /// Ends a line.
    pub fn newline(&mut self, out: &mut Vec<u8>) {
        if !self.on {
            return out.push(b'\n');
        }
        while let RepeatState::Same(so_far) = self.line {
            if so_far == self.last.len() {
                self.held += 1;
                self.line = RepeatState::Same(0);
                return;
            }
            self.tell_apart(so_far, out);
        }
        out.push(b'\n');
        if self.line == RepeatState::Long {
            self.last.clear();
            self.line = RepeatState::New;
        } else {
            self.line = RepeatState::Same(0);
        }
    }

    /// Ends the text. A part after the last newline counts as a line unless it is empty.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while let RepeatState::Same(so_far) = self.line {
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

    /// Takes `lines` further repetitions of a line that has at least three already.
    pub fn hold(&mut self, lines: usize) {
        debug_assert!(self.held > 1 && self.line == RepeatState::Same(0), "lines were held before");
        self.held += lines as u64;
    }

    /// Takes whole lines without three identical ones in a row, even together with the text that
    /// follows.
    pub fn pass(&mut self, lines: &[u8], out: &mut Vec<u8>) {
        if !self.on {
            return out.extend_from_slice(lines);
        }
        let mut rest = lines;
        let mut read = 0;
        // Three lines separate these from the preceding ones; one of them may equal a written mark.
        while read < 3 || self.held > 1 || self.line != RepeatState::Same(0) {
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
            self.line = RepeatState::New;
        }
    }

    pub fn memory(&self) -> usize {
        self.last.capacity()
    }

    /// Writes the held lines after the current one turns out to differ. After a mark, that line is
    /// compared with the mark.
    fn tell_apart(&mut self, so_far: usize, out: &mut Vec<u8>) {
        if self.held < 2 {
            self.write_held(out);
            out.extend_from_slice(&self.last[..so_far]);
            self.last.truncate(so_far);
            self.line = RepeatState::New;
            return;
        }
        let begun = self.last[..so_far].to_vec();
        self.write_held(out);
        self.line = RepeatState::Same(0);
        self.text(&begun, out);
    }

    /// Writes the held lines, or a mark in their place, which becomes the last line.
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

/// Drops all but two of three or more identical lines in a row, so that folding changes nothing.
/// `None` if there are no three.
pub fn leave_two(text: &[u16]) -> Option<Vec<u16>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut last, mut times): (&[u16], usize) = (&[], 0);
    for line in text.split_inclusive(|unit| *unit == NEWLINE) {
        let content = line.strip_suffix(&[NEWLINE]).unwrap_or(line);
        times = if times > 0 && content == last { times + 1 } else { 1 };
        last = content;
        if times < 3 || Utf16(content).size().bytes > LONGEST {
            out.extend_from_slice(line);
        }
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{CleanOptions, clean};
    use proptest::prelude::*;

    fn folded(text: &str) -> String {
        let (mut repeats, mut out) = (Repeats::new(true), vec![]);
        for part in text.split_inclusive('\n') {
            let content = part.strip_suffix('\n').unwrap_or(part);
            // Split in two, as chunks may be.
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
    fn three_lines_fold_into_one_and_a_mark() {
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
    fn forged_marks_never_make_three() {
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
    fn lines_over_the_maximum_are_never_folded() {
        let longest = format!("{}\n", "x".repeat(LONGEST));
        assert_eq!(folded(&longest.repeat(3)), format!("{longest}[previous line 2 more times]\n"));
        let longer = format!("{}\n", "x".repeat(LONGEST + 1));
        assert_eq!(folded(&longer.repeat(3)), longer.repeat(3));
        assert_eq!(folded(&format!("{longer}\n\n\n")), format!("{longer}\n[previous line 2 more times]\n"));
    }

    fn left(text: &str) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16(&leave_two(&units).unwrap_or(units)).unwrap()
    }

    #[test]
    fn two_stay() {
        for (text, expected) in [
            ("a\na\na\na\nb\n", "a\na\nb\n"),
            ("a\na\na", "a\na\n"),
            ("x\n\n\n\n\nx", "x\n\n\nx"),
            ("\n\n\n", "\n\n"),
            ("a\na\naa", "a\na\naa"),
            ("a\nb\na\n", "a\nb\na\n"),
            ("", ""),
        ] {
            assert_eq!(left(text), expected, "{text:?}");
        }
        let longer = "x".repeat(LONGEST + 1) + "\n";
        assert_eq!(left(&longer.repeat(4)), longer.repeat(4));
    }

    proptest! {
        #[test]
        fn folding_changes_nothing_then(lines in prop::collection::vec(prop::sample::select(vec!["a", "", "[previous line 2 more times]", "漢"]), 0..30), open in any::<bool>()) {
            let text = lines.join("\n") + if open { "" } else { "\n" };
            let left = left(&text);
            prop_assert_eq!(clean(left.as_bytes(), CleanOptions::ALL), left.into_bytes());
        }
    }
}
