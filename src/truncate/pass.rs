//! The pass of a search over a text.

use std::borrow::Cow;
use std::ops::Range;

use super::input::Input;
use crate::encoding::{Size, StringPiece, Text};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::counts::NeededCounts;
use crate::policy::Policy;
use crate::selection::{SearchTerms, Selection};

/// Share of the searched text that is at its start, if a text is too long to be searched whole.
/// Failures are more often at the end.
const HEAD_SHARE: usize = 4;

/// A search of a text in pieces that ran before its cut, and its terms. Several cuts may use it.
#[derive(Debug)]
pub struct Found {
    selection: Selection,
    most: usize,
    failure: bool,
    needles: Vec<String>,
    query: Vec<String>,
}

impl Found {
    /// Searches the pieces of a text of `total` units for a result within the limits of a policy.
    pub fn of<'p>(
        pieces: impl Iterator<Item = PassedPiece<'p>>,
        policy: &Policy,
        total: usize,
        most: usize,
    ) -> Found {
        let sought = SearchTerms::of(policy);
        let mut pass = Pass::new(&policy.limits, sought, total, most);
        for piece in pieces {
            match piece {
                PassedPiece::Text(piece) => pass.take(piece),
                PassedPiece::Unsearched(size) => pass.leave_out(size),
            }
        }
        Found::with(pass.finish(), sought, most)
    }

    /// Searches a whole text for a result within the limits of a policy.
    pub fn of_text(text: &str, policy: &Policy) -> Found {
        let sought = SearchTerms::of(policy);
        let mut selection = Selection::new(&policy.limits, sought);
        selection.push(text.as_bytes());
        selection.finish();
        Found::with(selection, sought, UNLIMITED)
    }

    fn with(selection: Selection, sought: SearchTerms, most: usize) -> Found {
        Found {
            selection,
            most,
            failure: sought.failure,
            needles: sought.needles.to_vec(),
            query: sought.query.to_vec(),
        }
    }

    /// Returns the size of the text.
    pub fn size(&self) -> Size {
        self.selection.size()
    }

    /// Returns true if a search of the text with these terms finds the same.
    fn serves<T>(&self, input: &Input<T>, limits: &Limits, sought: SearchTerms) -> bool {
        let Found { selection, most, failure, needles, query } = self;
        *most == input.most_searched
            && selection.window() == Selection::window_of(limits)
            && SearchTerms { failure: *failure, needles, query } == sought
    }
}

/// Searches a text for a result within limits, unless an earlier search found the same.
pub fn select<'a, T: Text>(input: &Input<'a, T>, limits: &Limits, sought: SearchTerms) -> Cow<'a, Selection> {
    if let Some(cell) = input.found.filter(|_| !input.is_whole()) {
        let found = cell
            .get_or_init(|| Found::with(search(input, limits, sought), sought, input.most_searched).into());
        if found.serves(input, limits, sought) {
            return Cow::Borrowed(&found.selection);
        }
    }
    Cow::Owned(search(input, limits, sought))
}

fn search<T: Text>(input: &Input<T>, limits: &Limits, sought: SearchTerms) -> Selection {
    if let Some(pieces) = input.pieces.filter(|_| !input.is_whole()) {
        let mut pass = Pass::new(limits, sought, input.total, input.most_searched);
        pieces(&mut |piece| {
            pass.take(piece);
            true
        });
        return pass.finish();
    }
    let mut selection = Selection::new(limits, sought);
    let mut from = 0;
    for mark in input.marks {
        input.head.slice(from..mark.start).each_utf8(&mut |text| selection.push(text));
        input.head.slice(mark.start..mark.end).each_utf8(&mut |text| selection.push_mark(text));
        from = mark.end;
    }
    input.head.slice(from..input.head.len()).each_utf8(&mut |text| selection.push(text));
    if !input.is_whole() {
        selection.skip(input.size(NeededCounts::ALL) - input.head.size() - input.tail.size());
        input.tail.each_utf8(&mut |text| selection.push(text));
    }
    selection.finish();
    selection
}

/// A pass over the pieces of a text, which does not search the middle of a long one.
struct Pass {
    selection: Selection,
    skipped: Range<usize>,
    at: usize,
    /// The text since the last that was searched.
    gap: Size,
}

impl Pass {
    fn new(limits: &Limits, sought: SearchTerms, total: usize, most: usize) -> Pass {
        let skipped = unsearched(limits, total, most);
        Pass { selection: Selection::new(limits, sought), skipped, at: 0, gap: Size::default() }
    }

    fn take(&mut self, piece: StringPiece) {
        let Pass { selection, skipped, at, gap } = self;
        let (start, rest) = piece.split_line();
        let is_skipped = skipped.contains(at);
        // A line that a piece has cut belongs to the piece before it.
        for (part, is_skipped) in [(start, gap.chars > 0), (rest, is_skipped)] {
            if is_skipped {
                *gap = *gap + part.size();
            } else {
                if gap.chars > 0 {
                    selection.skip(std::mem::take(gap));
                }
                part.each_utf8(&mut |text| selection.push(text));
            }
            *at += part.units();
        }
    }

    /// Takes the size of pieces that begin in the unsearched middle, behind another.
    fn leave_out(&mut self, size: Size) {
        self.gap = self.gap + size;
        self.at += size.chars;
    }

    fn finish(mut self) -> Selection {
        self.selection.finish();
        self.selection
    }
}

/// Returns the middle of a text that is not searched. `most`: chars that are searched.
pub fn unsearched(limits: &Limits, total: usize, most: usize) -> Range<usize> {
    let most = most.max(Selection::window_of(limits).saturating_mul(2 * HEAD_SHARE));
    most / HEAD_SHARE..total.saturating_sub(most - most / HEAD_SHARE)
}

/// A piece of a text that a search on another thread reads, or the size of unsearched ones.
#[derive(Clone, Copy, Debug)]
pub enum PassedPiece<'a> {
    Text(StringPiece<'a>),
    Unsearched(Size),
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;

    use proptest::prelude::*;

    use super::super::truncate;
    use super::*;
    use crate::encoding::Utf16;

    const CHUNK: usize = 65_536;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_search_before_the_cut_finds_the_same(
            line in "[a-y 漢]{0,60}\n",
            failure in "(error: [a-y]{1,9}|[1-9] failed)\n",
            each in 2..30_000usize,
            chars in 700_000..2_200_000usize,
            most in prop_oneof![Just(UNLIMITED), 0..1_500_000usize],
            limit in 900..60_000usize,
            query in prop::option::of("[a-y]{3,4}"),
        ) {
            let (mut units, mut number) = (vec![], 0);
            while units.len() < chars {
                number += 1;
                let line = if number % each == 0 { &failure } else { &line };
                units.extend(format!("{} {line}", number / 3).encode_utf16());
            }
            let limits = Limits { bytes: limit, ..Limits::NONE };
            let policy = Policy { limits, query: query.into_iter().collect(), ..Policy::default() };
            let pieces = |take: &mut dyn FnMut(StringPiece) -> bool| {
                let _ = units.chunks(CHUNK).all(|piece| take(StringPiece::Wide(Utf16(piece))));
            };
            let (total, end) = (units.len(), units.len() - 120_000);
            let input = Input::ends(Utf16(&units[..120_000]), Utf16(&units[end..]), total);
            let input = input.with_pieces(&pieces, most);
            let skipped = unsearched(&limits, total, most);
            let passed = units.chunks(CHUNK).enumerate().map(|(nth, piece)| {
                let is_unsearched = nth > 0 && (nth - 1) * CHUNK >= skipped.start && nth * CHUNK < skipped.end;
                let piece = StringPiece::Wide(Utf16(piece));
                if is_unsearched { PassedPiece::Unsearched(piece.size()) } else { PassedPiece::Text(piece) }
            });
            let found = OnceCell::from(std::sync::Arc::new(Found::of(passed, &policy, total, most)));
            let text = |input: &Input<Utf16>| truncate(input, &policy).map(|cut| cut.string(input));
            prop_assert_eq!(text(&input.with_found(&found)), text(&input));
        }
    }
}
