//! Finds cut positions: the longest head or tail of a text that fits a room.
//!
//! A text is measured in large blocks, then in smaller ones, then by code points. The cost is that
//! of measuring the kept text.

use crate::encoding::{NEWLINE, RETURN, Size, Text};
use crate::extent::{Room, TokenRoom};
use crate::tokens::Estimate;

/// Block sizes, largest first.
const BLOCKS: [usize; 3] = [8192, 1024, 64];

/// The end of a head, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: usize,
    pub size: Size,
}

impl Side {
    /// Shortens a head of the text to end at `at`.
    pub fn end_at<T: Text>(self, text: T, at: usize) -> Side {
        if at == self.at { self } else { Side { at, size: self.size - text.slice(at..self.at).size() } }
    }
}

/// Returns the longest head of `text` that fits `room`.
pub fn prefix<T: Text>(text: T, room: &Room) -> Side {
    let (mut at, mut size) = (0, Size::default());
    for block in BLOCKS {
        while at < text.len() {
            let end = text.floor(text.len().min(at + block));
            let grown = size + text.slice(at..end).size();
            if end == at || !room.holds(grown) {
                break;
            }
            (at, size) = (end, grown);
        }
    }
    while at < text.len() {
        let (point, len) = text.decode(at);
        let grown = size + Size::of_point(point);
        if !room.holds(grown) {
            break;
        }
        (at, size) = (at + len, grown);
    }
    let side = Side { at, size };
    if room.closed && size.newlines == room.newlines {
        at = text.rfind_newline(at).map_or(0, |newline| newline + 1);
    }
    if let Some(tokens) = &room.tokens {
        at = prefix_by_tokens(text.slice(0..at), tokens);
    }
    side.end_at(text, at)
}

/// Stops at the first code point that exceeds the room, even if one more would lower the estimate,
/// such as a space between a digit and a word. All shorter heads then fit too, and later steps that
/// shorten this one need not recount.
fn prefix_by_tokens<T: Text>(text: T, room: &TokenRoom) -> usize {
    let (mut at, mut estimate) = (0, Estimate::default());
    while at < text.len() {
        let (point, len) = text.decode(at);
        estimate.push(point);
        if !room.holds(estimate) {
            break;
        }
        at += len;
    }
    at
}

/// Returns the start of the longest tail of `text` that fits `room`.
pub fn suffix<T: Text>(text: T, room: &Room) -> usize {
    let (mut at, mut size) = (text.len(), Size::default());
    for block in BLOCKS {
        while at > 0 {
            let start = text.floor(at.saturating_sub(block));
            let grown = size + text.slice(start..at).size();
            if !room.holds(grown) {
                break;
            }
            (at, size) = (start, grown);
        }
    }
    while at > 0 {
        let (point, len) = text.decode_before(at);
        let grown = size + Size::of_point(point);
        if !room.holds(grown) {
            break;
        }
        (at, size) = (at - len, grown);
    }
    let by_tokens = |tokens| suffix_by_tokens(text.slice(at..text.len()), tokens);
    at + room.tokens.as_ref().map_or(0, by_tokens)
}

fn suffix_by_tokens<T: Text>(text: T, room: &TokenRoom) -> usize {
    let (mut at, mut estimate) = (text.len(), Estimate::default());
    while at > 0 {
        let (point, len) = text.decode_before(at);
        estimate.push_front(point);
        if !room.holds(estimate) {
            break;
        }
        at -= len;
    }
    at
}

/// Returns the end of the longest head of at most `max` bytes.
pub fn prefix_of_bytes<T: Text>(text: T, max: usize) -> usize {
    prefix(text, &Room::bytes(max)).at
}

/// Returns the start of the longest tail of at most `max` bytes.
pub fn suffix_of_bytes<T: Text>(text: T, max: usize) -> usize {
    suffix(text, &Room::bytes(max))
}

/// A snap may drop at most one part in this many of a side.
const SNAP_COST: usize = 5;

/// Moves the end of a head back to a line end if that drops at most a fifth of it. The position
/// before a line terminator is a line end too. `breaks`: the following text begins with a newline,
/// so the last newline of the head is dropped.
pub fn snap_head<T: Text>(text: T, cut: usize, breaks: bool) -> usize {
    let mut end = cut;
    let between_return_and_newline = at_newline(text, cut) && follows(text, cut, RETURN);
    if between_return_and_newline {
        end = cut - 1;
    } else if cut < text.len() && !at_newline(text, cut) && !at_crlf(text, cut) {
        end = text.rfind_newline(cut).map_or(0, |newline| newline + 1);
    }
    if breaks && follows(text, end, NEWLINE) {
        end -= 1;
        end -= usize::from(follows(text, end, RETURN));
    }
    if end > 0 && cheap(text, end..cut, 0..cut) { end } else { cut }
}

/// Moves the start of a tail forward to a line start if that drops at most a fifth of it.
pub fn snap_tail<T: Text>(text: T, cut: usize) -> usize {
    if cut == 0 || follows(text, cut, NEWLINE) {
        return cut;
    }
    match text.find_newline(cut) {
        Some(newline) if newline + 1 < text.len() && cheap(text, cut..newline + 1, cut..text.len()) => {
            newline + 1
        }
        _ => cut,
    }
}

fn at_newline<T: Text>(text: T, at: usize) -> bool {
    at < text.len() && text.unit(at) == NEWLINE
}

fn at_crlf<T: Text>(text: T, at: usize) -> bool {
    at < text.len() && text.unit(at) == RETURN && at_newline(text, at + 1)
}

fn follows<T: Text>(text: T, at: usize, unit: u16) -> bool {
    at > 0 && text.unit(at - 1) == unit
}

fn cheap<T: Text>(text: T, cost: std::ops::Range<usize>, side: std::ops::Range<usize>) -> bool {
    // A unit is at most one char, and a char at most three units.
    3 * cost.len() * SNAP_COST <= side.len()
        || text.slice(cost).chars() * SNAP_COST <= text.slice(side).chars()
}
