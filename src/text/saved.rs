//! What became of the whole of a text that was cut.

use std::borrow::Cow;

/// Whether the whole was saved, and under which name a model can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    #[default]
    Nowhere,
    /// All of it, under this name.
    Whole(String),
    /// The start of it, as much as a quota allowed.
    Part(String),
    /// It could not be saved, for this reason.
    Failed(String),
}

impl Saved {
    /// The name of what was saved; empty where nothing was.
    pub fn name(&self) -> &str {
        match self {
            Saved::Whole(name) | Saved::Part(name) => name,
            Saved::Nowhere | Saved::Failed(_) => "",
        }
    }

    /// What to do about what is missing.
    pub fn advice(&self) -> Cow<'static, str> {
        const ASK: &str = "request smaller chunks (offset/limit) or specific sections";
        match self {
            Saved::Nowhere => ASK.into(),
            Saved::Whole(name) => format!("full output saved as {name}, read or search it there").into(),
            Saved::Part(name) => format!("the start of it saved as {name}, read or search it there").into(),
            Saved::Failed(reason) => format!("the rest could not be saved ({reason}); {ASK}").into(),
        }
    }
}
