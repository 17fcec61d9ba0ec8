//! A truncated text and its figures, as an object.

use std::ops::Range;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::policy::name_of;
use spillway::policy::Keep;
use spillway::selection::reason::{self, Reason};
use spillway::truncate::figures::KeptParts;

/// A string for JavaScript.
pub type JsText = Either<Latin1String, Utf16String>;

/// A truncated text, or the part of it between the kept head and the kept tail. Pairs of numbers
/// alternate between starts and ends.
#[napi(object, object_from_js = false)]
pub struct Cut {
    #[napi(ts_type = "string")]
    pub text: JsText,
    #[napi(ts_type = "'head' | 'tail' | 'ends' | 'findings' | 'relevant'")]
    pub keep: &'static str,
    /// The position of the notice in the result.
    pub notice: Vec<f64>,
    /// Kept parts of the input, in chars.
    pub ranges: Vec<f64>,
    pub bytes: f64,
    pub chars: f64,
    /// First and last line of each run of kept lines.
    pub lines: Vec<f64>,
    /// The reasons of a search, if the policy asks for them.
    pub reasons: Option<Reasons>,
}

/// The reasons for which lines are kept, and those of the best dropped lines.
#[napi(object, object_from_js = false)]
pub struct Reasons {
    pub kept: Vec<LineReason>,
    pub dropped: Vec<LineReason>,
}

#[napi(object, object_from_js = false)]
pub struct LineReason {
    pub line: f64,
    #[napi(ts_type = "NonNullable<import('spillway').ClampReport['reasons']>[number]['stream']")]
    pub stream: &'static str,
    pub score: f64,
}

impl From<reason::Reasons> for Reasons {
    fn from(reasons: reason::Reasons) -> Reasons {
        let list = |lines: Vec<(usize, Reason)>| lines.into_iter().map(LineReason::from).collect();
        Reasons { kept: list(reasons.kept), dropped: list(reasons.dropped) }
    }
}

impl From<(usize, Reason)> for LineReason {
    fn from((line, reason): (usize, Reason)) -> LineReason {
        LineReason { line: line as f64, stream: reason.taker, score: reason.hundredths as f64 / 100.0 }
    }
}

impl Cut {
    pub fn new(text: JsText, keep: Keep, notice: Range<usize>, kept: KeptParts) -> Cut {
        Cut {
            text,
            keep: name_of(keep),
            notice: pairs([notice]),
            ranges: pairs(kept.ranges),
            bytes: kept.size.bytes as f64,
            chars: kept.size.chars as f64,
            reasons: kept.reasons.map(Reasons::from),
            lines: pairs(kept.lines.ranges.into_iter().map(|(first, last)| first..last)),
        }
    }
}

/// Converts a cut that is independent of its input.
impl From<spillway::truncate::Cut> for Cut {
    fn from(cut: spillway::truncate::Cut) -> Cut {
        Cut::new(answer(cut.middle.into_bytes()), cut.keep, cut.notice, cut.within.unwrap_or_default())
    }
}

fn pairs(ranges: impl IntoIterator<Item = Range<usize>>) -> Vec<f64> {
    ranges.into_iter().flat_map(|range| [range.start as f64, range.end as f64]).collect()
}
