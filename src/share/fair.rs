//! All blocks of a result served equally.

use super::BlockCut;
use super::table::BlockTable;
use crate::fair::split_fairly;
use crate::limits::Usage;
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
        let whole = vec![BlockCut::Whole; self.inputs.len()];
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
        let Some(cut) = self.blocks.iter().rposition(|block| matches!(block, BlockCut::Cut(_))) else {
            return;
        };
        let is_small = self.sizes[cut].at_most(self.notice_size());
        if is_small && self.left() > 2 && *self.terms.notice != Notice::None {
            self.blocks[cut] = BlockCut::Gone;
        }
    }

    /// Returns true if any truncated text has a notice, no text is truncated, or notices are
    /// disabled. Data tells of a cut within itself.
    fn tells(&self) -> bool {
        let texts = self.blocks.iter().zip(self.inputs).filter(|(_, input)| !input.is_data);
        let cuts = texts.filter_map(|(block, _)| match block {
            BlockCut::Cut(cut) => Some(cut),
            _ => None,
        });
        let mut told = cuts.map(|cut| !cut.notice.is_empty()).peekable();
        *self.terms.notice == Notice::None || told.peek().is_none() || told.any(|is_told| is_told)
    }
}
