//! The calls and the results in a message of a session.
//!
//! A result is an object that has the form of one, whatever it holds: an image, an empty list, or
//! nothing. The same rule tells `triage.rs` which sessions a repair may change.

use std::collections::HashMap;
use std::rc::Rc;

use crate::dialect::table::Dialect;
use crate::dialect::{CallPaths, PairRules, Table, ToolResult};
use crate::hash::hash;
use crate::json::{Literal, Value};
use crate::pairs::records::{Answer, Call, Message, Records};
use crate::pairs::stand_in::{MISSING, ResultMerit};
use crate::session::edits::block_of;
use crate::session::rewrite_row::texts_of;

/// The calls of a message, with their kinds, and its results.
#[derive(Debug)]
pub struct MessageParts<'d> {
    pub calls: Vec<(&'static CallPaths, Value<'d>)>,
    pub dialect: Option<&'static Dialect>,
    pub answers: Vec<Value<'d>>,
}

impl<'d> MessageParts<'d> {
    pub fn of(rules: &'static PairRules, message: Value<'d>) -> MessageParts<'d> {
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
        MessageParts { calls, dialect, answers }
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

impl Records {
    /// Takes the next message, which is the `nth` of its row.
    pub fn push(&mut self, row: u64, nth: u32, message: Value, parts: &MessageParts) {
        let (rules, at) = (self.rules, self.messages.len());
        let MessageParts { calls, dialect, answers } = parts;
        let (first_call, first_answer) = (self.calls.len(), self.answers.len());
        let is_model = is_model(message);
        let mut blocks = ListIndexes::default();
        let waiting: Vec<String> = match calls.is_empty() {
            true => vec![],
            false => rules.waiting.ends(message).into_iter().filter_map(Value::string).collect(),
        };
        for (kind, call) in calls.iter().copied() {
            let id = kind.id.first_text(call);
            let may_wait = id.as_ref().is_some_and(|id| waiting.contains(id));
            let (index, tool) = (blocks.index(message, call), kind.tool_of(call));
            self.calls.push(Call {
                may_wait,
                is_open: kind.lacks_result(call),
                ..Call::new(kind, at, index, id.map(Rc::from), tool.map(Rc::from))
            });
        }
        for (answer, dialect) in answers.iter().copied().zip(dialect.iter().copied().cycle()) {
            let (id, tool) = (dialect.id.first_text(answer), dialect.tool.first_text(answer));
            let said = ToolResult::read(dialect, answer, false).map(|result| said(&result));
            let index = blocks.index(message, answer);
            self.answers.push(Answer {
                is_hosted: is_model,
                ..Answer::new(at, index, id.map(Rc::from), tool.map(Rc::from), said.unwrap_or_default())
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

/// Returns what a result says.
fn said(result: &ToolResult) -> ResultMerit {
    let texts = texts_of(result);
    let may_be_short = ResultMerit::may_be_short(texts.iter().map(Literal::len).sum());
    let text = may_be_short.then(|| texts.iter().map(Literal::string).collect::<Vec<_>>().join("\n"));
    ResultMerit::of(text.as_deref(), result.is_error(), MISSING)
}

/// The indexes of the elements of the lists of a message. Each list is counted once.
#[derive(Debug, Default)]
pub struct ListIndexes {
    lists: HashMap<u32, HashMap<u32, u32>>,
}

impl ListIndexes {
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
