//! The end of a text in which another tool says how to continue, or a line says how a command
//! ended.

use super::long_lines::has_long_line;
use super::{Cut, Input, Terms};
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::notice::locate::ascii;
use crate::notice::parse::{Continuation, breaks_before_exit, continuation, cursor, is_exit, takes_name};

/// The end of a text in which another tool says how to continue, or a line says how a command
/// ended, including the newlines before it. It is kept whole or dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    pub start: usize,
    pub text: String,
    /// Lines of the original or lines not shown, if the tool names them.
    pub told: Continuation,
    /// It only says how a command ended.
    pub is_exit: bool,
}

/// Limits of a closing: chars, and newlines before it.
const LONGEST_CLOSING: usize = 200;
const BREAKS: usize = 2;

/// Chars at the end of a text in which a closing and the line before it are looked for.
const LOOKED_AT: usize = 3 * LONGEST_CLOSING;

/// Minimum bytes of a window at the end of a text.
pub const CLOSING_BYTES: usize = 3 * LOOKED_AT;

impl Closing {
    /// Finds the closing at the end of `tail`, which ends a text of `total` units.
    pub fn find<T: Text>(tail: T, total: usize) -> Option<Closing> {
        let from = start_of_last(tail, LOOKED_AT);
        let text = ascii(tail.slice(from..tail.len()));
        // The start of a window is not a line start.
        let line_start = |end: usize| match memchr::memrchr(b'\n', &text[..end]) {
            Some(newline) => Some(newline + 1),
            None => (from == 0 && tail.len() == total).then_some(0),
        };
        let end_before = |end: usize| text[..end].trim_ascii_end().len();
        let last_line = |end: usize| line_start(end).map(|start| start..end);
        let last = last_line(end_before(text.len()));
        let exit = last.clone().filter(|line| is_exit(&text[line.clone()]));
        let line = exit.as_ref().map_or(last, |exit| last_line(end_before(exit.start)));
        // The line that names the saved output may belong to a notice of an earlier cut.
        let is_notice = |start: usize| {
            let before = text[..start].strip_suffix(b"\n").unwrap_or_default();
            takes_name(&before[memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)..])
        };
        let told = line.and_then(|line| continuation(&text[line.clone()]).map(|told| (line.start, told)));
        let exit_line = exit.clone().unwrap_or_default();
        let own = told.filter(|(start, _)| !is_notice(*start));
        let (start, told, is_exit) = match (own, exit) {
            (Some((start, told)), _) => (start, told, false),
            (None, Some(exit)) => (exit.start, Continuation::Of(None), true),
            (None, None) if told.is_some() => return None,
            (None, None) => {
                let cursor = cursor(&text)?;
                let line = line_start(cursor).filter(|&line| text[line..cursor].trim_ascii().is_empty());
                (line.unwrap_or(cursor), Continuation::Of(None), false)
            }
        };
        let offset = tail.len() - text.len();
        if tail.slice(offset + start..tail.len()).chars() > LONGEST_CLOSING {
            return None;
        }
        let most = if is_exit { breaks_before_exit(&text[exit_line]) } else { BREAKS };
        let breaks = text[..start].iter().rev().take(most).take_while(|&&byte| byte == b'\n').count();
        let mut end = vec![];
        tail.slice(offset + start - breaks..tail.len()).each_utf8(&mut |text| end.extend_from_slice(text));
        let start = total - text.len() + start - breaks;
        (start > 0).then_some(Closing { start, text: String::from_utf8(end).ok()?, told, is_exit })
    }

    /// Returns the size of the closing if it is not part of the original of an earlier cut.
    pub fn beside_original(&self) -> Size {
        if self.is_exit { Utf8(self.text.as_bytes()).size() } else { Size::default() }
    }

    /// Returns the lines of the original. `shown` is the number of lines before the closing.
    pub fn lines(&self, shown: usize) -> usize {
        match self.told {
            Continuation::Of(all) => all.unwrap_or(0).max(shown),
            Continuation::More(left) => shown.saturating_add(left),
        }
    }
}

/// Returns the start of the last `chars` chars of a text, the same of bytes and of a string.
fn start_of_last<T: Text>(text: T, chars: usize) -> usize {
    let (mut at, mut left) = (text.len(), chars);
    while at > 0 && left > 0 {
        let (point, len) = text.decode_before(at);
        (at, left) = (at - len, left.saturating_sub(point.len_utf16()));
    }
    at
}

/// Keeps the closing after a cut of the text before it, which receives the terms of that text.
/// Returns `None` if no cut leaves room for the closing and a notice.
pub fn keep_closing<T: Text>(
    input: &Input<T>,
    terms: Terms,
    closing: &Closing,
    cut: impl Fn(Terms) -> Option<Cut>,
) -> Option<Cut> {
    let limits = &terms.limits;
    let end = Utf8(closing.text.as_bytes());
    let taken = Extent::of(end, limits);
    if !taken.fits(limits) {
        return None;
    }
    // A closing that begins inside a line gets a line of its own after a notice.
    let breaks = usize::from(!closing.text.starts_with('\n'));
    for room in rooms(limits, taken, breaks) {
        let Some(mut cut) = cut(Terms { limits: room, ..terms }) else { continue };
        if cut.notice.is_empty() && !terms.notice.is_empty() {
            return None;
        }
        let glued = breaks == 1 && !cut.sides.has_tail() && !cut.middle.is_empty();
        if glued && !cut.middle.ends_with('\n') {
            cut.middle.push('\n');
        }
        cut = cut.with_end(input, closing.start);
        let (head, tail) = input.parts(cut.sides);
        let all = Extent::of(head, limits)
            .then(Extent::of(Utf8(cut.middle.as_bytes()), limits))
            .then(Extent::of(tail, limits));
        let is_long = || has_long_line(Utf8(cut.string(input).as_bytes()), limits.line_bytes);
        if all.fits(limits) && !(limits.line_bytes != UNLIMITED && is_long()) {
            return Some(cut);
        }
    }
    None
}

/// Yields the candidate rooms beside a closing of this extent with up to `breaks` line breaks
/// before it, largest first. More than one is needed because the sum of lines and tokens depends on
/// where the parts meet.
fn rooms(limits: &Limits, end: Extent, breaks: usize) -> impl Iterator<Item = Limits> {
    let Usage { bytes, lines, chars, tokens } = end.usage();
    let most = if limits.counts_tokens() { 5 } else { 0 };
    let spares = (0..=1).flat_map(move |line| (0..=most).map(move |spare| (line, spare)));
    (0..=breaks).flat_map(move |breaks| spares.clone().map(move |spare| (breaks, spare))).map(
        move |(breaks, (line, spare))| {
            limits.less(Usage {
                bytes: bytes + breaks,
                lines: (lines + breaks + line).saturating_sub(1),
                chars: chars + breaks,
                tokens: (tokens + breaks + spare).saturating_sub(2),
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf16;

    #[test]
    fn a_closing_is_that_of_the_string_and_of_its_bytes() {
        // Of wide chars, bytes reach less far back than units.
        for line in ["漢".repeat(300), " ".repeat(450) + "é", "漢".repeat(150)] {
            for end in
                ["\"nextCursor\": \"x\"", "Use offset=9 to continue", "\"nextCursor\": \"x\"\nFull output: y"]
            {
                let text = format!("a\n{line}{end}");
                let units: Vec<u16> = text.encode_utf16().collect();
                let chars = |closing: Option<Closing>| closing.map(|closing| (closing.text, closing.told));
                let bytes = chars(Closing::find(Utf8(text.as_bytes()), text.len()));
                assert_eq!(bytes, chars(Closing::find(Utf16(&units), units.len())), "{text}");
            }
        }
    }

    #[test]
    fn closings_of_other_tools_are_found() {
        let closing = |text: &str| {
            let text = Utf8(text.as_bytes());
            Closing::find(text, text.len()).map(|closing| closing.start)
        };
        for (text, start) in [
            ("abc\n\n[Showing lines 1-3 of 9. Use offset=4 to continue.]", 3),
            ("abc\n[6 more lines in file. Use offset=4 to continue.]\n", 3),
            ("abc\n\n[Showing lines 1-3 of 9. Full output: /tmp/é.log]\n\nCommand exited with code 1", 3),
            ("abc\n[exit code 0]", 3),
            ("abc[... 12 more characters truncated]\n[Full output: a]\n[exit code 0]", 54),
            ("abc\n\nCommand aborted", 3),
            ("{\"a\": [1],\n  \"nextCursor\": \"x\"\n}", 10),
            ("{\"a\":[1],\"nextCursor\":\"x\"}", 9),
        ] {
            assert_eq!(closing(text), Some(start), "{text:?}");
        }
        let far = format!("abc\n\nFull output: /{}", "x".repeat(200));
        for text in [
            "[Showing lines 1-3 of 9. Use offset=4 to continue.]",
            "abc\n[Showing lines 1-3 of 9. Use offset=4 to continue.]\nabc",
            "[exit code 0]",
            "abc [exit code 0]",
            "abc[... 12 more characters truncated]\n[Full output: a]",
            "{\"nextCursor\": null}",
            far.as_str(),
        ] {
            assert_eq!(closing(text), None, "{text:?}");
        }
    }
}
