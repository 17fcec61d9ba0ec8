//! Payloads of the results in a row, and the words that replace them. `lib/media` does the same to
//! live objects.

use std::ops::AddAssign;

use serde::Serialize;

use super::budget_survey::Limit;
use super::edits::{CACHE_MARKS, block_of};
use super::rewrite_row::{ResultSize, RowOptions};
use super::row_format::RowEntry;
use super::splice::Splices;
use crate::dialect::path::{As, PayloadWords};
use crate::dialect::{Table, ToolResult};
use crate::json::{Literal, Value, string};
use crate::media::payload::Payload;
use crate::media::runs::{PayloadRun, runs};
use crate::media::{Item, ProviderLimits, base64};
use crate::slots::payload_name::medium_of;

/// The number of payloads, and their bytes, decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Payloads {
    pub items: u64,
    pub bytes: u64,
}

impl Payloads {
    pub fn of(items: &[Item]) -> Payloads {
        let bytes = items.iter().map(|item| item.bytes as u64).sum();
        Payloads { items: items.len() as u64, bytes }
    }
}

impl AddAssign for Payloads {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.bytes += other.bytes;
    }
}

/// The payloads of a result, in blocks and then in texts.
#[derive(Debug)]
pub struct ResultMedia<'d> {
    blocks: Vec<PayloadBlock<'d>>,
    texts: Vec<PayloadText<'d>>,
}

/// A payload in a block of its own.
#[derive(Debug)]
struct PayloadBlock<'d> {
    payload: Payload,
    how: PayloadWords,
    holder: Value<'d>,
    block: Value<'d>,
    from_user: bool,
}

/// A string with payloads.
#[derive(Debug)]
struct PayloadText<'d> {
    value: Value<'d>,
    /// The text, or its JSON if it is part of data.
    text: String,
    is_json: bool,
    runs: Vec<PayloadRun>,
}

impl<'d> ResultMedia<'d> {
    pub fn of(result: &ToolResult<'d>) -> ResultMedia<'d> {
        ResultMedia { texts: texts_of(result), ..ResultMedia::of_blocks(result) }
    }

    /// Reads only the payloads in blocks of their own, which a plan names.
    pub fn of_blocks(result: &ToolResult<'d>) -> ResultMedia<'d> {
        let payloads = result.dialect.media.payloads(result.object);
        ResultMedia { blocks: blocks_in(result.object, payloads, false), texts: vec![] }
    }

    /// Reads the payloads that a message of the user carries.
    pub fn pasted(message: Value<'d>, dialect: Option<&str>) -> ResultMedia<'d> {
        let payloads = Table::get().pasted(message, dialect);
        ResultMedia { blocks: blocks_in(message, payloads, true), texts: vec![] }
    }

    /// Returns the measures of each.
    pub fn items(&self) -> Vec<Item> {
        let blocks = self.blocks.iter().map(|block| block.payload.item(block.from_user));
        blocks.chain(self.texts.iter().flat_map(|text| &text.runs).map(PayloadRun::item)).collect()
    }

    /// Replaces payloads with words, and counts them. `gone` says of each if it is removed.
    pub fn drop(&self, splices: &mut Splices, gone: &[bool]) -> Payloads {
        let going = self.items().into_iter().zip(gone).filter(|(_, gone)| **gone).map(|(item, _)| item);
        let dropped = Payloads::of(&going.collect::<Vec<Item>>());
        let mut gone = gone.iter().copied().chain(std::iter::repeat(false));
        for block in &self.blocks {
            if gone.next() == Some(true) {
                block.drop(splices);
            }
        }
        for PayloadText { value, text, is_json, runs } in &self.texts {
            let (mut left, mut from) = (String::new(), 0);
            for run in runs {
                if gone.next() == Some(true) {
                    left += &text[from..run.range.start];
                    left += &run.words();
                    from = run.range.end;
                }
            }
            if from > 0 {
                left += &text[from..];
                splices.replace(*value, if *is_json { left } else { string(&left) });
            }
        }
        dropped
    }
}

impl PayloadBlock<'_> {
    fn drop(&self, splices: &mut Splices) {
        let words = self.payload.words();
        let tag = |tag: &str| format!("{{\"type\":{},\"text\":{}", string(tag), string(&words));
        let is_input =
            || self.block.get("type").and_then(Value::string).is_some_and(|tag| tag.starts_with("input_"));
        let open = match self.how {
            PayloadWords::Text => tag("text"),
            PayloadWords::Input => tag(if is_input() { "input_text" } else { "text" }),
            PayloadWords::Bare => format!("{{\"text\":{}", string(&words)),
            PayloadWords::Logs => format!("{{\"type\":\"logs\",\"logs\":{}", string(&words)),
            PayloadWords::File => {
                splices.set(self.holder, "mimeType", string("text/plain"));
                return splices.set(self.holder, "data", string(&base64::encode(words.as_bytes())));
            }
            PayloadWords::Source => {
                splices.set(self.holder, "type", string("text"));
                splices.set(self.holder, "media_type", string("text/plain"));
                return splices.set(self.holder, "data", string(&words));
            }
            PayloadWords::None => return,
        };
        let marks = CACHE_MARKS
            .iter()
            .filter_map(|mark| Some(format!(",{}:{}", string(mark), self.block.get(mark)?.compact())));
        splices.replace(self.block, open + &marks.collect::<String>() + "}");
    }
}

/// Returns the payloads below an object that have blocks of their own.
fn blocks_in<'d>(
    top: Value<'d>,
    payloads: Vec<(PayloadWords, Value<'d>)>,
    from_user: bool,
) -> Vec<PayloadBlock<'d>> {
    let block = |(how, value): (PayloadWords, Value<'d>)| {
        let holder = value.parent().filter(|holder| how != PayloadWords::None && *holder != top)?;
        let block = block_of(top, holder).unwrap_or_else(|| member_of(top, holder));
        let payload = Payload::of(&value.text()?.string(), said_of(holder, block))?;
        Some(PayloadBlock { payload, how, holder, block, from_user })
    };
    payloads.into_iter().filter_map(block).collect()
}

/// Returns the member of an object that a value is in.
fn member_of<'d>(top: Value<'d>, value: Value<'d>) -> Value<'d> {
    let mut at = value;
    while let Some(parent) = at.parent().filter(|parent| *parent != top) {
        at = parent;
    }
    at
}

/// Returns the type of a payload by the members beside it, or around it up to its block.
fn said_of(holder: Value, block: Value) -> Option<String> {
    let mut at = holder;
    loop {
        let said = medium_of(&at.members().collect::<Vec<_>>());
        if said.is_some() || at == block {
            return said;
        }
        at = at.parent()?;
    }
}

/// Finds the base64 in the texts of a result. Data that no path reads may be a block of its own,
/// and is left alone.
fn texts_of<'d>(result: &ToolResult<'d>) -> Vec<PayloadText<'d>> {
    let slots = result.slots.iter().filter(|slot| slot.json != Some(As::Rest));
    let texts = slots.flat_map(|slot| {
        let is_json = slot.json.is_some_and(|json| json != As::Encoded);
        slot.value.leaves().filter_map(move |value| PayloadText::of(value, is_json))
    });
    texts.collect()
}

impl<'d> PayloadText<'d> {
    fn of(value: Value<'d>, is_json: bool) -> Option<PayloadText<'d>> {
        let text = value.text().as_ref().map(Literal::string)?;
        let text = if is_json { string(&text) } else { text };
        let runs = runs(text.as_bytes());
        (!runs.is_empty()).then_some(PayloadText { value, text, is_json, runs })
    }
}

impl RowOptions {
    /// Measures the payloads of each result and, under the limits of a provider, those in messages
    /// of the user.
    pub fn bounded_media(&self, entry: &RowEntry) -> Vec<ResultSize> {
        let mut sizes = self.media_sizes(entry);
        if self.media.is_none_or(|budget| budget.provider == ProviderLimits::NONE) {
            sizes.retain(|size| size.media.iter().all(|item| !item.from_user));
        }
        sizes
    }

    /// Measures the payloads of each result, and then those in each message of the user that has
    /// any.
    pub fn media_sizes(&self, entry: &RowEntry) -> Vec<ResultSize> {
        let size = |(message, media): (usize, ResultMedia)| ResultSize {
            message,
            media: media.items(),
            ..ResultSize::default()
        };
        let results = self.results_by_message(entry);
        let results = results.iter().map(|(message, result)| (*message, ResultMedia::of(result)));
        results.chain(self.pasted(entry)).map(size).collect()
    }

    /// Returns true if a result of a row, or a message of the user, carries a payload.
    pub fn has_media(&self, entry: &RowEntry, results: &[(usize, ToolResult)]) -> bool {
        let has = |(_, result): &(usize, ToolResult)| !ResultMedia::of(result).items().is_empty();
        results.iter().any(has) || !self.pasted(entry).is_empty()
    }

    /// Returns the payloads in messages of the user, each with the index of its message.
    fn pasted<'d>(&self, entry: &RowEntry<'d>) -> Vec<(usize, ResultMedia<'d>)> {
        let messages = entry.messages.iter().enumerate();
        let pasted = messages.map(|(at, value)| (at, ResultMedia::pasted(*value, self.dialect.as_deref())));
        pasted.filter(|(_, media)| !media.blocks.is_empty()).collect()
    }

    /// Returns a row without payloads that go, the number of results and messages that lose some,
    /// and what they lose; `None` if none does.
    pub fn without_media(&self, entry: &RowEntry, lights: &[Limit]) -> Option<(Vec<u8>, usize, Payloads)> {
        if lights.is_empty() {
            return None;
        }
        let (results, mut splices) = (self.results(entry), Splices::default());
        let pasted = self.pasted(entry);
        let (mut applied, mut dropped) = (0, Payloads::default());
        for light in lights {
            let result = results.get(light.nth);
            let of_user = || Some(&pasted.get(light.nth - results.len())?.1);
            let of_result = result.map(ResultMedia::of);
            let Some(media) = of_result.as_ref().or_else(of_user) else { continue };
            if media.items().len() != light.gone.len() {
                continue;
            }
            applied += 1;
            dropped += media.drop(&mut splices, &light.gone);
            if let Some((result, copy)) = result.and_then(|result| Some((result, result.copy()?))) {
                splices.mirror(result.object, copy);
            }
        }
        (applied > 0).then(|| (splices.written_row(entry.root), applied, dropped))
    }
}
