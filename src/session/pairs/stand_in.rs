//! The words of hosts for a result that is missing, as in `lib/pairs/stand_in.ts`.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::dialect::ToolResult;
use crate::json::Literal;
use crate::session::rewrite_row::texts_of;

/// The words of a result that is missing, as in `lib/pairs/repair.ts`.
pub const MISSING: &str = "[No result: the call was interrupted, or its result was removed]";

#[derive(Deserialize)]
struct StandIns {
    longest: usize,
    absent: String,
}

static STAND_INS: LazyLock<(usize, Regex)> = LazyLock::new(|| {
    let StandIns { longest, absent } =
        serde_json::from_str(include_str!("../../stand_in.json")).expect("stand_in.json");
    (longest, RegexBuilder::new(&absent).case_insensitive(true).build().expect("stand_in.json"))
});

/// The properties of a result that decide between two of one call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Said {
    /// Says that there is no result.
    is_absent: bool,
    /// Is one short line and an error.
    is_failure: bool,
    is_error: bool,
}

impl Said {
    pub fn of(result: &ToolResult) -> Said {
        let is_error = result.is_error();
        let texts = texts_of(result);
        let (longest, absent) = &*STAND_INS;
        // An escape takes up to six bytes.
        if texts.iter().map(Literal::len).sum::<usize>() > longest * 6 {
            return Said { is_error, ..Said::default() };
        }
        let text = texts.iter().map(Literal::string).collect::<Vec<_>>().join("\n");
        let is_short = text.encode_utf16().count() <= *longest && !text.trim().contains('\n');
        let is_absent = text == MISSING || is_short && absent.is_match(&text);
        Said { is_absent, is_failure: is_short && is_error, is_error }
    }

    /// Returns true if a later result of the same call replaces this one: this one stands in for a
    /// missing result, and the later one does not.
    pub fn stands_in(self, later: Said) -> bool {
        !later.is_absent && (self.is_absent || self.is_failure && !later.is_error)
    }
}
