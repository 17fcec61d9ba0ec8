//! Reads the rows that damaged lines still hold: rows glued together, after NUL bytes, or broken by
//! a raw newline. Nothing is closed and nothing invented: text that is not JSON by itself is a
//! scrap.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::row_format::{is_blank, mark_of};

/// Bytes of damaged lines after which they are read though more follow.
const MOST: usize = 64 << 20;

/// A part of damaged lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A row or a blank line, with its newline.
    Row(Vec<u8>),
    /// Bytes that are not JSON.
    Scrap(Vec<u8>),
}

impl Piece {
    pub fn row(&self) -> Option<&[u8]> {
        match self {
            Piece::Row(row) => Some(row),
            Piece::Scrap(_) => None,
        }
    }
}

/// Damaged lines that wait for those after them, which may hold the rest of their rows.
#[derive(Clone, Debug, Default)]
pub struct Mender {
    lines: Vec<u8>,
    /// Lines that are not JSON.
    pub damaged: u64,
}

/// The treatment of a line.
#[derive(Debug)]
pub struct Taken {
    /// The parts of the damaged lines before it, if there are such lines.
    pub before: Option<Vec<Piece>>,
    /// The line is not a part of them.
    pub is_whole: bool,
}

/// Returns true if a row, without a byte order mark, is JSON.
pub fn is_json(row: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(row).is_ok()
}

impl Mender {
    /// Takes the next line of a file, which starts at `start`.
    pub fn take(&mut self, line: &[u8], start: u64) -> Taken {
        let text = &line[if start == 0 { mark_of(line) } else { 0 }..];
        let is_readable = is_blank(text) || is_json(text);
        self.damaged += u64::from(!is_readable);
        // A string that a newline broke may have blank lines and numbers, but no object: its quotes
        // are escaped.
        let is_whole = is_readable && (self.lines.is_empty() || has_members(text));
        if !is_whole {
            self.lines.extend_from_slice(line);
        }
        let before = if is_whole || self.lines.len() > MOST { self.end() } else { None };
        Taken { before, is_whole }
    }

    /// Returns the parts of the lines that wait.
    pub fn end(&mut self) -> Option<Vec<Piece>> {
        let lines = std::mem::take(&mut self.lines);
        (!lines.is_empty()).then(|| pieces(&lines))
    }
}

/// Returns true if a text begins like an object that is not empty.
fn has_members(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    text.strip_prefix(b"{").is_some_and(|inside| inside.trim_ascii_start().starts_with(b"\""))
}

fn pieces(text: &[u8]) -> Vec<Piece> {
    let (mut found, mut at, mut is_start) = (vec![], 0, true);
    while at < text.len() {
        let line = at..memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1);
        if text[at] == 0 {
            at += text[at..].iter().take_while(|byte| **byte == 0).count();
            // A line of nothing else leaves none.
            if is_start && at + 1 == line.end && text[at] == b'\n' {
                at = line.end;
            }
            continue;
        }
        let whole = &text[line.clone()];
        if is_start && (is_blank(whole) || is_json(whole) && !has_members(whole)) {
            found.push(Piece::Row(whole.to_vec()));
            at = line.end;
            continue;
        }
        if is_blank(whole) {
            at = line.end;
        } else if let Some((row, end)) = row_at(text, at) {
            found.push(Piece::Row(row));
            at = end;
        } else {
            let end = next_row(text, at, line.end);
            let scrap = &text[at..end];
            found.push(Piece::Scrap(scrap.strip_suffix(b"\n").unwrap_or(scrap).to_vec()));
            at = end;
        }
        is_start = at == 0 || text[at - 1] == b'\n';
    }
    found
}

/// Returns where the next row on a line begins after a fragment at `at`, or the end of the
/// fragment.
fn next_row(text: &[u8], at: usize, line_end: usize) -> usize {
    let stop = memchr::memchr(0, &text[at..line_end]).map_or(line_end, |nul| at + nul);
    // The start of a row shows which text is within its strings; the rest of a row does not.
    let has_start = text[at] == b'{';
    let (mut in_string, mut is_escaped, mut last) = (false, false, 0);
    for (place, byte) in (at..).zip(&text[at..stop]) {
        let is_inside = (!in_string || !has_start) && matches!(last, b',' | b':' | b'[' | 0);
        if *byte == b'{' && place > at && !is_inside && row_at(text, place).is_some() {
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

/// Returns the row that begins at `at`, and its end in the text. Another row, a newline or NUL
/// bytes follow it.
fn row_at(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    if !has_members(&text[at..]) {
        return None;
    }
    let (mut row, length) = on_its_line(text, at).or_else(|| over_lines(text, at))?;
    let after = at + length;
    let space = text[after..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match text.get(after + space) {
        Some(b'\n') => {
            row.extend_from_slice(&text[after..=after + space]);
            Some((row, after + space + 1))
        }
        None | Some(0 | b'{') => {
            row.push(b'\n');
            Some((row, after + space))
        }
        _ => None,
    }
}

/// Reads an object that ends on its line. Returns its bytes, and their number.
fn on_its_line(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let end = memchr::memchr2(b'\n', 0, &text[at..]).map_or(text.len(), |end| at + end);
    let mut values = Deserializer::from_slice(&text[at..end]).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let length = values.byte_offset();
    Some((text[at..at + length].to_vec(), length))
}

/// Reads an object that raw newlines broke. Returns its bytes with these escaped, and the number of
/// bytes that it was.
fn over_lines(text: &[u8], at: usize) -> Option<(Vec<u8>, usize)> {
    let mut values = Deserializer::from_reader(Joined::of(&text[at..])).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let mut joined = Joined::of(&text[at..]);
    let row = joined.by_ref().take(values.byte_offset()).collect();
    Some((row, joined.read))
}

/// The bytes of a text up to a NUL byte, with the line ends in its strings escaped and all others
/// left out.
#[derive(Debug)]
struct Joined<'t> {
    text: &'t [u8],
    /// Bytes of the text that were read.
    read: usize,
    in_string: bool,
    is_escaped: bool,
    /// The second byte of an escape.
    next: Option<u8>,
}

impl Joined<'_> {
    fn of(text: &[u8]) -> Joined<'_> {
        Joined { text, read: 0, in_string: false, is_escaped: false, next: None }
    }
}

impl Iterator for Joined<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.next.is_some() {
            return self.next.take();
        }
        loop {
            let byte = *self.text.get(self.read).filter(|byte| **byte != 0)?;
            self.read += 1;
            if matches!(byte, b'\n' | b'\r') {
                // A line end breaks an escape, so it is not an escape.
                if self.is_escaped {
                    return None;
                }
                if !self.in_string {
                    continue;
                }
                self.next = Some(if byte == b'\n' { b'n' } else { b'r' });
                return Some(b'\\');
            }
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                _ => {}
            }
            return Some(byte);
        }
    }
}

impl std::io::Read for Joined<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let mut count = 0;
        for place in room {
            let Some(byte) = self.next() else { break };
            *place = byte;
            count += 1;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the text that is left of a file, and its scraps.
    fn mended(text: &str) -> (String, Vec<String>) {
        let (mut left, mut scraps) = (vec![], vec![]);
        let mut put = |pieces: Vec<Piece>, left: &mut Vec<u8>| {
            for piece in pieces {
                match piece {
                    Piece::Row(row) => left.extend(row),
                    Piece::Scrap(scrap) => scraps.push(String::from_utf8(scrap).unwrap()),
                }
            }
        };
        let (mut mender, mut start) = (Mender::default(), 0);
        for line in text.split_inclusive('\n') {
            let Taken { before, is_whole } = mender.take(line.as_bytes(), start);
            start += line.len() as u64;
            put(before.unwrap_or_default(), &mut left);
            if is_whole {
                left.extend(line.as_bytes());
            }
        }
        put(mender.end().unwrap_or_default(), &mut left);
        (String::from_utf8(left).unwrap(), scraps)
    }

    const A: &str = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
    const B: &str = r#"{"role":"tool","content":"b"}"#;

    #[test]
    fn rows_are_read_out_of_damaged_lines() {
        let torn = &A[..A.len() - 8];
        for (damaged, rows, scraps) in [
            (format!("{A}{B}\n"), format!("{A}\n{B}\n"), vec![]),
            (format!("{A} {B}\r\n{A}\n"), format!("{A}\n{B}\r\n{A}\n"), vec![]),
            (format!("{torn}{B}\n"), format!("{B}\n"), vec![torn]),
            (format!("\0\0\0{A}\n\0\0\n{B}\n\0"), format!("{A}\n{B}\n"), vec![]),
            (format!("{A}\0\0{torn}\0{B}\n"), format!("{A}\n{B}\n"), vec![torn]),
            (format!("{torn}\n{B}\n"), format!("{B}\n"), vec![torn]),
            ("{\"a\":\"one\n\n 2\r\n3\"}\n".into(), "{\"a\":\"one\\n\\n 2\\r\\n3\"}\n".into(), vec![]),
            (format!("{{\"a\":\n1}}\n{B}\n"), format!("{{\"a\":1}}\n{B}\n"), vec![]),
            (format!("{torn}\n7\n\n{B}\n"), format!("7\n\n{B}\n"), vec![torn]),
            (format!("no JSON{B}\n"), format!("{B}\n"), vec!["no JSON"]),
            (format!("\u{feff}{A}\n7\n"), format!("\u{feff}{A}\n7\n"), vec![]),
        ] {
            let scraps: Vec<String> = scraps.into_iter().map(str::to_owned).collect();
            assert_eq!(mended(&damaged), (rows, scraps), "{damaged:?}");
        }
    }

    #[test]
    fn parts_of_a_row_are_none() {
        for torn in [
            r#"{"content":[{"type":"text","text":"a"}"#,
            r#"{"content":[{"type":"text","text":"a"},"#,
            r#"text":"a"},{"type":"text","text":"a"}"#,
            r#"{"type":"text"},{"type":"text"}]}"#,
            r#"{"text":"some {}"#,
            r#"{"text":"a\"#,
        ] {
            assert_eq!(mended(&format!("{torn}\n")), (String::new(), vec![torn.to_owned()]));
        }
    }

    /// A whole row, in as many lines as it takes, and a damage of it.
    #[derive(Clone, Debug)]
    enum Line {
        Whole(String),
        Broken(String),
        Torn(String),
        Nul(usize),
    }

    fn line() -> impl Strategy<Value = Line> {
        let text =
            prop::sample::select(vec!["", "a", "{}", "{ [", ": ,", "}{", "\\\"", "\\\\", "\\n", "é", " 7 "]);
        let text = prop::collection::vec(text, 0..5).prop_map(|parts| parts.concat());
        let row = (text.clone(), text, 0..3u8).prop_map(|(one, other, kind)| match kind {
            0 => format!(r#"{{"role":"user","content":"{one}"}}"#),
            1 => format!(r#"{{"type":"message","message":{{"content":[{{"type":"text","text":"{one}"}},{{"t":"{other}"}}]}}}}"#),
            _ => format!(r#"{{"{one}k":[1,{{}},"{other}"]}}"#),
        });
        prop_oneof![
            4 => row.clone().prop_map(Line::Whole),
            1 => row.clone().prop_map(Line::Broken),
            2 => (row, 1..200usize).prop_map(|(row, at)| {
                let mut at = 1 + at % (row.len() - 1);
                while !row.is_char_boundary(at) {
                    at -= 1;
                }
                Line::Torn(row[..at].to_owned())
            }),
            1 => (1..9usize).prop_map(Line::Nul),
        ]
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_invented(
            lines in prop::collection::vec((line(), any::<bool>()), 0..9),
            at in prop::collection::vec(0..200usize, 9),
        ) {
            let (mut text, mut rows, mut torn) = (String::new(), vec![], String::new());
            for (nth, (line, is_glued)) in lines.iter().enumerate() {
                let is_last_torn = text.ends_with(['{', ',', ':', '[', '"', '\\']) || text.ends_with(' ');
                let mut end = if *is_glued { "" } else { "\n" };
                match line {
                    Line::Whole(row) => {
                        // A row at the place of a value may be a part of the one before.
                        if is_last_torn || !text.is_empty() && !text.ends_with(['\n', '\0', '}']) {
                            text.push('\n');
                        }
                        text.push_str(row);
                        rows.push(row.clone());
                    }
                    Line::Broken(row) => {
                        let at = at[nth] % row.len();
                        let is_string = row.is_char_boundary(at)
                            && !row[..at].ends_with('\\')
                            && serde_json::from_str::<IgnoredAny>(&format!("{}\\n{}", &row[..at], &row[at..])).is_ok();
                        if !text.is_empty() {
                            text.push('\n');
                        }
                        end = "\n";
                        if is_string {
                            text.push_str(&format!("{}\n{}", &row[..at], &row[at..]));
                            rows.push(format!("{}\\n{}", &row[..at], &row[at..]));
                        } else {
                            text.push_str(row);
                            rows.push(row.clone());
                        }
                    }
                    Line::Torn(row) => {
                        text.push('\n');
                        text.push_str(row);
                        torn.push_str(row);
                        end = "\n\0\n";
                    }
                    Line::Nul(count) => text.push_str(&"\0".repeat(*count)),
                }
                text.push_str(end);
            }
            let (left, scraps) = mended(&text);
            let found: Vec<&str> = left.split('\n').filter(|row| !row.trim().is_empty()).collect();
            prop_assert_eq!(&found, &rows, "{:?}", text);
            prop_assert_eq!(scraps.concat().replace('\n', ""), torn.replace('\n', ""), "{:?}", text);
            prop_assert_eq!(mended(&left), (left.clone(), vec![]));
        }
    }
}
