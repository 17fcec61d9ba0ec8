//! Notices of an earlier cut, so that a text which is cut again tells what is missing of the original.
//!
//! A notice is looked for only where one of ours would stand. Anybody can print one: what is found raises the number
//! that the next notice shows, and goes where it stands at an end, and changes nothing else.

use std::ops::Range;

use super::lines::{Span, in_order};
use super::notice_line::{Continuation, LONGEST_MARK, continuation, cursor, is_exit, is_mark, parse};
use super::size::Size;
use super::units::{NEWLINE, Text};

/// Between the ends of a text it takes a pass to find a notice; longer texts are not looked through, and
/// lib/text/pieces.ts (`READ_WHOLE`) does not hand them over whole.
pub const SEARCHED: usize = 256 * 1024;

/// No notice of ours is longer, not even one that names a path; `GLANCE` in lib/text/pieces.ts holds it.
pub const LONGEST: usize = 8 * 1024;

/// What notices say is missing already. Each stands for all that was missing when it was made, so the largest number in
/// either unit is the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub chars: usize,
    pub bytes: usize,
}

impl Told {
    pub fn add(&mut self, hidden: usize, in_bytes: bool) {
        let unit = if in_bytes { &mut self.bytes } else { &mut self.chars };
        *unit = hidden.max(*unit);
    }

    /// The amount in both units. The one that nobody counted is what the text that is left, of this size, would take.
    pub fn hidden(self, left: Size) -> Size {
        let scaled = |amount: usize, to: usize, of: usize| match of {
            0 => amount,
            _ => (amount as u128 * to as u128).div_ceil(of as u128) as usize,
        };
        Size {
            chars: self.chars.max(scaled(self.bytes, left.chars, left.bytes)),
            bytes: self.bytes.max(scaled(self.chars, left.bytes, left.chars)),
            ..Size::default()
        }
    }

    /// Tells whether the amount was counted in bytes, in a text of which so much is left.
    pub fn in_bytes(self, left: Size) -> bool {
        self.bytes > 0 && self.hidden(left).bytes == self.bytes
    }
}

/// The earlier notices of one text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    pub spans: Vec<Span>,
    pub told: Told,
    /// Size of the text but for them, as far as it is here; where nothing is told, it is not counted.
    left: Size,
    /// Units of those at the start and at the end, which are no text to keep.
    pub leading: usize,
    pub trailing: usize,
}

impl Earlier {
    /// The text between the notices at both ends, of `total` units.
    pub fn content(&self, total: usize) -> Range<usize> {
        self.leading..total - self.trailing
    }

    /// What is missing already.
    pub fn hidden(&self) -> Size {
        self.told.hidden(self.left)
    }

    pub fn in_bytes(&self) -> bool {
        self.told.in_bytes(self.left)
    }

    /// Looks at the start of `head` and the end of `tail`, which lie in a text of `total` units; between them too where
    /// `head` is the whole of a text that is not too long.
    pub fn find<T: Text>(head: T, tail: T, total: usize) -> Earlier {
        let mut earlier = Earlier::at_ends(head, tail, total);
        if head.len() == total && total <= SEARCHED {
            let content = earlier.content(total);
            let text = head.slice(0..content.end);
            earlier.add_between(text, content.start);
            if earlier.told != Told::default() {
                earlier.add_marks(text, content.start);
            }
            in_order(&mut earlier.spans);
        }
        if earlier.told != Told::default() {
            let rest = if head.len() == total { Size::default() } else { tail.size() };
            earlier.left = earlier.spans.iter().fold(head.size() + rest, |left, span| left - span.size);
        }
        earlier
    }

    /// Looks at the start of `head` and the end of `tail` alone.
    pub fn at_ends<T: Text>(head: T, tail: T, total: usize) -> Earlier {
        let mut earlier = Earlier::default();
        let at_end = last_notice(tail, tail.len() == total);
        let content = at_end.as_ref().map_or(total, |found| total - tail.len() + found.start);
        if let Some(found) =
            notice_at(head, 0).filter(|found| found.end < content && is_newline(head, found.end))
        {
            earlier.leading = found.end + 1;
            earlier.add(head, Found { end: found.end + 1, ..found }, 0);
        }
        if let Some(found) = at_end {
            earlier.trailing = tail.len() - found.start;
            earlier.add(tail, found, total - tail.len());
        }
        earlier
    }

    /// Takes note of a notice in a window that starts at `offset`.
    fn add<T: Text>(&mut self, window: T, found: Found, offset: usize) {
        let size = window.slice(found.start..found.end).size();
        self.spans.push(Span { start: offset + found.start, end: offset + found.end, size, hidden: 0 });
        self.told.add(found.hidden, found.in_bytes);
    }

    /// Marks between findings stand for text of the original too.
    fn add_marks<T: Text>(&mut self, text: T, mut start: usize) {
        let notices = self.spans.clone();
        let is_known = |at: usize| notices.iter().any(|span| span.start <= at && at < span.end);
        while start < text.len() {
            let newline = text.find_newline(start);
            let end = newline.map_or(text.len(), |newline| newline + 1);
            let line = text.slice(start..newline.unwrap_or(end));
            if line.len() <= LONGEST_MARK && is_mark(&ascii(line)) && !is_known(start) {
                let size = text.slice(start..end).size();
                self.spans.push(Span { start, end, size, hidden: 0 });
            }
            start = end;
        }
    }

    fn add_between<T: Text>(&mut self, text: T, start: usize) {
        let mut from = start;
        while let Some(newline) = text.find_blank_line(from) {
            from = newline + 1;
            let found = notice_at(text, newline + 2)
                .filter(|found| is_newline(text, found.end) && is_newline(text, found.end + 1));
            if let Some(found) = found {
                from = found.end + 2;
                self.add(text, Found { start: newline, end: from, ..found }, 0);
            }
        }
    }
}

/// The end of a text in which another tool says how to go on, with the newlines before it. It is kept whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    pub start: usize,
    /// Lines of the original, and how many of them the text before does not hold, where the tool tells.
    pub told: Continuation,
}

/// Chars of a closing, and the newlines before it.
const LONGEST_CLOSING: usize = 200;
const BREAKS: usize = 2;

/// No window on the end of a text may be shorter, in bytes.
pub const CLOSING_BYTES: usize = 3 * LONGEST_CLOSING + 2 * BREAKS;

impl Closing {
    /// Looks at the end of `tail`, which ends a text of `total` units.
    pub fn find<T: Text>(tail: T, total: usize) -> Option<Closing> {
        let from = tail.len().saturating_sub(CLOSING_BYTES);
        let text = ascii(tail.slice(from..tail.len()));
        // The start of a window begins no line.
        let line_start = |end: usize| match memchr::memrchr(b'\n', &text[..end]) {
            Some(newline) => Some(newline + 1),
            None => (from == 0 && tail.len() == total).then_some(0),
        };
        let end_before = |end: usize| text[..end].trim_ascii_end().len();
        let mut end = end_before(text.len());
        let mut start = line_start(end);
        if let Some(line) = start.filter(|&start| is_exit(&text[start..end])) {
            end = end_before(line);
            start = line_start(end);
        }
        let told = start.and_then(|start| continuation(&text[start..end]).map(|told| (start, told)));
        let (start, told) = match told {
            Some(found) => found,
            None => {
                let cursor = cursor(&text)?;
                let line = line_start(cursor).filter(|&line| text[line..cursor].trim_ascii().is_empty());
                (line.unwrap_or(cursor), Continuation::Of(None))
            }
        };
        let offset = tail.len() - text.len();
        if tail.slice(offset + start..tail.len()).size().chars > LONGEST_CLOSING {
            return None;
        }
        let breaks = text[..start].iter().rev().take(BREAKS).take_while(|&&byte| byte == b'\n').count();
        let start = total - text.len() + start - breaks;
        (start > 0).then_some(Closing { start, told })
    }

    /// Lines of the original, of which the text shows so many before the closing.
    pub fn lines(self, shown: usize) -> usize {
        match self.told {
            Continuation::Of(all) => all.unwrap_or(0).max(shown),
            Continuation::More(left) => shown.saturating_add(left),
        }
    }
}

struct Found {
    start: usize,
    end: usize,
    hidden: usize,
    in_bytes: bool,
}

fn is_newline<T: Text>(text: T, at: usize) -> bool {
    at < text.len() && text.unit(at) == NEWLINE
}

/// A notice that is the whole line which starts at `at`.
fn notice_at<T: Text>(text: T, at: usize) -> Option<Found> {
    if at >= text.len() || !matches!(u8::try_from(text.unit(at)), Ok(b'[' | b'.')) {
        return None;
    }
    let window = text.slice(at..text.len().min(at + LONGEST));
    let line = ascii(window.slice(0..window.find_newline(0).unwrap_or(window.len())));
    let (hidden, in_bytes) = parse(&line)?;
    Some(Found { start: at, end: at + line.len(), hidden, in_bytes })
}

/// A notice that ends the text, with what separates it from the head before it. `is_whole`: nothing comes before `text`,
/// so that its start is that of a line.
fn last_notice<T: Text>(text: T, is_whole: bool) -> Option<Found> {
    if text.is_empty() || !matches!(u8::try_from(text.unit(text.len() - 1)), Ok(b']' | b')')) {
        return None;
    }
    let window = text.slice(text.len().saturating_sub(LONGEST)..text.len());
    let start =
        text.len() - window.len() + window.rfind_newline(window.len()).map_or(0, |newline| newline + 1);
    if let Some(found) = notice_at(text, start) {
        let newlines = match text.unit(start) {
            b if b == u16::from(b'.') => 1,
            _ if text.unit(start + 1) == u16::from(b't') => 2,
            _ => 0,
        };
        let separated = start >= newlines && (start - newlines..start).all(|at| is_newline(text, at));
        if start == 0 && is_whole || separated {
            return Some(Found { start: start.saturating_sub(newlines), ..found });
        }
    }
    // A glued notice: the last bracket of the last line opens it.
    let line = ascii(text.slice(start..text.len()));
    let bracket = memchr::memmem::rfind(&line, b"[... ")?;
    let (hidden, in_bytes) = parse(&line[bracket..])?;
    Some(Found { start: start + bracket, end: text.len(), hidden, in_bytes })
}

/// The units of a text as bytes; what is not ASCII becomes a byte that no notice of ours has in a place that counts.
fn ascii<T: Text>(text: T) -> Vec<u8> {
    (0..text.len()).map(|at| u8::try_from(text.unit(at)).unwrap_or(0xFF)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Utf8;

    fn find(text: &str) -> (Vec<(usize, usize)>, usize) {
        let text = Utf8(text.as_bytes());
        let earlier = Earlier::find(text, text, text.len());
        (earlier.spans.iter().map(|span| (span.start, span.end)).collect(), earlier.told.chars)
    }

    const HINT: &str = "[tool output truncated: 70 of 90 chars omitted (limit 9B); request smaller chunks]";

    #[test]
    fn a_window_begins_no_line() {
        let text = "x".repeat(20) + "... (12 chars truncated from " + &"y".repeat(LONGEST) + ")";
        let notice = &text[20..];
        let window = Utf8(notice.as_bytes()).slice(notice.len() - LONGEST..notice.len());
        assert_eq!(Earlier::at_ends(window, window, text.len()), Earlier::default());
        let short = Utf8(b"... (12 chars truncated from x)");
        assert_eq!(Earlier::at_ends(short, short, short.len()).told.chars, 12);
        assert_eq!(Earlier::at_ends(Utf8(b"head"), short, 1_000), Earlier::default());
    }

    #[test]
    fn notices_are_found_where_they_would_stand() {
        let hint = HINT.len();
        let cases = [
            (format!("head\n\n{HINT}"), vec![(4, 6 + hint)], 70),
            (format!("{HINT}\ntail"), vec![(0, hint + 1)], 70),
            (format!("head\n\n{HINT}\n\ntail"), vec![(4, 8 + hint)], 70),
            (HINT.into(), vec![(0, hint)], 70),
            ("head[... 12 more characters truncated]".into(), vec![(4, 38)], 12),
            ("a\nhead[... 9 chars omitted]".into(), vec![(6, 27)], 9),
            ("head[... 12 chars truncated; narrow args]".into(), vec![(4, 41)], 12),
            ("head\n... (1,234 chars truncated from x)".into(), vec![(4, 39)], 1_234),
            ("h\n\n... (1,234 chars truncated from x) ...\n\nt".into(), vec![(1, 43)], 1_234),
        ];
        for (text, spans, hidden) in cases {
            assert_eq!(find(&text), (spans, hidden), "{text:?}");
        }
    }

    #[test]
    fn a_text_closes_with_what_another_tool_says_of_how_to_go_on() {
        let closing = |text: &str| {
            let text = Utf8(text.as_bytes());
            Closing::find(text, text.len()).map(|closing| closing.start)
        };
        for (text, start) in [
            ("abc\n\n[Showing lines 1-3 of 9. Use offset=4 to continue.]", 3),
            ("abc\n[6 more lines in file. Use offset=4 to continue.]\n", 3),
            ("abc\n\n[Showing lines 1-3 of 9. Full output: /tmp/é.log]\n\nCommand exited with code 1", 3),
            ("{\"a\": [1],\n  \"nextCursor\": \"x\"\n}", 10),
            ("{\"a\":[1],\"nextCursor\":\"x\"}", 9),
        ] {
            assert_eq!(closing(text), Some(start), "{text:?}");
        }
        let far = format!("abc\n\nFull output: /{}", "x".repeat(200));
        for text in [
            "[Showing lines 1-3 of 9. Use offset=4 to continue.]",
            "abc\n[Showing lines 1-3 of 9. Use offset=4 to continue.]\nabc",
            "{\"nextCursor\": null}",
            far.as_str(),
        ] {
            assert_eq!(closing(text), None, "{text:?}");
        }
    }

    #[test]
    fn elsewhere_they_are_text() {
        for text in [
            format!("head\n{HINT}"),
            format!("head {HINT} tail"),
            format!("head\n\n{HINT}\ntail"),
            "[... 12 more characters truncated] tail".into(),
            "x\n\n[... 12 more characters truncated]".replace("12", "9999999999999999"),
            "x[... many more characters truncated]".into(),
        ] {
            assert_eq!(find(&text), (vec![], 0), "{text:?}");
        }
    }
}
