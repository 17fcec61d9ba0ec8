//! Splits limits fairly among several texts.

use crate::limits::{Limits, UNLIMITED};
use crate::text::extent::Extent;

/// The amount of each limit that a text uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub bytes: usize,
    pub lines: usize,
    pub chars: usize,
    pub tokens: usize,
}

impl Taken {
    pub fn of(extent: Extent) -> Taken {
        Taken {
            bytes: extent.size.bytes,
            lines: extent.lines(),
            chars: extent.size.chars,
            tokens: extent.estimate.tokens(),
        }
    }

    /// Returns how far each limit exceeds its counterpart in `others`.
    pub fn between(limits: &Limits, others: &Limits) -> Taken {
        let all = |limits: &Limits| Taken {
            bytes: limits.bytes,
            lines: limits.lines,
            chars: limits.chars,
            tokens: limits.tokens,
        };
        all(limits).minus(all(others))
    }

    fn zip(self, other: Taken, with: impl Fn(usize, usize) -> usize) -> Taken {
        Taken {
            bytes: with(self.bytes, other.bytes),
            lines: with(self.lines, other.lines),
            chars: with(self.chars, other.chars),
            tokens: with(self.tokens, other.tokens),
        }
    }

    pub fn plus(self, other: Taken) -> Taken {
        self.zip(other, usize::saturating_add)
    }

    pub fn minus(self, other: Taken) -> Taken {
        self.zip(other, usize::saturating_sub)
    }

    /// Returns true if no amount exceeds that of `other`.
    pub fn at_most(&self, other: &Taken) -> bool {
        self.zip(*other, usize::saturating_sub) == Taken::default()
    }

    pub fn within(&self, limits: &Limits) -> bool {
        self.bytes <= limits.bytes
            && self.lines <= limits.lines
            && self.chars <= limits.chars
            && self.tokens <= limits.tokens
    }

    /// Returns limits of this size, leaving lifted limits lifted.
    fn as_room(self, limits: &Limits) -> Limits {
        let room = |limit: usize, size| if limit == UNLIMITED { limit } else { size };
        Limits {
            bytes: room(limits.bytes, self.bytes),
            lines: room(limits.lines, self.lines),
            chars: room(limits.chars, self.chars),
            tokens: room(limits.tokens, self.tokens),
            ..*limits
        }
    }

    /// Subtracts this usage from the limits.
    pub fn rest_of(&self, limits: &Limits) -> Limits {
        limits.less([self.bytes, self.lines, self.chars, self.tokens])
    }
}

/// Computes the room of each block. Each limit is filled separately: blocks smaller than the common level stay whole,
/// and larger ones get that level. A block that must be cut also requests room for a notice, even under limits that it
/// fits.
pub fn fair_rooms(sizes: &[Taken], notice: Taken, limits: &Limits) -> Vec<Limits> {
    let mut wishes = sizes.to_vec();
    loop {
        let level = |limit: usize, of: fn(&Taken) -> usize| level(wishes.iter().map(of).collect(), limit);
        let levels = Taken {
            bytes: level(limits.bytes, |wish| wish.bytes),
            lines: level(limits.lines, |wish| wish.lines),
            chars: level(limits.chars, |wish| wish.chars),
            tokens: level(limits.tokens, |wish| wish.tokens),
        };
        let rooms = || wishes.iter().map(|wish| wish.zip(levels, usize::min).as_room(limits));
        let next = wishes.iter().zip(sizes).zip(rooms()).map(|((wish, size), room)| {
            let first_cut = wish == size && !size.within(&room);
            if first_cut { size.plus(notice) } else { *wish }
        });
        let next: Vec<Taken> = next.collect();
        if next == wishes {
            return rooms().collect();
        }
        wishes = next;
    }
}

/// Returns the highest level at which all wishes fit within `limit`.
fn level(mut wishes: Vec<usize>, limit: usize) -> usize {
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
            Taken { bytes: 60, lines: 1, ..Taken::default() },
            Taken { bytes: 30, lines: 12, ..Taken::default() },
        ];
        let rooms = fair_rooms(&sizes, Taken { bytes: 5, lines: 3, ..Taken::default() }, &limits);
        assert_eq!((rooms[0].bytes, rooms[0].lines), (60, 1));
        assert_eq!((rooms[1].bytes, rooms[1].lines), (35, 9));
    }
}
