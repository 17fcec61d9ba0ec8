//! Reads JSON that arrives in pieces, and rejects bytes that are not JSON.
//!
//! The events do not depend on the pieces, except that a long text may come as several. Memory is a
//! bit a level. Bytes that are not ASCII pass unread: whoever needs valid UTF-8 checks that.

use super::event::{Container, Event};
use crate::json::walk::NextPart;

/// The depth beyond which a text is not read.
pub const DEEPEST: usize = 100_000;

/// Bytes that are not JSON, or deeper than [`DEEPEST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotJson;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    /// In a name or string.
    Text,
    /// After a backslash.
    Escape,
    /// In the digits of `\u`: their number and value so far.
    Unit(u8, u16),
    Number(Number),
    /// In a literal: the bytes to come.
    Literal(&'static [u8]),
}

/// The place in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Power,
    PowerSign,
    PowerDigits,
}

#[derive(Clone, Debug)]
pub struct Lexer {
    state: State,
    next: NextPart,
    /// The open containers, a bit each that is set for a list.
    levels: Vec<u64>,
    depth: usize,
    /// A high surrogate whose partner may follow.
    high: Option<u16>,
}

impl Default for Lexer {
    fn default() -> Lexer {
        Lexer { state: State::Between, next: NextPart::Root, levels: vec![], depth: 0, high: None }
    }
}

impl Lexer {
    /// Returns true once the value has ended.
    pub fn is_whole(&self) -> bool {
        self.next == NextPart::Nothing
    }

    pub fn push(&mut self, bytes: &[u8], mut event: impl FnMut(Event)) -> Result<(), NotJson> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Between => self.between(rest, &mut event)?,
                State::Text => self.text(rest, &mut event)?,
                State::Escape => self.escape(rest[0], &mut event)?,
                State::Unit(digits, unit) => self.unit(rest[0], digits, unit, &mut event)?,
                State::Number(place) => self.number(rest, place, &mut event)?,
                State::Literal(to_come) => self.literal(rest, to_come, &mut event)?,
            };
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn between(&mut self, rest: &[u8], event: &mut impl FnMut(Event)) -> Result<usize, NotJson> {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let spaces = rest.iter().take_while(is_space).count();
        if spaces > 0 {
            return Ok(spaces);
        }
        match (rest[0], self.next) {
            (b'{', NextPart::Root | NextPart::Value | NextPart::First) => {
                self.open(Container::Object, event)?
            }
            (b'[', NextPart::Root | NextPart::Value | NextPart::First) => {
                self.open(Container::List, event)?
            }
            (b'}', NextPart::More | NextPart::FirstName) => self.close(Container::Object, event)?,
            (b']', NextPart::More | NextPart::First) => self.close(Container::List, event)?,
            (b',', NextPart::More) => {
                event(Event::Comma);
                self.next = if self.is_in_list() { NextPart::Value } else { NextPart::Name };
            }
            (b':', NextPart::Colon) => self.next = NextPart::Value,
            (b'"', NextPart::Value | NextPart::First) => {
                event(Event::String);
                (self.state, self.next) = (State::Text, NextPart::More);
            }
            (b'"', NextPart::Name | NextPart::FirstName) => {
                event(Event::Name);
                (self.state, self.next) = (State::Text, NextPart::Colon);
            }
            (byte, NextPart::Value | NextPart::First) => {
                self.state = match byte {
                    b'-' => State::Number(Number::Minus),
                    b'0' => State::Number(Number::Zero),
                    b'1'..=b'9' => State::Number(Number::Whole),
                    b't' => State::Literal(b"rue"),
                    b'f' => State::Literal(b"alse"),
                    b'n' => State::Literal(b"ull"),
                    _ => return Err(NotJson),
                };
                self.next = NextPart::More;
                event(Event::Scalar(&rest[..1]));
            }
            _ => return Err(NotJson),
        }
        Ok(1)
    }

    fn open(&mut self, container: Container, event: &mut impl FnMut(Event)) -> Result<(), NotJson> {
        if self.depth == DEEPEST {
            return Err(NotJson);
        }
        if self.depth.is_multiple_of(64) {
            self.levels.truncate(self.depth / 64);
            self.levels.push(0);
        }
        let bit = 1 << (self.depth % 64);
        let level = &mut self.levels[self.depth / 64];
        *level = if container == Container::List { *level | bit } else { *level & !bit };
        self.depth += 1;
        self.next = if container == Container::List { NextPart::First } else { NextPart::FirstName };
        event(Event::Open(container));
        Ok(())
    }

    fn close(&mut self, container: Container, event: &mut impl FnMut(Event)) -> Result<(), NotJson> {
        if self.is_in_list() != (container == Container::List) {
            return Err(NotJson);
        }
        self.depth -= 1;
        self.next = if self.depth == 0 { NextPart::Nothing } else { NextPart::More };
        event(Event::Close(container));
        Ok(())
    }

    fn is_in_list(&self) -> bool {
        self.depth.checked_sub(1).is_some_and(|last| self.levels[last / 64] >> (last % 64) & 1 == 1)
    }

    fn text(&mut self, rest: &[u8], event: &mut impl FnMut(Event)) -> Result<usize, NotJson> {
        if rest[0] == b'\\' {
            self.state = State::Escape;
            return Ok(1);
        }
        self.end_surrogate(event);
        if rest[0] == b'"' {
            self.state = State::Between;
            event(if self.next == NextPart::Colon { Event::NameEnd } else { Event::StringEnd });
            return Ok(1);
        }
        let size = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let text = &rest[..size];
        // Without a branch for each byte, so that the compiler tests many at once.
        if text.iter().fold(false, |any, &byte| any | (byte < b' ')) {
            return Err(NotJson);
        }
        event(Event::Text(text));
        Ok(size)
    }

    /// Tells of a high surrogate that no low one follows.
    fn end_surrogate(&mut self, event: &mut impl FnMut(Event)) {
        if let Some(high) = self.high.take() {
            event(Event::Lone(high));
        }
    }

    fn escape(&mut self, byte: u8, event: &mut impl FnMut(Event)) -> Result<usize, NotJson> {
        let char = match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.state = State::Unit(0, 0);
                return Ok(1);
            }
            _ => return Err(NotJson),
        };
        self.end_surrogate(event);
        self.state = State::Text;
        event(Event::Char(char));
        Ok(1)
    }

    fn unit(
        &mut self,
        byte: u8,
        digits: u8,
        unit: u16,
        event: &mut impl FnMut(Event),
    ) -> Result<usize, NotJson> {
        let digit = char::from(byte).to_digit(16).ok_or(NotJson)?;
        let unit = unit << 4 | digit as u16;
        if digits < 3 {
            self.state = State::Unit(digits + 1, unit);
            return Ok(1);
        }
        self.state = State::Text;
        let pair = |high| char::decode_utf16([high, unit]).next().and_then(Result::ok);
        if let Some(char) = self.high.and_then(pair) {
            self.high = None;
            event(Event::Char(char));
            return Ok(1);
        }
        self.end_surrogate(event);
        match char::from_u32(unit.into()) {
            Some(char) => event(Event::Char(char)),
            None if unit < 0xDC00 => self.high = Some(unit),
            None => event(Event::Lone(unit)),
        }
        Ok(1)
    }

    fn number(
        &mut self,
        rest: &[u8],
        mut place: Number,
        event: &mut impl FnMut(Event),
    ) -> Result<usize, NotJson> {
        let mut size = 0;
        while let Some(&byte) = rest.get(size) {
            place = match (place, byte) {
                (Number::Minus, b'0') => Number::Zero,
                (Number::Minus, b'1'..=b'9') | (Number::Whole, b'0'..=b'9') => Number::Whole,
                (Number::Zero | Number::Whole, b'.') => Number::Point,
                (Number::Point | Number::Fraction, b'0'..=b'9') => Number::Fraction,
                (Number::Zero | Number::Whole | Number::Fraction, b'e' | b'E') => Number::Power,
                (Number::Power, b'+' | b'-') => Number::PowerSign,
                (Number::Power | Number::PowerSign | Number::PowerDigits, b'0'..=b'9') => Number::PowerDigits,
                _ => break,
            };
            size += 1;
        }
        if size > 0 {
            event(Event::Scalar(&rest[..size]));
        }
        self.state = State::Number(place);
        if size < rest.len() {
            if matches!(place, Number::Minus | Number::Point | Number::Power | Number::PowerSign) {
                return Err(NotJson);
            }
            self.state = State::Between;
            event(Event::ScalarEnd);
        }
        Ok(size)
    }

    fn literal(
        &mut self,
        rest: &[u8],
        to_come: &'static [u8],
        event: &mut impl FnMut(Event),
    ) -> Result<usize, NotJson> {
        let size = rest.len().min(to_come.len());
        if rest[..size] != to_come[..size] {
            return Err(NotJson);
        }
        event(Event::Scalar(&rest[..size]));
        self.state = State::Literal(&to_come[size..]);
        if size == to_come.len() {
            self.state = State::Between;
            event(Event::ScalarEnd);
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    /// Writes the events of a text as JSON, or returns `None` if it is not a whole value.
    fn rewritten(text: &[u8], size: usize) -> Option<String> {
        let (mut lexer, mut out) = (Lexer::default(), vec![]);
        for piece in text.chunks(size) {
            lexer.push(piece, |event| event.write_json(&mut out)).ok()?;
        }
        lexer.is_whole().then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn surrogates_are_paired_or_told_as_lone() {
        let text = br#"["\ud83d\ude00","\ud83d","\ude00\ud83dx","\ud83d\n","\ud83d\ud83d\ude00"]"#;
        let expected = "[\"😀\",\"\\ud83d\",\"\\ude00\\ud83dx\",\"\\ud83d\\n\",\"\\ud83d😀\"]";
        for size in [1, 2, 5, 99] {
            assert_eq!(rewritten(text, size).as_deref(), Some(expected));
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(rewritten(deep(DEEPEST).as_bytes(), 1_000).is_some());
        assert_eq!(rewritten(deep(DEEPEST + 1).as_bytes(), 1_000), None);
    }

    proptest! {
        /// A text is taken exactly where `serde_json` takes it, whatever its pieces.
        #[test]
        fn json_is_taken_and_nothing_else(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\n", "\\u00e9", "a", "\"k\":", "1", "-2.5e3", "0", ".",
                    "e+", "true", "nul", "null", " ", "\n", "\0", "日", "{\"a\":[", "\"x\"", "]}", "\"\\/\\\"\\u001f\"",
                ]),
                0..12,
            ),
            is_closed in any::<bool>(),
            size in 1..9usize,
        ) {
            let inner = parts.concat();
            let text = if is_closed { format!("[{{\"k\":[{inner}]}}]") } else { format!("[{inner}") };
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            let found = rewritten(text.as_bytes(), size);
            prop_assert_eq!(found.is_some(), is_json, "{:?}", text);
            if let Some(found) = found {
                let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
                prop_assert_eq!(value(&found), value(&text));
                prop_assert_eq!(rewritten(text.as_bytes(), text.len()), Some(found));
            }
        }
    }
}
