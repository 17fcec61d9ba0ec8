//! The secrets that a caller wants replaced.

use std::ops::Range;

use regex::bytes::Regex;

use super::MARK;
use super::form;
use super::format::Formats;
use crate::expression;

/// Kinds of the table, and patterns of the caller.
#[derive(Clone, Debug)]
pub struct SecretRules {
    /// Kinds that are looked for, by their place in the table.
    sought: Vec<bool>,
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    kind: String,
    expression: Regex,
}

impl Default for SecretRules {
    fn default() -> Self {
        SecretRules { sought: vec![true; kinds().count()], patterns: vec![] }
    }
}

/// Returns the kinds of the table.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    Formats::get().kinds.iter().map(String::as_str)
}

/// Returns the place of a kind in the table.
fn place(kind: &str) -> Option<usize> {
    kinds().position(|known| known == kind)
}

impl SecretRules {
    pub fn of(given: &[String]) -> SecretRules {
        let sought = kinds().map(|kind| given.iter().any(|one| one == kind)).collect();
        SecretRules { sought, patterns: vec![] }
    }

    /// Adds an expression of the caller, whose matches are of this kind.
    pub fn add(&mut self, kind: String, expression: &str) -> Result<(), String> {
        let expression = expression::compile(expression, false)?;
        if expression.is_match(b"") {
            return Err("it matches the empty text".into());
        }
        self.patterns.push(Pattern { kind, expression });
        Ok(())
    }

    /// Returns true if secrets of a kind of the table are looked for.
    pub fn seeks(&self, kind: &str) -> bool {
        place(kind).is_some_and(|at| self.sought[at])
    }

    /// Returns true if there are patterns of the caller.
    pub fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Returns the start of the first mark that ends after `at`. No pattern matches a part of one.
    fn next_mark(&self, text: &[u8], at: usize) -> usize {
        let from = at.saturating_sub(MARK.len() + MOST_KIND);
        let mut starts = memchr::memmem::find_iter(&text[from..], MARK).map(|start| from + start);
        let first = starts.find(|&start| self.mark(&text[start..]).is_some_and(|long| start + long > at));
        first.map_or(text.len(), |start| start.max(at))
    }

    /// Returns the length of the mark at the start of a text.
    fn mark(&self, text: &[u8]) -> Option<usize> {
        let kind = text.strip_prefix(MARK)?;
        let long = kind.iter().take(MOST_KIND + 1).position(|&byte| byte == b']')?;
        let is_own = self.patterns.iter().any(|pattern| pattern.kind.as_bytes() == &kind[..long]);
        let is_known = is_own || kinds().any(|known| known.as_bytes() == &kind[..long]);
        is_known.then_some(MARK.len() + long + 1)
    }
}

/// Most bytes of the name of a kind.
pub const MOST_KIND: usize = 64;

/// Finds where secrets may begin in a text.
#[derive(Debug)]
pub struct Finder<'r> {
    rules: &'r SecretRules,
    /// Places from here on do not matter yet.
    stop: usize,
    /// The next place of an anchor, then that of each pattern. `None`: there is none.
    next: Vec<Option<usize>>,
    /// The formats that may begin at the anchor.
    begun: &'static [usize],
    /// The last name that was read. It is not read again for its other anchors.
    read: Range<usize>,
}

impl<'r> Finder<'r> {
    pub fn new(rules: &'r SecretRules, text: &[u8], from: usize, stop: usize) -> Finder<'r> {
        let mut finder = Finder { rules, stop, next: vec![], begun: &[], read: 0..0 };
        finder.next = (0..=rules.patterns.len()).map(|nth| finder.look(nth, text, from)).collect();
        finder
    }

    /// Returns the first place from `from` on where a secret may begin.
    pub fn next(&mut self, text: &[u8], from: usize) -> Option<usize> {
        for nth in 0..self.next.len() {
            if self.next[nth].is_some_and(|at| at < from) {
                self.next[nth] = self.look(nth, text, from);
            }
        }
        self.next.iter().flatten().min().copied()
    }

    fn look(&mut self, nth: usize, text: &[u8], from: usize) -> Option<usize> {
        if let Some(nth) = nth.checked_sub(1) {
            return self.rules.patterns[nth].expression.find_at(text, from).map(|found| found.start());
        }
        let (at, begun) = Formats::get().next(text, from, self.stop)?;
        self.begun = begun;
        Some(at)
    }

    /// Returns the secret that begins at such a place in a window, and its kind.
    pub fn find(&mut self, window: &[u8], at: usize) -> Option<(Range<usize>, &'r str)> {
        let begun = if self.next[0] == Some(at) { self.begun } else { &[] };
        let known = begun.iter().find_map(|&nth| {
            let format = &Formats::get().list[nth];
            let found = if format.is_named() { self.named(window, at) } else { format.find(window, at) };
            found.filter(|(_, kind)| self.rules.seeks(kind))
        });
        if let Some((secret, kind)) = known {
            // A value of a format of its own is of that kind, but for variables of an environment.
            let own = || Formats::get().kind_of(window, &secret).filter(|kind| self.rules.seeks(kind));
            let is_named = matches!(kind, "api key" | "password");
            let kind = if is_named { own().unwrap_or(kind) } else { kind };
            return Some((secret, kind));
        }
        let mut patterns = (1..self.next.len()).filter(|&nth| self.next[nth] == Some(at)).peekable();
        patterns.peek()?;
        let window = &window[..self.rules.next_mark(window, at)];
        patterns.find_map(|nth| {
            let Pattern { kind, expression } = &self.rules.patterns[nth - 1];
            let secret = expression.find_at(window, at)?.range();
            (secret.start == at && !secret.is_empty()).then_some((secret, kind.as_str()))
        })
    }

    /// Returns the secret of the name around an anchor.
    fn named(&mut self, window: &[u8], at: usize) -> Option<(Range<usize>, &'static str)> {
        let name = form::name_at(window, at).filter(|name| *name != self.read)?;
        self.read = name.clone();
        form::find(window, name).map(|named| (named.secret, named.kind))
    }
}
