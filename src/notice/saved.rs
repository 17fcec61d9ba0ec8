//! The status of the saved output of a truncated text.

/// The words of advice before and after a name.
const WHOLE: &str = "full output saved as ";
const PART: &str = "the start of it saved as ";
const BY_ID: &str = ", page or search it with read_output";
const BY_PATH: &str = ", read or search it there";
/// The same up to version 0.1.
const BY_PATH_OR_TOOL: &str = ", read or search it there or with read_output";

/// The words of a line that names the full output, before and after the name.
const LINE: &str = "[Full output: ";
const LINE_END: &str = "]";

/// Bytes of the longest name that is carried over from an earlier notice.
const LONGEST: usize = 200;

/// Bytes of the longest line that names an output.
pub const LONGEST_LINE: usize = LINE.len() + LONGEST + LINE_END.len();

/// Chars of an id.
const ID: usize = 16;

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

    /// Parses the advice of an earlier notice. Names of over [`LONGEST`] bytes, which any text may hold, are passed over.
    pub fn parse(advice: &str) -> Saved {
        let (whole, rest) = match advice.strip_prefix(WHOLE) {
            Some(rest) => (true, rest),
            None => match advice.strip_prefix(PART) {
                Some(rest) => (false, rest),
                None => return Saved::Nowhere,
            },
        };
        let id = rest.strip_suffix(BY_ID).map(|id| Place::Id(id.into()));
        let path = || rest.strip_suffix(BY_PATH_OR_TOOL).or_else(|| rest.strip_suffix(BY_PATH));
        match id.or_else(|| path().map(|path| Place::Path(path.into()))) {
            Some(place) if !place.is_short() => Saved::Nowhere,
            Some(place) if whole => Saved::Whole(place),
            Some(place) => Saved::Part(place),
            None => Saved::Nowhere,
        }
    }

    /// Returns the shortest line that names the full output, in the format of other tools. Returns `None` if it was not
    /// saved whole.
    pub fn line(&self) -> Option<String> {
        match self {
            Saved::Whole(place) => Some(format!("{LINE}{}{LINE_END}", place.name())),
            _ => None,
        }
    }

    /// Returns true if [`Saved::parse_line`] reads the line.
    pub fn has_line(&self) -> bool {
        matches!(self, Saved::Whole(place) if place.is_short())
    }

    /// Parses the line of an earlier notice. It does not say whether the name is that of a file.
    pub fn parse_line(line: &[u8]) -> Saved {
        let line = std::str::from_utf8(line).unwrap_or_default();
        let name = line.strip_prefix(LINE).and_then(|rest| rest.strip_suffix(LINE_END)).unwrap_or_default();
        let is_id = name.len() == ID && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let place = if is_id { Place::Id(name.into()) } else { Place::Path(name.into()) };
        if place.is_short() { Saved::Whole(place) } else { Saved::Nowhere }
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
            Saved::Whole(place) => format!("{WHOLE}{}", place.advice()),
            Saved::Part(place) => format!("{PART}{}", place.advice()),
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

    /// Returns true if the name is carried over from an earlier notice.
    fn is_short(&self) -> bool {
        let name = self.name();
        (1..=LONGEST).contains(&name.len()) && !name.contains('\n')
    }

    fn advice(&self) -> String {
        match self {
            Place::Path(path) => format!("{path}{BY_PATH}"),
            Place::Id(id) => format!("{id}{BY_ID}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_parsed_as_it_was_made() {
        for name in ["a1", "/tmp/é, b.log"] {
            for place in [Place::Id(name.into()), Place::Path(name.into())] {
                for saved in [Saved::Whole(place.clone()), Saved::Part(place)] {
                    assert_eq!(Saved::parse(&saved.advice(false)), saved);
                }
            }
        }
        for name in ["0123456789abcdef", "/tmp/é, b].log"] {
            let place = if name.len() == ID { Place::Id(name.into()) } else { Place::Path(name.into()) };
            let saved = Saved::Whole(place);
            assert_eq!(Saved::parse_line(saved.line().unwrap().as_bytes()), saved);
            assert!(saved.has_line() && saved.line().unwrap().len() <= LONGEST_LINE);
        }
        for line in ["[Full output: ]", "[Full output: a", "Full output: a", "[Full output: a]\r"] {
            assert_eq!(Saved::parse_line(line.as_bytes()), Saved::Nowhere, "{line}");
        }
        let old = format!("{WHOLE}/tmp/a.log{BY_PATH_OR_TOOL}");
        assert_eq!(Saved::parse(&old), Saved::Whole(Place::Path("/tmp/a.log".into())));
        let long = Saved::Whole(Place::Path("a".repeat(LONGEST + 1)));
        assert!(!long.has_line() && !Saved::Part(Place::Id("a".into())).has_line());
        assert_eq!(Saved::parse_line(long.line().unwrap().as_bytes()), Saved::Nowhere);
        for saved in [long, Saved::Whole(Place::Id(String::new())), Saved::Failed("ENOSPC".into())] {
            assert_eq!(Saved::parse(&saved.advice(true)), Saved::Nowhere);
        }
    }
}
