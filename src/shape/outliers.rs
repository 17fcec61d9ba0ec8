//! Finds elements that differ from most of their list.
//!
//! Rows of one list mostly repeat: the same members, and in some of them the same few values. An
//! element with a member that few others have, or with another value where most agree, is what a
//! reader of the list looks for: the one pod that does not run. No word of it needs to be known.

//!
//! A value that three quarters have is found without a count of all values: each other value takes
//! a vote from it, and it has votes left at the end. So only values of names where most agree are
//! counted, and rows of values that all differ take no memory.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::json::Value;
use crate::relevance::{PlainHasher, hash};

/// Fewer elements do not show what is usual.
const LEAST_ELEMENTS: usize = 8;
/// At most one element of so many has what is rare.
const RARE: usize = 16;
/// Bytes of the longest value that is compared. Longer ones are texts, which all differ.
const LONGEST: usize = 64;

type HashCounts = HashMap<u64, usize, BuildHasherDefault<PlainHasher>>;

/// The names in the elements of a list, and the values that most elements have.
#[derive(Debug, Default)]
pub struct Usual<'d> {
    elements: usize,
    names: Vec<MemberName<'d>>,
    /// The positions of the names, by their hashes.
    positions: HashCounts,
    /// Elements with another value than most, by name and value.
    others: HashCounts,
    /// Some name is rare, or most agree on its value.
    tells: bool,
}

/// A name of members, and the value that most may have.
#[derive(Debug)]
struct MemberName<'d> {
    name: &'d [u8],
    count: usize,
    value: &'d [u8],
    votes: usize,
    agreeing: usize,
}

impl<'d> Usual<'d> {
    pub fn of(elements: &[Value<'d>]) -> Usual<'d> {
        let mut usual = Usual { elements: elements.len(), ..Usual::default() };
        if elements.len() < LEAST_ELEMENTS {
            return usual;
        }
        for (nth, (name, value)) in elements.iter().flat_map(|element| members(*element).enumerate()) {
            let at = usual.position(nth, name).unwrap_or_else(|| usual.add(name));
            let own = &mut usual.names[at];
            own.count += 1;
            match value {
                Some(value) if own.votes == 0 => (own.value, own.votes) = (value, 1),
                Some(value) if own.value == value => own.votes += 1,
                Some(_) => own.votes -= 1,
                None => {}
            }
        }
        // Three quarters have at least half of all votes left.
        let may_agree: Vec<bool> = usual.names.iter().map(|own| own.votes * 4 >= elements.len()).collect();
        if may_agree.contains(&true) {
            usual.count_values(elements, &may_agree);
        }
        let tells = |own: &MemberName| usual.is_rare(own.count) || usual.agree(own);
        usual.tells = usual.names.iter().any(tells);
        usual
    }

    /// Returns true if an element has a rare member, or a rare value where most have the same.
    pub fn differs(&self, element: Value<'d>) -> bool {
        self.tells
            && members(element).enumerate().any(|(nth, (name, value))| {
                let Some(at) = self.position(nth, name) else { return false };
                let own = &self.names[at];
                let is_rare = |value: &[u8]| {
                    value != own.value
                        && self.others.get(&key(at, value)).is_some_and(|count| self.is_rare(*count))
                };
                self.is_rare(own.count) || self.agree(own) && value.is_some_and(is_rare)
            })
    }

    fn count_values(&mut self, elements: &[Value<'d>], may_agree: &[bool]) {
        for (nth, (name, value)) in elements.iter().flat_map(|element| members(*element).enumerate()) {
            let at = self.position(nth, name).filter(|at| may_agree[*at]);
            let (Some(at), Some(value)) = (at, value) else { continue };
            match self.names[at].value == value {
                true => self.names[at].agreeing += 1,
                false => *self.others.entry(key(at, value)).or_default() += 1,
            }
        }
    }

    fn is_rare(&self, count: usize) -> bool {
        count * RARE <= self.elements
    }

    fn agree(&self, own: &MemberName) -> bool {
        own.agreeing * 4 >= self.elements * 3
    }

    /// Returns the position of a name, which mostly is its number among those of an element.
    fn position(&self, nth: usize, name: &[u8]) -> Option<usize> {
        let is_there = self.names.get(nth).is_some_and(|own| own.name == name);
        if is_there { Some(nth) } else { self.positions.get(&hash(name)).copied() }
    }

    fn add(&mut self, name: &'d [u8]) -> usize {
        let at = self.names.len();
        self.names.push(MemberName { name, count: 0, value: b"", votes: 0, agreeing: 0 });
        self.positions.insert(hash(name), at);
        at
    }
}

fn key(position: usize, value: &[u8]) -> u64 {
    hash(value) ^ hash(&position.to_le_bytes()).rotate_left(17)
}

/// Iterates over the names in an object, and the values that are short.
fn members<'d>(element: Value<'d>) -> impl Iterator<Item = (&'d [u8], Option<&'d [u8]>)> {
    element.members().filter_map(|member| {
        let (name, source) = (member.name()?.source(), member.source());
        let is_short = source.len() <= LONGEST && !member.is_container();
        Some((name, is_short.then_some(source)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn differing(rows: &[String]) -> Vec<usize> {
        let json = format!("[{}]", rows.join(","));
        let document = Document::parse(json.as_bytes()).unwrap();
        let elements: Vec<Value> = document.root().elements().collect();
        let usual = Usual::of(&elements);
        (0..elements.len()).filter(|at| usual.differs(elements[*at])).collect()
    }

    #[test]
    fn the_row_that_differs_is_found() {
        for (usual, other) in [
            (r#""phase":"Running""#, r#""phase":"Evicted""#),
            (r#""ready":true"#, r#""ready":false"#),
            (r#""phase":"Running""#, r#""phase":"Running","note":"x""#),
        ] {
            let row = |at: usize| {
                format!(r#"{{"id":"{}",{}}}"#, at * 7919 % 1000, if at == 57 { other } else { usual })
            };
            assert_eq!(differing(&(0..100).map(row).collect::<Vec<_>>()), [57], "{other}");
        }
    }

    #[test]
    fn rows_all_unlike_have_no_odd_one() {
        let row = |at: usize| format!(r#"{{"id":{at},"kind":"{}","text":"{}"}}"#, at % 5, at * at);
        assert_eq!(differing(&(0..200).map(row).collect::<Vec<_>>()), [0; 0]);
        assert_eq!(differing(&["{\"a\":1}".into(), "{\"b\":1}".into()]), [0; 0]);
    }
}
