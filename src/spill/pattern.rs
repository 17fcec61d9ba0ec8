//! What a saved output is searched for.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;
use regex_lite::{Regex, RegexBuilder};

use super::failure::Failure;
use super::literals::literals;
use super::scan::{NARROW, OVERLAP, Part, WINDOW};

/// Memory of a compiled expression. One that needs more is refused before it is built.
const REGEX_SIZE: usize = 256 * 1024;
/// Memory of one that is looked for in whole windows. A larger one may take 0.1 ms a byte, and nothing can end it within a
/// window.
const QUICK_SIZE: usize = 8 * 1024;

#[derive(Debug)]
pub enum Pattern {
    Plain(Box<Finder<'static>>),
    /// ASCII, of which the case does not count.
    Ascii(Vec<u8>),
    /// Other text, in lower case.
    Folded(Vec<char>),
    Regex(Box<Expression>),
}

#[derive(Debug)]
pub struct Expression {
    regex: Regex,
    /// Matches hold one of these, if there are any.
    literals: Vec<Finder<'static>>,
    window: usize,
}

impl Pattern {
    pub fn plain(text: &str, ignore_case: bool) -> Pattern {
        match (ignore_case, text.is_ascii()) {
            (false, _) => Pattern::Plain(Finder::new(text).into_owned().into()),
            (true, true) => Pattern::Ascii(text.into()),
            (true, false) => Pattern::Folded(text.chars().flat_map(char::to_lowercase).collect()),
        }
    }

    pub fn regex(text: &str, ignore_case: bool) -> Result<Pattern, Failure> {
        let mut builder = RegexBuilder::new(text);
        builder.case_insensitive(ignore_case);
        let built = builder.size_limit(REGEX_SIZE).build();
        let is_quick = builder.size_limit(QUICK_SIZE).build().is_ok();
        let refused = |error| Failure::Pattern(format!("a regular expression ({error})"));
        let literals = if ignore_case { vec![] } else { literals(text) };
        let literals = literals.iter().map(|literal| Finder::new(literal).into_owned()).collect();
        let window = if is_quick { WINDOW } else { NARROW };
        Ok(Pattern::Regex(Box::new(Expression { regex: built.map_err(refused)?, literals, window })))
    }

    /// Bytes of a line that may be looked at by themselves: what is looked for in them ends within seconds.
    pub fn window(&self) -> usize {
        if let Pattern::Regex(expression) = self { expression.window } else { WINDOW }
    }

    /// Finds the pattern in a line or a part of one. In a part, what may go on beyond its end is left to the next, which
    /// begins before it.
    pub fn find(&self, part: &Part) -> Option<Range<usize>> {
        match self {
            Pattern::Plain(finder) => finder.find(part.bytes).map(|at| at..at + finder.needle().len()),
            Pattern::Ascii(ascii) => find_ascii(part.bytes, ascii),
            Pattern::Folded(folded) => find_text(part, |text, _| find_folded(text, folded)),
            Pattern::Regex(expression) if is_ruled_out(part.bytes, &expression.literals) => None,
            Pattern::Regex(expression) => {
                find_text(part, |text, first| Some(expression.regex.find_at(text, first)?.range()))
            }
        }
    }
}

fn is_ruled_out(bytes: &[u8], literals: &[Finder]) -> bool {
    !literals.is_empty() && !literals.iter().any(|literal| literal.find(bytes).is_some())
}

/// Finds in what the part decodes to. Where it begins inside a line, its start is not the line's, and `find` is told to
/// begin behind its first char.
fn find_text(part: &Part, find: impl FnOnce(&str, usize) -> Option<Range<usize>>) -> Option<Range<usize>> {
    let text = String::from_utf8_lossy(part.bytes);
    let first = text.chars().next().filter(|_| !part.begins).map_or(0, char::len_utf8);
    let found = find(&text, first)?;
    let goes_on = !part.ends && found.end == text.len() && found.start + OVERLAP > text.len();
    let is_whole = matches!(text, Cow::Borrowed(_));
    (!goes_on).then(|| if is_whole { found } else { raw(part.bytes, found) })
}

fn find_ascii(bytes: &[u8], ascii: &[u8]) -> Option<Range<usize>> {
    let first = ascii.first()?;
    memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), bytes)
        .map(|at| at..at + ascii.len())
        .find(|range| bytes.get(range.clone()).is_some_and(|found| found.eq_ignore_ascii_case(ascii)))
}

fn find_folded(text: &str, folded: &[char]) -> Option<Range<usize>> {
    text.char_indices().find_map(|(at, _)| Some(at..at + starts_with_folded(&text[at..], folded)?))
}

/// The length of what is the same but for its case.
fn starts_with_folded(text: &str, folded: &[char]) -> Option<usize> {
    let mut rest = folded;
    for (at, char) in text.char_indices() {
        if rest.is_empty() {
            return Some(at);
        }
        for lower in char.to_lowercase() {
            match rest.split_first() {
                Some((first, after)) if *first == lower => rest = after,
                // The pattern ends within what one char becomes.
                None => break,
                Some(_) => return None,
            }
        }
    }
    rest.is_empty().then_some(text.len())
}

/// Where a range of what bytes decode to stands in them.
fn raw(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let position = |decoded: usize| {
        let (mut seen, mut at) = (0, 0);
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid().len();
            if decoded <= seen + valid {
                return at + (decoded - seen);
            }
            seen += valid + char::REPLACEMENT_CHARACTER.len_utf8();
            at += valid + chunk.invalid().len();
        }
        bytes.len()
    };
    position(range.start)..position(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &Pattern, bytes: &[u8]) -> Option<Range<usize>> {
        pattern.find(&Part { line: 1, at: 0, bytes, begins: true, ends: true })
    }

    #[test]
    fn each_kind_finds_what_it_says() {
        let log = "héllo ERROR[E12]: Straße".as_bytes();
        assert_eq!(find(&Pattern::plain("ERROR[", false), log), Some(7..13));
        assert_eq!(find(&Pattern::plain("error[", false), log), None);
        assert_eq!(find(&Pattern::plain("error[", true), log), Some(7..13));
        assert_eq!(find(&Pattern::plain("HÉLLO", true), log), Some(0..6));
        assert_eq!(find(&Pattern::plain("STRASSE", true), log), None);
        assert_eq!(find(&Pattern::plain("STRAßE", true), log), Some(19..26));
        assert_eq!(find(&Pattern::regex(r"E\d+\]", false).unwrap(), log), Some(13..17));
        assert_eq!(find(&Pattern::regex("error.*e$", true).unwrap(), log), Some(7..log.len()));
    }

    #[test]
    fn positions_are_those_of_the_bytes() {
        let log = b"\xFF\xFEab\xE6\xBCcd";
        assert_eq!(find(&Pattern::plain("AB", true), log), Some(2..4));
        assert_eq!(find(&Pattern::regex("c.", false).unwrap(), log), Some(6..8));
        assert_eq!(find(&Pattern::plain("cd", false), log), Some(6..8));
    }

    #[test]
    fn hostile_expressions_are_refused() {
        let deep = ["(", "[", "a*", "(?:", "a|", "(a"].map(|part| part.repeat(4_096 / part.len()));
        for hostile in deep.iter().map(String::as_str) {
            let _ = Pattern::regex(hostile, false);
        }
        let stars = format!("a{}", "*".repeat(4_000));
        let _ = Pattern::regex(&stars, false).map(|pattern| find(&pattern, b"aaab"));
        // What takes long is looked for in little at once.
        for costly in ["(?:a?){1000}a{1000}b", "(?:|a|a|a|a|a|a|a|a){0,300}Z", "[a-z]{0,900}[a-y]{0,900}z$"] {
            assert_eq!(Pattern::regex(costly, false).unwrap().window(), NARROW, "{costly}");
        }
        assert_eq!(Pattern::regex(r"^\s*(error|warning)\[\w+\]: .{0,80}$", false).unwrap().window(), WINDOW);
        for hostile in ["(", "a{9999999}", "((a{1000}){1000}){1000}", &deep[0], r"(a)\1", "(?=a)"] {
            assert!(matches!(Pattern::regex(hostile, false), Err(Failure::Pattern(_))), "{hostile}");
        }
    }

    #[test]
    fn an_edge_of_a_part_is_no_edge_of_its_line() {
        let starts = Pattern::regex("^b", false).unwrap();
        let ends = Pattern::regex("b$", false).unwrap();
        let part = |begins, ends| Part { line: 1, at: 0, bytes: b"bab", begins, ends };
        assert_eq!(starts.find(&part(true, false)), Some(0..1));
        assert_eq!(starts.find(&part(false, false)), None);
        assert_eq!(ends.find(&part(true, false)), None);
        assert_eq!(ends.find(&part(false, true)), Some(2..3));
    }
}
