//! JSON within limits that says inside what is missing.
//!
//! A program that parses a result needs JSON, and a model that reads it needs to know that it is
//! less than all, and where the rest is. So the notice of the policy is the last value of the
//! document: an element of a list, or a member whose name no other member has. It comes out of the
//! limits before the values share the rest, at the size that it would have if all were missing.
//!
//! A document that has such a notice already was cut before. The old one gives its amounts and the
//! name of the saved output to the new one, which takes its place. Where the document has none, the
//! notices of its texts do so, as far as they name the same output. Texts of several outputs keep
//! a name each, and the notice of the whole names none of them.

use super::earlier::EarlierTexts;
use super::sizes::Sizes;
use super::{ShapeOutcome, fits, judged, shape_document, shape_within};
use crate::encoding::{Size, Text, Utf8};
use crate::json::{Document, Value, string};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::counts::{Amount, Counts, Labels};
use crate::notice::earlier::{NoticeAmounts, of_json};
use crate::notice::saved::SavedPart;
use crate::notice::{Notice, NoticePlace};
use crate::policy::Policy;
use crate::tokens::Estimate;
use crate::truncate::Terms;
use crate::truncate::input::Input;

/// The notice takes at most this part of a limit.
const SHARE: usize = 2;
/// Bytes of a container with nothing in it.
const EMPTY: usize = 2;

/// Rewrites a list or an object like [`super::shape`], with the notice of the policy in it if more
/// than white space is missing. With a schema, which may forbid another value, there is none.
/// Returns `None` for other JSON, and if the limits leave no room for a value beside the notice.
pub fn shape_told(json: &str, policy: &Policy) -> Option<ShapeOutcome> {
    let document = Document::parse(json.as_bytes())?;
    if !document.root().is_container() {
        return None;
    }
    if policy.notice.is_empty() || policy.schema.is_some() {
        return shape_document(&document, policy).filter(|made| made.json.len() > EMPTY);
    }
    let sizes = Sizes::new(&document, None);
    if sizes.full(0) <= policy.limits.bytes {
        let compact = document.root().compact().into_bytes();
        if fits(&compact, &policy.limits) && policy.limits.lines > 0 {
            return Some(ShapeOutcome { json: compact, ..ShapeOutcome::default() });
        }
    }
    let Some((rest, mut told)) = without_notice(document.root()) else {
        return told_within(&document, &sizes, policy, &sizes.earlier().told(&document));
    };
    let document = Document::parse(rest.as_bytes())?;
    let sizes = Sizes::new(&document, None);
    if told.saved().name().is_empty() {
        told.add_saved(sizes.earlier().told(&document));
    }
    told_within(&document, &sizes, policy, &told)
}

/// Returns the texts of a document that were cut before, and the bytes of the rest of it without
/// its notice. `None` if there are none, or the text is not a document.
pub fn cut_texts(json: &str) -> Option<(Vec<String>, usize)> {
    let rest =
        of_json(json.as_bytes()).and_then(|_| without_notice(Document::parse(json.as_bytes())?.root()));
    let document = Document::parse(rest.as_ref().map_or(json, |(rest, _)| rest).as_bytes())?;
    let earlier = EarlierTexts::of(&document);
    let cut: Vec<Value> = document.values().filter(|value| earlier.get(value.id()).is_some()).collect();
    let taken: usize = cut.iter().map(|text| text.source().len()).sum();
    let texts: Vec<String> = cut.iter().filter_map(|text| text.string()).collect();
    (!texts.is_empty()).then(|| (texts, document.root().source().len() - taken))
}

/// Returns a document without the notice of an earlier cut, and what that tells.
fn without_notice(root: Value) -> Option<(String, NoticeAmounts)> {
    let told = of_json(root.source())?;
    let last = root.elements().chain(root.members()).last()?;
    let start = last.name().unwrap_or(last).start();
    let before = std::str::from_utf8(root.bytes(root.start(), start)).ok()?.trim_end();
    let end = if root.is_list() { "]" } else { "}" };
    Some((before.strip_suffix(',').unwrap_or(before).to_owned() + end, told))
}

fn told_within(
    document: &Document,
    sizes: &Sizes,
    policy: &Policy,
    told: &NoticeAmounts,
) -> Option<ShapeOutcome> {
    let (policy, given) = (judged(document, policy), Utf8(document.root().source()));
    let note = InnerNotice::new(document.root(), given, &policy, told);
    let notices: Vec<Notice> =
        policy.notice.ladder(note.labels.saved).map(|notice| notice.into_owned()).collect();
    notices.iter().find_map(|notice| {
        let most =
            ShapeOutcome { elements: document.len(), members: document.len(), ..ShapeOutcome::default() };
        let limits = less(policy.limits, &note.json(notice, &most))?;
        // The texts do not name the saved output of the data.
        let inner = Policy { limits, notice: Notice::Mark, saved: SavedPart::Nowhere, ..policy.clone() };
        let mut made = shape_within(document, sizes, &inner, 0).filter(|made| made.json.len() > EMPTY)?;
        let bracket = made.json.pop()?;
        let said = note.json(notice, &made);
        made.json.push(b',');
        made.json.extend_from_slice(said.as_bytes());
        made.json.push(bracket);
        Some(ShapeOutcome { is_less: true, ..made }).filter(|made| fits(&made.json, &policy.limits))
    })
}

/// The notice in a document.
struct InnerNotice<'a> {
    /// The JSON of its name and a colon, if the document is an object.
    name: String,
    labels: Labels<'a>,
    given: Size,
    hidden: Size,
}

impl<'a> InnerNotice<'a> {
    fn new(root: Value, given: Utf8, policy: &'a Policy, told: &'a NoticeAmounts) -> InnerNotice<'a> {
        let limits = Input::whole(given).exceeded(&policy.limits);
        let labels = Labels { limits, ..Terms::from(policy).labels(false, told.saved()) };
        let given = given.size();
        InnerNotice { name: free_name(root), labels, given, hidden: told.hidden(given) }
    }

    /// Returns the element or the member, without a comma. `made`: the rest of the document.
    fn json(&self, notice: &Notice, made: &ShapeOutcome) -> String {
        let kept = Utf8(&made.json).size();
        let amount = |given: usize, kept: usize, hidden: usize| Amount {
            omitted: given.saturating_sub(kept) + hidden,
            total: given + hidden,
        };
        let InnerNotice { given, hidden, .. } = *self;
        let lines = given.newlines + 1;
        let counts = Counts {
            chars: amount(given.chars, kept.chars, hidden.chars),
            bytes: amount(given.bytes, kept.bytes, hidden.bytes),
            lines: Amount { omitted: lines - 1, total: lines },
            kept_lines: "1-1".into(),
            elements: made.elements,
            members: made.members,
        };
        self.name.clone() + &string(&notice.render(NoticePlace::Alone, &counts, self.labels))
    }
}

/// Returns the JSON of a name that no member of an object has, and a colon. Elements have no name.
fn free_name(root: Value) -> String {
    let mut name = String::from("[...]");
    while root.get(&name).is_some() {
        name.insert(1, '.');
    }
    if root.is_object() { string(&name) + ":" } else { String::new() }
}

/// Returns the limits beside a notice with its comma, or `None` if it takes too much of them.
fn less(limits: Limits, notice: &str) -> Option<Limits> {
    let size = Utf8(notice.as_bytes()).size();
    let tokens = if limits.counts_tokens() { Estimate::of(Utf8(notice.as_bytes())).tokens() } else { 0 };
    let beside = |limit: usize, taken: usize| match limit {
        UNLIMITED => Some(limit),
        limit => (taken < limit / SHARE).then(|| limit - taken - 1),
    };
    Some(Limits {
        bytes: beside(limits.bytes, size.bytes)?,
        chars: beside(limits.chars, size.chars)?,
        line_bytes: beside(limits.line_bytes, size.bytes)?,
        tokens: beside(limits.tokens, tokens + 1)?,
        ..limits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::saved::Location;

    fn told(json: &str, bytes: usize) -> Option<String> {
        let limits = Limits { bytes, ..Limits::NONE };
        let made = shape_told(json, &Policy { limits, ..Policy::default() })?;
        Some(String::from_utf8(made.json).unwrap())
    }

    fn rows(count: usize) -> String {
        let rows: Vec<String> = (0..count).map(|row| format!(r#"{{"row":{row}}}"#)).collect();
        format!("[{}]", rows.join(","))
    }

    #[test]
    fn the_last_value_says_what_is_missing() {
        let made = told(&rows(500), 600).unwrap();
        assert!(made.len() <= 600 && made.starts_with(r#"[{"row":0},"#), "{made}");
        let end = r#"(limit 600B); ask for less, or for specific sections]"]"#;
        assert!(made.ends_with(end) && made.contains(" elements "), "{made}");
        let made = told(&format!(r#"{{"[...]":1,"n":5,"rows":{}}}"#, rows(500)), 800).unwrap();
        assert!(made.contains(r#","[....]":"[tool output truncated: "#), "{made}");
    }

    #[test]
    fn white_space_alone_is_not_a_loss() {
        assert_eq!(told(r#"{ "a" : [ 1, 2 ] }"#, 12).unwrap(), r#"{"a":[1,2]}"#);
    }

    #[test]
    fn a_second_cut_counts_from_the_original() {
        let limits = |bytes| Limits { bytes, ..Limits::NONE };
        let saved = SavedPart::Whole(Location::Path("/tmp/a \"b\".json".into()));
        let json = format!(r#"{{"rows":{}}}"#, rows(900));
        let policy = Policy { limits: limits(4_000), saved, ..Policy::default() };
        let once = String::from_utf8(shape_told(&json, &policy).unwrap().json).unwrap();
        let twice = told(&once, 1_000).unwrap();
        for made in [&once, &twice] {
            assert!(made.contains("full output saved as /tmp/a \\\"b\\\".json, read"), "{made}");
            assert_eq!(made.matches("truncated").count(), 1, "{made}");
        }
        let total = |made: &str| {
            let words = made.split(" of ").nth(1).unwrap();
            words.split(' ').next().unwrap().replace(',', "").parse::<usize>().unwrap()
        };
        let (first, second) = (total(&once), total(&twice));
        assert_eq!(first, json.len());
        assert!(second.abs_diff(json.len()) < 300, "{second} of {}", json.len());
    }

    #[test]
    fn without_room_for_a_value_there_is_no_json() {
        for json in [rows(500), r#""a string""#.into(), "{".into()] {
            assert_eq!(told(&json, 8), None);
        }
    }
}
