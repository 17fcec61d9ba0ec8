//! The structure of a session row: its kind, and the position of its message.

use crate::dialect::path::Follower;
use crate::dialect::{Object, Table};
use crate::json::members::Member;
use crate::json::scan::{Kind, document};
use crate::json::{Span, number};

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
#[derive(Clone, Debug)]
pub struct Entry {
    pub root: Object,
    pub place: Place,
    /// The object that may contain tool results.
    pub message: Option<Object>,
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
#[inline(never)]
pub fn format_of(first_row: &[u8]) -> Format {
    let follower = Table::get().follower(first_row);
    let Some(all) = document(first_row) else { return Format::Rows };
    let root = follower.object(all);
    if follower.get(&root, "role").is_some() || follower.text(&root, "type").as_deref() != Some("session") {
        return Format::Rows;
    }
    let version = follower.get(&root, "version").and_then(|version| number::whole(version.of(first_row)));
    // A missing version means the first.
    Format::Pi { version: version.unwrap_or(1) }
}

impl Entry {
    /// Reads a row, or returns `None` if it is not valid JSON.
    #[inline(never)]
    pub fn read(row: &[u8], format: Format) -> Option<Entry> {
        let follower = Table::get().follower(row);
        let root = follower.object(document(row)?);
        let inner = message_in(follower, &root);
        let place = inner.as_ref().map_or(Place::Row, |(place, _)| *place);
        let is_message = match format {
            Format::Pi { .. } => place == Place::Pi,
            Format::Rows => Kind::of(root.span.of(row)).is_container(),
        };
        let message = inner.map_or_else(|| root.clone(), |(_, message)| message);
        Some(Entry { root, place, message: is_message.then_some(message) })
    }

    /// Returns the copy of a result that Claude Code keeps beside the message.
    pub fn second_copy(&self, follower: Follower) -> Option<Member> {
        let name = follower.names.find(b"toolUseResult")?;
        self.root.get(name).filter(|_| self.place == Place::ClaudeCode)
    }

    /// For a compaction of Pi's first version, returns the index of the first row that it keeps, if it has one.
    pub fn first_kept(&self, follower: Follower) -> Option<Option<u64>> {
        let is_compaction = follower.text(&self.root, "type").as_deref() == Some("compaction");
        let index = || number::whole(follower.get(&self.root, "firstKeptEntryIndex")?.of(follower.row));
        (is_compaction && self.place == Place::Row && self.message.is_none()).then(index)
    }

    /// Returns true if a row belongs to a side conversation.
    pub fn is_aside(&self, follower: Follower) -> bool {
        let aside = follower.get(&self.root, "isSidechain");
        self.place == Place::ClaudeCode && aside.is_some_and(|aside| aside.of(follower.row) == b"true")
    }
}

/// The kind of session, determined by the first recognised row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    Pi,
    ClaudeCode,
    Messages,
    #[default]
    Unknown,
}

impl Shape {
    /// Returns the kind that a row indicates.
    pub fn of(follower: Follower, entry: &Entry, format: Format, has_results: bool) -> Shape {
        let is_message = |message: &Object| {
            follower.text(message, "role").is_some() || Table::get().is_from_model(follower.row, message)
        };
        match (format, entry.place) {
            (Format::Pi { .. }, _) | (_, Place::Pi) => Shape::Pi,
            (_, Place::ClaudeCode) => Shape::ClaudeCode,
            _ if has_results || entry.message.as_ref().is_some_and(is_message) => Shape::Messages,
            _ => Shape::Unknown,
        }
    }
}

fn message_in(follower: Follower, root: &Object) -> Option<(Place, Object)> {
    let place = match follower.text(root, "type").as_deref() {
        _ if follower.get(root, "role").is_some() => return None,
        Some("message") => Place::Pi,
        Some("user" | "assistant") => Place::ClaudeCode,
        _ => return None,
    };
    let is_object = |message: &Span| Kind::of(message.of(follower.row)) == Kind::Object;
    let message = follower.get(root, "message").filter(is_object)?;
    Some((place, follower.object(message)))
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
            let entry = Entry::read(row.as_bytes(), format)?;
            Some((
                entry.place,
                entry.message.map(|message| row[message.span.start..message.span.end].to_owned()),
            ))
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
