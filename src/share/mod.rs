//! One budget across the blocks of a result.
//!
//! Every block is truncated to room of its own. The last truncated block has the notice; the others have marks. A block
//! too small to show any text is dropped and counted as omitted. If blocks are dropped and none is truncated, the
//! notice replaces the last dropped block. If only lines were truncated, the last block with such lines names the full
//! output.

mod fair;
mod notice;

use std::borrow::Cow;

use crate::encoding::whitespace::is_visible;
use crate::encoding::{Size, Utf8, Utf16};
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::notice::Notice;
use crate::notice::counts::Needs;
use crate::policy::{Policy, Share};
use crate::truncate::figures::Kept;
use crate::truncate::input::Input;
use crate::truncate::long_lines::{CutLines, cut_lines, has_long_line};
use crate::truncate::{Cut, Terms, truncate_lines};
pub use fair::{level, split_fairly};

/// The result for one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    Whole,
    /// Only lines of it were truncated.
    Lines(Vec<u16>),
    /// Truncated, independent of its input.
    Cut(Cut),
    Gone,
    /// The replacement of a block without room.
    Replaced(Cow<'static, str>),
}

/// Truncates the blocks of one result to fit the limits together. `figures`: determine the kept parts, which may take a
/// pass over the blocks.
pub fn share(blocks: &[Input<Utf16>], policy: &Policy, figures: bool) -> Vec<Block> {
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
            Some(lines) => Input::of_lines(lines, block.size(Needs::ALL)),
            None => *block,
        })
        .collect();
    let terms = Terms::from(policy).naming(|limits| exceeded(blocks, limits, policy.share));
    share_lines(&inputs, Terms { limits: policy.limits.after_cutting_lines(), ..terms }, figures)
}

/// Truncates blocks without overlong lines.
fn share_lines(inputs: &[Input<Utf16>], terms: Terms, figures: bool) -> Vec<Block> {
    let how = terms.policy.share;
    let mut table = Table::new(inputs, terms);
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

/// Returns the limits that the blocks exceed together or, with [`Share::Each`], that any of them exceeds.
fn exceeded(inputs: &[Input<Utf16>], limits: &Limits, how: Share) -> Limits {
    let usages = inputs.iter().map(|input| input.usage(limits));
    let join = if how == Share::Each { usize::max } else { usize::saturating_add };
    limits.exceeded(usages.fold(Usage::default(), |all, one| all.zip(one, join)))
}

struct Table<'a, 'b> {
    inputs: &'a [Input<'b, Utf16<'b>>],
    terms: Terms<'a>,
    sizes: Vec<Usage>,
    blocks: Vec<Block>,
    /// The room of each block.
    rooms: Vec<Limits>,
}

impl<'a, 'b> Table<'a, 'b> {
    fn new(inputs: &'a [Input<'b, Utf16<'b>>], terms: Terms<'a>) -> Self {
        let limits = terms.limits;
        let size = |input: &Input<Utf16>| match terms.policy.searches() {
            // A search reads the whole text, so its lines count, not only those of the head.
            true if !input.is_whole() => input.usage(&limits),
            _ => input.extent(&limits).usage(),
        };
        let sizes = inputs.iter().map(size).collect();
        let (blocks, rooms) = (vec![Block::Whole; inputs.len()], vec![limits; inputs.len()]);
        Table { inputs, terms, sizes, blocks, rooms }
    }

    fn serve(&mut self, rooms: &[Limits]) {
        for (at, room) in rooms.iter().enumerate() {
            self.serve_one(at, *room);
        }
    }

    /// Gives each block the room that the others leave, if all fit.
    fn leave_rooms(&mut self, all: Usage) {
        for (room, size) in self.rooms.iter_mut().zip(&self.sizes) {
            *room = self.terms.limits.less(all.minus(*size));
        }
    }

    /// Serves all blocks equally. If there are too many blocks for any to show text or a mark, they are served in order
    /// instead, which keeps some of them whole and leaves room for the notice.
    fn serve_fairly(&mut self, all: Usage) {
        self.serve(&split_fairly(&self.sizes, self.notice_size(), &self.terms.limits));
        if self.left() > 0 && self.tells() {
            return;
        }
        let whole = vec![Block::Whole; self.inputs.len()];
        let fair = (std::mem::replace(&mut self.blocks, whole), self.rooms.clone());
        self.serve_in_order(all, Share::Order);
        self.drop_sliver();
        if self.left() < 2 {
            (self.blocks, self.rooms) = fair;
        }
    }

    /// Drops the block that was truncated after whole ones if it is too small to hold a notice. The notice then
    /// replaces it.
    fn drop_sliver(&mut self) {
        let Some(cut) = self.blocks.iter().rposition(|block| matches!(block, Block::Cut(_))) else { return };
        let is_small = self.sizes[cut].at_most(self.notice_size());
        if is_small && self.left() > 2 && *self.terms.notice != Notice::None {
            self.blocks[cut] = Block::Gone;
        }
    }

    /// Returns true if any truncated block has a notice, no block is truncated, or notices are disabled.
    fn tells(&self) -> bool {
        let cuts = self.blocks.iter().filter_map(|block| match block {
            Block::Cut(cut) => Some(cut),
            _ => None,
        });
        let mut told = cuts.map(|cut| !cut.notice.is_empty()).peekable();
        *self.terms.notice == Notice::None || told.peek().is_none() || told.any(|is_told| is_told)
    }

    /// Returns the number of non-empty blocks that are not dropped.
    fn left(&self) -> usize {
        let full = self.blocks.iter().zip(&self.sizes).filter(|(_, size)| **size != Usage::default());
        full.filter(|(block, _)| **block != Block::Gone).count()
    }

    /// Serves blocks in order. Blocks stay whole while the notice and the minimum of the later blocks fit beside them.
    /// The first block that does not fit is truncated to the remaining room, and the later ones are dropped or
    /// minimised.
    fn serve_in_order(&mut self, all: Usage, how: Share) {
        let limits = self.terms.limits;
        let notice = self.notice_size();
        let dots = self.dots(how);
        let least = |size: &Usage| if size.at_most(dots) { *size } else { dots };
        let (mut served, mut to_come, mut cut) = (Usage::default(), all, false);
        let mut reserved = self.sizes.iter().map(least).fold(Usage::default(), Usage::plus);
        for at in 0..self.inputs.len() {
            let size = self.sizes[at];
            reserved = reserved.minus(least(&size));
            let nothing_is_cut = served.plus(to_come).within(&limits);
            let with = |more: Usage| served.plus(more).plus(reserved);
            if !cut && (nothing_is_cut || with(size).plus(notice).within(&limits)) || size.at_most(dots) {
                served = served.plus(size);
            } else if cut {
                self.blocks[at] =
                    if dots == Usage::default() { Block::Gone } else { Block::Replaced(DOTS.into()) };
                served = served.plus(dots);
            } else {
                let room = limits.less(with(Usage::default()));
                self.serve_one(at, Limits { chars: room.chars.min(size.chars - 1), ..room });
                if self.blocks[at] == Block::Gone && dots != Usage::default() {
                    self.blocks[at] = Block::Replaced(DOTS.into());
                }
                cut = true;
            }
            to_come = to_come.minus(size);
        }
    }

    /// Returns the room reserved for each block that must stay, or none if not all of them fit.
    fn dots(&self, how: Share) -> Usage {
        let limits = &self.terms.limits;
        if how != Share::Stay || limits.line_bytes < DOTS.len() {
            return Usage::default();
        }
        let dots = Extent::of(Utf8(DOTS.as_bytes()), limits).usage();
        let least = self.sizes.iter().map(|size| if size.at_most(dots) { *size } else { dots });
        if least.fold(Usage::default(), Usage::plus).within(limits) { dots } else { Usage::default() }
    }

    fn keep_all(&mut self) {
        for block in self.blocks.iter_mut().filter(|block| **block == Block::Gone) {
            *block = Block::Replaced("".into());
        }
    }

    fn serve_one(&mut self, at: usize, room: Limits) {
        self.rooms[at] = room;
        let mark = if *self.terms.notice == Notice::None { Notice::None } else { Notice::Mark };
        self.blocks[at] = self.cut(at, &mark, Size::default());
    }

    fn cut(&self, at: usize, notice: &Notice, beside: Size) -> Block {
        let input = self.inputs[at].beside(beside);
        match truncate_lines(&input, Terms { limits: self.rooms[at], notice, ..self.terms }) {
            None => Block::Whole,
            Some(cut) if shows(&cut, &input) => Block::Cut(cut),
            Some(_) => Block::Gone,
        }
    }

    /// Makes the results independent of the inputs.
    fn detach(&mut self, figures: bool) {
        for (block, input) in self.blocks.iter_mut().zip(self.inputs) {
            *block = match std::mem::replace(block, Block::Whole) {
                Block::Whole if input.has_marks() => Block::Lines(input.all()),
                Block::Cut(cut) => {
                    let kept = if figures { cut.kept(input) } else { Kept::default() };
                    Block::Cut(cut.detached(input, kept))
                }
                other => other,
            }
        }
    }

    /// Drops blocks with no visible text left after truncating lines.
    fn drop_empty(&mut self) {
        for (block, source) in self.blocks.iter_mut().zip(self.inputs) {
            if *block == Block::Whole && source.has_marks() && !is_visible(source.head.chars()) {
                *block = Block::Gone;
            }
        }
    }

    /// Keeps at least one block, and a non-empty one if the input has any.
    fn keep_one(&mut self) {
        let is_full = |at: &usize| self.sizes[*at] != Usage::default();
        let full: Vec<usize> = (0..self.blocks.len()).filter(is_full).collect();
        if !self.blocks.contains(&Block::Gone) || full.iter().any(|&at| self.blocks[at] != Block::Gone) {
            return;
        }
        for &at in full.iter().rev() {
            self.serve_one(at, self.terms.limits);
            self.drop_empty();
            match self.blocks[at] {
                Block::Gone => {}
                Block::Whole if !is_visible(self.inputs[at].head.chars()) => self.blocks[at] = Block::Gone,
                _ => return,
            }
        }
        if self.blocks.iter().any(|block| *block != Block::Gone) {
            return;
        }
        let last = self.blocks.len() - 1;
        let cut = truncate_lines(&self.inputs[last], Terms { notice: &Notice::None, ..self.terms });
        self.blocks[last] = cut.map_or(Block::Whole, Block::Cut);
    }
}

/// The replacement of a block that stays without room.
const DOTS: &str = "[...]";

/// Returns true if a truncated text has visible chars.
fn shows(cut: &Cut, input: &Input<Utf16>) -> bool {
    let (head, tail) = input.parts(cut.sides);
    is_visible(cut.middle.chars()) || is_visible(head.chars()) || is_visible(tail.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Text;
    use crate::policy::Keep;

    fn shared(blocks: &[&str], chars: usize, how: Share, notice: Notice) -> Vec<Option<String>> {
        let limits = Limits { chars, ..Limits::NONE };
        let policy =
            Policy { limits, notice, share: how, keep: Keep::Head, snap: false, ..Policy::default() };
        let units: Vec<Vec<u16>> = blocks.iter().map(|text| text.encode_utf16().collect()).collect();
        let inputs: Vec<_> = units.iter().map(|units| Input::whole(Utf16(units))).collect();
        let text = |block| match block {
            Block::Whole => Some("whole".to_owned()),
            Block::Lines(text) => Some(String::from_utf16(&text).unwrap()),
            Block::Cut(cut) => Some(cut.middle),
            Block::Gone => None,
            Block::Replaced(text) => Some(text.into_owned()),
        };
        share(&inputs, &policy, true).into_iter().map(text).collect()
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
