//! Upper bounds.

/// Upper bounds of a result, notice included. `usize::MAX` lifts a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub lines: usize,
    pub chars: usize,
    pub tokens: usize,
    /// Bytes of any one line, its terminator not counted.
    pub line_bytes: usize,
}

pub const UNLIMITED: usize = usize::MAX;

/// A part of a limit; one that is lifted stays so.
pub fn part(limit: usize, share: f64) -> usize {
    if limit == UNLIMITED { limit } else { (limit as f64 * share) as usize }
}

impl Limits {
    pub const NONE: Limits = Limits {
        bytes: UNLIMITED,
        lines: UNLIMITED,
        chars: UNLIMITED,
        tokens: UNLIMITED,
        line_bytes: UNLIMITED,
    };

    /// The limits for a text whose lines were cut. A limit of 0 on lines keeps nothing, not even the empty lines that
    /// would be within it.
    pub fn after_cutting_lines(self) -> Limits {
        if self.line_bytes == 0 { Limits { bytes: 0, ..self } } else { self }
    }

    /// The limits that amounts of bytes, lines, chars and tokens are over; the others are lifted. Where they are over none,
    /// as in a room that is less than the limits, the one on single lines is left, or all are where lines have none.
    pub fn exceeded(&self, [bytes, lines, chars, tokens]: [usize; 4]) -> Limits {
        let named = |limit: usize, amount| if amount > limit { limit } else { UNLIMITED };
        let exceeded = Limits {
            bytes: named(self.bytes, bytes),
            lines: named(self.lines, lines),
            chars: named(self.chars, chars),
            tokens: named(self.tokens, tokens),
            ..*self
        };
        if exceeded == Limits::NONE { *self } else { exceeded }
    }

    /// What is left of the limits where so many bytes, lines, chars and tokens are taken.
    pub fn less(self, [bytes, lines, chars, tokens]: [usize; 4]) -> Limits {
        let left = |limit: usize, taken| if limit == UNLIMITED { limit } else { limit.saturating_sub(taken) };
        Limits {
            bytes: left(self.bytes, bytes),
            lines: left(self.lines, lines),
            chars: left(self.chars, chars),
            tokens: left(self.tokens, tokens),
            ..self
        }
    }

    /// Whether tokens have to be counted at all.
    pub fn counts_tokens(&self) -> bool {
        self.tokens != UNLIMITED
    }

    /// A part of each limit but the one on single lines.
    pub fn share(self, share: f64) -> Limits {
        Limits {
            bytes: part(self.bytes, share),
            lines: part(self.lines, share),
            chars: part(self.chars, share),
            tokens: part(self.tokens, share),
            ..self
        }
    }
}
