//! A string that goes back to JavaScript.

use napi::bindgen_prelude::*;

use crate::text::{Text, Utf8};

/// Makes a string of UTF-8, of one byte a char where all is ASCII: V8 would have to find out by itself that UTF-16 can be
/// kept so.
pub fn answer(utf8: Vec<u8>) -> Either<Latin1String, Utf16String> {
    if utf8.is_ascii() {
        return Either::A(String::from_utf8(utf8).unwrap_or_default().into());
    }
    let mut units = vec![];
    Utf8(&utf8).write(&mut units);
    Either::B(units.into())
}
