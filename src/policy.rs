//! What a caller asked for. TypeScript has checked every value; nothing is checked again here.

use std::borrow::Cow;

use crate::limits::Limits;
use crate::text::amounts::Labels;
use crate::text::notice::Notice;
use crate::text::saved::Saved;

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
    /// What became of the whole, for notices.
    pub saved: Saved,
    /// The tool that the text comes from can be asked for a part of it, for notices.
    pub pages: bool,
    /// The limits that notices name, where that is known of more than a text that is cut.
    pub exceeded: Option<Limits>,
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

    /// What notices name besides figures. `in_bytes`: the text is counted so.
    pub fn labels(&self, in_bytes: bool) -> Labels<'_> {
        let limits = self.exceeded.as_ref().unwrap_or(&self.limits);
        Labels { limits, source: &self.source, saved: &self.saved, pages: self.pages, in_bytes }
    }

    /// The policy with the limits that a text is over, where a notice is to name them and nobody has told them yet.
    pub fn naming(&self, notice: &Notice, exceeded: impl FnOnce(&Limits) -> Limits) -> Cow<'_, Policy> {
        if self.exceeded.is_some() || !notice.names_limits() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Policy { exceeded: Some(exceeded(&self.limits)), ..self.clone() })
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
            saved: Saved::Nowhere,
            pages: false,
            exceeded: None,
            is_error: false,
            needles: vec![],
        }
    }
}
