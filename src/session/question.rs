//! The strings that a question consists of: those in the arguments of a call, or the words of a
//! user.

use crate::dialect::ToolResult;
use crate::json::{Document, Value};

/// Returns the name that a result shares with its call.
pub fn name_of(result: &ToolResult) -> Option<String> {
    result.id().or_else(|| result.tool())
}

/// Bounds on what is read, as in lib/query.ts: chars of all texts, values, and the depth of these.
const CHARS: usize = 4_096;
const VALUES: usize = 1_000;
const DEPTH: usize = 16;

/// The strings in values, in order.
#[derive(Debug)]
pub struct QuestionStrings {
    pub found: Vec<String>,
    chars: usize,
    values: usize,
}

impl Default for QuestionStrings {
    fn default() -> Self {
        QuestionStrings { found: vec![], chars: CHARS, values: VALUES }
    }
}

impl QuestionStrings {
    /// Returns the words of a user, which some frameworks store twice.
    pub fn of_words(words: &[Value]) -> Vec<String> {
        let mut strings = QuestionStrings::default();
        for (at, text) in words.iter().enumerate() {
            if words[..at].iter().all(|known| known.source() != text.source()) {
                strings.take(*text, 0);
            }
        }
        strings.found
    }

    /// Takes a value. A string that is the JSON of data counts as that.
    pub fn take_decoded(&mut self, value: Value) {
        let text = value.string().filter(|text| text.trim_ascii_start().starts_with(['{', '[']));
        match text.as_ref().and_then(|text| Document::parse(text.as_bytes())) {
            Some(document) => self.take(document.root(), 0),
            None => self.take(value, 0),
        }
    }

    fn take(&mut self, value: Value, depth: usize) {
        if self.values == 0 || self.chars == 0 {
            return;
        }
        self.values -= 1;
        if let Some(text) = value.text() {
            let units = text.head(self.chars);
            self.chars -= units.len();
            if !units.is_empty() {
                self.found.push(String::from_utf16_lossy(&units));
            }
        } else if depth < DEPTH {
            value.elements().chain(value.members()).for_each(|value| self.take(value, depth + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_bounded() {
        let of = |json: &str| {
            let mut strings = QuestionStrings::default();
            strings.take_decoded(Document::parse(json.as_bytes()).unwrap().root());
            strings.found
        };
        let long = format!(r#"["{}","{}😀","c"]"#, "a".repeat(4_000), "b".repeat(95));
        let found = of(&long);
        assert_eq!((found.len(), found[1].ends_with("b\u{fffd}")), (2, true));
        assert_eq!(of(&format!("[{}\"late\"]", "1,".repeat(1_000))).len(), 0);
        assert_eq!(of(&format!("{}\"deep\"{}", "[".repeat(17), "]".repeat(17))).len(), 0);
        assert_eq!(of(&format!("{}\"deep\"{}", "[".repeat(16), "]".repeat(16))), ["deep"]);
        assert_eq!(of(r#""[not json""#), ["[not json"]);
    }
}
