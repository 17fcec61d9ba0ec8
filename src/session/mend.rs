//! Reads the lines of a damaged file: which of them are rows, and which may hold the parts of some
//! (`damaged_lines`). Bytes in a row that are not UTF-8 become U+FFFD, as programs on Node read
//! them: the row may be the row that all others follow.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::damaged_lines::{Fragment, fragments};
use super::row_format::{is_blank, mark_of};

/// Bytes of damaged lines after which they are read though more follow.
const MOST: usize = 64 << 20;

/// Damaged lines that wait for those after them, which may hold the rest of their rows.
#[derive(Clone, Debug, Default)]
pub struct Mender {
    lines: Vec<u8>,
    /// Lines that are not JSON.
    pub damaged: u64,
    /// Lines that are rows as they are.
    pub whole: u64,
}

/// The treatment of a line.
#[derive(Debug)]
pub struct LineVerdict {
    /// The parts of the damaged lines before it, if there are such lines.
    pub before: Option<Vec<Fragment>>,
    /// The line is not a part of them.
    pub is_whole: bool,
}

/// Returns true if a row, without a byte order mark, is JSON in UTF-8.
pub fn is_json(row: &[u8]) -> bool {
    // The parser does not look into strings that it skips.
    simdutf8::basic::from_utf8(row).is_ok() && serde_json::from_slice::<IgnoredAny>(row).is_ok()
}

/// Returns true if a line is a row: an object that is not empty.
pub fn is_row(line: &[u8]) -> bool {
    has_members(line) && is_json(line)
}

impl Mender {
    /// Takes the next line of a file, which starts at `start`.
    pub fn take(&mut self, line: &[u8], start: u64) -> LineVerdict {
        let text = &line[if start == 0 { mark_of(line) } else { 0 }..];
        let is_readable = is_blank(text) || is_json(text);
        if let Some(row) = recoded(text).filter(|_| !is_readable) {
            self.damaged += 1;
            let mut before = self.end().unwrap_or_default();
            let end: &[u8] = if row.ends_with(b"\n") { b"" } else { b"\n" };
            before.push(Fragment::Recoded([&line[..line.len() - text.len()], &row, end].concat()));
            return LineVerdict { before: Some(before), is_whole: false };
        }
        self.damaged += u64::from(!is_readable);
        // A string that a newline broke may have blank lines and numbers, but no object: its quotes
        // are escaped.
        let is_whole = is_readable && (self.lines.is_empty() || has_members(text));
        self.whole += u64::from(is_whole && has_members(text));
        if !is_whole {
            self.lines.extend_from_slice(line);
        }
        let before = if is_whole || self.lines.len() > MOST { self.end() } else { None };
        LineVerdict { before, is_whole }
    }

    /// Returns the parts of the lines that wait.
    pub fn end(&mut self) -> Option<Vec<Fragment>> {
        let lines = std::mem::take(&mut self.lines);
        (!lines.is_empty()).then(|| fragments(&lines))
    }
}

/// Returns a row whose only fault are bytes that are not UTF-8, with U+FFFD in their place.
fn recoded(line: &[u8]) -> Option<Vec<u8>> {
    match String::from_utf8_lossy(line) {
        Cow::Owned(row) if is_row(row.as_bytes()) => Some(row.into_bytes()),
        _ => None,
    }
}

/// Returns true if a text begins like an object that is not empty.
pub fn has_members(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    text.strip_prefix(b"{").is_some_and(|inside| inside.trim_ascii_start().starts_with(b"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the text that is left of a file, and its scraps.
    fn mended(text: &str) -> (String, Vec<String>) {
        let (mut left, mut scraps) = (vec![], vec![]);
        let mut put = |pieces: Vec<Fragment>, left: &mut Vec<u8>| {
            for piece in pieces {
                match piece {
                    Fragment::Row(row) | Fragment::Glued(row) | Fragment::Recoded(row) => left.extend(row),
                    Fragment::Scrap(scrap) => scraps.push(String::from_utf8(scrap).unwrap()),
                }
            }
        };
        let (mut mender, mut start) = (Mender::default(), 0);
        for line in text.split_inclusive('\n') {
            let LineVerdict { before, is_whole } = mender.take(line.as_bytes(), start);
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
    fn bytes_that_are_not_utf_8_do_not_cost_a_row() {
        let row = |text: &[u8]| [b"{\"id\":\"a\",\"text\":\"", text, b"\"}"].concat();
        let bytes: [&[u8]; 5] = [b"\xFF", b"a\xE6\x97", b"\xED\xA0\x80", b"\xC3", b"\xE6\nabc"];
        for bad in bytes {
            let line = row(bad);
            for text in [[&line[..], b"\n"].concat(), [A.as_bytes(), &line, b"\n"].concat(), line.clone()] {
                let mut mender = Mender::default();
                let mut pieces: Vec<Fragment> = vec![];
                for line in text.split_inclusive(|byte| *byte == b'\n') {
                    pieces.extend(mender.take(line, 9).before.into_iter().flatten());
                }
                pieces.extend(mender.end().into_iter().flatten());
                let rows: Vec<String> = pieces
                    .iter()
                    .map(|piece| String::from_utf8(piece.row().unwrap().to_vec()).unwrap())
                    .collect();
                let expected = String::from_utf8_lossy(&row(bad)).replace('\n', "\\n");
                assert_eq!(rows.last().unwrap().trim_end(), expected);
                assert_eq!(rows.len(), if text.starts_with(A.as_bytes()) { 2 } else { 1 });
            }
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
