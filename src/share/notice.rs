//! The notice for blocks that share limits, which also counts dropped blocks.

use super::{Block, Table};
use crate::room::Taken;
use crate::text::amounts::{Amount, Counts, Needs};
use crate::text::extent::Extent;
use crate::text::lines::longest_line;
use crate::text::notice::Place;
use crate::text::size::Size;
use crate::text::source::Source;
use crate::text::units::Text;
use crate::text::utf8::Utf8;

impl<T: Text> Table<'_, '_, T> {
    /// Adds the notice, which also counts dropped blocks, to the last truncated block. If no block is truncated or
    /// dropped, adds it to the last block with truncated lines.
    pub fn tell(&mut self) {
        let missing = self.missing();
        let blocks = || self.blocks.iter().zip(self.sources);
        let cut = blocks().rposition(|(block, _)| matches!(block, Block::Cut(_)));
        let lined = || blocks().rposition(|(block, source)| *block == Block::Whole && source.shows_marks());
        if cut.is_none() && self.blocks.contains(&Block::Gone) {
            return self.tell_instead(missing);
        }
        if let Some(last) = cut.or_else(lined)
            && let Block::Cut(cut) = self.cut(last, &self.policy.notice, missing)
        {
            self.blocks[last] = Block::Cut(cut);
        }
    }

    /// Replaces the last dropped block by the notice, if there is room.
    fn tell_instead(&mut self, missing: Size) {
        let Some(last) = self.blocks.iter().rposition(|block| *block == Block::Gone) else { return };
        let limits = &self.policy.limits;
        let sizes = self.blocks.iter().zip(&self.sizes).filter(|(block, _)| **block != Block::Gone);
        let room = sizes.fold(Taken::default(), |sum, (_, size)| sum.plus(*size)).rest_of(limits);
        let all = |amount| Amount { omitted: amount, total: amount };
        let counts = Counts {
            chars: all(missing.chars),
            bytes: all(missing.bytes),
            lines: all(missing.newlines),
            kept_lines: String::new(),
        };
        let labels = self.policy.labels(self.sources[last].in_bytes());
        let texts = self.policy.notice.ladder().map(|notice| notice.render(Place::Alone, &counts, labels));
        let mut texts = texts.filter(|text| longest_line(text) <= limits.line_bytes);
        let text = texts.find(|text| Taken::of(Extent::of(Utf8(text.as_bytes()), limits)).within(&room));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.blocks[last] = Block::Replaced(text.into());
        }
    }

    /// Returns the size of the dropped blocks.
    fn missing(&self) -> Size {
        let needs = self.policy.notice.needs(!T::UTF16);
        let gone = self.blocks.iter().zip(self.sources);
        let gone = gone.filter(|(block, _)| matches!(block, Block::Gone | Block::Replaced(_)));
        // All lines of a dropped block count, including a last one without a newline.
        let lines = |source: &Source<T>| source.size(needs).lines(source.is_open());
        let sizes = gone.map(|(_, source)| Size { newlines: lines(source), ..source.size(needs) });
        sizes.fold(Size::default(), |sum, size| sum + size)
    }

    /// Returns an upper bound of the room that a notice takes.
    pub fn notice_size(&self) -> Taken {
        let needs = self.policy.notice.needs(!T::UTF16);
        let needs = Needs { chars: true, ..needs };
        let all = self.sources.iter().fold(Size::default(), |sum, source| sum + source.size(needs));
        let text = self.policy.notice.largest(all, self.policy.labels(false));
        let taken = Taken::of(Extent::of(Utf8(text.as_bytes()), &self.policy.limits));
        // Token counts round up, and a truncated word may take one more token.
        Taken { tokens: taken.tokens + 2, ..taken }
    }
}
