//! One budget across the blocks of a result.
//!
//! Every block is truncated to room of its own. The last truncated block has the notice; the others
//! have marks. A block too small to show any text is dropped and counted as omitted. If blocks are
//! dropped and none is truncated, the notice replaces the last dropped block. If only lines were
//! truncated, the last block with such lines names the full output.

mod fair;
mod in_order;
mod notice;
mod table;

use std::borrow::Cow;

use crate::encoding::Utf16;
use crate::limits::{Limits, Usage};
use crate::notice::counts::NeededCounts;
use crate::policy::{Policy, Share};
use crate::truncate::input::Input;
use crate::truncate::long_lines::{CutLines, cut_lines, has_long_line};
use crate::truncate::{Cut, Terms};
use table::BlockTable;

/// The result for one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockCut {
    Whole,
    /// Only lines of it were truncated.
    Lines(Vec<u16>),
    /// Truncated, independent of its input.
    Cut(Cut),
    Gone,
    /// The replacement of a block without room.
    Replaced(Cow<'static, str>),
}

/// Truncates the blocks of one result to fit the limits together. `figures`: determine the kept
/// parts, which may take a pass over the blocks.
pub fn share(blocks: &[Input<Utf16>], policy: &Policy, figures: bool) -> Vec<BlockCut> {
    let max = policy.limits.line_bytes;
    let cut = |block: &Input<Utf16>| has_long_line(block.head, max).then(|| cut_lines(block.head, max));
    let lines: Vec<Option<CutLines>> = blocks.iter().map(cut).collect();
    if lines.iter().all(Option::is_none) {
        return share_lines(blocks, policy.into(), figures);
    }
    // A block without overlong lines may be here only in part, and stays as it is.
    let inputs: Vec<_> = lines
        .iter()
        .zip(blocks)
        .map(|(lines, block)| match lines {
            Some(lines) => Input::of_lines(lines, block.size(NeededCounts::ALL)),
            None => *block,
        })
        .collect();
    let terms = Terms::from(policy).naming(|limits| exceeded(blocks, limits, policy.share));
    share_lines(&inputs, Terms { limits: policy.limits.after_cutting_lines(), ..terms }, figures)
}

/// Truncates blocks without overlong lines.
fn share_lines(inputs: &[Input<Utf16>], terms: Terms, figures: bool) -> Vec<BlockCut> {
    let how = terms.policy.share;
    let mut table = BlockTable::new(inputs, terms);
    let all = table.sizes.iter().copied().fold(Usage::default(), Usage::plus);
    let fits = how != Share::Each && all.within(&terms.limits);
    if !fits {
        table.terms = terms.naming(|limits| exceeded(inputs, limits, how));
    }
    match how {
        Share::Each => table.serve(&vec![terms.limits; inputs.len()]),
        _ if fits => table.leave_rooms(all),
        Share::Fair => table.serve_fairly(all),
        Share::Order | Share::Stay => table.serve_in_order(all, how),
    }
    table.drop_empty();
    table.keep_one();
    if how == Share::Stay {
        table.keep_all();
    }
    table.tell();
    table.detach(figures);
    table.blocks
}

/// Returns the limits that the blocks exceed together or, with [`Share::Each`], that any of them
/// exceeds.
fn exceeded(inputs: &[Input<Utf16>], limits: &Limits, how: Share) -> Limits {
    let usages = inputs.iter().map(|input| input.usage(limits));
    let join = if how == Share::Each { usize::max } else { usize::saturating_add };
    limits.exceeded(usages.fold(Usage::default(), |all, one| all.zip(one, join)))
}

#[cfg(test)]
mod tests {
    use super::in_order::DOTS;
    use super::*;
    use crate::encoding::Text;
    use crate::notice::Notice;
    use crate::policy::Keep;

    fn shared(blocks: &[&str], chars: usize, how: Share, notice: Notice) -> Vec<Option<String>> {
        let limits = Limits { chars, ..Limits::NONE };
        let policy =
            Policy { limits, notice, share: how, keep: Keep::Head, snap: false, ..Policy::default() };
        let units: Vec<Vec<u16>> = blocks.iter().map(|text| text.encode_utf16().collect()).collect();
        let inputs: Vec<_> = units.iter().map(|units| Input::whole(Utf16(units))).collect();
        let text = |block| match block {
            BlockCut::Whole => Some("whole".to_owned()),
            BlockCut::Lines(text) => Some(String::from_utf16(&text).unwrap()),
            BlockCut::Cut(cut) => Some(cut.middle),
            BlockCut::Gone => None,
            BlockCut::Replaced(text) => Some(text.into_owned()),
        };
        share(&inputs, &policy, true).into_iter().map(text).collect()
    }

    #[test]
    fn a_block_without_room_has_no_text_left() {
        let limits = [
            Limits { bytes: 0, ..Limits::NONE },
            Limits { lines: 0, ..Limits::NONE },
            Limits { chars: 0, ..Limits::NONE },
            Limits { tokens: 0, ..Limits::NONE },
        ];
        let text: Vec<u16> = "error: a\n\nb".encode_utf16().collect();
        let input = Input::whole(Utf16(&text));
        let notices = [Notice::None, Notice::Hint, Notice::Pi, Notice::Count, Notice::Literal("x".into())];
        for (limits, notice) in
            limits.into_iter().flat_map(|limits| notices.clone().map(|notice| (limits, notice)))
        {
            assert!(limits.is_empty());
            for keep in [Keep::Head, Keep::Tail, Keep::Ends, Keep::Findings, Keep::Auto] {
                let policy = Policy { limits, notice: notice.clone(), keep, ..Policy::default() };
                let cut = crate::truncate::truncate(&input, &policy).expect("it is over the limits");
                assert_eq!(cut.utf8(&input), b"", "{policy:?}");
            }
        }
    }

    #[test]
    fn small_blocks_stay_whole_and_large_ones_share_the_rest() {
        let (a, b) = ("a".repeat(100), "b".repeat(300));
        assert_eq!(
            shared(&[&a, "small", &b], 100, Share::Fair, Notice::Pi),
            [
                Some("a".repeat(25) + "[... 75 chars omitted]"),
                Some("whole".into()),
                Some("b".repeat(12) + "[... 288 more characters truncated]"),
            ]
        );
    }

    #[test]
    fn a_block_that_is_here_in_part_stays_so_beside_one_with_an_overlong_line() {
        let text: Vec<u16> = (0..30_000).map(|n| if n % 50 == 49 { 10 } else { 97 + n % 26 }).collect();
        let (head, tail) = (Utf16(&text[..12_000]), Utf16(&text[18_000..]));
        let line = vec![u16::from(b'x'); 90_000];
        let limits = Limits { bytes: 2_000, line_bytes: 80_000, ..Limits::NONE };
        let policy = Policy { limits, keep: Keep::Tail, notice: Notice::Pi, ..Policy::default() };
        let part = Input::ends(head, tail, text.len()).with_totals(Utf16(&text).size());
        let whole = share(&[Input::whole(Utf16(&line)), Input::whole(Utf16(&text))], &policy, true);
        assert_eq!(share(&[Input::whole(Utf16(&line)), part], &policy, true), whole);
    }

    #[test]
    fn blocks_are_served_in_order_and_the_rest_is_counted() {
        let blocks = ["a".repeat(30), "b".repeat(60), "c".repeat(500)];
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let texts = shared(&blocks, 80, Share::Order, Notice::Pi);
        assert_eq!(
            texts,
            [Some("whole".into()), Some("b".repeat(15) + "[... 545 more characters truncated]"), None]
        );
        // The first fits, but leaves no room to report the dropped blocks.
        let texts = shared(&blocks, 32, Share::Order, Notice::Pi);
        assert_eq!(texts, [Some("a".repeat(24) + "[...]"), None, None]);
        // The first is shorter than the notice, and is all that remains.
        let same = [blocks[0], blocks[0], blocks[0]];
        for how in [Share::Order, Share::Stay] {
            let texts = shared(&same, 50, how, Notice::Pi);
            assert_eq!(texts[0].as_deref().map(|text| &text[..19]), Some(&blocks[0][..19]), "{how:?}");
        }
        assert_eq!(shared(&same, 50, Share::Order, Notice::Pi)[1..], [None, None]);
    }

    #[test]
    fn one_block_stays_under_any_limit() {
        assert_eq!(shared(&["abc", "def"], 0, Share::Fair, Notice::Hint), [None, Some(String::new())]);
        assert_eq!(shared(&["abc", "def"], 1, Share::Fair, Notice::Hint), [None, Some("d".into())]);
        assert_eq!(shared(&["abc", "   "], 1, Share::Fair, Notice::Hint), [Some("a".into()), None]);
        let beside_empty = shared(&["\n\nabc", "\r\r\r", ""], 5, Share::Fair, Notice::Hint);
        assert_eq!(beside_empty, [Some("whole".into()), None, Some("whole".into())]);
    }

    #[test]
    fn the_first_of_many_small_blocks_stay_and_the_notice_replaces_the_others() {
        let blocks = vec!["x"; 200];
        for how in [Share::Fair, Share::Order] {
            let texts = shared(&blocks, 100, how, Notice::Pi);
            let whole = texts.iter().take_while(|text| text.as_deref() == Some("whole")).count();
            let told = format!("[... {} more characters truncated]", 200 - whole);
            assert!(whole > 50 && texts[whole..199].iter().all(Option::is_none), "{whole}");
            assert_eq!(texts[199].as_deref(), Some(&*told));
        }
        // There is room for only half of each, without marks.
        let texts = shared(&["12345678"; 200], 800, Share::Fair, Notice::Pi);
        let whole = texts.iter().take_while(|text| text.as_deref() == Some("whole")).count();
        assert_eq!(whole, 95);
        assert_eq!(texts[199].as_deref(), Some("[... 840 more characters truncated]"));
        let silent = shared(&["12345678"; 200], 800, Share::Fair, Notice::None);
        assert!(silent.iter().all(|text| text.as_deref() == Some("1234")));
    }

    #[test]
    fn blocks_that_must_stay_leave_room_for_each_other() {
        let blocks = ["a".repeat(30), "b".repeat(60), "c".into(), "d".repeat(500)];
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let at = |chars| shared(&blocks, chars, Share::Stay, Notice::Pi);
        // Both marks and the single char of the next block count.
        let cut = "a".repeat(19) + "[...]";
        assert_eq!(at(35), [Some(cut), Some(DOTS.into()), Some("whole".into()), Some(DOTS.into())]);
        let texts = at(100);
        assert_eq!(texts[1], Some("b".repeat(24) + "[... 536 more characters truncated]"));
        assert_eq!((texts[0].as_deref(), texts[3].as_deref()), (Some("whole"), Some(DOTS)));
        assert_eq!(at(16), [DOTS, DOTS, "whole", DOTS].map(|text| Some(text.into())));
        assert_eq!(at(15)[1..], ["", "", ""].map(|text| Some(text.into())));
    }

    #[test]
    fn limits_can_apply_to_each_block() {
        let (a, b) = ("a".repeat(50), "b".repeat(50));
        let texts = shared(&[&a, &b, "c"], 40, Share::Each, Notice::Pi);
        assert_eq!(texts[0].as_deref().map(str::len), Some(40));
        assert_eq!(texts[1].as_deref(), Some("bbbbbb[... 44 more characters truncated]"));
        assert_eq!(texts[2].as_deref(), Some("whole"));
    }
}
