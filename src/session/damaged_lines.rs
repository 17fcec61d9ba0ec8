//! The rows that damaged lines still hold: rows glued together, after NUL bytes, or broken by a raw
//! newline. Nothing is closed and nothing invented: text that is not JSON by itself is a scrap.

use super::mend::{has_members, is_json};
use super::row_format::is_blank;
use crate::json::walk::{Leniency, joined, walk};

/// A part of damaged lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// A row or a blank line, with its newline.
    Row(Vec<u8>),
    /// A row that begins a line, or follows such rows on it, as it stands there. Some hosts read
    /// these.
    Glued(Vec<u8>),
    /// A row on a line of its own with U+FFFD in place of bytes that are not UTF-8.
    Recoded(Vec<u8>),
    /// Bytes that are not JSON.
    Scrap(Vec<u8>),
}

impl Fragment {
    pub fn row(&self) -> Option<&[u8]> {
        match self {
            Fragment::Row(row) | Fragment::Glued(row) | Fragment::Recoded(row) => Some(row),
            Fragment::Scrap(_) => None,
        }
    }
}

/// Returns the parts of damaged lines, in order.
pub fn fragments(text: &[u8]) -> Vec<Fragment> {
    DamagedLines { text, line_end: 0, nul: None, effort: text.len().saturating_mul(EFFORT) }.fragments()
}

/// Bytes that attempts to read a row may pass in vain, for each byte of the lines: each attempt may
/// go on to the end of the text, and as many may begin as there are brackets. Damaged rows take
/// less than one, since quotes within a row break the attempt that took them for the end of a
/// string.
const EFFORT: usize = 4;

/// Damaged lines, and what is known about them at the place that was reached.
#[derive(Debug)]
struct DamagedLines<'t> {
    text: &'t [u8],
    /// The end of the line at hand, with its newline.
    line_end: usize,
    /// The next NUL byte, `None` before it was looked for.
    nul: Option<usize>,
    /// Bytes that further attempts may pass in vain.
    effort: usize,
}

impl DamagedLines<'_> {
    fn fragments(&mut self) -> Vec<Fragment> {
        let text = self.text;
        let (mut found, mut at, mut is_start) = (vec![], 0, true);
        // Only rows precede on the line.
        let mut is_glued = true;
        while at < text.len() {
            if at >= self.line_end {
                self.line_end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
            }
            let line_end = self.line_end;
            is_glued |= is_start;
            if text[at] == 0 {
                is_glued = false;
                at += text[at..].iter().take_while(|byte| **byte == 0).count();
                // A line of nothing else leaves none.
                if is_start && at + 1 == line_end && text[at] == b'\n' {
                    at = line_end;
                }
                continue;
            }
            let line = &text[at..line_end];
            if is_start && (is_blank(line) || !has_members(line) && is_json(line)) {
                found.push(Fragment::Row(line.to_vec()));
                at = line_end;
            } else if is_blank(line) {
                at = line_end;
            } else if let Some((row, end)) = self.row_at(at) {
                is_glued &= end <= line_end;
                found.push(if is_glued { Fragment::Glued(row) } else { Fragment::Row(row) });
                at = end;
            } else {
                is_glued = false;
                let end = self.next_row(at);
                let scrap = &text[at..end];
                found.push(Fragment::Scrap(scrap.strip_suffix(b"\n").unwrap_or(scrap).to_vec()));
                at = end;
            }
            is_start = at == 0 || text[at - 1] == b'\n';
        }
        found
    }

    /// Returns where the next row on the line begins after a fragment at `at`, or the end of the
    /// fragment.
    fn next_row(&mut self, at: usize) -> usize {
        let text = self.text;
        let stop = self.nul_after(at).min(self.line_end);
        // The start of a row shows which text is within its strings; the rest of a row does not.
        let has_start = text[at] == b'{';
        let (mut in_string, mut is_escaped, mut last) = (false, false, 0);
        for (place, byte) in (at..).zip(&text[at..stop]) {
            let is_inside = (!in_string || !has_start) && matches!(last, b',' | b':' | b'[' | 0);
            if *byte == b'{' && place > at && !is_inside && self.row_at(place).is_some() {
                return place;
            }
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => in_string = !in_string,
                _ => {}
            }
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                last = *byte;
            }
        }
        stop
    }

    fn nul_after(&mut self, at: usize) -> usize {
        match self.nul {
            Some(nul) if nul >= at => nul,
            _ => {
                let nul = memchr::memchr(0, &self.text[at..]).map_or(self.text.len(), |nul| at + nul);
                self.nul = Some(nul);
                nul
            }
        }
    }

    /// Returns the row that begins at `at`, with raw line ends escaped or omitted, and its end in
    /// the text. Another row, a newline or NUL bytes follow it.
    fn row_at(&mut self, at: usize) -> Option<(Vec<u8>, usize)> {
        let text = self.text;
        if self.effort == 0 || !has_members(&text[at..]) {
            return None;
        }
        let found = walk(text, at, Leniency::Row);
        let space = text[found.end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        let (end, next) = (found.end + space, text.get(found.end + space));
        if !found.is_whole || !matches!(next, None | Some(b'\n' | 0 | b'{')) {
            self.effort = self.effort.saturating_sub(end - at);
            return None;
        }
        let row = joined(&text[at..found.end], Leniency::Row);
        let mut row = String::from_utf8_lossy(&row).into_owned().into_bytes();
        match next {
            Some(b'\n') => {
                row.extend_from_slice(&text[found.end..=end]);
                Some((row, end + 1))
            }
            _ => {
                row.push(b'\n');
                Some((row, end))
            }
        }
    }
}
