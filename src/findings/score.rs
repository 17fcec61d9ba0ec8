//! How much a line tells of what went wrong: words and shapes, and no knowledge of any tool.

use std::borrow::Cow;

use super::words::{self, Weight, Word};

/// Bytes of a line that are looked at.
pub const LOOKED_AT: usize = 600;

/// A weight in halves, so that it stays a whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub i32);

impl Score {
    /// What a text that the caller asked for weighs.
    pub const ASKED_FOR: Score = Score::of(10);
    /// What a line that took the place of another weighs.
    pub const CHANGED: Score = Score::of(4);

    const fn of(weight: i32) -> Score {
        Score(weight * 2)
    }

    /// Whether the line is a finding.
    pub fn tells(self) -> bool {
        self >= Score::of(4)
    }

    /// Whether the finding deserves more lines around it.
    pub fn is_hot(self) -> bool {
        self >= Score::of(9)
    }
}

/// Scores one line, or a piece of a long one.
pub fn score(line: &[u8]) -> Score {
    let line = plain(&line[..line.len().min(LOOKED_AT)]);
    let mut weighed = Weighed::default();
    let mut at = 0;
    while at < line.len() {
        match CLASS[usize::from(line[at])] {
            Class::Letter => {
                let start = at;
                while at < line.len() && CLASS[usize::from(line[at])] <= Class::Digit {
                    at += 1;
                }
                weighed.add_word(&line, start, at);
                continue;
            }
            Class::Quote if is_server_error(&line[at + 1..]) => weighed.shape = weighed.shape.max(6),
            _ => {}
        }
        at += 1;
    }
    weighed.add_beginning(&line);
    weighed.total(&line)
}

#[derive(Default)]
struct Weighed {
    /// The highest weight, and how many matches there were.
    best: i32,
    hits: i32,
    /// The highest weight of shapes that count by themselves, whatever stands around them.
    alone: i32,
    /// The highest weight of shapes that gain from words beside them, but not from a place in a file.
    shape: i32,
    /// The lowest weight of words that make a line weigh less.
    minus: i32,
}

impl Weighed {
    fn hit(&mut self, weight: i32) {
        self.best = self.best.max(weight);
        self.hits += 1;
    }

    fn add_word(&mut self, line: &[u8], start: usize, end: usize) {
        let (length, last) = (end - start, line[end - 1]);
        let shape = SHAPES.get(length).is_some_and(|firsts| firsts.contains(&(line[start] | 0x20)));
        if words::may_weigh(line[start], length)
            && let Some(word) = Word::of(&line[start..end])
        {
            match words::weight(word) {
                Some(Weight::Word(weight)) => return self.add_weight(line, start, end, weight),
                Some(Weight::Phrase) => {
                    if let Some(weight) = words::phrase(word, &line[..start], &line[end..]) {
                        self.hit(weight);
                    }
                }
                None => {}
            }
        }
        if matches!(last, b'r' | b'n') && length > 5 && is_error_name(&line[start..end]) {
            let named = line.get(end) == Some(&b':');
            self.hit(if named {
                10
            } else if start == 0 {
                7
            } else {
                4
            });
        }
        if shape {
            self.add_shape(line, start, end);
        }
    }

    fn add_weight(&mut self, line: &[u8], start: usize, end: usize, weight: i32) {
        let (before, after) = (&line[..start], &line[end..]);
        if is_of_a_name(before, after) {
            return;
        }
        if weight < 0 {
            self.minus = self.minus.min(weight);
            return;
        }
        if words::is_none_before(before) || words::is_none_after(&after[..after.len().min(5)]) {
            return;
        }
        let word = &line[start..end];
        let marked = matches!(after.first(), Some(b':' | b'[' | b']' | b'!'));
        let shouted = word.len() > 3 && word.iter().all(u8::is_ascii_uppercase);
        let first = before.iter().filter(|byte| !byte.is_ascii_whitespace()).count() <= 3;
        self.hit(
            weight + if marked { 3 } else { 0 } + if shouted { 2 } else { 0 } + if first { 2 } else { 0 },
        );
    }

    /// Shapes that begin with a word: levels of structured logs, codes of errors, numbers that are none.
    fn add_shape(&mut self, line: &[u8], start: usize, end: usize) {
        let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
        match word.len() {
            3..=8 if matches!(word[0] | 0x20, b'n' | b'i') && is_no_number(word) => {
                let before = before.strip_suffix(b"-").unwrap_or(before).trim_ascii_end();
                if matches!(before.last(), Some(b'=' | b':')) {
                    self.alone = self.alone.max(6);
                }
            }
            4 if word == b"HTTP" => {
                let version =
                    after.iter().skip(1).take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
                let status = after.get(1 + version..).unwrap_or_default();
                if after.first() == Some(&b'/') && version > 0 && is_status(status, b"45") {
                    self.shape = self.shape.max(6);
                }
            }
            4..=5 if matches!(word[0], b'E' | b'F') && word[1..].iter().all(u8::is_ascii_digit) => {
                let free = before.last().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b':');
                if free && after.strip_prefix(b":").unwrap_or(after).starts_with(b" ") {
                    self.alone = self.alone.max(6);
                }
            }
            5 | 6 | 8 if matches!(word[0] | 0x20, b'l' | b's') => self.add_level(before, word, after),
            _ => {}
        }
    }

    fn add_level(&mut self, before: &[u8], word: &[u8], after: &[u8]) {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        let starts = |text: &[u8], with: &str| {
            text.get(..with.len()).is_some_and(|text| text.eq_ignore_ascii_case(with.as_bytes()))
        };
        if is("severity") && [": high", ": critical"].iter().any(|high| starts(after, high)) {
            self.alone = self.alone.max(7);
        }
        let Some(value) = after.strip_prefix(b"\":").filter(|_| before.ends_with(b"\"")) else { return };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if is("level") || is("severity") {
            let number = matches!(value, [b'5' | b'6', digit, ..] if digit.is_ascii_digit());
            let names = ["\"error\"", "\"fatal\"", "\"critical\"", "\"high\""];
            if number || names.iter().any(|name| starts(value, name)) {
                self.alone = self.alone.max(7);
            }
        } else if is("status")
            && matches!(value, [b'5', a, b, ..] if a.is_ascii_digit() && b.is_ascii_digit())
        {
            self.shape = self.shape.max(6);
        }
    }

    /// Marks at the start of a line.
    fn add_beginning(&mut self, line: &[u8]) {
        let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = &line[indent..];
        if indent <= 8
            && ["✕", "✗", "✘", "×", "●", "❌", "⨯"].iter().any(|glyph| text.starts_with(glyph.as_bytes()))
        {
            self.best = self.best.max(8);
        }
        if line.starts_with(b"E  ") || line.starts_with(b">  ") {
            self.best = self.best.max(5);
        }
        if text.starts_with(b"--> ") {
            self.best = self.best.max(2);
        }
    }

    fn total(&self, line: &[u8]) -> Score {
        let mut best = self.best;
        if best > 0 && names_a_place(line) {
            best += 2;
        }
        best = best.max(self.shape);
        if best > 0 {
            best += (self.hits - 1).clamp(0, 2);
        }
        best = best.max(self.alone);
        // Two weights of a half each, since the words that make a line weigh less count half beside a strong one.
        Score((2 * best + if best >= 8 { self.minus } else { 2 * self.minus }).max(0))
    }
}

/// The first bytes of a line, its colours left out; zeros where it has fewer.
pub fn start(line: &[u8]) -> [u8; 3] {
    let mut start = [0; 3];
    if matches!(line.first(), Some(b'-' | b'+' | &ESCAPE)) {
        let line = plain(&line[..line.len().min(LOOKED_AT)]);
        let length = line.len().min(3);
        start[..length].copy_from_slice(&line[..length]);
    }
    start
}

/// Whether a line that starts so is what the one before it was changed to, as in a diff of what was expected.
pub fn is_changed(before: &[u8; 3], line: &[u8; 3]) -> bool {
    let ([minus, a, rest], [plus, b, _]) = (before, line);
    *minus == b'-' && *plus == b'+' && a == b && *rest != 0 && !matches!(a, b'-' | b'+')
}

/// What a byte is to words: up to `Digit` it may be part of one, and only a letter begins one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Letter,
    Digit,
    Quote,
    Other,
}

const CLASS: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' | b'_' => Class::Digit,
            b'"' => Class::Quote,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// For each length, the letters that a word which may be a shape starts with.
const SHAPES: [&[u8]; 9] = [b"", b"", b"", b"ni", b"hef", b"efl", b"s", b"", b"sin"];

fn is_word(byte: u8) -> bool {
    CLASS[usize::from(byte)] <= Class::Digit
}

/// Whether a word is part of a path, an option or an identifier.
fn is_of_a_name(before: &[u8], after: &[u8]) -> bool {
    matches!(before.last(), Some(b'/' | b'\\' | b'.' | b'-' | b'$'))
        || match after {
            [b'/' | b'\\' | b'-' | b'=', ..] => true,
            [b'.', next, ..] => next.is_ascii_alphanumeric(),
            _ => false,
        }
}

/// Whether a word is the name of an error: `TypeError`, `NullPointerException`.
fn is_error_name(word: &[u8]) -> bool {
    let stem = word.strip_suffix(b"Error").or_else(|| word.strip_suffix(b"Exception"));
    stem.and_then(|stem| stem.last()).is_some_and(u8::is_ascii_lowercase)
}

fn is_no_number(word: &[u8]) -> bool {
    ["nan", "inf", "infinity"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether a status of three digits follows, as in the lines of an access log: `" 502 `.
fn is_server_error(after: &[u8]) -> bool {
    is_status(after, b"5") && after.get(4) == Some(&b' ')
}

/// Whether a space and a status of three digits follow, the first of them one of these.
fn is_status(after: &[u8], first: &[u8]) -> bool {
    matches!(after, [b' ', a, b, c, rest @ ..] if first.contains(a) && b.is_ascii_digit() && c.is_ascii_digit()
        && !rest.first().is_some_and(|next| is_word(*next)))
}

/// Whether a line names a place in a file: `name.ext:12` or `name.ext(12`.
fn names_a_place(line: &[u8]) -> bool {
    memchr::memchr2_iter(b':', b'(', line).any(|at| {
        let ext = line[..at].iter().rev().take_while(|&&byte| is_word(byte)).count();
        let dot = at - ext;
        ext > 0
            && line.get(at + 1).is_some_and(u8::is_ascii_digit)
            && line[..dot].ends_with(b".")
            && dot >= 2
            && matches!(line[dot - 2], b'.' | b'/' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z')
    })
}

/// A line without its colours: they would stick to the words.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(ESCAPE, line) else { return Cow::Borrowed(line) };
    let mut text = line[..first].to_vec();
    let mut at = first;
    while at < line.len() {
        if line[at] == ESCAPE && line.get(at + 1) == Some(&b'[') {
            let length = line[at + 2..].iter().position(|byte| (0x40..0x7F).contains(byte));
            at = length.map_or(line.len(), |length| at + 2 + length + 1);
        } else {
            text.push(line[at]);
            at += 1;
        }
    }
    Cow::Owned(text)
}

const ESCAPE: u8 = 0x1B;

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(line: &str) -> f64 {
        f64::from(score(line.as_bytes()).0) / 2.0
    }

    #[test]
    fn lines_weigh_what_they_tell() {
        let cases = [
            ("nothing to see", 0.0),
            ("error: mismatched types", 12.0),
            ("src/a.rs:12: error: cannot borrow", 12.0),
            ("0 errors, no failures", 0.0),
            ("errors: 0", 0.0),
            ("see src/error.rs and error/mod.ts, --error=1 $error", 0.0),
            ("TypeError: x is not a function", 11.0),
            ("  at Object.TypeError (a.js:1:2)", 6.0),
            ("warning: unused variable `error`", 1.0),
            ("\u{1b}[31merror\u{1b}[0m: no such file", 12.0),
            ("not ok 3 - adds", 8.0),
            ("  ✕ adds (3 ms)", 8.0),
            ("E   assert 1 == 2", 5.0),
            ("10.0.0.1 \"GET / HTTP/1.1\" 502 17", 6.0),
            ("< HTTP/1.1 404 Not Found", 6.0),
            ("{\"level\":50,\"msg\":\"x\"}", 7.0),
            ("Severity: High", 7.0),
            ("step 12 loss=nan", 6.0),
            ("a.py:3:1: F401 `os` imported but unused", 6.0),
            ("[cause]: Error", 8.0),
        ];
        for (line, expected) in cases {
            assert_eq!(weight(line), expected, "{line}");
        }
    }

    #[test]
    fn a_changed_line_is_seen_with_the_one_before() {
        let changed = |a: &str, b: &str| is_changed(&start(a.as_bytes()), &start(b.as_bytes()));
        assert!(changed("-  tax: 7\n", "\u{1b}[31m+  tax: 19\u{1b}[0m\n"));
        assert!(!changed("--- a\n", "+++ b\n") && !changed("- a\n", "- b\n") && !changed("-\n", "+\n"));
    }

    #[test]
    fn only_the_first_part_of_a_line_is_looked_at() {
        assert_eq!(weight(&("x ".repeat(300) + "error")), 0.0);
        assert_eq!(weight(&("x ".repeat(297) + "error")), 6.0);
    }
}
