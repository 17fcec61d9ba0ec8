//! Limits split fairly among several texts.

use super::Block;
use super::table::BlockTable;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::notice::Notice;
use crate::policy::Share;

impl BlockTable<'_, '_> {
    /// Serves all blocks equally. If there are too many blocks for any to show text or a mark, they
    /// are served in order instead, which keeps some of them whole and leaves room for the notice.
    pub fn serve_fairly(&mut self, all: Usage) {
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

    /// Drops the block that was truncated after whole ones if it is too small to hold a notice. The
    /// notice then replaces it.
    fn drop_sliver(&mut self) {
        let Some(cut) = self.blocks.iter().rposition(|block| matches!(block, Block::Cut(_))) else { return };
        let is_small = self.sizes[cut].at_most(self.notice_size());
        if is_small && self.left() > 2 && *self.terms.notice != Notice::None {
            self.blocks[cut] = Block::Gone;
        }
    }

    /// Returns true if any truncated text has a notice, no text is truncated, or notices are
    /// disabled. Data tells of a cut within itself.
    fn tells(&self) -> bool {
        let texts = self.blocks.iter().zip(self.inputs).filter(|(_, input)| !input.is_data);
        let cuts = texts.filter_map(|(block, _)| match block {
            Block::Cut(cut) => Some(cut),
            _ => None,
        });
        let mut told = cuts.map(|cut| !cut.notice.is_empty()).peekable();
        *self.terms.notice == Notice::None || told.peek().is_none() || told.any(|is_told| is_told)
    }
}

/// Computes the room of each block. Each limit is filled separately: blocks smaller than the common
/// level stay whole, and larger ones get that level. A block that must be cut also requests room
/// for a notice, even under limits that it fits.
pub fn split_fairly(sizes: &[Usage], notice: Usage, limits: &Limits) -> Vec<Limits> {
    let mut wishes = sizes.to_vec();
    loop {
        let level = |limit: usize, of: fn(&Usage) -> usize| level(wishes.iter().map(of).collect(), limit);
        let levels = Usage {
            bytes: level(limits.bytes, |wish| wish.bytes),
            lines: level(limits.lines, |wish| wish.lines),
            chars: level(limits.chars, |wish| wish.chars),
            tokens: level(limits.tokens, |wish| wish.tokens),
        };
        let rooms = || wishes.iter().map(|wish| limits.of_size(wish.zip(levels, usize::min)));
        let next = wishes.iter().zip(sizes).zip(rooms()).map(|((wish, size), room)| {
            let first_cut = wish == size && !size.within(&room);
            if first_cut { size.plus(notice) } else { *wish }
        });
        let next: Vec<Usage> = next.collect();
        if next == wishes {
            return rooms().collect();
        }
        wishes = next;
    }
}

/// Returns the highest level at which all wishes fit within `limit`, or [`UNLIMITED`] if they fit
/// whole.
pub fn level(mut wishes: Vec<usize>, limit: usize) -> usize {
    wishes.sort_unstable();
    let mut left = limit;
    for (served, wish) in wishes.iter().enumerate() {
        let even = left / (wishes.len() - served);
        if *wish > even {
            return even;
        }
        left -= wish;
    }
    UNLIMITED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_suffice_are_not_shared() {
        let limits = Limits { bytes: 100, lines: 10, ..Limits::NONE };
        let sizes = [
            Usage { bytes: 60, lines: 1, ..Usage::default() },
            Usage { bytes: 30, lines: 12, ..Usage::default() },
        ];
        let rooms = split_fairly(&sizes, Usage { bytes: 5, lines: 3, ..Usage::default() }, &limits);
        assert_eq!((rooms[0].bytes, rooms[0].lines), (60, 1));
        assert_eq!((rooms[1].bytes, rooms[1].lines), (35, 9));
    }
}
