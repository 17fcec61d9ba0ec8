//! The order in which the parts of a list or an object are kept.
//!
//! | first | because |
//! |---|---|
//! | parts with a text that the caller looks for | the caller said so |
//! | parts that answer the question, the best first | the model asked |
//! | parts that tell of a failure | it is usually the reason for the call |
//! | elements of another kind, with other members or another value than most | they are news |
//!
//! If over half of a list tells of failures, that tells no element from another.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use crate::json::{Document, Value};
use crate::policy::Policy;
use crate::relevance::Question;
use crate::selection::score;

use super::needs::RoomNeeds;
use super::outliers::Usual;
use super::sizes::Sizes;

/// The score of an element that has a word of the question which fewer than eight elements before
/// it had.
const RARE: u32 = 4;

/// Finds parts that tell more than others.
#[derive(Debug)]
pub struct ElementFinder<'p> {
    policy: &'p Policy,
    sought: Option<ElementTerms>,
    /// The telling parts of each list or object.
    found: HashMap<u32, Telling>,
    needs: Option<RoomNeeds>,
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
        ElementFinder { policy, sought: None, found: HashMap::new(), needs: None }
    }

    /// Returns true if a list may be left unread. Reading all of many nested lists takes time
    /// quadratic in their depth. A question counts what it reads, and must see all lists.
    pub fn may_skip(&self) -> bool {
        self.policy.query.is_empty()
    }

    /// Returns the room that the values of a document need to say what they tell. Reads all leaves
    /// once.
    pub fn needs(&mut self, document: &Document, sizes: &Sizes) -> &RoomNeeds {
        let policy = self.policy;
        self.needs.get_or_insert_with(|| {
            let mut sought = ElementTerms::new(policy);
            RoomNeeds::of(document, sizes, |leaf| sought.reason(source_of(leaf)).is_some())
        })
    }

    /// Returns the positions of the parts that tell more than others, in the order of the table.
    /// Both ends of a list come before all others anyway, so where there is nothing else, nothing
    /// is read.
    pub fn among(&mut self, container: Value, parts: &[Value]) -> &Telling {
        const NONE: &Telling = &Telling { order: vec![], asked: 0 };
        if parts.len() < 3 && self.may_skip() {
            return NONE;
        }
        let ElementFinder { policy, sought, found, .. } = self;
        found.entry(container.id()).or_insert_with(|| {
            let sought = sought.get_or_insert_with(|| ElementTerms::new(policy));
            let elements = if container.is_list() { parts } else { &[] };
            let (kinds, usual) = (usual_kind(elements), Usual::of(elements));
            let is_list = container.is_list();
            let is_odd = |part: Value| is_list && (kind(part.source()) != kinds || usual.differs(part));
            let mut tells = |at: usize| {
                let reason = sought.reason(source_of(parts[at]));
                reason.or_else(|| is_odd(parts[at]).then_some(KeepReason::Odd)).map(|reason| (reason, at))
            };
            let mut telling: Vec<(KeepReason, usize)> = (0..parts.len()).filter_map(&mut tells).collect();
            let failures = telling.iter().filter(|(reason, _)| *reason == KeepReason::Failure).count();
            if failures > parts.len() / 2 {
                telling.retain(|(reason, at)| *reason != KeepReason::Failure || is_odd(parts[*at]));
            }
            telling.sort();
            let asked = telling.iter().filter(|(reason, _)| *reason < KeepReason::Failure).count();
            Telling { order: telling.into_iter().map(|(_, at)| at).collect(), asked }
        })
    }
}

/// The positions of parts that tell more than others.
#[derive(Debug)]
pub struct Telling {
    pub order: Vec<usize>,
    /// The first of them that hold what the caller or the model asked for.
    pub asked: usize,
}

/// The reason for which a part stays, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KeepReason {
    Needle,
    Answer(Reverse<u32>),
    Failure,
    Odd,
}

/// Returns the JSON of an element, or of a member with its name.
fn source_of(part: Value<'_>) -> &[u8] {
    part.bytes(part.name().unwrap_or(part).start(), part.end())
}

/// Returns true if a line in the strings of a value tells of a failure. The words of a long log
/// would outweigh each other.
fn tells_failure(source: &[u8]) -> bool {
    static NEWLINE: LazyLock<memmem::Finder> = LazyLock::new(|| memmem::Finder::new(br"\n"));
    let mut from = 0;
    let ends = NEWLINE.find_iter(source).chain([source.len()]);
    ends.into_iter().any(|end| {
        let line = &source[from..end];
        from = (end + 2).min(source.len());
        score(line).tells()
    })
}

/// Returns for each value if its words tell more than those of others.
pub fn telling(values: &[Value], policy: &Policy) -> Vec<bool> {
    let mut sought = ElementTerms::new(policy);
    values.iter().map(|value| sought.reason(value.source()).is_some()).collect()
}

impl ElementTerms {
    fn new(policy: &Policy) -> ElementTerms {
        let needles = Some(&policy.needles).filter(|needles| !needles.is_empty());
        ElementTerms {
            needles: needles.and_then(|needles| AhoCorasick::new(needles).ok()),
            question: Question::new(&policy.query),
        }
    }

    /// Returns the reason that the words of a value give.
    fn reason(&mut self, source: &[u8]) -> Option<KeepReason> {
        // A question counts what it reads, and must see all parts.
        let answer = self.question.score(source);
        if self.needles.as_ref().is_some_and(|needles| needles.is_match(source)) {
            Some(KeepReason::Needle)
        } else if answer >= RARE {
            Some(KeepReason::Answer(Reverse(answer)))
        } else {
            tells_failure(source).then_some(KeepReason::Failure)
        }
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
    use crate::shape::rooms::Rooms;

    #[test]
    fn elements_with_any_needle_tell() {
        let words = ["b", "long", "absent", "ong\"", ""];
        let json = br#"["a", "abc", "", "x", "all along", "an oblong"]"#;
        let document = Document::parse(json).unwrap();
        let elements: Vec<Value> = document.root().elements().collect();
        for some in 0..1 << words.len() {
            let needles: Vec<String> =
                (0..words.len()).filter(|at| some & 1 << at != 0).map(|at| words[at].into()).collect();
            let has = |text: &[u8]| needles.iter().any(|word| memmem::find(text, word.as_bytes()).is_some());
            let expected: Vec<usize> = (0..elements.len()).filter(|at| has(elements[*at].source())).collect();
            let policy = Policy { needles, ..Policy::default() };
            assert_eq!(
                ElementFinder::new(&policy).among(document.root(), &elements).order,
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
