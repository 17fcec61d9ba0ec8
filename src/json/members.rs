//! Members of objects and elements of arrays, in rows known to be valid JSON.

use super::scan::{Span, key, space, walk_by};

/// A member of an object. The key's span includes its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub key: Span,
    pub value: Span,
}

/// Iterates over the members of an object, in order. Other values yield no members.
pub fn members(row: &[u8], object: Span) -> impl Iterator<Item = Member> {
    let mut next = inside(row, object, b'{');
    std::iter::from_fn(move || {
        let (key, start) = key(row, next?, skip_string)?;
        let value = Span { start, end: skip(row, start)? };
        next = after(row, value.end);
        Some(Member { key, value })
    })
}

/// Iterates over the elements of an array, in order. Other values yield no elements.
pub fn elements(row: &[u8], array: Span) -> impl Iterator<Item = Span> {
    let mut next = inside(row, array, b'[');
    std::iter::from_fn(move || {
        let start = next?;
        let element = Span { start, end: skip(row, start)? };
        next = after(row, element.end);
        Some(element)
    })
}

/// Returns the start of the first part of a container.
#[inline(never)]
fn inside(row: &[u8], container: Span, bracket: u8) -> Option<usize> {
    let first = space(row, container.start + 1);
    (row[container.start] == bracket && !matches!(row[first], b'}' | b']')).then_some(first)
}

/// Returns the start of the part that follows one ending at `end`.
#[inline(never)]
fn after(row: &[u8], end: usize) -> Option<usize> {
    let at = space(row, end);
    (row.get(at)? == &b',').then(|| space(row, at + 1))
}

/// Finds the end of a value. This runs once per nesting level, so strings are skipped without validation.
#[inline(never)]
fn skip(row: &[u8], at: usize) -> Option<usize> {
    if row.get(at) == Some(&b'"') { skip_string(row, at) } else { walk_by(row, at, skip_string, |_| {}) }
}

/// Finds the end of a string: the first quote after an even number of backslashes.
#[inline(never)]
fn skip_string(row: &[u8], start: usize) -> Option<usize> {
    let mut from = start + 1;
    loop {
        let quote = from + memchr::memchr(b'"', row.get(from..)?)?;
        let backslashes = row[start + 1..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote + 1);
        }
        from = quote + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::document;

    #[test]
    fn parts_are_returned_in_order() {
        let row = br#"{"a":1, "b" : [ 2,{"c":3}] ,"a":"x"}"#;
        let all = document(row).unwrap();
        let parts: Vec<(&[u8], &[u8])> =
            members(row, all).map(|member| (member.key.of(row), member.value.of(row))).collect();
        assert_eq!(parts, [(&b"\"a\""[..], &b"1"[..]), (b"\"b\"", br#"[ 2,{"c":3}]"#), (b"\"a\"", b"\"x\"")]);
        let list = members(row, all).nth(1).unwrap().value;
        let parts: Vec<&[u8]> = elements(row, list).map(|element| element.of(row)).collect();
        assert_eq!(parts, [&b"2"[..], br#"{"c":3}"#]);
        assert_eq!(elements(row, all).count() + members(row, list).count(), 0);
        assert_eq!(elements(b"[ ]", Span { start: 0, end: 3 }).count(), 0);
    }
}
