//! Limits split fairly among several texts.

use crate::limits::{Limits, UNLIMITED, Usage};

/// Computes the room of each text. Each limit is filled separately: texts smaller than the common
/// level stay whole, and larger ones get that level. A text that must be cut also requests room
/// for a notice, even under limits that it fits.
pub fn split_fairly(sizes: &[Usage], notice: Usage, limits: &Limits) -> Vec<Limits> {
    let mut wishes = sizes.to_vec();
    loop {
        let level = |limit: usize, of: fn(&Usage) -> usize| level(wishes.iter().map(of).collect(), limit);
        let levels = Usage {
            bytes: level(limits.bytes, |wish| wish.bytes),
            lines: level(limits.lines, |wish| wish.lines),
            chars: level(limits.chars, |wish| wish.chars),
            tokens: level(limits.tokens, |wish| wish.tokens),
        };
        let rooms = || wishes.iter().map(|wish| limits.of_size(wish.zip(levels, usize::min)));
        let next = wishes.iter().zip(sizes).zip(rooms()).map(|((wish, size), room)| {
            let first_cut = wish == size && !size.within(&room);
            if first_cut { size.plus(notice) } else { *wish }
        });
        let next: Vec<Usage> = next.collect();
        if next == wishes {
            return rooms().collect();
        }
        wishes = next;
    }
}

/// Returns the highest level at which all wishes fit within `limit`, or [`UNLIMITED`] if they fit
/// whole.
pub fn level(mut wishes: Vec<usize>, limit: usize) -> usize {
    wishes.sort_unstable();
    let mut left = limit;
    for (served, wish) in wishes.iter().enumerate() {
        let even = left / (wishes.len() - served);
        if *wish > even {
            return even;
        }
        left -= wish;
    }
    UNLIMITED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_suffice_are_not_shared() {
        let limits = Limits { bytes: 100, lines: 10, ..Limits::NONE };
        let sizes = [
            Usage { bytes: 60, lines: 1, ..Usage::default() },
            Usage { bytes: 30, lines: 12, ..Usage::default() },
        ];
        let rooms = split_fairly(&sizes, Usage { bytes: 5, lines: 3, ..Usage::default() }, &limits);
        assert_eq!((rooms[0].bytes, rooms[0].lines), (60, 1));
        assert_eq!((rooms[1].bytes, rooms[1].lines), (35, 9));
    }
}
