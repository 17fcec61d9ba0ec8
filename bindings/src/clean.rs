//! Cleaning a text in pieces.

use std::ops::ControlFlow;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::units::{Narrow, Units};
use spillway::clean::{self, Cleaner, Options, is_clean, is_page, look};
use spillway::encoding::{Utf16, transcode};
use spillway::notice::earlier::ascii;
use spillway::notice::parse;

/// Scans a piece. Returns -1 if it may need cleaning, else the position where the next piece must
/// begin.
#[napi(catch_unwind)]
pub fn look_for_dirt(#[napi(ts_arg_type = "string")] piece: Units, repeats: bool) -> f64 {
    next(look(&piece[..], repeats))
}

#[napi(catch_unwind)]
pub fn look_for_dirt_latin1(#[napi(ts_arg_type = "string")] piece: Narrow, repeats: bool) -> f64 {
    next(look(&piece[..], repeats))
}

/// Returns true if the bytes need only be decoded.
#[napi(catch_unwind)]
pub fn is_clean_utf8(bytes: &[u8], repeats: bool, html: bool) -> bool {
    is_clean(bytes, repeats) && !(html && is_page(bytes))
}

/// Returns true if a text that begins like this is a page of HTML.
#[napi(catch_unwind)]
pub fn begins_page(start: String) -> bool {
    is_page(start.as_bytes())
}

fn next(found: ControlFlow<(), usize>) -> f64 {
    if let ControlFlow::Continue(next) = found { next as f64 } else { -1.0 }
}

/// A cleaner, with a buffer for transcoding pieces.
pub struct PieceCleaner {
    cleaner: Cleaner,
    bytes: Vec<u8>,
}

/// Begins to clean a text given in pieces, which must not end inside a surrogate pair. Each call
/// returns the output that is final so far.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'cleaning'>")]
pub fn start_cleaning(
    ansi: bool,
    carriage_returns: bool,
    control: bool,
    repeats: bool,
    html: bool,
) -> External<PieceCleaner> {
    let cleaner = Cleaner::new(Options::from([ansi, carriage_returns, control, repeats, html]));
    External::new(PieceCleaner { cleaner, bytes: vec![] })
}

#[napi(catch_unwind)]
pub fn clean_piece(
    #[napi(ts_arg_type = "ExternalObject<'cleaning'>")] cleaning: &mut External<PieceCleaner>,
    #[napi(ts_arg_type = "string")] piece: Units,
) -> Either<Latin1String, Utf16String> {
    clean_as(cleaning, |bytes| transcode::utf16(&piece, bytes))
}

#[napi(catch_unwind)]
pub fn clean_piece_latin1(
    #[napi(ts_arg_type = "ExternalObject<'cleaning'>")] cleaning: &mut External<PieceCleaner>,
    #[napi(ts_arg_type = "string")] piece: Narrow,
) -> Either<Latin1String, Utf16String> {
    clean_as(cleaning, |bytes| transcode::latin1(&piece, bytes))
}

fn clean_as(
    cleaning: &mut PieceCleaner,
    read: impl FnOnce(&mut Vec<u8>),
) -> Either<Latin1String, Utf16String> {
    let PieceCleaner { cleaner, bytes } = cleaning;
    bytes.clear();
    read(bytes);
    clean(cleaner, bytes)
}

#[napi(catch_unwind)]
pub fn clean_piece_of_bytes(
    #[napi(ts_arg_type = "ExternalObject<'cleaning'>")] cleaning: &mut External<PieceCleaner>,
    piece: &[u8],
) -> Either<Latin1String, Utf16String> {
    clean(&mut cleaning.cleaner, piece)
}

fn clean(cleaner: &mut Cleaner, piece: &[u8]) -> Either<Latin1String, Utf16String> {
    let mut out = Vec::with_capacity(piece.len());
    cleaner.push(piece, &mut out);
    answer(out)
}

/// Ends the text, and frees the memory without waiting for the garbage collector.
#[napi(catch_unwind)]
pub fn finish_cleaning(
    #[napi(ts_arg_type = "ExternalObject<'cleaning'>")] cleaning: &mut External<PieceCleaner>,
) -> Either<Latin1String, Utf16String> {
    let mut out = vec![];
    cleaning.cleaner.finish(&mut out);
    cleaning.bytes = vec![];
    answer(out)
}

/// Drops all but two of three or more identical lines in a row. Returns null if there are no three,
/// or if the text contains a notice.
#[napi(catch_unwind)]
pub fn leave_two(#[napi(ts_arg_type = "string")] text: Units) -> Option<Utf16String> {
    let left = clean::leave_two(&text)?;
    (!parse::has_notice(&ascii(Utf16(&text)))).then(|| left.into())
}

/// Returns true if a text contains one of our notices or marks. Chars above 0xFF, which no notice
/// needs, lose their upper half.
#[napi(catch_unwind)]
pub fn has_notice(#[napi(ts_arg_type = "string")] text: Narrow) -> bool {
    parse::has_notice(&text)
}

/// Like [`has_notice`], of UTF-8.
#[napi(catch_unwind)]
pub fn has_notice_in_bytes(bytes: &[u8]) -> bool {
    parse::has_notice(bytes)
}
