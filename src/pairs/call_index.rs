//! The calls before a result, by the mark that pairs them.

use std::collections::HashMap;
use std::rc::Rc;

use super::records::Call;

/// The marks that pair a result with its call.
#[derive(Clone, Debug)]
pub struct Marks {
    pub id: Option<Rc<str>>,
    pub tool: Option<Rc<str>>,
    pub is_hosted: bool,
}

/// A mark under which calls are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Mark {
    Id(Rc<str>),
    /// No id, or an empty one.
    Empty,
    Tool(Rc<str>),
    /// The tool of a call without an id.
    OnlyTool(Rc<str>),
}

/// Indexes of calls. Those that the provider runs are kept apart, unless a result in the model's
/// own turn may belong to any.
#[derive(Default)]
pub struct CallIndex {
    calls: HashMap<Mark, [Alike; 2]>,
    anywhere: bool,
}

impl CallIndex {
    pub fn new(anywhere: bool) -> CallIndex {
        CallIndex { calls: HashMap::new(), anywhere }
    }

    fn place(&self, is_hosted: bool) -> usize {
        usize::from(is_hosted && !self.anywhere)
    }

    /// Adds a call of a turn, in order.
    pub fn add(&mut self, at: usize, call: &Call, turn: usize) {
        let place = self.place(!call.has_template);
        let mut under = |mark| self.calls.entry(mark).or_default()[place].add(at, turn);
        if let Some(id) = &call.id {
            under(Mark::Id(id.clone()));
        }
        if call.id.as_ref().is_none_or(|id| id.is_empty()) {
            under(Mark::Empty);
        }
        let Some(tool) = &call.tool else { return };
        under(Mark::Tool(tool.clone()));
        if call.id.is_none() {
            under(Mark::OnlyTool(tool.clone()));
        }
    }

    /// Returns the calls with the id of a result or, without an id, the unmatched calls of the same
    /// tool. A result with neither belongs to a call without an id, by its place.
    pub fn alike(&mut self, Marks { id, tool, is_hosted }: &Marks) -> Option<&mut Alike> {
        let tool = tool.clone();
        let mark = match id {
            None => tool.map_or(Mark::Empty, Mark::Tool),
            Some(id) => Some(Mark::Id(id.clone()))
                .filter(|mark| self.calls.contains_key(mark))
                .or(tool.map(Mark::OnlyTool))?,
        };
        let place = self.place(*is_hosted);
        self.calls.get_mut(&mark).map(|both| &mut both[place])
    }
}

/// The calls of one id or tool, in order. A call that has a result is not visited again.
#[derive(Default)]
pub struct Alike {
    pub all: Vec<usize>,
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

    /// Returns the first call without a result that fits, of the latest turn that has one.
    pub fn first_open(&mut self, calls: &[Call], fits: &dyn Fn(&Call) -> bool) -> Option<usize> {
        for nth in (0..self.turns.len()).rev() {
            let is_last = nth + 1 == self.turns.len();
            let its = &mut self.turns[nth];
            while its.calls.get(its.from).is_some_and(|call| calls[*call].answer.is_some()) {
                its.from += 1;
            }
            let mut open = its.calls[its.from..].iter().filter(|call| calls[**call].answer.is_none());
            if let Some(call) = open.find(|call| fits(&calls[**call])) {
                return Some(*call);
            }
            if is_last && its.from == its.calls.len() {
                self.turns.pop();
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_call_of_one_id_is_looked_at_once() {
        let call = |at| Call {
            at,
            index: None,
            id: Some("c".into()),
            tool: Some("f".into()),
            id_name: "id",
            has_ids: true,
            has_template: true,
            may_wait: false,
            is_open: false,
            answer: None,
            is_replaced: false,
        };
        let mut calls: Vec<Call> = (0..2_000).map(|at| call(at / 1_000)).collect();
        let mut known = CallIndex::new(false);
        for (at, call) in calls.iter().enumerate() {
            known.add(at, call, call.at);
        }
        let (looks, mut order) = (Cell::new(0), vec![]);
        let marks = Marks { id: Some("c".into()), tool: None, is_hosted: false };
        let fits = |_: &Call| {
            looks.set(looks.get() + 1);
            true
        };
        while let Some(at) = known.alike(&marks).and_then(|alike| alike.first_open(&calls, &fits)) {
            calls[at].answer = Some(0);
            order.push(at);
        }
        // The calls of the later turn come first, and among them the first.
        assert_eq!((order.len(), looks.get(), order[0]), (2_000, 2_000, 1_000));
    }
}
