//! Whether the end of a text looks as if it mattered.

use super::units::{Text, Utf16};

/// Chars at the end that are looked at.
pub const LOOKED_AT: usize = 2_000;

/// Words of a failure or of a summary. Where one of them stands near the end, OpenClaw keeps both ends of a text
/// instead of its head; agents that come from there expect the same choice.
const WORDS: [&str; 15] = [
    "error",
    "exception",
    "failed",
    "fatal",
    "traceback",
    "panic",
    "stack trace",
    "errno",
    "exit code",
    "total",
    "summary",
    "result",
    "complete",
    "finished",
    "done",
];

/// Tells whether the last 2,000 chars hold a word of failure or summary, or end in a closing brace.
pub fn is_important<T: Text>(text: T) -> bool {
    let mut start = text.len();
    let mut chars = 0;
    while start > 0 {
        let (point, len) = text.decode_before(start);
        chars += point.len_utf16();
        if chars > LOOKED_AT {
            break;
        }
        start -= len;
    }
    let mut units = vec![];
    text.slice(start..text.len()).write(&mut units);
    let tail: Vec<u8> =
        units.iter().map(|&unit| u8::try_from(unit).unwrap_or(0xFF).to_ascii_lowercase()).collect();
    ends_in_brace(&units) || WORDS.iter().any(|word| holds_word(&tail, word.as_bytes()))
}

fn ends_in_brace(units: &[u16]) -> bool {
    let text = Utf16(units);
    let mut end = units.len();
    while end > 0 {
        let (point, len) = text.decode_before(end);
        if !point.is_whitespace() && point != '\u{FEFF}' {
            return point == '}';
        }
        end -= len;
    }
    false
}

fn holds_word(text: &[u8], word: &[u8]) -> bool {
    let is_word = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memchr::memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        !is_word(before) && !is_word(text.get(at + word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Utf8;

    fn important(text: &str) -> bool {
        is_important(Utf8(text.as_bytes()))
    }

    #[test]
    fn failures_summaries_and_closing_braces_matter() {
        for text in
            ["x\nError: no", "exit code 1", "a STACK TRACE b", "3 passed, done.", "{\"a\": 1}\n\n", "errno=5"]
        {
            assert!(important(text), "{text:?}");
        }
    }

    #[test]
    fn parts_of_words_and_distant_words_do_not() {
        let far = format!("error{}", " x".repeat(1_000));
        for text in
            ["", "terrors", "errors", "resulted", "} x", "undone", "error_code", "exit\ncode", far.as_str()]
        {
            assert!(!important(text), "{text:?}");
        }
        assert!(important(&format!("error{}", " ".repeat(1_995))));
    }
}
