//! What became of the whole of a text that was cut.

/// Where a saved output can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file, which other tools can read too.
    Path(String),
    /// An id, which only the tool that reads saved outputs knows.
    Id(String),
}

/// Whether the whole was saved, and under which name a model can read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    #[default]
    Nowhere,
    /// All of it.
    Whole(Place),
    /// The start of it, as much as a quota allowed.
    Part(Place),
    /// It could not be saved, for this reason.
    Failed(String),
}

impl Saved {
    /// The name of what was saved; empty where nothing was.
    pub fn name(&self) -> &str {
        match self {
            Saved::Whole(place) | Saved::Part(place) => place.name(),
            Saved::Nowhere | Saved::Failed(_) => "",
        }
    }

    /// The shortest line that says where all of it is, as other tools end their results.
    pub fn line(&self) -> Option<String> {
        match self {
            Saved::Whole(place) => Some(format!("[Full output: {}]", place.name())),
            _ => None,
        }
    }

    /// What to do about what is missing. `pages`: the tool can be asked for a part.
    pub fn advice(&self, pages: bool) -> String {
        let ask = if pages {
            "request smaller chunks (offset/limit) or specific sections"
        } else {
            "ask for less, or for specific sections"
        };
        match self {
            Saved::Nowhere => ask.into(),
            Saved::Whole(place) => format!("full output saved as {}", place.advice()),
            Saved::Part(place) => format!("the start of it saved as {}", place.advice()),
            Saved::Failed(reason) => format!("the rest could not be saved ({reason}); {ask}"),
        }
    }
}

impl Place {
    pub fn name(&self) -> &str {
        match self {
            Place::Path(name) | Place::Id(name) => name,
        }
    }

    fn advice(&self) -> String {
        match self {
            Place::Path(path) => format!("{path}, read or search it there or with read_output"),
            Place::Id(id) => format!("{id}, page or search it with read_output"),
        }
    }
}
