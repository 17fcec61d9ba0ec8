//! The shapes in which a framework's results appear, recognised by their tags alone.

use super::names::Names;
use super::object::Object;
use super::path::{Follower, Paths};
use super::table::Data;
use crate::json::members::elements;
use crate::json::scan::{Kind, Span};

#[derive(Debug)]
pub struct Form {
    /// Index of the form's dialect in the table.
    pub row: usize,
    pub role: Vec<String>,
    pub types: Vec<String>,
    pub is_list: bool,
    has: Vec<Paths>,
    /// At least one block must be of a known type.
    pub blocks: bool,
    /// The content must be an empty array.
    is_empty: bool,
    results: Option<Paths>,
}

impl Form {
    pub fn of(row: usize, data: &Data, names: &mut Names) -> Form {
        let choices = |name| {
            let text = data.text(name).unwrap_or_default();
            text.split('|').filter(|choice| !choice.is_empty()).map(str::to_owned).collect()
        };
        let results = data.texts("results");
        Form {
            row,
            role: choices("role"),
            types: choices("type"),
            is_list: data.flag("list"),
            has: data.texts("has").iter().map(|path| Paths::of([&**path], names)).collect(),
            blocks: data.flag("blocks"),
            is_empty: data.flag("empty"),
            results: (!results.is_empty()).then(|| Paths::of(results.iter().map(String::as_str), names)),
        }
    }

    /// Returns the objects that are results of this form, or `None` if there are none. Their texts are not read yet.
    pub fn objects(&self, follower: Follower, value: &Object) -> Option<Vec<Object>> {
        if !self.has.iter().all(|paths| follower.leads(paths, value)) {
            return None;
        }
        if self.is_empty && !has_no_block(follower, value) {
            return None;
        }
        let Some(results) = &self.results else { return Some(vec![value.clone()]) };
        let mut objects = vec![];
        follower.follow(results, value, &mut |found| {
            if Kind::of(found.value.of(follower.row)).is_container() {
                objects.push(follower.object(found.value));
            }
            found.paths.members.is_empty()
        });
        (!objects.is_empty()).then_some(objects)
    }

    /// Returns true if a type matches one of this form's prefixes.
    pub fn starts(&self, of: &str) -> bool {
        self.types.iter().filter_map(|of| of.strip_suffix('*')).any(|prefix| of.starts_with(prefix))
    }
}

fn has_no_block(follower: Follower, value: &Object) -> bool {
    follower.get(value, "content").is_some_and(|content| is_empty(follower.row, content))
}

/// Returns true for an empty array.
fn is_empty(row: &[u8], value: Span) -> bool {
    Kind::of(value.of(row)) == Kind::Array && elements(row, value).next().is_none()
}
