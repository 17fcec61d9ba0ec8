//! The tables of formats: `formats.json`, and `keys.json`, the prefixes that services publish for their keys.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};
use regex::bytes::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::form;
use super::pem;
use super::random::Make;
use crate::sieve::{GROUPS, Sieve};

/// A format of secrets.
#[derive(Debug, Default, Deserialize)]
pub struct Format {
    pub kind: String,
    /// Texts one of which begins each match, or stands in the name of the secret.
    pub anchors: Vec<String>,
    /// True if an anchor may also be written in lower case, in capitals, or capitalised.
    #[serde(default)]
    any_case: bool,
    #[serde(default)]
    grammar: Grammar,
    /// Tried from the anchor on. A group that takes part is the secret, otherwise the whole match. What must follow a
    /// secret is never "[", which begins a mark.
    #[serde(default)]
    pattern: String,
    /// Compiled where its anchor is first met.
    #[serde(skip)]
    expression: OnceLock<Regex>,
    /// True if no letter, digit, underscore or hyphen precedes the anchor.
    #[serde(default)]
    alone: bool,
    /// The characters one of which precedes the anchor, if any must.
    #[serde(default)]
    after: String,
    /// What does not follow a secret.
    #[serde(default)]
    unless: Option<String>,
    #[serde(skip)]
    exclusion: OnceLock<Regex>,
    /// True if the secret has a digit and a letter: names of types and variables are none.
    #[serde(default)]
    mixed: bool,
    /// Bytes from which on a secret need not be mixed.
    #[serde(default)]
    long: Option<usize>,
    #[serde(skip)]
    key: Option<Key>,
    /// Texts with a secret, in parts, so that no scanner of sources takes one for real.
    #[cfg_attr(not(test), expect(dead_code))]
    #[serde(default)]
    pub examples: Vec<Vec<String>>,
    /// Texts that are like one.
    #[cfg_attr(not(test), expect(dead_code))]
    #[serde(default)]
    pub others: Vec<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Grammar {
    /// An expression.
    #[default]
    Pattern,
    /// A name and its value: `form.rs`.
    Name,
    /// Lines between BEGIN and END: `pem.rs`.
    Frame,
}

/// A key of a service.
#[derive(Clone, Debug, Deserialize)]
pub struct Key {
    /// Read by tests and people.
    #[cfg_attr(not(test), expect(dead_code))]
    pub service: String,
    pub prefixes: Vec<String>,
    alphabet: String,
    /// Fewest and most characters behind the prefix.
    least: usize,
    most: usize,
    /// The page of the service that documents its keys.
    #[cfg_attr(not(test), expect(dead_code))]
    pub source: String,
    /// True if the prefix is so short that only a key that chance drew is one.
    #[serde(default)]
    random: bool,
}

impl From<Key> for Format {
    fn from(key: Key) -> Format {
        let escaped: Vec<String> = key.prefixes.iter().map(|prefix| regex::escape(prefix)).collect();
        Format {
            kind: "api key".into(),
            anchors: key.prefixes.clone(),
            pattern: format!("(?:{}){}{{{},}}", escaped.join("|"), key.alphabet, key.least),
            alone: key.prefixes[0].starts_with(|first: char| first.is_ascii_alphanumeric()),
            key: Some(key),
            ..Format::default()
        }
    }
}

impl Key {
    fn is_one(&self, found: &[u8], behind: Option<&u8>) -> bool {
        let prefix = self.prefixes.iter().filter(|prefix| found.starts_with(prefix.as_bytes())).map(String::len).max();
        let body = &found[prefix.unwrap_or_default()..];
        let make = Make::of(body);
        let is_drawn = make.is_random();
        body.len() <= self.most && behind != Some(&b'[') && (is_drawn || !self.random && make.is_mixed())
    }
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

    /// Returns the secret at an anchor in a text, and its kind.
    pub fn find(&self, text: &[u8], at: usize) -> Option<(Range<usize>, &str)> {
        match self.grammar {
            Grammar::Pattern => Some((self.matched(text, at)?, &self.kind)),
            Grammar::Name => form::find(text, at).map(|named| (named.secret, named.kind)),
            Grammar::Frame => pem::find(&text[at..]).map(|long| (at..at + long, self.kind.as_str())),
        }
    }

    fn matched(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let before = text[..at].last();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        if self.alone && before.is_some_and(is_word) {
            return None;
        }
        if !self.after.is_empty() && !before.is_some_and(|byte| self.after.as_bytes().contains(byte)) {
            return None;
        }
        let compile = || Regex::new(&format!("^(?:{})", self.pattern)).expect("a pattern");
        let window = &text[at..];
        let groups = self.expression.get_or_init(compile).captures(window)?;
        let secret = groups.iter().skip(1).flatten().next().or(groups.get(0))?;
        let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        let is_long = self.long.is_some_and(|long| secret.len() >= long);
        let behind = &window[secret.end()..];
        let is_excluded = self.unless.as_ref().is_some_and(|unless| {
            let compile = || Regex::new(&format!("^(?:{unless})")).expect("a pattern");
            self.exclusion.get_or_init(compile).is_match(behind)
        });
        let is_key = self.key.as_ref().is_none_or(|key| key.is_one(secret.as_bytes(), behind.first()));
        let is_one = (!self.mixed || is_mixed || is_long) && !is_excluded && is_key;
        is_one.then(|| at + secret.start()..at + secret.end())
    }
}

/// All formats, and where they may begin.
#[derive(Debug)]
pub struct Formats {
    pub list: Vec<Format>,
    /// The kinds of the list, each once.
    pub kinds: Vec<String>,
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
        let mut list: Vec<Format> = serde_json::from_str(include_str!("formats.json")).expect("formats.json");
        let mut kinds: Vec<String> = list.iter().map(|format| format.kind.clone()).collect();
        kinds.dedup();
        let keys: Vec<Key> = serde_json::from_str(include_str!("keys.json")).expect("keys.json");
        // A prefix says more than a name.
        let named = list.iter().position(|format| matches!(format.grammar, Grammar::Name)).unwrap_or(list.len());
        list.splice(named..named, keys.into_iter().map(Format::from));
        let spelt: Vec<Vec<String>> = list.iter().map(Format::spellings).collect();
        let mut all: Vec<&String> = spelt.iter().flatten().collect();
        all.sort();
        all.dedup();
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
        let mut sieve = Sieve::default();
        for (at, anchor) in all.iter().enumerate() {
            sieve.add(at * GROUPS / all.len(), &anchor.as_bytes().chunks(1).collect::<Vec<_>>());
        }
        Formats { sieve, list, kinds, anchors, longest_anchor, begun }
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
