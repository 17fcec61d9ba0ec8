//! The path language that `lib/dialect/path.ts` reads too. `content[type=text].text` leads to `content`, to each of its
//! elements whose `type` is `text`, and to their `text`. In a filter, `a|b` matches either value, `tool-*` a prefix,
//! and `!=0` any number except zero (no other number is supported). `[]` matches each element. Applied to an object
//! instead of a list, a filter tests that object.

use super::names::{Name, Names};
use super::object::{Object, text_at};
use crate::json::members::{Member, elements};
use crate::json::scan::Span;
use crate::json::{Kind, Literal, number};

/// Paths merged into a tree by their common prefixes.
#[derive(Debug, Default)]
pub struct Paths {
    /// The kind of value at the end of a path, if one ends here.
    pub end: Option<End>,
    pub members: Vec<(Name, Paths)>,
    pub(super) filters: Vec<Filter>,
    pub(super) each: Option<Box<Paths>>,
}

/// The kind of value that a path ends at: any value, text for the model, JSON for the model with its replacement rule,
/// a payload, a word such as an id, or data that does not reach a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Value,
    Text,
    Json(As),
    Payload,
    Word,
    Aside,
}

/// The form that text takes when it replaces JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// A string; the holder's tag, which announced JSON, changes too.
    Retag,
    String,
    /// An object with one member.
    Wrap,
    /// A `text` member.
    Text,
    /// A string that must remain valid JSON.
    Encoded,
    /// The truncated remainder of data that no path leads to.
    Rest,
}

impl As {
    pub fn named(name: &str) -> Option<As> {
        match name {
            "retag" => Some(As::Retag),
            // An MCP result here is matched by its own paths.
            "string" | "result" => Some(As::String),
            "wrap" => Some(As::Wrap),
            "text" => Some(As::Text),
            "encoded" => Some(As::Encoded),
            _ => None,
        }
    }
}

#[derive(Debug)]
enum Step<'a> {
    Member(&'a str),
    Each,
    Tag { tag: &'a str, not: bool, values: Vec<&'a str> },
}

impl Paths {
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>, names: &mut Names) -> Paths {
        let mut root = Paths::default();
        for path in paths {
            root.grow(path, Some(End::Value), names);
        }
        root
    }

    /// Adds a path. Without an end, the path is known but yields no values.
    #[inline(never)]
    pub fn grow(&mut self, path: &str, end: Option<End>, names: &mut Names) {
        self.grow_along(&steps(path), end, names);
    }

    fn grow_along(&mut self, steps: &[Step], end: Option<End>, names: &mut Names) {
        let Some((step, rest)) = steps.split_first() else {
            self.end = end.or(self.end);
            return;
        };
        match step {
            Step::Member(name) => {
                let name = names.learn(name);
                let at = self.members.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    self.members.push((name, Paths::default()));
                    self.members.len() - 1
                });
                self.members[at].1.grow_along(rest, end, names);
            }
            Step::Each => self.each.get_or_insert_default().grow_along(rest, end, names),
            Step::Tag { tag, not, values } => {
                let tag = names.learn(tag);
                let at = self.filters.iter().position(|filter| filter.tag == tag).unwrap_or_else(|| {
                    self.filters.push(Filter { tag, cases: vec![] });
                    self.filters.len() - 1
                });
                for value in values {
                    self.filters[at].grow(Case::of(*not, value)).grow_along(rest, end, names);
                }
            }
        }
    }
}

fn steps(path: &str) -> Vec<Step<'_>> {
    let (mut steps, mut rest) = (vec![], path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (filter, after) = inside.split_once(']').unwrap_or((inside, ""));
            rest = after;
            steps.push(match filter.split_once('=') {
                None => Step::Each,
                Some((tag, values)) => {
                    let not = tag.ends_with('!');
                    Step::Tag { tag: tag.trim_end_matches('!'), not, values: values.split('|').collect() }
                }
            });
        } else {
            let name = rest.trim_start_matches('.');
            let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
            rest = after;
            steps.push(Step::Member(name));
        }
    }
    steps
}

/// Paths to follow by the value of a tag.
#[derive(Debug)]
pub(super) struct Filter {
    pub tag: Name,
    cases: Vec<(Case, Paths)>,
}

#[derive(Debug, PartialEq)]
enum Case {
    Text(String),
    True,
    Prefix(String),
    /// Any number except zero.
    NotZero,
}

impl Case {
    fn of(not: bool, value: &str) -> Case {
        match value.strip_suffix('*') {
            _ if not => Case::NotZero,
            Some(prefix) => Case::Prefix(prefix.to_owned()),
            None if value == "true" => Case::True,
            None => Case::Text(value.to_owned()),
        }
    }

    /// Sorts exact cases first.
    fn rank(&self) -> usize {
        usize::from(!matches!(self, Case::Text(_) | Case::True))
    }

    fn holds(&self, row: &[u8], value: Span) -> bool {
        let source = value.of(row);
        match (self, Kind::of(source)) {
            (Case::Text(text), Kind::String) => Literal::of(source).is(text.as_bytes()),
            (Case::Prefix(prefix), Kind::String) => {
                Literal::of(source).head(prefix.len()).iter().copied().eq(prefix.encode_utf16())
            }
            (Case::True, Kind::True) => true,
            (Case::NotZero, Kind::Number) => !number::is_zero(source),
            _ => false,
        }
    }
}

impl Filter {
    fn grow(&mut self, case: Case) -> &mut Paths {
        let at = self.cases.iter().position(|(known, _)| *known == case).unwrap_or_else(|| {
            let at = self.cases.partition_point(|(known, _)| known.rank() <= case.rank());
            self.cases.insert(at, (case, Paths::default()));
            at
        });
        &mut self.cases[at].1
    }

    pub fn next(&self, row: &[u8], object: &Object) -> Option<&Paths> {
        let tag = object.get(self.tag)?.value;
        self.cases.iter().find(|(case, _)| case.holds(row, tag)).map(|(_, paths)| paths)
    }
}

/// A list on the way to a value, and the element that leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InList {
    pub list: Span,
    pub index: usize,
    pub element: Span,
}

/// A value at the end of a path.
#[derive(Debug)]
pub struct Found<'a> {
    pub paths: &'a Paths,
    pub value: Span,
    /// The containing object or list, and the member if it is an object.
    pub holder: Span,
    pub member: Option<Member>,
    pub lists: &'a [InList],
}

/// Follows paths through a row.
#[derive(Clone, Copy, Debug)]
pub struct Follower<'a> {
    pub row: &'a [u8],
    pub names: &'a Names,
}

impl Follower<'_> {
    #[inline(never)]
    pub fn object(&self, span: Span) -> Object {
        Object::read(self.row, span, self.names)
    }

    /// Returns the value of a member with an interned name.
    #[inline(never)]
    pub fn get(&self, object: &Object, name: &str) -> Option<Span> {
        object.get(self.names.find(name.as_bytes())?).map(|member| member.value)
    }

    /// Returns the text of a member, or `None` if it is not a string.
    #[inline(never)]
    pub fn text(&self, object: &Object, name: &str) -> Option<String> {
        text_at(self.row, self.get(object, name)?).map(Literal::string)
    }

    /// Follows paths from an object or array. `reach` is called for each value at the end of a path and returns true to
    /// skip the values below it. Returns the number of list elements that matched a tag.
    pub fn follow(&self, paths: &Paths, object: &Object, reach: &mut dyn FnMut(Found) -> bool) -> usize {
        self.follow_from(paths, object, &mut vec![], reach)
    }

    fn follow_from(
        &self,
        paths: &Paths,
        object: &Object,
        lists: &mut Vec<InList>,
        reach: &mut dyn FnMut(Found) -> bool,
    ) -> usize {
        if Kind::of(object.span.of(self.row)) == Kind::Array {
            return self.follow_list(paths, object.span, lists, reach);
        }
        let mut known = 0;
        for filter in &paths.filters {
            let Some(next) = filter.next(self.row, object) else { continue };
            if next.end.is_some() {
                let (value, holder) = (object.span, object.span);
                reach(Found { paths: next, value, holder, member: None, lists });
            }
            known += self.follow_from(next, object, lists, reach);
        }
        for (name, next) in &paths.members {
            let Some(member) = object.get(*name) else { continue };
            let (value, holder) = (member.value, object.span);
            if next.end.is_some() && reach(Found { paths: next, value, holder, member: Some(member), lists })
            {
                continue;
            }
            if Kind::of(value.of(self.row)).is_container() {
                known += self.follow_from(next, &self.object(value), lists, reach);
            }
        }
        known
    }

    fn follow_list(
        &self,
        paths: &Paths,
        list: Span,
        lists: &mut Vec<InList>,
        reach: &mut dyn FnMut(Found) -> bool,
    ) -> usize {
        if paths.filters.is_empty() && paths.each.is_none() {
            return 0;
        }
        let mut known = 0;
        for (index, element) in elements(self.row, list).enumerate() {
            if !Kind::of(element.of(self.row)).is_container() {
                continue;
            }
            let object = self.object(element);
            lists.push(InList { list, index, element });
            let tagged = paths.filters.iter().filter_map(|filter| filter.next(self.row, &object));
            for (next, is_tagged) in
                tagged.map(|next| (next, true)).chain(paths.each.as_deref().map(|next| (next, false)))
            {
                known += usize::from(is_tagged);
                let found = Found { paths: next, value: element, holder: list, member: None, lists };
                if next.end.is_none() || !reach(found) {
                    self.follow_from(next, &object, lists, reach);
                }
            }
            lists.pop();
        }
        known
    }

    /// Returns true if any path leads to a value.
    pub fn leads(&self, paths: &Paths, object: &Object) -> bool {
        let mut any = false;
        self.follow(paths, object, &mut |_| {
            any = true;
            true
        });
        any
    }

    /// Returns the first string that the paths lead to.
    #[inline(never)]
    pub fn first_text(&self, paths: &Paths, object: &Object) -> Option<String> {
        let mut text = None;
        self.follow(paths, object, &mut |found| {
            text = text.take().or_else(|| text_at(self.row, found.value).map(Literal::string));
            found.paths.members.is_empty()
        });
        text
    }
}
