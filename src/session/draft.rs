//! Writes back what became of the texts of results, as `lib/draft.ts` does for live objects.

use std::collections::{BTreeMap, BTreeSet};

use super::clamp::Left;
use super::patch::Patch;
use crate::dialect::path::Follower;
use crate::dialect::path::{As, InList};
use crate::dialect::{Slot, ToolResult};
use crate::json::literal::well_formed;
use crate::json::scan::{Kind, Member, elements, members};
use crate::json::tree::string;
use crate::json::{Literal, Span, write};

/// The changes to one row.
#[derive(Debug)]
pub struct Draft<'a> {
    follower: Follower<'a>,
    patch: Patch,
    /// Objects and lists of which parts go or to which parts come, by where they start.
    resized: BTreeMap<usize, Resized>,
    /// Objects of which a second copy follows the first.
    copies: Vec<(Span, Span)>,
}

#[derive(Debug)]
struct Resized {
    span: Span,
    removed: BTreeSet<usize>,
    /// With their names, where they have any.
    added: Vec<(&'static str, Vec<u8>)>,
}

/// Marks of what a provider is to cache, which end that part of a request.
const CACHE_MARKS: [&str; 2] = ["cache_control", "providerOptions"];

impl<'a> Draft<'a> {
    pub fn of(follower: Follower<'a>) -> Self {
        Draft { follower, patch: Patch::default(), resized: BTreeMap::new(), copies: vec![] }
    }

    /// Writes what became of the slots of a result.
    pub fn edit(&mut self, result: &ToolResult, left: Vec<Left>) {
        let mut gone = vec![];
        for (slot, left) in result.slots.iter().zip(left) {
            match left {
                Left::Same => {}
                Left::WellFormed => {
                    if let Some(json) = well_formed(slot.value.of(self.follower.row)) {
                        self.patch.replace(slot.value, json);
                    }
                }
                Left::Text(text) => self.put(slot, &text),
                Left::Gone => gone.push(slot),
            }
        }
        if !gone.is_empty() {
            self.drop_blocks(&result.slots, &gone);
        }
        self.mirror(result);
    }

    /// Has the second copy that a class keeps of a result follow what changes in it.
    pub fn mirror(&mut self, result: &ToolResult) {
        if let Some(copy) = result.copy(self.follower) {
            let copies = (result.object.span, copy.span);
            if !self.copies.contains(&copies) {
                self.copies.push(copies);
            }
        }
    }

    /// Puts a text in the place of a text, or of JSON as the table has it.
    fn put(&mut self, slot: &Slot, text: &[u16]) {
        let row = self.follower.row;
        let mut json = vec![];
        write::literal(text, &mut json);
        match (slot.json, slot.member) {
            (Some(As::Text), Some(member)) => {
                self.remove(slot.holder, &Literal::of(member.key.of(row)).utf8());
                self.set(slot.holder, "text", json);
            }
            (Some(As::Wrap), _) => {
                let has = |name: &str| last(row, slot.value, name.as_bytes()).is_some();
                let name = if has("error") && !has("output") { "error" } else { "output" };
                let object = [b"{", &string(name)[..], b":", &json, b"}"].concat();
                self.patch.replace(slot.value, object);
            }
            (Some(As::Retag), _) => {
                let tag = last(row, slot.holder, b"type").map(|tag| tag.value.of(row));
                let tag = if tag == Some(b"\"error-json\"") { "error-text" } else { "text" };
                self.set(slot.holder, "type", string(tag));
                self.patch.replace(slot.value, json);
            }
            _ => self.patch.replace(slot.value, json),
        }
    }

    /// Gives an object a member.
    pub fn set(&mut self, object: Span, name: &'static str, json: Vec<u8>) {
        let known = last(self.follower.row, object, name.as_bytes());
        let resized = self.resized(object);
        match known {
            Some(member) if !resized.removed.contains(&member.key.start) => {
                self.patch.replace(member.value, json);
            }
            _ => match resized.added.iter_mut().find(|(added, _)| *added == name) {
                Some((_, value)) => *value = json,
                None => resized.added.push((name, json)),
            },
        }
    }

    /// Takes a member from an object, as often as it is there.
    pub fn remove(&mut self, object: Span, name: &[u8]) {
        let row = self.follower.row;
        let same = members(row, object).filter(|member| Literal::of(member.key.of(row)).is(name));
        self.resized(object).removed.extend(same.map(|member| member.key.start));
    }

    /// Adds an element to a list.
    pub fn push(&mut self, list: Span, json: Vec<u8>) {
        self.resized(list).added.push(("", json));
    }

    pub fn replace(&mut self, value: Span, json: Vec<u8>) {
        self.patch.replace(value, json);
    }

    /// Removes blocks of which nothing is left. A text that is no block of a list, or shares its block, becomes "".
    fn drop_blocks(&mut self, slots: &[Slot], gone: &[&Slot]) {
        let is_gone: BTreeSet<usize> = gone.iter().map(|slot| slot.value.start).collect();
        // How many texts are left in each block.
        let mut blocks: BTreeMap<usize, (usize, &[InList])> = BTreeMap::new();
        for slot in slots {
            let Some(block) = slot.lists.last() else { continue };
            let left = usize::from(!is_gone.contains(&slot.value.start));
            blocks.entry(block.element.start).or_insert((0, &slot.lists)).0 += left;
        }
        let is_left = |slot: &Slot| {
            let block = slot.lists.last();
            block.is_none_or(|block| blocks.get(&block.element.start).is_none_or(|(left, _)| *left > 0))
        };
        for slot in gone.iter().filter(|slot| is_left(slot)) {
            self.patch.replace(slot.value, b"\"\"".to_vec());
        }
        let paths = blocks.into_values().filter(|(left, _)| *left == 0).map(|(_, path)| path);
        for (list, removed) in lists_without(self.follower.row, paths.collect()) {
            self.bequeath(list, &removed);
            self.resized(list).removed.extend(removed);
        }
    }

    fn resized(&mut self, container: Span) -> &mut Resized {
        let empty = Resized { span: container, removed: BTreeSet::new(), added: vec![] };
        self.resized.entry(container.start).or_insert(empty)
    }

    /// Hands the cache marks of blocks that go to the block before each, or else after it: they end what is cached.
    fn bequeath(&mut self, list: Span, removed: &BTreeSet<usize>) {
        let row = self.follower.row;
        let stays = |block: &Span| !removed.contains(&block.start) && Kind::of(block.of(row)).is_container();
        let (mut heir, mut waiting) = (None, vec![]);
        let hand = |draft: &mut Self, to: Span, mark: &'static str, value: Span| {
            let is_object = Kind::of(to.of(row)) == Kind::Object;
            if is_object && last(row, to, mark.as_bytes()).is_none() {
                draft.set(to, mark, value.of(row).to_vec());
            }
        };
        for block in elements(row, list) {
            if stays(&block) {
                for (mark, value) in waiting.drain(..) {
                    hand(self, block, mark, value);
                }
                heir = Some(block);
            } else if removed.contains(&block.start) {
                for mark in CACHE_MARKS {
                    let Some(member) = last(row, block, mark.as_bytes()) else { continue };
                    match heir {
                        Some(heir) => hand(self, heir, mark, member.value),
                        None => waiting.push((mark, member.value)),
                    }
                }
            }
        }
    }

    /// All that changes.
    pub fn done(mut self) -> Patch {
        let row = self.follower.row;
        for Resized { span, removed, added } in self.resized.values() {
            if !removed.is_empty() || !added.is_empty() {
                let added: Vec<Vec<u8>> = added.iter().map(|(name, json)| part(name, json)).collect();
                self.patch.resize(row, *span, removed, &added);
            }
        }
        for (first, second) in std::mem::take(&mut self.copies) {
            self.follow(first, second);
        }
        self.patch
    }

    /// Has the members of a second copy follow those of the first.
    fn follow(&mut self, first: Span, second: Span) {
        let row = self.follower.row;
        let resized = self.resized.get(&first.start);
        let mut removed = BTreeSet::new();
        for member in members(row, second) {
            let name = Literal::of(member.key.of(row)).utf8();
            let added = resized.and_then(|resized| {
                resized.added.iter().find(|(added, _)| added.as_bytes() == name).map(|(_, json)| json.clone())
            });
            let Some(same) = last(row, first, &name) else {
                if let Some(json) = added {
                    self.patch.replace(member.value, json);
                }
                continue;
            };
            let is_removed = resized.is_some_and(|resized| resized.removed.contains(&same.key.start));
            match added {
                Some(json) => self.patch.replace(member.value, json),
                None if is_removed => {
                    removed.insert(member.key.start);
                }
                None if self.patch.touches(same.value) => {
                    let json = self.patch.written(row, same.value);
                    self.patch.replace(member.value, json);
                }
                None => {}
            }
        }
        if !removed.is_empty() {
            self.patch.resize(row, second, &removed, &[]);
        }
    }
}

/// The lists that these blocks go from, and where those start that go. A list of which nothing is left goes with the block
/// that holds it.
fn lists_without(row: &[u8], paths: Vec<&[InList]>) -> Vec<(Span, BTreeSet<usize>)> {
    let deepest = paths.iter().map(|path| path.len()).max().unwrap_or(0);
    let mut paths = paths;
    let mut lists = vec![];
    for depth in (1..=deepest).rev() {
        let mut level: BTreeMap<usize, (&[InList], BTreeSet<usize>)> = BTreeMap::new();
        for path in paths.iter().filter(|path| path.len() == depth) {
            let block = path[depth - 1];
            let list = level.entry(block.list.start).or_insert((path, BTreeSet::new()));
            list.1.insert(block.element.start);
        }
        for (path, removed) in level.into_values() {
            let list = path[depth - 1].list;
            if depth > 1 && removed.len() == elements(row, list).count() {
                paths.push(&path[..depth - 1]);
            } else {
                lists.push((list, removed));
            }
        }
    }
    lists
}

/// A member, or an element that has no name.
fn part(name: &str, json: &[u8]) -> Vec<u8> {
    if name.is_empty() { json.to_vec() } else { [&string(name)[..], b":", json].concat() }
}

/// The member of an object that counts under a name.
fn last(row: &[u8], object: Span, name: &[u8]) -> Option<Member> {
    members(row, object).filter(|member| Literal::of(member.key.of(row)).is(name)).last()
}
