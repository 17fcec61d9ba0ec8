//! Clamping the blocks of one result together.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::policy::{kept_as, totals, unpack, write};
use super::units::{Numbers, Units};
use crate::limits::UNLIMITED;
use crate::share::{Block, share};
use crate::text::lines::{CutLines, cut_lines};
use crate::text::source::Source;
use crate::text::{Text, Utf16};

/// Numbers that come and go with each block.
const COLUMNS: usize = 12;

/// Clamps blocks under one budget. Each comes as two windows (the second empty: the first is all of it), with twelve
/// numbers in `table`: its length, its bytes and newlines or NaN; and as places for what became of it (0 it is whole,
/// 1 it was cut and its text is returned, 2 it is gone, 3 it is whole but not well-formed), the end of the head, the
/// start of the tail, the kind of cut, the bytes and chars kept, the lines of the head, the number of the tail's first
/// line and that of the last.
#[napi(catch_unwind)]
pub fn clamp_blocks(
    policy: &[f64],
    notice: String,
    source: String,
    #[napi(ts_arg_type = "string[]")] windows: Vec<Units>,
    #[napi(ts_arg_type = "Float64Array")] table: Numbers,
) -> Vec<Option<Utf16String>> {
    let (policy, how) = unpack(policy, notice, source);
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
            let (code, text) = match &block {
                Block::Whole if source.has_marks() => (1.0, Some(source.all())),
                Block::Whole => {
                    (if Source::whole(Utf16(&windows[0])).broken() > 0 { 3.0 } else { 0.0 }, None)
                }
                Block::Cut(cut) => (1.0, Some(source.compose(cut))),
                Block::Gone => (2.0, None),
            };
            row[3] = code;
            // Who counts what is kept has brought the totals.
            if let (Block::Cut(cut), Some(_)) = (&block, totals(row)) {
                let (size, lines) = source.kept(cut.kept());
                let values = [
                    cut.head,
                    cut.tail,
                    kept_as(cut.keep),
                    size.bytes,
                    size.chars,
                    lines.head,
                    lines.first_of_tail,
                    lines.total,
                ];
                write(&mut row[4..], &values);
            }
            text.map(Utf16String::from)
        })
        .collect()
}
