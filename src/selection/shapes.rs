//! Shapes that indicate failure independently of words: log levels, statuses, error codes, marks of
//! failed tests, changed lines of a diff.

use super::bytes::is_word;
use super::words::{Lengths, beginning};

/// The weight of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Ignores its context.
    Alone(i32),
    /// Gains weight from words of failure beside it.
    Beside(i32),
}

/// First letters of words that begin a shape (`0` means any digit), and a bit per possible length.
const BEGINNINGS: [(&[u8; 2], u16); 8] = [
    (b"e0", 1 << 4 | 1 << 5),
    (b"f0", 1 << 4 | 1 << 5),
    (b"ht", 1 << 4),
    (b"in", 1 << 3 | 1 << 8),
    (b"na", 1 << 3),
    (b"le", 1 << 5),
    (b"st", 1 << 6),
    (b"se", 1 << 8),
];

/// The lengths of words that begin a shape.
pub const LENGTHS: Lengths = {
    let mut lengths = [0; 1 << 10];
    let mut at = 0;
    while at < BEGINNINGS.len() {
        let ([first, second], bits) = BEGINNINGS[at];
        let mut digit = 0;
        while digit < if *second == b'0' { 10 } else { 1 } {
            lengths[beginning(*first, *second + digit)] |= bits;
            digit += 1;
        }
        at += 1;
    }
    lengths
};

/// Returns the shape that a word forms with its context.
pub fn of_word(line: &[u8], start: usize, end: usize) -> Option<Shape> {
    let first = line[start] | 0x20;
    match end - start {
        3 | 8 if matches!(first, b'n' | b'i') => no_number(line, start, end),
        4 if first == b'h' => failed_status(&line[start..]),
        4 | 5 if matches!(first, b'e' | b'f') => code(line, start, end),
        5 | 6 | 8 if matches!(first, b'l' | b's') => level(line, start, end),
        _ => None,
    }
}

/// A value that is not a number: `loss=nan`.
fn no_number(line: &[u8], start: usize, end: usize) -> Option<Shape> {
    let before = &line[..start];
    let before = before.strip_suffix(b"-").unwrap_or(before).trim_ascii_end();
    let is_value = matches!(before.last(), Some(b'=' | b':'));
    let is_none = ["nan", "inf", "infinity"].iter().any(|name| is(&line[start..end], name));
    (is_value && is_none).then_some(Shape::Alone(6))
}

/// A failed HTTP status line: `HTTP/1.1 404`.
fn failed_status(text: &[u8]) -> Option<Shape> {
    let version = text.strip_prefix(b"HTTP/")?;
    let digits = version.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    (digits > 0 && is_status(&version[digits..], b"45")).then_some(Shape::Beside(6))
}

/// An error code: `E501`, `F401:`.
fn code(line: &[u8], start: usize, end: usize) -> Option<Shape> {
    let (before, after) = (&line[..start], &line[end..]);
    let is_code = matches!(line[start], b'E' | b'F') && line[start + 1..end].iter().all(u8::is_ascii_digit);
    let is_free = before.last().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b':');
    let is_ended = after.strip_prefix(b":").unwrap_or(after).starts_with(b" ");
    (is_code && is_free && is_ended).then_some(Shape::Alone(6))
}

/// A level or status in JSON, or a severity: `"level":50`, `"status": 502`, `Severity: High`.
fn level(line: &[u8], start: usize, end: usize) -> Option<Shape> {
    let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
    if is(word, "severity") && [": high", ": critical"].iter().any(|high| starts(after, high)) {
        return Some(Shape::Alone(7));
    }
    let value = after.strip_prefix(b"\":").filter(|_| before.ends_with(b"\""))?;
    let value = value.strip_prefix(b" ").unwrap_or(value);
    if is(word, "status") {
        return matches!(value, [b'5', a, b, ..] if a.is_ascii_digit() && b.is_ascii_digit())
            .then_some(Shape::Beside(6));
    }
    let names = ["\"error\"", "\"fatal\"", "\"critical\"", "\"high\""];
    let is_bad = matches!(value, [b'5' | b'6', digit, ..] if digit.is_ascii_digit())
        || names.iter().any(|name| starts(value, name));
    (is_bad && (is(word, "level") || is(word, "severity"))).then_some(Shape::Alone(7))
}

fn is(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

fn starts(text: &[u8], with: &str) -> bool {
    text.get(..with.len()).is_some_and(|text| is(text, with))
}

/// Returns the weight of a mark at the start of a line: a failed test, an explained error, or a
/// file position.
pub fn of_beginning(line: &[u8]) -> i32 {
    let indent = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = &line[indent..];
    let glyphs = ["✕", "✖", "✗", "✘", "×", "●", "❌", "⨯"];
    if indent <= 8
        && !text.first().is_none_or(u8::is_ascii)
        && glyphs.iter().any(|glyph| text.starts_with(glyph.as_bytes()))
    {
        8
    } else if line.starts_with(b"E  ") || line.starts_with(b">  ") {
        5
    } else if text.starts_with(b"--> ") {
        2
    } else {
        0
    }
}

/// Returns true if a line tells of a test or a step that passed.
pub fn passed(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let begins = ["✓", "✔", "√", "PASS", "--- PASS", "ok "];
    let ends: [&[u8]; 3] = [b"... ok", b" PASSED", b" ... OK"];
    let (text, percent) = line.split_at(line.iter().rposition(|byte| *byte == b'[').unwrap_or(line.len()));
    let said = if percent.ends_with(b"%]") { text.trim_ascii_end() } else { line };
    begins.iter().any(|mark| line.starts_with(mark.as_bytes()))
        || ends.iter().any(|end| said.ends_with(end))
        || is_ok(percent)
        || line.iter().position(|byte| *byte == b']').is_some_and(|end| is_ok(&line[..=end]))
}

/// Returns true for a state in brackets: `[OK]`, `[       OK ]`.
fn is_ok(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    inside.is_some_and(|inside| inside.trim_ascii().eq_ignore_ascii_case(b"ok"))
}

/// Returns true if a server error status follows a quote, as in access logs: `" 502 `.
pub fn is_server_error(after: &[u8]) -> bool {
    is_status(after, b"5") && after.get(4) == Some(&b' ')
}

/// Returns true if a space and a three-digit status follow, whose first digit is in `first`.
fn is_status(after: &[u8], first: &[u8]) -> bool {
    matches!(after, [b' ', a, b, c, rest @ ..] if first.contains(a) && b.is_ascii_digit() && c.is_ascii_digit()
        && !rest.first().is_some_and(|next| is_word(*next)))
}

/// Returns true if a line contains a file position: `name.ext:12` or `name.ext(12`.
pub fn names_a_place(line: &[u8]) -> bool {
    let ends = memchr::memchr2_iter(b':', b'(', line);
    ends.filter(|at| line.get(at + 1).is_some_and(u8::is_ascii_digit)).any(|at| {
        let ext = line[..at].iter().rev().take_while(|&&byte| is_word(byte)).count();
        let dot = at - ext;
        ext > 0
            && line[..dot].ends_with(b".")
            && dot >= 2
            && matches!(line[dot - 2], b'.' | b'/' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z')
    })
}

/// Returns the first bytes of a line, padded with zeros.
pub fn start(line: &[u8]) -> [u8; 3] {
    match *line {
        [a, b, c, ..] => [a, b, c],
        [a, b] => [a, b, 0],
        [a] => [a, 0, 0],
        [] => [0; 3],
    }
}

/// Returns true if a line replaces the previous one, as in a diff of expected and actual output.
pub fn is_changed(before: &[u8; 3], line: &[u8; 3]) -> bool {
    let ([minus, a, rest], [plus, b, _]) = (before, line);
    *minus == b'-' && *plus == b'+' && a == b && *rest != 0 && !matches!(a, b'-' | b'+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_in_brackets_tells_that_a_step_passed() {
        for line in ["[       OK ] a.b (0 ms)", "Check failure of a with ENOENT... [OK]", "[ ok ] Started x"]
        {
            assert!(passed(line.as_bytes()), "{line}");
        }
        for line in ["[FAILED] a.b", "a [OK] b failed", "[ok", "ok]", "[1/2] a [OKAY]"] {
            assert!(!passed(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn changed_lines_are_recognised_by_the_previous_line() {
        let changed = |a: &str, b: &str| is_changed(&start(a.as_bytes()), &start(b.as_bytes()));
        assert!(changed("-  tax: 7\n", "+  tax: 19\n"));
        assert!(!changed("--- a\n", "+++ b\n") && !changed("- a\n", "- b\n") && !changed("-\n", "+\n"));
    }
}
