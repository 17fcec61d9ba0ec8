//! What is left of a stream.

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
    /// Something was left out.
    pub truncated: bool,
    pub keep: Keep,
    /// Where the notice stands in the text, in chars.
    pub notice: Range<usize>,
    /// Kept parts of the text with its lines cut, in chars.
    pub ranges: Vec<Range<usize>>,
    /// Size of what is kept, marks not counted, and its lines.
    pub kept: Size,
    pub lines: KeptLines,
}

impl Left {
    /// What an outcome leaves of a text of so many chars; all of it where there is none.
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

    /// A text that stands for all of it.
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
