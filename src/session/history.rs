//! Finds the question that a result answers: the strings in the arguments of its call, and the
//! user's last words before it.
//!
//! Both mostly stand a few rows before the result. So rows are read only once something is cut, and
//! backwards, up to the rows with the question. No row is parsed twice.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::ops::Range;

use super::failure::Failure;
use super::question::{QuestionStrings, name_of};
use super::row_format::{RowEntry, RowFormat, is_blank, mark_of};
use super::session_file::SessionFile;
use crate::dialect::{Table, ToolResult};
use crate::hash::hash;
use crate::json::{Document, Value};

/// Only the places of arguments are remembered.
#[derive(Debug)]
pub struct CallHistory<'s> {
    session: &'s SessionFile,
    /// The end of the last row that is known of.
    end: u64,
    /// The rows before that were not read, in order. Each part begins and ends with a row.
    unread: Vec<Range<u64>>,
    /// The last call of a name, by the hash of that.
    calls: HashMap<u64, CallPlace>,
    /// The user's last words, and those before, in order, each with the start of its row.
    words: Vec<(u64, Vec<String>)>,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct CallPlace {
    /// The start of its row.
    row: u64,
    /// The bytes of the arguments.
    args: Vec<Range<u64>>,
}

/// A row with a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultRow<'r> {
    /// The offset of the row in the file.
    pub start: u64,
    pub bytes: &'r [u8],
    pub format: RowFormat,
    /// The entry of the row as it is in the file, if it was parsed.
    pub entry: Option<&'r RowEntry<'r>>,
}

/// Bytes per read, unless a row is longer.
const CHUNK: u64 = 1 << 18;

/// Words of the user: the last words, and those before them: a row with a result may hold some
/// itself.
const WORDS: usize = 2;

impl<'s> CallHistory<'s> {
    pub fn of(session: &'s SessionFile) -> CallHistory<'s> {
        CallHistory { session, end: 0, unread: vec![], calls: HashMap::new(), words: vec![], failure: None }
    }

    /// Returns the question of a result in a row. Rows with results come in the order of the file.
    /// Returns nothing if rows cannot be read, which [`CallHistory::check`] reports.
    pub fn asked(&mut self, result: &ToolResult, row: &ResultRow) -> Vec<String> {
        self.try_asked(result, row).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            vec![]
        })
    }

    pub fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn try_asked(&mut self, result: &ToolResult, row: &ResultRow) -> Result<Vec<String>, Failure> {
        self.go_on(row);
        let name = name_of(result).map(|name| hash(name.as_bytes()));
        self.look_back(name, row)?;
        let mut strings = QuestionStrings::default();
        for bytes in name.and_then(|name| self.calls.get(&name)).into_iter().flat_map(|call| &call.args) {
            if let Some(document) = Document::parse(&self.bytes(bytes)?) {
                strings.take_decoded(document.root());
            }
        }
        let words = self.words_before(row.start).into_iter().flat_map(|(_, words)| words.clone());
        Ok(strings.found.into_iter().chain(words).collect())
    }

    /// Takes note of a row and of those before it. Only the row itself was parsed, if at all.
    fn go_on(&mut self, row: &ResultRow) {
        let known = self.end;
        self.end = known.max(row.start + row.bytes.len() as u64);
        let end = match row.entry.filter(|_| known <= row.start) {
            Some(entry) => {
                self.remember(row.start, row.bytes, entry);
                row.start
            }
            None => self.end,
        };
        if known < end {
            self.unread.push(known..end);
        }
    }

    /// Reads rows backwards until neither a later call of a name nor later words before a row may
    /// be among those not read.
    fn look_back(&mut self, name: Option<u64>, row: &ResultRow) -> Result<(), Failure> {
        let mut size = CHUNK;
        while let Some(part) = self.unread.last().cloned().filter(|part| self.seeks(name, row, part.end)) {
            let start = part.start.max(part.end.saturating_sub(size));
            let bytes = self.bytes(&(start..part.end))?;
            if bytes.len() as u64 != part.end - start {
                // The file became shorter, which the repair finds out.
                self.unread.clear();
                break;
            }
            let newline = memchr::memchr(b'\n', &bytes[..bytes.len() - 1]);
            let first = if start == part.start { Some(0) } else { newline.map(|at| at + 1) };
            let Some(begin) = first else {
                // The last row begins before these bytes.
                size *= 2;
                continue;
            };
            let mut end = bytes.len();
            while end > begin && self.seeks(name, row, start + end as u64) {
                let from = memchr::memrchr(b'\n', &bytes[begin..end - 1]).map_or(begin, |at| begin + at + 1);
                self.take(&bytes[from..end], start + from as u64, row.format);
                end = from;
            }
            self.unread.pop();
            let left = part.start..start + end as u64;
            if !left.is_empty() {
                self.unread.push(left);
            }
            size = CHUNK;
        }
        Ok(())
    }

    /// Returns true if something that is sought may be in rows before `end`.
    fn seeks(&self, name: Option<u64>, row: &ResultRow, end: u64) -> bool {
        let is_before = |known: Option<u64>| known.is_none_or(|known| known < end);
        let call = name.is_some_and(|name| is_before(self.calls.get(&name).map(|call| call.row)));
        call || is_before(self.words_before(row.start).map(|(start, _)| *start))
    }

    fn words_before(&self, row: u64) -> Option<&(u64, Vec<String>)> {
        self.words.iter().rfind(|(start, _)| *start < row)
    }

    fn bytes(&self, place: &Range<u64>) -> Result<Vec<u8>, Failure> {
        let length = place.end - place.start;
        let mut bytes = Vec::with_capacity(length as usize);
        let read = |file: &File| Ok(file.take(length).read_to_end(&mut bytes)?);
        self.session.from(place.start, read)?;
        Ok(bytes)
    }

    fn take(&mut self, bytes: &[u8], start: u64, format: RowFormat) {
        let text = &bytes[mark_in(bytes, start)..];
        if is_blank(text) {
            return;
        }
        if let Some(document) = Document::parse(text) {
            self.remember(start, bytes, &RowEntry::of(document.root(), format));
        }
    }

    /// Remembers the words of the row at `start`, unless later words are known.
    fn remember(&mut self, start: u64, bytes: &[u8], entry: &RowEntry) {
        let text = start + mark_in(bytes, start) as u64;
        let messages = || entry.messages.iter().copied();
        for call in messages().flat_map(|message| Table::get().calls(message)) {
            let Some(name) = call.name().filter(|_| !call.args.is_empty()).map(|name| hash(name.as_bytes()))
            else {
                continue;
            };
            if self.calls.get(&name).is_none_or(|known| known.row <= start) {
                let place = |arg: &Value| text + arg.start() as u64..text + arg.end() as u64;
                self.calls
                    .insert(name, CallPlace { row: start, args: call.args.iter().map(place).collect() });
            }
        }
        let words: Vec<Value> = messages().flat_map(|message| Table::get().words(message)).collect();
        let words = QuestionStrings::of_words(&words);
        if !words.is_empty() {
            let at = self.words.partition_point(|(known, _)| *known < start);
            self.words.insert(at, (start, words));
            self.words.drain(..self.words.len().saturating_sub(WORDS));
        }
    }
}

/// Returns the length of the byte order mark in a row that starts at `start`.
fn mark_in(row: &[u8], start: u64) -> usize {
    if start == 0 { mark_of(row) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARK: &str = "\u{feff}";

    /// Returns the question of the first result in each row. `is_parsed`: the entry of the row is
    /// known.
    fn asked(rows: &[String], is_parsed: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        std::fs::write(&path, rows.join("\n")).unwrap();
        let session = SessionFile::open(path).unwrap();
        let (mut history, mut start) = (CallHistory::of(&session), 0);
        let mut all = vec![];
        for (at, row) in rows.iter().enumerate() {
            let bytes = if at + 1 < rows.len() { format!("{row}\n") } else { row.clone() };
            let format = RowFormat::default();
            if let Some(document) = Document::parse(row.trim_start_matches(MARK).as_bytes()) {
                let entry = RowEntry::of(document.root(), format);
                let entry_of_file = is_parsed(at).then_some(&entry);
                let parsed = ResultRow { start, bytes: bytes.as_bytes(), format, entry: entry_of_file };
                let results = Table::get().results(entry.messages[0], None);
                all.extend(results.first().map(|result| history.asked(result, &parsed)));
                history.check().unwrap();
            }
            start += bytes.len() as u64;
        }
        all
    }

    fn words(text: &str) -> String {
        format!(r#"{{"role":"user","content":"{text}"}}"#)
    }

    fn call(id: &str, args: &str) -> String {
        let call = format!(r#"{{"type":"tool_use","id":"{id}","name":"t","input":{args}}}"#);
        format!(r#"{{"role":"assistant","content":[{call}]}}"#)
    }

    fn result(id: &str) -> String {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}"#
        )
    }

    /// A row that holds a call and its result.
    fn both(id: &str, asked: &str) -> String {
        format!(r#"{{"type":"mcp_call","id":"{id}","arguments":"{{\"q\":\"{asked}\"}}","output":"x"}}"#)
    }

    #[test]
    fn the_last_call_and_the_last_words_ask() {
        let (one, two) = (call("c", r#"{"a":["one",{"b":1}],"c":"1"}"#), call("c", r#""{\"a\":\"two\"}""#));
        let result = || result("c");
        let rows = [result(), words("first"), one, result(), two, result(), words("second"), result()];
        let all = [vec![], vec!["one", "1", "first"], vec!["two", "first"], vec!["two", "second"]];
        assert_eq!(asked(&rows, |_| false), all);
        assert_eq!(asked(&rows, |_| true), all);
    }

    #[test]
    fn a_row_may_hold_the_call_of_its_result() {
        let rows = [both("c", "one"), both("c", "two")];
        assert_eq!(asked(&rows, |_| false), [["one"], ["two"]]);
        assert_eq!(asked(&rows, |_| true), [["one"], ["two"]]);
    }

    /// A row, and what it says.
    #[derive(Clone, Debug)]
    enum Said {
        Words(usize),
        Call(String, usize),
        Result(String),
        Both(String, usize),
        Nothing(String),
    }

    impl Said {
        fn row(&self) -> String {
            match self {
                Said::Words(nth) => words(&format!("words {nth}")),
                Said::Call(id, nth) => call(id, &format!("[\"call {nth}\"]")),
                Said::Result(id) => result(id),
                Said::Both(id, nth) => both(id, &format!("call {nth}")),
                Said::Nothing(row) => row.clone(),
            }
        }
    }

    fn said() -> impl Strategy<Value = Said> {
        let long = format!(r#"{{"role":"assistant","content":"{}"}}"#, "x".repeat(3 * CHUNK as usize));
        prop_oneof![
            2 => (0..99usize).prop_map(Said::Words),
            3 => ("[abc]", 0..99usize).prop_map(|(id, nth)| Said::Call(id, nth)),
            4 => "[abcd]".prop_map(Said::Result),
            1 => ("[abc]", 0..99usize).prop_map(|(id, nth)| Said::Both(id, nth)),
            2 => prop::sample::select(vec![String::new(), " \r".into(), "{not JSON".into(), long]).prop_map(Said::Nothing),
        ]
    }

    proptest! {
        #[test]
        fn reading_back_finds_what_reading_all_finds(
            said in prop::collection::vec(said(), 1..24),
            parsed in prop::collection::vec(any::<bool>(), 24),
            has_mark: bool,
        ) {
            let (mut calls, mut words, mut all) = (HashMap::new(), None, vec![]);
            for said in &said {
                if let Said::Call(id, nth) | Said::Both(id, nth) = said {
                    calls.insert(id, format!("call {nth}"));
                }
                if let Said::Result(id) | Said::Both(id, _) = said {
                    all.push(calls.get(id).cloned().into_iter().chain(words.clone()).collect::<Vec<_>>());
                }
                if let Said::Words(nth) = said {
                    words = Some(format!("words {nth}"));
                }
            }
            let mut rows: Vec<String> = said.iter().map(Said::row).collect();
            if has_mark {
                rows[0].insert_str(0, MARK);
            }
            prop_assert_eq!(asked(&rows, |at| parsed[at]), all);
        }
    }
}
