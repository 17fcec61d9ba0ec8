//! Finds elements that differ from most of their list.
//!
//! Rows of one list mostly repeat: the same members, and in some of them the same few values. An
//! element with a member that few others have, or with another value where most agree, is what a
//! reader of the list looks for: the one pod that does not run. No word of it needs to be known.

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

type Counts = HashMap<u64, usize, BuildHasherDefault<PlainHasher>>;

/// The names in the elements of a list, and the values that most elements have.
#[derive(Debug, Default)]
pub struct Usual {
    elements: usize,
    names: Counts,
    values: Counts,
    /// Elements with the most frequent value, by name.
    most: Counts,
}

impl Usual {
    pub fn of(elements: &[Value]) -> Usual {
        let mut usual = Usual { elements: elements.len(), ..Usual::default() };
        if elements.len() < LEAST_ELEMENTS {
            return usual;
        }
        for (name, value) in elements.iter().flat_map(|element| members(*element)) {
            *usual.names.entry(name).or_default() += 1;
            if let Some(value) = value {
                let count = usual.values.entry(value).or_default();
                *count += 1;
                let most = usual.most.entry(name).or_default();
                *most = (*most).max(*count);
            }
        }
        usual
    }

    /// Returns true if an element has a rare member, or a rare value where most have the same.
    pub fn differs(&self, element: Value) -> bool {
        let count = |counts: &Counts, key| counts.get(&key).copied().unwrap_or_default();
        let is_rare = |count: usize| count * RARE <= self.elements;
        self.elements >= LEAST_ELEMENTS
            && members(element).any(|(name, value)| {
                let agrees = count(&self.most, name) * 4 >= self.elements * 3;
                is_rare(count(&self.names, name))
                    || agrees && value.is_some_and(|value| is_rare(count(&self.values, value)))
            })
    }
}

/// Iterates over hashes of the names in an object, and of each name with its value if that is
/// short.
fn members<'d>(element: Value<'d>) -> impl Iterator<Item = (u64, Option<u64>)> + 'd {
    element.members().filter_map(|member| {
        let name = hash(member.name()?.source());
        let source = member.source();
        let is_short = source.len() <= LONGEST && !member.is_container();
        Some((name, is_short.then(|| hash(source) ^ name.rotate_left(17))))
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
