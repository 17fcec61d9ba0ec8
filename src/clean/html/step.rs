//! Pages of HTML as a step of a cleaning: before all others, with a look at their output.

use super::{Guard, Html};
use crate::encoding::{Text, Utf8};

/// Bytes of a page that are read at once.
const PIECE: usize = 16 * 1024;

#[derive(Clone, Debug, Default)]
pub struct HtmlStep {
    html: Html,
    guard: Guard,
    /// The text of a page, and what the other steps make of it.
    shown: Vec<u8>,
    cleaned: Vec<u8>,
}

impl HtmlStep {
    /// Reads text. The other steps get that of a page, and append what they make of it.
    pub fn push(&mut self, text: &str, mut next: impl FnMut(&str, &mut Vec<u8>), out: &mut Vec<u8>) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(Utf8(rest).floor(rest.len().min(PIECE)));
            self.html.push(piece, &mut self.shown);
            self.pass_on(&mut next, false, out);
            rest = others;
        }
    }

    /// Ends the text. The other steps end with what they get.
    pub fn finish(&mut self, mut end: impl FnMut(&str, &mut Vec<u8>), out: &mut Vec<u8>) {
        self.html.finish(&mut self.shown);
        self.pass_on(&mut end, true, out);
    }

    fn pass_on(&mut self, next: &mut impl FnMut(&str, &mut Vec<u8>), is_last: bool, out: &mut Vec<u8>) {
        next(&String::from_utf8_lossy(&self.shown), &mut self.cleaned);
        self.guard.push(&self.cleaned, is_last, out);
        self.shown.clear();
        self.cleaned.clear();
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.html.memory() + self.shown.capacity() + self.cleaned.capacity() + self.guard.memory()
    }
}
