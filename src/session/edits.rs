//! Writes truncated results back to their row.

use std::collections::{BTreeMap, BTreeSet};

use super::splice::Splices;
use crate::dialect::path::As;
use crate::dialect::result::is_failure;
use crate::dialect::{Slot, ToolResult};
use crate::json::{Document, Value, string};
use crate::slots::clamp_slots::SlotEdit;
use crate::slots::side_data::written;

/// Markers that end the cached part of a request.
pub const CACHE_MARKS: [&str; 2] = ["cache_control", "providerOptions"];

/// Writes the new texts of a result's slots.
pub fn edit(splices: &mut Splices, result: &ToolResult, edits: &[SlotEdit]) {
    for (slot, edit) in result.slots.iter().zip(edits) {
        match edit {
            SlotEdit::Keep => {}
            SlotEdit::Mend => slot.values().iter().for_each(|value| mend(splices, *value)),
            SlotEdit::Replace(text) => put(splices, slot, text),
            SlotEdit::Cut(cut) => put(splices, slot, &cut.string(&slot.text())),
            SlotEdit::Put(json) => put_json(splices, slot, json),
            SlotEdit::Drop if !slot.members.is_empty() => put_json(splices, slot, "{}"),
            SlotEdit::Drop => {}
        }
    }
    if edits.contains(&SlotEdit::Drop) {
        drop_blocks(splices, result, edits);
    }
}

/// Replaces the lone surrogates of a value.
fn mend(splices: &mut Splices, value: Value) {
    for leaf in value.leaves() {
        if let Some(text) = leaf.text().filter(|text| text.has_lone()) {
            splices.replace(leaf, string(&text.string()));
        }
    }
}

/// Replaces a slot's text, or its JSON in the form that the table defines.
fn put(splices: &mut Splices, slot: &Slot, text: &str) {
    let (value, json) = (slot.value, string(text));
    match (slot.json, value.parent()) {
        (Some(As::Text), Some(holder)) => {
            splices.remove_named(value);
            splices.set(holder, "text", json);
        }
        (Some(As::Wrap), _) => {
            let failed = value.get("error").is_some_and(is_failure) && value.get("output").is_none();
            let name = if failed { "error" } else { "output" };
            splices.replace(value, format!("{{{}:{json}}}", string(name)));
        }
        (Some(As::Retag), Some(holder)) => {
            let failed = holder.get("type").is_some_and(|tag| tag.source() == b"\"error-json\"");
            splices.set(holder, "type", string(if failed { "error-text" } else { "text" }));
            splices.replace(value, json);
        }
        _ => splices.replace(value, json),
    }
}

/// Writes what is left of the JSON of a slot: in the place of its value or, if it is unread data of
/// an object, into its members.
fn put_json(splices: &mut Splices, slot: &Slot, json: &str) {
    if slot.members.is_empty() {
        return splices.replace(slot.value, json.to_owned());
    }
    let document = Document::parse(json.as_bytes());
    let mut left = document.iter().flat_map(|document| document.root().members()).peekable();
    for member in &slot.members {
        let is_same = |left: &Value| left.name().map(Value::compact) == member.name().map(Value::compact);
        match left.next_if(is_same) {
            None => splices.remove(*member),
            Some(left) if left.compact() == member.compact() => {}
            Some(left) => splices.replace(*member, written(left)),
        }
    }
}

/// Returns the innermost element of a list that a value is in, below an object.
pub fn block_of<'d>(top: Value<'d>, value: Value<'d>) -> Option<Value<'d>> {
    let mut at = value;
    while at != top {
        let parent = at.parent()?;
        if parent.is_list() {
            return Some(at);
        }
        at = parent;
    }
    None
}

/// Removes emptied blocks, and a list without any with the block that holds it. A text outside of
/// lists, or in a block with other texts, becomes "".
fn drop_blocks(splices: &mut Splices, result: &ToolResult, edits: &[SlotEdit]) {
    let mut blocks: BTreeMap<u32, (Value, Vec<(Value, bool)>)> = BTreeMap::new();
    for (slot, edit) in result.slots.iter().zip(edits).filter(|(slot, _)| slot.members.is_empty()) {
        let is_gone = *edit == SlotEdit::Drop;
        match block_of(result.object, slot.value) {
            Some(block) => blocks.entry(block.id()).or_insert((block, vec![])).1.push((slot.value, is_gone)),
            None if is_gone => splices.replace(slot.value, string("")),
            None => {}
        }
    }
    let mut lists = BTreeMap::new();
    for (block, slots) in blocks.into_values() {
        if slots.iter().all(|(_, is_gone)| *is_gone) {
            drop_from(&mut lists, block);
        } else {
            let gone = slots.into_iter().filter(|(_, is_gone)| *is_gone);
            gone.for_each(|(value, _)| splices.replace(value, string("")));
        }
    }
    // Inner lists stand behind the lists that hold them.
    while let Some((_, (list, dropped))) = lists.pop_last() {
        let holder = block_of(result.object, list).filter(|_| dropped.len() == list.elements().count());
        if let Some(holder) = holder {
            drop_from(&mut lists, holder);
            continue;
        }
        bequeath(splices, list, &dropped);
        list.elements().filter(|block| dropped.contains(&block.id())).for_each(|block| splices.remove(block));
    }
}

/// The lists that lose blocks, by their ids, with the ids of these blocks.
type BlockRemovals<'d> = BTreeMap<u32, (Value<'d>, BTreeSet<u32>)>;

fn drop_from<'d>(lists: &mut BlockRemovals<'d>, block: Value<'d>) {
    if let Some(list) = block.parent() {
        lists.entry(list.id()).or_insert((list, BTreeSet::new())).1.insert(block.id());
    }
}

/// Moves the cache markers of dropped blocks to the previous block, or else to the next one, since
/// they end the cached part.
fn bequeath(splices: &mut Splices, list: Value, dropped: &BTreeSet<u32>) {
    let mut hand = |heir: Value, mark, value: Value| {
        if heir.is_object() && heir.get(mark).is_none() {
            splices.set(heir, mark, value.compact());
        }
    };
    let (mut heir, mut waiting) = (None, vec![]);
    for block in list.elements() {
        if dropped.contains(&block.id()) {
            let marks = CACHE_MARKS.into_iter().filter_map(|mark| Some((mark, block.get(mark)?)));
            match heir {
                Some(heir) => marks.for_each(|(mark, value)| hand(heir, mark, value)),
                None => waiting.extend(marks),
            }
        } else if block.is_container() {
            waiting.drain(..).for_each(|(mark, value)| hand(block, mark, value));
            heir = Some(block);
        }
    }
}
