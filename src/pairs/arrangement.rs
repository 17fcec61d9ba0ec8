//! Arranges a history anew, with each result where the provider expects it. It says the place of
//! each message and block; `lib/pairs/pieces.ts` writes them for live histories, `session/pairs`
//! for stored ones.

use std::collections::HashSet;
use std::ops::Range;

use super::pairing::{Pairing, Turn};
use super::records::{Answer, Call, Message, MessageSide};

/// How freely a session can be laid out anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// Messages are rows or elements of a list, and may be put, joined and removed anywhere.
    Free,
    /// Rows of a host, each with an id that others name. A result that is put in is a row of its
    /// own.
    Rows,
}

/// A block of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// A block of a message that is there.
    Own(usize, u32),
    /// A message that is there, as a block.
    Whole(usize),
    /// The text of a message, as words.
    Text(usize),
    /// A result that says that a call has none.
    New(usize),
    /// The text of a result without a call, as words.
    Words(usize),
}

/// A message of the new history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A message as it is.
    Kept(usize),
    /// A message with another list.
    Listed(usize, Vec<Block>),
    /// A new message with blocks, which belongs to that of a call.
    Home(Vec<Block>, usize),
    /// A new message: the result of a call.
    New(usize),
    /// A message that moves here.
    Moved(usize),
    /// A new message: the text of a result without a call, as words.
    Words(usize),
}

/// The treatment of results without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orphans {
    Dropped,
    /// Its text stays as words of the user.
    Worded,
}

#[derive(Debug)]
struct Placed {
    side: MessageSide,
    piece: Piece,
    /// Results at its start.
    leading: u32,
}

/// The counts of a arrangement.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairCounts {
    /// Calls that get a result that says that theirs is missing, or their own in place of such a
    /// one.
    pub added: u64,
    /// Results and calls that are removed.
    pub removed: u64,
    /// Results that move, and messages that are joined.
    pub moved: u64,
}

#[derive(Debug)]
pub struct Arrangement<'p> {
    pairing: &'p Pairing,
    freedom: Freedom,
    orphans: Orphans,
    pieces: Vec<Placed>,
    /// Results that the last calls still need, each with its call.
    due: Vec<(Block, usize)>,
    last_of_model: Option<usize>,
    counts: PairCounts,
}

impl<'p> Arrangement<'p> {
    /// Returns the messages of the new history, or `None` if every message can stay as it is.
    pub fn of(pairing: &'p Pairing, freedom: Freedom, orphans: Orphans) -> Option<(Vec<Piece>, PairCounts)> {
        let last_of_model = pairing.turns.iter().rposition(|turn| turn.side == MessageSide::Model);
        let counts = PairCounts::default();
        let mut arrangement =
            Arrangement { pairing, freedom, orphans, pieces: vec![], due: vec![], last_of_model, counts };
        if arrangement.is_sound() {
            return None;
        }
        pairing.turns.iter().for_each(|turn| arrangement.add(*turn));
        arrangement.settle();
        if arrangement.alternates() {
            arrangement.join();
        }
        Some((arrangement.pieces.into_iter().map(|placed| placed.piece).collect(), arrangement.counts))
    }

    fn alternates(&self) -> bool {
        self.pairing.rules.alternates && self.freedom == Freedom::Free
    }

    fn is_sound(&self) -> bool {
        let Pairing { answers, calls, turns, .. } = self.pairing;
        let is_one = |turn: &Turn| turn.side == MessageSide::Other || turn.to == turn.from + 1;
        answers.iter().all(|answer| self.pairing.is_in_place(answer))
            && calls.iter().all(|call| !self.is_dropped(call) && !self.pairing.lacks(call))
            && (!self.alternates() || turns.iter().all(is_one))
    }

    fn add(&mut self, Turn { side, from, to }: Turn) {
        if side != MessageSide::Answer {
            self.settle();
        }
        let start = self.pieces.len();
        let mut words = vec![];
        for at in from..to {
            self.keep(at, side, &mut words);
            for call in self.pairing.messages[at].calls.clone() {
                self.ask(call);
            }
        }
        match side {
            MessageSide::Answer if self.pairing.rules.has_turns => self.complete(start, from..to, words),
            MessageSide::Answer => {
                self.settle();
                let as_message =
                    |nth| Placed { side: MessageSide::Other, piece: Piece::Words(nth), leading: 0 };
                self.pieces.extend(words.into_iter().map(as_message));
            }
            MessageSide::Model | MessageSide::Other => {}
        }
    }

    /// Adds a message without its misplaced results. Collects those that become words.
    fn keep(&mut self, at: usize, side: MessageSide, words: &mut Vec<usize>) {
        let Message { answers, calls, .. } = &self.pairing.messages[at];
        let (mut gone, mut is_gone, mut leading) = (HashSet::new(), false, 0);
        let mut drop = |index: Option<u32>| match index {
            Some(index) => _ = gone.insert(index),
            None => is_gone = true,
        };
        for nth in answers.clone() {
            let answer = &self.pairing.answers[nth];
            if self.pairing.is_in_place(answer) {
                leading += 1;
                continue;
            }
            drop(answer.index);
            match answer {
                Answer { stood_in: true, .. } => self.counts.added += 1,
                Answer { call: None, .. } => self.counts.removed += 1,
                _ => {}
            }
            if self.orphans == Orphans::Worded && answer.call.is_none() && !answer.is_duplicate {
                words.push(nth);
            }
        }
        for call in &self.pairing.calls[calls.clone()] {
            if self.is_dropped(call) {
                drop(call.index);
                self.counts.removed += 1;
            }
        }
        if is_gone {
            if side == MessageSide::Model {
                self.unlead();
            }
            return;
        }
        let mut piece = Piece::Kept(at);
        if !gone.is_empty() {
            let list: Vec<Block> = self
                .list_of(at)
                .into_iter()
                .zip(0..)
                .filter(|(_, index)| !gone.contains(index))
                .map(|(block, _)| block)
                .collect();
            if list.is_empty() {
                return;
            }
            piece = Piece::Listed(at, list);
        }
        self.pieces.push(Placed { side, piece, leading });
    }

    /// Removes messages at the end that are invalid without the call that followed them.
    fn unlead(&mut self) {
        while let Some(Placed { piece: Piece::Kept(at) | Piece::Listed(at, _), .. }) = self.pieces.last()
            && self.pairing.messages[*at].leads
        {
            self.pieces.pop();
        }
    }

    /// Records the missing result of a call.
    fn ask(&mut self, nth: usize) {
        let call = &self.pairing.calls[nth];
        if !self.pairing.lacks(call) {
            return;
        }
        let block = match call.answer.map(|answer| &self.pairing.answers[answer]) {
            Some(Answer { at, index, .. }) => {
                self.counts.moved += u64::from(!call.is_replaced);
                index.map_or(Block::Whole(*at), |index| Block::Own(*at, index))
            }
            None => {
                self.counts.added += 1;
                Block::New(nth)
            }
        };
        self.due.push((block, nth));
    }

    /// Returns true for a call that no text can answer and that has no result. A call of the last
    /// turn may still be running.
    fn is_dropped(&self, call: &Call) -> bool {
        let is_done = || self.last_of_model.is_some_and(|last| self.pairing.turn_of[call.at] < last);
        let may_drop = call.answer.is_none() && !call.has_template && self.freedom == Freedom::Free;
        may_drop && (self.pairing.rules.anywhere || is_done())
    }

    /// Adds the results that are due as messages of their own.
    fn settle(&mut self) {
        let due = std::mem::take(&mut self.due);
        let place = |piece, leading| Placed { side: MessageSide::Answer, piece, leading };
        if self.pairing.rules.home.is_some() && self.freedom == Freedom::Free {
            let Some((_, call)) = due.first() else { return };
            let (call, leading) = (*call, due.len() as u32);
            let blocks = due.into_iter().map(|(block, _)| block).collect();
            return self.pieces.push(place(Piece::Home(blocks, call), leading));
        }
        for (block, call) in due {
            self.pieces.push(place(self.alone(block, call), 1));
        }
    }

    /// Returns a result as a message of its own.
    fn alone(&self, block: Block, call: usize) -> Piece {
        match block {
            Block::Whole(at) => Piece::Moved(at),
            // A row with nothing else moves whole.
            Block::Own(at, _) if self.freedom == Freedom::Rows && self.pairing.messages[at].size() == 1 => {
                Piece::Moved(at)
            }
            block if self.pairing.rules.home.is_some() => Piece::Home(vec![block], call),
            Block::New(call) => Piece::New(call),
            block => Piece::Home(vec![block], call),
        }
    }

    /// Adds the results that are due to the user's turn, after its leading results, and words at
    /// its end.
    fn complete(&mut self, start: usize, messages: Range<usize>, mut words: Vec<usize>) {
        if self.pieces.len() == start {
            self.settle();
            // A conversation begins with the user. If that turn has nothing else left, results
            // without a call stay as text.
            if words.is_empty() && self.pieces.iter().all(|placed| placed.side == MessageSide::Other) {
                let all = messages.flat_map(|at| self.pairing.messages[at].answers.clone());
                words = all.collect();
            }
        } else {
            self.lead(start);
        }
        self.say(start, words);
    }

    /// Adds the results that are due after those that lead a user's turn.
    fn lead(&mut self, start: usize) {
        if self.due.is_empty() {
            return;
        }
        let own = &self.pieces[start..];
        let last = own.iter().rposition(|placed| placed.leading > 0);
        let place = start + last.unwrap_or(0);
        let leading = self.pieces[place].leading;
        if self.freedom == Freedom::Rows && (last.is_none() || self.length(place) == leading) {
            let rest = self.pieces.split_off(place + usize::from(last.is_some()));
            self.settle();
            return self.pieces.extend(rest);
        }
        let due = std::mem::take(&mut self.due).into_iter().map(|(block, _)| block);
        let Some((at, mut list)) = self.listed(place) else { return };
        list.splice(leading as usize..leading as usize, due.clone());
        self.pieces[place].leading += due.len() as u32;
        self.pieces[place].piece = Piece::Listed(at, list);
    }

    /// Adds words at the end of a user's turn.
    fn say(&mut self, start: usize, words: Vec<usize>) {
        let Some(said) = words.last().map(|nth| self.pairing.answers[*nth].at) else { return };
        let words = words.into_iter().map(Block::Words);
        // A message before the results stays as it is, unless all of the turn must be one.
        let joins = match self.pieces[start..].last().map(|last| &last.piece) {
            None => false,
            Some(Piece::Kept(at) | Piece::Listed(at, _)) => self.alternates() || *at >= said,
            Some(_) => self.alternates(),
        };
        let last = self.pieces.len().saturating_sub(1);
        match self.pieces.last_mut().filter(|_| joins).map(|last| &mut last.piece) {
            Some(Piece::Home(list, _) | Piece::Listed(_, list)) => list.extend(words),
            Some(Piece::Kept(_)) => {
                if let Some((at, list)) = self.listed(last) {
                    self.pieces[last].piece = Piece::Listed(at, list.into_iter().chain(words).collect());
                }
            }
            // That message has nothing else left.
            _ => {
                let piece = Piece::Listed(said, words.collect());
                self.pieces.push(Placed { side: MessageSide::Answer, piece, leading: 0 });
            }
        }
    }

    /// Joins adjacent messages of one role.
    fn join(&mut self) {
        let mut joined: Vec<Placed> = vec![];
        for placed in std::mem::take(&mut self.pieces) {
            let is_alike = |last: &Placed| {
                last.side == placed.side
                    && placed.side != MessageSide::Other
                    && self.role(&last.piece) == self.role(&placed.piece)
            };
            let Some(last) = joined.last_mut().filter(|last| is_alike(last)) else {
                joined.push(placed);
                continue;
            };
            let blocks = match &placed.piece {
                Piece::Home(blocks, _) | Piece::Listed(_, blocks) => blocks.clone(),
                Piece::Kept(at) | Piece::Moved(at) => self.list_of(*at),
                Piece::New(call) => vec![Block::New(*call)],
                Piece::Words(nth) => vec![Block::Words(*nth)],
            };
            match &mut last.piece {
                Piece::Home(list, _) | Piece::Listed(_, list) => list.extend(blocks),
                Piece::Kept(at) => {
                    let mut list = self.list_of(*at);
                    list.extend(blocks);
                    last.piece = Piece::Listed(*at, list);
                }
                Piece::New(_) | Piece::Moved(_) | Piece::Words(_) => {
                    joined.push(placed);
                    continue;
                }
            }
            self.counts.moved += 1;
        }
        self.pieces = joined;
    }

    fn role(&self, piece: &Piece) -> Option<u64> {
        match piece {
            Piece::Kept(at) | Piece::Listed(at, _) | Piece::Moved(at) => self.pairing.messages[*at].role,
            Piece::Home(..) | Piece::New(_) | Piece::Words(_) => self.pairing.role,
        }
    }

    /// Returns the blocks of a message.
    fn list_of(&self, at: usize) -> Vec<Block> {
        match &self.pairing.messages[at] {
            Message { is_text: true, .. } => vec![Block::Text(at)],
            Message { blocks, .. } => (0..blocks.unwrap_or(0)).map(|index| Block::Own(at, index)).collect(),
        }
    }

    /// Returns the number of blocks of a piece.
    fn length(&self, place: usize) -> u32 {
        match &self.pieces[place].piece {
            Piece::Kept(at) | Piece::Moved(at) => self.pairing.messages[*at].size(),
            Piece::Listed(_, list) | Piece::Home(list, _) => list.len() as u32,
            Piece::New(_) | Piece::Words(_) => 1,
        }
    }

    /// Returns the message of a piece that is there, with its blocks.
    fn listed(&self, place: usize) -> Option<(usize, Vec<Block>)> {
        match &self.pieces[place].piece {
            Piece::Kept(at) => Some((*at, self.list_of(*at))),
            Piece::Listed(at, list) => Some((*at, list.clone())),
            _ => None,
        }
    }
}
