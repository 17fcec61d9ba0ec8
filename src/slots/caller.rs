//! The caller of a cut: a function that words notices, figures that are read, searches that are
//! done.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use crate::encoding::{NEWLINE, Utf8};
use crate::json::Literal;
use crate::json::held::Held;
use crate::limits::{Limits, Usage};
use crate::policy::Policy;
use crate::tokens::Estimate;
use crate::truncate::long_lines::has_long_line;
use crate::truncate::pass::Found;
use crate::truncate::worded::{Exceeded, Words, exceeded_by};

/// The caller of a cut.
#[derive(Clone, Copy, Default)]
pub struct Caller<'a> {
    /// Words the notices.
    pub words: Option<Words<'a>>,
    /// Figures are read.
    pub counts: bool,
    /// Searches that were done, by the numbers of held texts.
    pub found: &'a [Option<Arc<Found>>],
    /// Rewrites long JSON, which threads do before.
    pub shape: Option<Shaper<'a>>,
    /// Texts come as cleaning and redaction leave them. Those within JSON do not.
    pub prepares: bool,
}

/// Rewrites JSON to fit a policy. Returns `None` for what is not JSON.
pub type Shaper<'a> = &'a dyn Fn(&str, &Policy, ShapeForm) -> Option<ShapedJson>;

/// The form that JSON keeps.
#[derive(Clone, Copy, Debug)]
pub struct ShapeForm {
    /// Says inside what is missing.
    pub tells: bool,
    /// It is a part of a result, so the schema is not its own.
    pub is_rest: bool,
}

/// JSON after a cut, and true if more than white space is missing.
pub type ShapedJson = (String, bool);

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Caller").field(&self.words.is_some()).field(&self.counts).finish()
    }
}

impl Caller<'_> {
    /// Returns the caller of a cut to other limits, for which nothing was searched.
    pub fn elsewhere(self) -> Self {
        Caller { found: &[], ..self }
    }

    /// Returns the place of the search of a held text.
    pub fn found(&self, held: &Held) -> OnceCell<Arc<Found>> {
        let found = self.found.get(held.at() as usize).and_then(Option::as_ref);
        found.map_or_else(OnceCell::new, |found| OnceCell::from(Arc::clone(found)))
    }
}

/// Sizes of a cut, and the limits that it was made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutFigures {
    pub total: Usage,
    pub kept: Usage,
    pub exceeded: Exceeded,
}

/// Measures a text. Its tokens are not counted.
pub fn amounts(text: &Literal) -> Usage {
    let size = text.size();
    let open = text.tail(1).first().is_some_and(|unit| *unit != NEWLINE);
    Usage { bytes: size.bytes, lines: size.lines(open), chars: size.chars, tokens: 0 }
}

/// Returns a kept size without what was dropped from a text, until `left` was left.
pub fn less(kept: Usage, text: &str, left: &str) -> Usage {
    if text == left {
        return kept;
    }
    let [from, to] = [text, left].map(|text| amounts(&text.to_owned().into()));
    kept.plus(to).minus(from)
}

/// Returns the limits that texts exceed together.
pub fn exceeded(texts: &[&Literal], limits: &Limits) -> Exceeded {
    let all = texts.iter().fold(Usage::default(), |sum, text| sum.plus(amounts(text)));
    let tokens = if limits.counts_tokens() { texts.iter().map(|text| tokens(text)).sum() } else { 0 };
    let is_long = |text: &&Literal| {
        limits.line_bytes < text.len().saturating_mul(3)
            && has_long_line(Utf8(text.string().as_bytes()), limits.line_bytes)
    };
    exceeded_by(Usage { tokens, ..all }, texts.iter().any(is_long), limits)
}

fn tokens(text: &Literal) -> usize {
    match text.held() {
        None => Estimate::of(Utf8(text.string().as_bytes())).tokens(),
        Some(held) => {
            let mut all = Estimate::default();
            held.each(&mut |piece| {
                all = all.then(piece.extent(&Limits { tokens: 0, ..Limits::NONE }).estimate);
                true
            });
            all.tokens()
        }
    }
}
