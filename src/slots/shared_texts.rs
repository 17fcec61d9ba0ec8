//! Shares the limits among the texts of one result.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use super::caller::{Caller, amounts, exceeded, less};
use super::clamp_slots::{SlotKind, is_rest};
use super::held_text::{self, SEARCHED};
use super::slot_rules::SlotRules;
use super::slot_text::{parted, windows_for};
use crate::encoding::{Size, StringPiece, Utf16};
use crate::json::Literal;
use crate::json::held::Chars;
use crate::limits::{Limits, Usage};
use crate::notice::Notice;
use crate::policy::{Keep, Policy, Share};
use crate::share::{BlockCut, share};
use crate::truncate::figures::KeptParts;
use crate::truncate::input::{Input, Pieces};
use crate::truncate::pass::Found;
use crate::truncate::truncate;
use crate::truncate::worded::{NoticeFacts, settle};

/// The outcome for one of several texts.
#[derive(PartialEq, Eq)]
pub enum SharedText {
    Whole,
    Text(String),
    /// The text was dropped, and a notice is in its place.
    Notice(String),
    Gone,
}

/// The rest of one of several texts.
pub struct Shared {
    pub left: SharedText,
    /// The size of its kept parts, if figures are read.
    pub kept: Usage,
}

pub fn share_texts(kinds: &[SlotKind], texts: &[&Literal], rules: &SlotRules, caller: Caller) -> Vec<Shared> {
    let (policy, of_data) = (&rules.policy, &rules.head().policy);
    let all = || kinds.iter().map(|kind| is_rest(*kind)).zip(texts);
    let ends: Vec<Ends> =
        all().map(|(is_rest, text)| Ends::of(text, if is_rest { of_data } else { policy })).collect();
    let readers: Vec<_> = texts.iter().map(|text| reader(text)).collect();
    let places = |caller: Caller| -> Vec<OnceCell<Arc<Found>>> {
        let place = |text: &&Literal| text.held().map_or_else(OnceCell::new, |held| caller.found(held));
        texts.iter().map(place).collect()
    };
    let (found, others) = (places(caller), places(caller.elsewhere()));
    let share = |own: &Policy| {
        // A search is for its limits.
        let found = if own.limits == policy.limits { &found } else { &others };
        let parts = all().zip(ends.iter().zip(&readers)).zip(found);
        let inputs: Vec<_> = parts
            .map(|(((is_rest, _), (ends, reader)), found)| ends.input(reader, found).of_data(is_rest))
            .collect();
        share(&inputs, own, caller.counts || caller.words.is_some())
    };
    let blocks = match caller.words {
        None => share(policy),
        Some(words) => {
            let facts = |blocks: &Vec<BlockCut>| facts(blocks, texts, policy);
            let has = |blocks: &Vec<BlockCut>, text: &str| !text.is_empty() && text_of(blocks).contains(text);
            settle(policy, words, share, facts, has, |a, b| parts_of(a) == parts_of(b))
        }
    };
    blocks.into_iter().zip(texts).map(|(block, text)| shared(block, text, rules, caller)).collect()
}

fn shared(block: BlockCut, text: &Literal, rules: &SlotRules, caller: Caller) -> Shared {
    let counted = |count: &dyn Fn() -> Usage| if caller.counts { count() } else { Usage::default() };
    match block {
        BlockCut::Whole => Shared { left: SharedText::Whole, kept: counted(&|| amounts(text)) },
        BlockCut::Lines(left) => {
            let left = parted(String::from_utf16_lossy(&left), rules);
            let kept = counted(&|| kept_of_lines(text, &rules.policy));
            Shared { left: SharedText::Text(left), kept }
        }
        BlockCut::Cut(cut) => {
            let left = parted(cut.middle.clone(), rules);
            let size = cut.within.as_ref().map_or(Usage::default(), KeptParts::usage);
            let kept = counted(&|| less(size, &cut.middle, &left));
            Shared { left: SharedText::Text(left), kept }
        }
        BlockCut::Gone => Shared { left: SharedText::Gone, kept: Usage::default() },
        BlockCut::Replaced(text) => {
            let left = SharedText::Notice(parted(text.into_owned(), rules));
            Shared { left, kept: Usage::default() }
        }
    }
}

/// Measures a text without the ends of its long lines.
fn kept_of_lines(text: &Literal, policy: &Policy) -> Usage {
    let limits = Limits { line_bytes: policy.limits.line_bytes, ..Limits::NONE };
    let units = text.units();
    let input = Input::whole(Utf16(&units));
    let cut = truncate(&input, &Policy { limits, notice: Notice::None, ..Policy::default() });
    cut.map_or_else(|| amounts(text), |cut| cut.kept(&input).usage())
}

/// Returns the block with the notice: the last truncated one or, without any, the last dropped
/// one.
fn carrier(blocks: &[BlockCut]) -> Option<usize> {
    let last = |is: fn(&BlockCut) -> bool| blocks.iter().rposition(is);
    last(|block| matches!(block, BlockCut::Cut(_)))
        .or_else(|| last(|block| matches!(block, BlockCut::Gone | BlockCut::Replaced(_))))
}

fn text_of(blocks: &[BlockCut]) -> &str {
    match carrier(blocks).map(|at| &blocks[at]) {
        Some(BlockCut::Cut(cut)) => &cut.middle,
        Some(BlockCut::Replaced(text)) => text,
        _ => "",
    }
}

/// Returns the facts of a notice, which counts the text of the block that carries it and the
/// dropped blocks.
fn facts(blocks: &[BlockCut], texts: &[&Literal], policy: &Policy) -> Option<NoticeFacts> {
    let carrier = carrier(blocks)?;
    let is_missing =
        |at: usize| at == carrier || matches!(blocks[at], BlockCut::Gone | BlockCut::Replaced(_));
    let missing = (0..blocks.len()).filter(|at| is_missing(*at)).map(|at| amounts(texts[at]));
    let (keep, kept) = match &blocks[carrier] {
        BlockCut::Cut(cut) => (cut.keep, cut.within.clone().unwrap_or_default()),
        _ => (Keep::Head, KeptParts::default()),
    };
    let judged = if policy.share == Share::Each { &texts[carrier..=carrier] } else { texts };
    let total = missing.fold(Usage::default(), Usage::plus);
    Some(NoticeFacts::of(keep, total, kept, exceeded(judged, &policy.limits)))
}

/// Returns the kept parts of each block.
fn parts_of(blocks: &[BlockCut]) -> Vec<Option<(Vec<Range<usize>>, usize)>> {
    let parts = |block: &BlockCut| match block {
        BlockCut::Whole | BlockCut::Gone => None,
        BlockCut::Cut(cut) => cut.within.as_ref().map(|kept| (kept.ranges.clone(), kept.size.bytes)),
        BlockCut::Lines(_) | BlockCut::Replaced(_) => Some((vec![], 0)),
    };
    blocks.iter().map(parts).collect()
}

fn reader<'t>(text: &'t Literal) -> impl Fn(&mut dyn FnMut(StringPiece) -> bool) + 't {
    move |take| text.held().into_iter().for_each(|held| held.each(take))
}

/// Both ends of a text that a cut can need.
struct Ends<'a> {
    head: Chars<'a, u16>,
    tail: Chars<'a, u16>,
    chars: usize,
    /// The size of a text that is here. That of a held one is counted if it is needed.
    totals: Option<Size>,
}

impl<'a> Ends<'a> {
    fn of(text: &Literal<'a>, policy: &Policy) -> Ends<'a> {
        let (head, tail, chars, totals): (Chars<u16>, Chars<u16>, _, _) = match text.held() {
            Some(held) => {
                let (head, tail) = held_text::ends(held, policy);
                (head, tail, held.units(), None)
            }
            None => {
                let size = text.size();
                let (head, tail) = windows_for(text, size, policy);
                (Box::new(head), Box::new(tail), size.chars, Some(size))
            }
        };
        Ends { head, tail, chars, totals }
    }

    fn input<'t>(&'t self, each: Pieces<'t>, found: &'t OnceCell<Arc<Found>>) -> Input<'t, Utf16<'t>> {
        let input = Input::ends(Utf16(&self.head), Utf16(&self.tail), self.chars);
        match self.totals {
            Some(totals) => input.with_totals(totals),
            None if input.is_whole() => input,
            None => input.with_pieces(each, SEARCHED).with_found(found),
        }
    }
}
