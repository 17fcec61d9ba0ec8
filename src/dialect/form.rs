//! The shapes in which a framework's results appear, recognised by their tags alone.

use serde::Deserialize;

use super::path::Paths;
use crate::json::Value;

/// A form as the table writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FormData {
    role: String,
    #[serde(rename = "type")]
    types: String,
    list: bool,
    has: Vec<String>,
    blocks: bool,
    empty: bool,
    results: Option<Vec<String>>,
}

#[derive(Debug)]
pub struct Form {
    /// Index of the form's dialect in the table.
    pub dialect: usize,
    role: Vec<String>,
    types: Vec<String>,
    is_list: bool,
    has: Vec<Paths>,
    /// At least one block must be of a known type.
    pub blocks: bool,
    /// The content must be an empty array.
    is_empty: bool,
    results: Option<Paths>,
}

impl Form {
    pub(super) fn of(dialect: usize, data: &FormData) -> Result<Form, String> {
        let choices = |text: &str| text.split('|').filter(|one| !one.is_empty()).map(str::to_owned).collect();
        Ok(Form {
            dialect,
            role: choices(&data.role),
            types: choices(&data.types),
            is_list: data.list,
            has: data.has.iter().map(|path| Paths::of([path])).collect::<Result<_, _>>()?,
            blocks: data.blocks,
            is_empty: data.empty,
            results: data.results.as_ref().map(Paths::of).transpose()?,
        })
    }

    /// Returns true if the tags of a value match. `exact`: not by a prefix of its type.
    pub fn matches(&self, tags: &Tags, exact: bool) -> bool {
        match tags {
            Tags::List => exact && self.is_list,
            Tags::Role(role) => exact && self.role.contains(role),
            Tags::Type(of) => self.types.iter().any(|own| match own.strip_suffix('*') {
                Some(prefix) => !exact && of.starts_with(prefix),
                None => exact && own == of,
            }),
            Tags::None => exact && !self.is_list && self.role.is_empty() && self.types.is_empty(),
            Tags::Other => false,
        }
    }

    /// Returns the objects that are results of this form. Their texts are not read yet.
    pub fn objects<'d>(&self, value: Value<'d>) -> Vec<Value<'d>> {
        let is_empty = |content: Value| content.is_list() && content.elements().next().is_none();
        let fits = self.has.iter().all(|paths| paths.leads(value))
            && (!self.is_empty || value.get("content").is_some_and(is_empty));
        match &self.results {
            _ if !fits => vec![],
            None => vec![value],
            Some(results) => results.ends(value).into_iter().filter(|object| object.is_container()).collect(),
        }
    }
}

/// The tags of a value, which tell its form.
#[derive(Debug)]
pub enum Tags {
    List,
    Role(String),
    Type(String),
    None,
    /// A tag that is not a string.
    Other,
}

impl Tags {
    pub fn of(value: Value) -> Tags {
        match (value.get("role"), value.get("type")) {
            _ if value.is_list() => Tags::List,
            (Some(role), _) => role.string().map_or(Tags::Other, Tags::Role),
            (None, Some(of)) => of.string().map_or(Tags::Other, Tags::Type),
            (None, None) => Tags::None,
        }
    }
}
