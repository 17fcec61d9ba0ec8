//! The status of the saved output of a truncated text.

/// The location of a saved output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file, readable by other tools too.
    Path(String),
    /// An id, known only to the tool that reads saved outputs.
    Id(String),
}

/// The part of an output that was saved, and the location for a model to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Saved {
    #[default]
    Nowhere,
    /// The full output.
    Whole(Place),
    /// The start of the output, as much as a quota allowed.
    Part(Place),
    /// Saving failed, for this reason.
    Failed(String),
}

impl Saved {
    /// Returns the name of the saved output, or an empty string if there is none.
    pub fn name(&self) -> &str {
        match self {
            Saved::Whole(place) | Saved::Part(place) => place.name(),
            Saved::Nowhere | Saved::Failed(_) => "",
        }
    }

    /// Returns the shortest line that names the full output, in the format of other tools. Returns `None` if it was not
    /// saved whole.
    pub fn line(&self) -> Option<String> {
        match self {
            Saved::Whole(place) => Some(format!("[Full output: {}]", place.name())),
            _ => None,
        }
    }

    /// Returns the advice on getting the omitted text. `pages`: the tool has `offset` and `limit` parameters.
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
