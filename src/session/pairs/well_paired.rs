//! Tells in one pass that calls and results certainly need no repair, as
//! `lib/pairs/well_paired.ts` does: the results of a turn's calls follow at once. It leaves all
//! that is unusual to a repair that writes nothing.

use std::collections::{HashMap, HashSet};

use super::parts::{ListIndexes, MessageParts, is_model};
use super::reading::{DialectFinder, RowLayout, is_apart};
use crate::dialect::{CallPaths, PairRules};
use crate::hash::hash;
use crate::json::Value;
use crate::session::row_format::RowEntry;
use crate::session::rows::Row;

#[derive(Debug, Default)]
pub struct WellPaired {
    finder: DialectFinder,
    rules: Option<&'static PairRules>,
    /// Messages before the dialect was known.
    messages: u64,
    /// The rows that others follow, and those with an id.
    followed: HashSet<u64>,
    known: HashSet<u64>,
    /// The calls whose results are to come, by what pairs them.
    due: HashMap<u64, u32>,
    /// The ids of all calls or, where they are used again, of those of the turn.
    used: HashSet<u64>,
    /// The ids of calls that the provider runs.
    hosted: HashSet<u64>,
    is_after_model: bool,
    is_after_user: bool,
    /// Calls and results are not one to one and in order, or not all on one branch.
    is_odd: bool,
}

impl WellPaired {
    /// Returns true if a repair may have something to do.
    pub fn is_odd(&self) -> bool {
        self.is_odd || !self.due.is_empty()
    }

    pub fn take(&mut self, row: &Row, entry: &RowEntry) {
        if self.is_odd || entry.is_aside() {
            return;
        }
        let named = |name: &str| entry.root.get(name).and_then(Value::string).map(|id| hash(id.as_bytes()));
        if row.format.is_tree() {
            let is_fork = named("parentId").is_some_and(|parent| !self.followed.insert(parent));
            self.is_odd |= is_fork || entry.root.get("targetId").or(entry.root.get("appendMode")).is_some();
        }
        if let Some([id, _]) = entry.layout().and_then(|layout| layout.chain.as_ref()) {
            self.is_odd |= named(id).is_some_and(|id| !self.known.insert(id));
        }
        for message in entry.messages.iter().copied() {
            self.finder.take(message, entry.layout());
            // Rows of another kind are not of the history.
            let found = self.finder.found();
            if found.is_some_and(|(_, layout)| layout != entry.layout()) {
                continue;
            }
            let found = found.map(|(rules, _)| rules);
            // Results before any call, or calls of two dialects.
            self.is_odd |=
                self.rules.is_some_and(|rules| found.is_some_and(|found| found.name != rules.name));
            self.rules = found;
            let Some(rules) = found else {
                self.messages += 1;
                continue;
            };
            self.is_odd |= rules.alternates && self.messages > 1;
            self.messages = 0;
            self.take_message(rules, message, entry.layout());
        }
    }

    fn take_message(&mut self, rules: &'static PairRules, message: Value, layout: RowLayout) {
        let is_row = layout.is_some_and(|layout| layout.chain.is_some());
        let MessageParts { calls, dialect, answers } = MessageParts::of(rules, message);
        if rules.are_one {
            self.is_odd |= calls.iter().any(|(kind, call)| kind.lacks_result(*call));
            return;
        }
        let (has_calls, is_model) = (!calls.is_empty(), is_model(message));
        if has_calls {
            // The calls of a turn wait together; the calls of the turn before have their results.
            let is_one_turn = rules.has_turns && !is_apart(layout);
            let is_same = self.is_after_model && is_one_turn || rules.anywhere;
            self.is_odd |= !is_same && !self.due.is_empty();
            if !rules.unique && !is_same {
                self.used.clear();
            }
        }
        calls.into_iter().for_each(|(kind, call)| self.take_call(rules, kind, call, is_row));
        let mut blocks = ListIndexes::default();
        let is_paired = dialect.is_some_and(|dialect| dialect.is_paired && dialect.name == rules.name);
        self.is_odd |= answers.is_empty() && is_paired || has_calls && !answers.is_empty() && !is_model;
        let (count, mut leads) = (answers.len(), true);
        for (answer, nth) in answers.into_iter().zip(0..) {
            let Some(dialect) = dialect else { continue };
            let (id, tool) = (dialect.id.first_text(answer), dialect.tool.first_text(answer));
            if is_model {
                let own = id.map(|id| hash(id.as_bytes()));
                self.is_odd |= !own.is_some_and(|id| self.hosted.remove(&id));
                continue;
            }
            self.is_odd |= rules.names && tool.as_ref().is_none_or(|tool| tool.trim().is_empty());
            let key = key(rules, id.as_ref(), tool);
            match self.due.get_mut(&key) {
                Some(1) => _ = self.due.remove(&key),
                Some(count) => *count -= 1,
                None => self.is_odd = true,
            }
            leads &= blocks.index(message, answer).unwrap_or(0) == nth;
        }
        let list = Some(message)
            .filter(|_| rules.has_turns && !is_model)
            .and_then(|message| message.get(&rules.list));
        let length = list.map_or(0, |list| list.elements().count());
        let is_answer = count > 0 && !is_model;
        // All blocks are results, or these are the last that were due, and lead.
        self.is_odd |= is_answer && list.is_some() && !leads;
        self.is_odd |= is_answer && length > count && !self.due.is_empty();
        let is_of_user = !rules.list.is_empty() && message.get("role").and_then(Value::string) == rules.role;
        let is_model_turn = has_calls || is_model && rules.has_turns;
        let is_user_turn = !is_model_turn && (is_answer || is_of_user);
        self.is_odd |=
            rules.alternates && (is_model_turn && self.is_after_model || is_user_turn && self.is_after_user);
        (self.is_after_model, self.is_after_user) = (is_model_turn, is_user_turn);
        // Due results come before everything else, except more calls where items follow each other.
        let may_come = is_answer || has_calls || rules.anywhere || is_model_turn && rules.has_turns;
        self.is_odd |= !may_come && !self.due.is_empty();
    }

    fn take_call(&mut self, rules: &PairRules, kind: &CallPaths, call: Value, is_row: bool) {
        let id = kind.id.first_text(call);
        let of_id = id.as_ref().map(|id| hash(id.as_bytes()));
        if kind.result.is_none() {
            self.is_odd |= !is_row;
            self.hosted.extend(of_id);
            return;
        }
        let is_named = id.is_some() || rules.named || !kind.has_ids;
        let is_free = of_id.is_none_or(|id| self.used.insert(id));
        self.is_odd |=
            !is_named || !is_free || id.as_ref().is_some_and(|id| id.is_empty() || !rules.takes(id));
        *self.due.entry(key(rules, id.as_ref(), kind.tool_of(call))).or_default() += 1;
    }
}

/// Returns what a call and its result have in common.
fn key(rules: &PairRules, id: Option<&String>, tool: Option<String>) -> u64 {
    let tool = tool.filter(|_| rules.named).unwrap_or_default();
    hash([id.map_or("", String::as_str), "\n", &tool].concat().as_bytes())
}
