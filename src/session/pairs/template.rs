//! JSON of a template, with places for what is known later: the ids of a new row and of the row
//! before it, and the blocks of a message.

use crate::dialect::Template;
use crate::json::string;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    Parent,
    New,
    Blocks,
}

#[derive(Clone, Debug, Default)]
pub struct Filled {
    pub json: String,
    holes: Vec<(usize, Hole)>,
}

impl Filled {
    pub fn plain(json: String) -> Filled {
        Filled { json, holes: vec![] }
    }

    /// Returns a row in which the id of the row before it stands at a place.
    pub fn row(before: &str, after: &str) -> Filled {
        Filled { json: [before, after].concat(), holes: vec![(before.len(), Hole::Parent)] }
    }

    /// Fills a template. `of` returns the JSON of a name; a member without is omitted.
    pub fn of(template: &Template, of: &dyn Fn(&str) -> Option<Filled>) -> Filled {
        let mut filled = Filled::default();
        filled.write(template, of);
        filled
    }

    fn write(&mut self, template: &Template, of: &dyn Fn(&str) -> Option<Filled>) -> bool {
        let mut leave = |hole| self.holes.push((self.json.len(), hole));
        match template {
            Template::String(text) if text == "$parent" => leave(Hole::Parent),
            Template::String(text) if text == "$new" => leave(Hole::New),
            Template::String(text) if text == "$blocks" => leave(Hole::Blocks),
            Template::String(text) if text.starts_with('$') => match of(&text[1..]) {
                Some(filled) => self.append(&filled),
                None => return false,
            },
            Template::Array(elements) => {
                self.json.push('[');
                for (at, element) in elements.iter().enumerate() {
                    self.json.push_str(if at > 0 { "," } else { "" });
                    self.write(element, of);
                }
                self.json.push(']');
            }
            Template::Object(members) => {
                self.json.push('{');
                for (name, member) in members {
                    let length = self.json.len();
                    self.name(name);
                    if !self.write(member, of) {
                        self.json.truncate(length);
                    }
                }
                self.json.push('}');
            }
            other => self.json += &other.to_string(),
        }
        true
    }

    fn name(&mut self, name: &str) {
        self.json += if self.json.ends_with('{') { "" } else { "," };
        self.json += &string(name);
        self.json.push(':');
    }

    fn append(&mut self, other: &Filled) {
        let length = self.json.len();
        self.holes.extend(other.holes.iter().map(|(at, hole)| (at + length, *hole)));
        self.json += &other.json;
    }

    /// Adds members to the object that it is.
    pub fn add(&mut self, members: &[(String, String)]) {
        for (name, json) in members {
            self.json.pop();
            self.name(name);
            self.json += json;
            self.json.push('}');
        }
    }

    /// Returns the JSON with blocks in their place.
    pub fn with_blocks(&self, blocks: &[String]) -> Filled {
        self.filled(|hole| (hole == Hole::Blocks).then(|| format!("[{}]", blocks.join(","))))
    }

    /// Returns the JSON with the id of the row before it, and its own.
    pub fn with_ids(&self, parent: Option<&str>, new: &str) -> String {
        let id = |hole| match hole {
            Hole::Parent => Some(parent.map_or("null".to_owned(), string)),
            Hole::New => Some(string(new)),
            Hole::Blocks => None,
        };
        self.filled(id).json
    }

    fn filled(&self, of: impl Fn(Hole) -> Option<String>) -> Filled {
        let (mut filled, mut from) = (Filled::default(), 0);
        let mut holes = self.holes.clone();
        holes.sort_unstable_by_key(|(at, _)| *at);
        for (at, hole) in holes {
            filled.json += &self.json[from..at];
            match of(hole) {
                Some(json) => filled.json += &json,
                None => filled.holes.push((filled.json.len(), hole)),
            }
            from = at;
        }
        filled.json += &self.json[from..];
        filled
    }
}

/// Returns true for a text of a form in which ids are made: a UUID, or eight hexadecimal digits.
pub fn is_id(text: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match (text.len(), at) {
        (36, 8 | 13 | 18 | 23) => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    matches!(text.len(), 8 | 36) && text.bytes().enumerate().all(is_digit)
}

/// Returns an id of the form that the row before has: a UUID, or eight hexadecimal digits.
pub fn new_id(row: &str, salt: &str) -> String {
    let bits = |side: &str| crate::hash::hash([side, row, "\n", salt].concat().as_bytes());
    let digits = format!("{:016x}{:016x}", bits("a"), bits("b"));
    if row.len() != 36 {
        return digits[..8].to_owned();
    }
    let [one, two, three, four, five] =
        [&digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..]];
    format!("{one}-{two}-4{three}-8{four}-{five}")
}
