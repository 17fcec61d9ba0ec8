//! Redacting a text in pieces.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::answer::answer;
use super::units::Units;
use crate::encoding::transcode;
use crate::redact::Redactor;

/// Begins to redact a text given in pieces, none of which may end inside a surrogate pair. Each call returns the output
/// that is final so far.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'redaction'>")]
pub fn start_redacting() -> External<Redactor> {
    External::new(Redactor::default())
}

#[napi(catch_unwind)]
pub fn redact_piece(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] redactor: &mut External<Redactor>,
    #[napi(ts_arg_type = "string")] piece: Units,
) -> Either<Latin1String, Utf16String> {
    let (mut bytes, mut out) = (vec![], vec![]);
    transcode::utf16(&piece, &mut bytes);
    redactor.push(&bytes, &mut out);
    answer(out)
}

/// Ends the text.
#[napi(catch_unwind)]
pub fn finish_redacting(
    #[napi(ts_arg_type = "ExternalObject<'redaction'>")] redactor: &mut External<Redactor>,
) -> Either<Latin1String, Utf16String> {
    let mut out = vec![];
    redactor.finish(&mut out);
    answer(out)
}
