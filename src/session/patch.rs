//! Splices that replace parts of a row; all other bytes stay.

use crate::json::Span;
use crate::json::members::{elements, members};
use crate::json::scan::Kind;

/// Replacements for parts of a row. If two are nested, the outer one counts; if several replace one part, the last
/// does.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    edits: Vec<(Span, Vec<u8>)>,
    /// The start of each edit, with its index.
    order: Vec<(usize, usize)>,
}

impl Patch {
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns true if the patch changes the row. A replacement may equal the original.
    pub fn changes(&self, row: &[u8]) -> bool {
        let (mut at, mut same) = (0, true);
        let _ = self.each_piece(row, Span { start: 0, end: row.len() }, |piece| {
            same &= row[at..].starts_with(piece);
            at += piece.len();
            if same { Ok(()) } else { Err(()) }
        });
        !same || at != row.len()
    }

    #[inline(never)]
    pub fn replace(&mut self, part: Span, json: Vec<u8>) {
        self.order.push((part.start, self.edits.len()));
        self.edits.push((part, on_one_line(json)));
    }

    /// Removes the parts of a container that start at `removed`, in ascending order, and appends others.
    #[inline(never)]
    pub fn resize(&mut self, row: &[u8], container: Span, removed: &[usize], added: &[Vec<u8>]) {
        let parts = parts(row, container);
        let (mut kept, mut before) = (false, None);
        for (at, part) in parts.iter().enumerate() {
            if removed.binary_search(&part.start).is_err() {
                kept = true;
            } else if let Some(start) = before.filter(|_| kept) {
                self.replace(Span { start, end: part.end }, vec![]);
            } else {
                let end = parts.get(at + 1).map_or(part.end, |next| next.start);
                self.replace(Span { start: part.start, end }, vec![]);
            }
            before = Some(part.end);
        }
        if !added.is_empty() {
            let mut json = if kept { vec![b','] } else { vec![] };
            json.extend(added.join(&b','));
            let end = container.end - 1;
            self.replace(Span { start: end, end }, json);
        }
    }

    /// Sorts the edits for reading.
    pub fn settle(&mut self) {
        self.order.sort_unstable();
    }

    /// Returns the edits within a part of the row, in order.
    #[inline(never)]
    fn within(&self, part: Span) -> &[(usize, usize)] {
        let from = self.order.partition_point(|(start, _)| *start < part.start);
        let to = self.order.partition_point(|(start, _)| *start < part.end);
        &self.order[from..to]
    }

    /// Returns true if any edit is within a part of the row.
    pub fn touches(&self, part: Span) -> bool {
        !self.within(part).is_empty()
    }

    /// Passes a part of the row, with its edits applied, to `tell` in pieces.
    pub fn each_piece<E>(
        &self,
        row: &[u8],
        part: Span,
        mut tell: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut at = part.start;
        let mut edits = self.within(part).iter().peekable();
        while let Some(&(start, edit)) = edits.next() {
            let is_last = edits.peek().is_none_or(|(next, _)| *next != start);
            if start >= at && is_last {
                let (span, json) = &self.edits[edit];
                tell(&row[at..start])?;
                tell(json)?;
                at = span.end;
            }
        }
        tell(&row[at..part.end])
    }

    pub fn written(&self, row: &[u8], part: Span) -> Vec<u8> {
        let mut out = vec![];
        let _ = self.each_piece(row, part, |piece| {
            out.extend_from_slice(piece);
            Ok::<(), ()>(())
        });
        out
    }
}

/// Returns the members of an object or the elements of an array.
fn parts(row: &[u8], container: Span) -> Vec<Span> {
    match Kind::of(container.of(row)) {
        Kind::Array => elements(row, container).collect(),
        _ => members(row, container)
            .map(|member| Span { start: member.key.start, end: member.value.end })
            .collect(),
    }
}

/// Escapes the line separators that JSON allows inside strings, since some readers split rows at them.
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
    fn only_replaced_parts_change() {
        let row = br#"{"a": 1 , "b":[2,3], "c":"x"}"#;
        let all = document(row).unwrap();
        let mut patch = Patch::default();
        let values: Vec<Span> = members(row, all).map(|member| member.value).collect();
        patch.replace(elements(row, values[1]).nth(1).unwrap(), b"33".to_vec());
        patch.replace(values[0], b"0".to_vec());
        patch.replace(values[0], b"\"\xE2\x80\xA8\"".to_vec());
        patch.settle();
        assert_eq!(patch.written(row, all), br#"{"a": "\u2028" , "b":[2,33], "c":"x"}"#);
        assert!(patch.touches(values[1]) && !patch.touches(values[2]));
        assert_eq!(patch.written(row, values[1]), b"[2,33]");
        patch.replace(values[1], b"[]".to_vec());
        patch.settle();
        assert_eq!(patch.written(row, all), br#"{"a": "\u2028" , "b":[], "c":"x"}"#);
    }

    #[test]
    fn parts_are_added_and_removed_with_their_commas() {
        let resized = |row: &str, removed: &[usize], added: &[&str]| {
            let row = row.as_bytes();
            let all = document(row).unwrap();
            let starts: Vec<usize> = removed.iter().map(|at| parts(row, all)[*at].start).collect();
            let added: Vec<Vec<u8>> = added.iter().map(|json| json.as_bytes().to_vec()).collect();
            let mut patch = Patch::default();
            patch.resize(row, all, &starts, &added);
            patch.settle();
            let out = patch.written(row, all);
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
