//! Layouts: where the agents keep the messages of a session, read from `src/layouts.json`.
//!
//! A layout with `starts` is recognised by the first row, one with `document` by a file that is one
//! JSON value, and any other by each of its rows, which has one of `rows`. These marks are those of
//! its own messages: members around a message, such as its id and its parent, are alike in several
//! agents. `sent` leads to values that a model is sent, and without it each row is one. `shown`
//! leads to copies that only a person is shown or a program counts, and `aside` to rows of side
//! conversations. From version `tree` on, rows form a tree. With `offsets`, rows keep their length.
//!
//! Facts about the agent tell which repair helps it. It `mends` calls without a result, results
//! without a call, rows glued together, or bytes that are not UTF-8, when it resumes a session; it
//! `loses` all before a row that it cannot read, or that is not there; it `cuts` a result to so
//! many chars when it sends it. Plain messages have no agent, so nothing of them is mended.
//! `apart`: the agent sends each message of the model by itself to providers that want its results
//! behind it. Rows at `repeats` only repeat results that the row of the call has, so none is
//! missed. `provider`, which TypeScript alone reads, is the only provider of the agent. `seen` is
//! the version that opened sessions after repairs; a layout that was only read in the sources of
//! its agent is known `by` these.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

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
    rows: Vec<String>,
    sent: Vec<String>,
    shown: Vec<String>,
    aside: Vec<String>,
    repeats: Vec<String>,
    offsets: bool,
    tree: Option<u64>,
    apart: bool,
    answer: Option<Template>,
    chain: Option<[String; 2]>,
    mends: Vec<Mended>,
    loses: bool,
    cuts: Option<usize>,
    #[serde(rename = "provider")]
    _provider: IgnoredAny,
    seen: Option<String>,
    by: Option<Knowledge>,
}

/// The damage that an agent itself mends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Mended {
    /// Calls without a result.
    Calls,
    /// Results without a call.
    Results,
    /// Rows on one line.
    Glued,
    /// Bytes that are not UTF-8, in a text.
    Bytes,
}

/// The way in which a layout that no run has shown is known.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Knowledge {
    Source,
}

/// `agents`, which TypeScript alone reads, is not a member here.
#[derive(Debug, Deserialize)]
struct LayoutTable {
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
    is_plain: bool,
    /// Paths that the first row, or the document, has all.
    starts: Vec<Paths>,
    document: Vec<Paths>,
    /// Marks of a row, if no first row announces the layout. Any of them is enough.
    rows: Paths,
    sent: Paths,
    shown: Paths,
    aside: Paths,
    repeats: Paths,
    /// Other files hold offsets into the file; see [`super::offsets`].
    pub offsets: bool,
    /// The first version whose rows form a tree.
    pub tree: Option<u64>,
    /// Messages of the model in a row are turns of their own, in any dialect.
    pub apart: bool,
    /// The row for a result that is put in. "$message" is replaced by it, "$new" by an id, and
    /// "$parent" by that of the row before. It also gets the members that all rows have. In a
    /// document: the members that a result has beside those of its dialect, if no other shows
    /// them. "$tool" is replaced by the name of the tool.
    pub answer: Option<Template>,
    /// The members with the id of a row, and of the row that it follows.
    pub chain: Option<[String; 2]>,
    mends: Vec<Mended>,
    /// The agent sends nothing of what precedes a row that it cannot read.
    pub loses: bool,
    /// Chars to which the agent cuts a result when it sends it.
    pub cuts: Option<usize>,
    /// The agent was not seen to open a session of this layout after a repair.
    pub by_source: bool,
}

/// Layouts, databases, and the members in which rows have their id.
type Tables = (Vec<Layout>, Vec<Database>, BTreeSet<String>);

static TABLE: LazyLock<Tables> = LazyLock::new(|| {
    let read = |source| -> Result<Tables, String> {
        let file: LayoutTable = serde_json::from_str(source).map_err(|error| error.to_string())?;
        let layouts = file.layouts.into_iter().map(Layout::of).collect::<Result<Vec<Layout>, _>>()?;
        let ids = layouts.iter().filter_map(|layout| Some(layout.chain.as_ref()?[0].clone())).collect();
        Ok((layouts, file.databases, ids))
    };
    read(include_str!("../layouts.json")).unwrap_or_else(|error| panic!("src/layouts.json: {error}"))
});

impl Layout {
    fn of(data: LayoutData) -> Result<Layout, String> {
        let each = |paths: &[String]| paths.iter().map(|path| Paths::of([path])).collect::<Result<_, _>>();
        let LayoutData { name, starts, document, rows, sent, shown, aside, repeats, offsets, .. } = data;
        let LayoutData { tree, apart, answer, chain, mends, loses, cuts, seen, by, .. } = data;
        if seen.is_some() && by.is_some() {
            return Err(format!("{name} was seen, or is known by its source"));
        }
        Ok(Layout {
            name,
            is_plain: starts.iter().any(|path| path.starts_with("[role=")),
            rows: Paths::of(rows)?,
            mends,
            loses,
            cuts,
            by_source: by.is_some(),
            starts: each(&starts)?,
            document: each(&document)?,
            sent: Paths::of(sent)?,
            shown: Paths::of(shown)?,
            aside: Paths::of(aside)?,
            repeats: Paths::of(repeats)?,
            offsets,
            tree,
            apart,
            answer,
            chain,
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
            .filter(|layout| layout.document.is_empty() && layout.may_have(row))
            .find(|layout| layout.messages(row).first().is_some_and(|message| *message != row))
    }

    /// Returns true unless the layout has marks of its rows, and this row none of them.
    fn may_have(&self, row: Value) -> bool {
        self.rows.is_empty() || self.rows.leads(row)
    }

    /// Returns true if each row that a model is sent is a message itself, as without a layout. The
    /// first row then has a role as well.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns true if the agent itself mends these when it resumes a session.
    pub fn mends(&self, what: Mended) -> bool {
        self.mends.contains(&what)
    }

    /// Returns the members in which rows have their id.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        TABLE.2.iter().map(String::as_str)
    }

    /// Returns the layouts whose rows name the row before, each with the members with the two ids.
    pub fn linked() -> impl Iterator<Item = (&'static Layout, &'static [String; 2])> {
        TABLE.0.iter().filter_map(|layout| Some((layout, layout.chain.as_ref()?)))
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

    /// Returns true if a row only repeats results of others.
    pub fn repeats(&self, row: Value) -> bool {
        self.repeats.leads(row)
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
            (r#"{"role":"_system_prompt","content":"x"}"#, Some("kimi")),
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
            (r#"{"type":"user","message":{"role":"user","content":"x"}}"#, Some("claude-code")),
            (r#"{"type":"user","message":{"role":"user","parts":[]}}"#, Some("qwen")),
            (r#"{"type":"tool_result","message":{"role":"user","parts":[]}}"#, Some("qwen")),
            (r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user"}}"#, None),
            (r#"{"type":"response_item","payload":{"type":"message"}}"#, Some("codex")),
            (r#"{"type":"user","content":"x"}"#, None),
            (r#"{"type":"user","message":"x"}"#, None),
        ] {
            assert_eq!(read(row, Layout::of_row).map(|(name, _)| name).as_deref(), name, "{row}");
        }
    }
}
