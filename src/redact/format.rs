//! The tables of formats: `formats.json`, and `keys.json`, the prefixes that services publish for
//! their keys.

use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::anchors::Anchors;
use super::pattern::Pattern;
use super::random::{Make, is_random};
use super::unquoted::CUT;
use super::{argument, cookie, pem};

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
    /// The flag before an argument that is a secret. Empty: it follows the anchor.
    #[serde(default)]
    flag: String,
    /// Compiled where its anchor is first met.
    #[serde(skip)]
    expression: OnceLock<Pattern>,
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
    exclusion: OnceLock<Pattern>,
    /// True if the secret must have a digit and a letter, which excludes names of types and
    /// variables.
    #[serde(default)]
    mixed: bool,
    /// True if the secret must look as if chance drew it.
    #[serde(default)]
    random: bool,
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
    /// The text behind the name of a header: `cookie.rs`.
    Cookie,
    /// A password behind a user's name: `argument.rs`.
    User,
    /// A password behind a flag: `argument.rs`.
    Argument,
}

/// A key of a service.
#[derive(Clone, Debug, Deserialize)]
pub struct Key {
    #[expect(dead_code, reason = "for people")]
    service: String,
    prefixes: Vec<String>,
    alphabet: Alphabet,
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

/// Ranges of ASCII such as `a-z`, and single characters, a hyphen last: a bit for each character.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(from = "String")]
struct Alphabet(u128);

impl From<String> for Alphabet {
    fn from(ranges: String) -> Alphabet {
        let (mut rest, mut bits) = (ranges.as_bytes(), 0);
        while let Some((&first, after)) = rest.split_first() {
            let (last, after) = match after {
                [b'-', last, after @ ..] => (*last, after),
                _ => (first, after),
            };
            bits = (first..=last).fold(bits, |bits, byte| bits | 1 << byte);
            rest = after;
        }
        Alphabet(bits)
    }
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 >> byte & 1 == 1
    }
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
    /// Returns the length of the key that begins a text.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let prefix = self.prefixes.iter().find(|prefix| text.starts_with(prefix.as_bytes()))?.len();
        let rest = &text[prefix..];
        // A sign before the prefix of the next key ends this one, so no byte is read for two.
        let begins = |at: usize| self.prefixes.iter().any(|prefix| rest[at..].starts_with(prefix.as_bytes()));
        let is_in = |at: &usize| {
            let byte = rest[*at];
            self.alphabet.has(byte) && (byte.is_ascii_alphanumeric() || !begins(at + 1))
        };
        let long = (0..rest.len().min(self.most + 1)).take_while(is_in).count();
        let is_before_bracket = rest.get(long) == Some(&b'[') && !rest[long..].starts_with(CUT);
        if !(self.least..=self.most).contains(&long) || is_before_bracket {
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

    /// Returns true if a name gives the secret, which `form.rs` reads.
    pub fn is_named(&self) -> bool {
        matches!(self.grammar, Grammar::Name)
    }

    /// Returns the secret at an anchor in a text, and its kind.
    pub fn find(&self, text: &[u8], at: usize) -> Option<(Range<usize>, &str)> {
        if self.alone && is_in_word(text, at) {
            return None;
        }
        // An anchor of another format may have begun here.
        let behind = self.behind(text, at)?;
        let secret = match self.grammar {
            Grammar::Key => at..at + self.key.as_ref()?.find(&text[at..])?,
            Grammar::Pattern => self.matched(text, at)?,
            Grammar::Frame => at..at + pem::find(&text[at..])?,
            Grammar::Cookie => cookie::find(text, behind)?,
            Grammar::User => argument::find_after_user(text, behind)?,
            Grammar::Argument => argument::find(text, behind, &self.flag)?,
            Grammar::Name => return None,
        };
        self.is_made(&text[secret.clone()]).then_some((secret, self.kind.as_str()))
    }

    /// Returns the place behind the longest anchor that begins at a place.
    fn behind(&self, text: &[u8], at: usize) -> Option<usize> {
        let is_here = |anchor: &&String| {
            text[at..].get(..anchor.len()).is_some_and(|here| here.eq_ignore_ascii_case(anchor.as_bytes()))
        };
        self.anchors.iter().filter(is_here).map(|anchor| at + anchor.len()).max()
    }

    /// Returns true if a secret has the characters of one.
    fn is_made(&self, secret: &[u8]) -> bool {
        let has = |is: fn(&u8) -> bool| secret.iter().any(is);
        if self.random && !is_random(secret) {
            return false;
        }
        !self.mixed
            || self.long.is_some_and(|long| secret.len() >= long)
            || has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
    }

    fn matched(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let before = text[..at].last();
        if !self.after.is_empty() && !before.is_some_and(|byte| self.after.as_bytes().contains(byte)) {
            return None;
        }
        let window = &text[at..];
        let secret = self.expression.get_or_init(|| Pattern::new(&self.pattern)).find(window)?;
        let behind = &window[secret.end..];
        let is_excluded = self
            .unless
            .as_ref()
            .is_some_and(|unless| self.exclusion.get_or_init(|| Pattern::new(unless)).begins(behind));
        (!is_excluded).then(|| at + secret.start..at + secret.end)
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
        let named = list.iter().position(Format::is_named).unwrap_or(list.len());
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
        let formats = begun.iter().map(|&nth| &self.list[nth]);
        formats
            .filter_map(|format| format.find(text, secret.start))
            .find(|(found, _)| found == secret)
            .map(|(_, kind)| kind)
    }
}
