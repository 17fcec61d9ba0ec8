//! Data of a result that no path reads but a framework may send: unknown members, and blocks of unknown types.
//! `lib/dialect/walk.ts` finds them in live objects.

use super::names::Name;
use super::object::{Object, text_at};
use super::path::{As, End, Follower, InList, Paths};
use super::result::Slot;
use crate::json::Kind;
use crate::json::Literal;
use crate::json::members::{Member, elements, members};
use crate::json::scan::Span;
use crate::json::tree::{TOP, Tree};

/// Bytes of JSON that this data may take beyond the limits of a result.
const LITTLE: usize = 1_024;
/// Longer strings are not tags.
const WORD: usize = 256;
/// An invalid byte becomes U+FFFD, which takes three.
const MOST: usize = 3;

/// Finds the unread data of a result, given the slots that were read.
pub fn of(follower: Follower, known: &Paths, object: &Object, slots: &[Slot]) -> Vec<Slot> {
    let read: usize = slots.iter().map(|slot| slot.value.len()).sum();
    if object.span.len().saturating_sub(read).saturating_mul(MOST) <= LITTLE {
        return vec![];
    }
    let mut rest = Rest { follower, read: slots, found: vec![], lists: vec![] };
    rest.visit(&Known { paths: vec![known], tags: vec![] }, object);
    let width = |slot: &Slot| {
        let source = slot.source(follower.row);
        Tree::of(&source, Span { start: 0, end: source.len() }).width(TOP, None)
    };
    if rest.found.iter().map(width).sum::<usize>() > LITTLE { rest.found } else { vec![] }
}

/// The paths that lead to a value, and the tags that selected it.
struct Known<'p> {
    paths: Vec<&'p Paths>,
    tags: Vec<Name>,
}

impl<'p> Known<'p> {
    fn is_aside(&self) -> bool {
        self.paths.iter().any(|paths| paths.end == Some(End::Aside))
    }

    fn is_leaf(&self) -> bool {
        self.paths
            .iter()
            .all(|paths| paths.members.is_empty() && paths.filters.is_empty() && paths.each.is_none())
    }

    fn leads_into(&self, kind: Kind) -> bool {
        self.paths.iter().any(|paths| match kind {
            _ if !paths.filters.is_empty() => true,
            Kind::Array => paths.each.is_some(),
            _ => !paths.members.is_empty(),
        })
    }

    fn own_tags(&self) -> impl Iterator<Item = Name> {
        self.paths.iter().flat_map(|paths| &paths.filters).map(|filter| filter.tag)
    }

    /// Returns the paths for the value's tags, preferring those that lead to members.
    fn tagged(&self, row: &[u8], object: &Object) -> Option<&'p Paths> {
        let mut found: Option<&Paths> = None;
        for filter in self.paths.iter().flat_map(|paths| &paths.filters) {
            let next = filter.next(row, object);
            if found.is_none_or(|found| found.members.is_empty()) {
                found = next.or(found);
            }
        }
        found
    }

    fn member(&self, tagged: Option<&'p Paths>, name: Name) -> Known<'p> {
        let all = self.paths.iter().copied().chain(tagged);
        let next = all.flat_map(|paths| paths.members.iter().find(|(known, _)| *known == name));
        Known { paths: next.map(|(_, paths)| paths).collect(), tags: vec![] }
    }

    fn element(&self, row: &[u8], object: &Object) -> Known<'p> {
        let each = self.paths.iter().filter_map(|paths| paths.each.as_deref());
        Known { paths: each.chain(self.tagged(row, object)).collect(), tags: self.own_tags().collect() }
    }
}

struct Rest<'a> {
    follower: Follower<'a>,
    read: &'a [Slot],
    found: Vec<Slot>,
    lists: Vec<InList>,
}

impl Rest<'_> {
    fn visit(&mut self, known: &Known, object: &Object) {
        let row = self.follower.row;
        if Kind::of(object.span.of(row)) != Kind::Array {
            return self.visit_object(known, object);
        }
        for (index, element) in elements(row, object.span).enumerate() {
            self.lists.push(InList { list: object.span, index, element });
            let mut next = None;
            if Kind::of(element.of(row)).is_container() {
                let below = self.follower.object(element);
                let known = known.element(row, &below);
                next = (!known.paths.is_empty()).then_some((known, below));
            }
            match next {
                Some((known, below)) => self.visit(&known, &below),
                None => self.found.push(self.slot(element, object.span, vec![])),
            }
            self.lists.pop();
        }
    }

    fn visit_object(&mut self, known: &Known, object: &Object) {
        let (row, names) = (self.follower.row, self.follower.names);
        let tagged = known.tagged(row, object);
        let tags: Vec<Name> = ["role", "type"].iter().filter_map(|tag| names.find(tag.as_bytes())).collect();
        let mut unknown = vec![];
        // Unknown members stand before what is found in known members behind the first of them.
        let mut place = None;
        for member in members(row, object.span) {
            let name = names.find(&Literal::of(member.key.of(row)).utf8());
            // The last of several members with one name counts.
            let last = name.and_then(|name| object.get(name)).unwrap_or(member);
            let (value, kind) = (last.value, Kind::of(last.value.of(row)));
            let next = name.map(|name| known.member(tagged, name)).filter(|next| !next.paths.is_empty());
            let Some(next) = next else {
                let is_tag = name.is_some_and(|name| {
                    tags.contains(&name)
                        || known.tags.contains(&name)
                        || known.own_tags().any(|tag| tag == name)
                });
                if !(known.is_aside() || is_tag && self.is_word(value)) {
                    place = place.or(Some(self.found.len()));
                    unknown.push(member);
                }
                continue;
            };
            if (next.is_aside() && next.is_leaf()) || self.reads(&next, value) {
                continue;
            }
            if kind.is_container() && next.leads_into(kind) {
                if last == member {
                    self.visit(&next, &self.follower.object(value));
                }
            } else {
                place = place.or(Some(self.found.len()));
                unknown.push(member);
            }
        }
        if let Some(place) = place {
            self.found.insert(place, self.slot(object.span, object.span, unknown));
        }
    }

    fn slot(&self, value: Span, holder: Span, members: Vec<Member>) -> Slot {
        let (lists, json) = (self.lists.clone(), Some(As::Rest));
        Slot { value, holder, member: None, json, is_data: true, lists, members }
    }

    fn is_word(&self, value: Span) -> bool {
        let row = self.follower.row;
        match text_at(row, value) {
            Some(text) => text.size().chars <= WORD,
            None => !Kind::of(value.of(row)).is_container(),
        }
    }

    /// Returns true if the whole value was read as text or is known not to be text.
    fn reads(&self, known: &Known, value: Span) -> bool {
        let kind = Kind::of(value.of(self.follower.row));
        let is_slot = || self.read.iter().any(|slot| slot.json.is_some() && slot.value == value);
        known.paths.iter().any(|paths| match paths.end {
            None | Some(End::Value) => false,
            Some(End::Aside) => known.is_leaf(),
            Some(End::Word) => !kind.is_container(),
            Some(End::Text | End::Payload) => kind == Kind::String,
            Some(End::Json(_)) => kind == Kind::String || (kind.is_container() && is_slot()),
        })
    }
}
