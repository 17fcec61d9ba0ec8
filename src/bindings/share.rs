//! Truncating the blocks of one result together.

use napi_derive::napi;

use super::cut::Cut;
use super::policy::{totals, unpack};
use super::units::{Numbers, Units};
use crate::limits::UNLIMITED;
use crate::share::{Block, share};
use crate::text::lines::{CutLines, cut_lines};
use crate::text::source::Source;
use crate::text::{Text, Utf16};

/// Numbers per block, in and out.
const COLUMNS: usize = 4;

/// Truncates blocks under one budget. Each block comes as two windows; if the second is empty, the first is the whole
/// text. `table` has four numbers per block: its length, its bytes and newlines or NaN, and a code to return. Code 0:
/// whole. 1: truncated, and the text is returned. 2: dropped, or replaced by the returned text. 3: whole but
/// ill-formed. 4: returned with its long lines cut.
#[napi(catch_unwind)]
pub fn clamp_blocks(
    policy: &[f64],
    notice: String,
    source: String,
    needles: Vec<String>,
    #[napi(ts_arg_type = "string[]")] windows: Vec<Units>,
    #[napi(ts_arg_type = "Float64Array")] table: Numbers,
) -> Vec<Option<Cut>> {
    let (policy, how) = unpack(policy, notice, source, needles);
    let max = policy.limits.line_bytes;
    let by_lines = max != UNLIMITED;
    let texts = windows.iter().step_by(2);
    let cut: Vec<Option<CutLines>> =
        texts.map(|text| by_lines.then(|| cut_lines(Utf16(text), max))).collect();
    let sources: Vec<_> = windows
        .chunks(2)
        .zip(&cut)
        .zip(table.chunks(COLUMNS))
        .map(|((windows, cut), lengths)| match cut {
            Some(cut) => Source::whole(Utf16(&cut.text))
                .with_totals(Some(Utf16(&windows[0]).size()))
                .with_marks(&cut.marks),
            None => Source::ends(Utf16(&windows[0]), Utf16(&windows[1]), lengths[0] as usize)
                .with_totals(totals(lengths)),
        })
        .collect();
    let blocks = share(&sources, &policy, how);
    let outcomes = blocks.into_iter().zip(&sources).zip(windows.chunks(2)).zip(table.chunks_mut(COLUMNS));
    outcomes
        .map(|(((block, source), windows), row)| {
            let (code, cut) = match &block {
                Block::Whole if source.has_marks() => (4.0, Some(Cut::of_text(source.all()))),
                Block::Whole if Source::whole(Utf16(&windows[0])).broken() > 0 => (3.0, None),
                Block::Whole => (0.0, None),
                // The totals are given exactly when the caller needs the kept amounts.
                Block::Cut(cut) if totals(row).is_some() => (1.0, Some(Cut::of(cut, source))),
                Block::Cut(cut) => (1.0, Some(Cut::of_text(cut.text(source)))),
                Block::Gone => (2.0, None),
                Block::Replaced(text) => (2.0, Some(Cut::of_text(text.encode_utf16().collect()))),
            };
            row[3] = code;
            cut
        })
        .collect()
}
