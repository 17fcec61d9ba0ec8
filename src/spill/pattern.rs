//! Search patterns for saved outputs.

use std::ops::Range;

use regex::bytes::Regex;

use super::StoreFailure;
use super::line_reader::{LinePart, OVERLAP};
use crate::encoding::{Text, Utf8};
use crate::expression::{compile, literal};

/// A plain text or a regular expression, with Unicode case folding and classes.
#[derive(Debug)]
pub struct SearchPattern(Regex);

impl SearchPattern {
    pub fn plain(text: &str, ignore_case: bool) -> Result<SearchPattern, StoreFailure> {
        SearchPattern::of(literal(text, ignore_case))
    }

    pub fn regex(text: &str, ignore_case: bool) -> Result<SearchPattern, StoreFailure> {
        SearchPattern::of(compile(text, ignore_case))
    }

    fn of(compiled: Result<Regex, String>) -> Result<SearchPattern, StoreFailure> {
        let refused = |reason| StoreFailure::Pattern(format!("a regular expression ({reason})"));
        compiled.map(SearchPattern).map_err(refused)
    }

    /// Finds the pattern in a line or a part of one. A match is left to the next part, which
    /// overlaps this one, if it may continue there, or if less than `after` bytes follow its start
    /// here. If a part begins inside a line, its first char serves only as context, because the
    /// start of the part is not a line start.
    pub fn find(&self, part: &LinePart, after: usize) -> Option<Range<usize>> {
        let first = if part.begins { 0 } else { Utf8(part.bytes).decode(0).1 };
        let found = self.0.find_at(part.bytes, first)?.range();
        let size = part.bytes.len();
        let goes_on = found.end == size || found.start + after > size;
        (part.ends || !goes_on || found.start + OVERLAP <= size).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &SearchPattern, bytes: &[u8]) -> Option<Range<usize>> {
        pattern.find(&LinePart { line: 1, at: 0, bytes, begins: true, ends: true }, 0)
    }

    fn plain(text: &str, ignore_case: bool) -> SearchPattern {
        SearchPattern::plain(text, ignore_case).unwrap()
    }

    fn regex(text: &str, ignore_case: bool) -> SearchPattern {
        SearchPattern::regex(text, ignore_case).unwrap()
    }

    #[test]
    fn plain_and_regex_patterns_match() {
        let log = "héllo ERROR[E12]: Straße".as_bytes();
        for (pattern, expected) in [
            (plain("ERROR[", false), Some(7..13)),
            (plain("error[", false), None),
            (plain("error[", true), Some(7..13)),
            (plain("HÉLLO", true), Some(0..6)),
            (plain("STRASSE", true), None),
            (plain("STRAßE", true), Some(19..26)),
            (regex(r"E\d+\]", false), Some(13..17)),
            (regex("error.*e$", true), Some(7..log.len())),
        ] {
            assert_eq!(find(&pattern, log), expected, "{pattern:?}");
        }
    }

    #[test]
    fn classes_and_case_follow_unicode() {
        for (text, found) in [
            (r"(?i)é+", "ÉÉ"),
            (r"(?i)[а-я]+", "ПРИВЕТ"),
            (r"^\w+$", "élève漢字"),
            (r"\bécole\b", " école."),
            (r"^\s$", "\u{A0}"),
            (r"^\d+$", "٣٤"),
            (r"^\p{L}+$", "élève"),
            (r"^\p{Cyrillic}+$", "привет"),
            (r"^[\w&&[^0-9]]+$", "é"),
        ] {
            assert!(find(&regex(text, false), found.as_bytes()).is_some(), "{text}");
        }
        assert_eq!(find(&regex(r"\bcole\b", false), "école".as_bytes()), None);
        assert_eq!(find(&regex("é+", true), "ÉÉ".as_bytes()), find(&plain("éé", true), "ÉÉ".as_bytes()));
    }

    #[test]
    fn invalid_utf8_is_searched_too() {
        let log = b"\xFF\xFEab\xE6\xBCcd";
        assert_eq!(find(&plain("AB", true), log), Some(2..4));
        assert_eq!(find(&plain("cd", false), log), Some(6..8));
        assert_eq!(find(&regex("c.", false), log), Some(6..8));
        assert_eq!(find(&regex("^.", false), log), None);
        assert_eq!(find(&regex(r"(?-u)^\xFF[^a]", false), log), Some(0..2));
    }

    #[test]
    fn hostile_expressions_are_refused() {
        let deep = ["(", "[", "a*", "(?:", "a|", "(a"].map(|part| part.repeat(4_096 / part.len()));
        for hostile in deep.iter().map(String::as_str) {
            let _ = SearchPattern::regex(hostile, false);
        }
        let stars = format!("a{}", "*".repeat(4_000));
        let _ = SearchPattern::regex(&stars, false).map(|pattern| find(&pattern, b"aaab"));
        for hostile in [
            "(",
            "a{9999999}",
            "a{4000000000}",
            "((a{1000}){1000}){1000}",
            "(?:a?b?){2000}[yz]",
            "(?:|a|b){2000}[yz]",
            r"\w{400}",
            &deep[0],
            r"(a)\1",
            "(?=a)",
        ] {
            let Err(StoreFailure::Pattern(reason)) = SearchPattern::regex(hostile, false) else {
                panic!("{hostile}")
            };
            assert!(!reason.contains('\n') && reason.starts_with("a regular expression ("), "{reason}");
        }
        for costly in ["(?:a?){1000}a{1000}b", r"\w{1,100}: .{0,2000}$", "[a-z]{0,900}[a-y]{0,900}z$"] {
            assert!(SearchPattern::regex(costly, false).is_ok(), "{costly}");
        }
    }

    #[test]
    fn errors_name_the_mistake() {
        let reason = |text: &str| match SearchPattern::regex(text, false) {
            Err(StoreFailure::Pattern(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason("("), "a regular expression (unclosed group)");
        assert_eq!(reason("a\nb("), "a regular expression (unclosed group)");
        assert_eq!(
            reason("a{9999}"),
            "a regular expression (written out, its repetitions come to more than 8192 steps)"
        );
    }

    #[test]
    fn edges_of_a_part_are_not_edges_of_its_line() {
        let part = |begins, ends| LinePart { line: 1, at: 0, bytes: b"bab", begins, ends };
        let (starts, ends) = (regex("^b", false), regex("b$", false));
        assert_eq!(starts.find(&part(true, false), 0), Some(0..1));
        assert_eq!(starts.find(&part(false, false), 0), None);
        assert_eq!(ends.find(&part(true, false), 0), None);
        assert_eq!(ends.find(&part(false, true), 0), Some(2..3));
    }
}
