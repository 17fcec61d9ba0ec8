//! The structure of a session row: its kind, and the position of its message.

use serde::Serialize;

use crate::dialect::Table;
use crate::json::{Document, Value};

/// The row format of a file, determined by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Pi and OpenClaw: only rows of type `message` hold messages. From version 2 on, rows form a tree.
    Pi { version: u64 },
    /// Rows of Claude Code, and plain messages of any dialect.
    Rows,
}

impl Format {
    pub fn is_tree(self) -> bool {
        matches!(self, Format::Pi { version: 2.. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In member `message` of a Pi row.
    Pi,
    /// In member `message` of a Claude Code row, which may have a second copy of a result.
    ClaudeCode,
    /// The row itself.
    Row,
}

/// A row that is valid JSON.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'d> {
    pub root: Value<'d>,
    pub place: Place,
    /// The object that may contain tool results.
    pub message: Option<Value<'d>>,
}

/// The byte order mark that some writers put at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Returns the number of bytes before the first row.
pub fn mark_of(file_start: &[u8]) -> usize {
    if file_start.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns true if a row is blank.
pub fn is_blank(row: &[u8]) -> bool {
    row.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Determines the format from the first row of a file.
pub fn format_of(first_row: &[u8]) -> Format {
    let document = Document::parse(first_row);
    let Some(root) = document.as_ref().map(Document::root) else { return Format::Rows };
    let is_header = root.get("type").is_some_and(|kind| kind.is("session")) && root.get("role").is_none();
    if !is_header {
        return Format::Rows;
    }
    // A missing version means the first.
    Format::Pi { version: root.get("version").and_then(Value::whole).unwrap_or(1) }
}

impl<'d> Entry<'d> {
    /// Reads the value of a row.
    pub fn of(root: Value<'d>, format: Format) -> Entry<'d> {
        let inner = message_in(root);
        let place = inner.map_or(Place::Row, |(place, _)| place);
        let is_message = match format {
            Format::Pi { .. } => place == Place::Pi,
            Format::Rows => root.is_container(),
        };
        let message = inner.map_or(root, |(_, message)| message);
        Entry { root, place, message: is_message.then_some(message) }
    }

    /// Reads the value of the same row after a change to its texts.
    pub fn again<'e>(&self, root: Value<'e>) -> Entry<'e> {
        let message = || if self.place == Place::Row { Some(root) } else { root.get("message") };
        Entry { root, place: self.place, message: self.message.and_then(|_| message()) }
    }

    /// Returns the copy of a result that Claude Code keeps beside the message.
    pub fn second_copy(&self) -> Option<Value<'d>> {
        self.root.get("toolUseResult").filter(|_| self.place == Place::ClaudeCode)
    }

    /// For a compaction of Pi's first version, returns the index of the first row that it keeps, if it has one.
    pub fn first_kept(&self) -> Option<Option<u64>> {
        let is_compaction = self.root.get("type").is_some_and(|kind| kind.is("compaction"));
        let index = || self.root.get("firstKeptEntryIndex")?.whole();
        (is_compaction && self.place == Place::Row && self.message.is_none()).then(index)
    }

    /// Returns true if a row belongs to a side conversation.
    pub fn is_aside(&self) -> bool {
        self.place == Place::ClaudeCode && self.root.get("isSidechain").is_some_and(Value::is_true)
    }
}

/// The kind of session, determined by the first recognised row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionKind {
    Pi,
    ClaudeCode,
    Messages,
    #[default]
    Unknown,
}

impl SessionKind {
    /// Returns the kind that a row indicates.
    pub fn of(entry: &Entry, format: Format, has_results: bool) -> SessionKind {
        let has_role = |message: Value| message.get("role").is_some_and(|role| role.text().is_some());
        // A list of messages in one row is a file of another kind.
        let is_message =
            |message: Value| !message.is_list() && (has_role(message) || Table::get().is_from_model(message));
        match (format, entry.place) {
            (Format::Pi { .. }, _) | (_, Place::Pi) => SessionKind::Pi,
            (_, Place::ClaudeCode) => SessionKind::ClaudeCode,
            _ if has_results || entry.message.is_some_and(is_message) => SessionKind::Messages,
            _ => SessionKind::Unknown,
        }
    }
}

fn message_in(root: Value) -> Option<(Place, Value)> {
    let place = match root.get("type").and_then(Value::string).as_deref() {
        _ if root.get("role").is_some() => return None,
        Some("message") => Place::Pi,
        Some("user" | "assistant") => Place::ClaudeCode,
        _ => return None,
    };
    Some((place, root.get("message").filter(|message| message.is_object())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_determines_the_format() {
        for (row, format) in [
            (r#"{"type":"session","id":"x"}"#, Format::Pi { version: 1 }),
            (r#"{"type":"session","version":3}"#, Format::Pi { version: 3 }),
            (r#"{"type":"session","version":"3"}"#, Format::Pi { version: 1 }),
            (r#"{"type":"session","role":"user"}"#, Format::Rows),
            (r#"{"role":"user"}"#, Format::Rows),
            ("[1]", Format::Rows),
            ("garbage", Format::Rows),
        ] {
            assert_eq!(format_of(row.as_bytes()), format, "{row}");
        }
    }

    #[test]
    fn messages_are_found_in_every_place() {
        let place = |row: &str, format| {
            let document = Document::parse(row.as_bytes())?;
            let entry = Entry::of(document.root(), format);
            let source = |message: Value| String::from_utf8(message.source().to_vec()).unwrap();
            Some((entry.place, entry.message.map(source)))
        };
        let pi = Format::Pi { version: 3 };
        let message = r#"{"role":"toolResult"}"#;
        let row = format!(r#"{{"type":"message","message":{message}}}"#);
        assert_eq!(place(&row, pi), Some((Place::Pi, Some(message.into()))));
        assert_eq!(place(&row, Format::Rows), Some((Place::Pi, Some(message.into()))));
        let row = r#"{"type":"user","message":{"role":"user"},"toolUseResult":1}"#;
        assert_eq!(place(row, Format::Rows), Some((Place::ClaudeCode, Some(r#"{"role":"user"}"#.into()))));
        for row in [row, message, r#"{"type":"custom","data":{}}"#] {
            assert_eq!(place(row, pi).unwrap().1, None, "{row}");
        }
        let row = r#"{"type":"message","role":"assistant","message":{}}"#;
        assert_eq!(place(row, Format::Rows), Some((Place::Row, Some(row.into()))));
        assert_eq!(place(" 7\r", Format::Rows), Some((Place::Row, None)));
        assert_eq!(place("{", Format::Rows), None);
    }
}
