//! Changes within messages that move nothing: other ids, names of tools, and results that are
//! written into their calls.

use std::collections::{HashMap, HashSet};

use super::parts::MessageParts;
use super::template::Filled;
use crate::dialect::path::Paths;
use crate::dialect::{CallPaths, PairRules};
use crate::json::{Document, Value, string};
use crate::pairs::stand_in::MISSING;
use crate::session::edits::block_of;
use crate::session::splice::Splices;

/// The changes of one message, by the places of its calls and its results.
#[derive(Debug, Default)]
pub struct WordChanges {
    pub calls: HashMap<usize, String>,
    pub answers: HashMap<usize, AnswerWords>,
    /// Calls that get their result within.
    pub closes: bool,
    /// Open parts of calls that have another part later.
    pub gone: HashSet<usize>,
}

#[derive(Debug, Default)]
pub struct AnswerWords {
    pub id: Option<String>,
    pub tool: Option<String>,
    /// The member with the id of its call.
    pub id_name: Option<&'static str>,
}

impl WordChanges {
    /// Returns true if no block of a message stays.
    pub fn empties(&self, rules: &'static PairRules, message: Value) -> bool {
        let Some(first) = self.gone.iter().next() else { return false };
        let calls = MessageParts::of(rules, message).calls;
        let list = calls.get(*first).and_then(|(_, call)| block_of(message, *call)?.parent());
        list.is_some_and(|list| list.elements().count() == self.gone.len())
    }

    pub fn write(&self, splices: &mut Splices, rules: &'static PairRules, message: Value) {
        let MessageParts { calls, dialect, answers } = MessageParts::of(rules, message);
        let mut places = vec![message];
        for (nth, (kind, call)) in calls.into_iter().enumerate() {
            if self.gone.contains(&nth) {
                block_of(message, call).into_iter().for_each(|block| splices.remove(block));
                continue;
            }
            if self.closes && kind.lacks_result(call) {
                close(splices, kind, call, message);
            }
            if let Some(id) = self.calls.get(&nth) {
                set(splices, call, &kind.id, &kind.id_name, id);
                places.push(call);
            }
        }
        for (nth, answer) in answers.into_iter().enumerate() {
            let Some((AnswerWords { id, tool, id_name }, dialect)) = self.answers.get(&nth).zip(dialect)
            else {
                continue;
            };
            let names = &dialect.id_names;
            // Two dialects share results. A result that lacks its id gets it under the name that
            // its call has.
            let own = names.iter().find(|name| Some(&***name) == *id_name).or(names.first());
            if let Some(id) = id {
                set(splices, answer, &dialect.id, own.map_or("id", String::as_str), id);
            }
            if let Some(tool) = tool {
                set(
                    splices,
                    answer,
                    &dialect.tool,
                    dialect.tool_names.first().map_or("name", String::as_str),
                    tool,
                );
            }
            places.push(answer);
        }
        for place in places {
            let copy = rules.copy.as_ref().and_then(|copy| place.get(copy)).filter(|copy| copy.is_object());
            copy.into_iter().for_each(|copy| splices.mirror(place, copy));
        }
    }
}

/// Writes at the end of a path, or under a name if the path leads nowhere.
fn set(splices: &mut Splices, place: Value, paths: &Paths, name: &str, text: &str) {
    match paths.ends(place).first() {
        Some(end) => splices.replace(*end, string(text)),
        None => splices.set(place, name, string(text)),
    }
}

/// Returns the result of a call that says that it is missing.
pub fn missing(kind: &CallPaths, id: Option<&str>, call: Value, message: Value) -> Option<Filled> {
    let tool = kind.tool_of(call);
    let of = |name: &str| {
        let json = match name {
            "id" => string(id?),
            "tool" => string(tool.as_ref()?),
            "text" => string(MISSING),
            other => message.get(other)?.compact(),
        };
        Some(Filled::plain(json))
    };
    Some(Filled::of(kind.result.as_ref()?, &of))
}

/// Writes the result of a call into it. A name with a dot leads into a member.
fn close(splices: &mut Splices, kind: &CallPaths, call: Value, message: Value) {
    let Some(filled) = missing(kind, kind.id.first_text(call).as_deref(), call, message) else { return };
    let Some(document) = Document::parse(filled.json.as_bytes()) else { return };
    for member in document.root().members() {
        let name = member.name().and_then(Value::string).unwrap_or_default();
        let (holder, name) = match name.split_once('.') {
            Some((outer, inner)) => (call.get(outer), inner.to_owned()),
            None => (Some(call), name),
        };
        if let Some(holder) = holder {
            splices.set(holder, &name, member.compact());
        }
    }
}
