//! Flaws that no repair changes, by which a host loses messages in silence, or every provider
//! rejects the next request: the name of a call that no provider takes, and a row
//! on the way from the last row to the first that names a row before it which is not in the file.
//! Some hosts (`loses` in the layout) read their rows from the last one back, and send nothing from
//! before that row. Others go on with the row above it.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::layout::Layout;
use super::pairs::reading::DialectFinder;
use super::row_format::RowEntry;
use crate::dialect::Table;
use crate::hash::hash;
use crate::json::Value;

/// Lines of a file, from 1; of a document, the numbers of its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flaws {
    /// The first call with a name that no provider takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_name: Option<u64>,
    /// The row on the active branch before which all is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_parent: Option<u64>,
}

/// Reads rows for flaws.
#[derive(Debug, Default)]
pub struct FlawReader {
    invalid_name: Option<u64>,
    /// The dialect whose calls have names.
    finder: DialectFinder,
    /// The members with the id of a row and of the row before it, once known.
    chain: Option<&'static [String; 2]>,
    /// All rows with an id, by its hash.
    ids: HashSet<u64>,
    /// The row before each, if it names one, and its line.
    before: HashMap<u64, (Option<u64>, u64)>,
    first: Option<u64>,
    last: Option<u64>,
}

/// Chars of the longest name that a provider takes.
const LONGEST: usize = 128;

/// Returns true if at least one provider takes the name of a tool: letters, digits, and signs that
/// are in the names of namespaces.
fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_part)
}

impl FlawReader {
    /// Takes a row at a line, or the document.
    pub fn push(&mut self, line: u64, entry: &RowEntry) {
        if self.invalid_name.is_none() && !entry.is_aside() {
            let is_document = entry.format().is_document();
            let named = |message: &Value| {
                self.finder.take(*message, entry.layout());
                let all = Table::get().call_paths();
                let kinds = self.finder.sure().map_or(all, |(rules, _)| &all[rules.kinds.clone()]);
                let tools = kinds.iter().flat_map(|kind| {
                    kind.objects(*message).into_iter().filter_map(|call| kind.tool_of(call))
                });
                tools.into_iter().any(|name| !is_name(&name))
            };
            let at = entry.messages.iter().position(named);
            self.invalid_name = at.map(|at| if is_document { at as u64 + 1 } else { line });
        }
        let id_of = |name: &str| entry.root.get(name).and_then(Value::string).map(|id| hash(id.as_bytes()));
        // A row of unknown layout may be one that others name.
        self.ids.extend(Layout::ids().filter_map(&id_of));
        let loses = |layout: &&Layout| layout.loses;
        self.chain = self.chain.or_else(|| entry.layout().filter(loses)?.chain.as_ref());
        let Some([id, parent]) = self.chain.filter(|_| !entry.is_aside()) else { return };
        let Some(id) = id_of(id) else { return };
        // The header of a file has an id and no parent.
        if entry.root.get(parent).is_none() {
            return;
        }
        self.first.get_or_insert(line);
        self.last = Some(id);
        self.before.insert(id, (id_of(parent), line));
    }

    pub fn done(self) -> Flaws {
        let (mut at, mut steps, mut lost_parent) = (self.last, 0, None);
        while let Some((parent, line)) = at.and_then(|id| self.before.get(&id)) {
            steps += 1;
            let is_lost = parent.is_some_and(|parent| !self.ids.contains(&parent));
            if is_lost && self.first.is_some_and(|first| first < *line) {
                lost_parent = Some(*line);
            }
            // Rows that follow each other have no end.
            if steps > self.before.len() {
                break;
            }
            at = *parent;
        }
        Flaws { invalid_name: self.invalid_name, lost_parent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use crate::session::row_format::RowFormat;
    use proptest::prelude::*;

    fn flaws(rows: &[String]) -> Flaws {
        let (mut reader, format) = (FlawReader::default(), RowFormat::of(rows[0].as_bytes()).unwrap());
        for (row, line) in rows.iter().zip(1..) {
            let document = Document::parse(row.as_bytes()).unwrap();
            reader.push(line, &RowEntry::of(document.root(), format));
        }
        reader.done()
    }

    fn pi(parents: &[Option<usize>]) -> Vec<String> {
        let row = |(at, parent): (usize, &Option<usize>)| {
            let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
            format!(
                r#"{{"type":"message","id":"{at}","parentId":{parent},"message":{{"role":"user","content":"x"}}}}"#
            )
        };
        let header = r#"{"type":"session","version":3,"id":"s"}"#.to_owned();
        std::iter::once(header).chain(parents.iter().enumerate().map(row)).collect()
    }

    fn claude(name: &str) -> Vec<String> {
        vec![format!(
            r#"{{"type":"assistant","uuid":"a","parentUuid":null,"message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"{name}","input":{{}}}}]}}}}"#
        )]
    }

    #[test]
    fn a_parent_that_is_not_in_the_file_is_found_on_the_active_branch() {
        let lost = |parents: &[Option<usize>]| flaws(&pi(parents)).lost_parent;
        assert_eq!(lost(&[None, Some(0), Some(9), Some(2)]), Some(4));
        assert_eq!(lost(&[None, Some(0), Some(1)]), None);
        // On another branch, and in the first row of a part of a session.
        assert_eq!(lost(&[None, Some(9), Some(0)]), None);
        assert_eq!(lost(&[Some(9), Some(0)]), None);
        assert_eq!(lost(&[None, Some(2), Some(1)]), None);
    }

    #[test]
    fn no_parent_is_lost_to_a_host_that_goes_on_with_the_row_above() {
        let row = |kind: &str, id: &str, parent: &str, message: &str| {
            format!(r#"{{"type":"{kind}","uuid":"{id}","parentUuid":"{parent}","message":{message}}}"#)
        };
        let said = r#"{"role":"user","content":"x"}"#;
        let claude = ["a", "b"].map(|id| row("user", id, "gone", said));
        assert_eq!(flaws(&claude).lost_parent, None);
        let said = r#"{"role":"user","parts":[{"text":"x"}]}"#;
        let qwen = ["a", "b"].map(|id| row("user", id, "gone", said));
        assert_eq!(flaws(&qwen).lost_parent, Some(2));
    }

    #[test]
    fn names_are_those_that_a_provider_takes() {
        for name in ["Bash", "mcp__a-b__c", "ns.tool", "a:b"] {
            assert_eq!(flaws(&claude(name)).invalid_name, None, "{name}");
        }
        for name in ["", "a b", "a\\u0000b", "\u{e9}", &"x".repeat(129)] {
            assert_eq!(flaws(&claude(name)).invalid_name, Some(1), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_chain_is_lost_where_a_model_says(parents in prop::collection::vec(prop::option::of(0..12usize), 1..12)) {
            let (mut at, mut lost, mut seen) = (parents.len() - 1, None, vec![]);
            while !seen.contains(&at) {
                seen.push(at);
                match parents[at] {
                    Some(parent) if parent < parents.len() => at = parent,
                    Some(_) if at > 0 => lost = Some(at as u64 + 2),
                    _ => {}
                }
            }
            prop_assert_eq!(flaws(&pi(&parents)).lost_parent, lost);
        }
    }
}
