//! The messages of a history, its calls and its results, as small records in their order.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::stand_in::ResultMerit;
use crate::dialect::CallPaths;
use crate::dialect::PairRules;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSide {
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

impl Call {
    pub fn new(
        kind: &'static CallPaths,
        at: usize,
        index: Option<u32>,
        id: Option<Rc<str>>,
        tool: Option<Rc<str>>,
    ) -> Call {
        Call {
            at,
            index,
            id,
            tool,
            id_name: &kind.id_name,
            has_ids: kind.has_ids,
            has_template: kind.result.is_some(),
            may_wait: false,
            is_open: false,
            answer: None,
            is_replaced: false,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    pub at: usize,
    pub index: Option<u32>,
    pub id: Option<Rc<str>>,
    pub tool: Option<Rc<str>>,
    /// Stands in the model's own turn, since the provider ran the tool.
    pub is_hosted: bool,
    pub said: ResultMerit,
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

impl Answer {
    pub fn new(
        at: usize,
        index: Option<u32>,
        id: Option<Rc<str>>,
        tool: Option<Rc<str>>,
        said: ResultMerit,
    ) -> Answer {
        Answer {
            at,
            index,
            id,
            // No provider accepts a blank name.
            tool: tool.filter(|tool| !tool.trim().is_empty()),
            is_hosted: false,
            said,
            call: None,
            is_duplicate: false,
            stood_in: false,
            is_late: false,
            stays: false,
        }
    }
}

#[derive(Debug)]
pub struct Records {
    pub rules: &'static PairRules,
    /// The results of each message with calls come before the next one.
    pub is_apart: bool,
    pub messages: Vec<Message>,
    pub calls: Vec<Call>,
    pub answers: Vec<Answer>,
}

impl Records {
    pub fn of(rules: &'static PairRules, is_apart: bool) -> Records {
        Records { rules, is_apart, messages: vec![], calls: vec![], answers: vec![] }
    }

    /// Returns the calls that hold their results and have none, each with true if another part of
    /// the call follows: a program stores a call when it is made, and once more with its result.
    pub fn open_calls(&self) -> impl Iterator<Item = (usize, bool)> {
        let ids = self.calls.iter().enumerate().filter_map(|(nth, call)| Some((call.id.clone()?, nth)));
        let last: HashMap<Rc<str>, usize> = ids.collect();
        self.calls.iter().enumerate().filter(|(_, call)| call.is_open).map(move |(nth, call)| {
            let is_again = call.id.as_ref().is_some_and(|id| last.get(id) != Some(&nth));
            (nth, is_again)
        })
    }
}
