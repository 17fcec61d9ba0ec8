//! Blocks served in order.

use super::BlockCut;
use super::table::BlockTable;
use crate::encoding::Utf8;
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::policy::Share;

impl BlockTable<'_, '_> {
    /// Serves blocks in order. Blocks stay whole while the notice and the minimum of the later
    /// blocks fit beside them. The first block that does not fit is truncated to the remaining
    /// room, and the later ones are dropped or minimised.
    pub fn serve_in_order(&mut self, all: Usage, how: Share) {
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
                    if dots == Usage::default() { BlockCut::Gone } else { BlockCut::Replaced(DOTS.into()) };
                served = served.plus(dots);
            } else {
                let room = limits.less(with(Usage::default()));
                self.serve_one(at, Limits { chars: room.chars.min(size.chars - 1), ..room });
                if self.blocks[at] == BlockCut::Gone && dots != Usage::default() {
                    self.blocks[at] = BlockCut::Replaced(DOTS.into());
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

    pub fn keep_all(&mut self) {
        for block in self.blocks.iter_mut().filter(|block| **block == BlockCut::Gone) {
            *block = BlockCut::Replaced("".into());
        }
    }
}

/// The replacement of a block that stays without room.
pub const DOTS: &str = "[...]";
