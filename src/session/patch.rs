//! The parts of a row that are written anew; all other bytes stay.

use std::collections::{BTreeMap, BTreeSet};

use crate::json::Span;
use crate::json::scan::{Kind, elements, members};

/// What comes in place of parts of a row. Where one lies in another, the outer one counts.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    edits: BTreeMap<usize, (usize, Vec<u8>)>,
}

impl Patch {
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    pub fn replace(&mut self, part: Span, json: Vec<u8>) {
        self.edits.insert(part.start, (part.end, on_one_line(json)));
    }

    fn remove(&mut self, start: usize, end: usize) {
        self.edits.insert(start, (end, vec![]));
    }

    /// Removes parts of an object or an array, which start at `removed`, and adds others at its end.
    pub fn resize(&mut self, row: &[u8], container: Span, removed: &BTreeSet<usize>, added: &[Vec<u8>]) {
        let parts = parts(row, container);
        let (mut kept, mut before) = (false, None);
        for (at, part) in parts.iter().enumerate() {
            if !removed.contains(&part.start) {
                kept = true;
            } else if let Some(before) = before.filter(|_| kept) {
                self.remove(before, part.end);
            } else {
                self.remove(part.start, parts.get(at + 1).map_or(part.end, |next| next.start));
            }
            before = Some(part.end);
        }
        if !added.is_empty() {
            let mut json = if kept { vec![b','] } else { vec![] };
            json.extend(added.join(&b','));
            let end = container.end - 1;
            self.edits.insert(end, (end, on_one_line(json)));
        }
    }

    /// Whether something in a part of the row changes.
    pub fn touches(&self, part: Span) -> bool {
        self.edits.range(part.start..part.end).next().is_some()
    }

    /// A part of the row with its changes, in pieces.
    pub fn pieces<'a>(&'a self, row: &'a [u8], part: Span) -> impl Iterator<Item = &'a [u8]> {
        let mut at = part.start;
        let mut edits = self.edits.range(part.start..part.end);
        let mut pending: Option<&[u8]> = None;
        std::iter::from_fn(move || {
            if let Some(json) = pending.take() {
                return Some(json);
            }
            let next = edits.by_ref().find(|(start, _)| **start >= at);
            let (end, json) =
                next.map_or((part.end, None), |(start, (end, json))| (*start, Some((*end, json))));
            let same = (at <= part.end).then(|| &row[at..end])?;
            at = json.map_or(part.end + 1, |(end, _)| end);
            pending = json.map(|(_, json)| json.as_slice());
            Some(same)
        })
    }

    pub fn written(&self, row: &[u8], part: Span) -> Vec<u8> {
        self.pieces(row, part).flatten().copied().collect()
    }
}

/// The members of an object, or the elements of an array.
fn parts(row: &[u8], container: Span) -> Vec<Span> {
    match Kind::of(container.of(row)) {
        Kind::Array => elements(row, container).collect(),
        _ => members(row, container)
            .map(|member| Span { start: member.key.start, end: member.value.end })
            .collect(),
    }
}

/// Separators of lines that JSON allows inside strings come as escapes: some readers of rows split at them.
fn on_one_line(json: Vec<u8>) -> Vec<u8> {
    const SEPARATORS: &[u8] = b"\xE2\x80";
    let mut out = vec![];
    let mut from = 0;
    for at in memchr::memmem::find_iter(&json, SEPARATORS) {
        let escape: &[u8] = match json.get(at + 2) {
            Some(0xA8) => b"\\u2028",
            Some(0xA9) => b"\\u2029",
            _ => continue,
        };
        out.extend_from_slice(&json[from..at]);
        out.extend_from_slice(escape);
        from = at + 3;
    }
    if from == 0 {
        return json;
    }
    out.extend_from_slice(&json[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::document;

    #[test]
    fn only_what_is_replaced_changes() {
        let row = br#"{"a": 1 , "b":[2,3], "c":"x"}"#;
        let all = document(row).unwrap();
        let mut patch = Patch::default();
        let values: Vec<Span> = members(row, all).map(|member| member.value).collect();
        patch.replace(values[0], b"\"\xE2\x80\xA8\"".to_vec());
        patch.replace(elements(row, values[1]).nth(1).unwrap(), b"33".to_vec());
        assert_eq!(patch.written(row, all), br#"{"a": "\u2028" , "b":[2,33], "c":"x"}"#);
        assert!(patch.touches(values[1]) && !patch.touches(values[2]));
        assert_eq!(patch.written(row, values[1]), b"[2,33]");
        patch.replace(values[1], b"[]".to_vec());
        assert_eq!(patch.written(row, all), br#"{"a": "\u2028" , "b":[], "c":"x"}"#);
    }

    #[test]
    fn parts_come_and_go_with_their_commas() {
        let resized = |row: &str, removed: &[usize], added: &[&str]| {
            let all = document(row.as_bytes()).unwrap();
            let starts = removed.iter().map(|at| parts(row.as_bytes(), all)[*at].start).collect();
            let added: Vec<Vec<u8>> = added.iter().map(|json| json.as_bytes().to_vec()).collect();
            let mut patch = Patch::default();
            patch.resize(row.as_bytes(), all, &starts, &added);
            let out = patch.written(row.as_bytes(), all);
            assert!(document(&out).is_some(), "{}", String::from_utf8_lossy(&out));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(resized("[1, 2 ,3]", &[0], &[]), "[2 ,3]");
        assert_eq!(resized("[1, 2 ,3]", &[1], &[]), "[1 ,3]");
        assert_eq!(resized("[1, 2 ,3 ]", &[2], &[]), "[1, 2 ]");
        assert_eq!(resized("[1, 2 ,3]", &[0, 1], &["4"]), "[3,4]");
        assert_eq!(resized("[1, 2 ,3]", &[0, 2], &["4", "5"]), "[2,4,5]");
        assert_eq!(resized("[1, 2 ,3]", &[1, 2], &[]), "[1]");
        assert_eq!(resized("[ 1, 2 ]", &[0, 1], &[]), "[  ]");
        assert_eq!(resized("[ 1 ]", &[0], &["2"]), "[  2]");
        assert_eq!(resized("[ ]", &[], &["2"]), "[ 2]");
        assert_eq!(resized(r#"{"a":1,"b":2}"#, &[0], &[r#""c":3"#]), r#"{"b":2,"c":3}"#);
    }
}
