//! What a caller asked for. TypeScript has checked every value; nothing is checked again here.

use crate::limits::Limits;
use crate::text::notice::Notice;

/// What survives a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Head,
    Tail,
    Ends,
    Findings,
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
    /// Texts that make a line a finding.
    pub needles: Vec<String>,
}

impl Policy {
    /// Whether findings are looked for.
    pub fn searches(&self) -> bool {
        self.keep == Keep::Findings || self.keep == Keep::Auto && self.is_error
    }
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
            needles: vec![],
        }
    }
}
