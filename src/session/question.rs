//! The question that a result answers: the strings in the arguments of its call, and the user's last words before it.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;

use super::failure::Failure;
use super::row_format::Entry;
use super::rows::{Reading, each_row};
use super::session_file::SessionFile;
use crate::dialect::{Table, ToolResult};
use crate::hash::hash;
use crate::json::{Document, Value};

/// Finds the questions in the rows up to those that are cut. Rows are read only once something is cut, and only the
/// places of arguments are remembered.
#[derive(Debug)]
pub struct History<'s> {
    session: &'s SessionFile,
    /// Bytes read so far, which end with a row.
    read: u64,
    reading: Reading,
    /// The bytes of the arguments of the last call of a name, by the hash of that.
    calls: HashMap<u64, Vec<Range<u64>>>,
    /// The user's last words, and those before, each with the start of its row.
    words: [(u64, Vec<String>); 2],
    failure: Option<Failure>,
}

/// A row with a result.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<'r> {
    /// The offset of the row in the file.
    pub start: u64,
    pub bytes: &'r [u8],
    /// The entry of the row as it is in the file, if it was parsed.
    pub entry: Option<&'r Entry<'r>>,
}

/// Bytes per read.
const CHUNK: u64 = 1 << 18;

impl<'s> History<'s> {
    pub fn of(session: &'s SessionFile) -> History<'s> {
        let (reading, calls, words) = (Reading::default(), HashMap::new(), Default::default());
        History { session, read: 0, reading, calls, words, failure: None }
    }

    /// Returns what was asked of a result in the row at these bytes. Returns nothing if rows cannot be read, which
    /// [`History::check`] reports.
    pub fn asked(&mut self, result: &ToolResult, row: &Parsed) -> Vec<String> {
        self.try_asked(result, row).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            vec![]
        })
    }

    pub fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn try_asked(&mut self, result: &ToolResult, row: &Parsed) -> Result<Vec<String>, Failure> {
        self.catch_up(row.start)?;
        match row.entry.filter(|_| self.read == row.start) {
            Some(entry) => self.take_entry(row.bytes, entry),
            None => self.catch_up(row.start + row.bytes.len() as u64)?,
        }
        let args = name_of(result).and_then(|name| self.calls.get(&hash(name.as_bytes())));
        let mut strings = Strings::default();
        for bytes in args.into_iter().flatten() {
            if let Some(document) = Document::parse(&self.bytes(bytes)?) {
                strings.take_decoded(document.root());
            }
        }
        let before = self.words.iter().find(|(start, _)| *start < row.start);
        Ok(strings.found.into_iter().chain(before.into_iter().flat_map(|(_, words)| words.clone())).collect())
    }

    /// Reads the rows up to a byte at which one ends.
    fn catch_up(&mut self, end: u64) -> Result<(), Failure> {
        let (mut at, mut rows) = (self.read, vec![]);
        while at < end {
            let more = self.bytes(&(at..end.min(at + CHUNK)))?;
            if more.is_empty() {
                break;
            }
            at += more.len() as u64;
            rows.extend(more);
            let complete = memchr::memrchr(b'\n', &rows).map_or(0, |newline| newline + 1);
            each_row(&rows[..complete]).for_each(|row| self.take(row));
            rows.drain(..complete);
        }
        self.take(&rows);
        Ok(())
    }

    fn bytes(&self, place: &Range<u64>) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![];
        let read = |file: &File| Ok(file.take(place.end - place.start).read_to_end(&mut bytes)?);
        self.session.from(place.start, read)?;
        Ok(bytes)
    }

    fn take(&mut self, bytes: &[u8]) {
        let start = self.read;
        self.read += bytes.len() as u64;
        let Some(row) = self.reading.next(bytes) else { return };
        let Some(document) = row.document() else { return };
        let text = start + (bytes.len() - row.text.len()) as u64;
        self.remember(start, text, &row.entry(&document));
    }

    /// Takes the next row, which was parsed.
    fn take_entry(&mut self, bytes: &[u8], entry: &Entry) {
        let start = self.read;
        self.read += bytes.len() as u64;
        if let Some(row) = self.reading.next(bytes) {
            self.remember(start, start + (bytes.len() - row.text.len()) as u64, entry);
        }
    }

    /// Remembers what a row says, which starts at `start`, and its text at `text`.
    fn remember(&mut self, start: u64, text: u64, entry: &Entry) {
        let Some(message) = entry.message else { return };
        for call in Table::get().calls(message) {
            if let Some(name) = call.name().filter(|_| !call.args.is_empty()) {
                let place = |arg: &Value| text + arg.start() as u64..text + arg.end() as u64;
                self.calls.insert(hash(name.as_bytes()), call.args.iter().map(place).collect());
            }
        }
        let words = Strings::of_words(&Table::get().words(message));
        if !words.is_empty() {
            self.words.swap(0, 1);
            self.words[0] = (start, words);
        }
    }
}

/// Returns the name that a result shares with its call.
pub fn name_of(result: &ToolResult) -> Option<String> {
    result.id().or_else(|| result.tool())
}

/// Bounds on what is read, as in lib/query.ts: chars of all texts, values, and the depth of these.
const CHARS: usize = 4_096;
const VALUES: usize = 1_000;
const DEPTH: usize = 16;

/// The strings in values, in order.
struct Strings {
    found: Vec<String>,
    chars: usize,
    values: usize,
}

impl Default for Strings {
    fn default() -> Self {
        Strings { found: vec![], chars: CHARS, values: VALUES }
    }
}

impl Strings {
    /// Returns the words of a user, which some frameworks store twice.
    fn of_words(words: &[Value]) -> Vec<String> {
        let mut strings = Strings::default();
        for (at, text) in words.iter().enumerate() {
            if words[..at].iter().all(|known| known.source() != text.source()) {
                strings.take(*text, 0);
            }
        }
        strings.found
    }

    /// Takes a value. A string that is the JSON of data counts as that.
    fn take_decoded(&mut self, value: Value) {
        let text = value.string().filter(|text| text.trim_ascii_start().starts_with(['{', '[']));
        match text.as_ref().and_then(|text| Document::parse(text.as_bytes())) {
            Some(document) => self.take(document.root(), 0),
            None => self.take(value, 0),
        }
    }

    fn take(&mut self, value: Value, depth: usize) {
        if self.values == 0 || self.chars == 0 {
            return;
        }
        self.values -= 1;
        if let Some(text) = value.text() {
            let units = text.head(self.chars);
            self.chars -= units.len();
            if !units.is_empty() {
                self.found.push(String::from_utf16_lossy(&units));
            }
        } else if depth < DEPTH {
            value.elements().chain(value.members()).for_each(|value| self.take(value, depth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::row_format::Format;

    /// Returns what is asked of the first result in each row.
    fn asked(rows: &[&str], are_parsed: bool) -> Vec<Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        std::fs::write(&path, rows.join("\n")).unwrap();
        let session = SessionFile::open(path).unwrap();
        let (mut history, mut start) = (History::of(&session), 0);
        let mut all = vec![];
        for row in rows {
            let bytes = format!("{row}\n");
            let document = Document::parse(row.as_bytes()).unwrap();
            let entry = Entry::of(document.root(), Format::Rows);
            let parsed = Parsed { start, bytes: bytes.as_bytes(), entry: are_parsed.then_some(&entry) };
            start += bytes.len() as u64;
            let results = Table::get().results(entry.message.unwrap(), None);
            all.extend(results.first().map(|result| history.asked(result, &parsed)));
            history.check().unwrap();
        }
        all
    }

    #[test]
    fn the_last_call_and_the_last_words_ask() {
        let words = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let call = |args: &str| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"t","input":{args}}}]}}"#
            )
        };
        let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}"#;
        let (one, two) = (call(r#"{"a":["one",{"b":1}],"c":"1"}"#), call(r#""{\"a\":\"two\"}""#));
        let rows = [result, &words("first"), &one, result, &two, result, &words("second"), result];
        let all = [vec![], vec!["one", "1", "first"], vec!["two", "first"], vec!["two", "second"]];
        assert_eq!([false, true].map(|are_parsed| asked(&rows, are_parsed)), [all.clone(), all]);
    }

    #[test]
    fn a_row_may_hold_the_call_of_its_result() {
        let row = |asked: &str| {
            format!(r#"{{"type":"mcp_call","id":"c","arguments":"{{\"q\":\"{asked}\"}}","output":"x"}}"#)
        };
        for are_parsed in [false, true] {
            assert_eq!(asked(&[&row("one"), &row("two")], are_parsed), [["one"], ["two"]]);
        }
    }

    #[test]
    fn strings_are_bounded() {
        let of = |json: &str| {
            let mut strings = Strings::default();
            strings.take_decoded(Document::parse(json.as_bytes()).unwrap().root());
            strings.found
        };
        let long = format!(r#"["{}","{}😀","c"]"#, "a".repeat(4_000), "b".repeat(95));
        let found = of(&long);
        assert_eq!((found.len(), found[1].ends_with("b\u{fffd}")), (2, true));
        assert_eq!(of(&format!("[{}\"late\"]", "1,".repeat(1_000))).len(), 0);
        assert_eq!(of(&format!("{}\"deep\"{}", "[".repeat(17), "]".repeat(17))).len(), 0);
        assert_eq!(of(&format!("{}\"deep\"{}", "[".repeat(16), "]".repeat(16))), ["deep"]);
        assert_eq!(of(r#""[not json""#), ["[not json"]);
    }
}
