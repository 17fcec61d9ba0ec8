//! A piece of a JavaScript string, in the width that V8 stores it in.

use super::{Latin1, Size, Text, Utf16};

/// A piece of a JavaScript string.
#[derive(Clone, Copy, Debug)]
pub enum StringPiece<'a> {
    Narrow(Latin1<'a>),
    Wide(Utf16<'a>),
}

impl StringPiece<'_> {
    pub fn size(self) -> Size {
        match self {
            StringPiece::Narrow(text) => text.size(),
            StringPiece::Wide(text) => text.size(),
        }
    }

    pub fn units(self) -> usize {
        match self {
            StringPiece::Narrow(text) => text.len(),
            StringPiece::Wide(text) => text.len(),
        }
    }

    /// Splits the piece after its first newline, or at its start if it has none.
    pub fn split_line(self) -> (Self, Self) {
        fn split<T: Text>(text: T) -> (T, T) {
            let at = text.find_newline(0).map_or(0, |newline| newline + 1);
            (text.slice(0..at), text.slice(at..text.len()))
        }
        match self {
            StringPiece::Narrow(text) => {
                let (start, rest) = split(text);
                (StringPiece::Narrow(start), StringPiece::Narrow(rest))
            }
            StringPiece::Wide(text) => {
                let (start, rest) = split(text);
                (StringPiece::Wide(start), StringPiece::Wide(rest))
            }
        }
    }

    pub fn each_utf8(self, each: &mut dyn FnMut(&[u8])) {
        match self {
            StringPiece::Narrow(text) => text.each_utf8(each),
            StringPiece::Wide(text) => text.each_utf8(each),
        }
    }
}
