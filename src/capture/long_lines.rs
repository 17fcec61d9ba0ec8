//! Cuts long lines in a stream.

use crate::encoding::{Size, Text, Utf8};
use crate::truncate::fit::prefix_of_bytes;
use crate::truncate::long_lines::{LONGEST_MARK, place_mark};

/// A piece of the text after its long lines were cut.
#[derive(Clone, Copy, Debug)]
pub enum LineFragment<'a> {
    Text(&'a [u8]),
    /// Reports the omitted part of the preceding line.
    Mark(&'a [u8]),
}

/// Cuts lines as [`crate::truncate::long_lines::cut_lines`] does, in memory for one mark: text that
/// a mark may replace is buffered until its line ends.
#[derive(Clone, Debug)]
pub struct LongLines {
    max: usize,
    line: OpenLine,
    /// The input ended in a carriage return, which may begin a terminator.
    returned: bool,
    any: bool,
}

/// The current line.
#[derive(Clone, Debug, Default)]
struct OpenLine {
    /// Bytes passed on, as output.
    bytes: usize,
    waiting: Vec<u8>,
    waits: Size,
    /// Chars after the buffered text, if the line is too long.
    beyond: usize,
}

impl LongLines {
    pub fn new(max: usize) -> Self {
        LongLines { max, line: OpenLine::default(), returned: false, any: false }
    }

    /// Returns true if any line was too long.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Takes the next text, which ends between two code points.
    pub fn push(&mut self, text: &[u8], mut each: impl FnMut(LineFragment)) {
        let mut rest = text;
        while !rest.is_empty() {
            let newline = memchr::memchr(b'\n', rest);
            let (line, after) = rest.split_at(newline.map_or(rest.len(), |at| at + 1));
            rest = after;
            let content = &line[..newline.unwrap_or(line.len())];
            if self.returned && !content.is_empty() {
                self.go_on(b"\r", &mut each);
                self.returned = false;
            }
            let returned = content.ends_with(b"\r");
            self.go_on(&content[..content.len() - usize::from(returned)], &mut each);
            self.returned |= returned;
            if newline.is_some() {
                let returned = std::mem::take(&mut self.returned);
                self.end(if returned { b"\r\n" } else { b"\n" }, &mut each);
            }
        }
    }

    /// Ends the text.
    pub fn finish(&mut self, mut each: impl FnMut(LineFragment)) {
        if std::mem::take(&mut self.returned) {
            self.go_on(b"\r", &mut each);
        }
        self.end(b"", &mut each);
    }

    fn go_on(&mut self, content: &[u8], each: &mut impl FnMut(LineFragment)) {
        let (line, content) = (&mut self.line, Utf8(content));
        let size = content.size();
        let surely = self.max.saturating_sub(LONGEST_MARK);
        if line.beyond > 0 {
            line.beyond += size.chars;
        } else if line.waiting.is_empty() && line.bytes + size.bytes <= surely {
            line.bytes += size.bytes;
            each(LineFragment::Text(content.0));
        } else {
            let sure =
                if line.waiting.is_empty() { prefix_of_bytes(content, surely - line.bytes) } else { 0 };
            let (sure, rest) = (content.slice(0..sure), content.slice(sure..content.len()));
            line.bytes += sure.size().bytes;
            each(LineFragment::Text(sure.0));
            let (waits, beyond) =
                rest.0.split_at(prefix_of_bytes(rest, self.max - line.bytes - line.waits.bytes));
            line.waiting.extend_from_slice(waits);
            line.waits = line.waits + Utf8(waits).size();
            line.beyond = Utf8(beyond).size().chars;
            self.any |= line.beyond > 0;
        }
    }

    fn end(&mut self, terminator: &[u8], each: &mut impl FnMut(LineFragment)) {
        let OpenLine { bytes, waiting, waits, beyond } = std::mem::take(&mut self.line);
        if beyond == 0 {
            each(LineFragment::Text(&waiting));
        } else {
            let (kept, mark) = place_mark(Utf8(&waiting), waits.chars + beyond, self.max - bytes);
            each(LineFragment::Text(&waiting[..kept]));
            each(LineFragment::Mark(mark.as_bytes()));
        }
        each(LineFragment::Text(terminator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncate::long_lines::{cut_lines, has_long_line};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn streams_are_cut_like_whole_texts(
            pieces in prop::collection::vec(prop::sample::select(vec!["a", "bcd", "漢", "😀", "\r", "\n", "\r\n", "0123456789abcdef"]), 0..60),
            max in 0..50usize,
        ) {
            let (mut lines, mut out) = (LongLines::new(max), vec![]);
            let mut take = |part: LineFragment| match part {
                LineFragment::Text(text) | LineFragment::Mark(text) => out.extend_from_slice(text),
            };
            for piece in &pieces {
                lines.push(piece.as_bytes(), &mut take);
            }
            lines.finish(&mut take);
            let whole = pieces.concat();
            let text = Utf8(whole.as_bytes());
            let cut = String::from_utf16(&cut_lines(text, max).text).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), cut);
            prop_assert_eq!(lines.any(), has_long_line(text, max));
        }
    }
}
