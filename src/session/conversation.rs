//! The messages of a document, in the list to which its host appends.
//!
//! A host writes the whole document anew for each message, in its own spelling. So documents are
//! compared by the values of their messages, and new messages are put into the text of the old one.

use std::io::Read;
use std::ops::Range;

use super::failure::Failure;
use super::fingerprint::Fingerprint;
use super::layout::Layout;
use super::note::Content;
use super::row_format::{RowEntry, RowFormat, mark_of};
use super::session_file::SessionFile;
use super::splice::Splices;
use crate::json::{Document, Value, digests, equal};

#[derive(Debug)]
pub struct Conversation {
    layout: &'static Layout,
    /// The document, without a byte order mark.
    text: Vec<u8>,
    mark: Vec<u8>,
    /// The messages, or the document itself if it has no list of them, with their digests.
    messages: Vec<(Range<usize>, u128)>,
}

impl Conversation {
    /// Reads a session that is a document.
    pub fn read(session: &SessionFile) -> Result<Option<Conversation>, Failure> {
        let Some(layout) = session.document else { return Ok(None) };
        let mut text = vec![];
        session.from(0, |mut file| Ok(file.read_to_end(&mut text)?))?;
        let rest = text.split_off(mark_of(&text));
        Ok(Conversation::of(layout, text, rest))
    }

    fn of(layout: &'static Layout, mark: Vec<u8>, text: Vec<u8>) -> Option<Conversation> {
        let document = Document::parse(&text)?;
        let (root, known) = (document.root(), digests(&document));
        let part = |value: Value| (value.start()..value.end(), known[value.id() as usize]);
        let messages = match list_in(root, layout) {
            Some(list) => list.elements().map(part).collect(),
            None => vec![part(root)],
        };
        Some(Conversation { layout, mark, messages, text })
    }

    /// Returns the bytes of the document.
    pub fn into_bytes(self) -> Vec<u8> {
        [self.mark, self.text].concat()
    }

    /// Returns the number of the messages, and a digest of their values.
    pub fn content(&self) -> Content {
        self.first(self.messages.len())
    }

    fn first(&self, count: usize) -> Content {
        let mut all = Fingerprint::default();
        self.messages[..count].iter().for_each(|(_, digest)| all.push(&digest.to_le_bytes()));
        Content::of(count as u64, all.digest())
    }

    /// Returns true if the conversation begins with these messages.
    pub fn begins_with(&self, messages: &Content) -> bool {
        let count = usize::try_from(messages.length).ok().filter(|count| *count <= self.messages.len());
        count.is_some_and(|count| self.first(count) == *messages)
    }

    /// Returns the JSON of the messages from a number on.
    pub fn from(&self, number: u64) -> Vec<Vec<u8>> {
        let all = self.messages.iter().skip(usize::try_from(number).unwrap_or(usize::MAX));
        all.map(|(place, _)| self.text[place.clone()].to_vec()).collect()
    }

    /// Returns this document with messages added, and with the members around its messages that
    /// `new` has other than `old`. Also returns their names.
    pub fn with(
        &self,
        messages: &[Vec<u8>],
        old: &Conversation,
        new: &Conversation,
    ) -> Option<(Conversation, Vec<String>)> {
        let own = Document::parse(&self.text)?;
        let (old, new) = (Document::parse(&old.text)?, Document::parse(&new.text)?);
        let list = list_in(own.root(), self.layout);
        let (mut splices, mut names) = (Splices::default(), vec![]);
        if let Some(list) = list {
            let mut at = [own.root(), old.root(), new.root()];
            for name in path_to(list) {
                take_members(&mut splices, at, &name, &mut names);
                let [own, old, new] = at.map(|object| object.get(&name));
                at = [own?, old?, new?];
            }
            let json = |message: &Vec<u8>| String::from_utf8_lossy(message).into_owned();
            messages.iter().for_each(|message| splices.push(list, json(message)));
        } else if !messages.is_empty() {
            return None;
        }
        let made = Conversation::of(self.layout, self.mark.clone(), splices.written_row(own.root()))?;
        Some((made, names))
    }
}

/// Returns the outermost list that holds messages.
fn list_in<'d>(root: Value<'d>, layout: &'static Layout) -> Option<Value<'d>> {
    let entry = RowEntry::of(root, RowFormat::of_document(layout));
    let above = std::iter::successors(entry.messages.first().copied(), |value| value.parent());
    above.filter(|value| value.is_list()).last()
}

/// Returns the names that lead from the root to a value.
fn path_to(value: Value) -> Vec<String> {
    let above = std::iter::successors(Some(value), |value| value.parent());
    let mut names: Vec<String> = above.filter_map(|value| value.name()?.string()).collect();
    names.reverse();
    names
}

/// Has an object take all members but one that differ between two others, and tells the names of
/// those that become others by that.
fn take_members(splices: &mut Splices, [own, old, new]: [Value; 3], but: &str, names: &mut Vec<String>) {
    let named = |member: Value| member.name().and_then(Value::string).filter(|name| name != but);
    for member in new.members() {
        let Some(name) = named(member) else { continue };
        let has = |object: Value| object.get(&name).is_some_and(|other| equal(other, member));
        if !has(old) && !has(own) {
            splices.set(own, &name, String::from_utf8_lossy(member.source()).into_owned());
            names.push(name);
        }
    }
    for member in own.members() {
        let is_gone = |name: &String| old.get(name).is_some() && new.get(name).is_none();
        let Some(name) = named(member).filter(is_gone) else { continue };
        splices.remove(member);
        names.push(name);
    }
}
