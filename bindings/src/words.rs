//! Notice functions of a caller.

use std::cell::Cell;

use napi::bindgen_prelude::*;

use crate::policy::name_of;
use spillway::limits::Usage;
use spillway::truncate::worded::{Exceeded, NoticeFacts};

/// A notice function. It takes the sizes of the text and of the kept parts in bytes, chars and
/// lines, the exceeded limits, a bit for each, and the first and last line of each kept run; and
/// which part is kept. It returns null for the standard notice.
pub type NoticeWords<'a> = Function<'a, FnArgs<(Vec<f64>, String)>, Option<String>>;

/// A notice function during one call of the engine.
pub struct Worded<'a> {
    words: &'a NoticeWords<'a>,
    failure: Cell<Option<Error>>,
}

impl<'a> Worded<'a> {
    pub fn new(words: &'a NoticeWords<'a>) -> Self {
        Worded { words, failure: Cell::default() }
    }

    pub fn text(&self, facts: &NoticeFacts) -> Option<String> {
        let runs = facts.lines.iter().flat_map(|(first, last)| [*first as f64, *last as f64]);
        let numbers = sizes(facts.total).into_iter().chain(sizes(facts.kept));
        let numbers = numbers.chain([f64::from(bits(facts.exceeded))]).chain(runs).collect();
        let text = self.words.call((numbers, name_of(facts.keep).to_owned()).into());
        text.unwrap_or_else(|error| {
            self.failure.set(Some(error));
            None
        })
    }

    /// Returns the last error of the call, if there was one.
    pub fn check(&self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

pub fn sizes(Usage { bytes, chars, lines, .. }: Usage) -> [f64; 3] {
    [bytes, chars, lines].map(|amount| amount as f64)
}

/// Returns a bit for each exceeded limit, in the order of the contract.
pub fn bits(exceeded: Exceeded) -> u32 {
    exceeded.iter().rev().fold(0, |bits, is| (bits << 1) | u32::from(*is))
}
