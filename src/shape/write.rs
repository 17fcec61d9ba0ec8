//! Writes the values that have room.

use crate::json::Document;

use super::ShapeOutcome;
use super::rooms::{self, Rooms};
use super::sizes::Sizes;
use super::string::write_shortened;
use super::texts::ShortenedTexts;

/// Writes the values of a document that have room, without white space. Strings keep their
/// beginnings, or with `texts`, the lines that a search finds.
pub fn write(
    document: &Document,
    sizes: &Sizes,
    rooms: &Rooms,
    texts: Option<&ShortenedTexts>,
) -> ShapeOutcome {
    let mut made = ShapeOutcome::default();
    // Ends of the open containers, by id, and their closing brackets.
    let mut open: Vec<(u32, u8)> = vec![];
    let (mut id, mut whole, mut is_first) = (0, 0, true);
    while (id as usize) < document.len() {
        while let Some((_, bracket)) = open.pop_if(|(end, _)| *end <= id) {
            made.json.push(bracket);
            is_first = false;
        }
        let is_member = open.last().is_some_and(|(_, bracket)| *bracket == b'}');
        let value = document.value(id + u32::from(is_member));
        let room = if id < whole { usize::MAX } else { rooms.at(value.id()) };
        let source = value.source();
        // A container takes two bytes at least; a scalar has room for all of it, unless it is the
        // root.
        if open.is_empty() && room < sizes.full(0) && !value.is_container() && source[0] != b'"' {
            made.json.extend_from_slice(if room < 2 { b"" } else { b"\"\"" });
            return made;
        }
        if room == 0 || open.is_empty() && room < 2 && sizes.full(0) > room {
            *(if is_member { &mut made.members } else { &mut made.elements }) +=
                usize::from(!open.is_empty());
            id = value.next_id();
            continue;
        }
        if !is_first {
            made.json.push(b',');
        }
        is_first = value.is_container();
        if is_member {
            made.json.extend_from_slice(document.value(id).source());
            made.json.push(b':');
        }
        id = value.next_id();
        if value.is_container() {
            made.json.push(source[0]);
            open.push((id, source[0] + 2));
            whole = if sizes.full(value.id()) <= room && room != rooms::OPEN { whole.max(id) } else { whole };
            id = value.id() + 1;
        } else if source.len() > room {
            made.strings += 1;
            let most = sizes.rule(value.id()).and_then(|rule| rule.most_chars);
            let start = made.json.len();
            write_shortened(
                source,
                sizes.chars(value),
                most.map_or(room, |most| room.min(most.saturating_add(2))),
                &mut made.json,
            );
            if let Some(cut) = texts.and_then(|texts| texts.cut(value.id(), source, &made.json[start..])) {
                made.json.truncate(start);
                made.json.extend_from_slice(cut.as_bytes());
            }
        } else {
            made.json.extend_from_slice(source);
        }
    }
    made.json.extend(open.into_iter().rev().map(|(_, bracket)| bracket));
    made
}
