//! Writes truncated results back to their row, as `lib/dialect/draft.ts` does for live objects.

use super::clamp::Left;
use super::patch::Patch;
use super::side::{MORE, shrunk};
use crate::dialect::path::{As, Follower, InList};
use crate::dialect::result::is_failure;
use crate::dialect::{Slot, ToolResult};
use crate::json::escape::well_formed;
use crate::json::members::{Member, elements, members};
use crate::json::scan::Kind;
use crate::json::tree::{TOP, Tree, string};
use crate::json::{Literal, Span, write};

/// The changes to one row.
#[derive(Debug)]
pub struct Draft<'a> {
    follower: Follower<'a>,
    patch: Patch,
    /// Additions to and removals from objects and lists, and their order.
    moves: Vec<(Span, Move)>,
    order: Vec<(usize, usize)>,
    /// Objects with a second copy that mirrors their changes.
    copies: Vec<(Span, Span)>,
}

#[derive(Debug)]
enum Move {
    /// Replaces or adds a member.
    Set(&'static str, Vec<u8>),
    /// Removes the part of an object or list that starts here.
    Remove(usize),
    /// Appends an element to a list.
    Push(Vec<u8>),
}

/// Members or elements removed from and added to one container.
#[derive(Debug, Default)]
struct Resized {
    removed: Vec<usize>,
    added: Vec<(&'static str, Vec<u8>)>,
}

/// Markers that end the cached part of a request.
const CACHE_MARKS: [&str; 2] = ["cache_control", "providerOptions"];

impl<'a> Draft<'a> {
    pub fn of(follower: Follower<'a>) -> Self {
        Draft { follower, patch: Patch::default(), moves: vec![], order: vec![], copies: vec![] }
    }

    fn row(&self) -> &'a [u8] {
        self.follower.row
    }

    /// Writes the new texts of a result's slots.
    pub fn edit(&mut self, result: &ToolResult, left: Vec<Left>) {
        let mut gone = vec![];
        for (slot, left) in result.slots.iter().zip(left) {
            gone.push(left == Left::Gone);
            match left {
                Left::Gone if !slot.members.is_empty() => self.keep(slot, None),
                Left::Same | Left::Gone => {}
                Left::WellFormed => {
                    let values = slot.members.iter().map(|member| member.value);
                    let values = if slot.members.is_empty() { vec![slot.value] } else { values.collect() };
                    for value in values {
                        let json = well_formed(value.of(self.row()));
                        json.into_iter().for_each(|json| self.patch.replace(value, json));
                    }
                }
                Left::Text(text) => self.put(slot, &text),
            }
        }
        if gone.contains(&true) {
            self.drop_blocks(&result.slots, &gone);
        }
        self.mirror(result);
    }

    /// Applies the result's changes to the second copy that a class keeps.
    pub fn mirror(&mut self, result: &ToolResult) {
        let copy = result.copy(self.follower).map(|copy| (result.object.span, copy.span));
        self.copies.extend(copy.filter(|copy| !self.copies.contains(copy)));
    }

    /// Replaces a slot's text, or its JSON in the form that the table defines.
    #[inline(never)]
    fn put(&mut self, slot: &Slot, text: &[u16]) {
        let row = self.row();
        if slot.json == Some(As::Rest) {
            let source = slot.source(row);
            let source = well_formed(&source).map_or(source, Into::into);
            let left = shrunk(&source, String::from_utf16_lossy(text).len());
            return match left {
                left if !slot.members.is_empty() => self.keep(slot, left),
                Some(json) => self.patch.replace(slot.value, json),
                None => self.change(slot.holder, Move::Remove(slot.value.start)),
            };
        }
        let mut json = vec![];
        write::literal(text, &mut json);
        match (slot.json, slot.member) {
            (Some(As::Text), Some(member)) => {
                self.remove(slot.holder, member.key);
                // A `text` member may be a slot too; the last one written counts.
                match last(row, slot.holder, b"text") {
                    Some(text) => self.patch.replace(text.value, json),
                    None => self.set(slot.holder, "text", json),
                }
            }
            (Some(As::Wrap), _) => {
                let member = |name: &str| last(row, slot.value, name.as_bytes());
                let failed = member("error").is_some_and(|error| is_failure(error.value.of(row)));
                let name = if failed && member("output").is_none() { "error" } else { "output" };
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

    /// Writes the truncated remainder of an object's unread members.
    fn keep(&mut self, slot: &Slot, left: Option<Vec<u8>>) {
        let row = self.row();
        let left = left.unwrap_or_else(|| b"{}".to_vec());
        let all = Span { start: 0, end: left.len() };
        for Member { key, value } in &slot.members {
            let kept = last(&left, all, &Literal::of(key.of(row)).utf8());
            match kept.map(|kept| kept.value.of(&left)) {
                None => self.remove(slot.holder, *key),
                Some(json) if Tree::of(row, *value).json(TOP) == json => {}
                Some(json) => self.patch.replace(*value, json.to_vec()),
            }
        }
        // An existing member with that name is not overwritten.
        if let Some(more) = last(&left, all, MORE.as_bytes())
            && last(row, slot.holder, MORE.as_bytes()).is_none()
        {
            self.set(slot.holder, MORE, more.value.of(&left).to_vec());
        }
    }

    #[inline(never)]
    fn change(&mut self, container: Span, how: Move) {
        self.order.push((container.start, self.moves.len()));
        self.moves.push((container, how));
    }

    /// Sets a member of an object.
    #[inline(never)]
    pub fn set(&mut self, object: Span, name: &'static str, json: Vec<u8>) {
        self.change(object, Move::Set(name, json));
    }

    /// Removes all members with the name at `key`.
    pub fn remove(&mut self, object: Span, key: Span) {
        let row = self.row();
        let name = Literal::of(key.of(row)).utf8();
        for member in members(row, object) {
            if Literal::of(member.key.of(row)).is(&name) {
                self.change(object, Move::Remove(member.key.start));
            }
        }
    }

    /// Appends an element to a list.
    pub fn push(&mut self, list: Span, json: Vec<u8>) {
        self.change(list, Move::Push(json));
    }

    pub fn replace(&mut self, value: Span, json: Vec<u8>) {
        self.patch.replace(value, json);
    }

    /// Removes emptied blocks. A text outside of lists, or in a block with other texts, becomes "".
    fn drop_blocks(&mut self, slots: &[Slot], gone: &[bool]) {
        // Slots by the start of their block.
        let mut blocks: Vec<(usize, usize)> = vec![];
        for (at, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.members.is_empty()) {
            match slot.lists.last() {
                Some(block) => blocks.push((block.element.start, at)),
                None if gone[at] => self.patch.replace(slot.value, b"\"\"".to_vec()),
                None => {}
            }
        }
        blocks.sort_unstable();
        let mut paths: Vec<&[InList]> = vec![];
        for block in blocks.chunk_by(|one, other| one.0 == other.0) {
            if block.iter().all(|(_, at)| gone[*at]) {
                paths.push(&slots[block[0].1].lists);
                continue;
            }
            for (_, at) in block.iter().filter(|(_, at)| gone[*at]) {
                self.patch.replace(slots[*at].value, b"\"\"".to_vec());
            }
        }
        self.drop_elements(paths);
    }

    /// Removes the elements at the end of these paths. An emptied list is removed with the block that holds it.
    fn drop_elements(&mut self, mut paths: Vec<&[InList]>) {
        let deepest = paths.iter().map(|path| path.len()).max().unwrap_or(0);
        for depth in (1..=deepest).rev() {
            // Lists at one depth do not overlap, so the elements of each are consecutive.
            let at = |path: &[InList]| path[depth - 1];
            let of_level = paths.iter().enumerate().filter(|(_, path)| path.len() == depth);
            let mut level: Vec<(usize, usize)> =
                of_level.map(|(nth, path)| (at(path).element.start, nth)).collect();
            level.sort_unstable();
            let list_of = |nth: usize| at(paths[nth]).list;
            let mut above = vec![];
            for of_list in level.chunk_by(|one, other| list_of(one.1) == list_of(other.1)) {
                let (list, path) = (list_of(of_list[0].1), paths[of_list[0].1]);
                let removed: Vec<usize> = of_list.iter().map(|(start, _)| *start).collect();
                if depth > 1 && removed.len() == elements(self.row(), list).count() {
                    above.push(&path[..depth - 1]);
                    continue;
                }
                self.bequeath(list, &removed);
                for start in removed {
                    self.change(list, Move::Remove(start));
                }
            }
            paths.extend(above);
        }
    }

    /// Moves the cache markers of removed blocks to the previous block, or else to the next one, since they end the
    /// cached part.
    fn bequeath(&mut self, list: Span, removed: &[usize]) {
        let row = self.row();
        let (mut heir, mut waiting) = (None, vec![]);
        for block in elements(row, list) {
            if removed.binary_search(&block.start).is_err() {
                if Kind::of(block.of(row)).is_container() {
                    for (mark, value) in waiting.drain(..) {
                        self.hand(block, mark, value);
                    }
                    heir = Some(block);
                }
                continue;
            }
            for mark in CACHE_MARKS {
                let Some(member) = last(row, block, mark.as_bytes()) else { continue };
                match heir {
                    Some(heir) => self.hand(heir, mark, member.value),
                    None => waiting.push((mark, member.value)),
                }
            }
        }
    }

    fn hand(&mut self, to: Span, mark: &'static str, value: Span) {
        let row = self.row();
        if Kind::of(to.of(row)) == Kind::Object && last(row, to, mark.as_bytes()).is_none() {
            self.set(to, mark, value.of(row).to_vec());
        }
    }

    /// Returns all changes as a patch.
    pub fn done(mut self) -> Patch {
        self.order.sort_unstable();
        let order = std::mem::take(&mut self.order);
        for of_one in order.chunk_by(|one, other| one.0 == other.0) {
            let container = self.moves[of_one[0].1].0;
            let Resized { removed, added } = self.resized(of_one);
            let added: Vec<Vec<u8>> = added.iter().map(|(name, json)| part(name, json)).collect();
            if !removed.is_empty() || !added.is_empty() {
                self.patch.resize(self.follower.row, container, &removed, &added);
            }
        }
        self.patch.settle();
        for (first, second) in std::mem::take(&mut self.copies) {
            let from = order.partition_point(|(start, _)| *start < first.start);
            let to = order.partition_point(|(start, _)| *start <= first.start);
            let resized = self.resized(&order[from..to]);
            self.follow(first, second, resized);
        }
        self.patch.settle();
        self.patch
    }

    /// Merges the changes to one container. Replaced values are written to the patch.
    fn resized(&mut self, moves: &[(usize, usize)]) -> Resized {
        let mut resized = Resized::default();
        for (_, at) in moves {
            let (container, how) = &self.moves[*at];
            match how {
                Move::Remove(start) => {
                    // Changes arrive mostly in order.
                    let place = resized.removed.partition_point(|other| other < start);
                    resized.removed.insert(place, *start);
                }
                Move::Push(json) => resized.added.push(("", json.clone())),
                Move::Set(name, json) => {
                    let known = last(self.follower.row, *container, name.as_bytes());
                    let known = known.filter(|member| !resized.removed.contains(&member.key.start));
                    if let Some(member) = known {
                        self.patch.replace(member.value, json.clone());
                    } else {
                        resized.added.retain(|(added, _)| added != name);
                        resized.added.push((name, json.clone()));
                    }
                }
            }
        }
        resized
    }

    /// Applies the changes of a first copy's members to the second.
    fn follow(&mut self, first: Span, second: Span, Resized { removed, added }: Resized) {
        let row = self.row();
        let mut gone = vec![];
        for member in members(row, second) {
            let name = Literal::of(member.key.of(row)).utf8();
            let same = last(row, first, &name);
            if let Some((_, json)) = added.iter().find(|(added, _)| added.as_bytes() == name) {
                self.patch.replace(member.value, json.clone());
            } else if same.is_some_and(|same| removed.binary_search(&same.key.start).is_ok()) {
                gone.push(member.key.start);
            } else if let Some(same) = same.filter(|same| self.patch.touches(same.value)) {
                let json = self.patch.written(row, same.value);
                self.patch.replace(member.value, json);
            }
        }
        if !gone.is_empty() {
            self.patch.resize(row, second, &gone, &[]);
        }
    }
}

/// Formats a member, or an element if `name` is empty.
fn part(name: &str, json: &[u8]) -> Vec<u8> {
    if name.is_empty() { json.to_vec() } else { [&string(name)[..], b":", json].concat() }
}

/// Returns the last member with this name, which is the one that counts.
#[inline(never)]
fn last(row: &[u8], object: Span, name: &[u8]) -> Option<Member> {
    members(row, object).filter(|member| Literal::of(member.key.of(row)).is(name)).last()
}
