//! The place of a mark or a notice in a text.

use crate::encoding::Size;

/// A mark or notice of this package, in place of omitted text. Cuts do not fall inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    pub size: Size,
    /// Omitted chars that it states.
    pub hidden: usize,
}

/// Sorts spans by their starts. Not generic, to be compiled once.
pub fn in_order(spans: &mut [Span]) {
    spans.sort_by_key(|span| span.start);
}
