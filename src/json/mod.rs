//! JSON in place. `serde_json` judges what is JSON and writes texts; this module does what it does
//! not do.
//!
//! Values are spans of a text, so that all bytes but the replaced ones stay as they are. Texts are
//! measured and cut without decoding all of them. Lone surrogates, invalid UTF-8, numbers of any
//! size and nesting of any depth are accepted as `JSON.parse` accepts them, and the last of several
//! members with one name counts.

mod digests;
pub mod document;
mod equal;
mod escape;
pub mod held;
pub mod literal;
pub mod walk;

pub use digests::digests;
pub use document::{Document, Value};
pub use equal::equal;
pub use literal::Literal;

use std::fmt::Write;

/// Returns a text as a JSON string.
pub fn string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Escapes the line separators that JSON permits in strings, since some readers split rows at them.
pub fn on_one_line(json: String) -> String {
    match json.contains(['\u{2028}', '\u{2029}']) {
        true => json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"),
        false => json,
    }
}

/// Escapes the control characters that JSON permits unescaped. Cleaning the result as text then
/// leaves it alone.
pub fn without_controls(json: String) -> String {
    let is_control = |point: char| matches!(point, '\u{7f}'..'\u{a0}');
    if !json.contains(is_control) {
        return json;
    }
    json.chars().fold(String::new(), |mut out, point| {
        if is_control(point) {
            let _ = write!(out, "\\u{:04x}", u32::from(point));
        } else {
            out.push(point);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_control_characters_are_escaped() {
        let json = "[\"a\u{7f}b\u{9b}31m\u{80}\u{a0}é漢\"]".to_owned();
        assert_eq!(without_controls(json), "[\"a\\u007fb\\u009b31m\\u0080\u{a0}é漢\"]");
    }

    #[test]
    fn strings_are_written_like_json_stringify() {
        let text = "a\"\\/\n\r\t\u{8}\u{c}\0\u{1f}\u{7f}é漢😀\u{2028}";
        assert_eq!(string(text), "\"a\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\u{7f}é漢😀\u{2028}\"");
    }
}
