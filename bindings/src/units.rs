//! JavaScript text arguments. Strings are read into aligned, reused buffers.
//!
//! V8 widens one-byte strings with stores of a cache line, which is 2.5 times faster into aligned
//! memory, and a reused buffer causes no page faults. Large buffers are freed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr;

use napi::bindgen_prelude::*;
use napi::{check_status, sys};

use crate::answer::answer;
use spillway::encoding::transcode;

#[repr(C, align(64))]
struct CacheLine([u8; LINE]);
const LINE: usize = 64;

/// Idle buffers per thread and their maximum size; each worker has its own pool.
const KEPT_BUFFERS: usize = 4;
const KEPT_BYTES: usize = 1 << 20;
thread_local! {
    static POOL: RefCell<Vec<Vec<CacheLine>>> = const { RefCell::new(vec![]) };
}

/// A `Float64Array` argument, written in place. An alias, because napi-derive takes `&mut` itself
/// for a class.
pub type Numbers<'a> = &'a mut [f64];

/// The UTF-16 code units of a string argument.
pub type Units = StringOf<u16>;

/// The Latin-1 bytes of a string argument. Chars above 0xFF lose their upper half.
pub type Narrow = StringOf<u8>;

/// Reads a string, or a value that fails to be read as one.
pub fn units<U: NapiUnit>(text: Unknown) -> Result<StringOf<U>> {
    // SAFETY: `cast` checks nothing, but a value that is not a string fails to be read.
    unsafe { text.cast() }
}

/// A text argument: a string, or the bytes of one.
pub enum Given<'a> {
    Narrow(Narrow),
    Wide(Units),
    Bytes(Uint8ArraySlice<'a>),
}

impl<'a> Given<'a> {
    /// `narrow`: a string has no chars above 0xFF, and is read in half the time.
    pub fn read(text: Unknown<'a>, narrow: bool) -> Result<Given<'a>> {
        Ok(match text.get_type()? {
            ValueType::String if narrow => Given::Narrow(units(text)?),
            ValueType::String => Given::Wide(units(text)?),
            // SAFETY: `cast` checks that the value is a typed array of bytes.
            _ => Given::Bytes(unsafe { text.cast()? }),
        })
    }

    /// Returns the text, well-formed.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Given::Narrow(text) if text.is_ascii() => String::from_utf8_lossy(text),
            Given::Bytes(text) => String::from_utf8_lossy(text),
            _ => Cow::Owned(String::from_utf8(self.utf8()).unwrap_or_default()),
        }
    }

    /// Returns a new text in the same form: a string, or bytes.
    pub fn answer(&self, utf8: Vec<u8>) -> Either3<Latin1String, Utf16String, Buffer> {
        match self {
            Given::Bytes(_) => Either3::C(utf8.into()),
            _ => match answer(utf8) {
                Either::A(text) => Either3::A(text),
                Either::B(text) => Either3::B(text),
            },
        }
    }

    pub fn utf8(&self) -> Vec<u8> {
        let mut bytes = vec![];
        match self {
            Given::Narrow(text) => transcode::latin1(text, &mut bytes),
            Given::Wide(text) => transcode::utf16(text, &mut bytes),
            Given::Bytes(text) => bytes.extend_from_slice(text),
        }
        bytes
    }
}

/// Has an expression read a [`Given`] in its encoding.
macro_rules! in_encoding {
    ($given:expr, $text:ident => $use:expr) => {
        match $given {
            $crate::units::Given::Narrow(text) => {
                let $text = spillway::encoding::Latin1(text);
                $use
            }
            $crate::units::Given::Wide(text) => {
                let $text = spillway::encoding::Utf16(text);
                $use
            }
            $crate::units::Given::Bytes(text) => {
                let $text = spillway::encoding::Utf8(text);
                $use
            }
        }
    };
}
pub(crate) use in_encoding;

/// A string argument in units of one width.
pub struct StringOf<U> {
    buffer: Vec<CacheLine>,
    len: usize,
    unit: PhantomData<U>,
}

impl<U> Default for StringOf<U> {
    fn default() -> Self {
        StringOf { buffer: vec![], len: 0, unit: PhantomData }
    }
}

/// A unit width that N-API can write strings in.
pub trait NapiUnit: Sized {
    /// Has N-API write up to `room` units to `to`, terminator included, and returns the string's
    /// length.
    ///
    /// # Safety
    /// The handles must come from N-API. `to` must be null, which asks for the length alone, or
    /// have the room.
    unsafe fn read(env: sys::napi_env, value: sys::napi_value, to: *mut Self, room: usize) -> Result<usize>;
}

impl NapiUnit for u16 {
    unsafe fn read(env: sys::napi_env, value: sys::napi_value, to: *mut u16, room: usize) -> Result<usize> {
        let mut len = 0;
        // SAFETY: as the caller promises.
        check_status!(unsafe { sys::napi_get_value_string_utf16(env, value, to, room, &mut len) })?;
        Ok(len)
    }
}

impl NapiUnit for u8 {
    unsafe fn read(env: sys::napi_env, value: sys::napi_value, to: *mut u8, room: usize) -> Result<usize> {
        let mut len = 0;
        // SAFETY: as the caller promises.
        check_status!(unsafe { sys::napi_get_value_string_latin1(env, value, to.cast(), room, &mut len) })?;
        Ok(len)
    }
}

impl<U> std::ops::Deref for StringOf<U> {
    type Target = [U];
    fn deref(&self) -> &[U] {
        // SAFETY: N-API wrote `len` units to the start of the buffer; `len` is 0 if the buffer is
        // empty.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.len) }
    }
}

impl<U> Drop for StringOf<U> {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        if buffer.capacity() * LINE <= KEPT_BYTES {
            POOL.with_borrow_mut(|pool| {
                if pool.len() < KEPT_BUFFERS {
                    pool.push(buffer);
                }
            });
        }
    }
}

impl<U> TypeName for StringOf<U> {
    fn type_name() -> &'static str {
        "string"
    }
    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl<U: NapiUnit> ValidateNapiValue for StringOf<U> {}

impl<U: NapiUnit> FromNapiValue for StringOf<U> {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: both handles come from N-API.
        let len = unsafe { U::read(env, value, ptr::null_mut(), 0) }?;
        let mut buffer = POOL.with_borrow_mut(Vec::pop).unwrap_or_default();
        buffer.reserve(((len + 1) * size_of::<U>()).div_ceil(LINE));
        // SAFETY: the buffer has room for `len` units and the terminator that N-API adds.
        let len = unsafe { U::read(env, value, buffer.as_mut_ptr().cast(), len + 1) }?;
        Ok(StringOf { buffer, len, unit: PhantomData })
    }
}
