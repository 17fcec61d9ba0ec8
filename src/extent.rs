//! The extent of text pieces under each limit, and the room that remains.

use crate::encoding::{Size, Text};
use crate::limits::{Limits, UNLIMITED, Usage, part};
use crate::tokens::Estimate;

/// The amount of each limit that a piece of text uses. Extents of adjacent pieces can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub size: Size,
    /// Text follows the last newline.
    pub open: bool,
    /// Counted only if tokens are limited.
    pub estimate: Estimate,
}

impl Extent {
    pub fn of<T: Text>(text: T, limits: &Limits) -> Extent {
        Extent::sized(text, text.size(), limits)
    }

    /// Returns the extent of a text whose size is known.
    pub fn sized<T: Text>(text: T, size: Size, limits: &Limits) -> Extent {
        Extent {
            size,
            open: !text.is_empty() && !text.ends_with_newline(),
            estimate: if limits.counts_tokens() { Estimate::of(text) } else { Estimate::default() },
        }
    }

    pub fn then(self, next: Extent) -> Extent {
        Extent {
            size: self.size + next.size,
            open: if next.size.chars == 0 { self.open } else { next.open },
            estimate: self.estimate.then(next.estimate),
        }
    }

    pub fn lines(&self) -> usize {
        self.size.lines(self.open)
    }

    pub fn usage(&self) -> Usage {
        Usage {
            bytes: self.size.bytes,
            lines: self.lines(),
            chars: self.size.chars,
            tokens: self.estimate.tokens(),
        }
    }

    /// Returns true if the extent is within every limit except the one on single lines.
    pub fn fits(&self, limits: &Limits) -> bool {
        self.usage().within(limits)
    }
}

/// The room for a piece of text.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    bytes: usize,
    chars: usize,
    pub newlines: usize,
    /// No text may follow the last allowed newline, because no later text shares its line.
    pub closed: bool,
    pub tokens: Option<TokenRoom>,
}

/// Room in tokens. The tokens of a piece depend on adjacent text, so all are counted together.
#[derive(Clone, Copy, Debug)]
pub struct TokenRoom {
    limit: usize,
    before: Estimate,
    after: Estimate,
}

impl Room {
    /// Returns room for `max` bytes, otherwise unlimited.
    pub fn bytes(max: usize) -> Room {
        Room::lines(UNLIMITED, max)
    }

    /// Returns room for so many newlines and bytes.
    pub fn lines(newlines: usize, bytes: usize) -> Room {
        Room { bytes, chars: UNLIMITED, newlines, closed: false, tokens: None }
    }

    /// Returns room for a head followed by `after`, or `None` if `after` alone exceeds the limits.
    /// `after` may take fewer tokens behind a head than alone, because signs and blanks absorb
    /// newlines.
    pub fn before(after: Extent, limits: &Limits) -> Option<Room> {
        let closed = after.size.chars == 0;
        Some(Room {
            bytes: left(limits.bytes, after.size.bytes)?,
            chars: left(limits.chars, after.size.chars)?,
            newlines: left(limits.lines, after.lines())?,
            closed,
            tokens: TokenRoom::new(limits, Estimate::default(), after.estimate),
        })
    }

    /// Returns room for a tail following `before`. `open`: the text does not end in a newline.
    pub fn after(before: Extent, open: bool, limits: &Limits) -> Option<Room> {
        Some(Room {
            bytes: left(limits.bytes, before.size.bytes)?,
            chars: left(limits.chars, before.size.chars)?,
            newlines: left(limits.lines, before.size.newlines + usize::from(open))?,
            closed: false,
            tokens: match TokenRoom::new(limits, before.estimate, Estimate::default()) {
                Some(room) if !room.holds(Estimate::default()) => return None,
                room => room,
            },
        })
    }

    /// Returns the share of the room for a head that is followed by a tail.
    pub fn share(self, share: f64) -> Room {
        let part = |room| part(room, share);
        let tokens = self.tokens.map(|room| {
            let taken = room.after.tokens();
            TokenRoom { limit: room.limit.min(taken) + part(room.limit.saturating_sub(taken)), ..room }
        });
        Room {
            bytes: part(self.bytes),
            chars: part(self.chars),
            newlines: part(self.newlines),
            closed: false,
            tokens,
        }
    }

    pub fn holds(&self, size: Size) -> bool {
        size.bytes <= self.bytes && size.chars <= self.chars && size.newlines <= self.newlines
    }
}

impl TokenRoom {
    fn new(limits: &Limits, before: Estimate, after: Estimate) -> Option<TokenRoom> {
        limits.counts_tokens().then_some(TokenRoom { limit: limits.tokens, before, after })
    }

    pub fn holds(&self, piece: Estimate) -> bool {
        self.before.then(piece).then(self.after).tokens() <= self.limit
    }
}

fn left(limit: usize, taken: usize) -> Option<usize> {
    if limit == UNLIMITED { Some(UNLIMITED) } else { limit.checked_sub(taken) }
}
