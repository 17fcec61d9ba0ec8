//! The pass of a search over a text.

use super::input::Input;
use crate::encoding::{Size, Text};
use crate::limits::Limits;
use crate::notice::counts::Needs;
use crate::selection::{SearchTerms, Selection};

/// Share of the searched text that is at its start, if a text is too long to be searched whole.
/// Failures are more often at the end.
const HEAD_SHARE: usize = 4;

/// Searches a text for a result within limits.
pub fn select<T: Text>(input: &Input<T>, limits: &Limits, sought: SearchTerms) -> Selection {
    let mut selection = Selection::new(limits, sought);
    if let Some(pieces) = input.pieces.filter(|_| !input.is_whole()) {
        let most = input.most_searched.max(selection.window().saturating_mul(2 * HEAD_SHARE));
        let skipped = most / HEAD_SHARE..input.total.saturating_sub(most - most / HEAD_SHARE);
        let (mut at, mut gap) = (0, Size::default());
        pieces(&mut |piece| {
            let (start, rest) = piece.split_line();
            let is_skipped = skipped.contains(&at);
            // A line that a piece has cut belongs to the piece before it.
            for (part, is_skipped) in [(start, gap.chars > 0), (rest, is_skipped)] {
                if is_skipped {
                    gap = gap + part.size();
                } else {
                    if gap.chars > 0 {
                        selection.skip(std::mem::take(&mut gap));
                    }
                    part.each_utf8(&mut |text| selection.push(text));
                }
                at += part.units();
            }
            true
        });
    } else {
        let mut from = 0;
        for mark in input.marks {
            input.head.slice(from..mark.start).each_utf8(&mut |text| selection.push(text));
            input.head.slice(mark.start..mark.end).each_utf8(&mut |text| selection.push_mark(text));
            from = mark.end;
        }
        input.head.slice(from..input.head.len()).each_utf8(&mut |text| selection.push(text));
        if !input.is_whole() {
            selection.skip(input.size(Needs::ALL) - input.head.size() - input.tail.size());
            input.tail.each_utf8(&mut |text| selection.push(text));
        }
    }
    selection.finish();
    selection
}
