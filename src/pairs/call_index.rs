//! The calls before a result, by the mark that pairs them.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::rc::Rc;

use super::records::Call;
use crate::dialect::PairRules;

/// The marks that pair a result with its call.
#[derive(Clone, Debug)]
pub struct CallMarks {
    pub id: Option<Rc<str>>,
    pub tool: Option<Rc<str>>,
    pub is_hosted: bool,
}

/// A mark under which calls are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CallMark {
    Id(Rc<str>),
    /// The id and the tool, where both pair.
    Named(Rc<str>, Option<Rc<str>>),
    /// No id, or an empty one.
    Empty,
    Tool(Rc<str>),
    /// The tool of a call without an id.
    OnlyTool(Rc<str>),
}

/// Indexes of calls. Those that the provider runs are kept apart, unless a result in the model's
/// own turn may belong to any.
pub struct CallIndex {
    calls: HashMap<CallMark, [Alike; 2]>,
    anywhere: bool,
    named: bool,
}

impl CallIndex {
    pub fn new(rules: &PairRules) -> CallIndex {
        CallIndex { calls: HashMap::new(), anywhere: rules.anywhere, named: rules.named }
    }

    fn place(&self, is_hosted: bool) -> usize {
        usize::from(is_hosted && !self.anywhere)
    }

    /// Adds a call of a turn, in order.
    pub fn add(&mut self, at: usize, call: &Call, turn: usize) {
        let place = self.place(!call.has_template);
        let mut under = |mark| self.calls.entry(mark).or_default()[place].add(at, turn);
        if let Some(id) = &call.id {
            under(CallMark::Id(id.clone()));
            if self.named {
                under(CallMark::Named(id.clone(), call.tool.clone()));
            }
        }
        if call.id.as_ref().is_none_or(|id| id.is_empty()) {
            under(CallMark::Empty);
        }
        let Some(tool) = &call.tool else { return };
        under(CallMark::Tool(tool.clone()));
        if call.id.is_none() {
            under(CallMark::OnlyTool(tool.clone()));
        }
    }

    /// Returns the marks of the calls that fit a result: those with its id, and its tool where
    /// names pair, or without an id the calls of the same tool. A result with neither belongs to a
    /// call without an id, by its place.
    fn marks(&self, CallMarks { id, tool, .. }: &CallMarks) -> [Option<CallMark>; 2] {
        let tool = tool.clone();
        let Some(id) = id else { return [Some(tool.map_or(CallMark::Empty, CallMark::Tool)), None] };
        let mark = CallMark::Id(id.clone());
        match tool {
            tool if !self.calls.contains_key(&mark) => [tool.map(CallMark::OnlyTool), None],
            Some(tool) if self.named => {
                [Some(tool), None].map(|tool| Some(CallMark::Named(id.clone(), tool)))
            }
            _ => [Some(mark), None],
        }
    }

    /// Returns the first call without a result that fits, of the latest turn that has one.
    pub fn open(&mut self, marks: &CallMarks, calls: &[Call]) -> Option<usize> {
        let (place, all) = (self.place(marks.is_hosted), self.marks(marks));
        let firsts =
            all.iter().flatten().filter_map(|mark| self.calls.get_mut(mark)?[place].first_open(calls));
        firsts.max_by_key(|(turn, call)| (*turn, Reverse(*call))).map(|(_, call)| call)
    }

    fn alike(&self, marks: &CallMarks) -> impl Iterator<Item = &[usize]> {
        let place = self.place(marks.is_hosted);
        let lists = self.marks(marks).into_iter().flatten();
        lists.filter_map(move |mark| Some(&self.calls.get(&mark)?[place].all[..]))
    }

    /// Returns the last call that fits.
    pub fn last(&self, marks: &CallMarks) -> Option<usize> {
        self.alike(marks).filter_map(|all| all.last().copied()).max()
    }

    /// Returns the call that fits, if it is the only one.
    pub fn only(&self, marks: &CallMarks) -> Option<usize> {
        let mut all = self.alike(marks).flatten().copied();
        all.next().filter(|_| all.next().is_none())
    }
}

/// The calls of one id or tool, in order. A call that has a result is not visited again.
#[derive(Default)]
struct Alike {
    all: Vec<usize>,
    turns: Vec<SameTurn>,
}

struct SameTurn {
    turn: usize,
    calls: Vec<usize>,
    /// The index of the first call that may lack a result.
    from: usize,
}

impl Alike {
    fn add(&mut self, call: usize, turn: usize) {
        self.all.push(call);
        match self.turns.last_mut().filter(|last| last.turn == turn) {
            Some(last) => last.calls.push(call),
            None => self.turns.push(SameTurn { turn, calls: vec![call], from: 0 }),
        }
    }

    /// Returns the first call without a result, of the latest turn that has one, with that turn.
    fn first_open(&mut self, calls: &[Call]) -> Option<(usize, usize)> {
        while let Some(its) = self.turns.last_mut() {
            while let Some(call) = its.calls.get(its.from) {
                if calls[*call].answer.is_none() {
                    return Some((its.turn, *call));
                }
                its.from += 1;
            }
            self.turns.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Table;

    fn call(at: usize, tool: &str) -> Call {
        Call {
            at,
            index: None,
            id: Some("c".into()),
            tool: Some(tool.into()),
            id_name: "id",
            has_ids: true,
            has_template: true,
            may_wait: false,
            is_open: false,
            answer: None,
            is_replaced: false,
        }
    }

    /// Returns the calls of results with the same id and a tool, in the order in which they are
    /// taken.
    fn taken(named: bool, mut calls: Vec<Call>, tool: &str, results: usize) -> Vec<usize> {
        let rules = Table::get().pair_rules().iter().find(|rules| rules.named == named && !rules.anywhere);
        let mut known = CallIndex::new(rules.unwrap());
        calls.iter().enumerate().for_each(|(at, call)| known.add(at, call, call.at));
        let marks = CallMarks { id: Some("c".into()), tool: Some(tool.into()), is_hosted: false };
        let take = |_| {
            let at = known.open(&marks, &calls)?;
            calls[at].answer = Some(0);
            Some(at)
        };
        (0..results).filter_map(take).collect()
    }

    #[test]
    fn the_calls_of_the_latest_turn_come_first_and_among_them_the_first() {
        let calls = || (0..6).map(|at| call(at / 3, if at == 4 { "g" } else { "f" })).collect();
        assert_eq!(taken(false, calls(), "f", 9), [3, 4, 5, 0, 1, 2]);
        assert_eq!(taken(true, calls(), "f", 9), [3, 5, 0, 1, 2]);
        assert_eq!(taken(true, calls(), "g", 9), [4]);
    }

    /// Would take minutes if each result looked at each call.
    #[test]
    fn calls_of_one_id_and_another_tool_are_not_looked_at() {
        let calls = |tool: &str| (0..200_000).map(|at| call(at, tool)).collect();
        assert_eq!(taken(true, calls("f"), "g", 200_000), [0; 0]);
        assert_eq!(taken(true, calls("f"), "f", 200_000).len(), 200_000);
    }
}
