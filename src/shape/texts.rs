//! Cuts long strings as texts.
//!
//! The beginning of a log says the least of it, so a long string that must be shortened is searched
//! as a text is: its lines of failure stay, and those that answer the question. Room comes first.
//! The bytes of each value are shared while such a string is its beginning, and what the search
//! keeps takes no more bytes, chars or tokens than that beginning. So a search never moves the room
//! of a value that is not a string, and each string is searched once, for the last of all attempts.
//!
//! One budget serves all strings: those that say nothing of a failure or of the question give half
//! of their room to those that do ([`Rooms::favor`]). Without that, five streams have a fifth each,
//! and so has the stream with the error.
//!
//! Escapes make a text longer in JSON than it is. The ratio of the whole string tells how much text
//! fits, and a part that has more escapes than the rest is cut again with the same search.

use std::borrow::Cow;
use std::collections::HashSet;

use super::elements::telling;
use super::rooms::Rooms;
use super::sizes::Sizes;
use crate::encoding::{Text, Utf8};
use crate::json::{Document, Literal, Value, string};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::Notice;
use crate::policy::Policy;
use crate::selection::SearchTerms;
use crate::tokens::Estimate;
use crate::truncate::input::Input;
use crate::truncate::{Terms, pass, truncate_with};

/// Minimum bytes in which a text is searched. In less, marks leave no room for a line.
const LEAST_SEARCHED: usize = 96;
/// Bytes of a string of one line that is searched if it tells something. A shorter one is a name or
/// a sentence.
const LONG_LINE: usize = 1_024;
/// Attempts to fit a text that has more escapes than the ratio says.
const ATTEMPTS: usize = 6;

/// The texts of a document that are cut.
#[derive(Debug)]
pub struct Texts<'p> {
    policy: &'p Policy,
    /// Those that are searched.
    searched: HashSet<u32>,
    /// The longest of them, which has the notice. The others have marks.
    longest: Option<u32>,
}

impl<'p> Texts<'p> {
    /// Finds the texts that have less room than they take, and shares their room by what they tell.
    pub fn new(document: &Document, sizes: &Sizes, rooms: &mut Rooms, policy: &'p Policy) -> Texts<'p> {
        let is_cut = |value: &Value| {
            let source = value.source();
            source[0] == b'"' && (1..source.len()).contains(&rooms.at(value.id())) && !value.is_name()
        };
        let cut: Vec<Value> = document.values().filter(is_cut).collect();
        // The words of a string alone say nothing about its share.
        let tells = match &cut[..] {
            [one] if has_lines(one.source()) => vec![false],
            _ => telling(&cut, policy),
        };
        let searched: Vec<Value> = cut
            .iter()
            .zip(&tells)
            .filter(|(value, tells)| {
                has_lines(value.source()) || **tells && value.source().len() >= LONG_LINE
            })
            .map(|(value, _)| *value)
            .collect();
        let longest = searched.iter().max_by_key(|value| value.source().len()).map(|value| value.id());
        if longest.is_some() {
            let of = |tell: bool| -> Vec<u32> {
                let some = cut.iter().zip(&tells).filter(|(_, tells)| **tells == tell);
                some.map(|(value, _)| value.id()).collect()
            };
            rooms.favor(sizes, &of(false), &of(true));
        }
        Texts { policy, searched: searched.into_iter().map(Value::id).collect(), longest }
    }

    /// Returns true if no string of the document is cut as a text.
    pub fn is_empty(&self) -> bool {
        self.longest.is_none()
    }

    /// Returns the JSON of what a search keeps of a string, given with its quotes, in the room that
    /// its beginning takes. `None` if the beginning says as much.
    pub fn cut(&self, id: u32, quoted: &[u8], beginning: &[u8]) -> Option<String> {
        let (literal, policy) = (Literal::of(quoted), self.policy);
        if beginning.len() < LEAST_SEARCHED || !self.searched.contains(&id) || has_lone(quoted, &literal) {
            return None;
        }
        let text = literal.string();
        let mark = if policy.notice == Notice::None { Notice::None } else { Notice::Mark };
        let notice = if self.longest == Some(id) { &policy.notice } else { &mark };
        let most = Room::of(beginning, policy);
        let mut room = most.scaled(text.len(), quoted.len());
        let input = Input::whole(Utf8(text.as_bytes()));
        let found = pass::select(&input, &room.limits(), SearchTerms::of(policy));
        for _ in 0..ATTEMPTS {
            let terms = Terms { limits: room.limits(), notice, ..Terms::from(policy) };
            let json = string(&truncate_with(&input, terms, || Some(Cow::Borrowed(&*found)))?.string(&input));
            let taken = Room::of(json.as_bytes(), policy);
            match taken.most_over(most) {
                None => return Some(json),
                Some((limit, taken)) => room = room.scaled(limit, taken + taken / 32 + 1),
            }
        }
        None
    }
}

/// Returns true if a string, given with its quotes, has more than one line.
fn has_lines(quoted: &[u8]) -> bool {
    memchr::memmem::find(quoted, br"\n").is_some()
}

/// Returns true if a string has a lone surrogate, which only an escape can spell.
fn has_lone(quoted: &[u8], text: &Literal) -> bool {
    memchr::memmem::find(quoted, br"\u").is_some() && text.has_lone()
}

/// The bytes, chars and tokens of JSON.
#[derive(Clone, Copy, Debug)]
struct Room([usize; 3]);

impl Room {
    fn of(json: &[u8], policy: &Policy) -> Room {
        let size = Utf8(json).size();
        let counts = policy.limits.counts_tokens();
        Room([size.bytes, size.chars, if counts { Estimate::of(Utf8(json)).tokens() } else { UNLIMITED }])
    }

    /// Returns this room times `part` of `whole`.
    fn scaled(self, part: usize, whole: usize) -> Room {
        let scale = |size: usize| (size as u128 * part as u128 / whole.max(1) as u128) as usize;
        Room(self.0.map(|size| if size == UNLIMITED { size } else { scale(size) }))
    }

    /// Returns the limit that is exceeded by the greatest part, and what exceeds it.
    fn most_over(self, most: Room) -> Option<(usize, usize)> {
        let over = most.0.into_iter().zip(self.0).filter(|(most, taken)| taken > most);
        over.max_by(|(most, taken), (other, more)| {
            (*taken as u128 * *other as u128).cmp(&(*more as u128 * *most as u128))
        })
    }

    fn limits(self) -> Limits {
        let [bytes, chars, tokens] = self.0;
        Limits { bytes, chars, tokens, ..Limits::NONE }
    }
}
