//! The JSON of messages and blocks that stand elsewhere in the new history, or are new in it.

use std::collections::HashMap;

use super::parts::MessageParts;
use super::reading::Reading;
use super::row_members::RowMembers;
use super::template::Filled;
use super::word_changes::missing;
use crate::dialect::{PairRules, Table, Template, ToolResult};
use crate::json::{Document, Value, string};
use crate::pairs::arrangement::{Block, Freedom, Piece};
use crate::pairs::pairing::Pairing;
use crate::pairs::plan::Plan;
use crate::session::layout::Layout;
use crate::session::rewrite_row::{RowOptions, texts_of};
use crate::session::row_format::RowEntry;

/// A part of the new history that is read from the old one, or made beside a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    Block(Block),
    /// The row of a message that moves.
    Moved(usize),
    /// A message for the blocks of the results of a call.
    Home(usize),
    /// The result of a call as a message.
    New(usize),
}

/// The parts that are needed of each message, and those that were read.
#[derive(Debug, Default)]
pub struct Pieces {
    needs: HashMap<usize, Vec<Need>>,
    filled: HashMap<Need, Filled>,
}

/// How new parts are made.
pub struct Maker<'r> {
    pub rules: &'static PairRules,
    pub layout: Option<&'static Layout>,
    pub freedom: Freedom,
    pub row_members: &'r RowMembers,
    /// The members of a result that name its tool.
    pub naming: Vec<String>,
    /// Those of results that stay as words, which nothing cuts later.
    pub options: &'r RowOptions,
}

impl Pieces {
    pub fn of(plan: &Plan, pairing: &Pairing) -> Pieces {
        let mut pieces = Pieces::default();
        let mut need = |need: Need, at: usize| pieces.needs.entry(at).or_default().push(need);
        let call = |nth: usize| pairing.calls[nth].at;
        let mut needs_block = |block: &Block, own: Option<usize>| {
            let at = match block {
                Block::Own(at, _) if Some(*at) == own => return,
                Block::Own(at, _) | Block::Whole(at) | Block::Text(at) => *at,
                Block::New(nth) => call(*nth),
                Block::Words(nth) => pairing.answers[*nth].at,
            };
            need(Need::Block(block.clone()), at);
        };
        for (at, list) in &plan.lists {
            list.iter().for_each(|block| needs_block(block, Some(*at)));
        }
        for piece in plan.after.values().flatten() {
            match piece {
                Piece::Home(blocks, _) => blocks.iter().for_each(|block| needs_block(block, None)),
                Piece::Words(nth) => needs_block(&Block::Words(*nth), None),
                _ => {}
            }
        }
        for piece in plan.after.values().flatten() {
            match piece {
                Piece::Home(_, nth) => need(Need::Home(*nth), call(*nth)),
                Piece::New(nth) => need(Need::New(*nth), call(*nth)),
                Piece::Moved(at) => need(Need::Moved(*at), *at),
                Piece::Kept(_) | Piece::Listed(..) | Piece::Words(_) => {}
            }
        }
        pieces
    }

    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    pub fn needs(&self, at: usize) -> bool {
        self.needs.contains_key(&at)
    }

    pub fn get(&self, need: &Need) -> Option<&Filled> {
        self.filled.get(need)
    }

    pub fn block(&self, block: &Block) -> Option<String> {
        Some(self.get(&Need::Block(block.clone()))?.json.clone())
    }

    /// Reads what is needed of the message at `at`, whose ids are the new ones.
    pub fn read(&mut self, maker: &Maker, pairing: &Pairing, at: usize, entry: &RowEntry, message: Value) {
        let Some(needs) = self.needs.remove(&at) else { return };
        let list = message.get(&maker.rules.list).filter(|list| list.is_list());
        let blocks: Vec<Value> = list.map_or(vec![], |list| list.elements().collect());
        let MessageParts { calls, dialect, answers } = MessageParts::of(maker.rules, message);
        let (first_call, first_answer) =
            (pairing.messages[at].calls.start, pairing.messages[at].answers.start);
        let is_worded = needs.iter().any(|need| matches!(need, Need::Block(Block::Words(_))));
        let cut = if is_worded { maker.cut(entry) } else { None };
        let cut = cut.as_ref().and_then(|cut| Document::parse(cut));
        let cut = cut.as_ref().map(|cut| entry.again(cut.root()));
        let cut = cut.and_then(|cut| cut.messages.get(pairing.messages[at].nth as usize).copied());
        let worded = cut.map_or(answers.clone(), |cut| MessageParts::of(maker.rules, cut).answers);
        for need in needs {
            let filled = match &need {
                Need::Block(Block::Own(_, index)) => {
                    blocks.get(*index as usize).map(|block| of_source(*block))
                }
                Need::Block(Block::Whole(_)) => Some(of_source(message)),
                Need::Block(Block::Text(_)) => {
                    let text = message.get(&maker.rules.list).map(Value::compact);
                    text.and_then(|text| maker.words(maker.rules.words.first(), message, &text))
                }
                Need::Block(Block::Words(nth)) => {
                    let answer = worded.get(nth - first_answer).copied();
                    answer.zip(dialect).and_then(|(answer, dialect)| {
                        let tool = pairing.answers[*nth].tool.as_deref().unwrap_or("a tool");
                        let result = ToolResult::read(dialect, answer, false)?;
                        let text =
                            texts_of(&result).iter().map(|text| text.string()).collect::<Vec<_>>().join("\n");
                        let text =
                            format!("[Result of {tool}, whose call is no longer in the history]\n{text}");
                        maker.words(maker.words_beside(answer), message, &string(&text))
                    })
                }
                Need::Block(Block::New(nth)) | Need::New(nth) | Need::Home(nth) => {
                    let (kind, call) = calls[nth - first_call];
                    let id = kind.id.first_text(call);
                    let made = match &need {
                        Need::Home(_) => maker.rules.home.as_ref().map(|home| Filled::of(home, &|_| None)),
                        _ => missing(kind, id.as_deref(), call, message).map(|mut made| {
                            made.add(&maker.names(kind.tool_of(call), &made));
                            made
                        }),
                    };
                    let salt = id.unwrap_or_default();
                    made.and_then(|made| match &need {
                        Need::Block(_) => Some(made),
                        _ => maker.around(made, entry, message, &salt),
                    })
                }
                Need::Moved(_) => Some(maker.moved(entry, message)),
            };
            self.filled.extend(filled.map(|filled| (need, filled)));
        }
    }
}

fn of_source(value: Value) -> Filled {
    Filled::plain(String::from_utf8_lossy(value.source()).into_owned())
}

impl Maker<'_> {
    /// Returns a row as the repair cuts its results, and takes secrets out of them: of those that
    /// become words, nothing does so later. `None` if they stay.
    fn cut(&self, entry: &RowEntry) -> Option<Vec<u8>> {
        self.options.rewrite(entry.root.source(), entry, &[], &[], &mut |_| vec![]).row
    }

    /// Returns true if a new message or row has a member by its template.
    pub fn gives(&self, name: &str) -> bool {
        let has = |template: Option<&Template>| template.is_some_and(|template| template.get(name).is_some());
        match self.freedom {
            Freedom::Rows => has(self.layout.and_then(|layout| layout.answer.as_ref())),
            Freedom::Free => {
                let kinds = &Table::get().call_paths()[self.rules.kinds.clone()];
                match &self.rules.home {
                    None => kinds.iter().any(|kind| has(kind.result.as_ref())),
                    home => has(home.as_ref()),
                }
            }
        }
    }

    /// Returns a new message with the members that all others have, in a row if these hold
    /// messages.
    fn around(&self, mut made: Filled, entry: &RowEntry, message: Value, salt: &str) -> Option<Filled> {
        let gives = |name: &str| self.gives(name);
        if self.freedom == Freedom::Free {
            made.add(&self.row_members.taken_from(message, &gives, salt)?);
            return Some(made);
        }
        let template = self.layout?.answer.as_ref()?;
        let mut row = Filled::of(template, &|name| (name == "message").then(|| made.clone()));
        row.add(&self.row_members.taken_from(entry.root, &gives, salt)?);
        Some(row)
    }

    /// Returns a message that moves, or its row, with a place for the id of the row before.
    fn moved(&self, entry: &RowEntry, message: Value) -> Filled {
        let parent = self.layout.and_then(|layout| layout.chain.as_ref());
        let named =
            parent.and_then(|[_, parent]| entry.root.get(parent)).filter(|_| self.freedom == Freedom::Rows);
        let text = |from: usize, to: usize| String::from_utf8_lossy(message.bytes(from, to)).into_owned();
        match named {
            Some(named) => {
                Filled::row(&text(entry.root.start(), named.start()), &text(named.end(), entry.root.end()))
            }
            None if self.freedom == Freedom::Rows => of_source(entry.root),
            None => of_source(message),
        }
    }

    /// Returns the members of a new result that name its tool.
    fn names(&self, tool: Option<String>, made: &Filled) -> Vec<(String, String)> {
        let Some(tool) = tool else { return vec![] };
        let has = |name: &str| made.json.contains(&(string(name) + ":"));
        let names = self.naming.iter().filter(|name| !has(name));
        names.map(|name| (name.clone(), string(&tool))).collect()
    }

    fn words(&self, template: Option<&Template>, message: Value, text: &str) -> Option<Filled> {
        let of = |name: &str| match name {
            "text" => Some(Filled::plain(text.to_owned())),
            other => Some(Filled::plain(message.get(other)?.compact())),
        };
        Some(Filled::of(template?, &of))
    }

    /// Returns the template of words with the member that holds a result, or the first.
    fn words_beside(&self, answer: Value) -> Option<&Template> {
        let holder = answer.name().and_then(Value::string);
        let words = &self.rules.words;
        words
            .iter()
            .find(|words| holder.as_ref().is_some_and(|name| words.get(name).is_some()))
            .or(words.first())
    }
}

/// Returns the members that name the tool of a result that is put in.
pub fn naming(reading: &Reading) -> Vec<String> {
    let layout = reading.layout.filter(|layout| layout.is_document());
    let template = layout.and_then(|layout| layout.answer.as_ref()?.as_object());
    match &reading.naming {
        Some(naming) => naming.clone(),
        None => {
            let is_tool = |(_, value): &(&String, &Template)| value.as_str() == Some("$tool");
            // That of a result of the same type.
            let kinds = &Table::get().call_paths()[reading.history.rules.kinds.clone()];
            let of = |name: &str| template.and_then(|template| template.get(name));
            let is_own =
                kinds.iter().any(|kind| kind.result.as_ref().and_then(|own| own.get("type")) == of("type"));
            let names = template.into_iter().flatten().filter(is_tool).filter(|_| is_own);
            names.map(|(name, _)| name.clone()).collect()
        }
    }
}
