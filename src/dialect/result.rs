//! A tool result found in a row.

use super::path::{As, End, Paths};
use super::table::Dialect;
use super::unread;
use crate::json::{Literal, Value, without_controls};

/// A place that holds text for the model.
#[derive(Clone, Debug)]
pub struct Slot<'d> {
    pub value: Value<'d>,
    /// The form of replacement text if the value is JSON; [`As::Encoded`] for a string that
    /// contains JSON.
    pub json: Option<As>,
    /// The members of `value` that form the slot, if it is unread data of an object.
    pub members: Vec<Value<'d>>,
}

impl<'d> Slot<'d> {
    /// Returns true for data that no path reads.
    pub fn is_rest(&self) -> bool {
        self.json == Some(As::Rest)
    }

    /// Returns the JSON of the slot's data. Unread members are returned as one object.
    pub fn json(&self) -> String {
        if self.members.is_empty() {
            return self.value.compact();
        }
        let name = |member: &Value| member.name().map_or(String::new(), Value::compact);
        let member = |member: &Value| format!("{}:{}", name(member), member.compact());
        let members: Vec<String> = self.members.iter().map(member).collect();
        format!("{{{}}}", members.join(","))
    }

    /// Returns the text as the model sees it: a string, or the JSON of data.
    pub fn text(&self) -> Literal<'d> {
        match self.json {
            None | Some(As::Encoded) => Literal::of(self.value.source()),
            _ => without_controls(self.json()).into(),
        }
    }

    /// Returns the values that the slot replaces.
    pub fn values(&self) -> &[Value<'d>] {
        if self.members.is_empty() { std::slice::from_ref(&self.value) } else { &self.members }
    }
}

#[derive(Debug)]
pub struct ToolResult<'d> {
    pub dialect: &'static Dialect,
    pub object: Value<'d>,
    pub slots: Vec<Slot<'d>>,
    /// Has a text or a known block; a call still waiting for its result has neither.
    pub is_filled: bool,
}

impl<'d> ToolResult<'d> {
    /// Reads the result at `object`. With `blocks`, returns `None` unless a block is of a known
    /// type.
    pub fn read(dialect: &'static Dialect, object: Value<'d>, blocks: bool) -> Option<Self> {
        let mut read = vec![];
        let known = dialect.slots.follow(object, &mut |paths, value| {
            let slot = slot_at(paths, value);
            let is_slot = slot.is_some();
            read.extend(slot);
            is_slot
        });
        // For an array, every element must be of a known type.
        if blocks && known < object.elements().count().max(1) {
            return None;
        }
        let is_filled = known > 0 || !read.is_empty();
        let slots = unread::add(&dialect.known, object, read);
        Some(ToolResult { dialect, object, slots, is_filled })
    }

    /// Returns true if an error flag is set. `error: null` means success.
    pub fn is_error(&self) -> bool {
        self.dialect.error.ends(self.object).into_iter().any(is_failure)
    }

    pub fn id(&self) -> Option<String> {
        self.dialect.id.first_text(self.object)
    }

    pub fn tool(&self) -> Option<String> {
        self.dialect.tool.first_text(self.object)
    }

    /// Returns the copies of the text that do not reach the model.
    pub fn side_data(&self) -> Vec<Value<'d>> {
        self.dialect.side.ends(self.object)
    }

    /// Returns the second copy that a class keeps of its members.
    pub fn copy(&self) -> Option<Value<'d>> {
        self.object.get(self.dialect.copy.as_deref()?).filter(|copy| copy.is_object())
    }
}

/// Returns true if the value of an `error` member means failure.
pub fn is_failure(error: Value) -> bool {
    !matches!(error.source(), b"null" | b"false" | b"\"\"")
}

fn slot_at<'d>(paths: &Paths, value: Value<'d>) -> Option<Slot<'d>> {
    let json = match paths.end? {
        End::Json(As::Encoded) if value.text().is_some() => Some(As::Encoded),
        _ if value.text().is_some() => None,
        End::Json(how) if value.is_container() && !is_read(paths, value) => Some(how),
        _ => return None,
    };
    Some(Slot { value, json, members: vec![] })
}

/// Returns true if other paths read every member of an object, or if it is a result with a known
/// block.
fn is_read(paths: &Paths, value: Value) -> bool {
    let blocks = paths.members.iter().find(|(name, _)| name == "content").map(|(_, paths)| paths);
    let content = value.get("content").filter(|content| content.is_list());
    if blocks.zip(content).is_some_and(|(blocks, content)| blocks.follow(content, &mut |_, _| true) > 0) {
        return true;
    }
    let known = |member: Value| paths.members.iter().any(|(name, _)| member.is_named(name));
    let mut members = value.members().peekable();
    members.peek().is_some() && members.all(known)
}
