//! JSON that means the same, however it is spelled.

use std::collections::BTreeMap;

use super::Value;

/// Returns true if two values are equal. White space, escapes, the order of members and the
/// spelling of numbers do not count.
pub fn equal<'a>(a: Value<'a>, b: Value<'a>) -> bool {
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        if a.source() == b.source() {
            continue;
        }
        if a.is_object() && b.is_object() {
            let (a, b) = (members(a), members(b));
            if !a.keys().eq(b.keys()) {
                return false;
            }
            pairs.extend(a.into_values().zip(b.into_values()));
        } else if a.is_list() && b.is_list() {
            if a.elements().count() != b.elements().count() {
                return false;
            }
            pairs.extend(a.elements().zip(b.elements()));
        } else if !is_same_text(a, b) && !is_same_number(a, b) {
            return false;
        }
    }
    true
}

/// Returns the members by name. The last of several with one name counts.
fn members<'d>(object: Value<'d>) -> BTreeMap<String, Value<'d>> {
    object.members().filter_map(|member| Some((member.name()?.string()?, member))).collect()
}

fn is_same_text(a: Value, b: Value) -> bool {
    a.string().is_some_and(|text| b.is(&text))
}

fn is_same_number(a: Value, b: Value) -> bool {
    a.number().is_some_and(|number| b.number() == Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn is_equal(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| Document::parse(text.as_bytes()).unwrap());
        assert_eq!(equal(a.root(), b.root()), equal(b.root(), a.root()));
        equal(a.root(), b.root())
    }

    #[test]
    fn spelling_does_not_count() {
        for (a, b) in [
            (r#"{"a":1,"b":[true,null]}"#, " { \"b\" : [ true , null ] , \"a\" : 1.0 }"),
            (r#""\u00e9\/\n""#, "\"é/\\u000a\""),
            ("1e2", "100"),
            ("-0", "0"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            assert!(is_equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn content_counts() {
        for (a, b) in [
            ("1", "2"),
            ("1", "\"1\""),
            ("true", "1"),
            ("null", "{}"),
            ("[]", "{}"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":{"b":[1,{"c":2}]}}"#, r#"{"a":{"b":[1,{"c":3}]}}"#),
        ] {
            assert!(!is_equal(a, b), "{a} {b}");
        }
    }

    #[test]
    fn deep_nesting_uses_no_stack() {
        let deep = |inner: &str| "[".repeat(300_000) + inner + &"]".repeat(300_000);
        assert!(is_equal(&deep("1"), &deep("1.0")));
    }
}
