//! Upper bounds.

/// Upper bounds of a result, notice included. `usize::MAX` lifts a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub lines: usize,
    pub chars: usize,
    pub tokens: usize,
    /// Bytes of any single line, excluding its terminator.
    pub line_bytes: usize,
}

pub const UNLIMITED: usize = usize::MAX;

/// Returns a share of a limit. A lifted limit stays lifted.
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

    /// Returns the limits for a text whose long lines were cut. A `line_bytes` of 0 omits the whole text, empty lines
    /// included.
    pub fn after_cutting_lines(self) -> Limits {
        if self.line_bytes == 0 { Limits { bytes: 0, ..self } } else { self }
    }

    /// Keeps only the limits that these bytes, lines, chars and tokens exceed, and the limit on single lines. If this
    /// leaves no limit at all, as in a room smaller than the limits, returns all of them.
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

    /// Subtracts used bytes, lines, chars and tokens from the limits.
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

    /// Returns true if tokens must be counted.
    pub fn counts_tokens(&self) -> bool {
        self.tokens != UNLIMITED
    }

    /// Returns a share of every limit except that on single lines.
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
