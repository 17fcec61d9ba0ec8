//! The table of formats, `formats.json`.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};
use regex::bytes::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use crate::sieve::{GROUPS, Sieve};

/// A format of secrets.
#[derive(Debug, Deserialize)]
pub struct Format {
    pub kind: String,
    /// Texts one of which begins each match.
    pub anchors: Vec<String>,
    /// True if an anchor may also be written in lower case, in capitals, or capitalised.
    #[serde(default)]
    any_case: bool,
    /// Tried from the anchor on. A group that takes part is the secret, otherwise the whole match. What must follow a
    /// secret is never "[", which begins a mark.
    pattern: String,
    /// Compiled where its anchor is first met.
    #[serde(skip)]
    expression: OnceLock<Regex>,
    /// True if no letter, digit, underscore or hyphen precedes the anchor.
    #[serde(default)]
    alone: bool,
    /// True if the secret has a digit and a letter: names of types and variables are none.
    #[serde(default)]
    mixed: bool,
    /// Bytes from which on a secret need not be mixed.
    #[serde(default)]
    long: Option<usize>,
    /// Texts with a secret, in parts, so that no scanner of sources takes one for real.
    #[cfg_attr(not(test), expect(dead_code))]
    pub examples: Vec<Vec<String>>,
    /// Texts that are like one.
    #[cfg_attr(not(test), expect(dead_code))]
    pub others: Vec<Vec<String>>,
}

impl Format {
    fn spellings(&self) -> Vec<String> {
        let cased = |anchor: &String| {
            let (first, rest) = anchor.split_at(1);
            let capitalised = first.to_uppercase() + rest;
            [anchor.to_lowercase(), anchor.to_uppercase(), capitalised]
        };
        let others = self.anchors.iter().filter(|_| self.any_case).flat_map(cased);
        self.anchors.iter().cloned().chain(others).collect()
    }

    /// Returns the secret at the start of a window, which has an anchor there.
    pub fn find(&self, is_in_word: bool, window: &[u8]) -> Option<Range<usize>> {
        if self.alone && is_in_word {
            return None;
        }
        let compile = || Regex::new(&format!("^(?:{})", self.pattern)).expect("a pattern");
        let groups = self.expression.get_or_init(compile).captures(window)?;
        let secret = groups.iter().skip(1).flatten().next().or(groups.get(0))?;
        let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        let is_long = self.long.is_some_and(|long| secret.len() >= long);
        (!self.mixed || is_mixed || is_long).then(|| secret.range())
    }
}

/// All formats, and where they may begin.
#[derive(Debug)]
pub struct Formats {
    pub list: Vec<Format>,
    sieve: Sieve,
    anchors: AhoCorasick,
    longest_anchor: usize,
    /// The formats that may begin where an anchor stands, by anchor.
    begun: Vec<Vec<usize>>,
}

impl Formats {
    pub fn get() -> &'static Formats {
        static FORMATS: LazyLock<Formats> = LazyLock::new(Formats::read);
        &FORMATS
    }

    fn read() -> Formats {
        let list: Vec<Format> = serde_json::from_str(include_str!("formats.json")).expect("formats.json");
        let spelt: Vec<Vec<String>> = list.iter().map(Format::spellings).collect();
        let all: Vec<&String> = spelt.iter().flatten().collect();
        let begins = |anchor: &str, own: &String| own.starts_with(anchor) || anchor.starts_with(own.as_str());
        let begun_by = |anchor: &&String| {
            (0..list.len()).filter(|&at| spelt[at].iter().any(|own| begins(anchor, own))).collect()
        };
        let longest_anchor = all.iter().map(|anchor| anchor.len()).max().unwrap_or(0);
        let begun = all.iter().map(begun_by).collect();
        let anchors = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .start_kind(StartKind::Anchored)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&all)
            .expect("anchors");
        let (mut sieve, mut sorted) = (Sieve::default(), all.clone());
        sorted.sort();
        sorted.dedup();
        for (at, anchor) in sorted.iter().enumerate() {
            sieve.add(at * GROUPS / sorted.len(), &anchor.as_bytes().chunks(1).collect::<Vec<_>>());
        }
        Formats { sieve, list, anchors, longest_anchor, begun }
    }

    /// Returns the start of the next anchor before `stop` and the formats that may begin there.
    pub fn next(&'static self, text: &[u8], from: usize, stop: usize) -> Option<(usize, &'static [usize])> {
        let end = text.len().min(stop.saturating_add(self.longest_anchor));
        self.sieve.places(&text[..end], from).find_map(|at| {
            let here = Input::new(text).range(at..end).anchored(Anchored::Yes);
            let found = self.anchors.find(here)?;
            Some((at, self.begun[found.pattern().as_usize()].as_slice()))
        })
    }
}
