//! Layouts: where the agents keep the messages of a session, read from `src/layouts.json`.
//!
//! A layout with `starts` is recognised by the first row, one with `document` by a file that is one
//! JSON value, and any other by each of its rows. `sent` leads to values that a model is sent,
//! `shown` to copies that only a person is shown or a program counts, and `aside` to rows of side
//! conversations. From version `tree` on, rows form a tree.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::dialect::Template;
use crate::dialect::path::Paths;
use crate::json::Value;

/// A layout as the table writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LayoutData {
    name: String,
    starts: Vec<String>,
    document: Vec<String>,
    sent: Vec<String>,
    shown: Vec<String>,
    aside: Vec<String>,
    tree: Option<u64>,
    answer: Option<Template>,
    chain: Option<[String; 2]>,
    offsets: bool,
}

/// `agents`, which TypeScript alone reads, is not a member here.
#[derive(Debug, Deserialize)]
struct File {
    layouts: Vec<LayoutData>,
    databases: Vec<Database>,
}

/// A database that an agent keeps sessions in, or an index of them.
#[derive(Debug, Deserialize)]
pub struct Database {
    pub agent: String,
    /// Names of files; `*` matches any chars.
    files: Vec<String>,
    /// The advice in place of a repair.
    pub advice: String,
}

impl Database {
    /// Returns the database that files of a name are.
    pub fn named(name: &str) -> Option<&'static Database> {
        let is = |pattern: &String| match pattern.split_once('*') {
            Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
            None => name == pattern,
        };
        TABLE.1.iter().find(|database| database.files.iter().any(is))
    }
}

#[derive(Debug)]
pub struct Layout {
    pub name: String,
    /// Paths that the first row, or the document, has all.
    starts: Vec<Paths>,
    document: Vec<Paths>,
    sent: Paths,
    shown: Paths,
    aside: Paths,
    /// The first version whose rows form a tree.
    pub tree: Option<u64>,
    /// The row for a result that is put in. "$message" is replaced by it, "$new" by an id, and
    /// "$parent" by that of the row before. It also gets the members that all rows have. In a
    /// document: the members that a result has beside those of its dialect, if no other shows
    /// them. "$tool" is replaced by the name of the tool.
    pub answer: Option<Template>,
    /// The members with the id of a row, and of the row that it follows.
    pub chain: Option<[String; 2]>,
    /// Other files hold byte offsets of this one, so no row comes in or goes.
    pub offsets: bool,
}

static TABLE: LazyLock<(Vec<Layout>, Vec<Database>)> = LazyLock::new(|| {
    let read = |source| -> Result<(Vec<Layout>, Vec<Database>), String> {
        let file: File = serde_json::from_str(source).map_err(|error| error.to_string())?;
        let layouts = file.layouts.into_iter().map(Layout::of).collect::<Result<_, _>>()?;
        Ok((layouts, file.databases))
    };
    read(include_str!("../layouts.json")).unwrap_or_else(|error| panic!("src/layouts.json: {error}"))
});

impl Layout {
    fn of(data: LayoutData) -> Result<Layout, String> {
        let each = |paths: &[String]| paths.iter().map(|path| Paths::of([path])).collect::<Result<_, _>>();
        let LayoutData { name, starts, document, sent, shown, aside, tree, answer, chain, offsets } = data;
        Ok(Layout {
            name,
            starts: each(&starts)?,
            document: each(&document)?,
            sent: Paths::of(sent)?,
            shown: Paths::of(shown)?,
            aside: Paths::of(aside)?,
            tree,
            answer,
            chain,
            offsets,
        })
    }

    /// Returns the layout that the first row of a file announces.
    pub fn of_start(row: Value) -> Option<&'static Layout> {
        TABLE.0.iter().find(|layout| has_all(&layout.starts, row))
    }

    /// Returns the layout of a file that is one JSON value.
    pub fn of_document(root: Value) -> Option<&'static Layout> {
        TABLE.0.iter().find(|layout| has_all(&layout.document, root))
    }

    /// Returns the layout of a row that holds its message, if the file has no header.
    pub fn of_row(row: Value) -> Option<&'static Layout> {
        TABLE
            .0
            .iter()
            .filter(|layout| layout.document.is_empty())
            .find(|layout| layout.messages(row).first().is_some_and(|message| *message != row))
    }

    pub fn is_document(&self) -> bool {
        !self.document.is_empty()
    }

    /// Returns the objects in a row that a model is sent.
    pub fn messages<'d>(&self, row: Value<'d>) -> Vec<Value<'d>> {
        self.sent.ends(row).into_iter().filter(|message| message.is_object()).collect()
    }

    pub fn shown<'d>(&self, row: Value<'d>) -> Vec<Value<'d>> {
        self.shown.ends(row)
    }

    pub fn is_aside(&self, row: Value) -> bool {
        self.aside.leads(row)
    }
}

impl Eq for Layout {}

/// Layouts are one for each row of the table.
impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

fn has_all(paths: &[Paths], value: Value) -> bool {
    !paths.is_empty() && paths.iter().all(|paths| paths.leads(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    /// Returns the name of the layout that a value has, and its messages.
    fn read(json: &str, find: impl Fn(Value) -> Option<&'static Layout>) -> Option<(String, Vec<String>)> {
        let document = Document::parse(json.as_bytes()).unwrap();
        let source = |message: Value| String::from_utf8(message.source().to_vec()).unwrap();
        let layout = find(document.root())?;
        Some((layout.name.clone(), layout.messages(document.root()).into_iter().map(source).collect()))
    }

    #[test]
    fn the_table_is_read() {
        assert!(TABLE.0.iter().any(|layout| layout.name == "pi"));
    }

    #[test]
    fn databases_are_told_by_their_names() {
        let agent = |name| Database::named(name).map(|database| &*database.agent);
        assert_eq!(
            ["sessions.db", "opencode-dev.db", "own.db"].map(agent),
            [Some("Goose"), Some("OpenCode"), None]
        );
    }

    #[test]
    fn first_rows_announce_a_layout() {
        for (row, name) in [
            (r#"{"type":"session","version":3}"#, Some("pi")),
            (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#, Some("codex")),
            (r#"{"type":"session.start","data":{"sessionId":"x"}}"#, Some("copilot")),
            (r#"{"sessionId":"x","projectHash":"y","startTime":"t"}"#, Some("gemini-cli")),
            (r#"{"sessionId":"x","type":"user","message":{}}"#, None),
            ("[1]", None),
        ] {
            assert_eq!(read(row, Layout::of_start).map(|(name, _)| name).as_deref(), name, "{row}");
        }
    }

    #[test]
    fn documents_hold_their_messages() {
        let message = r#"{"role":"user","content":"x"}"#;
        let dated = r#"{"ts":1,"role":"user","content":"x"}"#;
        let part = r#"{"sessionID":"s","messageID":"m","type":"tool","callID":"c"}"#;
        let record = r#"{"type":"gemini","content":""}"#;
        for (json, name, sent) in [
            (format!("[{message}]"), "messages", message),
            (format!("[{dated}]"), "cline", dated),
            (format!(r#"{{"version":2,"messages":[{message}]}}"#), "cline", message),
            (part.into(), "opencode", part),
            (
                format!(r#"{{"info":{{"id":"s"}},"messages":[{{"info":{{}},"parts":[{part}]}}]}}"#),
                "opencode",
                part,
            ),
            (
                format!(r#"{{"sessionId":"s","projectHash":"h","messages":[{{"type":"info"}},{record}]}}"#),
                "gemini-cli",
                record,
            ),
        ] {
            assert_eq!(read(&json, Layout::of_document), Some((name.into(), vec![sent.into()])), "{json}");
        }
        for json in [r#"{"compilerOptions":{}}"#, "[]", "[1]", "7"] {
            assert_eq!(read(json, Layout::of_document), None);
        }
    }

    #[test]
    fn rows_without_a_header_hold_their_message() {
        for (row, name) in [
            (r#"{"type":"message","message":{"role":"user"}}"#, Some("pi")),
            (r#"{"type":"user","message":{"role":"user"}}"#, Some("claude-code")),
            (r#"{"type":"response_item","payload":{"type":"message"}}"#, Some("codex")),
            (r#"{"type":"user","content":"x"}"#, None),
            (r#"{"type":"user","message":"x"}"#, None),
        ] {
            assert_eq!(read(row, Layout::of_row).map(|(name, _)| name).as_deref(), name, "{row}");
        }
    }
}
