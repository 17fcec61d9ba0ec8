//! Finds the call of each result: by id, then by tool name, then by place.

use std::collections::HashMap;

use super::call_index::{CallIndex, CallMarks};
use super::records::{Answer, Call, Message, MessageSide, Records};
use crate::dialect::PairRules;
use crate::hash::hash;

/// Messages from `from` to before `to`, of one side.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub side: MessageSide,
    pub from: usize,
    pub to: usize,
}

/// A history whose results know their calls.
#[derive(Debug)]
pub struct Pairing {
    pub rules: &'static PairRules,
    /// The hash of the role of messages with results as blocks.
    pub role: Option<u64>,
    pub messages: Vec<Message>,
    pub calls: Vec<Call>,
    pub answers: Vec<Answer>,
    pub turns: Vec<Turn>,
    /// The index of the turn of each message.
    pub turn_of: Vec<usize>,
}

impl Pairing {
    pub fn of(records: Records) -> Pairing {
        let role = records.rules.role.as_ref().map(|role| hash(role.as_bytes()));
        let (turns, turn_of) = divided(&records, role);
        let Records { rules, messages, calls, answers, .. } = records;
        let mut pairing = Pairing { rules, role, messages, calls, answers, turns, turn_of };
        pairing.pair();
        if rules.has_turns {
            pairing.rank();
        }
        pairing
    }

    /// Finds the call before each result, in the latest turn that has an unanswered call. Results
    /// with the id of a call come first, so that no other result takes their call by its tool or
    /// its place.
    fn pair(&mut self) {
        let (with_ids, mut rest): (Vec<usize>, Vec<usize>) =
            (0..self.answers.len()).partition(|at| self.answers[*at].id.is_some());
        let left = self.pair_each(&with_ids, false);
        rest.extend(left.into_iter().filter(|at| self.answers[*at].id.as_deref() == Some("")));
        rest.sort_unstable();
        let mut rest = self.pair_each(&rest, true);
        rest.retain(|at| self.answers[*at].tool.is_none() && !self.answers[*at].is_hosted);
        self.pair_by_place(&rest);
    }

    /// Pairs results with neither id nor tool with the open calls of the turn before them, if both
    /// are as many.
    fn pair_by_place(&mut self, unmarked: &[usize]) {
        let mut by_turn: HashMap<usize, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for answer in unmarked {
            by_turn.entry(self.turn_of[self.answers[*answer].at]).or_default().1.push(*answer);
        }
        for (at, call) in self.calls.iter().enumerate() {
            if call.answer.is_none() && call.has_template && !by_turn.is_empty() {
                let turn = by_turn.get_mut(&(self.turn_of[call.at] + 1));
                turn.into_iter().for_each(|(calls, _)| calls.push(at));
            }
        }
        for (calls, answers) in by_turn.into_values().filter(|(calls, answers)| calls.len() == answers.len())
        {
            calls.into_iter().zip(answers).for_each(|(call, answer)| self.bind(call, answer));
        }
    }

    /// Pairs results, and returns the results without a call. `is_by_tool`: ignores their ids.
    fn pair_each(&mut self, answers: &[usize], is_by_tool: bool) -> Vec<usize> {
        if answers.is_empty() {
            return vec![];
        }
        let marks_of = |Answer { id, tool, is_hosted, .. }: &Answer| CallMarks {
            id: id.clone().filter(|_| !is_by_tool),
            tool: tool.clone(),
            is_hosted: *is_hosted,
        };
        let (rules, mut left) = (self.rules, vec![]);
        let mut known = CallIndex::new(rules);
        let mut next = 0;
        for answer in answers.iter().copied() {
            while let Some(call) = self.calls.get(next).filter(|call| call.at <= self.answers[answer].at) {
                known.add(next, call, self.turn_of[call.at]);
                next += 1;
            }
            let marks = marks_of(&self.answers[answer]);
            let open = known.open(&marks, &self.calls);
            let last = open.or_else(|| known.last(&marks));
            // An id is stronger than a name. The result then gets the name of its call.
            let call = match (last, &marks.id) {
                (None, Some(_)) => known.open(&CallMarks { tool: None, ..marks }, &self.calls),
                _ => open,
            };
            match (call, last) {
                (Some(call), _) => self.bind(call, answer),
                (None, Some(last)) => self.replace(last, answer),
                (None, None) => left.push(answer),
            }
        }
        for (at, call) in self.calls.iter().enumerate().skip(next) {
            known.add(at, call, self.turn_of[call.at]);
        }
        // A result before its call, if exactly one call fits.
        left.retain(|answer| {
            let marks = marks_of(&self.answers[*answer]);
            let sure = known
                .only(&marks)
                .filter(|call| self.calls[*call].answer.is_none() && !self.answers[*answer].is_hosted);
            if let Some(call) = sure {
                (self.calls[call].answer, self.answers[*answer].call) = (Some(*answer), Some(call));
            }
            sure.is_none()
        });
        left
    }

    /// Drops the second result of a call, unless the first stands in for a missing one.
    fn replace(&mut self, call: usize, answer: usize) {
        let first = self.calls[call].answer;
        match first.filter(|first| self.answers[*first].said.stands_in(self.answers[answer].said)) {
            Some(first) => {
                let stand_in = &mut self.answers[first];
                (stand_in.call, stand_in.is_duplicate, stand_in.stood_in) = (None, true, true);
                self.calls[call].is_replaced = true;
                self.bind(call, answer);
            }
            None => self.answers[answer].is_duplicate = true,
        }
    }

    fn bind(&mut self, call: usize, answer: usize) {
        (self.calls[call].answer, self.answers[answer].call) = (Some(answer), Some(call));
    }

    /// Marks the results that stand after something else in the user's turn.
    fn rank(&mut self) {
        let (mut turn, mut leads) = (usize::MAX, true);
        for (at, message) in self.messages.iter().enumerate() {
            if turn != self.turn_of[at] {
                (turn, leads) = (self.turn_of[at], true);
            }
            let own = &mut self.answers[message.answers.clone()];
            // Results lead up to the first block that is not one.
            let mut index = 0;
            for answer in own.iter_mut() {
                leads &= answer.index.unwrap_or(0) == index;
                answer.is_late = !leads;
                index += 1;
            }
            leads &= index == message.size();
        }
    }

    /// Returns true if a result stands where its provider wants it.
    pub fn is_in_place(&self, answer: &Answer) -> bool {
        let Some(call) = answer.call.map(|call| &self.calls[call]) else { return answer.stays };
        if answer.is_hosted {
            return answer.at >= call.at;
        }
        if self.rules.anywhere {
            return answer.at > call.at;
        }
        !answer.is_late && self.turn_of[answer.at] == self.turn_of[call.at] + 1
    }

    /// Returns true if a call lacks a result that can be inserted.
    pub fn lacks(&self, call: &Call) -> bool {
        match call.answer {
            Some(answer) => !self.is_in_place(&self.answers[answer]),
            None => call.has_template && !(call.may_wait && self.turn_of[call.at] + 2 >= self.turns.len()),
        }
    }

    /// Returns the results that lack the name of their tool, or have another where names pair, with
    /// that of their call.
    pub fn nameless(&self) -> impl Iterator<Item = (usize, &str)> {
        let PairRules { names, named, .. } = *self.rules;
        let all = self.answers.iter().enumerate().filter(move |_| names);
        all.filter_map(move |(at, answer)| {
            let tool = self.calls[answer.call?].tool.as_ref().filter(|tool| !tool.trim().is_empty())?;
            let is_right = answer.tool.as_ref().is_some_and(|own| !named || own == tool);
            (!is_right).then_some((at, &**tool))
        })
    }
}

/// Divides a history into turns.
fn divided(records: &Records, role: Option<u64>) -> (Vec<Turn>, Vec<usize>) {
    let rules = records.rules;
    let (mut turns, mut turn_of): (Vec<Turn>, Vec<usize>) = (vec![], vec![]);
    for (at, message) in records.messages.iter().enumerate() {
        let is_of_user = !rules.list.is_empty() && message.role == role;
        let side = match message {
            _ if !message.calls.is_empty() => MessageSide::Model,
            _ if message.is_model && rules.has_turns => MessageSide::Model,
            _ if message.is_model => MessageSide::Other,
            _ if !message.answers.is_empty() || is_of_user => MessageSide::Answer,
            _ => MessageSide::Other,
        };
        let is_one_turn = rules.has_turns && !records.is_apart || rules.anywhere;
        let joins = side == MessageSide::Answer || side == MessageSide::Model && is_one_turn;
        match turns.last_mut().filter(|last| last.side == side && joins) {
            Some(last) => last.to = at + 1,
            None => turns.push(Turn { side, from: at, to: at + 1 }),
        }
        turn_of.push(turns.len() - 1);
    }
    (turns, turn_of)
}
