//! Digests of values, by which values are compared that are not kept.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3Default;

use super::{Document, Value};

/// Returns a digest of each value of a document, by id. Equal values have equal digests, as
/// [`super::equal()`] compares them; others differ but for collisions.
pub fn digests(document: &Document) -> Vec<u128> {
    let mut all = vec![0; document.len()];
    // The parts of a value stand behind it, so they are known before it.
    for value in document.values().rev() {
        all[value.id() as usize] = digest(value, &all);
    }
    all
}

fn digest(value: Value, known: &[u128]) -> u128 {
    let mut hasher = Xxh3Default::new();
    let of = |part: Value| known[part.id() as usize].to_le_bytes();
    if value.is_object() {
        hasher.update(b"{");
        let members = value.members().filter_map(|member| Some((member.name()?.string()?, of(member))));
        // The last of several members with one name counts.
        for (name, digest) in members.collect::<BTreeMap<_, _>>() {
            hasher.update(&name.len().to_le_bytes());
            hasher.update(name.as_bytes());
            hasher.update(&digest);
        }
    } else if value.is_list() {
        hasher.update(b"[");
        value.elements().for_each(|element| hasher.update(&of(element)));
    } else if let Some(text) = value.string() {
        hasher.update(b"\"");
        hasher.update(text.as_bytes());
    } else if let Some(number) = value.number() {
        hasher.update(b"0");
        // Zero is equal to minus zero.
        hasher.update(&(number + 0.0).to_bits().to_le_bytes());
    } else {
        hasher.update(value.source());
    }
    hasher.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::equal;
    use proptest::prelude::*;

    fn of(text: &str) -> u128 {
        digests(&Document::parse(text.as_bytes()).unwrap())[0]
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "1",
            "1.0",
            "10e-1",
            "-0",
            "0",
            "null",
            "true",
            "\"\"",
            "\"a\"",
            "\"\\u0061\"",
            "\"1\"",
            "[]",
            "{}",
        ]);
        let name = prop::sample::select(vec!["\"a\"", "\"\\u0061\"", "\"b\"", "\"\""]);
        leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, move |inner| {
            let member = (name.clone(), inner.clone()).prop_map(|(name, value)| format!("{name} : {value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(|all| format!("[{}]", all.join(" ,"))),
                prop::collection::vec(member, 0..3).prop_map(|all| format!("{{{}}}", all.join(", "))),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_have_equal_digests_if_they_are_equal(a in json(), b in json()) {
            let [x, y] = [&a, &b].map(|text| Document::parse(text.as_bytes()).unwrap());
            prop_assert_eq!(equal(x.root(), y.root()), of(&a) == of(&b), "{} {}", a, b);
        }
    }

    #[test]
    fn spelling_does_not_count_and_content_does() {
        assert_eq!(of(r#"{"a":1,"b":["\u00e9",-0]}"#), of("{ \"b\":[\"é\", 0], \"a\":1.0 }"));
        let others = ["[]", "{}", "\"\"", "[[]]", "[0]", "0", "\"0\"", "null", "[1,2]", "[2,1]", "{\"a\":0}"];
        for (at, a) in others.iter().enumerate() {
            assert!(others[at + 1..].iter().all(|b| of(a) != of(b)), "{a}");
        }
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);
        assert_ne!(of(&deep), of(&format!("[{deep}]")));
    }
}
