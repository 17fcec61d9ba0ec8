//! Copies in MCP results: texts that repeat the structured content.

use std::collections::BTreeMap;
use std::iter;

use super::ToolResult;
use crate::json::{Document, Value, equal};

/// The copies that stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyChoice {
    #[default]
    Both,
    Text,
    Structured,
}

/// Returns the values to remove from a result: structured content (a member), or blocks (elements)
/// that repeat it.
pub fn copies<'d>(result: &ToolResult<'d>, kept: CopyChoice) -> Vec<Value<'d>> {
    let places = result.slots.iter().flat_map(|slot| [Some(slot.value), holder_of(slot.value)]).flatten();
    let holders: BTreeMap<u32, Value> =
        iter::once(result.object).chain(places).map(|value| (value.id(), value)).collect();
    holders.into_values().flat_map(|holder| copies_in(holder, kept)).collect()
}

/// Returns the object whose content holds a text.
fn holder_of(text: Value) -> Option<Value> {
    text.parent()?.parent()?.parent()
}

fn copies_in<'d>(holder: Value<'d>, kept: CopyChoice) -> Vec<Value<'d>> {
    let Some((structured, content)) = holder.get("structuredContent").zip(holder.get("content")) else {
        return vec![];
    };
    let is_text = |block: &Value| block.is_object() && block.get("type").is_some_and(|kind| kind.is("text"));
    let (blocks, texts): (Vec<Value>, Vec<String>) = content
        .elements()
        .filter(is_text)
        .filter_map(|block| Some((block, block.get("text")?.string()?)))
        .unzip();
    let repeats = repeats(structured, &texts);
    match kept {
        CopyChoice::Text if repeats.contains(&true) => vec![structured],
        // A message, which has a role, is sent without its structured content.
        CopyChoice::Structured if holder.get("role").is_none() => {
            blocks.into_iter().zip(repeats).filter(|(_, repeats)| *repeats).map(|(block, _)| block).collect()
        }
        _ => vec![],
    }
}

/// Tells of each text if it repeats structured content: all of it, or its only member `result`,
/// into which servers wrap a value that is not an object. Of a list the texts may be the elements.
pub fn repeats(structured: Value, texts: &[String]) -> Vec<bool> {
    let documents: Vec<Option<Document>> =
        texts.iter().map(|text| Document::parse(text.as_bytes())).collect();
    let says = |at: usize, value: Value| {
        value.is(&texts[at]) || documents[at].as_ref().is_some_and(|document| equal(value, document.root()))
    };
    let mut members = structured.members();
    let only = members.next().filter(|member| members.next().is_none() && member.is_named("result"));
    for value in iter::once(structured).chain(only) {
        let whole: Vec<bool> = (0..texts.len()).map(|at| says(at, value)).collect();
        if whole.contains(&true) {
            return whole;
        }
        let elements: Vec<Value> = value.elements().collect();
        if elements.len() == texts.len() && elements.iter().enumerate().all(|(at, value)| says(at, *value)) {
            return vec![true; texts.len()];
        }
    }
    vec![false; texts.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_repeat_all_or_what_servers_wrap() {
        let flags = |structured: &str, texts: &[&str]| {
            let document = Document::parse(structured.as_bytes()).unwrap();
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            repeats(document.root(), &texts)
        };
        let rows = r#"{"rows":[1,2]}"#;
        assert_eq!(flags(rows, &["two rows", "{ \"rows\": [1, 2] }"]), [false, true]);
        assert_eq!(flags(rows, &["two rows", "{\"rows\":[1]}"]), [false, false]);
        assert_eq!(flags(r#"{"result":"it is { so"}"#, &["it is { so"]), [true]);
        assert_eq!(flags(r#"{"result":4}"#, &["4.0"]), [true]);
        assert_eq!(flags(r#"{"result":[{"a":1},"b"]}"#, &["{\"a\": 1}", "b"]), [true, true]);
        assert_eq!(flags(r#"{"result":[{"a":1},"b"]}"#, &["b", "{\"a\": 1}"]), [false, false]);
        assert_eq!(flags(r#"{"result":4,"unit":"m"}"#, &["4"]), [false]);
        assert!(flags(r#"{"result":[]}"#, &[]).is_empty());
    }
}
