//! Pairing the calls and the results of a live history.
//!
//! TypeScript reads the messages and writes the new ones. Their records cross once, as rows of
//! numbers that TypeScript writes in `lib/pairs/records.ts`: a text is its number in a list, and -1
//! stands for one that is missing.

use std::rc::Rc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::policy::unknown;
use spillway::dialect::{PairRules, Table};
use spillway::pairs::arrangement::{Arrangement, Block, Freedom, Orphans, Piece};
use spillway::pairs::pairing::Pairing;
use spillway::pairs::records::{Answer, Call, Message, Records};
use spillway::pairs::renames::Renames;
use spillway::pairs::stand_in::ResultMerit;

/// The records of a history, five numbers each.
#[napi(object, object_to_js = false)]
pub struct PairRecords {
    /// Of each message the number of its calls, of its results and of its blocks, its role, and
    /// flags. -1 blocks: they are not a list. -2: they are a text.
    #[napi(ts_type = "Int32Array")]
    pub messages: Int32Array,
    /// Of each call its kind, the index of its block, its id, its tool, and flags.
    #[napi(ts_type = "Int32Array")]
    pub calls: Int32Array,
    /// Of each result the index of its block, its id, its tool, its text if that is short, and
    /// flags.
    #[napi(ts_type = "Int32Array")]
    pub answers: Int32Array,
    pub texts: Vec<String>,
}

const COLUMNS: usize = 5;

/// Flags of a message.
const IS_MODEL: i32 = 1;
const LEADS: i32 = 2;
/// Flags of a call.
const WAITS: i32 = 1;
const IS_OPEN: i32 = 2;
/// The flag of a result.
const IS_ERROR: i32 = 1;

/// The changes that make a history sound.
#[napi(object, object_from_js = false)]
pub struct PairChanges {
    /// The messages of the new history, undefined if all stay where they are.
    pub pieces: Option<Vec<PieceFields>>,
    /// New ids of calls and of results, and new names of the tools of results.
    pub call_ids: Vec<NewWord>,
    pub answer_ids: Vec<NewWord>,
    pub tools: Vec<NewWord>,
    /// Calls that hold their results, which get one that says that it is missing.
    pub closed: Vec<u32>,
    /// Parts of such calls that are stored once more later.
    pub again: Vec<u32>,
    /// Results, calls and turns that change.
    pub count: u32,
}

/// A text for a call or a result. `call`: the number of the call of a result.
#[napi(object, object_from_js = false)]
pub struct NewWord {
    pub nth: u32,
    pub text: String,
    pub call: Option<u32>,
}

/// Messages of the new history.
#[napi(object, object_from_js = false)]
pub struct PieceFields {
    /// 'kept': the messages from `at` to before `to`. 'listed': the message at `at` with other
    /// blocks. 'home': a message for blocks, beside the call `at`. 'new': the result of the call
    /// `at`. 'words': those of the result `at`.
    #[napi(ts_type = "'kept' | 'listed' | 'home' | 'new' | 'words'")]
    pub kind: &'static str,
    pub at: u32,
    pub to: u32,
    /// Three numbers a block: its kind, the number of the message, call or result that it is of,
    /// and its index in the message. Kinds: 0 is a block of a message, 1 a message, 2 the text of a
    /// message, 3 the missing result of a call, 4 the words of a result.
    #[napi(ts_type = "Int32Array")]
    pub blocks: Int32Array,
}

/// Pairs a history by the rules of a dialect. `missing`: the text of a result that is missing.
/// `words`: the text of a result without a call becomes words of the user.
#[napi(catch_unwind)]
pub fn pair_changes(
    dialect: String,
    records: PairRecords,
    missing: String,
    words: bool,
) -> Result<PairChanges> {
    let rules = Table::get().pair_rules().iter().find(|rules| rules.name == dialect);
    let history = history(rules.ok_or_else(|| unknown("dialect", &dialect))?, &records, &missing);
    if history.rules.are_one {
        return Ok(PairChanges::closing(&history));
    }
    let pairing = Pairing::of(history);
    let Renames { calls, answers, count } = Renames::of(&pairing);
    let orphans = if words { Orphans::Worded } else { Orphans::Dropped };
    let (pieces, counts) = Arrangement::of(&pairing, Freedom::Free, orphans).unzip();
    let counts = counts.unwrap_or_default();
    let word = |nth: usize, text: &str, call: Option<usize>| NewWord {
        nth: nth as u32,
        text: text.to_owned(),
        call: call.map(|call| call as u32),
    };
    let tools: Vec<NewWord> = pairing.nameless().map(|(nth, tool)| word(nth, tool, None)).collect();
    let count = count + tools.len() as u64 + counts.added + counts.removed + counts.moved;
    Ok(PairChanges {
        pieces: pieces.map(fields),
        call_ids: calls.iter().map(|(nth, id)| word(*nth, id, None)).collect(),
        answer_ids: answers.iter().map(|(nth, id)| word(*nth, id, pairing.answers[*nth].call)).collect(),
        tools,
        closed: vec![],
        again: vec![],
        count: count as u32,
    })
}

impl PairChanges {
    fn closing(history: &Records) -> PairChanges {
        let (again, closed): (Vec<_>, Vec<_>) = history.open_calls().partition(|(_, is_again)| *is_again);
        let numbers = |calls: Vec<(usize, bool)>| calls.into_iter().map(|(nth, _)| nth as u32).collect();
        PairChanges {
            pieces: None,
            call_ids: vec![],
            answer_ids: vec![],
            tools: vec![],
            count: (again.len() + closed.len()) as u32,
            closed: numbers(closed),
            again: numbers(again),
        }
    }
}

/// Returns the history of records.
fn history(rules: &'static PairRules, records: &PairRecords, missing: &str) -> Records {
    let texts: Vec<Rc<str>> = records.texts.iter().map(|text| Rc::from(&**text)).collect();
    let text = |number: i32| usize::try_from(number).ok().map(|number| texts[number].clone());
    let index = |number: i32| u32::try_from(number).ok();
    let mut history = Records::of(rules, false);
    let mut calls = records.calls.chunks_exact(COLUMNS);
    let mut answers = records.answers.chunks_exact(COLUMNS);
    let kinds = &Table::get().call_paths()[rules.kinds.clone()];
    for row in records.messages.chunks_exact(COLUMNS) {
        let [own_calls, own_answers, blocks, role, flags] = [row[0], row[1], row[2], row[3], row[4]];
        let (at, is_model) = (history.messages.len(), flags & IS_MODEL != 0);
        let (first_call, first_answer) = (history.calls.len(), history.answers.len());
        history.calls.extend(calls.by_ref().take(own_calls as usize).map(|row| Call {
            may_wait: row[4] & WAITS != 0,
            is_open: row[4] & IS_OPEN != 0,
            ..Call::new(&kinds[row[0] as usize], at, index(row[1]), text(row[2]), text(row[3]))
        }));
        history.answers.extend(answers.by_ref().take(own_answers as usize).map(|row| {
            let said = ResultMerit::of(text(row[3]).as_deref(), row[4] & IS_ERROR != 0, missing);
            let answer = Answer::new(at, index(row[0]), text(row[1]), text(row[2]), said);
            Answer { is_hosted: is_model, ..answer }
        }));
        history.messages.push(Message {
            row: 0,
            nth: 0,
            calls: first_call..history.calls.len(),
            answers: first_answer..history.answers.len(),
            role: text(role).map(|role| spillway::hash::hash(role.as_bytes())),
            blocks: index(blocks),
            is_text: blocks == -2,
            leads: flags & LEADS != 0,
            is_model,
        });
    }
    history
}

/// Describes the messages of a new history, those that follow each other unchanged together.
fn fields(pieces: Vec<Piece>) -> Vec<PieceFields> {
    let mut all: Vec<PieceFields> = vec![];
    for piece in pieces {
        let none = vec![];
        let (kind, at, blocks) = match piece {
            Piece::Kept(at) | Piece::Moved(at) => {
                let before = all.last_mut().filter(|last| last.kind == "kept" && last.to as usize == at);
                if let Some(last) = before {
                    last.to += 1;
                    continue;
                }
                ("kept", at, none)
            }
            Piece::Listed(at, blocks) => ("listed", at, blocks),
            Piece::Home(blocks, call) => ("home", call, blocks),
            Piece::New(call) => ("new", call, none),
            Piece::Words(answer) => ("words", answer, none),
        };
        let blocks: Vec<i32> = blocks.iter().flat_map(numbers).collect();
        all.push(PieceFields { kind, at: at as u32, to: at as u32 + 1, blocks: blocks.into() });
    }
    all
}

fn numbers(block: &Block) -> [i32; 3] {
    let (kind, at, index) = match *block {
        Block::Own(at, index) => (0, at, index),
        Block::Whole(at) => (1, at, 0),
        Block::Text(at) => (2, at, 0),
        Block::New(call) => (3, call, 0),
        Block::Words(answer) => (4, answer, 0),
    };
    [kind, at as i32, index as i32]
}
