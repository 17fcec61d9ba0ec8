//! The order in which elements of a list are kept.

use std::collections::HashMap;

use memchr::memmem;

use crate::json::Value;
use crate::policy::Policy;
use crate::relevance::Question;
use crate::selection::score;

/// The score of an element that has a word of the question which fewer than eight elements before it had.
const RARE: u32 = 4;

/// Finds elements that tell more than others.
#[derive(Debug)]
pub struct Telling<'p> {
    needles: &'p [String],
    question: Question,
    /// Positions of what tells, by list.
    found: HashMap<u32, Vec<usize>>,
}

impl<'p> Telling<'p> {
    pub fn new(policy: &'p Policy) -> Self {
        let question = Question::new(&policy.query);
        Telling { needles: &policy.needles, question, found: HashMap::new() }
    }

    /// Returns the positions of elements that differ in kind from most, or hold words of failure or of the question.
    pub fn among(&mut self, list: Value, elements: &[Value]) -> &[usize] {
        let Telling { needles, question, found } = self;
        found.entry(list.id()).or_insert_with(|| {
            let usual = usual_kind(elements);
            let mut tells = |element: &Value| {
                let source = element.source();
                kind(source) != usual
                    || score(source).tells()
                    || needles.iter().any(|needle| memmem::find(source, needle.as_bytes()).is_some())
                    || question.score(source) >= RARE
            };
            (0..elements.len()).filter(|at| tells(&elements[*at])).collect()
        })
    }
}

/// Returns a byte that stands for the kind of a value.
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
