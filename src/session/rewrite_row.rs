//! Rewrites one row.

use super::budget_survey::Limit;
use super::cuts::Cuts;
use super::edits::edit;
use super::offsets;
use super::row_format::RowEntry;
use super::row_payloads::{Payloads, ResultMedia};
use super::rows::Row;
use super::splice::Splices;
use crate::dialect::structured::{CopyChoice, copies};
use crate::dialect::{Table, ToolResult};
use crate::encoding::Utf16;
use crate::json::{Document, Literal, Value};
use crate::media::{self, Item};
use crate::notice::earlier;
use crate::slots::caller::Caller;
use crate::slots::clamp_slots::{SlotCuts, SlotEdit, clamp_slots};
use crate::slots::slot_rules::SlotRules;
use crate::truncate::figures::Original;
use crate::truncate::input::Input;

/// The options that apply to every row.
#[derive(Clone, Debug, Default)]
pub struct RowOptions {
    pub rules: SlotRules,
    pub side: SideData,
    /// Copies to keep of content that an MCP result carries twice.
    pub structured: CopyChoice,
    /// True to derive the question of each result from its history.
    pub asks: bool,
    /// Budget of the payloads of all results together.
    pub media: Option<media::MediaBudget>,
    /// Only process results of this dialect.
    pub dialect: Option<String>,
}

/// The treatment of side data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideData {
    #[default]
    Keep,
    /// Shrink to `max` bytes if larger than `max + spare`.
    Cap {
        max: usize,
        spare: usize,
    },
    Drop,
}

/// Finds the question that a result answers.
pub type Ask<'a> = &'a mut dyn FnMut(&ToolResult) -> Vec<String>;

/// The outcome of rewriting a row.
#[derive(Debug, Default)]
pub struct RowChange {
    /// The new row, if it differs.
    pub row: Option<Vec<u8>>,
    /// Results that lost content.
    pub cuts: Cuts,
    /// The number of limits that matched a result.
    pub limits: usize,
    /// Blanks that keep the length of the row.
    pub padded: u64,
    /// The new row has marks in place of secrets.
    pub is_redacted: bool,
    /// The row keeps its secrets, since with the marks it would be longer.
    pub unredacted: bool,
}

impl RowChange {
    /// Returns the new row, filled up to the length of the `old` one if it has to keep that. A row
    /// that would be longer stays.
    pub fn of_length(&mut self, new: Option<Vec<u8>>, old: Option<&[u8]>) -> Option<Vec<u8>> {
        let (Some(new), Some(old)) = (&new, old) else { return new };
        let padded = old.len().saturating_sub(new.len()) as u64;
        let filled = offsets::filled(new, old).filter(|filled| filled != old);
        let (limits, unredacted) = (self.limits, self.is_redacted && new.len() > old.len());
        *self = match filled.is_some() {
            true => RowChange { padded, ..std::mem::take(self) },
            false => RowChange { limits, unredacted, ..RowChange::default() },
        };
        filled
    }
}

/// The changes of a row before its texts are truncated.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prepared {
    /// True if the row differs from that in the file.
    pub is_new: bool,
    pub is_redacted: bool,
    /// The number of results that lose payloads, and those payloads.
    pub applied: usize,
    pub media: Payloads,
}

/// A tool result, measured for planning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSize {
    /// The index of its message in the row.
    pub message: usize,
    pub id: Option<String>,
    /// Chars at present, and after its own limits.
    pub present: usize,
    pub chars: usize,
    /// The original that its notices describe.
    pub original: Original,
    /// The payloads in blocks of their own.
    pub media: Vec<Item>,
}

impl RowOptions {
    pub fn results<'d>(&self, entry: &RowEntry<'d>) -> Vec<ToolResult<'d>> {
        self.results_by_message(entry).into_iter().map(|(_, result)| result).collect()
    }

    /// Returns the results of a row, each with the index of its message.
    pub fn results_by_message<'d>(&self, entry: &RowEntry<'d>) -> Vec<(usize, ToolResult<'d>)> {
        let results = |(at, message): (usize, &Value<'d>)| {
            let results = Table::get().results(*message, self.dialect.as_deref());
            results.into_iter().map(move |result| (at, result))
        };
        entry.messages.iter().enumerate().flat_map(results).collect()
    }

    /// Returns a row whose results carry nothing twice, if it differs.
    pub fn sent_once(&self, row: &Row) -> Option<Vec<u8>> {
        if self.structured == CopyChoice::Both {
            return None;
        }
        let document = row.document()?;
        self.without_copies(&row.entry(&document))
    }

    fn without_copies(&self, entry: &RowEntry) -> Option<Vec<u8>> {
        let mut splices = Splices::default();
        for copy in self.results(entry).iter().flat_map(|result| copies(result, self.structured)) {
            match copy.name() {
                Some(_) => splices.remove_named(copy),
                None => splices.remove(copy),
            }
        }
        (!splices.is_empty()).then(|| splices.written_row(entry.root))
    }

    /// Returns the copies in a row that are not sent to a model: of its results, or in a row
    /// without messages, of results elsewhere.
    pub fn shown<'d>(&self, entry: &RowEntry<'d>, results: &[ToolResult]) -> Vec<Value<'d>> {
        let is_of_others = entry.messages.is_empty() && self.dialect.is_none();
        if is_of_others || !results.is_empty() { entry.shown() } else { vec![] }
    }

    /// Passes a row to `then` after the first steps: without the secrets of its results and without
    /// the payloads in `lights`. Copies are removed before: see [`RowOptions::sent_once`].
    pub fn prepared<T>(
        &self,
        row: &[u8],
        entry: &RowEntry,
        lights: &[Limit],
        then: impl FnOnce(&[u8], &RowEntry, Prepared) -> T,
    ) -> T {
        let lighten = |row: &[u8], entry: &RowEntry, is_redacted: bool| match self
            .without_media(entry, lights)
        {
            None => then(row, entry, Prepared { is_new: is_redacted, is_redacted, ..Prepared::default() }),
            Some((light, applied, media)) => {
                let document = Document::parse(&light).expect("JSON with words for payloads");
                let prepared = Prepared { is_new: true, is_redacted, applied, media };
                then(&light, &entry.again(document.root()), prepared)
            }
        };
        let Some(open) = self.without_secrets(entry) else { return lighten(row, entry, false) };
        let document = Document::parse(&open).expect("JSON with other strings");
        lighten(&open, &entry.again(document.root()), true)
    }

    /// Truncates the results of a row. `limits` are those of a budget for some of its results, in
    /// order. `ask` tells what was asked of a result, and `lights` those of its payloads.
    pub fn rewrite(
        &self,
        row: &[u8],
        entry: &RowEntry,
        lights: &[Limit],
        limits: &[Limit],
        ask: Ask,
    ) -> RowChange {
        self.prepared(row, entry, lights, |row, entry, prepared| {
            let Prepared { is_new, is_redacted, applied, media } = prepared;
            let RowChange { row: mut new, mut cuts, limits, .. } = self.truncate(row, entry, limits, ask);
            if self.structured != CopyChoice::Both
                && let Some(cut) = &new
            {
                // A cut may make two members equal.
                let document = Document::parse(cut).expect("JSON with shorter values");
                new = self.without_copies(&entry.again(document.root())).or(new);
            }
            cuts.over = cuts.over.max(applied as u64);
            cuts.media += media;
            let row = new.or_else(|| is_new.then(|| row.to_vec()));
            RowChange { row, cuts, limits: limits + applied, is_redacted, ..RowChange::default() }
        })
    }

    fn truncate(&self, row: &[u8], entry: &RowEntry, limits: &[Limit], ask: Ask) -> RowChange {
        let results = self.results(entry);
        let (mut splices, mut cuts, mut applied) = (Splices::default(), Cuts::default(), 0);
        for (nth, result) in results.iter().enumerate() {
            let texts = texts_of(result);
            let limit = limits.binary_search_by_key(&nth, |limit| limit.nth).ok().map(|at| &limits[at]);
            let limit = limit.filter(|limit| limit.present == chars_of(&texts));
            applied += usize::from(limit.is_some());
            let rules = self.rules.failed(result.is_error());
            let rules = match limit {
                Some(limit) => rules.shortened(limit.max_chars),
                None => rules.into_owned(),
            };
            let rules = self.asking(rules, result, &texts, ask);
            let clamped = clamp_slots(&result.slots, &texts, &rules, Caller::default());
            edit(&mut splices, result, &clamped.edits);
            if clamped.truncated {
                cuts.texts += 1;
                cuts.bytes += texts.iter().map(|text| text.size().bytes as u64).sum::<u64>();
                cuts.left += texts.iter().zip(&clamped.edits).map(left).sum::<u64>();
            }
            let gone = limit.map_or(&[][..], |limit| &limit.gone);
            if gone.contains(&true) {
                cuts.media += ResultMedia::of_blocks(result).drop(&mut splices, gone);
            }
            cuts.add(clamped.truncated || gone.contains(&true), self.cap_side_data(&mut splices, result));
            cuts.worth += u64::from(is_worth(entry, &texts, &clamped));
            if let Some(copy) = result.copy() {
                splices.mirror(result.object, copy);
            }
        }
        for copy in self.shown(entry, &results) {
            if self.cap(&mut splices, copy, results.is_empty()) {
                cuts.add_copy();
            }
        }
        // A replacement may equal the original.
        let new = (!splices.is_empty()).then(|| splices.written_row(entry.root)).filter(|new| *new != row);
        let cuts = if new.is_some() { cuts } else { Cuts::default() };
        RowChange { cuts, row: new, limits: applied, ..RowChange::default() }
    }

    /// Counts the results that a repair would cut.
    pub fn cuts(&self, entry: &RowEntry, results: &[ToolResult]) -> Cuts {
        let mut cuts = Cuts::default();
        for result in results {
            let rules = self.rules.failed(result.is_error());
            let texts = texts_of(result);
            let clamped = clamp_slots(&result.slots, &texts, &rules, Caller::default());
            cuts.worth += u64::from(is_worth(entry, &texts, &clamped));
            cuts.add(
                clamped.truncated,
                result.side_data().into_iter().any(|member| self.capped(member).is_some()),
            );
        }
        if self.shown(entry, results).into_iter().any(|copy| self.capped(copy).is_some()) {
            cuts.add_copy();
        }
        cuts
    }

    /// Returns true if a repair makes any result smaller by a tenth or more for the model.
    pub fn is_worth(&self, entry: &RowEntry, results: &[ToolResult]) -> bool {
        let limits = self.rules.policy.limits;
        let is_surely = |result: &ToolResult| match &result.slots[..] {
            // A text far over the limits need not be searched to know that it becomes smaller.
            [slot] if slot.json.is_none() && !slot.is_rest() => {
                is_tenth_less(entry, chars_of(&texts_of(result)), limits.bytes.min(limits.chars))
            }
            _ => false,
        };
        results.iter().any(is_surely) || self.cuts(entry, results).worth > 0
    }

    fn asking(&self, rules: SlotRules, result: &ToolResult, texts: &[Literal], ask: Ask) -> SlotRules {
        if self.asks { rules.asking(texts, || ask(result)) } else { rules }
    }

    /// Measures the results of a row that is prepared.
    pub fn measure(&self, entry: &RowEntry, ask: Ask) -> Vec<ResultSize> {
        let measure = |(message, result): &(usize, ToolResult)| {
            let message = *message;
            let texts = texts_of(result);
            let rules = self.asking(self.rules.failed(result.is_error()).into_owned(), result, &texts, ask);
            let clamped = clamp_slots(&result.slots, &texts, &rules, Caller::default());
            let (chars, original) = after(&texts, &clamped);
            let media = ResultMedia::of_blocks(result).items();
            ResultSize { message, id: result.id(), present: chars_of(&texts), chars, original, media }
        };
        self.results_by_message(entry).iter().map(measure).collect()
    }
}

pub fn texts_of<'d>(result: &ToolResult<'d>) -> Vec<Literal<'d>> {
    result.slots.iter().map(|slot| slot.text()).collect()
}

/// Returns true if a model is sent less by a tenth or more after a cut.
fn is_worth(entry: &RowEntry, texts: &[Literal], clamped: &SlotCuts) -> bool {
    clamped.truncated && is_tenth_less(entry, chars_of(texts), after(texts, clamped).0)
}

/// Returns true if a model is sent less by a tenth or more of texts that lose chars.
fn is_tenth_less(entry: &RowEntry, before: usize, after: usize) -> bool {
    let most = entry.known_layout().and_then(|layout| layout.cuts).unwrap_or(usize::MAX);
    let [before, after] = [before, after].map(|chars| chars.min(most));
    before > after && (before - after).saturating_mul(LEAST_WORTH) >= before
}

/// The least part of a result that a repair is worth.
const LEAST_WORTH: usize = 10;

/// Returns the bytes of a text that an edit leaves.
fn left((text, edit): (&Literal, &SlotEdit)) -> u64 {
    let bytes = match edit {
        SlotEdit::Keep | SlotEdit::Mend => text.size().bytes,
        SlotEdit::Replace(new) | SlotEdit::Put(new) => new.len(),
        SlotEdit::Cut(cut) => cut.string(text).len(),
        SlotEdit::Drop => 0,
    };
    bytes as u64
}

fn chars_of(texts: &[Literal]) -> usize {
    texts.iter().map(|text| text.size().chars).sum()
}

/// Returns the remaining chars, and the original that their notices state.
fn after(texts: &[Literal], clamped: &SlotCuts) -> (usize, Original) {
    let (mut chars, mut original) = (0, Original::default());
    for (text, edit) in texts.iter().zip(&clamped.edits) {
        let made;
        let text = match edit {
            SlotEdit::Drop => continue,
            SlotEdit::Replace(new) | SlotEdit::Put(new) => {
                made = new.clone().into();
                &made
            }
            SlotEdit::Cut(cut) => {
                made = cut.string(text).into();
                &made
            }
            SlotEdit::Keep | SlotEdit::Mend => text,
        };
        let length = text.size().chars;
        // The ends of a long text suffice to find most notices.
        let (head, tail) = match length <= earlier::SEARCHED {
            true => (text.units(), vec![]),
            false => (text.head(earlier::LONGEST), text.tail(earlier::LONGEST)),
        };
        chars += length;
        original = original.and(Original::of(&Input::ends(Utf16(&head), Utf16(&tail), length)));
    }
    (chars, original)
}
