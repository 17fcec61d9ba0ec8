//! A captured stream, truncated to its limits.

use std::ops::Range;

use crate::outcome::Outcome;
use crate::policy::Keep;
use crate::text::figures::KeptLines;
use crate::text::source::Source;
use crate::text::{Size, Text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Well-formed UTF-8.
    pub text: Vec<u8>,
    /// Some of the text was omitted.
    pub truncated: bool,
    pub keep: Keep,
    /// The position of the notice in the text, in chars.
    pub notice: Range<usize>,
    /// Kept parts of the text after its long lines were cut, in chars.
    pub ranges: Vec<Range<usize>>,
    /// The kept size, excluding marks, and the kept lines.
    pub kept: Size,
    pub lines: KeptLines,
}

impl Left {
    /// Renders an outcome for a text of `chars` chars. Without an outcome, the text is whole.
    pub fn of<T: Text>(
        source: &Source<T>,
        outcome: Option<Outcome>,
        chars: usize,
        lines_were_cut: bool,
    ) -> Left {
        let Some(outcome) = outcome else {
            let (kept, lines) = source.kept_whole();
            let text = source.utf8(None);
            let ranges = vec![Range { start: 0, end: chars }];
            let notice = chars..chars;
            return Left { text, truncated: lines_were_cut, keep: Keep::Head, notice, ranges, kept, lines };
        };
        let (kept, lines) = outcome.kept(source);
        let (keep, notice, ranges) = (outcome.keep(), outcome.notice(), outcome.ranges(chars));
        let text = match outcome {
            Outcome::Ends(cut) => source.utf8(Some(&cut)),
            Outcome::Findings(found) => found.text.into_bytes(),
        };
        Left { text, truncated: true, keep, notice, ranges, kept, lines }
    }

    /// Returns a replacement for a whole text.
    pub fn named(text: String) -> Left {
        Left {
            notice: 0..text.len(),
            text: text.into_bytes(),
            truncated: true,
            keep: Keep::Head,
            ranges: vec![],
            kept: Size::default(),
            lines: KeptLines::default(),
        }
    }
}
