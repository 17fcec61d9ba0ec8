//! The bytes that each value gets.

use crate::json::{Document, Value};

use super::elements::{ElementFinder, Telling};
use super::needs::{RoomNeeds, TELLING};
use super::sizes::{Bytes, LEAST, Sizes};

/// The room of a container that stays, with strings in it that are shortened.
pub const OPEN: usize = usize::MAX;
/// The same in the four bytes that a room takes.
const OPENED: u32 = u32::MAX;

/// Bytes in which a long part says what it tells.
const TELLING_PART: usize = 512;

/// Bytes for each value, by id. Values within one that has room for all of it have no entry of
/// their own.
#[derive(Debug)]
pub struct Rooms(Vec<u32>);

/// A part of a container: its value, and the bytes that it takes at least and at most, its name and
/// comma included.
#[derive(Clone, Copy)]
struct ContainerPart {
    id: u32,
    besides: u32,
    least: u32,
    most: u32,
}

impl Rooms {
    /// Shares bytes among the values of a document. 0: the value is omitted.
    pub fn share(document: &Document, sizes: &Sizes, telling: &mut ElementFinder, bytes: usize) -> Rooms {
        let mut rooms = Rooms(vec![0; document.len()]);
        if sizes.full(0) > bytes && sizes.full(0) - sizes.spare() <= bytes {
            let mut parts: Vec<ContainerPart> = document
                .values()
                .filter(|value| value.source()[0] == b'"' && !value.is_name())
                .map(|string| {
                    let Bytes { full, min, .. } = sizes.at(string.id());
                    ContainerPart { id: string.id(), besides: 0, least: min, most: full }
                })
                .collect();
            let total: usize = parts.iter().map(|part| part.most as usize).sum();
            rooms.0.fill(OPENED);
            let room = bytes - (sizes.full(0) - total);
            if room < parts.len() * TELLING as usize {
                give_needs(&mut parts, || telling.needs(document, sizes), room);
            }
            rooms.give(&parts, room);
            return rooms;
        }
        rooms.0[0] = bytes.min(OPENED as usize - 1) as u32;
        let mut id = 0;
        while (id as usize) < document.len() {
            let value = document.value(id);
            let room = rooms.at(id);
            if value.is_name() {
                id += 1;
            } else if room == 0 || room >= sizes.full(id) || !value.is_container() {
                id = value.next_id();
            } else {
                // Every part is charged for a comma, and the last has none.
                let parts = chosen(document, value, sizes, telling, room.saturating_sub(1));
                rooms.give(&parts, room.saturating_sub(1));
                id += 1;
            }
        }
        rooms
    }

    pub fn at(&self, id: u32) -> usize {
        match self.0[id as usize] {
            OPENED => OPEN,
            room => room as usize,
        }
    }

    /// Moves half the room of strings that say little to those that tell more, up to all that these
    /// take. Both are given by id, and have less room than they take.
    pub fn favor(&mut self, sizes: &Sizes, little: &[u32], telling: &[u32]) {
        if little.is_empty() || telling.is_empty() {
            return;
        }
        let part = |id: &u32| {
            let (least, most) = (self.0[*id as usize], sizes.at(*id).full);
            ContainerPart { id: *id, besides: 0, least, most }
        };
        let parts: Vec<ContainerPart> = telling.iter().map(part).collect();
        let sum = |of: fn(&ContainerPart) -> u32| parts.iter().map(|part| of(part) as usize).sum::<usize>();
        let (least, most) = (sum(|part| part.least), sum(|part| part.most));
        let mut room = least;
        for id in little {
            let own = &mut self.0[*id as usize];
            let moved = (*own - (*own / 2).max(LEAST).min(*own)).min((most - room) as u32);
            *own -= moved;
            room += moved as usize;
        }
        self.give(&parts, room);
    }

    /// Gives small parts all that they take, and large ones equal shares of the rest.
    fn give(&mut self, parts: &[ContainerPart], room: usize) {
        let taken = |level: u32| parts.iter().map(|part| part.at(level) as usize).sum::<usize>();
        let (mut low, mut high) = (0, u32::try_from(room + 1).unwrap_or(OPENED));
        while high - low > 1 {
            let middle = low.midpoint(high);
            if taken(middle) <= room { low = middle } else { high = middle }
        }
        for part in parts {
            self.0[part.id as usize] = part.at(low) - part.besides;
        }
    }
}

impl ContainerPart {
    fn at(&self, level: u32) -> u32 {
        level.clamp(self.least, self.most)
    }
}

/// Returns the parts of a container that stay. Each is charged for a comma.
fn chosen(
    document: &Document,
    container: Value,
    sizes: &Sizes,
    telling: &mut ElementFinder,
    room: usize,
) -> Vec<ContainerPart> {
    let values: Vec<Value> = container.elements().chain(container.members()).collect();
    let Some(last) = values.len().checked_sub(1) else { return vec![] };
    let (named, others) = sizes.staying(container, &values);
    let parts = |least: fn(Bytes) -> u32| -> Vec<ContainerPart> {
        let part = |value: &Value| {
            let (size, besides) = (sizes.at(value.id()), sizes.besides(*value));
            ContainerPart { id: value.id(), besides, least: least(size) + besides, most: size.full + besides }
        };
        values.iter().map(part).collect()
    };
    // Takes those that must stay, then `first`, then small ones. False if too few of them fit.
    let take = |parts: Vec<ContainerPart>, first: &[usize]| {
        let order = named.iter().chain(first).copied().chain(by_size(&parts));
        let is_taken = taken(&parts, order, room);
        let has_named = named.iter().all(|at| is_taken[*at]);
        let left: Vec<ContainerPart> =
            parts.into_iter().zip(is_taken).filter_map(|(part, is_taken)| is_taken.then_some(part)).collect();
        (has_named && left.len() >= (named.len() + others.len()).max(1), left)
    };
    let is_list = container.is_list();
    let levels: [fn(Bytes) -> u32; 2] = [|size| size.brief, |size| size.min];
    for least in &levels[usize::from(!is_list)..] {
        let mut parts = parts(*least);
        // If all of them fit, their order says nothing.
        if (telling.may_skip() || !is_list)
            && parts.iter().map(|part| part.least as usize).sum::<usize>() <= room
        {
            give_needs(&mut parts, || telling.needs(document, sizes), room);
            return parts;
        }
        let ends = if is_list { vec![0, last] } else { vec![] };
        let Telling { order: tells, asked } = telling.among(container, &values);
        // Parts that nobody asked for take at most half the room. Long ones share that, so that
        // their texts have room for what they tell.
        let mut half = room / 2;
        let even = (half / tells.len().max(1)).max(TELLING_PART).min(half) as u32;
        for at in tells {
            parts[*at].least = parts[*at].least.max(parts[*at].most.min(even));
        }
        squeeze_ends(&mut parts, &ends, &values, sizes, room, &named);
        let telling = tells.iter().enumerate().filter(|(nth, at)| {
            let least = parts[**at].least as usize;
            let fits = least <= half;
            half -= if fits { least } else { 0 };
            fits || *nth < (*asked).max(1)
        });
        let telling = telling.map(|(_, at)| *at);
        let first: Vec<usize> = ends.iter().copied().chain(telling).collect();
        if let (true, left) = take(parts, &first) {
            return left;
        }
    }
    let mut parts = parts(|size| size.min);
    for at in named.iter().chain(&others) {
        parts[*at].least = sizes.at(parts[*at].id).floor + parts[*at].besides;
    }
    take(parts, &others).1
}

/// Raises what parts take at least to the room that they need to say what they tell, as far as it
/// goes, if several of them are cut.
fn give_needs<'n>(parts: &mut [ContainerPart], needs: impl FnOnce() -> &'n RoomNeeds, room: usize) {
    let even = room / parts.len().max(1);
    if parts.iter().filter(|part| part.most as usize > even).nth(1).is_none() {
        return;
    }
    let needs = needs();
    let mut left = room - parts.iter().map(|part| part.least as usize).sum::<usize>();
    for part in parts {
        let more = needs.at(part.id).min(part.most.saturating_sub(part.least)).min(left as u32);
        left -= more as usize;
        part.least += more;
    }
}

/// Lowers what the ends of a list take at least, until both fit: they are shortened or emptied
/// before they go.
fn squeeze_ends(
    parts: &mut [ContainerPart],
    ends: &[usize],
    values: &[Value],
    sizes: &Sizes,
    room: usize,
    named: &[usize],
) {
    let taken = |parts: &[ContainerPart]| {
        let both =
            ends.iter().enumerate().filter(|(nth, at)| !named.contains(at) && !ends[..*nth].contains(at));
        let all = named.iter().chain(both.map(|(_, at)| at));
        all.map(|&at| parts[at].least as usize).sum::<usize>()
    };
    let levels: [fn(&Sizes, Value) -> u32; 3] =
        [|sizes, value| sizes.at(value.id()).min, Sizes::marked, Sizes::emptied];
    for level in levels {
        if taken(parts) <= room {
            return;
        }
        for &at in ends.iter().filter(|at| !named.contains(at)) {
            let least = level(sizes, values[at]) + parts[at].besides;
            parts[at].least = parts[at].least.min(least);
        }
    }
}

/// Orders parts by the magnitude of their sizes, then by position.
fn by_size(parts: &[ContainerPart]) -> impl Iterator<Item = usize> {
    let magnitude = |part: &ContainerPart| part.least.ilog2();
    let largest = parts.iter().map(magnitude).max().unwrap_or_default();
    (0..=largest).flat_map(move |size| (0..parts.len()).filter(move |at| magnitude(&parts[*at]) == size))
}

/// Takes the parts that fit, in this order of precedence.
fn taken(parts: &[ContainerPart], order: impl Iterator<Item = usize>, room: usize) -> Vec<bool> {
    let (mut is_taken, mut left) = (vec![false; parts.len()], room);
    for at in order {
        let least = parts[at].least as usize;
        if !is_taken[at] && least <= left {
            is_taken[at] = true;
            left -= least;
        }
    }
    is_taken
}
