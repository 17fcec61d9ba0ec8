//! Data of a result that no path reads but a framework may send: unknown members, and blocks of unknown types.
//! `lib/dialect/walk.ts` finds them in live objects.

use super::path::{As, End, Paths};
use super::result::Slot;
use crate::json::Value;

/// Bytes of JSON that this data may take beyond the limits of a result.
const LITTLE: usize = 1_024;
/// Longer strings are not tags.
const WORD: usize = 256;
/// An invalid byte becomes U+FFFD, which takes three.
const MOST: usize = 3;

/// Finds the unread data of a result, given the slots that were read.
pub fn slots<'d>(known: &Paths, object: Value<'d>, read: &[Slot<'d>]) -> Vec<Slot<'d>> {
    let bytes: usize = read.iter().map(|slot| slot.value.source().len()).sum();
    if object.source().len().saturating_sub(bytes).saturating_mul(MOST) <= LITTLE {
        return vec![];
    }
    let mut unread = Unread { read, found: vec![] };
    unread.visit(&Known { paths: vec![known], tags: vec![] }, object);
    let size: usize = unread.found.iter().map(|slot| slot.json().len()).sum();
    if size > LITTLE { unread.found } else { vec![] }
}

/// The paths that lead to a value, and the tags that selected it.
struct Known<'p> {
    paths: Vec<&'p Paths>,
    tags: Vec<&'p str>,
}

impl<'p> Known<'p> {
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

    fn member(&self, tagged: Option<&'p Paths>, member: Value) -> Known<'p> {
        let all = self.paths.iter().copied().chain(tagged);
        let next = all.flat_map(|paths| paths.members.iter().find(|(own, _)| member.is_named(own)));
        Known { paths: next.map(|(_, paths)| paths).collect(), tags: vec![] }
    }

    fn element(&self, element: Value) -> Known<'p> {
        let each = self.paths.iter().filter_map(|paths| paths.each.as_deref());
        Known { paths: each.chain(self.tagged(element)).collect(), tags: self.own_tags().collect() }
    }
}

struct Unread<'s, 'd> {
    read: &'s [Slot<'d>],
    found: Vec<Slot<'d>>,
}

impl<'d> Unread<'_, 'd> {
    fn visit(&mut self, known: &Known, value: Value<'d>) {
        if value.is_object() {
            return self.visit_object(known, value);
        }
        for element in value.elements() {
            let below = known.element(element);
            if element.is_container() && !below.paths.is_empty() {
                self.visit(&below, element);
            } else {
                self.found.push(Slot { value: element, json: Some(As::Rest), members: vec![] });
            }
        }
    }

    fn visit_object(&mut self, known: &Known, object: Value<'d>) {
        let tagged = known.tagged(object);
        let mut members = vec![];
        // Unknown members stand before what is found in known members behind the first of them.
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
    fn reads(&self, known: &Known, value: Value) -> bool {
        let is_string = value.text().is_some();
        let is_slot = || self.read.iter().any(|slot| slot.json.is_some() && slot.value == value);
        known.paths.iter().any(|paths| match paths.end {
            None | Some(End::Value) => false,
            Some(End::Aside) => known.is_leaf(),
            Some(End::Word) => !value.is_container(),
            Some(End::Text | End::Payload(_)) => is_string,
            Some(End::Json(_)) => is_string || (value.is_container() && is_slot()),
        })
    }
}

fn is_word(value: Value) -> bool {
    value.text().map_or(!value.is_container(), |text| text.size().chars <= WORD)
}
