//! Bytes that values take without white space.

use crate::json::Document;

/// Bytes that no string is shortened below: enough for its mark.
pub const LEAST: usize = 32;
/// Bytes of a string that make a brief element.
const BRIEF: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
pub struct Bytes {
    /// All of it.
    pub full: usize,
    /// Strings begun, and lists with both ends.
    pub brief: usize,
    /// Strings as short as they get, and lists empty.
    pub min: usize,
}

impl Bytes {
    fn add(&mut self, more: Bytes) {
        self.full += more.full;
        self.brief += more.brief;
        self.min += more.min;
    }

    fn all(bytes: usize) -> Bytes {
        Bytes { full: bytes, brief: bytes, min: bytes }
    }
}

/// The sizes of all values of a document, by id. That of a name includes its colon.
#[derive(Debug)]
pub struct Sizes(Vec<Bytes>);

impl Sizes {
    pub fn of(document: &Document) -> Sizes {
        let mut sizes = vec![Bytes::default(); document.len()];
        for value in document.values().rev() {
            let id = value.id() as usize;
            let length = value.source().len();
            match value.source()[0] {
                // The parts have been added, as they come later.
                b'{' | b'[' => sizes[id].add(Bytes::all(2)),
                b'"' if value.is_name() => sizes[id] = Bytes::all(length + 1),
                b'"' => {
                    sizes[id] = Bytes { full: length, brief: length.min(BRIEF), min: length.min(LEAST) };
                }
                _ => sizes[id] = Bytes::all(length),
            }
            let Some(parent) = value.parent() else { continue };
            let is_last = value.next_id() == parent.next_id();
            let comma = Bytes::all(usize::from(!is_last && (parent.is_list() || !value.is_name())));
            let (mut own, is_first) = (sizes[id], value.id() == parent.id() + 1);
            own.add(comma);
            if parent.is_list() {
                own.min = 0;
                own.brief = if is_first || is_last { own.brief } else { 0 };
            }
            sizes[parent.id() as usize].add(own);
        }
        Sizes(sizes)
    }

    pub fn at(&self, id: u32) -> Bytes {
        self.0[id as usize]
    }

    pub fn full(&self, id: u32) -> usize {
        self.at(id).full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_not_counted() {
        for (json, full, brief, min) in [
            (r#" { "a" : [ 1 , 22 , 333 ] , "b" : "" } "#, 23, 20, 15),
            ("[ ]", 2, 2, 2),
            (r#"{"a":{}}"#, 8, 8, 8),
            ("-1.0", 4, 4, 4),
        ] {
            let document = Document::parse(json.as_bytes()).unwrap();
            let root = Sizes::of(&document).at(0);
            assert_eq!((root.full, root.brief, root.min), (full, brief, min), "{json}");
            assert_eq!(root.full, document.root().compact().len());
        }
    }
}
