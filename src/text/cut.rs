//! Where to cut: the longest piece at either end of a text that a room allows.
//!
//! A text is walked in blocks that are measured whole, then in smaller ones, then by code points, so that the cost is
//! that of counting what is kept.

use super::extent::{Room, TokenRoom};
use super::size::Size;
use super::tokens::Estimate;
use super::units::{NEWLINE, RETURN, Text};

/// Sizes of the blocks that are measured at once, largest first.
const BLOCKS: [usize; 3] = [8192, 1024, 64];

/// A head that ends, or a tail that starts, at a position, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    pub at: usize,
    pub size: Size,
}

impl Side {
    /// The head that ends earlier in the same text.
    pub fn end_at<T: Text>(self, text: T, at: usize) -> Side {
        if at == self.at { self } else { Side { at, size: self.size - text.slice(at..self.at).size() } }
    }

    /// The tail that starts later in the same text.
    pub fn start_at<T: Text>(self, text: T, at: usize) -> Side {
        if at == self.at { self } else { Side { at, size: self.size - text.slice(self.at..at).size() } }
    }
}

/// The longest head of `text` that `room` holds.
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

/// The first code point that is too much ends the piece, although one more may come to less, as a space between a digit
/// and a word does. So all shorter pieces are within the room as well, and steps that shorten this one need not count.
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

/// The longest tail of `text` that `room` holds.
pub fn suffix<T: Text>(text: T, room: &Room) -> Side {
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
    let side = Side { at, size };
    match &room.tokens {
        Some(tokens) => side.start_at(text, at + suffix_by_tokens(text.slice(at..text.len()), tokens)),
        None => side,
    }
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

/// End of the longest head of at most `max` bytes.
pub fn prefix_of_bytes<T: Text>(text: T, max: usize) -> usize {
    prefix(text, &Room::bytes(max)).at
}

/// Start of the longest tail of at most `max` bytes.
pub fn suffix_of_bytes<T: Text>(text: T, max: usize) -> usize {
    suffix(text, &Room::bytes(max)).at
}

/// A snap may cost this part of a side's room.
const SNAP_COST: usize = 5;

/// Moves the end of a head back to a line end where that costs at most a fifth of it. Just before a line's terminator
/// is a line end too. `breaks`: what follows begins with a newline of its own, so the head's last one is left out.
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

/// Moves the start of a tail on to a line start where that costs at most a fifth of it.
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
    text.slice(cost).size().chars * SNAP_COST <= text.slice(side).size().chars
}
