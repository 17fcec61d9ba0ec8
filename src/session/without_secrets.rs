//! Rows whose results have secrets.

use std::iter;
use std::sync::LazyLock;

use serde::Deserialize;

use super::rewrite_row::RowOptions;
use super::row_format::RowEntry;
use super::splice::Splices;
use crate::json::{Value, string};
use crate::redact::{redacted_member, redacted_pair};

/// Members whose value belongs to the name of the object around them, or of a member beside them.
#[derive(Deserialize)]
struct Holders {
    values: Vec<String>,
    names: Vec<String>,
}

static HOLDERS: LazyLock<Holders> =
    LazyLock::new(|| serde_json::from_str(include_str!("../redact/holders.json")).expect("holders.json"));

/// Longest list of names and values in turn, as of headers.
const PAIRED: usize = 256;

/// Returns the name of a string's value, as `nameOf` in lib/result/redact_value.ts.
fn name_of(value: Value) -> Option<String> {
    // The elements of a list stand under its name.
    let climbed = iter::successors(Some(value), |value| value.parent().filter(|parent| parent.is_list()));
    let named = climbed.last()?;
    let key = named.name()?.string()?;
    if !HOLDERS.values.contains(&key.to_lowercase()) {
        return Some(key);
    }
    let object = named.parent()?;
    let beside = |name: String| object.get(&name).filter(|_| name != key)?.string();
    let spelt = |name: &String| {
        let (first, rest) = name.split_at(1);
        [name.clone(), first.to_uppercase() + rest]
    };
    let beside = HOLDERS.names.iter().flat_map(spelt).find_map(beside);
    beside.or_else(|| name_of(object)).or(Some(key))
}

/// Returns the name before a value in a list where names and values take turns.
fn paired(leaf: Value) -> Option<String> {
    let list = leaf.parent().filter(|parent| parent.is_list())?;
    let elements: Vec<Value> = list.elements().take(PAIRED + 1).collect();
    let at = elements.iter().position(|element| element.id() == leaf.id())?;
    let is_value = at % 2 == 1 && elements.len().is_multiple_of(2) && elements.len() <= PAIRED;
    elements.get(at.checked_sub(1).filter(|_| is_value)?)?.string()
}

impl RowOptions {
    /// Returns a row with results without its secrets, `None` if it has none.
    pub fn without_secrets(&self, entry: &RowEntry) -> Option<Vec<u8>> {
        let rules = self.rules.policy.redact.as_ref()?;
        let results = self.results(entry);
        let shown = self.shown(entry, &results);
        if results.is_empty() && shown.is_empty() {
            return None;
        }
        let mut splices = Splices::default();
        let parts = entry.messages.iter().copied().chain(shown);
        let leaves = parts.flat_map(Value::leaves).filter(|leaf| !leaf.is_name());
        for leaf in leaves {
            let Some(text) = leaf.string() else { continue };
            let behind = || paired(leaf).and_then(|name| redacted_pair(&name, &text, rules));
            let named = || redacted_member(&name_of(leaf).unwrap_or_default(), &text, rules);
            if let Some(left) = behind().or_else(named) {
                splices.replace(leaf, string(&String::from_utf8_lossy(&left)));
            }
        }
        (!splices.is_empty()).then(|| splices.written_row(entry.root))
    }
}
