//! What is left of a text and all that is known of it, as an object.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::policy::kept_as;
use crate::findings::Found;
use crate::lined::Lined;
use crate::outcome::Outcome;
use crate::policy::Keep;
use crate::text::figures::KeptLines;
use crate::text::source::Source;
use crate::text::{Size, Utf16};

/// A cut text. Pairs of numbers are starts and ends by turns.
#[napi(object)]
pub struct Cut {
    #[napi(ts_type = "string")]
    pub text: Either<Latin1String, Utf16String>,
    /// The kind of cut, as `kept_as` numbers it.
    pub keep: u32,
    /// Where the notice stands in the text.
    pub notice: Vec<f64>,
    /// Kept parts of the input, in chars.
    pub ranges: Vec<f64>,
    pub bytes: f64,
    pub chars: f64,
    /// First and last line of each run of kept lines, and how many lines the input has.
    pub lines: Vec<f64>,
    pub total_lines: f64,
}

impl Cut {
    pub fn of(outcome: &Outcome, source: &Source<Utf16>) -> Cut {
        let (kept, lines) = outcome.kept(source);
        let notice = outcome.notice();
        let cut = Cut { notice: pairs([notice]), ..Cut::without_lines(outcome.text(source)) };
        let ranges = pairs(outcome.ranges(source.total));
        Cut { keep: kept_as(outcome.keep()) as u32, ranges, ..cut.keeping(kept, lines) }
    }

    pub fn without_lines(text: Vec<u16>) -> Cut {
        Cut {
            text: Either::B(text.into()),
            keep: 0,
            notice: vec![0.0; 2],
            ranges: vec![],
            bytes: 0.0,
            chars: 0.0,
            lines: vec![],
            total_lines: 0.0,
        }
    }

    fn keeping(self, kept: Size, lines: KeptLines) -> Cut {
        Cut {
            bytes: kept.bytes as f64,
            chars: kept.chars as f64,
            lines: pairs(lines.ranges.into_iter().map(|(first, last)| first..last)),
            total_lines: lines.total as f64,
            ..self
        }
    }
}

impl From<Found> for Cut {
    fn from(found: Found) -> Cut {
        // V8 would have to find out by itself that UTF-16 can be kept as one byte a char.
        let text = if found.text.is_ascii() {
            Either::A(found.text.into())
        } else {
            Either::B(found.text.encode_utf16().collect::<Vec<_>>().into())
        };
        let cut = Cut { text, keep: kept_as(Keep::Findings) as u32, ..Cut::without_lines(vec![]) };
        Cut {
            notice: pairs([found.notice]),
            ranges: pairs(found.ranges),
            ..cut.keeping(found.kept, found.lines)
        }
    }
}

impl From<Lined> for Cut {
    fn from(lined: Lined) -> Cut {
        let cut = Cut { keep: kept_as(lined.keep) as u32, ..Cut::without_lines(lined.text) };
        Cut {
            notice: pairs([lined.notice]),
            ranges: pairs(lined.ranges),
            ..cut.keeping(lined.kept, lined.lines)
        }
    }
}

fn pairs(ranges: impl IntoIterator<Item = std::ops::Range<usize>>) -> Vec<f64> {
    ranges.into_iter().flat_map(|range| [range.start as f64, range.end as f64]).collect()
}
