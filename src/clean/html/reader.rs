//! Reads the markup of a page: tags, their attributes, comments and references.
//!
//! It follows the tokenizer of the HTML standard as far as the text depends on it. What a page does
//! not close ends with the page.

use super::element::{self, Element};
use super::entity::{self, char_of, decoded};
use super::writer::{HtmlWriter, TARGET};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After "&".
    Reference,
    /// After "<".
    Tag,
    /// After "</".
    EndTag,
    Name,
    BeforeAttribute,
    Attribute,
    AfterAttribute,
    BeforeValue,
    /// In a value, up to its quote if it has one.
    Value(Option<u8>),
    /// After "<!", and after "<!-".
    Declaration,
    Dash,
    /// In a comment, after this many dashes.
    Comment(u8),
    /// In markup that says nothing, up to its end.
    Nothing,
    /// In text that is not shown: the bytes of its end tag so far.
    Hidden(usize),
}

#[derive(Clone, Debug, Default)]
pub struct HtmlReader {
    state: State,
    writer: HtmlWriter,
    /// The name of the tag, in lower case, as far as an element may have it.
    name: Vec<u8>,
    is_end: bool,
    attribute: Vec<u8>,
    /// The first `href` or `alt`. Longer ones than are shown are cut.
    value: Option<Vec<u8>>,
    reference: Vec<u8>,
}

impl HtmlReader {
    pub fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            let taken = self.step(rest, out);
            rest = &rest[taken..];
        }
    }

    pub fn finish(&mut self, out: &mut Vec<u8>) {
        match self.state {
            State::Reference => self.end_reference(out),
            State::Tag => self.writer.text(b"<", out),
            _ => {}
        }
        self.writer.finish(out);
        *self = HtmlReader::default();
    }

    /// Reads some bytes, or changes the state before them.
    fn step(&mut self, rest: &[u8], out: &mut Vec<u8>) -> usize {
        let byte = rest[0];
        match self.state {
            State::Text => {
                let size = memchr::memchr2(b'<', b'&', rest).unwrap_or(rest.len());
                if size > 0 {
                    self.writer.text(&rest[..size], out);
                    return size;
                }
                self.state = if byte == b'<' { State::Tag } else { State::Reference };
                1
            }
            State::Reference => {
                if entity::is_part(byte) && self.reference.len() < entity::LONGEST {
                    self.reference.push(byte);
                    return 1;
                }
                if byte == b';'
                    && let Some(char) = char_of(&self.reference)
                {
                    let char = if char == '\u{a0}' { ' ' } else { char };
                    self.writer.text(char.encode_utf8(&mut [0; 4]).as_bytes(), out);
                    self.reference.clear();
                    self.state = State::Text;
                    return 1;
                }
                self.end_reference(out);
                0
            }
            State::Tag | State::EndTag if byte.is_ascii_alphabetic() => {
                self.is_end = self.state == State::EndTag;
                self.name.clear();
                self.value = None;
                self.state = State::Name;
                0
            }
            State::Tag => {
                self.state = match byte {
                    b'/' => State::EndTag,
                    b'!' => State::Declaration,
                    b'?' => State::Nothing,
                    _ => {
                        self.writer.text(b"<", out);
                        self.state = State::Text;
                        return 0;
                    }
                };
                1
            }
            State::EndTag => {
                self.state = State::Nothing;
                0
            }
            State::Name => {
                if byte.is_ascii_whitespace() || byte == b'/' || byte == b'>' {
                    self.state = State::BeforeAttribute;
                    return 0;
                }
                if self.name.len() <= element::LONGEST {
                    self.name.push(byte.to_ascii_lowercase());
                }
                1
            }
            State::BeforeAttribute | State::AfterAttribute | State::BeforeValue => self.between(byte, out),
            State::Attribute => {
                if byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'=') {
                    self.state = State::AfterAttribute;
                    return 0;
                }
                if self.attribute.len() < 5 {
                    self.attribute.push(byte.to_ascii_lowercase());
                }
                1
            }
            State::Value(quote) => self.value(rest, quote),
            State::Declaration | State::Dash => {
                self.state = match (self.state, byte) {
                    (State::Declaration, b'-') => State::Dash,
                    // "<!-->" is a whole comment.
                    (State::Dash, b'-') => State::Comment(2),
                    _ => {
                        self.state = State::Nothing;
                        return 0;
                    }
                };
                1
            }
            State::Comment(dashes) => {
                if dashes == 0 {
                    let size = memchr::memchr(b'-', rest).unwrap_or(rest.len());
                    if size > 0 {
                        return size;
                    }
                }
                self.state = match byte {
                    b'-' => State::Comment(dashes.saturating_add(1)),
                    b'>' if dashes >= 2 => State::Text,
                    _ => State::Comment(0),
                };
                1
            }
            State::Nothing => match memchr::memchr(b'>', rest) {
                Some(end) => {
                    self.state = State::Text;
                    end + 1
                }
                None => rest.len(),
            },
            State::Hidden(matched) => self.hidden(rest, matched),
        }
    }

    fn end_reference(&mut self, out: &mut Vec<u8>) {
        self.writer.text(b"&", out);
        let reference = std::mem::take(&mut self.reference);
        self.writer.text(&reference, out);
        self.state = State::Text;
    }

    /// Reads a byte between the parts of a tag.
    fn between(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        match byte {
            b'>' => self.end_tag(out),
            b'=' if self.state == State::AfterAttribute => self.state = State::BeforeValue,
            byte if byte.is_ascii_whitespace() => {}
            b'"' | b'\'' if self.state == State::BeforeValue => self.begin_value(Some(byte)),
            _ if self.state == State::BeforeValue => {
                self.begin_value(None);
                return 0;
            }
            b'/' => self.state = State::BeforeAttribute,
            _ => {
                self.attribute.clear();
                // A name may begin with "=".
                self.attribute.push(byte.to_ascii_lowercase());
                self.state = State::Attribute;
            }
        }
        1
    }

    fn begin_value(&mut self, quote: Option<u8>) {
        self.state = State::Value(quote);
        if self.is_shown() && self.value.is_none() {
            self.value = Some(vec![]);
        } else {
            // No second value of the name is read.
            self.attribute.clear();
        }
    }

    /// Returns true in a value that is shown.
    fn is_shown(&self) -> bool {
        let wanted: &[u8] = match &*self.name {
            b"a" => b"href",
            b"img" => b"alt",
            _ => return false,
        };
        !self.is_end && self.attribute == wanted
    }

    fn value(&mut self, rest: &[u8], quote: Option<u8>) -> usize {
        let end = match quote {
            Some(quote) => memchr::memchr(quote, rest),
            None => rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>'),
        };
        let size = end.unwrap_or(rest.len());
        if self.is_shown()
            && let Some(value) = &mut self.value
        {
            let room = (TARGET + 1).saturating_sub(value.len());
            value.extend_from_slice(&rest[..size.min(room)]);
        }
        if end.is_some() {
            self.state = State::BeforeAttribute;
        }
        size + usize::from(end.is_some() && quote.is_some())
    }

    fn end_tag(&mut self, out: &mut Vec<u8>) {
        self.state = State::Text;
        let element = Element::of(&self.name);
        let value = self.value.take();
        match element {
            _ if self.is_end => self.writer.close(element, out),
            Element::Hidden => self.state = State::Hidden(0),
            Element::Link => {
                // A target that is cut would be another one.
                let target = value.filter(|value| value.len() <= TARGET).unwrap_or_default();
                let mut target = decoded(&target);
                target.retain(|byte| *byte > b' ');
                self.writer.link(target, out);
            }
            Element::Image => {
                let mut words = value.unwrap_or_default();
                let whole = String::from_utf8_lossy(&words).trim_end_matches('\u{FFFD}').len();
                words.truncate(whole);
                self.writer.image(&decoded(&words), out);
            }
            _ => self.writer.open(element, out),
        }
    }

    /// Looks for the end tag of an element that is not shown.
    fn hidden(&mut self, rest: &[u8], matched: usize) -> usize {
        let byte = rest[0];
        if matched == 0 {
            let size = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            self.state = State::Hidden(usize::from(size < rest.len()));
            return (size + 1).min(rest.len());
        }
        let expected = if matched == 1 { Some(b'/') } else { self.name.get(matched - 2).copied() };
        self.state = match expected {
            Some(expected) if expected == byte.to_ascii_lowercase() => State::Hidden(matched + 1),
            None if byte.is_ascii_whitespace() || byte == b'/' || byte == b'>' => {
                self.is_end = true;
                State::BeforeAttribute
            }
            _ => State::Hidden(0),
        };
        // A byte that does not go on may begin the tag.
        usize::from(matches!(self.state, State::Hidden(matched) if matched > 0))
    }
}
