//! Answers as flat lists, which cost less than objects.

use napi::bindgen_prelude::*;

use crate::answer::answer;
use crate::cut::JsText;
use spillway::slots::held_text::HeldCut;

/// A number or a text of an edit.
pub type Item = Either4<f64, String, Latin1String, Utf16String>;

/// Kinds of edits, as in lib/text/items.ts.
pub mod kind {
    pub const JSON: u32 = 1;
    pub const TEXT: u32 = 2;
    pub const CUT: u32 = 3;
    pub const GONE: u32 = 4;
}

/// Returns the cut of a string that stays in JavaScript: its number, the new text in its middle,
/// and the ends of both sides.
pub fn flat_cut(cut: HeldCut) -> Vec<Item> {
    let ends = cut.sides.parts().into_iter().flat_map(|part| [part.start, part.end]);
    let mut items = vec![number(kind::CUT), number(cut.at), text(cut.middle)];
    items.extend(ends.map(|end| Either4::A(end as f64)));
    items.push(number(cut.is_broken.into()));
    items
}

pub fn number(number: u32) -> Item {
    Either4::A(number.into())
}

pub fn text(text: String) -> Item {
    match answer(text.into_bytes()) {
        JsText::A(text) => Either4::C(text),
        JsText::B(text) => Either4::D(text),
    }
}
