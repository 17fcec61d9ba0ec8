//! Data of a result that no path reads but a framework may send: unknown members, and blocks of
//! unknown types. `lib/dialect/walk.ts` finds them in live objects.

use std::ops::Range;

use super::path::{As, End, Paths};
use super::result::Slot;
use crate::json::Value;

/// Bytes of JSON that this data may take beyond the limits of a result.
const LITTLE: usize = 1_024;
/// Longer strings are neither tags nor other words.
const WORD: usize = 256;
/// Blocks of a list that have no size of their own. Of the others, those without a text are unread.
const BLOCKS: usize = 2_000;
/// An invalid byte becomes U+FFFD, which takes three.
const MOST: usize = 3;

/// Adds the unread data of a result to the slots that were read, and removes from these the parts
/// that are unread.
pub fn add<'d>(known: &Paths, object: Value<'d>, mut read: Vec<Slot<'d>>) -> Vec<Slot<'d>> {
    let bytes: usize = read.iter().map(|slot| slot.value.source().len()).sum();
    if object.source().len().saturating_sub(bytes).saturating_mul(MOST) <= LITTLE {
        return read;
    }
    let mut texts: Vec<usize> =
        read.iter().filter(|slot| !is_empty(slot)).map(|slot| place(slot.value)).collect();
    texts.sort_unstable();
    let mut unread = Unread { read: &read, texts, found: vec![], beyond: vec![] };
    unread.visit(&PathMatch { paths: vec![known], tags: vec![] }, object);
    let Unread { found, beyond, .. } = unread;
    let mut spans: Vec<Range<usize>> = beyond.iter().map(|slot| span(slot.value)).collect();
    spans.sort_unstable_by_key(|span| span.start);
    read.retain(|slot| !(is_empty(slot) && is_in(place(slot.value), &spans)));
    let size: usize = found.iter().chain(&beyond).map(|slot| slot.json().len()).sum();
    if size > LITTLE { [found, read, beyond].concat() } else { read }
}

/// Returns the address of a value's source, which shows which value contains another.
fn place(value: Value) -> usize {
    value.source().as_ptr().addr()
}

fn span(value: Value) -> Range<usize> {
    place(value)..place(value) + value.source().len()
}

/// Returns true if a place is in one of these spans, which are in order.
fn is_in(place: usize, spans: &[Range<usize>]) -> bool {
    let next = spans.partition_point(|span| span.start <= place);
    next > 0 && spans[next - 1].contains(&place)
}

fn is_empty(slot: &Slot) -> bool {
    slot.value.source() == br#""""#
}

/// The paths that lead to a value, and the tags that selected it.
struct PathMatch<'p> {
    paths: Vec<&'p Paths>,
    tags: Vec<&'p str>,
}

impl<'p> PathMatch<'p> {
    fn is_aside(&self) -> bool {
        self.paths.iter().any(|paths| paths.end == Some(End::Aside))
    }

    fn is_leaf(&self) -> bool {
        let leads_on =
            |paths: &&Paths| !paths.members.is_empty() || !paths.filters.is_empty() || paths.each.is_some();
        !self.paths.iter().any(leads_on)
    }

    fn leads_into(&self, value: Value) -> bool {
        self.paths.iter().any(|paths| match value.is_list() {
            _ if !paths.filters.is_empty() => true,
            true => paths.each.is_some(),
            false => value.is_object() && !paths.members.is_empty(),
        })
    }

    fn own_tags(&self) -> impl Iterator<Item = &'p str> {
        self.paths.iter().flat_map(|paths| &paths.filters).map(|filter| &*filter.tag)
    }

    /// Returns the paths for the value's tags, preferring those that lead to members.
    fn tagged(&self, value: Value) -> Option<&'p Paths> {
        let mut found: Option<&Paths> = None;
        for filter in self.paths.iter().flat_map(|paths| &paths.filters) {
            if found.is_none_or(|found| found.members.is_empty()) {
                found = filter.next(value).or(found);
            }
        }
        found
    }

    fn member(&self, tagged: Option<&'p Paths>, member: Value) -> PathMatch<'p> {
        let all = self.paths.iter().copied().chain(tagged);
        let next = all.flat_map(|paths| paths.members.iter().find(|(own, _)| member.is_named(own)));
        PathMatch { paths: next.map(|(_, paths)| paths).collect(), tags: vec![] }
    }

    fn element(&self, element: Value) -> PathMatch<'p> {
        let each = self.paths.iter().filter_map(|paths| paths.each.as_deref());
        PathMatch { paths: each.chain(self.tagged(element)).collect(), tags: self.own_tags().collect() }
    }
}

struct Unread<'s, 'd> {
    read: &'s [Slot<'d>],
    /// Places of the slots that have a text, in order.
    texts: Vec<usize>,
    found: Vec<Slot<'d>>,
    /// Blocks without a text that are too many.
    beyond: Vec<Slot<'d>>,
}

impl<'d> Unread<'_, 'd> {
    fn visit(&mut self, known: &PathMatch, value: Value<'d>) {
        if value.is_object() {
            return self.visit_object(known, value);
        }
        for (at, element) in value.elements().enumerate() {
            let below = known.element(element);
            let is_known = element.is_container() && !below.paths.is_empty();
            if is_known && (at < BLOCKS || self.has_text(element)) {
                self.visit(&below, element);
                continue;
            }
            let slots = if is_known { &mut self.beyond } else { &mut self.found };
            slots.push(Slot { value: element, json: Some(As::Rest), members: vec![] });
        }
    }

    fn has_text(&self, element: Value) -> bool {
        let next = self.texts.partition_point(|place| *place < span(element).start);
        self.texts.get(next).is_some_and(|place| span(element).contains(place))
    }

    fn visit_object(&mut self, known: &PathMatch, object: Value<'d>) {
        let tagged = known.tagged(object);
        let mut members = vec![];
        // Unknown members come before finds in known members after the first of them.
        let mut place = None;
        for member in object.members() {
            let next = known.member(tagged, member);
            let is_unread = if next.paths.is_empty() {
                let mut tags =
                    ["role", "type"].into_iter().chain(known.tags.iter().copied()).chain(known.own_tags());
                let is_tag = tags.any(|tag| member.is_named(tag)) && is_word(member);
                !known.is_aside() && !is_tag
            } else if (next.is_aside() && next.is_leaf()) || self.reads(&next, member) {
                false
            } else if next.leads_into(member) && member.is_container() {
                self.visit(&next, member);
                false
            } else {
                true
            };
            if is_unread {
                place = place.or(Some(self.found.len()));
                members.push(member);
            }
        }
        if let Some(place) = place {
            self.found.insert(place, Slot { value: object, json: Some(As::Rest), members });
        }
    }

    /// Returns true if the whole value was read as text or is known not to be text.
    fn reads(&self, known: &PathMatch, value: Value) -> bool {
        let is_string = value.text().is_some();
        let is_slot = || self.read.iter().any(|slot| slot.json.is_some() && slot.value == value);
        known.paths.iter().any(|paths| match paths.end {
            None | Some(End::Value) => false,
            Some(End::Aside) => known.is_leaf(),
            Some(End::Word) => !value.is_container(),
            Some(End::ShortWord) => is_word(value),
            Some(End::Text | End::Payload(_)) => is_string,
            Some(End::Json(_)) => is_string || (value.is_container() && is_slot()),
        })
    }
}

fn is_word(value: Value) -> bool {
    value.text().map_or(!value.is_container(), |text| text.size().chars <= WORD)
}

#[cfg(test)]
mod tests {
    use crate::dialect::{Table, ToolResult};
    use crate::json::Document;

    fn texts_of(blocks: &[&str]) -> Vec<String> {
        let row = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
        let document = Document::parse(row.as_bytes()).unwrap();
        let results = Table::get().results(document.root(), Some("mcp"));
        let texts = |result: &ToolResult| -> Vec<String> {
            result
                .slots
                .iter()
                .map(|slot| String::from_utf8_lossy(slot.value.source()).into_owned())
                .collect()
        };
        results.iter().flat_map(texts).collect()
    }

    #[test]
    fn many_blocks_without_a_text_have_a_size() {
        let empty = r#"{"type":"text","text":""}"#;
        assert_eq!(texts_of(&[empty; 2_000]).len(), 2_000);
        let mut blocks = [empty; 2_200].to_vec();
        blocks[2_100] = r#"{"type":"text","text":"a"}"#;
        let texts = texts_of(&blocks);
        let count = |text: &str| texts.iter().filter(|own| *own == text).count();
        assert_eq!((count(r#""""#), count(r#""a""#), count(empty)), (2_000, 1, 199));
    }

    #[test]
    fn long_words_are_unread() {
        for (length, slots) in [(200, 1), (2_000, 2)] {
            let uri = "u".repeat(length);
            let block = format!(r#"{{"type":"resource","resource":{{"uri":"{uri}","text":"a"}}}}"#);
            assert_eq!(texts_of(&[&block]).len(), slots, "{length}");
        }
    }
}
