//! A tool result found in a row.

use std::borrow::Cow;

use super::object::Object;
use super::path::{As, End, Follower, Found, InList};
use super::rest;
use super::table::Row;
use crate::json::members::{Member, elements, members};
use crate::json::scan::Span;
use crate::json::{Kind, Literal};

/// A place that holds text for the model.
#[derive(Clone, Debug)]
pub struct Slot {
    pub value: Span,
    /// The containing object or list, and the member if it is an object.
    pub holder: Span,
    pub member: Option<Member>,
    /// The form of replacement text if the value is JSON; [`As::Encoded`] for a string that contains JSON.
    pub json: Option<As>,
    /// The model sees the JSON of this value, not a string.
    pub is_data: bool,
    /// The lists of the result that contain the slot, innermost last.
    pub lists: Vec<InList>,
    /// The members of `holder` that form the slot, if it is unread data of an object.
    pub members: Vec<Member>,
}

impl Slot {
    /// Returns the JSON of the slot's data. Unread members are returned as one object.
    pub fn source<'a>(&self, row: &'a [u8]) -> Cow<'a, [u8]> {
        if self.members.is_empty() {
            return self.value.of(row).into();
        }
        let member = |member: &Member| [member.key.of(row), b":", member.value.of(row)].concat();
        let members: Vec<Vec<u8>> = self.members.iter().map(member).collect();
        [b"{", &members.join(&b',')[..], b"}"].concat().into()
    }
}

#[derive(Debug)]
pub struct ToolResult<'t> {
    row: &'t Row,
    pub object: Object,
    pub slots: Vec<Slot>,
    /// Has a text or a known block; a call still waiting for its result has neither.
    pub is_filled: bool,
}

/// A copy of the text that does not reach the model, and its position.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub value: Span,
    pub holder: Span,
    pub member: Option<Member>,
}

impl<'t> ToolResult<'t> {
    /// Reads the result at `object`. With `blocks`, returns `None` unless a block is of a known type.
    pub fn read(follower: Follower, row: &'t Row, object: Object, blocks: bool) -> Option<Self> {
        let mut slots = vec![];
        let known = follower.follow(&row.slots, &object, &mut |found| match slot_at(follower, &found) {
            Some(json) => {
                let Found { value, holder, member, lists, .. } = found;
                let is_data = Kind::of(value.of(follower.row)) != Kind::String;
                let (lists, members) = (lists.to_vec(), vec![]);
                slots.push(Slot { value, holder, member, json, is_data, lists, members });
                true
            }
            None => false,
        });
        // For an array, every element must be of a known type.
        let least = match Kind::of(object.span.of(follower.row)) {
            Kind::Array => elements(follower.row, object.span).count().max(1),
            _ => 1,
        };
        let is_filled = known > 0 || !slots.is_empty();
        if blocks && known < least {
            return None;
        }
        let mut all = rest::of(follower, &row.known, &object, &slots);
        all.append(&mut slots);
        Some(ToolResult { row, object, slots: all, is_filled })
    }

    pub fn dialect(&self) -> &str {
        &self.row.name
    }

    /// Returns true if an error flag is set. `error: null` means success.
    pub fn is_error(&self, follower: Follower) -> bool {
        let mut failed = false;
        follower.follow(&self.row.error, &self.object, &mut |found| {
            failed |= is_failure(found.value.of(follower.row));
            found.paths.members.is_empty()
        });
        failed
    }

    pub fn id(&self, follower: Follower) -> Option<String> {
        follower.first_text(&self.row.id, &self.object)
    }

    pub fn tool(&self, follower: Follower) -> Option<String> {
        follower.first_text(&self.row.tool, &self.object)
    }

    /// Returns the copies of the text that do not reach the model.
    pub fn side(&self, follower: Follower) -> Vec<Side> {
        let mut side = vec![];
        follower.follow(&self.row.side, &self.object, &mut |found| {
            let Found { value, holder, member, .. } = found;
            side.push(Side { value, holder, member });
            found.paths.members.is_empty()
        });
        side
    }

    /// Returns the second copy that a class keeps of its members.
    pub fn copy(&self, follower: Follower) -> Option<Object> {
        let copy = self.object.get(self.row.copy?)?.value;
        Kind::of(copy.of(follower.row)).is_container().then(|| follower.object(copy))
    }
}

/// Returns true if the value of an `error` member means failure.
pub fn is_failure(error: &[u8]) -> bool {
    !matches!(error, b"null" | b"false" | b"\"\"")
}

/// Returns `None` if the value is not a slot, else its form of replacement text.
fn slot_at(follower: Follower, found: &Found) -> Option<Option<As>> {
    let row = follower.row;
    match (found.paths.end?, Kind::of(found.value.of(row))) {
        (End::Json(As::Encoded), Kind::String) => Some(Some(As::Encoded)),
        (_, Kind::String) => Some(None),
        (End::Json(how), kind) if kind.is_container() && !is_read(follower, found) => Some(Some(how)),
        _ => None,
    }
}

/// Returns true if other paths read every member of an object, or if it is a result with a known block.
fn is_read(follower: Follower, found: &Found) -> bool {
    let (row, paths) = (follower.row, found.paths);
    let below = |name: &[u8]| {
        let name = follower.names.find(name)?;
        paths.members.iter().find(|(known, _)| *known == name).map(|(_, paths)| paths)
    };
    let content = follower.get(&follower.object(found.value), "content");
    if let Some((blocks, content)) = below(b"content").zip(content)
        && Kind::of(content.of(row)) == Kind::Array
        && follower.follow(blocks, &follower.object(content), &mut |_| true) > 0
    {
        return true;
    }
    let known = |member: Member| below(Literal::of(member.key.of(row)).string().as_bytes()).is_some();
    let mut all = members(row, found.value).peekable();
    !paths.members.is_empty() && all.peek().is_some() && all.all(known)
}
