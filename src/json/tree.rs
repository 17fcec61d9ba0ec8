//! A value as `JSON.parse` would build it, for rewriting.

use std::borrow::Cow;

use super::literal::Literal;
use super::scan::{Event, Kind, Span, document, walk};
use super::write;
use crate::hash::hash;

/// The values of a text in document order; each stores the end of its descendants. Member names precede their values.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    text: &'a [u8],
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    span: Span,
    next: usize,
}

/// The index of a value in its tree.
pub type Id = usize;

/// The root of every tree.
pub const TOP: Id = 0;

/// The nesting limit of written JSON, if requested. lib/json.ts uses an equal limit.
const DEEPEST: usize = 200;

impl<'a> Tree<'a> {
    /// Parses a text that is one value, or returns `None` if it is not valid JSON.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        Some(Tree::of(text, document(text)?))
    }

    /// Reads the value at a span of a text.
    #[inline(never)]
    pub fn of(text: &'a [u8], value: Span) -> Self {
        let (mut nodes, mut open) = (vec![], vec![]);
        walk(text, value.start, |event| match event {
            Event::Open(start) => {
                open.push(nodes.len());
                nodes.push(Node { span: Span { start, end: start }, next: 0 });
            }
            Event::Leaf(span) => nodes.push(Node { span, next: nodes.len() + 1 }),
            Event::Close(end) => {
                let next = nodes.len();
                if let Some(node) = open.pop().and_then(|id: usize| nodes.get_mut(id)) {
                    node.span.end = end;
                    node.next = next;
                }
            }
        });
        Tree { text, nodes }
    }

    pub fn kind(&self, id: Id) -> Kind {
        Kind::of(self.source(id))
    }

    pub fn source(&self, id: Id) -> &'a [u8] {
        self.nodes[id].span.of(self.text)
    }

    #[inline(never)]
    pub fn literal(&self, id: Id) -> Literal<'a> {
        Literal::of(self.source(id))
    }

    /// Iterates over the elements of an array, or over alternating names and values of an object.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let end = self.nodes[id].next;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.nodes[child].next;
            Some(child)
        })
    }

    /// Returns the members of an object in JavaScript's order: array indexes first, ascending, then insertion order. A
    /// repeated name takes its first position and its last value.
    #[inline(never)]
    pub fn members(&self, id: Id) -> Vec<(Id, Id)> {
        let mut children = self.children(id);
        let mut members = vec![];
        while let (Some(name), Some(value)) = (children.next(), children.next()) {
            members.push((name, value));
        }
        let names: Vec<Cow<[u8]>> = members.iter().map(|(name, _)| self.name(*name)).collect();
        let mut order: Vec<(u64, usize)> =
            names.iter().enumerate().map(|(at, name)| (hash(name), at)).collect();
        order.sort_unstable();
        let is_regular = order.windows(2).all(|pair| pair[0].0 != pair[1].0)
            && names.iter().all(|name| index_of(name).is_none());
        if is_regular { members } else { in_order(&members, &names, &order) }
    }

    /// Returns a canonical spelling of a name, for comparison.
    fn name(&self, id: Id) -> Cow<'a, [u8]> {
        let source = self.source(id);
        if Literal::of(source).as_plain().is_some_and(|text| simdutf8::basic::from_utf8(text).is_ok()) {
            return source.into();
        }
        let mut name = vec![];
        self.literal(id).write_json(&mut name);
        name.into()
    }

    /// Appends a value as `JSON.stringify` writes it, but keeps the spelling of numbers. With `depth`, the number of
    /// levels above the value, containers deeper than `DEEPEST` are replaced.
    pub fn write(&self, id: Id, depth: Option<usize>, out: &mut impl Out) {
        let deepest = depth.map(|depth| DEEPEST.saturating_sub(depth));
        let mut open: Vec<Frame> = vec![];
        let mut next = Some(id);
        loop {
            if let Some(id) = next.take() {
                match self.kind(id) {
                    kind if kind.is_container() && deepest == Some(open.len()) => out.put(b"\"[too deep]\""),
                    Kind::Array => {
                        out.put(b"[");
                        open.push(Frame {
                            next: id + 1,
                            end: self.nodes[id].next,
                            members: None,
                            first: true,
                        });
                    }
                    Kind::Object => {
                        out.put(b"{");
                        let members = Some(self.members(id).into_iter());
                        open.push(Frame { next: 0, end: 0, members, first: true });
                    }
                    Kind::String => out.put_text(id, self.literal(id)),
                    _ => out.put(self.source(id)),
                }
            }
            let Some(frame) = open.last_mut() else { return };
            let comma: &[u8] = if std::mem::take(&mut frame.first) { b"" } else { b"," };
            match &mut frame.members {
                Some(members) => match members.next() {
                    Some((name, value)) => {
                        out.put(comma);
                        out.put_string(self.literal(name));
                        out.put(b":");
                        next = Some(value);
                    }
                    None => {
                        out.put(b"}");
                        open.pop();
                    }
                },
                None if frame.next < frame.end => {
                    out.put(comma);
                    next = Some(frame.next);
                    frame.next = self.nodes[frame.next].next;
                }
                None => {
                    out.put(b"]");
                    open.pop();
                }
            }
        }
    }

    /// Returns a value as `JSON.stringify` writes it.
    pub fn json(&self, id: Id) -> Vec<u8> {
        let mut out = vec![];
        self.write(id, None, &mut out);
        out
    }

    /// Returns the number of bytes that [`Tree::write`] appends.
    pub fn width(&self, id: Id, depth: Option<usize>) -> usize {
        let mut width = Width(0);
        self.write(id, depth, &mut width);
        width.0
    }
}

/// Orders members by index and position, and drops repeated names. `order` sorts the names by hash.
fn in_order(members: &[(Id, Id)], names: &[Cow<[u8]>], order: &[(u64, usize)]) -> Vec<(Id, Id)> {
    let mut places: Vec<(usize, usize)> = vec![];
    let mut last_of: Vec<Id> = members.iter().map(|(_, value)| *value).collect();
    for alike in order.chunk_by(|one, other| one.0 == other.0) {
        // Equal hashes almost always mean equal names.
        for (nth, (_, at)) in alike.iter().enumerate() {
            match alike[..nth].iter().find(|(_, first)| names[*first] == names[*at]) {
                Some((_, first)) => last_of[*first] = members[*at].1,
                None => {
                    let index = index_of(&names[*at]).map_or(usize::MAX, |index| index as usize);
                    places.push((index, *at));
                }
            }
        }
    }
    places.sort_unstable();
    places.into_iter().map(|(_, at)| (members[at].0, last_of[at])).collect()
}

/// A container that is being written.
struct Frame {
    /// The next element of an array, and the end of the array.
    next: Id,
    end: Id,
    members: Option<std::vec::IntoIter<(Id, Id)>>,
    first: bool,
}

/// Parses a quoted name as an array index, which JavaScript orders before other names.
fn index_of(name: &[u8]) -> Option<u32> {
    let digits = name.get(1..name.len() - 1)?;
    if digits.len() > 10 || digits.is_empty() || digits[0] == b'0' && digits.len() > 1 {
        return None;
    }
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let index: u32 = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    (index < u32::MAX).then_some(index)
}

/// A sink for JSON.
pub trait Out {
    fn put(&mut self, json: &[u8]);
    fn put_string(&mut self, text: Literal);
    /// A string that is no name of a member.
    fn put_text(&mut self, _: Id, text: Literal) {
        self.put_string(text);
    }
}

impl Out for Vec<u8> {
    fn put(&mut self, json: &[u8]) {
        self.extend_from_slice(json);
    }
    fn put_string(&mut self, text: Literal) {
        text.write_json(self);
    }
}

/// Counts bytes.
struct Width(usize);

impl Out for Width {
    fn put(&mut self, json: &[u8]) {
        self.0 += json.len();
    }
    fn put_string(&mut self, text: Literal) {
        self.0 += text.json_width();
    }
}

/// Writes a text as a JSON string.
pub fn string(text: &str) -> Vec<u8> {
    let mut out = vec![b'"'];
    text.chars().for_each(|point| write::push(point, &mut out));
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let tree = Tree::parse(text.as_bytes()).unwrap();
        assert_eq!(tree.width(TOP, None), tree.json(TOP).len());
        String::from_utf8(tree.json(TOP)).unwrap()
    }

    #[test]
    fn values_are_written_as_javascript_orders_them() {
        for (text, json) in [
            (" [ 1.0 , \"a\\u00e9\\/\" , [ ], { } ,null ] ", "[1.0,\"aé/\",[],{},null]"),
            (r#"{"b":1,"a":{"c":[true]},"b":2}"#, r#"{"b":2,"a":{"c":[true]}}"#),
            (
                r#"{"b":1,"10":2,"9":3,"01":4,"4294967295":5,"-1":6}"#,
                r#"{"9":3,"10":2,"b":1,"01":4,"4294967295":5,"-1":6}"#,
            ),
            (r#"{"\u0061":1,"a":2,"":3}"#, r#"{"a":2,"":3}"#),
            (r#""\ud800x\ud83d\ude00""#, r#""\ud800x😀""#),
        ] {
            assert_eq!(written(text), json);
        }
    }

    #[test]
    fn depth_is_limited_on_request() {
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        assert_eq!(written(&deep), deep);
        let tree = Tree::parse(deep.as_bytes()).unwrap();
        let mut bounded = vec![];
        tree.write(TOP, Some(0), &mut bounded);
        assert_eq!(bounded, ("[".repeat(200) + "\"[too deep]\"" + &"]".repeat(200)).into_bytes());
        assert_eq!(tree.width(TOP, Some(150)), 112);
    }
}
