//! Strings that stay in JavaScript.
//!
//! A long string is not copied to be measured: its ends are read where a cut needs them, and a
//! search reads it piece by piece.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, Range};

use super::{Literal, escape};
use crate::encoding::{Size, StringPiece};

/// Chars of a string, in memory of their own.
pub type Chars<'a, U> = Box<dyn Deref<Target = [U]> + 'a>;

/// The strings that JavaScript holds, by their numbers.
pub trait Strings: fmt::Debug {
    /// Returns the chars of a string.
    fn units(&self, at: u32) -> usize;
    /// Reads a part if it is surely without chars above 0xFF.
    fn narrow(&self, at: u32, part: Range<usize>) -> Option<Chars<'_, u8>>;
    fn wide(&self, at: u32, part: Range<usize>) -> Chars<'_, u16>;
    /// Returns true if a string has lone surrogates.
    fn is_broken(&self, at: u32) -> bool;
    /// Passes a string on in pieces until `false` is returned.
    fn each(&self, at: u32, take: &mut dyn FnMut(StringPiece) -> bool);
}

/// One string that stays in JavaScript.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    strings: &'a dyn Strings,
    at: u32,
    /// The whole string, once it was read.
    pulled: OnceCell<Box<Literal<'static>>>,
}

impl<'a> Held<'a> {
    pub fn new(strings: &'a dyn Strings, at: u32) -> Held<'a> {
        Held { strings, at, pulled: OnceCell::new() }
    }

    /// Returns the number of the string.
    pub fn at(&self) -> u32 {
        self.at
    }

    /// Returns the chars of the string.
    pub fn units(&self) -> usize {
        self.strings.units(self.at)
    }

    pub fn is_broken(&self) -> bool {
        self.strings.is_broken(self.at)
    }

    pub fn each(&self, take: &mut dyn FnMut(StringPiece) -> bool) {
        self.strings.each(self.at, take);
    }

    pub fn narrow(&self, part: Range<usize>) -> Option<Chars<'a, u8>> {
        // No call for nothing.
        if part.is_empty() { Some(Box::new(vec![])) } else { self.strings.narrow(self.at, part) }
    }

    pub fn wide(&self, part: Range<usize>) -> Chars<'a, u16> {
        if part.is_empty() { Box::new(vec![]) } else { self.strings.wide(self.at, part) }
    }

    pub fn size(&self) -> Size {
        let mut size = Size::default();
        self.each(&mut |piece| {
            size = size + piece.size();
            true
        });
        size
    }

    /// Returns the whole text, which is read once.
    pub(super) fn pulled(&self) -> &Literal<'static> {
        self.pulled.get_or_init(|| Box::new(self.pull()))
    }

    fn pull(&self) -> Literal<'static> {
        let mut text = Vec::with_capacity(self.units());
        if self.is_broken() {
            escape::write_units(self.wide(0..self.units()).iter().copied(), &mut text);
            return Literal::with_escapes(text);
        }
        self.each(&mut |piece| {
            piece.each_utf8(&mut |bytes| text.extend_from_slice(bytes));
            true
        });
        Literal::without_escapes(text)
    }
}
