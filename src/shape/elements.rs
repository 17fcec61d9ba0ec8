//! The order in which elements of a list are kept.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use crate::json::Value;
use crate::policy::Policy;
use crate::relevance::Question;
use crate::selection::score;

/// The score of an element that has a word of the question which fewer than eight elements before
/// it had.
const RARE: u32 = 4;

/// Finds elements that tell more than others.
#[derive(Debug)]
pub struct ElementFinder<'p> {
    policy: &'p Policy,
    sought: Option<ElementTerms>,
    /// Positions of telling elements, by list.
    found: HashMap<u32, Vec<usize>>,
}

/// Texts that a caller looks for. All needles are searched in one pass.
#[derive(Debug)]
struct ElementTerms {
    /// `None` without needles, or if they exceed the memory that an automaton can address.
    needles: Option<AhoCorasick>,
    question: Question,
}

impl<'p> ElementFinder<'p> {
    pub fn new(policy: &'p Policy) -> Self {
        ElementFinder { policy, sought: None, found: HashMap::new() }
    }

    /// Returns true if a list may be left unread. Reading all of many nested lists takes time
    /// quadratic in their depth. A question counts what it reads, and must see all lists.
    pub fn may_skip(&self) -> bool {
        self.policy.query.is_empty()
    }

    /// Returns the positions of elements that differ in kind from most, or hold words of failure or
    /// of the question. Both ends of a list come before all others anyway, so where there is
    /// nothing else, nothing is read.
    pub fn among(&mut self, list: Value, elements: &[Value]) -> &[usize] {
        if elements.len() < 3 && self.may_skip() {
            return &[];
        }
        let ElementFinder { policy, sought, found } = self;
        found.entry(list.id()).or_insert_with(|| {
            let sought = sought.get_or_insert_with(|| ElementTerms::new(policy));
            let usual = usual_kind(elements);
            let mut tells = |element: &Value| {
                let source = element.source();
                kind(source) != usual || score(source).tells() || sought.is_in(source)
            };
            (0..elements.len()).filter(|at| tells(&elements[*at])).collect()
        })
    }
}

impl ElementTerms {
    fn new(policy: &Policy) -> ElementTerms {
        let needles = Some(&policy.needles).filter(|needles| !needles.is_empty());
        ElementTerms {
            needles: needles.and_then(|needles| AhoCorasick::new(needles).ok()),
            question: Question::new(&policy.query),
        }
    }

    fn is_in(&mut self, source: &[u8]) -> bool {
        self.needles.as_ref().is_some_and(|needles| needles.is_match(source))
            || self.question.score(source) >= RARE
    }
}

/// Returns a byte for the kind of a value.
fn kind(source: &[u8]) -> u8 {
    match source[0] {
        b'-' | b'0'..=b'9' => b'0',
        b't' | b'f' => b't',
        other => other,
    }
}

fn usual_kind(elements: &[Value]) -> u8 {
    let mut counts = [0_usize; 256];
    for element in elements {
        counts[usize::from(kind(element.source()))] += 1;
    }
    (0..=u8::MAX).max_by_key(|kind| counts[usize::from(*kind)]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use crate::shape::rooms::Rooms;
    use crate::shape::sizes::Sizes;

    #[test]
    fn elements_with_any_needle_tell() {
        let words = ["b", "long", "absent", "ong\"", ""];
        let json = br#"["a", "abc", "", "x", "all along", "an oblong"]"#;
        let document = Document::parse(json).unwrap();
        let elements: Vec<Value> = document.root().elements().collect();
        for some in 0..1 << words.len() {
            let needles: Vec<String> =
                (0..words.len()).filter(|at| some & 1 << at != 0).map(|at| words[at].into()).collect();
            let has = |text: &[u8]| {
                needles.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some())
            };
            let expected: Vec<usize> = (0..elements.len()).filter(|at| has(elements[*at].source())).collect();
            let policy = Policy { needles, ..Policy::default() };
            assert_eq!(
                ElementFinder::new(&policy).among(document.root(), &elements),
                expected,
                "{:?}",
                policy.needles
            );
        }
    }

    #[test]
    fn lists_in_lists_are_read_where_elements_go() {
        for (start, end) in
            [("[", "]"), ("[1,", ",1]"), ("[[],", ",[]]"), ("{\"a\":[", "]}"), ("[[],", ",[],[]]")]
        {
            let json = start.repeat(1000) + &end.repeat(1000);
            let json = json.replace(",,", ",");
            let document = Document::parse(json.as_bytes()).unwrap();
            let sizes = Sizes::new(&document, None);
            for (query, most) in [(vec![], 2), (vec!["a".to_owned()], usize::MAX)] {
                let policy = Policy { query, ..Policy::default() };
                let mut telling = ElementFinder::new(&policy);
                Rooms::share(&document, &sizes, &mut telling, json.len() / 2);
                assert!(telling.found.len() <= most, "{start} {}", telling.found.len());
            }
        }
    }
}
