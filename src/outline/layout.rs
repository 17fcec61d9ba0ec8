//! The lines of a value: the events of JSON in, lines out.
//!
//! A container goes on one line if it fits in [`WIDTH`] bytes and no string in it needs an escape.
//! Otherwise each of its members, or elements, has lines of its own, which begin with its path.
//! That is known only later: containers wait, as JSON without white space and as tokens, until the
//! outermost is too long for a line, or ends. Each token waits once, so that time is linear.

use std::collections::VecDeque;

use super::event::{Container, Event, escape, is_escaped};
use super::path::Path;

/// Bytes of a value that shares its line with its path.
pub const WIDTH: usize = 400;

/// Containers around a value that are not on its line. Deeper ones stay JSON, however long.
pub const DEPTH: usize = 512;

/// Indents the lines of a string, so that no content looks like a path.
const INDENT: &[u8] = b"  ";

#[derive(Clone, Debug, Default)]
pub struct LineLayout {
    path: Path,
    /// The JSON of the containers that wait, and its position among all of it.
    json: Vec<u8>,
    base: u64,
    tokens: VecDeque<WaitingPart>,
    /// Tokens that no longer wait.
    taken: u64,
    /// The numbers of the tokens that open the waiting containers.
    open: VecDeque<u64>,
    /// The name, string or scalar that is being read.
    text: Vec<u8>,
    reading: ReadState,
}

/// A part of the containers that wait.
#[derive(Clone, Copy, Debug)]
struct WaitingPart {
    kind: PartKind,
    start: u64,
    /// Zero for a container that is still open.
    end: u64,
    /// The number of the token after this part.
    next: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Name,
    Value,
    Container(Container),
}

/// The part of a value that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReadState {
    #[default]
    Nothing,
    Name,
    /// A string that fits on a line so far.
    String,
    /// A string below its path. `true`: the last byte written ended a line.
    Block(bool),
    Scalar,
    /// A scalar longer than a line, whose path is written.
    LongScalar,
    /// JSON too deep for paths: open containers.
    Deep(usize),
}

impl LineLayout {
    /// Writes the lines that an event decides.
    pub fn add(&mut self, event: Event, out: &mut Vec<u8>) {
        if let ReadState::Deep(levels) = self.reading {
            return self.add_deep(event, levels, out);
        }
        match event {
            Event::Open(container) => {
                let token = WaitingPart {
                    kind: PartKind::Container(container),
                    start: self.position(),
                    end: 0,
                    next: 0,
                };
                self.open.push_back(self.taken + self.tokens.len() as u64);
                self.tokens.push_back(token);
                self.put(&[container.start()], out);
            }
            Event::Close(container) => self.close(container, out),
            Event::Comma if self.waits() => self.put(b",", out),
            Event::Comma => {}
            Event::Name => self.reading = ReadState::Name,
            Event::String => self.reading = ReadState::String,
            Event::Text(text) => self.text(text, out),
            Event::Scalar(text) => {
                if self.reading == ReadState::Nothing {
                    self.reading = ReadState::Scalar;
                }
                self.text(text, out);
            }
            Event::Char(char) => self.char(char, out),
            Event::Lone(unit) => self.text(format!("\\u{unit:04x}").as_bytes(), out),
            Event::NameEnd => self.end_name(out),
            Event::StringEnd | Event::ScalarEnd => self.end_value(out),
        }
    }

    /// Writes all that waits, of a value that is not whole.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.unfold_all(out);
        let text = std::mem::take(&mut self.text);
        match self.reading {
            ReadState::String => self.line(&[b"\"", &*text].concat(), out),
            ReadState::Scalar => self.line(&text, out),
            ReadState::Block(false) | ReadState::LongScalar | ReadState::Deep(_) => out.push(b'\n'),
            ReadState::Nothing | ReadState::Name | ReadState::Block(true) => {}
        }
        self.reading = ReadState::Nothing;
    }

    /// Returns true if a container waits, in which all else waits too.
    fn waits(&self) -> bool {
        !self.open.is_empty()
    }

    fn position(&self) -> u64 {
        self.base + self.json.len() as u64
    }

    fn slice(&self, start: u64, end: u64) -> &[u8] {
        &self.json[(start - self.base) as usize..(end - self.base) as usize]
    }

    /// Adds JSON to the containers that wait.
    fn put(&mut self, json: &[u8], out: &mut Vec<u8>) {
        self.json.extend_from_slice(json);
        self.make_room(0, out);
    }

    /// Unfolds waiting containers that would be too long for a line with `more` bytes.
    fn make_room(&mut self, more: usize, out: &mut Vec<u8>) {
        while let Some(outermost) = self.tokens.front().filter(|_| self.waits()) {
            let size = (self.position() - outermost.start) as usize;
            if size + self.text.len() + more <= WIDTH {
                return;
            }
            self.unfold(out);
        }
    }

    /// Unfolds all waiting containers.
    fn unfold_all(&mut self, out: &mut Vec<u8>) {
        while self.waits() {
            self.unfold(out);
        }
    }

    /// Writes lines for the parts of the outermost waiting container, instead of one for itself.
    fn unfold(&mut self, out: &mut Vec<u8>) {
        let Some(token) = self.take() else { return };
        let PartKind::Container(container) = token.kind else { return };
        self.open.pop_front();
        if self.path.depth() == DEPTH {
            return self.begin_deep(token.start, out);
        }
        self.path.enter(container);
        while let Some(&WaitingPart { kind, start, end, next }) = self.tokens.front() {
            match kind {
                PartKind::Name => {
                    let [start, end] = [start, end].map(|at| (at - self.base) as usize);
                    self.path.name(&self.json[start..end]);
                }
                PartKind::Container(_) if end == 0 => break,
                PartKind::Value | PartKind::Container(_) => {
                    self.path.write(out);
                    out.extend_from_slice(self.slice(start, end));
                    out.push(b'\n');
                    self.path.pass();
                }
            }
            while self.taken < next {
                self.take();
            }
        }
        self.forget();
    }

    fn take(&mut self) -> Option<WaitingPart> {
        self.taken += 1;
        self.tokens.pop_front()
    }

    /// Drops the JSON of parts that no longer wait.
    fn forget(&mut self) {
        let done = self.tokens.front().map_or(self.json.len(), |token| (token.start - self.base) as usize);
        if done == self.json.len() || done > 16 * WIDTH {
            self.json.drain(..done);
            self.base += done as u64;
        }
    }

    /// Adds text to the name, string or scalar that is being read.
    fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.make_room(text.len(), out);
        match self.reading {
            ReadState::Deep(_) => return out.extend_from_slice(text),
            ReadState::Name if !self.waits() => {
                let room = WIDTH.saturating_sub(self.text.len());
                return self.text.extend_from_slice(&text[..text.len().min(room)]);
            }
            ReadState::String if self.text.len() + text.len() > WIDTH => self.begin_block(out),
            ReadState::Scalar if self.text.len() + text.len() > WIDTH => {
                self.path.write(out);
                out.append(&mut self.text);
                self.reading = ReadState::LongScalar;
            }
            _ => {}
        }
        match &mut self.reading {
            ReadState::Block(at_start) => {
                if std::mem::take(at_start) {
                    out.extend_from_slice(INDENT);
                }
                out.extend_from_slice(text);
            }
            ReadState::LongScalar => out.extend_from_slice(text),
            _ => self.text.extend_from_slice(text),
        }
    }

    fn char(&mut self, char: char, out: &mut Vec<u8>) {
        let mut utf8 = [0; 4];
        let text = char.encode_utf8(&mut utf8).as_bytes();
        if !is_escaped(char) || matches!(self.reading, ReadState::Block(_)) && char != '\n' {
            return self.text(text, out);
        }
        if self.reading == ReadState::Name {
            return self.text(escape(char).as_bytes(), out);
        }
        self.unfold_all(out);
        match self.reading {
            ReadState::Deep(_) => out.extend_from_slice(escape(char).as_bytes()),
            ReadState::String if char == '\n' => {
                self.begin_block(out);
                self.end_line(out);
            }
            ReadState::Block(_) if char == '\n' => self.end_line(out),
            _ => self.text(text, out),
        }
    }

    /// Writes the path of a string, and below it the text so far.
    fn begin_block(&mut self, out: &mut Vec<u8>) {
        self.path.write(out);
        out.extend_from_slice(b"|\n");
        self.reading = ReadState::Block(true);
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.text(&text, out);
        }
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
        self.reading = ReadState::Block(true);
    }

    fn end_name(&mut self, out: &mut Vec<u8>) {
        self.make_room(3, out);
        if let ReadState::Deep(_) = self.reading {
            return out.extend_from_slice(b"\":");
        }
        self.reading = ReadState::Nothing;
        let name = std::mem::take(&mut self.text);
        if self.waits() {
            self.put_token(PartKind::Name, b"\"", &name, b"\":", out);
        } else {
            self.path.name(&name);
        }
        self.reuse(name);
    }

    fn end_value(&mut self, out: &mut Vec<u8>) {
        let quote: &[u8] = if self.reading == ReadState::String { b"\"" } else { b"" };
        self.make_room(2, out);
        match self.reading {
            ReadState::Deep(_) => return out.extend_from_slice(quote),
            ReadState::Block(true) => {}
            ReadState::Block(false) | ReadState::LongScalar => out.push(b'\n'),
            _ => {
                self.reading = ReadState::Nothing;
                let text = std::mem::take(&mut self.text);
                if self.waits() {
                    self.put_token(PartKind::Value, quote, &text, quote, out);
                    return self.reuse(text);
                }
                self.line(&[quote, &text, quote].concat(), out);
                self.reuse(text);
            }
        }
        self.reading = ReadState::Nothing;
        self.path.pass();
    }

    /// Keeps the memory of a text that is done.
    fn reuse(&mut self, mut text: Vec<u8>) {
        text.clear();
        self.text = text;
    }

    /// Adds a token. That of a name is the name alone, that of a value includes its quotes.
    fn put_token(&mut self, kind: PartKind, before: &[u8], text: &[u8], after: &[u8], out: &mut Vec<u8>) {
        let start = self.position();
        let size = (before.len() + text.len() + after.len()) as u64;
        let (start, end) = match kind {
            PartKind::Name => (start + before.len() as u64, start + (before.len() + text.len()) as u64),
            _ => (start, start + size),
        };
        let next = self.taken + self.tokens.len() as u64 + 1;
        self.tokens.push_back(WaitingPart { kind, start, end, next });
        for part in [before, text] {
            self.json.extend_from_slice(part);
        }
        self.put(after, out);
    }

    fn close(&mut self, container: Container, out: &mut Vec<u8>) {
        self.make_room(1, out);
        if let ReadState::Deep(levels) = self.reading {
            return self.add_deep(Event::Close(container), levels, out);
        }
        let Some(number) = self.open.pop_back() else {
            self.path.leave();
            return self.path.pass();
        };
        self.json.push(container.end());
        let (end, next) = (self.position(), self.taken + self.tokens.len() as u64);
        let token = &mut self.tokens[(number - self.taken) as usize];
        (token.end, token.next) = (end, next);
        let start = token.start;
        if !self.waits() {
            self.path.write(out);
            out.extend_from_slice(self.slice(start, end));
            out.push(b'\n');
            self.path.pass();
            self.taken = next;
            self.tokens.clear();
            self.forget();
        }
    }

    /// Writes the line of a value.
    fn line(&mut self, value: &[u8], out: &mut Vec<u8>) {
        self.path.write(out);
        out.extend_from_slice(value);
        out.push(b'\n');
    }

    /// Writes a container that is too deep as JSON, as far as it has been read.
    fn begin_deep(&mut self, start: u64, out: &mut Vec<u8>) {
        self.path.write(out);
        out.extend_from_slice(self.slice(start, self.position()));
        if matches!(self.reading, ReadState::Name | ReadState::String) {
            out.push(b'"');
        }
        out.append(&mut self.text);
        self.reading = ReadState::Deep(1 + self.open.len());
        self.taken += self.tokens.len() as u64;
        self.open.clear();
        self.tokens.clear();
        self.forget();
    }

    fn add_deep(&mut self, event: Event, levels: usize, out: &mut Vec<u8>) {
        event.write_json(out);
        self.reading = match event {
            Event::Open(_) => ReadState::Deep(levels + 1),
            Event::Close(_) if levels == 1 => {
                out.push(b'\n');
                self.path.pass();
                ReadState::Nothing
            }
            Event::Close(_) => ReadState::Deep(levels - 1),
            _ => return,
        };
    }
}
