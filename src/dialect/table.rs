//! The table of dialects.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::call_paths::{Call, CallData, CallPaths};
use super::form::{Form, FormData, Tags};
use super::pair_rules::{PairRules, PairsData};
use super::path::{As, End, Paths, PayloadWords};
use super::result::ToolResult;
use crate::json::Value;

/// The table in use. TypeScript gives it, so that a new row takes no native build.
static TABLE: OnceLock<Table> = OnceLock::new();

/// The table of dialects. If several rows match a value, the first one wins.
#[derive(Debug)]
pub struct Table {
    dialects: Vec<Dialect>,
    forms: Vec<Form>,
    calls: Vec<CallPaths>,
    user: Paths,
    /// Payloads in messages of the user, by dialect.
    pasted: Vec<(String, Paths)>,
    from_model: Paths,
    failed: Paths,
    pair_rules: Vec<PairRules>,
}

/// The paths of one dialect.
#[derive(Debug)]
pub struct Dialect {
    pub name: String,
    pub slots: Paths,
    /// All known paths of a result.
    pub known: Paths,
    pub id: Paths,
    pub tool: Paths,
    pub error: Paths,
    pub side: Paths,
    pub media: Paths,
    /// Its results are paired with calls.
    pub is_paired: bool,
    /// The members with the id and the tool of a result, as the table names them.
    pub id_names: Vec<String>,
    pub tool_names: Vec<String>,
    /// The member in which a class keeps a second copy of its members.
    pub copy: Option<String>,
}

/// A row of the table as it is written. `lib/dialect/results.ts` documents its fields.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DialectData {
    name: String,
    forms: Vec<FormData>,
    calls: Vec<CallData>,
    user: Vec<String>,
    #[serde(deserialize_with = "in_order")]
    pasted: Vec<(String, PayloadWords)>,
    model: Vec<String>,
    failed: Vec<String>,
    id: Vec<String>,
    tool: Vec<String>,
    error: Vec<String>,
    text: Vec<String>,
    #[serde(deserialize_with = "in_order")]
    json: Vec<(String, As)>,
    other: Vec<String>,
    side: Vec<String>,
    aside: Vec<String>,
    words: Vec<String>,
    #[serde(deserialize_with = "in_order")]
    media: Vec<(String, PayloadWords)>,
    copy: Option<String>,
    pairs: Option<PairsData>,
}

impl DialectData {
    /// Returns true if its calls and results are paired. A format of one agent has no `pairs`: its
    /// histories are only stored.
    fn is_paired(&self) -> bool {
        self.pairs.is_some() || self.calls.iter().any(|call| call.result.is_some())
    }
}

/// Reads an object as pairs: its order is that of the slots.
fn in_order<'de, D: Deserializer<'de>, V: Deserialize<'de>>(data: D) -> Result<Vec<(String, V)>, D::Error> {
    struct Pairs<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for Pairs<V> {
        type Value = Vec<(String, V)>;
        fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
            out.write_str("an object of paths")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            std::iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    data.deserialize_map(Pairs(PhantomData))
}

impl Dialect {
    fn of(data: DialectData, mcp: &McpPaths) -> Result<Dialect, String> {
        let [mut slots, mut known, mut media] = [Paths::default(), Paths::default(), Paths::default()];
        // JSON that may be an MCP result also gets the MCP paths below it.
        let below = |own: &[String], mcp: &[String]| -> Vec<String> {
            let results = data.json.iter().filter(|(_, how)| *how == As::Result);
            let ends = results.flat_map(|(path, _)| mcp.iter().map(move |end| format!("{path}.{end}")));
            own.iter().cloned().chain(ends).collect()
        };
        let words = data.id.iter().chain(&data.tool).chain(&data.error);
        words.into_iter().try_for_each(|path| known.grow(path, Some(End::Word)))?;
        let embedded = data.json.iter().filter(|(_, how)| *how == As::Result);
        let embedded = embedded.flat_map(|(above, _)| {
            mcp.media.iter().map(move |(path, how)| (format!("{above}.{path}"), *how))
        });
        for (path, how) in data.media.iter().cloned().chain(embedded) {
            known.grow(&path, Some(End::Payload(how)))?;
            media.grow(&path, Some(End::Payload(how)))?;
        }
        for tree in [&mut slots, &mut known] {
            for path in below(&data.text, &mcp.text) {
                tree.grow(&path, Some(End::Text))?;
            }
            for (path, how) in &data.json {
                tree.grow(path, Some(End::Json(*how)))?;
            }
            for path in below(&data.other, &mcp.other) {
                tree.grow(&path, None)?;
            }
        }
        for path in data.side.iter().chain(&data.aside).chain(&data.copy) {
            known.grow(path, Some(End::Aside))?;
        }
        data.words.iter().try_for_each(|path| known.grow(path, Some(End::ShortWord)))?;
        let [id, tool, error, side] = [&data.id, &data.tool, &data.error, &data.side].map(Paths::of);
        let (id, tool, error, side) = (id?, tool?, error?, side?);
        Ok(Dialect {
            is_paired: data.is_paired(),
            name: data.name,
            slots,
            known,
            id,
            tool,
            error,
            side,
            media,
            id_names: data.id,
            tool_names: data.tool,
            copy: data.copy,
        })
    }
}

/// The paths of MCP results, which other dialects embed.
#[derive(Default)]
struct McpPaths {
    text: Vec<String>,
    other: Vec<String>,
    media: Vec<(String, PayloadWords)>,
}

impl Table {
    /// Reads the table to use, or fails with its error. A table in use stays.
    pub fn set(source: &str) -> Result<(), String> {
        if TABLE.get().is_none() {
            let _ = TABLE.set(Table::read(source)?);
        }
        Ok(())
    }

    /// Returns the table in use. Without [`Table::set`] there is none, except in unit tests.
    pub fn get() -> &'static Table {
        #[cfg(test)]
        Table::set(include_str!("../dialects.json")).expect("src/dialects.json");
        TABLE.get().expect("a table of dialects is set before a row is read")
    }

    /// Reads a table, or fails with its error.
    fn read(source: &str) -> Result<Table, String> {
        let all: Vec<DialectData> = serde_json::from_str(source).map_err(|error| error.to_string())?;
        let mcp =
            all.iter().find(|data| data.name == "mcp").map(|DialectData { text, other, media, .. }| {
                McpPaths { text: text.clone(), other: other.clone(), media: media.clone() }
            });
        let mcp = mcp.unwrap_or_default();
        let user = Paths::of(all.iter().flat_map(|data| &data.user))?;
        let from_model = Paths::of(all.iter().flat_map(|data| &data.model))?;
        let failed = Paths::of(all.iter().flat_map(|data| &data.failed))?;
        let (mut dialects, mut forms, mut calls, mut pasted) = (vec![], vec![], vec![], vec![]);
        let mut pair_rules = vec![];
        for data in all {
            if !data.pasted.is_empty() {
                let mut paths = Paths::default();
                data.pasted.iter().try_for_each(|(path, how)| paths.grow(path, Some(End::Payload(*how))))?;
                pasted.push((data.name.clone(), paths));
            }
            for form in &data.forms {
                forms.push(Form::of(dialects.len(), form)?);
            }
            let first = calls.len();
            for call in &data.calls {
                calls.push(CallPaths::of(call)?);
            }
            if data.is_paired() {
                let pairs = data.pairs.clone().unwrap_or_default();
                let kinds = first..calls.len();
                pair_rules.push(PairRules::of(&data.name, &pairs, kinds, &calls, data.copy.as_ref())?);
            }
            dialects.push(Dialect::of(data, &mcp)?);
        }
        Ok(Table { dialects, forms, calls, user, pasted, from_model, failed, pair_rules })
    }

    /// Finds the tool results that a value is or carries, in order. With `named`, only those of
    /// that dialect.
    pub fn results<'d>(&'static self, value: Value<'d>, named: Option<&str>) -> Vec<ToolResult<'d>> {
        let tags = &Tags::of(value);
        let matching = |exact| self.forms.iter().filter(move |form| form.matches(tags, exact));
        for form in matching(true).chain(matching(false)) {
            let dialect = &self.dialects[form.dialect];
            if named.is_some_and(|named| named != dialect.name) {
                continue;
            }
            let objects = form.objects(value).into_iter();
            let results: Vec<ToolResult> =
                objects.filter_map(|object| ToolResult::read(dialect, object, form.blocks)).collect();
            if !results.is_empty() {
                return results;
            }
        }
        vec![]
    }

    /// Returns the tool calls in a message.
    pub fn calls<'d>(&self, message: Value<'d>) -> Vec<Call<'d>> {
        self.calls.iter().flat_map(|paths| paths.calls(message)).collect()
    }

    pub fn call_paths(&self) -> &[CallPaths] {
        &self.calls
    }

    /// Returns the rules of all dialects whose calls and results are paired.
    pub fn pair_rules(&self) -> &[PairRules] {
        &self.pair_rules
    }

    /// Returns the objects that are results in a message, whatever they hold, and their dialect.
    pub fn result_objects<'d>(
        &'static self,
        message: Value<'d>,
    ) -> Option<(&'static Dialect, Vec<Value<'d>>)> {
        let tags = &Tags::of(message);
        let matching = |exact| self.forms.iter().filter(move |form| form.matches(tags, exact));
        matching(true).chain(matching(false)).find_map(|form| {
            let dialect = &self.dialects[form.dialect];
            let mut objects = form.objects(message);
            if form.blocks {
                objects.retain(|object| ToolResult::read(dialect, *object, true).is_some());
            }
            (!objects.is_empty()).then_some((dialect, objects))
        })
    }

    /// Returns the words of the user in a message.
    pub fn words<'d>(&self, message: Value<'d>) -> Vec<Value<'d>> {
        let mut words = vec![];
        self.user.follow(message, &mut |_, value| {
            words.extend(value.text().is_some().then_some(value));
            false
        });
        words
    }

    /// Calls back with each payload in a message of the user and the form of its words, under the
    /// paths of the first dialect that has any. With `named`, only under those of that dialect.
    pub fn pasted<'d>(&self, message: Value<'d>, named: Option<&str>) -> Vec<(PayloadWords, Value<'d>)> {
        let own = self.pasted.iter().filter(|(name, _)| named.is_none_or(|named| named == name));
        own.map(|(_, paths)| paths.payloads(message)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns true if the model wrote the message.
    pub fn is_from_model(&self, message: Value) -> bool {
        self.from_model.leads(message)
    }

    /// Returns true if the message is a model's answer. Failed turns do not count.
    pub fn is_answer(&self, message: Value) -> bool {
        self.is_from_model(message) && !self.failed.leads(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        assert!(Table::get().dialects.iter().any(|dialect| dialect.name == "mcp"));
    }

    #[test]
    fn mistakes_in_a_table_are_errors() {
        let row =
            |rest: &str| Table::read(&format!(r#"[{{"name":"x","forms":[{{"role":"tool"}}],{rest}}}]"#));
        assert!(row(r#""text":["content"]"#).is_ok());
        for (bad, error) in [
            (r#""text":["content[type"]"#, "cannot read the path content[type"),
            (r#""json":{"a[]":"strnig"}"#, "unknown variant `strnig`"),
            (r#""texts":["content"]"#, "unknown field `texts`"),
        ] {
            assert!(row(bad).is_err_and(|told| told.contains(error)), "{bad}");
        }
    }

    #[test]
    fn the_first_row_that_matches_wins() {
        let table = r#"[{"name":"a","forms":[{"role":"tool","has":["x"]}],"text":["content"]},
            {"name":"b","forms":[{"role":"tool"}],"text":["content"]}]"#;
        let table: &'static Table = Box::leak(Box::new(Table::read(table).unwrap()));
        for (row, name) in [(r#"{"role":"tool","content":"c"}"#, "b"), (r#"{"role":"tool","x":1}"#, "a")] {
            let document = crate::json::Document::parse(row.as_bytes()).unwrap();
            assert_eq!(table.results(document.root(), None)[0].dialect.name, name);
        }
    }
}
