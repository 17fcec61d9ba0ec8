//! The tables of formats: `formats.json`, and `keys.json`, the prefixes that services publish for
//! their keys.

use regex::bytes::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::anchors::Anchors;
use super::form;
use super::pem;
use super::random::Make;

/// A format of secrets.
#[derive(Debug, Default, Deserialize)]
pub struct Format {
    pub kind: String,
    /// Texts. Each match begins with one of them, or has one in the name of the secret.
    pub anchors: Vec<String>,
    /// True if an anchor may also be written in lower case, in capitals, or capitalised.
    #[serde(default)]
    any_case: bool,
    #[serde(default)]
    grammar: Grammar,
    /// Tried from the anchor on. A group that takes part is the secret, otherwise the whole match.
    /// The char that must follow a secret is never "[", which begins a mark.
    #[serde(default)]
    pattern: String,
    /// Compiled where its anchor is first met.
    #[serde(skip)]
    expression: OnceLock<Regex>,
    /// True if no letter, digit, underscore or hyphen precedes the anchor.
    #[serde(default)]
    alone: bool,
    /// The characters that may precede the anchor. Empty: any may.
    #[serde(default)]
    after: String,
    /// Text that does not follow a secret.
    #[serde(default)]
    unless: Option<String>,
    #[serde(skip)]
    exclusion: OnceLock<Regex>,
    /// True if the secret must have a digit and a letter, which excludes names of types and
    /// variables.
    #[serde(default)]
    mixed: bool,
    /// Bytes from which on a secret need not be mixed.
    #[serde(default)]
    long: Option<usize>,
    #[serde(skip)]
    key: Option<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Grammar {
    /// An expression.
    #[default]
    Pattern,
    /// A name and its value: `form.rs`.
    Name,
    /// A prefix and a run of characters: `keys.json`.
    #[serde(skip)]
    Key,
    /// Lines between BEGIN and END: `pem.rs`.
    Frame,
}

/// A key of a service.
#[derive(Clone, Debug, Deserialize)]
pub struct Key {
    #[expect(dead_code, reason = "for people")]
    service: String,
    prefixes: Vec<String>,
    /// Ranges such as `a-z`, and single characters.
    alphabet: String,
    /// Fewest and most characters behind the prefix.
    least: usize,
    most: usize,
    /// The page of the service that documents its keys.
    #[expect(dead_code, reason = "for people")]
    source: String,
    /// True if the prefix is so short that only a key that chance drew is one.
    #[serde(default)]
    random: bool,
}

impl From<Key> for Format {
    fn from(mut key: Key) -> Format {
        // The longest prefix that fits counts.
        key.prefixes.sort_by_key(|prefix| usize::MAX - prefix.len());
        Format {
            kind: "api key".into(),
            anchors: key.prefixes.clone(),
            grammar: Grammar::Key,
            alone: key.prefixes[0].starts_with(|first: char| first.is_ascii_alphanumeric()),
            key: Some(key),
            ..Format::default()
        }
    }
}

impl Key {
    /// Returns true if the alphabet has a byte: ranges such as `a-z`, and single characters, a
    /// hyphen last.
    fn has(&self, byte: u8) -> bool {
        let mut rest = self.alphabet.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            let (last, after) = match after {
                [b'-', last, after @ ..] => (*last, after),
                _ => (first, after),
            };
            if (first..=last).contains(&byte) {
                return true;
            }
            rest = after;
        }
        false
    }

    /// Returns the length of the key that begins a text.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let prefix = self.prefixes.iter().find(|prefix| text.starts_with(prefix.as_bytes()))?.len();
        let rest = &text[prefix..];
        let long = rest.iter().take(self.most + 1).take_while(|&&byte| self.has(byte)).count();
        if !(self.least..=self.most).contains(&long) || rest.get(long) == Some(&b'[') {
            return None;
        }
        let make = Make::of(&rest[..long]);
        let is_loud = !rest[..long].iter().any(u8::is_ascii_lowercase);
        (make.is_random() || !self.random && (make.is_mixed() || is_loud)).then_some(prefix + long)
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
        if self.alone && is_in_word(text, at) {
            return None;
        }
        match self.grammar {
            Grammar::Key => {
                self.key.as_ref()?.find(&text[at..]).map(|long| (at..at + long, self.kind.as_str()))
            }
            Grammar::Pattern => Some((self.matched(text, at)?, &self.kind)),
            Grammar::Name => form::find(text, at).map(|named| (named.secret, named.kind)),
            Grammar::Frame => pem::find(&text[at..]).map(|long| (at..at + long, self.kind.as_str())),
        }
    }

    fn matched(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let before = text[..at].last();
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
        let is_one = (!self.mixed || is_mixed || is_long) && !is_excluded;
        is_one.then(|| at + secret.start()..at + secret.end())
    }
}

fn is_in_word(text: &[u8], at: usize) -> bool {
    text[..at].last().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
}

/// All formats, and where they may begin.
#[derive(Debug)]
pub struct Formats {
    pub list: Vec<Format>,
    /// The kinds of the list, each once.
    pub kinds: Vec<String>,
    anchors: Anchors,
    /// The formats that may begin at an anchor, by anchor.
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
        let named =
            list.iter().position(|format| matches!(format.grammar, Grammar::Name)).unwrap_or(list.len());
        list.splice(named..named, keys.into_iter().map(Format::from));
        let spelt: Vec<Vec<String>> = list.iter().map(Format::spellings).collect();
        let mut all: Vec<&String> = spelt.iter().flatten().collect();
        all.sort();
        all.dedup();
        let begins = |anchor: &str, own: &String| own.starts_with(anchor) || anchor.starts_with(own.as_str());
        let begun_by = |anchor: &&String| {
            (0..list.len()).filter(|&at| spelt[at].iter().any(|own| begins(anchor, own))).collect()
        };
        let begun = all.iter().map(begun_by).collect();
        Formats { anchors: Anchors::of(&all), list, kinds, begun }
    }

    /// Returns the start of the next anchor before `stop` and the formats that may begin there.
    pub fn next(&'static self, text: &[u8], from: usize, stop: usize) -> Option<(usize, &'static [usize])> {
        let (at, anchor) = self.anchors.next(text, from, stop)?;
        Some((at, self.begun[anchor].as_slice()))
    }

    /// Returns the kind of a secret that has a format of its own.
    pub fn kind_of(&'static self, text: &[u8], secret: &Range<usize>) -> Option<&'static str> {
        let (_, begun) =
            self.next(text, secret.start, secret.start + 1).filter(|(at, _)| *at == secret.start)?;
        let formats = begun
            .iter()
            .map(|&nth| &self.list[nth])
            .filter(|format| !matches!(format.grammar, Grammar::Name));
        formats
            .filter_map(|format| format.find(text, secret.start))
            .find(|(found, _)| found == secret)
            .map(|(_, kind)| kind)
    }
}
