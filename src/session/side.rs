//! Caps the side data of a result, as `lib/dialect/side.ts` does for live objects.

use super::payload::{medium_of, omitted};
use crate::json::scan::{Kind, Span};
use crate::json::tree::{Id, Out, TOP, Tree, string};
use crate::json::write;
use crate::text::units::{is_high, is_low};

/// The result of capping side data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    Same,
    /// Replacement JSON.
    Json(Vec<u8>),
    Gone,
}

/// Shrinks a value to `max` bytes of JSON if it takes more than `most`. Small scalars are kept first. Long texts are
/// truncated, payloads are replaced by their size, arrays and objects keep the parts that fit, and the result states
/// the original size. Returns [`Side::Gone`] if even an empty value does not fit.
pub fn cap(row: &[u8], value: Span, max: usize, most: usize) -> Side {
    if value.len() <= most {
        return Side::Same;
    }
    let tree = Tree::of(row, value);
    let bytes = tree.width(TOP, None);
    if bytes <= most {
        return Side::Same;
    }
    Shrink { tree }
        .shrink(TOP, max, Above { bytes: Some(bytes), ..Above::default() })
        .map_or(Side::Gone, Side::Json)
}

/// Like [`cap`], without the original size. Returns `None` if even an empty value does not fit.
pub fn shrunk(json: &[u8], max: usize) -> Option<Vec<u8>> {
    let tree = Tree::of(json, Span { start: 0, end: json.len() });
    Shrink { tree }.shrink(TOP, max, Above::default())
}

/// Maximum bytes of a string that is kept like a number, such as a path or an id.
const SMALL: usize = 256;
/// Deeper values are summarised.
const DEPTH: usize = 4;
/// The minimum room for showing part of a value.
const LEAST: usize = 40;

const BRACKETS: usize = 2;
const COMMA: usize = 1;
const COLON: usize = 1;

/// The name of the member that counts omitted members.
pub const MORE: &str = "[...]";

/// Context that a value inherits from its ancestors.
#[derive(Clone, Copy, Default)]
struct Above<'a> {
    depth: usize,
    /// The original size, stated inside.
    bytes: Option<usize>,
    /// The media type of payloads inside.
    medium: Option<&'a str>,
}

impl<'a> Above<'a> {
    fn below(self, medium: Option<&'a str>) -> Self {
        Above { depth: self.depth + 1, bytes: None, medium: medium.or(self.medium) }
    }
}

struct Shrink<'a> {
    tree: Tree<'a>,
}

impl Shrink<'_> {
    /// Returns the JSON of a value in at most `room` bytes.
    fn shrink(&self, id: Id, room: usize, above: Above) -> Option<Vec<u8>> {
        let Above { depth, bytes, .. } = above;
        let kind = self.tree.kind(id);
        if kind == Kind::String {
            return self.shortened(id, room, above);
        }
        if !kind.is_container() {
            return fitting(self.json(id, depth), room);
        }
        if depth >= DEPTH {
            let count = self.tree.children(id).count();
            let summary = match kind {
                Kind::Array => format!("[array of {count} items]"),
                _ => format!("[object of {} members]", self.tree.members(id).len()),
            };
            return fitting(string(&summary), room);
        }
        let mark = bytes.map(|bytes| format!("{{\"originalBytes\":{bytes}}}").into_bytes());
        match kind {
            Kind::Array => self.first_items(id, room, above, mark),
            _ => self.some_members(id, room, above, mark),
        }
    }

    fn json(&self, id: Id, depth: usize) -> Vec<u8> {
        let mut out = vec![];
        self.tree.write(id, Some(depth), &mut out);
        out
    }

    fn first_items(&self, id: Id, bytes: usize, above: Above, mark: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut room = Room(bytes);
        if !room.take(BRACKETS) {
            return None;
        }
        let mut last = vec![];
        if let Some(mark) = mark {
            let said = [b"{\"spillway\":", &mark[..], b"}"].concat();
            if room.take(said.len() + COMMA) {
                last.push(said);
            }
        }
        let count = self.tree.children(id).count();
        let more = |count: usize| string(&format!("[... {count} more items]"));
        if !room.take(more(count).len() + COMMA) {
            return Some(array(&last));
        }
        let (mut kept, below) = (vec![], above.below(None));
        for item in self.tree.children(id) {
            if room.take(self.tree.width(item, Some(below.depth)) + COMMA) {
                kept.push(self.json(item, below.depth));
                continue;
            }
            if room.0 > LEAST {
                kept.extend(self.shrink(item, room.0 - COMMA, below));
            }
            break;
        }
        if kept.len() < count {
            kept.push(more(count - kept.len()));
        }
        kept.extend(last);
        Some(array(&kept))
    }

    fn some_members(&self, id: Id, bytes: usize, above: Above, mark: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut room = Room(bytes);
        if !room.take(BRACKETS) {
            return None;
        }
        let spillway = mark.filter(|mark| room.take(string("spillway").len() + COLON + mark.len() + COMMA));
        let all = self.tree.members(id);
        let medium = medium_of(&self.tree, &all);
        let below = above.below(medium.as_deref());
        let more = |count: usize| string(&format!("{count} more members"));
        let says_more = room.take(string(MORE).len() + COLON + more(all.len()).len() + COMMA);
        let key_width = |name: Id| self.tree.literal(name).json_width() + COLON + COMMA;
        let mut kept: Vec<Option<Vec<u8>>> = vec![None; all.len()];
        let mut large = vec![];
        for (at, (name, value)) in all.iter().enumerate() {
            let key = key_width(*name);
            let size = self.tree.width(*value, Some(below.depth));
            // `typeof null` is "object" in JavaScript.
            let is_scalar = !self.tree.kind(*value).is_container() && self.tree.kind(*value) != Kind::Null;
            if !is_scalar || size > SMALL {
                large.push((size, at));
            } else if room.take(key + size) {
                kept[at] = Some(self.json(*value, below.depth));
            }
        }
        // Smallest first: room that they leave goes to larger ones.
        large.sort_unstable();
        for (nth, (size, at)) in large.iter().enumerate() {
            let (name, value) = all[*at];
            let key = key_width(name);
            let share = (room.0 / (large.len() - nth)).checked_sub(key);
            let part = match share {
                Some(share) if *size <= share => Some(self.json(value, below.depth)),
                Some(share) if share > LEAST => self.shrink(value, share, below),
                _ => None,
            };
            kept[*at] = part.filter(|part| room.take(key + part.len()));
        }
        let missing = kept.iter().filter(|part| part.is_none()).count();
        Some(self.object(&all, kept, (missing > 0 && says_more).then(|| more(missing)), spillway))
    }

    /// Writes the kept members in their order, and our own. Ours replace members with the same name.
    fn object(
        &self,
        all: &[(Id, Id)],
        kept: Vec<Option<Vec<u8>>>,
        more: Option<Vec<u8>>,
        spillway: Option<Vec<u8>>,
    ) -> Vec<u8> {
        let mut ours = [(MORE, more), ("spillway", spillway)];
        let mut out = vec![b'{'];
        let mut put = |name: &dyn Fn(&mut Vec<u8>), value: &[u8]| {
            if out.len() > 1 {
                out.push(b',');
            }
            name(&mut out);
            out.push(b':');
            out.extend_from_slice(value);
        };
        for ((name, _), value) in all.iter().zip(kept) {
            let Some(value) = value else { continue };
            let name = self.tree.literal(*name);
            let same = ours.iter_mut().find(|(ours, said)| said.is_some() && name.is(ours.as_bytes()));
            let value = same.and_then(|(_, said)| said.take()).unwrap_or(value);
            put(&|out| out.put_string(name), &value);
        }
        for (name, said) in ours {
            if let Some(said) = said {
                put(&|out| out.put(&string(name)), &said);
            }
        }
        out.push(b'}');
        out
    }

    /// Truncates a text to fit as JSON. A payload is replaced by its size.
    fn shortened(&self, id: Id, room: usize, above: Above) -> Option<Vec<u8>> {
        let text = self.tree.literal(id);
        if text.json_width() <= room {
            return Some(self.json(id, 0));
        }
        if let Some(said) = omitted(text, above.medium) {
            return said.iter().find_map(|said| fitting(string(said), room));
        }
        let (total, start) = (text.size().chars, text.head(room.saturating_add(1)));
        let of = above.bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
        let mut length = room;
        loop {
            let mut kept = length.min(total);
            if kept > 0 && kept < start.len() && is_high(start[kept - 1]) && is_low(start[kept]) {
                kept -= 1;
            }
            let mut said = String::from_utf16_lossy(&start[..kept]);
            said.push_str(&format!("[... {} more characters truncated{of}]", total - kept));
            let size = 2 + said.chars().map(write::width).sum::<usize>();
            if size <= room {
                return Some(string(&said));
            }
            if length == 0 {
                return (room >= BRACKETS).then(|| b"\"\"".to_vec());
            }
            // An escape takes up to six bytes, so this never removes too much.
            length = length.saturating_sub((size - room).div_ceil(6).max(1));
        }
    }
}

fn fitting(json: Vec<u8>, room: usize) -> Option<Vec<u8>> {
    (json.len() <= room).then_some(json)
}

/// Bytes that remain to be allocated.
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

fn array(items: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![b'['];
    out.extend(items.join(&b','));
    out.push(b']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capped(json: &str, max: usize) -> Option<String> {
        let value = Span { start: 0, end: json.len() };
        match cap(json.as_bytes(), value, max, max) {
            Side::Same => Some(json.to_owned()),
            Side::Json(json) => {
                assert!(json.len() <= max, "{} bytes", json.len());
                Some(String::from_utf8(json).unwrap())
            }
            Side::Gone => None,
        }
    }

    #[test]
    fn small_scalars_are_kept_first_and_omissions_are_stated() {
        let json = format!(r#"{{"huge":"{}","exitCode":1,"cwd":"/tmp","null":null}}"#, "h".repeat(900));
        assert_eq!(
            capped(&json, 200).unwrap(),
            format!(
                r#"{{"huge":"{}[... 843 more characters truncated]","exitCode":1,"cwd":"/tmp","null":null,"spillway":{{"originalBytes":949}}}}"#,
                "h".repeat(57)
            )
        );
        assert_eq!(capped(&json, 2).unwrap(), "{}");
        assert_eq!(capped(&json, 1), None);
    }

    #[test]
    fn strings_and_arrays_are_capped_at_the_top() {
        let text = format!("\"{}\"", "\\u0001".repeat(50));
        assert_eq!(
            capped(&text, 100).unwrap(),
            format!("\"{}[... 42 more characters truncated of 302 bytes]\"", "\\u0001".repeat(8))
        );
        assert_eq!(capped("\"😀😀😀\"", 12).unwrap(), "\"\"");
        let list = format!("[1,2,{}]", "[3,4],".repeat(30).trim_end_matches(','));
        assert_eq!(
            capped(&list, 90).unwrap(),
            r#"[1,2,[3,4],[3,4],[3,4],[3,4],"[... 26 more items]",{"spillway":{"originalBytes":185}}]"#
        );
    }

    #[test]
    fn deep_values_are_summarised() {
        let json = format!(r#"{{"a":[[[[["{}"]]]]]}}"#, "x".repeat(300));
        assert!(capped(&json, 200).unwrap().contains("[array of 1 items]"));
        let deep = "[".repeat(9_000) + &"]".repeat(9_000);
        assert!(capped(&deep, 400).is_some());
    }
}
