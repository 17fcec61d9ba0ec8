//! Notices of an earlier cut, so that a text which is cut again tells what is missing of the original.
//!
//! A notice is looked for only where one of ours would stand. Anybody can print one: what is found raises the number
//! that the next notice shows, and changes nothing else.

use super::lines::{Span, in_order};
use super::notice_line::{LONGEST_MARK, is_mark, parse};
use super::units::{NEWLINE, Text};

/// Between the ends of a text it takes a pass to find a notice; longer texts are not looked through, and
/// lib/text/pieces.ts (`READ_WHOLE`) does not hand them over whole.
pub const SEARCHED: usize = 256 * 1024;

/// No notice of ours is longer, not even one that names a path; `GLANCE` in lib/text/pieces.ts holds it.
pub const LONGEST: usize = 8 * 1024;

/// The earlier notices of one text, in order. Each stands for all that was missing when it was made, so the largest
/// number is the true one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    pub spans: Vec<Span>,
    pub hidden: usize,
    /// The amount was counted in bytes.
    pub in_bytes: bool,
}

impl Earlier {
    /// Looks at the start of `head` and the end of `tail`, which lie in a text of `total` units; between them too where
    /// `head` is the whole of a text that is not too long.
    pub fn find<T: Text>(head: T, tail: T, total: usize) -> Earlier {
        let mut earlier = Earlier::at_ends(head, tail, total);
        if head.len() == total && total <= SEARCHED {
            if earlier.hidden > 0 {
                earlier.add_marks(head);
            }
            let start = earlier.spans.first().filter(|span| span.start == 0).map_or(0, |span| span.end);
            let end = earlier.spans.last().filter(|span| span.start > 0).map_or(total, |span| span.start);
            earlier.add_between(head.slice(0..end), start);
            in_order(&mut earlier.spans);
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
            earlier.add(head, Found { end: found.end + 1, ..found }, 0);
        }
        if let Some(found) = at_end {
            earlier.add(tail, found, total - tail.len());
        }
        earlier
    }

    /// Takes note of a notice in a window that starts at `offset`.
    fn add<T: Text>(&mut self, window: T, found: Found, offset: usize) {
        let size = window.slice(found.start..found.end).size();
        self.spans.push(Span { start: offset + found.start, end: offset + found.end, size, hidden: 0 });
        if found.hidden > self.hidden {
            self.hidden = found.hidden;
            self.in_bytes = found.in_bytes;
        }
    }

    /// Marks between findings stand for text of the original too.
    fn add_marks<T: Text>(&mut self, text: T) {
        let notices = self.spans.clone();
        let is_known = |at: usize| notices.iter().any(|span| span.start <= at && at < span.end);
        let mut start = 0;
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
        (earlier.spans.iter().map(|span| (span.start, span.end)).collect(), earlier.hidden)
    }

    const HINT: &str = "[tool output truncated: 70 of 90 chars omitted (limit 9B); request smaller chunks]";

    #[test]
    fn a_window_begins_no_line() {
        let text = "x".repeat(20) + "... (12 chars truncated from " + &"y".repeat(LONGEST) + ")";
        let notice = &text[20..];
        let window = Utf8(notice.as_bytes()).slice(notice.len() - LONGEST..notice.len());
        assert_eq!(Earlier::at_ends(window, window, text.len()), Earlier::default());
        let short = Utf8(b"... (12 chars truncated from x)");
        assert_eq!(Earlier::at_ends(short, short, short.len()).hidden, 12);
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
