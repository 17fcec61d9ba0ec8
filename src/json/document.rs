//! A JSON text with the positions of all its values.

use std::iter;

use serde::de::IgnoredAny;

use super::literal::Literal;

/// A valid JSON text and its values in document order. The name of a member precedes its value.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
}

/// The positions of the values of a text.
#[derive(Clone, Debug)]
pub struct Nodes(Vec<Node>);

impl Nodes {
    /// Returns the document of an equal text.
    pub fn of(self, text: &[u8]) -> Document<'_> {
        Document { text, nodes: self.0 }
    }
}

/// Positions take four bytes each, since a large text has a node for every few bytes of it.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    /// The first node after this one and its descendants.
    next: u32,
    parent: u32,
}

/// The parent of the root.
const NONE: u32 = u32::MAX;

/// A value of a document, or the name of a member.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    id: u32,
}

impl<'a> Document<'a> {
    /// Reads a text, or returns `None` if it is not valid JSON or has 4 GiB or more.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        serde_json::from_slice::<IgnoredAny>(text).ok()?;
        let (mut nodes, mut open, mut at) = (Vec::<Node>::new(), NONE, 0);
        while let Some(&byte) = text.get(at) {
            let (start, id) = (at as u32, nodes.len() as u32);
            at = match byte {
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                    at += 1;
                    continue;
                }
                b'{' | b'[' => {
                    nodes.push(Node { start, end: start, next: id, parent: open });
                    open = id;
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    at += 1;
                    let container = nodes.get_mut(open as usize)?;
                    (container.end, container.next) = (at as u32, id);
                    open = container.parent;
                    continue;
                }
                b'"' => string_end(text, at)?,
                _ => {
                    let is_last = |byte: &u8| b",]} \n\r\t".contains(byte);
                    text[at..].iter().position(is_last).map_or(text.len(), |length| at + length)
                }
            };
            nodes.push(Node { start, end: at as u32, next: id + 1, parent: open });
        }
        Some(Document { text, nodes })
    }

    /// Returns the positions of all values, for a copy of the text.
    pub fn nodes(&self) -> Nodes {
        Nodes(self.nodes.clone())
    }

    pub fn root(&self) -> Value<'_> {
        self.value(0)
    }

    pub fn value(&self, id: u32) -> Value<'_> {
        Value { document: self, id }
    }

    /// Returns the number of values and names.
    #[allow(clippy::len_without_is_empty, reason = "no document is empty")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Iterates over all values and names in document order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value<'_>> {
        (0..self.nodes.len() as u32).map(|id| self.value(id))
    }
}

/// Finds the end of a string: the first quote after an even number of backslashes.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut from = start + 1;
    loop {
        let quote = from + memchr::memchr(b'"', text.get(from..)?)?;
        let backslashes = text[start + 1..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote + 1);
        }
        from = quote + 1;
    }
}

impl PartialEq for Value<'_> {
    /// Compares positions in one document.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<'d> Value<'d> {
    /// Returns the value or name at another position of the document.
    pub fn at(self, id: u32) -> Self {
        Value { id, ..self }
    }

    fn node(self) -> Node {
        self.document.nodes[self.id as usize]
    }

    /// Returns the position in the document's order.
    pub fn id(self) -> u32 {
        self.id
    }

    /// Returns the position after the last descendant.
    pub fn next_id(self) -> u32 {
        self.node().next
    }

    pub fn start(self) -> usize {
        self.node().start as usize
    }

    pub fn end(self) -> usize {
        self.node().end as usize
    }

    pub fn source(self) -> &'d [u8] {
        &self.document.text[self.start()..self.end()]
    }

    /// Returns the bytes of the document between two positions.
    pub fn bytes(self, start: usize, end: usize) -> &'d [u8] {
        &self.document.text[start..end]
    }

    /// Returns the text before and after the value.
    pub fn around(self) -> (&'d [u8], &'d [u8]) {
        (&self.document.text[..self.start()], &self.document.text[self.end()..])
    }

    pub fn is_object(self) -> bool {
        self.source()[0] == b'{'
    }

    pub fn is_list(self) -> bool {
        self.source()[0] == b'['
    }

    pub fn is_container(self) -> bool {
        self.is_object() || self.is_list()
    }

    /// Returns the text of a string.
    pub fn text(self) -> Option<Literal<'d>> {
        (self.source()[0] == b'"').then(|| Literal::of(self.source()))
    }

    pub fn string(self) -> Option<String> {
        self.text().map(|text| text.string())
    }

    /// Returns true for a string with this text.
    pub fn is(self, text: &str) -> bool {
        self.text().is_some_and(|own| own.is(text))
    }

    /// Returns a number that is spelled as an unsigned integer.
    pub fn whole(self) -> Option<u64> {
        std::str::from_utf8(self.source()).ok()?.parse().ok()
    }

    pub fn number(self) -> Option<f64> {
        std::str::from_utf8(self.source()).ok()?.parse().ok()
    }

    pub fn is_true(self) -> bool {
        self.source() == b"true"
    }

    /// Returns the object or list that has this value.
    pub fn parent(self) -> Option<Self> {
        let parent = self.node().parent;
        (parent != NONE).then_some(self.at(parent))
    }

    /// Returns the name of a member by its value.
    pub fn name(self) -> Option<Self> {
        self.parent().filter(|parent| parent.is_object()).map(|_| self.at(self.id - 1))
    }

    /// Returns true for the name of a member. Only names precede a colon.
    pub fn is_name(self) -> bool {
        let after = self.document.text[self.end()..].iter().find(|byte| **byte > b' ');
        after == Some(&b':')
    }

    /// Iterates over the descendants and the value itself that are not containers, names included.
    pub fn leaves(self) -> impl Iterator<Item = Self> {
        (self.id..self.next_id()).map(move |id| self.at(id)).filter(|value| !value.is_container())
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let (mut next, end) = (self.id + 1, self.next_id());
        iter::from_fn(move || {
            let child = (next < end).then(|| self.at(next))?;
            next = child.next_id();
            Some(child)
        })
    }

    /// Iterates over the elements of a list. Other values have none.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        self.children().take_while(move |_| self.is_list())
    }

    /// Iterates over the values of an object's members. Other values have none.
    pub fn members(self) -> impl Iterator<Item = Self> {
        self.children().skip(1).step_by(2).take_while(move |_| self.is_object())
    }

    /// Returns the last member with this name, as `JSON.parse` does.
    pub fn get(self, name: &str) -> Option<Self> {
        let mut children = self.children().take_while(|_| self.is_object());
        let mut found = None;
        while let (Some(own), Some(value)) = (children.next(), children.next()) {
            found = if is_key(own.source(), name) { Some(value) } else { found };
        }
        found
    }

    /// Returns true if this is a member with that name.
    pub fn is_named(self, name: &str) -> bool {
        self.name().is_some_and(|own| Literal::of(own.source()).is(name))
    }

    /// Returns the JSON without white space. Strings are written as `JSON.stringify` writes them;
    /// numbers keep their spelling, since a shorter one would lose precision.
    pub fn compact(self) -> String {
        self.compact_with(|_| None)
    }

    /// Like [`Value::compact`], with other JSON in place of some values that are not containers.
    pub fn compact_with(self, mut replaced: impl FnMut(Self) -> Option<String>) -> String {
        let mut out = String::with_capacity(self.source().len());
        let ascii = |bytes: &'d [u8]| bytes.iter().filter(|byte| **byte > b' ').map(|byte| char::from(*byte));
        let mut at = self.start();
        for leaf in self.leaves() {
            out.extend(ascii(self.bytes(at, leaf.start())));
            let other = if leaf.is_name() { None } else { replaced(leaf) };
            match (other, leaf.text()) {
                (Some(json), _) => out.push_str(&json),
                (None, Some(text)) => text.write_json(&mut out),
                (None, None) => out.extend(ascii(leaf.source())),
            }
            at = leaf.end();
        }
        out.extend(ascii(self.bytes(at, self.end())));
        out
    }
}

/// Returns true if a quoted key is a name without a backslash. An escape is longer than its char,
/// so only a longer key is decoded.
fn is_key(quoted: &[u8], name: &str) -> bool {
    let bytes = &quoted[1..quoted.len() - 1];
    bytes == name.as_bytes() || bytes.len() > name.len() && Literal::of(quoted).is(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_json_parse_accepts() {
        for good in [
            &br#" {"a" : [1, -2.5e+3, "x\"\\\u00e9", {}, [ ] , true,null , false] } "#[..],
            b"-0.0E-9\r",
            b"1e400",
            "\"\u{2028}\u{7f}\"".as_bytes(),
            b"\"\\ud800\"",
            b"\"\xFF\xE2\x82\"",
        ] {
            assert!(Document::parse(good).is_some(), "{}", String::from_utf8_lossy(good));
        }
        for bad in [
            &b""[..],
            b"{",
            b"{\"a\":1,}",
            b"[,]",
            b"01",
            b"1.",
            b"nulls",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"\"a\tb\"",
            b"1 1",
            b"\xEF\xBB\xBF1",
            b"NaN",
            b"\xFF",
        ] {
            assert!(Document::parse(bad).is_none(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn parts_are_returned_in_order() {
        let row = br#" {"a":1, "b" : [ 2,{"c":"]\\"}] ,"a":"x", "e":{}, "l":[ ]} "#;
        let document = Document::parse(row).unwrap();
        let root = document.root();
        let parts: Vec<(&[u8], &[u8])> =
            root.members().map(|member| (member.name().unwrap().source(), member.source())).collect();
        let expected: [(&[u8], &[u8]); 5] = [
            (b"\"a\"", b"1"),
            (b"\"b\"", br#"[ 2,{"c":"]\\"}]"#),
            (b"\"a\"", b"\"x\""),
            (b"\"e\"", b"{}"),
            (b"\"l\"", b"[ ]"),
        ];
        assert_eq!(parts, expected);
        assert_eq!(root.get("a").unwrap().string().unwrap(), "x");
        let list = root.get("b").unwrap();
        let parts: Vec<&[u8]> = list.elements().map(Value::source).collect();
        assert_eq!(parts, [&b"2"[..], br#"{"c":"]\\"}"#]);
        assert_eq!(list.elements().nth(1).unwrap().parent(), Some(list));
        let none = root.elements().count() + list.members().count();
        assert_eq!(
            none + root.get("e").unwrap().members().count() + root.get("l").unwrap().elements().count(),
            0
        );
    }

    #[test]
    fn compact_json_has_no_white_space() {
        let json = br#" { "n" : [ 1.0 , "a\u00e9\/ b" , [ ], { } ,null, 1e400, "\ud800" ] } "#;
        let document = Document::parse(json).unwrap();
        let written = r#"{"n":[1.0,"aé/ b",[],{},null,1e400,"\ud800"]}"#;
        assert_eq!(document.root().compact(), written);
        let named = document.root().compact_with(|leaf| (leaf.source() == b"\"n\"").then(String::new));
        assert_eq!(named, written);
        let named = document.root().compact_with(|leaf| (leaf.source() == b"1.0").then(|| "one".into()));
        assert_eq!(named, written.replace("1.0", "one"));
    }

    #[test]
    fn deep_nesting_uses_no_stack() {
        let deep = "[{\"a\":".repeat(300_000) + "1" + &"}]".repeat(300_000);
        let document = Document::parse(deep.as_bytes()).unwrap();
        assert_eq!(document.root().compact(), deep);
        assert!(Document::parse((deep + "}").as_bytes()).is_none());
    }
}
