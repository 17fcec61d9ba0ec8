//! Finds where values begin and end, and validates rows.

use super::escape;

/// The range of a value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn of(self, row: &[u8]) -> &[u8] {
        &row[self.start..self.end]
    }

    pub fn len(self) -> usize {
        self.end - self.start
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    True,
    False,
    Null,
}

impl Kind {
    /// Tells the kind of a value from its first byte.
    pub fn of(value: &[u8]) -> Kind {
        match value.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// Returns true for objects and arrays.
    pub fn is_container(self) -> bool {
        matches!(self, Kind::Object | Kind::Array)
    }
}

/// Returns the span of the row's single value, or `None` if the row is not valid JSON.
pub fn document(row: &[u8]) -> Option<Span> {
    let start = space(row, 0);
    let end = value(row, start)?;
    (space(row, end) == row.len()).then_some(Span { start, end })
}

/// Skips JSON white space, a smaller set than that of `char::is_whitespace`.
pub(super) fn space(row: &[u8], mut at: usize) -> usize {
    while matches!(row.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// Returns the end of the value that starts at `at`, or `None` if it is not valid. Nesting costs one bit per level and
/// no stack.
pub fn value(row: &[u8], at: usize) -> Option<usize> {
    walk(row, at, |_| {})
}

/// An event while walking through a value, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The start of an object or array.
    Open(usize),
    /// The end of the innermost open container.
    Close(usize),
    /// A member's name, or a value that is not a container.
    Leaf(Span),
}

/// Walks through the value that starts at `at` and returns its end.
pub fn walk(row: &[u8], at: usize, meet: impl FnMut(Event)) -> Option<usize> {
    walk_by(row, at, string, meet)
}

/// Finds the end of a string from its opening quote.
pub(super) type Strings = fn(&[u8], usize) -> Option<usize>;

#[inline(never)]
pub(super) fn walk_by(
    row: &[u8],
    mut at: usize,
    string: Strings,
    mut meet: impl FnMut(Event),
) -> Option<usize> {
    let mut open = Nesting::default();
    loop {
        let start = at;
        let is_object = match row.get(at)? {
            b'{' => Some(true),
            b'[' => Some(false),
            _ => None,
        };
        if let Some(is_object) = is_object {
            meet(Event::Open(start));
            at = space(row, at + 1);
            if row.get(at)? != if is_object { &b'}' } else { &b']' } {
                open.push(is_object);
                if is_object {
                    at = name(row, at, string, &mut meet)?;
                }
                continue;
            }
            at += 1;
            meet(Event::Close(at));
        } else {
            at = leaf(row, at, string)?;
            meet(Event::Leaf(Span { start, end: at }));
        }
        loop {
            let Some(in_object) = open.last() else { return Some(at) };
            at = space(row, at);
            match (row.get(at)?, in_object) {
                (b',', true) => {
                    at = name(row, space(row, at + 1), string, &mut meet)?;
                    break;
                }
                (b',', false) => {
                    at = space(row, at + 1);
                    break;
                }
                (b'}', true) | (b']', false) => {
                    open.pop();
                    at += 1;
                    meet(Event::Close(at));
                }
                _ => return None,
            }
        }
    }
}

fn name(row: &[u8], at: usize, string: Strings, meet: &mut impl FnMut(Event)) -> Option<usize> {
    let (key, value) = key(row, at, string)?;
    meet(Event::Leaf(key));
    Some(value)
}

#[inline(never)]
fn leaf(row: &[u8], at: usize, string: Strings) -> Option<usize> {
    match row[at] {
        b'"' => string(row, at),
        b't' => word(row, at, b"true"),
        b'f' => word(row, at, b"false"),
        b'n' => word(row, at, b"null"),
        _ => number(row, at),
    }
}

/// Returns the span of the key that starts at `at`, and the start of its value.
#[inline(never)]
pub(super) fn key(row: &[u8], at: usize, string: Strings) -> Option<(Span, usize)> {
    if row.get(at)? != &b'"' {
        return None;
    }
    let end = string(row, at)?;
    let colon = space(row, end);
    (row.get(colon)? == &b':').then(|| (Span { start: at, end }, space(row, colon + 1)))
}

fn word(row: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    row[at..].starts_with(word).then_some(at + word.len())
}

#[inline(never)]
fn number(row: &[u8], at: usize) -> Option<usize> {
    let digits = |from: usize| {
        let count = row[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let start = at + usize::from(row[at] == b'-');
    let mut end = digits(start)?;
    if row[start] == b'0' && end > start + 1 {
        return None;
    }
    if row.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(row.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(row.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Some(end)
}

/// Validates the string whose opening quote is at `start` and returns its end.
fn string(row: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', row.get(at..)?)?;
        if row[at] == b'"' {
            break;
        }
        at += match row.get(at + 1)? {
            b'n' | b'"' | b'\\' => 2,
            _ => escape::length(&row[at..])?,
        };
    }
    // Fixed-size blocks compile to vector code.
    let has_control = |block: &[u8]| block.iter().fold(false, |has, &byte| has | (byte < 0x20));
    (!row[start..at].chunks(256).any(has_control)).then_some(at + 1)
}

/// Records for each open container if it is an object.
#[derive(Default)]
struct Nesting {
    bits: Vec<u64>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
    }

    fn last(&self) -> Option<bool> {
        let at = self.depth.checked_sub(1)?;
        Some(self.bits[at / 64] >> (at % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_valid_json() {
        for good in [
            r#" {"a" : [1, -2.5e+3, "x\"\\\u00e9", {}, [ ] , true,null , false] } "#,
            "\"\"",
            "0",
            "-0.0E-9\r",
            "\"\u{2028}\u{7f}\"",
            "\"\\ud800\"",
        ] {
            assert!(document(good.as_bytes()).is_some(), "{good}");
        }
        for bad in [
            "",
            " ",
            "{",
            "{\"a\"}",
            "{\"a\":1,}",
            "[1,]",
            "[,]",
            "[1 2]",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "tru",
            "nulls",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "\"a\0\"",
            "{a:1}",
            "[1}",
            "{\"a\":1]",
            "1 1",
            "\u{feff}1",
            "\0\0",
            "NaN",
        ] {
            assert_eq!(document(bad.as_bytes()), None, "{bad:?}");
        }
        assert!(document(b"\"\xFF\xE2\x82\"").is_some(), "invalid UTF-8 in a string is text of a kind");
        assert!(document(b"\xFF").is_none());
    }

    #[test]
    fn deep_nesting_uses_no_stack() {
        let deep = "[".repeat(300_000) + &"]".repeat(300_000);
        assert!(document(deep.as_bytes()).is_some());
        let mixed = "[{\"a\":".repeat(200) + "1" + &"}]".repeat(200);
        assert!(document(mixed.as_bytes()).is_some());
        assert!(document((mixed + "}").as_bytes()).is_none());
    }
}
