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
