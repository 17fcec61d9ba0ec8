//! The notice for blocks that share limits, which also counts dropped blocks.

use super::BlockCut;
use super::table::BlockTable;
use crate::encoding::{Size, Utf8, Utf16};
use crate::extent::Extent;
use crate::limits::Usage;
use crate::notice::NoticePlace;
use crate::notice::counts::{Amount, Counts, NeededCounts};
use crate::notice::earlier::NoticeAmounts;
use crate::notice::saved::SavedPart;
use crate::truncate::input::Input;
use crate::truncate::long_lines::has_long_line;

impl BlockTable<'_, '_> {
    /// Adds the notice, which also counts dropped blocks, to the last truncated block. If no block
    /// is truncated or dropped, adds it to the last block with truncated lines.
    pub fn tell(&mut self) {
        let is_gone = |block: &BlockCut| *block == BlockCut::Gone;
        let (missing, saved) = (self.missing(), self.saved_by(is_gone));
        let blocks = || self.blocks.iter().zip(self.inputs);
        let cut = blocks().rposition(|(block, _)| matches!(block, BlockCut::Cut(_)));
        let lined = || blocks().rposition(|(block, input)| *block == BlockCut::Whole && input.shows_marks());
        if cut.is_none() && self.blocks.contains(&BlockCut::Gone) {
            return self.tell_instead(missing, &saved);
        }
        if let Some(last) = cut.or_else(lined)
            && let BlockCut::Cut(cut) = self.cut(last, self.terms.notice, (missing, &saved))
        {
            self.blocks[last] = BlockCut::Cut(cut);
        }
    }

    /// Replaces the last dropped block by the notice, if there is room.
    fn tell_instead(&mut self, missing: Size, saved: &SavedPart) {
        let Some(last) = self.blocks.iter().rposition(|block| *block == BlockCut::Gone) else { return };
        let limits = &self.terms.limits;
        let sizes = self.blocks.iter().zip(&self.sizes).filter(|(block, _)| **block != BlockCut::Gone);
        let room = limits.less(sizes.fold(Usage::default(), |sum, (_, size)| sum.plus(*size)));
        let all = |amount| Amount { omitted: amount, total: amount };
        let counts = Counts {
            chars: all(missing.chars),
            bytes: all(missing.bytes),
            lines: all(missing.newlines),
            ..Counts::default()
        };
        let labels = self.terms.labels(false, saved);
        let ladder = self.terms.notice.ladder(labels.saved);
        let texts = ladder.map(|notice| notice.render(NoticePlace::Alone, &counts, labels));
        let mut texts = texts.filter(|text| !has_long_line(Utf8(text.as_bytes()), limits.line_bytes));
        let text = texts.find(|text| Extent::of(Utf8(text.as_bytes()), limits).usage().within(&room));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.blocks[last] = BlockCut::Replaced(text.into());
        }
    }

    /// Returns the size of the dropped blocks.
    fn missing(&self) -> Size {
        let needs = self.terms.notice.needs(false);
        let gone = self.blocks.iter().zip(self.inputs);
        let gone = gone.filter(|(block, _)| matches!(block, BlockCut::Gone | BlockCut::Replaced(_)));
        // All lines of a dropped block count, including a last one without a newline.
        let lines = |input: &Input<Utf16>| input.size(needs).lines(input.is_open());
        let sizes = gone.map(|(_, input)| Size { newlines: lines(input), ..input.size(needs) });
        sizes.fold(Size::default(), |sum, size| sum + size)
    }

    /// Returns the saved output that notices of some blocks name.
    fn saved_by(&self, is_meant: impl Fn(&BlockCut) -> bool) -> SavedPart {
        let mut told = NoticeAmounts::default();
        if self.terms.notice.names_saved() {
            let meant = self.blocks.iter().zip(self.inputs).filter(|(block, _)| is_meant(block));
            meant.for_each(|(_, input)| told.add_saved(input.told()));
        }
        told.saved().clone()
    }

    /// Returns an upper bound of the room that a notice takes.
    pub fn notice_size(&self) -> Usage {
        let needs = self.terms.notice.needs(false);
        let needs = NeededCounts { chars: true, ..needs };
        let all = self.inputs.iter().fold(Size::default(), |sum, input| sum + input.size(needs));
        let saved = self.saved.get_or_init(|| self.saved_by(|_| true));
        let text = self.terms.notice.largest(all, self.terms.labels(false, saved));
        let taken = Extent::of(Utf8(text.as_bytes()), &self.terms.limits).usage();
        // Token counts round up, and a truncated word may take one more token.
        Usage { tokens: taken.tokens + 2, ..taken }
    }
}
