//! Rows whose results have secrets.

use std::iter;

use super::rewrite_row::Options;
use super::row_format::Entry;
use super::splice::Splices;
use crate::json::{Value, string};
use crate::redact::redacted_member;

impl Options {
    /// Returns a row with results without its secrets, `None` if it has none.
    pub fn without_secrets(&self, entry: &Entry) -> Option<Vec<u8>> {
        let rules = self.rules.policy.redact.as_ref()?;
        if self.results(entry).is_empty() {
            return None;
        }
        let mut splices = Splices::default();
        let parts = [entry.message, entry.second_copy()];
        let leaves = parts.into_iter().flatten().flat_map(Value::leaves).filter(|leaf| !leaf.is_name());
        for leaf in leaves {
            let Some(text) = leaf.string() else { continue };
            // The elements of a list stand under its name.
            let named =
                iter::successors(Some(leaf), |value| value.parent().filter(|parent| parent.is_list()));
            let name = named.last().and_then(Value::name).and_then(Value::string).unwrap_or_default();
            if let Some(left) = redacted_member(&name, &text, rules) {
                splices.replace(leaf, string(&String::from_utf8_lossy(&left)));
            }
        }
        (!splices.is_empty()).then(|| splices.written_row(entry.root))
    }
}
