//! The parts of a JSON value, as the lexer tells them, and the JSON that each stands for.

use crate::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    List,
    Object,
}

impl Container {
    pub fn start(self) -> u8 {
        if self == Container::List { b'[' } else { b'{' }
    }

    pub fn end(self) -> u8 {
        if self == Container::List { b']' } else { b'}' }
    }
}

/// A part of a value, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    Open(Container),
    Close(Container),
    Comma,
    /// The start of a name or of a string.
    Name,
    String,
    /// A part of a name or string that is written as it is meant.
    Text(&'a [u8]),
    /// An escaped char.
    Char(char),
    /// A surrogate without its partner.
    Lone(u16),
    NameEnd,
    StringEnd,
    /// A part of a number or of a literal.
    Scalar(&'a [u8]),
    ScalarEnd,
}

impl Event<'_> {
    /// Writes an event as JSON without white space.
    pub fn write_json(self, out: &mut Vec<u8>) {
        match self {
            Event::Open(container) => out.push(container.start()),
            Event::Close(container) => out.push(container.end()),
            Event::Comma => out.push(b','),
            Event::Name | Event::String | Event::StringEnd => out.push(b'"'),
            Event::NameEnd => out.extend_from_slice(b"\":"),
            Event::Text(text) | Event::Scalar(text) => out.extend_from_slice(text),
            Event::Char(char) if is_escaped(char) => out.extend_from_slice(escape(char).as_bytes()),
            Event::Char(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            Event::Lone(unit) => out.extend_from_slice(format!("\\u{unit:04x}").as_bytes()),
            Event::ScalarEnd => {}
        }
    }
}

/// Returns true for a char that JSON does not take as it is.
pub fn is_escaped(char: char) -> bool {
    char < ' ' || char == '"' || char == '\\'
}

/// Returns a char as JSON.
pub fn escape(char: char) -> String {
    let quoted = json::string(char.encode_utf8(&mut [0; 4]));
    quoted[1..quoted.len() - 1].to_owned()
}
