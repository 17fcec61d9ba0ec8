//! The table of formats, `formats.json`.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use regex::bytes::Regex;
use serde::Deserialize;
use std::ops::Range;
use std::sync::OnceLock;

static SOURCE: &str = include_str!("formats.json");

#[derive(Debug, Deserialize)]
pub struct Format {
    pub kind: String,
    /// Texts one of which begins each match.
    pub anchors: Vec<String>,
    /// Tried from the anchor on. A group that takes part is the secret, otherwise the whole match.
    pub pattern: String,
    /// True if no letter, digit, underscore or hyphen precedes the anchor.
    #[serde(default)]
    alone: bool,
    /// True if the secret has a digit and a letter: names of types and variables are none.
    #[serde(default)]
    mixed: bool,
    /// Texts with a secret, in parts, so that no scanner of sources takes one for real.
    #[cfg_attr(not(test), expect(dead_code))]
    pub examples: Vec<Vec<String>>,
    /// Texts that are like one.
    #[cfg_attr(not(test), expect(dead_code))]
    pub others: Vec<Vec<String>>,
}

#[derive(Debug)]
pub struct Formats {
    pub list: Vec<Format>,
    pub longest_anchor: usize,
    anchors: AhoCorasick,
    expressions: Vec<Regex>,
}

impl Formats {
    pub fn get() -> &'static Formats {
        static FORMATS: OnceLock<Formats> = OnceLock::new();
        FORMATS.get_or_init(|| Formats::read(SOURCE))
    }

    fn read(json: &str) -> Formats {
        let list: Vec<Format> = serde_json::from_str(json).expect("formats.json");
        let texts: Vec<&String> = list.iter().flat_map(|format| &format.anchors).collect();
        let longest_anchor = texts.iter().map(|text| text.len()).max().unwrap_or(1);
        let anchors = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .kind(Some(AhoCorasickKind::DFA))
            .build(texts)
            .expect("anchors");
        let compile = |format: &Format| Regex::new(&format!("^(?:{})", format.pattern)).expect("a pattern");
        let expressions = list.iter().map(compile).collect();
        Formats { list, longest_anchor, anchors, expressions }
    }

    /// Returns the start of the next anchor.
    pub fn next_anchor(&self, text: &[u8], from: usize) -> Option<usize> {
        self.anchors.find(Input::new(text).range(from..)).map(|found| found.start())
    }

    /// Returns the secret at the start of a window, and its kind.
    pub fn find(&self, before: Option<u8>, window: &[u8]) -> Option<(Range<usize>, &str)> {
        let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        self.list.iter().zip(&self.expressions).find_map(|(format, expression)| {
            let starts = |anchor: &String| window.starts_with(anchor.as_bytes());
            if (format.alone && in_word) || !format.anchors.iter().any(starts) {
                return None;
            }
            let groups = expression.captures(window)?;
            let secret = groups.iter().skip(1).flatten().next().or(groups.get(0))?;
            let is_mixed = secret.as_bytes().iter().any(u8::is_ascii_digit)
                && secret.as_bytes().iter().any(u8::is_ascii_alphabetic);
            (is_mixed || !format.mixed).then(|| (secret.range(), format.kind.as_str()))
        })
    }
}
