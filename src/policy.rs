//! A caller's policy. TypeScript has validated every value.

use std::borrow::Cow;

use crate::limits::Limits;
use crate::text::amounts::Labels;
use crate::text::notice::Notice;
use crate::text::saved::Saved;

/// The part of a text that a cut keeps.
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
    /// Share of the room that the head gets with [`Keep::Ends`], 0 to 1.
    pub head_share: f64,
    /// Moves cuts to nearby line ends.
    pub snap: bool,
    pub notice: Notice,
    /// The name of the text in notices.
    pub source: String,
    /// The status of the saved output, for notices.
    pub saved: Saved,
    /// The tool can return further parts of the text on request, for notices.
    pub pages: bool,
    /// The limits that notices name, if they were determined for more than the truncated text.
    pub exceeded: Option<Limits>,
    /// The text comes from a failure.
    pub is_error: bool,
    /// A line that contains one of these texts is a finding.
    pub needles: Vec<String>,
}

impl Policy {
    /// Returns true if findings are searched for.
    pub fn searches(&self) -> bool {
        self.keep == Keep::Findings || self.keep == Keep::Auto && self.is_error
    }

    /// Returns the labels of notices. `in_bytes`: the text is counted in bytes.
    pub fn labels(&self, in_bytes: bool) -> Labels<'_> {
        let limits = self.exceeded.as_ref().unwrap_or(&self.limits);
        Labels { limits, source: &self.source, saved: &self.saved, pages: self.pages, in_bytes }
    }

    /// Adds the exceeded limits to the policy if the notice names them and they are not known yet.
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
