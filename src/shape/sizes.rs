//! Bytes that values take without white space.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::json::{Document, Value};

use super::earlier::{EarlierText, EarlierTexts};
use super::rules::{Rule, SchemaRules};
use super::string::{chars_of, mark_bytes};

/// Bytes that no string is shortened below: enough for its mark.
pub const LEAST: u32 = 32;
/// Bytes of an empty string.
const EMPTY: u32 = 2;
/// Bytes of a string that make a brief element.
const BRIEF: u32 = 64;

/// Sizes in four bytes each: a document has less than 4 GiB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bytes {
    /// All of it.
    pub full: u32,
    /// Strings begun, and lists with both ends.
    pub brief: u32,
    /// Strings as short as they get, and lists empty.
    pub min: u32,
    /// No more than a schema asks for.
    pub floor: u32,
}

impl Bytes {
    fn add(&mut self, more: Bytes) {
        self.full += more.full;
        self.brief += more.brief;
        self.min += more.min;
        self.floor += more.floor;
    }

    fn all(bytes: u32) -> Bytes {
        Bytes { full: bytes, brief: bytes, min: bytes, floor: bytes }
    }
}

/// The sizes of all values of a document, by id, with the rules of a schema. That of a name
/// includes its colon.
#[derive(Debug, Default)]
pub struct Sizes {
    of: Vec<Bytes>,
    /// Bytes that strings can give.
    spare: usize,
    /// The chars of strings that were shortened. Several attempts shorten the same ones.
    chars: RefCell<HashMap<u32, usize>>,
    rules: Option<SchemaRules>,
    /// The texts that were cut before.
    earlier: EarlierTexts,
}

impl Sizes {
    pub fn new(document: &Document, rules: Option<SchemaRules>) -> Sizes {
        let (of, earlier) = (vec![Bytes::default(); document.len()], EarlierTexts::of(document));
        let mut sizes = Sizes { of, rules, earlier, ..Sizes::default() };
        for value in document.values().rev() {
            let id = value.id() as usize;
            let length = value.source().len() as u32;
            match value.source()[0] {
                // The parts have been added, as they come later.
                b'{' | b'[' => {
                    sizes.of[id].add(Bytes::all(2));
                    sizes.keep_to_rule(value);
                }
                b'"' if value.is_name() => sizes.of[id] = Bytes::all(length + 1),
                b'"' if !sizes.rule(value.id()).is_some_and(|rule| rule.whole) => {
                    let named = sizes.earlier.get(value.id()).map_or(0, |text| text.least);
                    let least = length.min(LEAST).max(named);
                    sizes.spare += (length - least) as usize;
                    let brief = length.min(BRIEF).max(named);
                    sizes.of[id] = Bytes { full: length, brief, min: least, floor: length.min(LEAST) };
                }
                _ => sizes.of[id] = Bytes::all(length),
            }
            let Some(parent) = value.parent() else { continue };
            let is_last = value.next_id() == parent.next_id();
            let comma = Bytes::all(u32::from(!is_last && (parent.is_list() || !value.is_name())));
            let (mut own, is_first) = (sizes.of[id], value.id() == parent.id() + 1);
            own.add(comma);
            own.floor = 0;
            if parent.is_list() {
                own.min = 0;
                own.brief = if is_first || is_last { own.brief } else { 0 };
            }
            sizes.of[parent.id() as usize].add(own);
        }
        sizes
    }

    pub fn at(&self, id: u32) -> Bytes {
        self.of[id as usize]
    }

    pub fn full(&self, id: u32) -> usize {
        self.at(id).full as usize
    }

    /// Returns the bytes of a string that is only its mark, and of a container that is empty.
    pub fn marked(&self, value: Value) -> u32 {
        let Bytes { full, min, floor, .. } = self.at(value.id());
        match value.source()[0] {
            b'{' | b'[' => floor,
            b'"' if self.rules.is_none() => full.min(mark_bytes(self.chars(value)) as u32),
            _ => min,
        }
    }

    /// Returns the bytes of a string or a container that is empty.
    pub fn emptied(&self, value: Value) -> u32 {
        let is_string = value.source()[0] == b'"' && self.rules.is_none();
        if is_string { EMPTY } else { self.marked(value) }
    }

    /// Returns the chars of a string.
    pub fn chars(&self, value: Value) -> usize {
        *self.chars.borrow_mut().entry(value.id()).or_insert_with(|| chars_of(value.source()))
    }

    /// Returns the bytes that all strings can give together.
    pub fn spare(&self) -> usize {
        self.spare
    }

    pub fn earlier(&self) -> &EarlierTexts {
        &self.earlier
    }

    /// Returns the earlier cut of a text whose saved output it names.
    pub fn named(&self, id: u32) -> Option<&EarlierText> {
        self.earlier.get(id).filter(|text| text.notice.is_some())
    }

    /// Returns the rule of a value, if there is a schema.
    pub fn rule(&self, id: u32) -> Option<&Rule> {
        self.rules.as_ref().map(|rules| rules.at(id))
    }

    /// Returns the bytes of a part of a container besides those of its value: its name, and a
    /// comma.
    pub fn besides(&self, value: Value) -> u32 {
        value.name().map_or(0, |name| self.at(name.id()).full) + 1
    }

    /// Returns the positions of the parts of a container that must stay: those that its rule names,
    /// and the smallest others up to the number that it asks for, which may be other ones.
    pub fn staying(&self, container: Value, parts: &[Value]) -> (Vec<usize>, Vec<usize>) {
        let Some(rule) = self.rule(container.id()) else { return (vec![], vec![]) };
        let is_list = container.is_list();
        let is_named = |at: &usize| {
            if is_list { rule.keeps_parts || *at < rule.prefix } else { rule.requires(parts[*at]) }
        };
        let (named, mut others): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(is_named);
        let least = if is_list { rule.min_items } else { rule.min_members };
        let count = least.saturating_sub(named.len());
        if count > 0 {
            others.sort_by_key(|at| self.at(parts[*at].id()).floor + self.besides(parts[*at]));
        }
        others.truncate(count);
        (named, others)
    }

    /// Raises the minimum of a container to that of its rule.
    fn keep_to_rule(&mut self, container: Value) {
        let Some(rule) = self.rule(container.id()) else { return };
        let mut own = self.at(container.id());
        if rule.whole {
            own = Bytes::all(own.full);
        } else {
            let parts: Vec<Value> = container.elements().chain(container.members()).collect();
            let (named, others) = self.staying(container, &parts);
            let mut least = Bytes::all(if named.is_empty() && others.is_empty() { 2 } else { 1 });
            for at in named.into_iter().chain(others) {
                least.add(self.at(parts[at].id()));
                least.add(Bytes::all(self.besides(parts[at])));
            }
            own.floor = least.floor;
            own.min = own.min.max(least.min);
            own.brief = own.brief.max(own.min);
        }
        self.of[container.id() as usize] = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_not_counted() {
        for (json, full, brief, min) in [
            (r#" { "a" : [ 1 , 22 , 333 ] , "b" : "" } "#, 23, 20, 15),
            ("[ ]", 2, 2, 2),
            (r#"{"a":{}}"#, 8, 8, 8),
            ("-1.0", 4, 4, 4),
        ] {
            let document = Document::parse(json.as_bytes()).unwrap();
            let root = Sizes::new(&document, None).at(0);
            assert_eq!((root.full, root.brief, root.min), (full, brief, min), "{json}");
            assert_eq!(root.full as usize, document.root().compact().len());
        }
    }
}
