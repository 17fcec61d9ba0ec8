//! What a caller asked for. TypeScript has checked every value; nothing is checked again here.

use crate::text::notice::Notice;

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
}

/// What survives a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Head,
    Tail,
    Ends,
    Auto,
}

#[derive(Clone, Debug)]
pub struct Policy {
    pub limits: Limits,
    pub keep: Keep,
    /// Share of the room that goes to the head with [`Keep::Ends`], 0 to 1.
    pub head_share: f64,
    /// Moves cuts to line ends where that is cheap.
    pub snap: bool,
    pub notice: Notice,
    /// What the text is called in notices.
    pub source: String,
    /// The text comes from something that failed.
    pub is_error: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            limits: Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE },
            keep: Keep::Auto,
            head_share: 0.5,
            snap: true,
            notice: Notice::Hint,
            source: "output".into(),
            is_error: false,
        }
    }
}
