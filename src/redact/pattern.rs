//! The expression of a format, which is tried where an anchor begins.
//!
//! Most anchors begin no secret, and an expression may read hundreds of bytes before it fails. So a
//! byte that each match has behind its anchor is sought first, as far as it may stand.

use regex::bytes::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};
use std::ops::Range;

#[derive(Debug)]
pub struct Pattern {
    expression: Regex,
    /// A byte that each match has within so many bytes.
    needed: Option<(u8, usize)>,
}

impl Pattern {
    pub fn new(pattern: &str) -> Pattern {
        let expression = Regex::new(&format!("^(?:{pattern})")).expect("a pattern");
        let parsed = ParserBuilder::new().utf8(false).build().parse(pattern).expect("a pattern");
        Pattern { expression, needed: needed(&parsed) }
    }

    /// Returns true if a match begins a text.
    pub fn begins(&self, text: &[u8]) -> bool {
        let has = |(byte, within)| memchr::memchr(byte, &text[..text.len().min(within)]).is_some();
        self.needed.is_none_or(has) && self.expression.is_match(text)
    }

    /// Returns the first group that takes part in the match that begins a text, or the whole match.
    pub fn find(&self, text: &[u8]) -> Option<Range<usize>> {
        // Groups take room, and most anchors do not begin a secret.
        if !self.begins(text) {
            return None;
        }
        let groups = self.expression.captures(text)?;
        groups.iter().skip(1).flatten().next().or(groups.get(0)).map(|group| group.range())
    }
}

/// Returns the last byte that each match has behind its first part, and the most bytes up to it.
fn needed(pattern: &Hir) -> Option<(u8, usize)> {
    let HirKind::Concat(parts) = pattern.kind() else { return None };
    let (mut reach, mut needed) = (0, None);
    for (nth, part) in parts.iter().enumerate() {
        let Some(most) = part.properties().maximum_len() else { break };
        reach += most;
        if let HirKind::Literal(literal) = part.kind()
            && nth > 0
        {
            needed = literal.0.last().map(|byte| (*byte, reach));
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_byte_in_reach_is_needed() {
        let needed = |pattern| Pattern::new(pattern).needed;
        assert_eq!(needed("://([a-z]{1,9}):([^\\s]{2,5})@(?:a|b)"), Some((b'@', 3 + 9 + 1 + 5 * 4 + 1)));
        assert_eq!(needed("MT[a-z]{2}\\.[a-z]{3}\\.[a-z]+=?;"), Some((b'.', 2 + 2 + 1 + 3 + 1)));
        assert_eq!(needed("key-[a-z]+"), None);
        assert_eq!(needed("a|b@"), None);
    }

    proptest! {
        #[test]
        fn a_needed_byte_excludes_no_match(text in "u:[ab/é]{0,12}[@/]?[ab]{0,3}") {
            let pattern = Pattern::new("u:[^/@]{1,4}/([^@]{2,6})@");
            let expression = Regex::new("^u:[^/@]{1,4}/([^@]{2,6})@").expect("it is one");
            let found = expression.captures(text.as_bytes()).and_then(|found| Some(found.get(1)?.range()));
            prop_assert_eq!(pattern.find(text.as_bytes()), found);
        }
    }
}
