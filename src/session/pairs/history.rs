//! The calls and the results of a session, as small records in the order of its messages.
//!
//! A result is an object that has the form of one, whatever it holds: an image, an empty list, or
//! nothing. The same rule tells `triage.rs` which sessions a repair may change.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::stand_in::Said;
use crate::dialect::table::Dialect;
use crate::dialect::{CallPaths, PairRules, Table, ToolResult};
use crate::hash::hash;
use crate::json::Value;
use crate::session::edits::block_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Model,
    Answer,
    Other,
}

/// A message of the history.
#[derive(Clone, Debug)]
pub struct Message {
    /// The number of its row, and its place among the messages of that row.
    pub row: u64,
    pub nth: u32,
    pub calls: Range<usize>,
    pub answers: Range<usize>,
    /// The hash of its role.
    pub role: Option<u64>,
    /// The number of its blocks, `None` if they are not a list.
    pub blocks: Option<u32>,
    /// Its list is a text, which counts as one block of words.
    pub is_text: bool,
    /// Must be followed by a call.
    pub leads: bool,
    pub is_model: bool,
}

impl Message {
    /// Returns the number of its blocks, one for a message without a list.
    pub fn size(&self) -> u32 {
        self.blocks.unwrap_or(1)
    }
}

#[derive(Clone, Debug)]
pub struct Call {
    pub at: usize,
    /// The index of its block in the list of its message, `None` if it is in no list.
    pub index: Option<u32>,
    pub id: Option<Rc<str>>,
    pub tool: Option<Rc<str>>,
    /// The member with its id.
    pub id_name: &'static str,
    pub has_ids: bool,
    /// A text can answer it.
    pub has_template: bool,
    /// Waits for a person.
    pub may_wait: bool,
    /// Holds its result, which is missing.
    pub is_open: bool,
    /// The index of its result.
    pub answer: Option<usize>,
    /// Its result replaced one that stood in for it.
    pub is_replaced: bool,
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub at: usize,
    pub index: Option<u32>,
    pub id: Option<Rc<str>>,
    pub tool: Option<Rc<str>>,
    /// Stands in the model's own turn, since the provider ran the tool.
    pub is_hosted: bool,
    pub said: Said,
    /// The index of its call.
    pub call: Option<usize>,
    /// Its call has another result, which is kept.
    pub is_duplicate: bool,
    /// It stood in for the other.
    pub stood_in: bool,
    /// Its turn has anything but results before it.
    pub is_late: bool,
    /// Stays where it is without a call: that is in a part of the session which is not sent.
    pub stays: bool,
}

#[derive(Debug)]
pub struct History {
    pub rules: &'static PairRules,
    pub messages: Vec<Message>,
    pub calls: Vec<Call>,
    pub answers: Vec<Answer>,
}

/// The calls of a message, with their kinds, and its results.
#[derive(Debug)]
pub struct Parts<'d> {
    pub calls: Vec<(&'static CallPaths, Value<'d>)>,
    pub dialect: Option<&'static Dialect>,
    pub answers: Vec<Value<'d>>,
}

impl<'d> Parts<'d> {
    pub fn of(rules: &'static PairRules, message: Value<'d>) -> Parts<'d> {
        let found = if rules.are_one { None } else { Table::get().result_objects(message) };
        let (dialect, mut answers) = found.map_or((None, vec![]), |(dialect, all)| (Some(dialect), all));
        let mut calls = rules.calls(message);
        // Calls of some hosted tools hold their results.
        let is_both = |calls: &[(_, Value)], answers: &[Value]| {
            let whole: Vec<u32> = answers.iter().map(|answer| answer.id()).collect();
            calls.iter().any(|(_, call): &(_, Value)| whole.binary_search(&call.id()).is_ok())
        };
        if !calls.is_empty() && is_both(&calls, &answers) {
            let called: Vec<u32> = calls.iter().map(|(_, call)| call.id()).collect();
            let whole: Vec<u32> = answers.iter().map(|answer| answer.id()).collect();
            calls.retain(|(_, call)| whole.binary_search(&call.id()).is_err());
            answers.retain(|answer| called.binary_search(&answer.id()).is_err());
        }
        let is_own = |dialect: &Dialect| {
            dialect.is_paired
                && (dialect.name == rules.name || rules.list.is_empty() && !has_home(&dialect.name))
        };
        if !dialect.is_some_and(is_own) {
            answers.clear();
        }
        let is_model = is_model(message);
        answers.retain(|answer| {
            let is_named =
                dialect.is_some_and(|of| of.id.first_text(*answer).or(of.tool.first_text(*answer)).is_some());
            is_named || !is_model && rules.is_message(message)
        });
        Parts { calls, dialect, answers }
    }
}

/// Returns true if the results of a dialect are blocks of a message.
fn has_home(name: &str) -> bool {
    Table::get().pair_rules().iter().any(|rules| rules.name == name && rules.home.is_some())
}

/// Returns the hash of the role of a message.
fn role_of(message: Value) -> Option<u64> {
    message.get("role").and_then(Value::string).map(|role| hash(role.as_bytes()))
}

pub fn is_model(message: Value) -> bool {
    message.get("role").is_some_and(|role| role.is("assistant") || role.is("model"))
}

impl History {
    pub fn of(rules: &'static PairRules) -> History {
        History { rules, messages: vec![], calls: vec![], answers: vec![] }
    }

    /// Takes the next message, which is the `nth` of its row.
    pub fn push(&mut self, row: u64, nth: u32, message: Value, parts: &Parts) {
        let (rules, at) = (self.rules, self.messages.len());
        let Parts { calls, dialect, answers } = parts;
        let (first_call, first_answer) = (self.calls.len(), self.answers.len());
        let is_model = is_model(message);
        let mut blocks = Blocks::default();
        let waiting: Vec<String> = match calls.is_empty() {
            true => vec![],
            false => rules.waiting.ends(message).into_iter().filter_map(Value::string).collect(),
        };
        for (kind, call) in calls.iter().copied() {
            let id = kind.id.first_text(call);
            self.calls.push(Call {
                at,
                index: blocks.index(message, call),
                may_wait: id.as_ref().is_some_and(|id| waiting.contains(id)),
                id: id.map(Rc::from),
                tool: kind.tool_of(call).map(Rc::from),
                id_name: &kind.id_name,
                has_ids: kind.has_ids,
                has_template: kind.result.is_some(),
                is_open: kind.lacks_result(call),
                answer: None,
                is_replaced: false,
            });
        }
        for (answer, dialect) in answers.iter().copied().zip(dialect.iter().copied().cycle()) {
            let tool = dialect.tool.first_text(answer).filter(|tool| !tool.trim().is_empty());
            let said = ToolResult::read(dialect, answer, false).map(|result| Said::of(&result));
            self.answers.push(Answer {
                at,
                index: blocks.index(message, answer),
                id: dialect.id.first_text(answer).map(Rc::from),
                tool: tool.map(Rc::from),
                is_hosted: is_model,
                said: said.unwrap_or_default(),
                call: None,
                is_duplicate: false,
                stood_in: false,
                is_late: false,
                stays: false,
            });
        }
        let list = Some(&rules.list).filter(|list| !list.is_empty()).and_then(|list| message.get(list));
        self.messages.push(Message {
            row,
            nth,
            calls: first_call..self.calls.len(),
            answers: first_answer..self.answers.len(),
            role: role_of(message),
            blocks: list.filter(|list| list.is_list()).map(|list| list.elements().count() as u32),
            is_text: list.is_some_and(|list| list.text().is_some_and(|text| !text.is_empty())),
            leads: rules.before.leads(message),
            is_model,
        });
    }
}

/// The indexes of the elements of the lists of a message. Each list is counted once.
#[derive(Debug, Default)]
pub struct Blocks {
    lists: HashMap<u32, HashMap<u32, u32>>,
}

impl Blocks {
    /// Returns the index of the block of a message that holds a value.
    pub fn index(&mut self, message: Value, value: Value) -> Option<u32> {
        let block = block_of(message, value)?;
        let list = block.parent()?;
        let known = self
            .lists
            .entry(list.id())
            .or_insert_with(|| list.elements().map(|element| element.id()).zip(0..).collect());
        known.get(&block.id()).copied()
    }
}
