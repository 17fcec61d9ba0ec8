//! The structure of a session row: its layout, and the positions of its messages.

use serde::{Serialize, Serializer};

use super::layout::Layout;
use crate::dialect::Table;
use crate::json::{Document, Value};

/// The row format of a file, determined by its first row, or by the document that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowFormat {
    /// `None` if each row tells its own: rows without a header, and plain messages of any dialect.
    pub layout: Option<&'static Layout>,
    version: u64,
}

impl RowFormat {
    /// Determines the format from the first row of a file, or returns `None` if that is not valid
    /// JSON.
    pub fn of(first_row: &[u8]) -> Option<RowFormat> {
        let document = Document::parse(first_row)?;
        let root = document.root();
        // A row with a role is a message, whatever else it has.
        let layout = Layout::of_start(root).filter(|layout| layout.is_plain() || root.get("role").is_none());
        // A missing version means the first.
        let version = root.get("version").and_then(Value::whole).unwrap_or(1);
        Some(RowFormat { layout, version })
    }

    /// Returns the format of a file that is one JSON value.
    pub fn of_document(layout: &'static Layout) -> RowFormat {
        RowFormat { layout: Some(layout), version: 1 }
    }

    pub fn is_tree(self) -> bool {
        self.layout.and_then(|layout| layout.tree).is_some_and(|least| self.version >= least)
    }

    /// Returns true if rows of the file may be those of a layout whose rows have ids.
    pub fn may_link(self, layout: &Layout) -> bool {
        self.layout.is_none_or(|own| own == layout) && (layout.tree.is_none() || self.is_tree())
    }

    pub fn is_document(self) -> bool {
        self.layout.is_some_and(Layout::is_document)
    }
}

/// A row that is valid JSON.
#[derive(Clone, Debug)]
pub struct RowEntry<'d> {
    pub root: Value<'d>,
    format: RowFormat,
    /// The layout that holds the messages, `None` if the row itself is one.
    layout: Option<&'static Layout>,
    /// The objects that may contain tool results.
    pub messages: Vec<Value<'d>>,
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

impl<'d> RowEntry<'d> {
    /// Reads the value of a row.
    pub fn of(root: Value<'d>, format: RowFormat) -> RowEntry<'d> {
        // A row with a role is a message, whatever else it has.
        let wraps = root.get("role").is_none() || format.is_document();
        let (plain, around) = match format.layout {
            Some(layout) if layout.is_plain() => (Some(layout), None),
            around => (None, around),
        };
        let layout = around.or_else(|| Layout::of_row(root)).filter(|_| wraps);
        let messages = match layout.or(plain) {
            Some(layout) => layout.messages(root),
            None if around.is_none() && root.is_container() => vec![root],
            None => vec![],
        };
        RowEntry { root, format, layout, messages }
    }

    /// Reads the value of the same row after a change to its texts.
    pub fn again<'e>(&self, root: Value<'e>) -> RowEntry<'e> {
        RowEntry::of(root, self.format)
    }

    pub fn format(&self) -> RowFormat {
        self.format
    }

    /// Returns the layout that holds the messages.
    pub fn layout(&self) -> Option<&'static Layout> {
        self.layout
    }

    /// Returns true if the row itself is a message.
    pub fn is_plain(&self) -> bool {
        self.layout.is_none()
    }

    /// Returns the layout of the row or, for a message, that of its file.
    pub fn known_layout(&self) -> Option<&'static Layout> {
        self.layout.or(self.format.layout)
    }

    /// Returns copies of results that no model is sent, such as Claude Code's beside the message.
    pub fn shown(&self) -> Vec<Value<'d>> {
        self.layout.map_or(vec![], |layout| layout.shown(self.root))
    }

    /// For a compaction of Pi's first version, returns the index of the first row that it keeps, if
    /// it has one.
    pub fn first_kept(&self) -> Option<Option<u64>> {
        let is_compaction = self.root.get("type").is_some_and(|kind| kind.is("compaction"));
        let index = || self.root.get("firstKeptEntryIndex")?.whole();
        (is_compaction && self.messages.is_empty()).then(index)
    }

    /// Returns true if a row belongs to a side conversation.
    pub fn is_aside(&self) -> bool {
        self.layout.is_some_and(|layout| layout.is_aside(self.root))
    }
}

/// The kind of session, determined by the first recognised row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionKind {
    Known(&'static Layout),
    Messages,
    #[default]
    Unknown,
}

impl SessionKind {
    /// Returns the kind that a row indicates.
    pub fn of(entry: &RowEntry, has_results: bool) -> SessionKind {
        let has_role = |message: &Value| message.get("role").is_some_and(|role| role.text().is_some());
        // A list of messages in one row is a file of another kind.
        let is_message = |message: &Value| {
            !message.is_list() && (has_role(message) || Table::get().is_from_model(*message))
        };
        match entry.known_layout() {
            Some(layout) => SessionKind::Known(layout),
            None if has_results || entry.messages.iter().any(is_message) => SessionKind::Messages,
            None => SessionKind::Unknown,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            SessionKind::Known(layout) => &layout.name,
            SessionKind::Messages => "messages",
            SessionKind::Unknown => "unknown",
        }
    }
}

impl Serialize for SessionKind {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PI: &str = r#"{"type":"session","version":3}"#;

    #[test]
    fn the_header_determines_the_format() {
        for (row, name, is_tree) in [
            (r#"{"type":"session","id":"x"}"#, Some("pi"), false),
            (PI, Some("pi"), true),
            (r#"{"type":"session","version":"3"}"#, Some("pi"), false),
            (r#"{"type":"session","role":"user"}"#, None, false),
            (r#"{"role":"user"}"#, None, false),
            ("[1]", None, false),
        ] {
            let format = RowFormat::of(row.as_bytes()).unwrap();
            assert_eq!(
                (format.layout.map(|layout| &*layout.name), format.is_tree()),
                (name, is_tree),
                "{row}"
            );
        }
        assert_eq!(RowFormat::of(b"garbage"), None);
    }

    #[test]
    fn messages_are_found_in_every_place() {
        let read = |row: &str, format| {
            let document = Document::parse(row.as_bytes()).unwrap();
            let entry = RowEntry::of(document.root(), format);
            let source = |message: &Value| String::from_utf8(message.source().to_vec()).unwrap();
            (entry.is_plain(), entry.messages.iter().map(source).collect::<Vec<_>>())
        };
        let pi = RowFormat::of(PI.as_bytes()).unwrap();
        let message = r#"{"role":"toolResult"}"#.to_owned();
        let row = format!(r#"{{"type":"message","message":{message}}}"#);
        assert_eq!(read(&row, pi), (false, vec![message.clone()]));
        assert_eq!(read(&row, RowFormat::default()), (false, vec![message.clone()]));
        let row = r#"{"type":"user","message":{"role":"user","content":""},"toolUseResult":1}"#;
        assert_eq!(read(row, RowFormat::default()), (false, vec![r#"{"role":"user","content":""}"#.into()]));
        for row in [row, &message, r#"{"type":"custom","data":{}}"#] {
            assert!(read(row, pi).1.is_empty(), "{row}");
        }
        let kimi = RowFormat::of(br#"{"role":"_system_prompt","content":"x"}"#).unwrap();
        assert_eq!(read(&message, RowFormat::default()), (true, vec![message.clone()]));
        for (row, is_sent) in [
            (r#"{"role":"tool","tool_call_id":"c"}"#, true),
            (r#"{"role":"_usage","token_count":1}"#, false),
            (r#"{"role":"_checkpoint","id":0}"#, false),
        ] {
            assert_eq!(read(row, kimi), (true, if is_sent { vec![row.into()] } else { vec![] }));
        }
        let row = r#"{"type":"message","role":"assistant","message":{}}"#;
        assert_eq!(read(row, RowFormat::default()), (true, vec![row.into()]));
        assert!(read(row, pi).1.is_empty());
        assert_eq!(read(" 7\r", RowFormat::default()), (true, vec![]));
    }
}
