//! The words of hosts for a result that is missing.
//!
//! Each host words them differently, but all are one short line that is flagged as an error or says
//! that the result is absent.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// The words of a result that is missing, as in `lib/pairs/repair.ts`.
pub const MISSING: &str = "[No result: the call was interrupted, or its result was removed]";

#[derive(Deserialize)]
struct StandIns {
    longest: usize,
    absent: String,
}

static STAND_INS: LazyLock<(usize, Regex)> = LazyLock::new(|| {
    let StandIns { longest, absent } =
        serde_json::from_str(include_str!("../stand_in.json")).expect("stand_in.json");
    (longest, RegexBuilder::new(&absent).case_insensitive(true).build().expect("stand_in.json"))
});

/// The properties of a result that decide between two of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultMerit {
    /// Says that there is no result.
    is_absent: bool,
    /// Is one short line and an error.
    is_failure: bool,
    is_error: bool,
}

impl ResultMerit {
    /// Returns true if a text of this many bytes of JSON may be a short one. An escape takes up to
    /// six bytes.
    pub fn may_be_short(bytes: usize) -> bool {
        bytes <= STAND_INS.0 * 6
    }

    /// `text`: `None` for a long text. `missing`: the words of a result that is missing.
    pub fn of(text: Option<&str>, is_error: bool, missing: &str) -> ResultMerit {
        let (longest, absent) = &*STAND_INS;
        let is_short = |text: &&str| text.encode_utf16().count() <= *longest && !text.trim().contains('\n');
        let short = text.filter(is_short);
        let is_absent = text == Some(missing) || short.is_some_and(|text| absent.is_match(text));
        ResultMerit { is_absent, is_failure: short.is_some() && is_error, is_error }
    }

    /// Returns true if a later result of the same call replaces this one: this one stands in for a
    /// missing result, and the later one does not.
    pub fn stands_in(self, later: ResultMerit) -> bool {
        !later.is_absent && (self.is_absent || self.is_failure && !later.is_error)
    }
}
