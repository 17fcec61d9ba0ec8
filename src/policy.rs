//! What a caller asked for. TypeScript has checked every value; nothing is checked again here.

use crate::limits::Limits;
use crate::text::notice::Notice;

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
