//! The table of dialects.

use std::sync::OnceLock;

use super::form::Form;
use super::names::{Name, Names};
use super::object::Object;
use super::path::{As, End, Follower, Paths};
use super::result::ToolResult;
use crate::json::literal::Literal;
use crate::json::members::{elements, members};
use crate::json::scan::{Kind, Span, document};

static SOURCE: &str = include_str!("../dialects.json");

/// Names read from session rows that the table does not contain.
const OF_ROWS: [&str; 10] = [
    "message",
    "toolUseResult",
    "version",
    "id",
    "parentId",
    "targetId",
    "appendMode",
    "isSidechain",
    "firstKeptEntryId",
    "firstKeptEntryIndex",
];

/// The table, parsed on first use.
#[derive(Debug)]
pub struct Table {
    pub names: Names,
    rows: Vec<Row>,
    forms: Vec<Form>,
    calls: Vec<Call>,
    from_model: Paths,
    failed: Paths,
    role: Name,
    type_: Name,
}

/// The paths of one dialect.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub slots: Paths,
    /// All known paths of a result.
    pub known: Paths,
    pub id: Paths,
    pub tool: Paths,
    pub error: Paths,
    pub side: Paths,
    /// The member in which a class keeps a second copy of its members.
    pub copy: Option<Name>,
}

impl Row {
    #[inline(never)]
    fn of(data: &Data, mcp: &Data, names: &mut Names) -> Row {
        let mut paths = |name| Paths::of(data.texts(name).iter().map(String::as_str), names);
        let [id, tool, error, side] = ["id", "tool", "error", "side"].map(&mut paths);
        let json = data.pairs("json");
        // JSON that may be an MCP result also gets the MCP paths below it.
        let below = |name: &str| -> Vec<String> {
            let results = json.iter().filter(|(_, how)| how == "result");
            let ends = results
                .flat_map(|(path, _)| mcp.texts(name).into_iter().map(move |end| format!("{path}.{end}")));
            data.texts(name).into_iter().chain(ends).collect()
        };
        let [mut slots, mut known] = [Paths::default(), Paths::default()];
        for (name, end) in WORDS.map(|name| (name, End::Word)) {
            data.texts(name).iter().for_each(|path| known.grow(path, Some(end), names));
        }
        below("media").iter().for_each(|path| known.grow(path, Some(End::Payload), names));
        for tree in [&mut slots, &mut known] {
            below("text").iter().for_each(|path| tree.grow(path, Some(End::Text), names));
            for (path, how) in &json {
                tree.grow(path, As::named(how).map(End::Json), names);
            }
            below("other").iter().for_each(|path| tree.grow(path, None, names));
        }
        let copy = data.text("copy");
        for path in data.texts("side").iter().chain(&data.texts("aside")).chain(&copy) {
            known.grow(path, Some(End::Aside), names);
        }
        let copy = copy.map(|name| names.learn(&name));
        Row { name: data.text("name").unwrap_or_default(), slots, known, id, tool, error, side, copy }
    }
}

/// Fields that hold a result's identity and outcome.
const WORDS: [&str; 3] = ["id", "tool", "error"];

/// The location of tool calls in a dialect's messages.
#[derive(Debug)]
struct Call {
    at: Paths,
    id: Paths,
    tool: Paths,
}

impl Call {
    fn of(data: &Data, names: &mut Names) -> Call {
        let [at, id, tool] = ["at", "id", "tool"].map(|name| Paths::of(data.text(name).as_deref(), names));
        Call { at, id, tool }
    }
}

impl Table {
    pub fn get() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(Table::read)
    }

    fn read() -> Table {
        let source = SOURCE.as_bytes();
        let all = Data(document(source).unwrap_or(Span { start: 0, end: 1 }));
        let mut names = Names::default();
        let (mut rows, mut forms, mut calls) = (vec![], vec![], vec![]);
        let (mut model, mut failed) = (vec![], vec![]);
        let mcp = all.list().find(|data| data.text("name").as_deref() == Some("mcp")).unwrap_or(all);
        for data in all.list() {
            for form in data.get("forms").into_iter().flat_map(Data::list) {
                forms.push(Form::of(rows.len(), &form, &mut names));
            }
            for call in data.get("calls").into_iter().flat_map(Data::list) {
                calls.push(Call::of(&call, &mut names));
            }
            model.extend(data.texts("model"));
            failed.extend(data.texts("failed"));
            rows.push(Row::of(&data, &mcp, &mut names));
        }
        let mut paths = |texts: &[String]| Paths::of(texts.iter().map(String::as_str), &mut names);
        let (from_model, failed) = (paths(&model), paths(&failed));
        for name in OF_ROWS {
            names.learn(name);
        }
        let [role, type_] = ["role", "type"].map(|name| names.learn(name));
        Table { rows, forms, calls, from_model, failed, role, type_, names }
    }

    /// Finds the tool results that a value is or carries, in order. With `named`, only those of that dialect.
    pub fn results(&self, row: &[u8], value: &Object, named: Option<&str>) -> Vec<ToolResult<'_>> {
        let follower = self.follower(row);
        for form in self.forms_for(row, value) {
            let dialect = &self.rows[form.row];
            if named.is_some_and(|named| named != dialect.name) {
                continue;
            }
            let objects = form.objects(follower, value).unwrap_or_default();
            let results = objects
                .into_iter()
                .filter_map(|object| ToolResult::read(follower, dialect, object, form.blocks));
            let results: Vec<ToolResult> = results.collect();
            if !results.is_empty() {
                return results;
            }
        }
        vec![]
    }

    /// Calls `tell` with the id and the tool name of each tool call in a message.
    pub fn each_call(&self, row: &[u8], message: &Object, mut tell: impl FnMut(String, String)) {
        let follower = self.follower(row);
        for Call { at, id, tool } in &self.calls {
            follower.follow(at, message, &mut |found| {
                let call = follower.object(found.value);
                if let Some((id, tool)) = follower.first_text(id, &call).zip(follower.first_text(tool, &call))
                {
                    tell(id, tool);
                }
                true
            });
        }
    }

    /// Returns true if the model wrote the message.
    pub fn is_from_model(&self, row: &[u8], message: &Object) -> bool {
        self.follower(row).leads(&self.from_model, message)
    }

    /// Returns true if the message is a model's answer. Failed turns do not count.
    pub fn is_answer(&self, row: &[u8], message: &Object) -> bool {
        self.is_from_model(row, message) && !self.follower(row).leads(&self.failed, message)
    }

    pub fn follower<'a>(&'a self, row: &'a [u8]) -> Follower<'a> {
        Follower { row, names: &self.names }
    }

    fn forms_for(&self, row: &[u8], value: &Object) -> Vec<&Form> {
        let tag = |name| {
            let value = value.get(name)?.value.of(row);
            Some((Kind::of(value) == Kind::String).then(|| Literal::of(value).string()))
        };
        let forms = |test: &dyn Fn(&Form) -> bool| self.forms.iter().filter(|form| test(form)).collect();
        if Kind::of(value.span.of(row)) == Kind::Array {
            return forms(&|form| form.is_list);
        }
        match (tag(self.role), tag(self.type_)) {
            (Some(Some(role)), _) => forms(&|form| form.role.contains(&role)),
            (Some(None), _) | (None, Some(None)) => vec![],
            (None, Some(Some(of))) => {
                let mut found: Vec<&Form> = forms(&|form| form.types.contains(&of));
                found.extend(self.forms.iter().filter(|form| form.starts(&of)));
                found
            }
            (None, None) => forms(&|form| !form.is_list && form.role.is_empty() && form.types.is_empty()),
        }
    }
}

/// A value in the table's source.
#[derive(Clone, Copy, Debug)]
pub struct Data(Span);

impl Data {
    #[inline(never)]
    fn get(&self, name: &str) -> Option<Data> {
        let source = SOURCE.as_bytes();
        let member =
            members(source, self.0).find(|member| Literal::of(member.key.of(source)).is(name.as_bytes()));
        member.map(|member| Data(member.value))
    }

    fn list(self) -> impl Iterator<Item = Data> {
        elements(SOURCE.as_bytes(), self.0).map(Data)
    }

    fn string(self) -> String {
        Literal::of(self.0.of(SOURCE.as_bytes())).string()
    }

    #[inline(never)]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(Data::string)
    }

    #[inline(never)]
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.get(name).into_iter().flat_map(Data::list).map(Data::string).collect()
    }

    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|Data(span)| span.of(SOURCE.as_bytes()) == b"true")
    }

    fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pair = |Data(span): Data| -> Vec<(String, String)> {
            members(SOURCE.as_bytes(), span)
                .map(|member| (Data(member.key).string(), Data(member.value).string()))
                .collect()
        };
        self.get(name).map(pair).unwrap_or_default()
    }
}
