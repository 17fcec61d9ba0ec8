//! A caller's policy. TypeScript has validated every value.

use std::sync::Arc;

use crate::limits::Limits;
use crate::notice::Notice;
use crate::notice::saved::SavedPart;
use crate::redact::SecretRules;

/// The part of a text that a cut keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Head,
    Tail,
    Ends,
    Findings,
    Relevant,
    /// The head, or both ends if the last of the text looks important. OpenClaw cuts so.
    HeadOrEnds,
    Auto,
}

/// How blocks share the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Small blocks stay whole, large ones share the remaining room.
    Fair,
    /// Blocks are served in order.
    Order,
    /// The limits apply to each block separately.
    Each,
    /// Blocks are served in order, and none is dropped: a block without room becomes `[...]`, or
    /// empty if there is no room for that.
    Stay,
}

/// The form of JSON after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonForm {
    /// A text, whose lines say what is missing.
    Text,
    /// JSON that says inside what is missing.
    Data,
    /// JSON that has nothing added to its values.
    Shape,
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
    pub share: Share,
    /// The name of the text in notices.
    pub source: String,
    /// The status of the saved output, for notices.
    pub saved: SavedPart,
    /// The tool can return further parts of the text on request, for notices.
    pub pages: bool,
    /// The text comes from a failure.
    pub is_error: bool,
    /// A line that contains one of these texts is a finding.
    pub needles: Vec<String>,
    /// The question that the text answers, the most important text first.
    pub query: Vec<String>,
    /// The form of JSON after a cut.
    pub json: JsonForm,
    /// The JSON schema against which JSON validates.
    pub schema: Option<Arc<str>>,
    /// The report gives the reason for each kept line.
    pub explains: bool,
    /// The secrets that texts lose.
    pub redact: Option<Arc<SecretRules>>,
}

impl Policy {
    /// Returns true if [`Policy::query`] may decide what is kept.
    pub fn asks(&self) -> bool {
        matches!(self.keep, Keep::Findings | Keep::Relevant | Keep::Auto)
    }

    /// Returns true if lines between the ends may be kept, so that the whole text is read.
    pub fn searches(&self) -> bool {
        self.seeks_failure() || matches!(self.keep, Keep::Relevant | Keep::Auto) || self.reserves()
    }

    /// Returns true if the ends are kept, and before them lines with needles.
    pub fn reserves(&self) -> bool {
        let keeps_ends = matches!(self.keep, Keep::Head | Keep::Tail | Keep::Ends);
        keeps_ends && self.needles.iter().any(|needle| !needle.is_empty())
    }

    /// Returns the policy for the head alone, without a notice.
    pub fn head(&self) -> Policy {
        Policy { keep: Keep::Head, needles: vec![], notice: Notice::None, ..self.clone() }
    }

    /// Returns the policy for a part of a result whose form is not known: its texts keep their
    /// beginnings, and the schema is that of the whole.
    pub fn of_rest(&self) -> Policy {
        Policy { schema: None, ..self.head() }
    }

    /// Returns true if findings are kept, whatever the text is.
    pub fn seeks_failure(&self) -> bool {
        self.keep == Keep::Findings || self.is_error && matches!(self.keep, Keep::Auto | Keep::HeadOrEnds)
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
            share: Share::Fair,
            source: "output".into(),
            saved: SavedPart::Nowhere,
            pages: false,
            is_error: false,
            needles: vec![],
            query: vec![],
            json: JsonForm::Text,
            schema: None,
            explains: false,
            redact: None,
        }
    }
}
