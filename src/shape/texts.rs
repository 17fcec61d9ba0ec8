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

use super::earlier::EarlierText;
use super::elements::telling;
use super::rooms::Rooms;
use super::sizes::Sizes;
use crate::encoding::{Text, Utf8};
use crate::json::{Document, Literal, Value, string};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::Notice;
use crate::notice::saved::SavedPart;
use crate::policy::{Keep, Policy};
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
pub struct ShortenedTexts<'p> {
    policy: &'p Policy,
    sizes: &'p Sizes,
    /// Those that are searched.
    searched: HashSet<u32>,
    /// The longest of them, which has the notice. The others have marks.
    longest: Option<u32>,
    /// Room has moved to those that tell more.
    has_telling: bool,
}

impl<'p> ShortenedTexts<'p> {
    /// Finds the texts that have less room than they take, and shares their room by what they tell.
    pub fn new(
        document: &Document,
        sizes: &'p Sizes,
        rooms: &mut Rooms,
        policy: &'p Policy,
    ) -> ShortenedTexts<'p> {
        let is_cut = |value: &Value| {
            let source = value.source();
            source[0] == b'"' && (1..source.len()).contains(&rooms.at(value.id())) && !value.is_name()
        };
        let cut: Vec<Value> = document.values().filter(is_cut).collect();
        let seeks = policy.keep != Keep::Head;
        // A head without a notice is the beginning of the string.
        let is_head = !seeks && policy.notice == Notice::None;
        let is_text =
            |value: &Value| !is_head && (has_lines(value.source()) || sizes.named(value.id()).is_some());
        // The words of a string alone say nothing about its share.
        let tells = match &cut[..] {
            [one] if is_text(one) => vec![false],
            _ if !seeks => vec![false; cut.len()],
            _ => telling(&cut, policy),
        };
        let searched: Vec<Value> = cut
            .iter()
            .zip(&tells)
            .filter(|(value, tells)| is_text(value) || **tells && value.source().len() >= LONG_LINE)
            .map(|(value, _)| *value)
            .collect();
        // A text that names its own saved output keeps that name.
        let prominence = |value: &Value| (sizes.named(value.id()).is_none(), value.source().len());
        let longest = searched.iter().copied().max_by_key(prominence).map(Value::id);
        let has_telling = tells.contains(&true) && tells.contains(&false);
        if has_telling {
            let of = |tell: bool| -> Vec<u32> {
                let some = cut.iter().zip(&tells).filter(|(_, tells)| **tells == tell);
                some.map(|(value, _)| value.id()).collect()
            };
            rooms.favor(sizes, &of(false), &of(true));
        }
        let searched = searched.into_iter().map(Value::id).collect();
        ShortenedTexts { policy, sizes, searched, longest, has_telling }
    }

    /// Returns true if all strings are as the room without a search leaves them.
    pub fn is_empty(&self) -> bool {
        self.longest.is_none() && !self.has_telling
    }

    /// Returns the JSON of what a search keeps of a string, given with its quotes, in the room that
    /// its beginning takes. `None` if the beginning says as much.
    pub fn cut(&self, id: u32, quoted: &[u8], beginning: &[u8]) -> Option<String> {
        let (literal, policy, named) = (Literal::of(quoted), self.policy, self.sizes.named(id));
        let is_small = beginning.len() < LEAST_SEARCHED && named.is_none();
        if is_small || !self.searched.contains(&id) || has_lone(quoted, &literal) {
            return None;
        }
        let text = literal.string();
        let notice = self.notice_of(id, named);
        // A text that names a saved output of its own does not name that of the data.
        let is_own = named.is_some_and(|text| text.notice.as_ref() == Some(notice));
        let own = is_own.then(|| Policy { saved: SavedPart::Nowhere, ..policy.clone() });
        let most = JsonRoom::of(beginning, policy);
        let least = named.map_or(0, |text| text.notice_bytes);
        let mut room = most.scaled(text.len(), quoted.len()).between(least, most);
        let input = Input::whole(Utf8(text.as_bytes()));
        let seeks = policy.keep != Keep::Head;
        let found = seeks.then(|| pass::select(&input, &room.limits(), SearchTerms::of(policy)));
        for _ in 0..ATTEMPTS {
            let terms =
                Terms { limits: room.limits(), notice, ..Terms::from(own.as_ref().unwrap_or(policy)) };
            let search = || found.as_deref().map(Cow::Borrowed);
            let json = string(&truncate_with(&input, terms, search)?.string(&input));
            let taken = JsonRoom::of(json.as_bytes(), policy);
            match taken.most_over(most) {
                None => return Some(json),
                Some((limit, taken)) => {
                    room = room.scaled(limit, taken + taken / 32 + 1).between(least, most);
                }
            }
        }
        None
    }

    /// Returns the notice of a text: that of the policy in the longest one, and marks in others,
    /// with the names of their own saved outputs.
    fn notice_of<'a>(&'a self, id: u32, named: Option<&'a EarlierText>) -> &'a Notice {
        match (&self.policy.notice, named.and_then(|text| text.notice.as_ref())) {
            (Notice::None, _) => &Notice::None,
            (Notice::Mark, Some(own)) => own,
            (notice, _) if self.longest == Some(id) => notice,
            (_, Some(own)) => own,
            _ => &Notice::Mark,
        }
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
struct JsonRoom([usize; 3]);

impl JsonRoom {
    fn of(json: &[u8], policy: &Policy) -> JsonRoom {
        let size = Utf8(json).size();
        let counts = policy.limits.counts_tokens();
        JsonRoom([size.bytes, size.chars, if counts { Estimate::of(Utf8(json)).tokens() } else { UNLIMITED }])
    }

    /// Returns this room times `part` of `whole`.
    fn scaled(self, part: usize, whole: usize) -> JsonRoom {
        let scale = |size: usize| (size as u128 * part as u128 / whole.max(1) as u128) as usize;
        JsonRoom(self.0.map(|size| if size == UNLIMITED { size } else { scale(size) }))
    }

    /// Returns the limit that is exceeded by the greatest part, and what exceeds it.
    fn most_over(self, most: JsonRoom) -> Option<(usize, usize)> {
        let over = most.0.into_iter().zip(self.0).filter(|(most, taken)| taken > most);
        over.max_by(|(most, taken), (other, more)| {
            (*taken as u128 * *other as u128).cmp(&(*more as u128 * *most as u128))
        })
    }

    /// Returns at least `least` of each size, unless that is more than `most`.
    fn between(self, least: usize, most: JsonRoom) -> JsonRoom {
        let [bytes, chars, tokens] = self.0;
        JsonRoom([bytes.max(least).min(most.0[0]), chars.max(least).min(most.0[1]), tokens])
    }

    fn limits(self) -> Limits {
        let [bytes, chars, tokens] = self.0;
        Limits { bytes, chars, tokens, ..Limits::NONE }
    }
}
