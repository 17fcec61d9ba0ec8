//! The path language that `lib/dialect/paths.ts` reads too. `content[type=text].text` leads to
//! `content`, to each of its elements whose `type` is `text`, and to their `text`. In a filter,
//! `a|b` matches either value, `tool-*` a prefix, and `!=0` any other number. `[]` matches each
//! element. Applied to an object instead of a list, a filter tests that object.

use serde::Deserialize;

use crate::json::Value;

/// Paths merged into a tree by their common prefixes.
#[derive(Debug, Default)]
pub struct Paths {
    /// The kind of value at the end of a path, if one ends here.
    pub end: Option<End>,
    pub members: Vec<(String, Paths)>,
    pub(super) filters: Vec<Filter>,
    pub(super) each: Option<Box<Paths>>,
}

/// The kind of value that a path ends at: any value, text for the model, JSON for the model with
/// its replacement rule, a payload, a word such as an id, one that counts if it is long, or data
/// that does not reach a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Value,
    Text,
    Json(As),
    Payload(PayloadWords),
    Word,
    ShortWord,
    Aside,
}

/// The form that text takes when it replaces JSON.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum As {
    /// A string; the holder's tag, which announced JSON, changes too.
    Retag,
    String,
    /// A string. An MCP result here is matched by its own paths.
    Result,
    /// An object with one member.
    Wrap,
    /// A `text` member.
    Text,
    /// A string that must remain valid JSON.
    Encoded,
    /// The truncated remainder of data that no path leads to.
    #[serde(skip)]
    Rest,
}

/// The form of words that replace a payload.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum PayloadWords {
    /// A block of type `text`.
    Text,
    /// A block of type `input_text` for one of type `input_*`, otherwise of type `text`.
    Input,
    /// A block with a member `text`, and no type.
    Bare,
    /// A block of type `logs`.
    Logs,
    /// A file of text in place of the other: the format has no blocks of text here.
    File,
    /// A source of text in place of the other.
    Source,
    /// None: the format requires the payload.
    None,
}

#[derive(Debug)]
enum PathStep<'a> {
    Member(&'a str),
    Each,
    Tag(&'a str, Vec<FilterCase>),
}

impl Paths {
    pub fn of(paths: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Paths, String> {
        let mut root = Paths::default();
        paths.into_iter().try_for_each(|path| root.grow(path.as_ref(), Some(End::Value)))?;
        Ok(root)
    }

    /// Adds a path. Without an end, the path is known but yields no values.
    pub fn grow(&mut self, path: &str, end: Option<End>) -> Result<(), String> {
        let steps = steps(path).ok_or_else(|| format!("cannot read the path {path}"))?;
        self.grow_along(&steps, end);
        Ok(())
    }

    fn grow_along(&mut self, steps: &[PathStep], end: Option<End>) {
        let Some((step, rest)) = steps.split_first() else {
            self.end = end.or(self.end);
            return;
        };
        match step {
            PathStep::Member(name) => {
                known_or_new(&mut self.members, |own| own == name, || (*name).to_owned())
                    .grow_along(rest, end)
            }
            PathStep::Each => self.each.get_or_insert_default().grow_along(rest, end),
            PathStep::Tag(tag, cases) => {
                let at = self.filters.iter().position(|filter| filter.tag == *tag).unwrap_or_else(|| {
                    self.filters.push(Filter { tag: (*tag).to_owned(), cases: vec![] });
                    self.filters.len() - 1
                });
                for case in cases {
                    known_or_new(&mut self.filters[at].cases, |own| own == case, || case.clone())
                        .grow_along(rest, end);
                }
                // Exact cases first.
                self.filters[at]
                    .cases
                    .sort_by_key(|(case, _)| !matches!(case, FilterCase::Text(_) | FilterCase::True));
            }
        }
    }

    /// Follows the paths from an object or list. `reach` is called for each value at the end of a
    /// path and returns true to skip the values below it. Returns the number of list elements that
    /// matched a tag.
    pub fn follow<'p, 'd>(
        &'p self,
        value: Value<'d>,
        reach: &mut dyn FnMut(&'p Paths, Value<'d>) -> bool,
    ) -> usize {
        if value.is_list() {
            if self.filters.is_empty() && self.each.is_none() {
                return 0;
            }
            let elements = value.elements().filter(|element| element.is_container());
            return elements.map(|element| self.follow_element(element, reach)).sum();
        }
        let mut known = 0;
        for next in self.filters.iter().filter_map(|filter| filter.next(value)) {
            if next.end.is_some() {
                reach(next, value);
            }
            known += next.follow(value, reach);
        }
        for (name, next) in &self.members {
            known += value.get(name).map_or(0, |member| next.arrive(member, reach));
        }
        known
    }

    fn follow_element<'p, 'd>(
        &'p self,
        element: Value<'d>,
        reach: &mut dyn FnMut(&'p Paths, Value<'d>) -> bool,
    ) -> usize {
        let mut known = 0;
        for next in self.filters.iter().filter_map(|filter| filter.next(element)) {
            known += 1 + next.arrive(element, reach);
        }
        known + self.each.as_ref().map_or(0, |next| next.arrive(element, reach))
    }

    fn arrive<'p, 'd>(
        &'p self,
        value: Value<'d>,
        reach: &mut dyn FnMut(&'p Paths, Value<'d>) -> bool,
    ) -> usize {
        let is_done = self.end.is_some() && reach(self, value);
        if is_done || !value.is_container() { 0 } else { self.follow(value, reach) }
    }

    /// Returns the values at the ends of the paths, in order.
    pub fn ends<'d>(&self, value: Value<'d>) -> Vec<Value<'d>> {
        let mut ends = vec![];
        self.follow(value, &mut |paths, value| {
            ends.push(value);
            paths.members.is_empty()
        });
        ends
    }

    /// Returns the texts of payloads at the ends of the paths, each with the form of its words.
    pub fn payloads<'d>(&self, value: Value<'d>) -> Vec<(PayloadWords, Value<'d>)> {
        let mut found = vec![];
        self.follow(value, &mut |paths, value| {
            if let (Some(End::Payload(how)), Some(_)) = (paths.end, value.text()) {
                found.push((how, value));
            }
            value.text().is_some()
        });
        found
    }

    /// Returns true if there are no paths.
    pub fn is_empty(&self) -> bool {
        self.end.is_none() && self.members.is_empty() && self.filters.is_empty() && self.each.is_none()
    }

    /// Returns true if any path leads to a value.
    pub fn leads(&self, value: Value) -> bool {
        !self.ends(value).is_empty()
    }

    /// Returns the first string that the paths lead to.
    pub fn first_text(&self, value: Value) -> Option<String> {
        self.ends(value).into_iter().find_map(Value::string)
    }
}

/// Returns the paths under a key, which are new if the key is.
fn known_or_new<K>(all: &mut Vec<(K, Paths)>, is: impl Fn(&K) -> bool, key: impl Fn() -> K) -> &mut Paths {
    let at = all.iter().position(|(own, _)| is(own)).unwrap_or_else(|| {
        all.push((key(), Paths::default()));
        all.len() - 1
    });
    &mut all[at].1
}

/// Splits a path. Returns `None` if it is not in the language.
fn steps(path: &str) -> Option<Vec<PathStep<'_>>> {
    let (mut steps, mut rest) = (vec![], path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (filter, after) = inside.split_once(']')?;
            rest = after;
            steps.push(match filter.split_once('=') {
                None if filter.is_empty() => PathStep::Each,
                None => return None,
                Some((tag, values)) => {
                    let (tag, not) = tag.strip_suffix('!').map_or((tag, false), |tag| (tag, true));
                    let is_word =
                        !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                    let cases: Option<_> =
                        values.split('|').map(|value| FilterCase::of(not, value)).collect();
                    PathStep::Tag(tag, cases.filter(|_| is_word && !values.is_empty())?)
                }
            });
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let (name, after) = name.split_at(name.find(['.', '[', ']']).unwrap_or(name.len()));
            rest = if name.is_empty() { return None } else { after };
            steps.push(PathStep::Member(name));
        }
    }
    Some(steps)
}

/// Paths to follow by the value of a tag.
#[derive(Debug)]
pub(super) struct Filter {
    pub tag: String,
    cases: Vec<(FilterCase, Paths)>,
}

#[derive(Clone, Debug, PartialEq)]
enum FilterCase {
    Text(String),
    True,
    Prefix(String),
    /// Any other number.
    Not(f64),
}

impl FilterCase {
    fn of(not: bool, value: &str) -> Option<FilterCase> {
        Some(match value.strip_suffix('*') {
            _ if not => FilterCase::Not(value.parse().ok()?),
            Some(prefix) => FilterCase::Prefix(prefix.to_owned()),
            None if value == "true" => FilterCase::True,
            None => FilterCase::Text(value.to_owned()),
        })
    }

    fn holds(&self, tag: Value) -> bool {
        let text = tag.text();
        match self {
            FilterCase::Text(own) => text.is_some_and(|text| text.is(own)),
            FilterCase::Prefix(prefix) => text.is_some_and(|text| text.string().starts_with(prefix)),
            FilterCase::True => tag.is_true(),
            FilterCase::Not(number) => tag.number().is_some_and(|other| other != *number),
        }
    }
}

impl Filter {
    pub fn next(&self, value: Value) -> Option<&Paths> {
        let tag = value.get(&self.tag)?;
        self.cases.iter().find(|(case, _)| case.holds(tag)).map(|(_, paths)| paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn paths_lead_through_members_lists_and_tags() {
        let row = br#"{"a":[{"t":"x-1","v":1},{"t":"y","v":2},{"n":0},{"n":7}],"b":{"t":true,"v":3}}"#;
        let document = Document::parse(row).unwrap();
        for (path, ends) in [
            ("a[t=x-*].v", "1"),
            ("a[t=y|z].v", "2"),
            ("a[].v", "1 2"),
            ("a[n!=0]", r#"{"n":7}"#),
            ("b[t=true].v", "3"),
            ("a[t=z].v", ""),
            ("[b=x]", ""),
        ] {
            let found = Paths::of([path]).unwrap().ends(document.root());
            let found: Vec<&str> =
                found.iter().map(|value| std::str::from_utf8(value.source()).unwrap()).collect();
            assert_eq!(found.join(" "), ends, "{path}");
        }
    }

    #[test]
    fn bad_paths_are_errors() {
        for bad in ["a[", "a[t]", "a[=x]", "a[t=]", "a[t!=x]", "a..b", "a]", "a[t-u=x]", "."] {
            assert!(Paths::of([bad]).is_err(), "{bad}");
        }
    }
}
