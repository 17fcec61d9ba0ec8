//! A truncated text and its figures, as an object.

use std::ops::Range;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::answer::answer;
use super::policy::kept_as;
use crate::capture::Left;
use crate::findings::Found;
use crate::lined::Lined;
use crate::outcome::Outcome;
use crate::policy::Keep;
use crate::text::figures::KeptLines;
use crate::text::source::Source;
use crate::text::{Size, Utf16};

/// A truncated text. Pairs of numbers alternate between starts and ends.
#[napi(object)]
pub struct Cut {
    #[napi(ts_type = "string")]
    pub text: Either<Latin1String, Utf16String>,
    /// The kind of cut, numbered by `kept_as`.
    pub keep: u32,
    /// The position of the notice in the text.
    pub notice: Vec<f64>,
    /// Kept parts of the input, in chars.
    pub ranges: Vec<f64>,
    pub bytes: f64,
    pub chars: f64,
    /// First and last line of each run of kept lines.
    pub lines: Vec<f64>,
}

impl Cut {
    pub fn of(outcome: &Outcome, source: &Source<Utf16>) -> Cut {
        let (kept, lines) = outcome.kept(source);
        let text = Either::B(outcome.text(source).into());
        Cut::new(text, outcome.keep(), outcome.notice(), outcome.ranges(source.total), kept, lines)
    }

    /// Wraps a text whose figures are not needed.
    pub fn of_text(text: Vec<u16>) -> Cut {
        let text = Either::B(text.into());
        Cut::new(text, Keep::Head, 0..0, vec![], Size::default(), KeptLines::default())
    }

    fn new(
        text: Either<Latin1String, Utf16String>,
        keep: Keep,
        notice: Range<usize>,
        ranges: Vec<Range<usize>>,
        kept: Size,
        lines: KeptLines,
    ) -> Cut {
        Cut {
            text,
            keep: kept_as(keep) as u32,
            notice: pairs([notice]),
            ranges: pairs(ranges),
            bytes: kept.bytes as f64,
            chars: kept.chars as f64,
            lines: pairs(lines.ranges.into_iter().map(|(first, last)| first..last)),
        }
    }
}

impl From<Found> for Cut {
    fn from(found: Found) -> Cut {
        let text = answer(found.text.into_bytes());
        Cut::new(text, Keep::Findings, found.notice, found.ranges, found.kept, found.lines)
    }
}

impl From<Left> for Cut {
    fn from(left: Left) -> Cut {
        Cut::new(answer(left.text), left.keep, left.notice, left.ranges, left.kept, left.lines)
    }
}

impl From<Lined> for Cut {
    fn from(lined: Lined) -> Cut {
        let text = Either::B(lined.text.into());
        Cut::new(text, lined.keep, lined.notice, lined.ranges, lined.kept, lined.lines)
    }
}

fn pairs(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<f64> {
    ranges.into_iter().flat_map(|range| [range.start as f64, range.end as f64]).collect()
}
