//! Payloads of the results in a row, and the words that replace them. `lib/media` does the same to live objects.

use std::ops::AddAssign;

use serde::Serialize;

use super::budget_survey::Limit;
use super::edits::{CACHE_MARKS, block_of};
use super::rewrite_row::{Options, ResultSize};
use super::row_format::Entry;
use super::splice::Splices;
use crate::dialect::ToolResult;
use crate::dialect::path::{As, End, Words};
use crate::json::{Literal, Value, string};
use crate::media::payload::Payload;
use crate::media::runs::{Run, runs};
use crate::slots::payload_name::medium_of;

/// The number of payloads, and their bytes, decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Payloads {
    pub items: u64,
    pub bytes: u64,
}

impl Payloads {
    pub fn of(sizes: impl IntoIterator<Item = usize>) -> Payloads {
        sizes.into_iter().fold(Payloads::default(), |Payloads { items, bytes }, size| Payloads {
            items: items + 1,
            bytes: bytes + size as u64,
        })
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
    blocks: Vec<Block<'d>>,
    texts: Vec<Text<'d>>,
}

/// A payload in a block of its own.
#[derive(Debug)]
struct Block<'d> {
    payload: Payload,
    how: Words,
    holder: Value<'d>,
    block: Value<'d>,
}

/// A string with payloads.
#[derive(Debug)]
struct Text<'d> {
    value: Value<'d>,
    /// The text, or its JSON if it is part of data.
    text: String,
    is_json: bool,
    runs: Vec<Run>,
}

impl<'d> ResultMedia<'d> {
    pub fn of(result: &ToolResult<'d>) -> ResultMedia<'d> {
        ResultMedia { texts: texts_of(result), ..ResultMedia::of_blocks(result) }
    }

    /// Reads only the payloads in blocks of their own, which a plan names.
    pub fn of_blocks(result: &ToolResult<'d>) -> ResultMedia<'d> {
        let mut ends = vec![];
        result.dialect.media.follow(result.object, &mut |paths, value| {
            if let (Some(End::Payload(how)), Some(text)) = (paths.end, value.text()) {
                ends.push((how, value, text));
            }
            value.text().is_some()
        });
        let blocks = ends.into_iter().filter_map(|(how, value, text)| {
            let holder = value.parent().filter(|holder| how != Words::None && *holder != result.object)?;
            let block = block_of(result, holder).unwrap_or_else(|| member_of(result, holder));
            let payload = Payload::of(&text.string(), said_of(holder, block))?;
            Some(Block { payload, how, holder, block })
        });
        ResultMedia { blocks: blocks.collect(), texts: vec![] }
    }

    /// Returns the bytes of each, decoded.
    pub fn sizes(&self) -> Vec<usize> {
        let blocks = self.blocks.iter().map(|block| block.payload.bytes);
        blocks.chain(self.texts.iter().flat_map(|text| &text.runs).map(|run| run.bytes)).collect()
    }

    /// Replaces payloads with words, and counts them. `gone` tells of each if it goes.
    pub fn drop(&self, splices: &mut Splices, gone: &[bool]) -> Payloads {
        let going = self.sizes().into_iter().zip(gone).filter(|(_, gone)| **gone).map(|(size, _)| size);
        let dropped = Payloads::of(going);
        let mut gone = gone.iter().copied().chain(std::iter::repeat(false));
        for block in &self.blocks {
            if gone.next() == Some(true) {
                block.drop(splices);
            }
        }
        for Text { value, text, is_json, runs } in &self.texts {
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

impl Block<'_> {
    fn drop(&self, splices: &mut Splices) {
        let words = self.payload.words();
        let tag = |tag: &str| format!("{{\"type\":{},\"text\":{}", string(tag), string(&words));
        let is_input =
            || self.block.get("type").and_then(Value::string).is_some_and(|tag| tag.starts_with("input_"));
        let open = match self.how {
            Words::Text => tag("text"),
            Words::Input => tag(if is_input() { "input_text" } else { "text" }),
            Words::Bare => format!("{{\"text\":{}", string(&words)),
            Words::Logs => format!("{{\"type\":\"logs\",\"logs\":{}", string(&words)),
            Words::File => {
                splices.set(self.holder, "mimeType", string("text/plain"));
                return splices.set(self.holder, "data", string(&encode(words.as_bytes())));
            }
            Words::Source => {
                splices.set(self.holder, "type", string("text"));
                splices.set(self.holder, "media_type", string("text/plain"));
                return splices.set(self.holder, "data", string(&words));
            }
            Words::None => return,
        };
        let marks = CACHE_MARKS
            .iter()
            .filter_map(|mark| Some(format!(",{}:{}", string(mark), self.block.get(mark)?.compact())));
        splices.replace(self.block, open + &marks.collect::<String>() + "}");
    }
}

/// Returns the member of a result that a value is in.
fn member_of<'d>(result: &ToolResult<'d>, value: Value<'d>) -> Value<'d> {
    let mut at = value;
    while let Some(parent) = at.parent().filter(|parent| *parent != result.object) {
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

/// Finds the base64 in the texts of a result. Data that no path reads may be a block of its own, and is left alone.
fn texts_of<'d>(result: &ToolResult<'d>) -> Vec<Text<'d>> {
    let slots = result.slots.iter().filter(|slot| slot.json != Some(As::Rest));
    let texts = slots.flat_map(|slot| {
        let is_json = slot.json.is_some_and(|json| json != As::Encoded);
        slot.value.leaves().filter_map(move |value| Text::of(value, is_json))
    });
    texts.collect()
}

impl<'d> Text<'d> {
    fn of(value: Value<'d>, is_json: bool) -> Option<Text<'d>> {
        let text = value.text().as_ref().map(Literal::string)?;
        let text = if is_json { string(&text) } else { text };
        let runs = runs(text.as_bytes());
        (!runs.is_empty()).then_some(Text { value, text, is_json, runs })
    }
}

/// Encodes words as base64.
fn encode(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let bits = chunk.iter().chain(&[0; 3]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let sign = |at: usize| if at > chunk.len() { '=' } else { SIGNS[bits >> (18 - 6 * at) & 63].into() };
        [0, 1, 2, 3].map(sign)
    };
    bytes.chunks(3).flat_map(group).collect()
}

impl Options {
    /// Measures the payloads of each result.
    pub fn media_sizes(&self, entry: &Entry) -> Vec<ResultSize> {
        let size = |(message, result): &(usize, ToolResult)| {
            let media = ResultMedia::of(result).sizes();
            ResultSize { message: *message, media, ..ResultSize::default() }
        };
        self.results_by_message(entry).iter().map(size).collect()
    }

    /// Returns a row without payloads that go, the number of results that lose some, and what they lose; `None` if none
    /// does.
    pub fn without_media(&self, entry: &Entry, lights: &[Limit]) -> Option<(Vec<u8>, usize, Payloads)> {
        let (results, mut splices) = (self.results(entry), Splices::default());
        let (mut applied, mut dropped) = (0, Payloads::default());
        for light in lights {
            let Some(result) = results.get(light.nth) else { continue };
            let media = ResultMedia::of(result);
            if media.sizes().len() != light.gone.len() {
                continue;
            }
            applied += 1;
            dropped += media.drop(&mut splices, &light.gone);
            if let Some(copy) = result.copy() {
                splices.mirror(result.object, copy);
            }
        }
        (applied > 0).then(|| (splices.written_row(entry.root), applied, dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::base64::decode;

    #[test]
    fn words_are_encoded_as_they_decode() {
        for words in ["", "a", "ab", "abc", "[... 3 bytes omitted]"] {
            let encoded = encode(words.as_bytes());
            assert_eq!(encoded.len() % 4, 0);
            assert_eq!(decode(encoded.as_bytes()), words.as_bytes());
        }
        assert_eq!(encode(b"abcd"), "YWJjZA==");
    }
}
