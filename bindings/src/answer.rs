//! Strings returned to JavaScript.

use napi::bindgen_prelude::*;

use spillway::encoding::{Text, Utf8};

/// Converts UTF-8 to a JavaScript string. ASCII becomes a one-byte string, which spares V8 a check
/// of UTF-16.
pub fn answer(utf8: Vec<u8>) -> Either<Latin1String, Utf16String> {
    if utf8.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        return Either::A(unsafe { String::from_utf8_unchecked(utf8) }.into());
    }
    let mut units = vec![];
    Utf8(&utf8).write(&mut units);
    Either::B(units.into())
}
