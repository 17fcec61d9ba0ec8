//! Strings that stay in JavaScript, and are read by calls back.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use napi::bindgen_prelude::*;

use crate::units::{Narrow, Units, units};
use spillway::encoding::{Latin1, StringPiece, Utf16};
use spillway::json::held::{Chars, Strings};

/// Reads a part of a string: its number, start and end. With `true`, returns null if the part is
/// not surely narrow.
pub type Part<'a> = Function<'a, FnArgs<(u32, f64, f64, bool)>, Unknown<'a>>;
/// Reads as much as suits from a start.
pub type Piece<'a> = Function<'a, FnArgs<(u32, f64, bool)>, Unknown<'a>>;
/// Tells if a string has lone surrogates.
pub type IsBroken<'a> = Function<'a, u32, bool>;

/// Strings that stay in JavaScript while the engine reads them.
pub struct JsStrings<'a> {
    units: &'a [f64],
    part: Part<'a>,
    piece: Piece<'a>,
    is_broken: IsBroken<'a>,
    /// The first error of a call.
    failure: RefCell<Option<Error>>,
}

impl fmt::Debug for JsStrings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("JsStrings").field(&self.units).finish()
    }
}

impl<'a> JsStrings<'a> {
    /// `units`: the chars of each string.
    pub fn new(units: &'a [f64], part: Part<'a>, piece: Piece<'a>, is_broken: IsBroken<'a>) -> Self {
        JsStrings { units, part, piece, is_broken, failure: RefCell::default() }
    }

    /// Returns the first error of a call, if there was one.
    pub fn check(self) -> Result<()> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }

    /// Returns what was read, or nothing after an error, which ends the call.
    pub fn or_nothing<T: Default>(&self, read: Result<T>) -> T {
        read.unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            T::default()
        })
    }

    /// Passes on the piece from a position. Returns its length, or 0 to stop.
    fn next(
        &self,
        at: u32,
        start: usize,
        narrow: &mut bool,
        take: &mut dyn FnMut(StringPiece) -> bool,
    ) -> Result<usize> {
        if *narrow {
            if let Some(piece) = narrow_of(self.piece.call((at, start as f64, true).into())?)? {
                return Ok(if take(StringPiece::Narrow(Latin1(&piece))) { piece.len() } else { 0 });
            }
            *narrow = false;
        }
        let piece: Units = units(self.piece.call((at, start as f64, false).into())?)?;
        Ok(if take(StringPiece::Wide(Utf16(&piece))) { piece.len() } else { 0 })
    }
}

/// Returns the chars of a string, or `None` for null.
fn narrow_of(given: Unknown) -> Result<Option<Narrow>> {
    Ok(if given.get_type()? == ValueType::String { Some(units(given)?) } else { None })
}

impl Strings for JsStrings<'_> {
    fn units(&self, at: u32) -> usize {
        self.units.get(at as usize).map_or(0, |units| *units as usize)
    }

    fn narrow(&self, at: u32, part: Range<usize>) -> Option<Chars<'_, u8>> {
        let read = self.part.call((at, part.start as f64, part.end as f64, true).into());
        self.or_nothing(read.and_then(narrow_of)).map(|chars| Box::new(chars) as _)
    }

    fn wide(&self, at: u32, part: Range<usize>) -> Chars<'_, u16> {
        let read = self.part.call((at, part.start as f64, part.end as f64, false).into());
        Box::new(self.or_nothing(read.and_then(units::<u16>)))
    }

    fn is_broken(&self, at: u32) -> bool {
        self.or_nothing(self.is_broken.call(at))
    }

    fn each(&self, at: u32, take: &mut dyn FnMut(StringPiece) -> bool) {
        let (mut start, mut narrow) = (0, true);
        while start < self.units(at) {
            match self.or_nothing(self.next(at, start, &mut narrow, take)) {
                0 => return,
                units => start += units,
            }
        }
    }
}
