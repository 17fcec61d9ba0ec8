//! The blocks of a result, with the room and the cut of each.

use std::cell::OnceCell;

use super::BlockCut;
use crate::encoding::whitespace::is_visible;
use crate::encoding::{Size, Utf16};
use crate::limits::{Limits, Usage};
use crate::notice::Notice;
use crate::notice::saved::SavedPart;
use crate::policy::Policy;
use crate::truncate::figures::KeptParts;
use crate::truncate::input::Input;
use crate::truncate::{Cut, Terms, truncate_lines};

pub struct BlockTable<'a, 'b> {
    pub inputs: &'a [Input<'b, Utf16<'b>>],
    pub terms: Terms<'a>,
    pub sizes: Vec<Usage>,
    pub blocks: Vec<BlockCut>,
    /// The room of each block.
    pub rooms: Vec<Limits>,
    /// The saved output that all blocks together name, once looked up.
    pub saved: OnceCell<SavedPart>,
    /// The policy for data, which keeps the head of its JSON.
    of_data: Policy,
}

impl<'a, 'b> BlockTable<'a, 'b> {
    pub fn new(inputs: &'a [Input<'b, Utf16<'b>>], terms: Terms<'a>) -> Self {
        let limits = terms.limits;
        let size = |input: &Input<Utf16>| match terms.policy.searches() {
            // A search reads the whole text, so its lines count, not only those of the head.
            true if !input.is_whole() => input.usage(&limits),
            _ => input.extent(&limits).usage(),
        };
        let sizes = inputs.iter().map(size).collect();
        let (blocks, rooms) = (vec![BlockCut::Whole; inputs.len()], vec![limits; inputs.len()]);
        let of_data = Policy { snap: false, ..terms.policy.head() };
        BlockTable { inputs, terms, sizes, blocks, rooms, saved: OnceCell::new(), of_data }
    }

    pub fn serve(&mut self, rooms: &[Limits]) {
        for (at, room) in rooms.iter().enumerate() {
            self.serve_one(at, *room);
        }
    }

    /// Gives each block the room that the others leave, if all fit.
    pub fn leave_rooms(&mut self, all: Usage) {
        for (room, size) in self.rooms.iter_mut().zip(&self.sizes) {
            *room = self.terms.limits.less(all.minus(*size));
        }
    }

    /// Returns the number of non-empty blocks that are not dropped.
    pub fn left(&self) -> usize {
        let full = self.blocks.iter().zip(&self.sizes).filter(|(_, size)| **size != Usage::default());
        full.filter(|(block, _)| **block != BlockCut::Gone).count()
    }

    pub fn serve_one(&mut self, at: usize, room: Limits) {
        self.rooms[at] = room;
        let mark = if *self.terms.notice == Notice::None { Notice::None } else { Notice::Mark };
        self.blocks[at] = self.cut(at, &mark, (Size::default(), &SavedPart::Nowhere));
    }

    /// `beside`: the size of dropped blocks, and the saved output that they name.
    pub fn cut(&self, at: usize, notice: &Notice, (size, named): (Size, &SavedPart)) -> BlockCut {
        // Avoids trying notices when none can fit.
        if self.rooms[at].is_empty() && self.sizes[at] != Usage::default() {
            return BlockCut::Gone;
        }
        let input = self.inputs[at].beside(size, named);
        let terms = match input.is_data {
            true => Terms { policy: &self.of_data, notice: &Notice::None, ..self.terms },
            false => Terms { notice, ..self.terms },
        };
        match truncate_lines(&input, Terms { limits: self.rooms[at], ..terms }) {
            None => BlockCut::Whole,
            Some(cut) if shows(&cut, &input) => BlockCut::Cut(cut),
            Some(_) => BlockCut::Gone,
        }
    }

    /// Makes the results independent of the inputs.
    pub fn detach(&mut self, figures: bool) {
        for (block, input) in self.blocks.iter_mut().zip(self.inputs) {
            *block = match std::mem::replace(block, BlockCut::Whole) {
                BlockCut::Whole if input.has_marks() => BlockCut::Lines(input.all()),
                BlockCut::Cut(cut) => {
                    let kept = if figures { cut.kept(input) } else { KeptParts::default() };
                    BlockCut::Cut(cut.detached(input, kept))
                }
                other => other,
            }
        }
    }

    /// Drops blocks with no visible text left after truncating lines.
    pub fn drop_empty(&mut self) {
        for (block, source) in self.blocks.iter_mut().zip(self.inputs) {
            if *block == BlockCut::Whole && source.has_marks() && !is_visible(source.head.chars()) {
                *block = BlockCut::Gone;
            }
        }
    }

    /// Keeps at least one block, and a non-empty one if the input has any.
    pub fn keep_one(&mut self) {
        let is_full = |at: &usize| self.sizes[*at] != Usage::default();
        let full: Vec<usize> = (0..self.blocks.len()).filter(is_full).collect();
        if !self.blocks.contains(&BlockCut::Gone) || full.iter().any(|&at| self.blocks[at] != BlockCut::Gone)
        {
            return;
        }
        for &at in full.iter().rev() {
            self.serve_one(at, self.terms.limits);
            match self.blocks[at] {
                BlockCut::Gone => {}
                BlockCut::Whole if !is_visible(self.inputs[at].head.chars()) => {
                    self.blocks[at] = BlockCut::Gone
                }
                _ => return,
            }
        }
        if self.blocks.iter().any(|block| *block != BlockCut::Gone) {
            return;
        }
        let last = self.blocks.len() - 1;
        let cut = truncate_lines(&self.inputs[last], Terms { notice: &Notice::None, ..self.terms });
        self.blocks[last] = cut.map_or(BlockCut::Whole, BlockCut::Cut);
    }
}

/// Returns true if a truncated text has visible chars.
fn shows(cut: &Cut, input: &Input<Utf16>) -> bool {
    let (head, tail) = input.parts(cut.sides);
    is_visible(cut.middle.chars()) || is_visible(head.chars()) || is_visible(tail.chars())
}
