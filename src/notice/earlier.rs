//! Notices of earlier cuts. They let the notice of a second cut count against the original text.
//!
//! Notices are recognised only in positions where we would place one:
//!
//! ```text
//! text   = [notice NEWLINE] kept [gap notice gap kept] [gap notice] [exit]
//! notice = a line that `parse` reads [NEWLINE "[Full output: NAME]"]
//! exit   = NEWLINES a line that `is_exit` reads
//! ```
//!
//! as the last string of a list or an object in JSON, which stays where it is,
//! and in these positions of each stream in a text of two ([`streams`]).
//!
//! An exit line is that of a captured process, which our own captures write after the notice. Like
//! a notice, it is not part of the original: where a text tells of an earlier cut, no amount
//! includes its exit line.
//!
//! Any program can print such text, so a match has little effect: it raises the amount that the
//! next notice names, and it is dropped at an end of the text.

use std::ops::Range;

use crate::encoding::{Size, Text, Utf8};
use crate::notice::locate::{
    FoundNotice, ascii, exit_at_end, is_newline, last_notice, notice_at, start_of_middle, utf8,
};
use crate::notice::parse::{LONGEST_MARK, is_mark};
use crate::notice::saved::SavedPart;
use crate::notice::span::{Span, in_order};
use crate::notice::streams::streams;

/// Units of the longest text searched between its ends, which takes a pass over it.
/// lib/text/pieces.ts (`READ_WHOLE`) does not pass longer texts whole.
pub const SEARCHED: usize = 256 * 1024;

/// Units of the longest notice, including any path it names. `GLANCE` in lib/text/pieces.ts must
/// hold it.
pub const LONGEST: usize = 8 * 1024;

/// The amounts that notices name as omitted. Each notice counts everything omitted when it was
/// made, so the largest amount per unit applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoticeAmounts {
    pub chars: usize,
    pub bytes: usize,
    /// The saved outputs that they name, each once.
    saved: Vec<SavedPart>,
}

impl NoticeAmounts {
    pub fn add(&mut self, hidden: usize, in_bytes: bool, saved: SavedPart) {
        let unit = if in_bytes { &mut self.bytes } else { &mut self.chars };
        *unit = hidden.max(*unit);
        let is_known =
            |known: &SavedPart| known.name() == saved.name() && known.has_line() == saved.has_line();
        if saved != SavedPart::Nowhere && !self.saved.iter().any(is_known) {
            self.saved.push(saved);
        }
    }

    /// Adds the saved outputs of another text.
    pub fn add_saved(&mut self, told: NoticeAmounts) {
        told.saved.into_iter().for_each(|saved| self.add(0, false, saved));
    }

    /// Returns the saved output of the text. Notices of several outputs were printed by a tool.
    pub fn saved(&self) -> &SavedPart {
        match &self.saved[..] {
            [saved] => saved,
            _ => &SavedPart::Nowhere,
        }
    }

    /// Returns the amount in both units. An amount that was not counted is estimated from the size
    /// of the remaining text.
    pub fn hidden(&self, left: Size) -> Size {
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

    /// Returns true if the amount was counted in bytes. `left` is the size of the remaining text.
    pub fn in_bytes(&self, left: Size) -> bool {
        self.bytes > 0 && self.hidden(left).bytes == self.bytes
    }
}

/// The earlier notices of one text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlierNotices {
    pub spans: Vec<Span>,
    pub told: NoticeAmounts,
    /// Size of the available text without notices. Counted only if a notice names an amount.
    left: Size,
    /// Units of the notices at the start and at the end, which are not kept. The one at the end
    /// includes the exit line behind it.
    pub leading: usize,
    pub trailing: usize,
    /// Units of the exit line behind the notice at the end.
    pub behind: usize,
    /// The only notice of the text, if it is between two ends. The next one takes its place: no
    /// kept side goes on beyond it. Several notices were printed by a tool, and are text.
    pub gap: Option<Range<usize>>,
}

impl EarlierNotices {
    /// Returns the range between the notices at both ends of a text of `total` units.
    pub fn content(&self, total: usize) -> Range<usize> {
        self.leading..total - self.trailing
    }

    /// Returns the amount omitted by earlier cuts.
    pub fn hidden(&self) -> Size {
        self.told.hidden(self.left)
    }

    pub fn in_bytes(&self) -> bool {
        self.told.in_bytes(self.left)
    }

    /// Finds notices at the start of `head` and the end of `tail` in a text of `total` units. If
    /// `head` is the whole text and at most [`SEARCHED`] units long, also finds those between.
    pub fn find<T: Text>(head: T, tail: T, total: usize) -> EarlierNotices {
        let is_short = head.len() == total && total <= SEARCHED;
        let streams = if is_short { streams(head) } else { vec![] };
        if !streams.is_empty() {
            return EarlierNotices::of_streams(head, &streams);
        }
        let mut earlier = EarlierNotices::at_ends(head, tail, total);
        if head.len() == total && total <= SEARCHED {
            let content = earlier.content(total);
            let text = head.slice(0..content.end);
            let at_ends = earlier.spans.len();
            earlier.add_between(text, content.start);
            if let (0, [span]) = (at_ends, &earlier.spans[..]) {
                earlier.gap = Some(span.start..span.end);
            }
            if earlier.told != NoticeAmounts::default() {
                earlier.add_marks(text, content.start);
            }
        }
        if earlier.told != NoticeAmounts::default() && earlier.trailing == 0 {
            let exit = exit_at_end(tail, tail.len() == total).line;
            let size = tail.slice(tail.len() - exit..tail.len()).size();
            if exit > 0 {
                earlier.spans.push(Span { start: total - exit, end: total, size, hidden: 0 });
            }
        }
        in_order(&mut earlier.spans);
        if earlier.told != NoticeAmounts::default() {
            let rest = if head.len() == total { Size::default() } else { tail.size() };
            earlier.left = earlier.spans.iter().fold(head.size() + rest, |left, span| left - span.size);
        }
        earlier
    }

    /// Finds the notices of streams, and counts their labels as no part of the original. A notice
    /// of the whole text takes the place of all of them.
    fn of_streams<T: Text>(text: T, streams: &[Range<usize>]) -> EarlierNotices {
        let mut all = EarlierNotices::default();
        let mut at = 0;
        for stream in streams {
            let label = at..stream.start;
            let size = text.slice(label.clone()).size();
            all.spans.push(Span { start: label.start, end: label.end, size, hidden: 0 });
            let part = text.slice(stream.clone());
            let one = EarlierNotices::find(part, part, part.len());
            all.spans.extend(one.spans.iter().map(|span| Span {
                start: stream.start + span.start,
                end: stream.start + span.end,
                ..*span
            }));
            let hidden = one.hidden();
            let (chars, bytes) = if one.in_bytes() { (0, hidden.bytes) } else { (hidden.chars, 0) };
            (all.told.chars, all.told.bytes) = (all.told.chars + chars, all.told.bytes + bytes);
            all.told.add_saved(one.told);
            (all.trailing, all.behind) = (one.trailing, one.behind);
            at = stream.end;
        }
        all.left = all.spans.iter().fold(text.size(), |left, span| left - span.size);
        let end = text.len() - all.trailing;
        let mut notices = all.spans.iter().filter(|span| span.start >= streams[0].start && span.end <= end);
        if let Some(first) = notices.next() {
            let last = notices.next_back().unwrap_or(first);
            all.gap = Some(first.start..last.end);
        }
        in_order(&mut all.spans);
        all
    }

    /// Finds notices only at the start of `head` and the end of `tail`.
    pub fn at_ends<T: Text>(head: T, tail: T, total: usize) -> EarlierNotices {
        let mut earlier = EarlierNotices::default();
        let is_whole = tail.len() == total;
        // Without a notice before them, the breaks before an exit line may be the output's.
        let exit = exit_at_end(tail, is_whole).with_breaks();
        let at_end = last_notice(tail.slice(0..tail.len() - exit), is_whole);
        let content = at_end.as_ref().map_or(total, |found| total - tail.len() + found.start);
        if at_end.is_none() {
            let window = tail.slice(tail.len().saturating_sub(LONGEST)..tail.len());
            earlier.told = of_json(&utf8(window)).unwrap_or_default();
        }
        if let Some(found) =
            notice_at(head, 0).filter(|found| found.end < content && is_newline(head, found.end))
        {
            earlier.leading = found.end + 1;
            earlier.add(head, FoundNotice { end: found.end + 1, ..found }, 0);
        }
        if let Some(found) = at_end {
            earlier.trailing = tail.len() - found.start;
            earlier.behind = exit;
            earlier.add(tail, FoundNotice { end: tail.len(), ..found }, total - tail.len());
        }
        earlier
    }

    /// Adds a notice found in a window that starts at `offset`.
    fn add<T: Text>(&mut self, window: T, found: FoundNotice, offset: usize) {
        let size = window.slice(found.start..found.end).size();
        self.spans.push(Span { start: offset + found.start, end: offset + found.end, size, hidden: 0 });
        self.told.add(found.hidden, found.in_bytes, found.saved);
    }

    /// Adds marks between findings, which also stand for text of the original.
    fn add_marks<T: Text>(&mut self, text: T, mut start: usize) {
        let mut notices = self.spans.clone();
        in_order(&mut notices);
        let mut notices = notices.into_iter().peekable();
        while start < text.len() {
            let newline = text.find_newline(start);
            let end = newline.map_or(text.len(), |newline| newline + 1);
            while notices.next_if(|span| span.end <= start).is_some() {}
            let next = notices.peek().map(|span| span.start);
            let line = text.slice(start..newline.unwrap_or(end));
            let is_known = next.is_some_and(|next| next <= start);
            if !is_known && line.len() <= LONGEST_MARK && is_mark(&ascii(line)) {
                // The newline of a line before a notice is the notice's.
                let shared = next.is_some_and(|next| next < end);
                let end = end - usize::from(shared);
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
                let start = start_of_middle(text, newline).unwrap_or(newline);
                self.add(text, FoundNotice { start, end: from, ..found }, 0);
            }
        }
    }
}

/// Returns what the notice in JSON tells, which is the last string of a list or an object.
pub fn of_json(json: &[u8]) -> Option<NoticeAmounts> {
    let inner = json.trim_ascii_end();
    let inner = inner.strip_suffix(b"}").or_else(|| inner.strip_suffix(b"]"))?.trim_ascii_end();
    let inner =
        if inner.ends_with(b"]\"") { &inner[inner.len().saturating_sub(LONGEST)..] } else { return None };
    let last = |start: &[u8]| memchr::memmem::rfind(inner, start);
    let start = last(b"\"[tool output truncated: ").or_else(|| last(b"\"[... "))?;
    let notice: String = serde_json::from_slice(&inner[start..]).ok()?;
    let found = notice_at(Utf8(notice.as_bytes()), 0).filter(|found| found.end == notice.len())?;
    let mut told = NoticeAmounts::default();
    told.add(found.hidden, found.in_bytes, found.saved);
    Some(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf8;

    fn find(text: &str) -> (Vec<(usize, usize)>, usize) {
        let text = Utf8(text.as_bytes());
        let earlier = EarlierNotices::find(text, text, text.len());
        (earlier.spans.iter().map(|span| (span.start, span.end)).collect(), earlier.told.chars)
    }

    const HINT: &str = "[tool output truncated: 70 of 90 chars omitted (limit 9B); request smaller chunks]";

    #[test]
    fn a_window_start_is_not_a_line_start() {
        let text = "x".repeat(20) + "... (12 chars truncated from " + &"y".repeat(LONGEST) + ")";
        let notice = &text[20..];
        let window = Utf8(notice.as_bytes()).slice(notice.len() - LONGEST..notice.len());
        assert_eq!(EarlierNotices::at_ends(window, window, text.len()), EarlierNotices::default());
        let short = Utf8(b"... (12 chars truncated from x)");
        assert_eq!(EarlierNotices::at_ends(short, short, short.len()).told.chars, 12);
        assert_eq!(EarlierNotices::at_ends(Utf8(b"head"), short, 1_000), EarlierNotices::default());
    }

    #[test]
    fn notices_are_found_in_their_positions() {
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
            ("head[... 12 more characters truncated]\n[Full output: é]".into(), vec![(4, 56)], 12),
            ("[... 12 more characters truncated]\n[Full output: a]\ntail".into(), vec![(0, 52)], 12),
            ("h\n\n[... 12 more characters truncated]\n[Full output: a]\n\nt".into(), vec![(1, 56)], 12),
            (format!("head\n\n{HINT}\n[exit code 0]"), vec![(4, 20 + hint)], 70),
            (format!("head\n\n{HINT}\n\nCommand exited with code 1\n"), vec![(4, 35 + hint)], 70),
            (format!("{HINT}\ntail\n[timed out]"), vec![(0, hint + 1), (hint + 6, hint + 17)], 70),
            (
                "head[... 12 more characters truncated]\n[Full output: é]\n[exit code 1]".into(),
                vec![(4, 70)],
                12,
            ),
        ];
        for (text, spans, hidden) in cases {
            assert_eq!(find(&text), (spans, hidden), "{text:?}");
        }
    }

    #[test]
    fn a_mark_before_a_notice_leaves_it_the_newline() {
        let mark = "[... 2 lines ...]";
        let (spans, hidden) = find(&format!("{mark}\n\n{HINT}\n\n"));
        let start = mark.len();
        assert_eq!((spans, hidden), (vec![(0, start), (start, start + 4 + HINT.len())], 70));
    }

    #[test]
    fn notices_in_other_positions_are_text() {
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
