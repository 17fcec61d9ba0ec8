//! A notice at a place of a text: at the start of a line, or at the end of the text, before an exit
//! line.

use super::MIDDLE;
use super::earlier::LONGEST;
use super::parse::{LONGEST_EXIT, breaks_before_exit, parse, saved, takes_name};
use super::saved::{LONGEST_LINE, SavedPart};
use crate::encoding::{NEWLINE, Text};

pub(super) struct FoundNotice {
    /// The start of the separator before the notice, and of the notice.
    pub(super) start: usize,
    pub(super) notice: usize,
    pub(super) end: usize,
    pub(super) hidden: usize,
    pub(super) in_bytes: bool,
    pub(super) saved: SavedPart,
}

/// Returns the start of [`MIDDLE`], if a text has it up to the blank line at `newline`.
pub(super) fn start_of_middle<T: Text>(text: T, newline: usize) -> Option<usize> {
    let end = newline + 2;
    let start = end.checked_sub(if T::UTF16 { MIDDLE.encode_utf16().count() } else { MIDDLE.len() })?;
    (utf8(text.slice(start..end)) == MIDDLE.as_bytes()).then_some(start)
}

pub(super) fn is_newline<T: Text>(text: T, at: usize) -> bool {
    at < text.len() && text.unit(at) == NEWLINE
}

/// Returns the notice that takes up the whole line starting at `at`.
pub(super) fn notice_at<T: Text>(text: T, at: usize) -> Option<FoundNotice> {
    if at >= text.len() || !matches!(u8::try_from(text.unit(at)), Ok(b'[' | b'.')) {
        return None;
    }
    let window = text.slice(at..text.len().min(at + LONGEST));
    let line = ascii(window.slice(0..window.find_newline(0).unwrap_or(window.len())));
    let (hidden, in_bytes) = parse(&line)?;
    let end = at + line.len();
    if takes_name(&line) && is_newline(text, end) {
        let rest = text.slice(end + 1..text.len().min(end + 1 + LONGEST_LINE + 1));
        let name = rest.slice(0..rest.find_newline(0).unwrap_or(rest.len()));
        let saved = SavedPart::parse_line(&utf8(name));
        if saved != SavedPart::Nowhere {
            return Some(FoundNotice {
                start: at,
                notice: at,
                end: end + 1 + name.len(),
                hidden,
                in_bytes,
                saved,
            });
        }
    }
    Some(FoundNotice {
        start: at,
        notice: at,
        end,
        hidden,
        in_bytes,
        saved: saved(&utf8(window.slice(0..line.len()))),
    })
}

pub(super) fn utf8<T: Text>(text: T) -> Vec<u8> {
    let mut bytes = vec![];
    text.each_utf8(&mut |piece| bytes.extend_from_slice(piece));
    bytes
}

/// The units of an exit line with the breaks that are surely its own, and of a break before it that
/// may be the output's. None without one.
#[derive(Default)]
pub(super) struct ExitUnits {
    pub(super) line: usize,
    breaks: usize,
}

impl ExitUnits {
    pub(super) fn with_breaks(&self) -> usize {
        self.line + self.breaks
    }
}

/// Returns the units of the exit line that ends the text. `is_whole`: `text` is the whole text, so
/// its start is a line start.
pub(super) fn exit_at_end<T: Text>(text: T, is_whole: bool) -> ExitUnits {
    let window = text.slice(text.len().saturating_sub(LONGEST_EXIT + 4)..text.len());
    let line = ascii(window);
    let end = line.trim_ascii_end().len();
    let start = match memchr::memrchr(b'\n', &line[..end]) {
        Some(newline) => newline + 1,
        None if is_whole && window.len() == text.len() => 0,
        None => return ExitUnits::default(),
    };
    let most = breaks_before_exit(&line[start..end]);
    let breaks = line[..start].iter().rev().take(most).take_while(|&&byte| byte == b'\n').count();
    let line = line.len() - start;
    match most {
        0 => ExitUnits::default(),
        // We write a break only where the output has none.
        1 => ExitUnits { line, breaks },
        _ => ExitUnits { line: line + breaks, breaks: 0 },
    }
}

/// Returns the notice that ends the text, including the separator before it. `is_whole`: `text` is
/// the whole text, so its start is a line start.
pub(super) fn last_notice<T: Text>(text: T, is_whole: bool) -> Option<FoundNotice> {
    let window = text.slice(text.len().saturating_sub(LONGEST_LINE + 1)..text.len());
    let named = window.rfind_newline(window.len()).and_then(|newline| {
        let saved = SavedPart::parse_line(&utf8(window.slice(newline + 1..window.len())));
        let before = text.slice(0..text.len() - window.len() + newline);
        let notice = if saved == SavedPart::Nowhere { None } else { last_line_notice(before, is_whole) };
        notice
            .filter(|found| takes_name(&ascii(before.slice(found.notice..found.end))))
            .map(|found| (found, saved))
    });
    match named {
        Some((found, saved)) => Some(FoundNotice { end: text.len(), saved, ..found }),
        None => last_line_notice(text, is_whole),
    }
}

/// Returns the notice in the last line of a text, including the separator before it.
fn last_line_notice<T: Text>(text: T, is_whole: bool) -> Option<FoundNotice> {
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
            return Some(FoundNotice { start: start.saturating_sub(newlines), ..found });
        }
    }
    // A glued notice starts at the last opening bracket of the last line.
    let line = ascii(text.slice(start..text.len()));
    let bracket = memchr::memmem::rfind(&line, b"[... ")?;
    let (hidden, in_bytes) = parse(&line[bracket..])?;
    let start = start + bracket;
    Some(FoundNotice { start, notice: start, end: text.len(), hidden, in_bytes, saved: SavedPart::Nowhere })
}

/// Converts units to bytes. Non-ASCII units become 0xFF, which does not occur in the fixed parts of
/// a notice.
pub fn ascii<T: Text>(text: T) -> Vec<u8> {
    (0..text.len()).map(|at| u8::try_from(text.unit(at)).unwrap_or(0xFF)).collect()
}
