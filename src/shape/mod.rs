//! Shortens JSON to limits so that it still parses.
//!
//! A cut through the middle of JSON is worthless to a parser, and a model that must repair it in
//! its head makes mistakes. So whole values are omitted or shortened, and the result is JSON of the
//! same shape.
//!
//! | step | omits | until |
//! |---|---|---|
//! | 1 | white space | the rest fits |
//! | 2 | the ends of long strings, the longest first | the rest fits, or every string is down to [`sizes::LEAST`] bytes |
//! | 3 | elements of lists | the rest fits, or the lists are empty |
//! | 4 | members of objects, the largest first | the rest fits |
//!
//! The order follows the cost to a reader. A shortened string still shows its beginning and states
//! its length. A list with omitted elements still shows the form of an element. A missing member
//! changes the shape that code or a schema expects, so members are omitted last.
//!
//! **Sharing.** One pass measures every value in four sizes ([`sizes::Bytes`]). Room is then shared
//! from the root down: a container gives each part at least its minimum, small parts all that they
//! need, and the large parts equal shares of the rest. A value whose size is within its share
//! therefore never loses a byte to a larger neighbor. Before that, a part that tells more than its
//! neighbors gets the room to say so, however deep it says it (`needs.rs`).
//!
//! **Lists** keep their first and last elements, and those that tell more than others
//! (`elements.rs`, `outliers.rs`). A list is read only if it loses elements; reading nested lists
//! at each level would take quadratic time. Objects that lose members keep those that tell.
//!
//! **Texts that were cut before** keep the names of their saved outputs (`earlier.rs`).
//!
//! **Long strings** are cut as texts, by the search that all texts have (`texts.rs`). A value whose
//! own members tell of a failure, such as an exit code, is searched as the text of a failure.
//!
//! **Limits in chars and tokens** have no sum over bytes, so the bytes that fit them are found by
//! bisection, to 1 part in [`STEPS`].
//!
//! **A schema** only raises minimums: `required` members, `minItems`, and values that an `enum`, a
//! `format` or a `pattern` fixes stay whole. A schema that takes too long to read, or leaves no
//! room, is ignored, because bounded output matters more than valid output; the report says which
//! of the two the caller got.

mod earlier;
mod elements;
mod inner_notice;
mod needs;
mod outliers;
mod rooms;
mod rules;
mod schema;
mod sizes;
mod string;
mod texts;
mod write;

use crate::encoding::{Text, Utf8};
use crate::json::{Document, Value};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::selection::is_failed_member;
use crate::tokens::Estimate;

use elements::ElementFinder;
pub use inner_notice::{cut_texts, shape_told};
use rooms::Rooms;
use rules::SchemaRules;
use sizes::Sizes;
use texts::ShortenedTexts;
use write::write;

/// Shortened JSON, and counts of the omissions. The contents of an omitted value are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShapeOutcome {
    pub json: Vec<u8>,
    /// True if more than white space is missing.
    pub is_less: bool,
    pub elements: usize,
    pub strings: usize,
    pub members: usize,
    /// True if the JSON validates against the schema of the policy whenever the input did.
    pub validates: bool,
}

/// Rewrites JSON, without white space, to fit the limits of a policy. If the limits leave no room
/// for JSON that validates against its schema, or the schema takes too long to read, ignores it.
/// Returns `None` for a text that is not JSON.
pub fn shape(json: &str, policy: &Policy) -> Option<ShapeOutcome> {
    shape_document(&Document::parse(json.as_bytes())?, policy)
}

fn shape_document(document: &Document, policy: &Policy) -> Option<ShapeOutcome> {
    let policy = &judged(document, policy);
    let schema = policy.schema.as_ref().and_then(|schema| Document::parse(schema.as_bytes()));
    if let Some(rules) = schema.and_then(|schema| SchemaRules::new(document, schema.root())) {
        let sizes = Sizes::new(document, Some(rules));
        let made = shape_within(document, &sizes, policy, sizes.at(0).floor as usize);
        if made.is_some() {
            return made.map(|made| ShapeOutcome { validates: true, ..made });
        }
    }
    shape_within(document, &Sizes::new(document, None), policy, 0)
}

/// Returns the policy of a failure if a member of the document says that it comes from one.
fn judged(document: &Document, policy: &Policy) -> Policy {
    let root = document.root();
    let says_failed = |name: Value| is_failed_member(root.bytes(name.start(), root.end()));
    let is_error = policy.is_error || root.members().filter_map(Value::name).any(says_failed);
    Policy { is_error, ..policy.clone() }
}

/// Writes JSON of at least `least` bytes to fit, if there is room.
fn shape_within(document: &Document, sizes: &Sizes, policy: &Policy, least: usize) -> Option<ShapeOutcome> {
    let mut telling = ElementFinder::new(policy);
    let mut share = |bytes: usize| Rooms::share(document, sizes, &mut telling, bytes);
    let (bytes, made, mut rooms) = fitting(document, sizes, policy, least, &mut share)?;
    let searched = (bytes < sizes.full(0)).then(|| {
        let texts = ShortenedTexts::new(document, sizes, &mut rooms, policy);
        (!texts.is_empty()).then(|| write(document, sizes, &rooms, Some(&texts)))
    });
    // Tokens of strings beside each other may be more than those of each.
    let made = searched.flatten().filter(|searched| fits(&searched.json, &policy.limits)).unwrap_or(made);
    Some(ShapeOutcome { is_less: bytes < sizes.full(0), ..made })
}

/// Writes the JSON with the most bytes that fit, with the beginnings of strings, and returns these
/// bytes and their shares as well.
fn fitting(
    document: &Document,
    sizes: &Sizes,
    policy: &Policy,
    least: usize,
    share: &mut impl FnMut(usize) -> Rooms,
) -> Option<(usize, ShapeOutcome, Rooms)> {
    let mut make = |bytes: usize| {
        let rooms = share(bytes);
        (write(document, sizes, &rooms, None), rooms)
    };
    let Limits { bytes, line_bytes, chars, lines, .. } = policy.limits;
    // A char takes at most three bytes, and at least one. All of it is one line.
    let per_char = if document.root().source().is_ascii() { 1 } else { 3 };
    let most = if lines == 0 { 0 } else { bytes.min(line_bytes).min(chars.saturating_mul(per_char)) };
    let most = most.min(sizes.full(0));
    if most < least {
        return None;
    }
    let (made, rooms) = make(most);
    if fits(&made.json, &policy.limits) {
        return Some((most, made, rooms));
    }
    let (mut fitting, mut over) = (least, most);
    let (mut made, mut rooms) = make(fitting);
    if !fits(&made.json, &policy.limits) {
        return None;
    }
    while over - fitting > 1 + over / STEPS {
        let middle = fitting.midpoint(over);
        let next = make(middle);
        if fits(&next.0.json, &policy.limits) {
            (fitting, (made, rooms)) = (middle, next);
        } else {
            over = middle;
        }
    }
    Some((fitting, made, rooms))
}

/// Limits in chars and tokens are searched for up to this part of the bytes.
const STEPS: usize = 128;

fn fits(json: &[u8], limits: &Limits) -> bool {
    let size = Utf8(json).size();
    size.bytes <= limits.bytes
        && size.bytes <= limits.line_bytes
        && size.chars <= limits.chars
        && (!limits.counts_tokens() || Estimate::of(Utf8(json)).tokens() <= limits.tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(json: &str, bytes: usize) -> (String, [usize; 3]) {
        let limits = Limits { bytes, ..Limits::NONE };
        let made = shape(json, &Policy { limits, ..Policy::default() }).unwrap();
        (String::from_utf8(made.json).unwrap(), [made.elements, made.strings, made.members])
    }

    #[test]
    fn strings_give_way_first() {
        let json = format!(r#"{{"id": 1.50, "log": "{}", "rows": [1, 2, 3]}}"#, "x".repeat(200));
        let text = r#"{"id":1.50,"log":"xxxxxxxxxxxxxxxxxxx[+181 chars]","rows":[1,2,3]}"#;
        assert_eq!(shaped(&json, text.len()), (text.into(), [0, 1, 0]));
    }

    #[test]
    fn elements_give_way_before_members() {
        let json = r#"{"rows":[10,11,12,13,14,15,16,17,18,"no",20],"n":11}"#;
        assert_eq!(shaped(json, 32), (r#"{"rows":[10,11,"no",20],"n":11}"#.into(), [7, 0, 0]));
        assert_eq!(shaped(json, 18), (r#"{"rows":[],"n":11}"#.into(), [11, 0, 0]));
        assert_eq!(shaped(json, 17), (r#"{"n":11}"#.into(), [0, 0, 1]));
    }

    #[test]
    fn telling_elements_stay() {
        let rows: Vec<_> = (0..100).map(|row| format!(r#"{{"row":{row},"note":"fine"}}"#)).collect();
        let json =
            format!("[{}]", rows.join(",")).replace(r#"57,"note":"fine""#, r#"57,"note":"error: gone""#);
        assert!(shaped(&json, 300).0.contains("error: gone"));
    }

    #[test]
    fn the_smallest_of_a_kind_is_left() {
        for (json, two, one) in [
            (r#"{"a":1}"#, "{}", ""),
            ("[100]", "[]", ""),
            (r#""abc""#, r#""""#, ""),
            ("12345", r#""""#, ""),
            ("false", r#""""#, ""),
        ] {
            assert_eq!((shaped(json, 2).0.as_str(), shaped(json, 1).0.as_str()), (two, one), "{json}");
        }
        assert_eq!(shape("{", &Policy::default()), None);
    }

    #[test]
    fn a_schema_names_what_stays() {
        let shaped = |json: &str, bytes: usize, schema: &str| {
            let limits = Limits { bytes, ..Limits::NONE };
            let policy = Policy { limits, schema: Some(schema.into()), ..Policy::default() };
            let made = shape(json, &policy).unwrap();
            (String::from_utf8(made.json).unwrap(), made.validates)
        };
        let schema =
            r#"{"required":["rows","to"],"properties":{"rows":{"minItems":2},"to":{"format":"uri"}}}"#;
        let json = r#"{"n":100,"rows":[1000,20,3,4000],"to":"https://example.org/a/long/path/to/the/end"}"#;
        let least = r#"{"rows":[20,3],"to":"https://example.org/a/long/path/to/the/end"}"#;
        assert_eq!(shaped(json, least.len(), schema), (least.into(), true));
        assert!(!shaped(json, least.len() - 1, schema).1);
        let schema = r#"{"items":{"maxLength":40}}"#;
        let json = format!(r#"["{}"]"#, "漢".repeat(40));
        let made = format!(r#"["{}[+31 chars]"]"#, "漢".repeat(9));
        assert_eq!(shaped(&json, 80, schema), (made, true));
    }

    #[test]
    fn deep_nesting_uses_no_stack() {
        let deep = "[{\"a\":".repeat(100_000) + "1" + &"}]".repeat(100_000);
        let made = shaped(&deep, 50).0;
        assert!(made.len() <= 50 && Document::parse(made.as_bytes()).is_some(), "{made}");
    }

    #[test]
    fn no_lines_hold_nothing() {
        let limits = Limits { lines: 0, ..Limits::NONE };
        for schema in [None, Some("{}"), Some(r#"{"minItems":1}"#)] {
            let policy = Policy { limits, schema: schema.map(Into::into), ..Policy::default() };
            assert_eq!(shape("[1]", &policy).unwrap().json, b"");
        }
    }

    #[test]
    fn chars_and_tokens_are_limits() {
        let json = format!(r#"["{}"]"#, "漢".repeat(1000));
        for limits in [Limits { chars: 100, ..Limits::NONE }, Limits { tokens: 60, ..Limits::NONE }] {
            let made = shape(&json, &Policy { limits, ..Policy::default() }).unwrap();
            assert!(fits(&made.json, &limits) && made.json.len() > 60, "{made:?}");
        }
    }
}
