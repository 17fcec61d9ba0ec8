//! Detects an end of a text that is likely to be important.

use std::ops::Range;

use crate::encoding::Text;
use crate::encoding::whitespace::is_space;

/// Chars examined at the end.
pub const LOOKED_AT: usize = 2_000;

/// Returns true if the last 2,000 chars contain a word of failure or summary, or end in a closing
/// brace. OpenClaw then keeps both ends of a text instead of its head, and agents migrated from it
/// expect that choice.
pub fn is_important<T: Text>(text: T) -> bool {
    let tail = text.slice(start_of_last(text, LOOKED_AT)..text.len());
    let lowered = |at| u8::try_from(tail.unit(at)).unwrap_or(b' ').to_ascii_lowercase();
    let bytes: Vec<u8> = (0..tail.len()).map(lowered).collect();
    ends_in_brace(tail) || words(&bytes).any(|word| is_telling(&bytes, word))
}

/// Returns the start of the last `chars` chars.
fn start_of_last<T: Text>(text: T, chars: usize) -> usize {
    let mut start = text.len();
    let mut left = chars;
    while start > 0 {
        let (point, len) = text.decode_before(start);
        if point.len_utf16() > left {
            break;
        }
        left -= point.len_utf16();
        start -= len;
    }
    start
}

/// Yields the runs of ASCII letters, digits and underscores.
fn words(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(|&byte| is_word(byte))?;
        let end = text[start..].iter().position(|&byte| !is_word(byte)).map_or(text.len(), |len| start + len);
        at = end;
        Some(start..end)
    })
}

fn is_telling(text: &[u8], word: Range<usize>) -> bool {
    let followed_by = |next: &[u8]| {
        let rest = &text[word.end..];
        rest.starts_with(next) && !rest.get(next.len()).is_some_and(|&byte| is_word(byte))
    };
    match &text[word.clone()] {
        b"error" | b"exception" | b"failed" | b"fatal" | b"traceback" | b"panic" | b"errno" => true,
        b"total" | b"summary" | b"result" | b"complete" | b"finished" | b"done" => true,
        b"stack" => followed_by(b" trace"),
        b"exit" => followed_by(b" code"),
        _ => false,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn ends_in_brace<T: Text>(text: T) -> bool {
    let mut end = text.len();
    while end > 0 {
        let (point, len) = text.decode_before(end);
        if !is_space(point) {
            return point == '}';
        }
        end -= len;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf8;

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
    fn parts_of_words_and_distant_words_do_not_matter() {
        let far = format!("error{}", " x".repeat(1_000));
        for text in
            ["", "terrors", "errors", "resulted", "} x", "undone", "error_code", "exit\ncode", far.as_str()]
        {
            assert!(!important(text), "{text:?}");
        }
        assert!(important(&format!("error{}", " ".repeat(1_995))));
    }
}
