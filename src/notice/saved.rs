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
pub enum Location {
    /// A file, readable by other tools too.
    Path(String),
    /// An id, known only to the tool that reads saved outputs.
    Id(String),
}

/// The part of an output that was saved, and the location for a model to read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SavedPart {
    #[default]
    Nowhere,
    /// The full output.
    Whole(Location),
    /// The start of the output, as much as a quota allowed.
    Part(Location),
    /// Saving failed, for this reason.
    Failed(String),
}

impl SavedPart {
    /// Returns the name of the saved output, or an empty string if there is none.
    pub fn name(&self) -> &str {
        match self {
            SavedPart::Whole(place) | SavedPart::Part(place) => place.name(),
            SavedPart::Nowhere | SavedPart::Failed(_) => "",
        }
    }

    /// Parses the advice of an earlier notice. Names of over [`LONGEST`] bytes, which any text may
    /// hold, are passed over.
    pub fn parse(advice: &str) -> SavedPart {
        let (whole, rest) = match advice.strip_prefix(WHOLE) {
            Some(rest) => (true, rest),
            None => match advice.strip_prefix(PART) {
                Some(rest) => (false, rest),
                None => return SavedPart::Nowhere,
            },
        };
        let id = rest.strip_suffix(BY_ID).map(|id| Location::Id(id.into()));
        let path = || rest.strip_suffix(BY_PATH_OR_TOOL).or_else(|| rest.strip_suffix(BY_PATH));
        match id.or_else(|| path().map(|path| Location::Path(path.into()))) {
            Some(place) if !place.is_short() => SavedPart::Nowhere,
            Some(place) if whole => SavedPart::Whole(place),
            Some(place) => SavedPart::Part(place),
            None => SavedPart::Nowhere,
        }
    }

    /// Returns the shortest line that names the full output, in the format of other tools. Returns
    /// `None` if it was not saved whole.
    pub fn line(&self) -> Option<String> {
        match self {
            SavedPart::Whole(place) => Some(format!("{LINE}{}{LINE_END}", place.name())),
            _ => None,
        }
    }

    /// Returns true if [`SavedPart::parse_line`] reads the line.
    pub fn has_line(&self) -> bool {
        matches!(self, SavedPart::Whole(place) if place.is_short())
    }

    /// Parses the line of an earlier notice. It does not say whether the name is that of a file.
    pub fn parse_line(line: &[u8]) -> SavedPart {
        let line = std::str::from_utf8(line).unwrap_or_default();
        let name = line.strip_prefix(LINE).and_then(|rest| rest.strip_suffix(LINE_END)).unwrap_or_default();
        let is_id = name.len() == ID && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let place = if is_id { Location::Id(name.into()) } else { Location::Path(name.into()) };
        if place.is_short() { SavedPart::Whole(place) } else { SavedPart::Nowhere }
    }

    /// Returns the advice on getting the omitted text. `pages`: the tool has `offset` and `limit`
    /// parameters.
    pub fn advice(&self, pages: bool) -> String {
        let ask = if pages {
            "request smaller chunks (offset/limit) or specific sections"
        } else {
            "ask for less, or for specific sections"
        };
        match self {
            SavedPart::Nowhere => ask.into(),
            SavedPart::Whole(place) => format!("{WHOLE}{}", place.advice()),
            SavedPart::Part(place) => format!("{PART}{}", place.advice()),
            SavedPart::Failed(reason) => format!("the rest could not be saved ({reason}); {ask}"),
        }
    }
}

impl Location {
    pub fn name(&self) -> &str {
        match self {
            Location::Path(name) | Location::Id(name) => name,
        }
    }

    /// Returns true if the name is carried over from an earlier notice.
    fn is_short(&self) -> bool {
        let name = self.name();
        (1..=LONGEST).contains(&name.len()) && !name.contains('\n')
    }

    fn advice(&self) -> String {
        match self {
            Location::Path(path) => format!("{path}{BY_PATH}"),
            Location::Id(id) => format!("{id}{BY_ID}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_parsed_as_it_was_made() {
        for name in ["a1", "/tmp/é, b.log"] {
            for place in [Location::Id(name.into()), Location::Path(name.into())] {
                for saved in [SavedPart::Whole(place.clone()), SavedPart::Part(place)] {
                    assert_eq!(SavedPart::parse(&saved.advice(false)), saved);
                }
            }
        }
        for name in ["0123456789abcdef", "/tmp/é, b].log"] {
            let place =
                if name.len() == ID { Location::Id(name.into()) } else { Location::Path(name.into()) };
            let saved = SavedPart::Whole(place);
            assert_eq!(SavedPart::parse_line(saved.line().unwrap().as_bytes()), saved);
            assert!(saved.has_line() && saved.line().unwrap().len() <= LONGEST_LINE);
        }
        for line in ["[Full output: ]", "[Full output: a", "Full output: a", "[Full output: a]\r"] {
            assert_eq!(SavedPart::parse_line(line.as_bytes()), SavedPart::Nowhere, "{line}");
        }
        let old = format!("{WHOLE}/tmp/a.log{BY_PATH_OR_TOOL}");
        assert_eq!(SavedPart::parse(&old), SavedPart::Whole(Location::Path("/tmp/a.log".into())));
        let long = SavedPart::Whole(Location::Path("a".repeat(LONGEST + 1)));
        assert!(!long.has_line() && !SavedPart::Part(Location::Id("a".into())).has_line());
        assert_eq!(SavedPart::parse_line(long.line().unwrap().as_bytes()), SavedPart::Nowhere);
        for saved in [long, SavedPart::Whole(Location::Id(String::new())), SavedPart::Failed("ENOSPC".into())]
        {
            assert_eq!(SavedPart::parse(&saved.advice(true)), SavedPart::Nowhere);
        }
    }
}
