//! The columns in front of a line: a time, the name of a job or a service, the number of a step.

use crate::relevance::hash;

/// Maximum bytes of a prefix that are read.
const READ: usize = 96;

/// Maximum columns of a prefix.
const COLUMNS: usize = 3;

/// Returns a line without the columns in front of it. Its indentation stays.
pub fn without_prefix(line: &[u8]) -> &[u8] {
    let mut rest = line;
    for _ in 0..COLUMNS {
        match column(rest) {
            0 => break,
            length => rest = &rest[length..],
        }
    }
    rest
}

/// Returns the bytes of the first column, the space after it included.
fn column(line: &[u8]) -> usize {
    let read = &line[..line.len().min(READ)];
    let end = time(read)
        .or_else(|| step(read))
        .or_else(|| service(read))
        .or_else(|| counter(read))
        .or_else(|| named_time(line))
        .unwrap_or(0);
    end + usize::from(end > 0 && matches!(line.get(end), Some(b' ' | b'\t')))
}

/// Returns the end of a time of day that only columns stand before: `[12:00:01]`, `Nov 23
/// 08:47:06`, `build<TAB>install<TAB>2026-04-22T16:09:39.67Z`.
fn time(line: &[u8]) -> Option<usize> {
    let start = memchr::memchr_iter(b':', line).find_map(|at| {
        let start = at.checked_sub(2)?;
        let [a, b, _, c, d, b':', e, f] = *line.get(start..at + 6)? else { return None };
        let is_time = [a, b, c, d, e, f].iter().all(u8::is_ascii_digit);
        let is_free = start == 0 || matches!(line[start - 1], b' ' | b'\t' | b'|' | b'[' | b'(' | b'T');
        (is_time && is_free).then_some(start)
    })?;
    let before = &line[..start];
    let names = before.iter().rposition(|byte| matches!(byte, b'\t' | b'|')).map_or(0, |end| end + 1);
    is_date(&before[names..]).then(|| {
        let end = start + 8;
        end + line[end..].iter().take_while(|byte| is_in_time(**byte)).count()
    })
}

/// Returns the end of a time behind two columns of any length: names of a job and of a step.
fn named_time(line: &[u8]) -> Option<usize> {
    let rest = after_columns(line)?;
    time(&rest[..rest.len().min(READ)]).map(|end| line.len() - rest.len() + end)
}

/// Maximum bytes of the names of a job and of a step.
const NAMES: usize = 512;

/// Returns a line behind its first two columns that tabs end.
pub fn after_columns(line: &[u8]) -> Option<&[u8]> {
    let read = &line[..line.len().min(NAMES)];
    memchr::memchr_iter(b'\t', read).nth(1).map(|tab| &line[tab + 1..])
}

/// Returns the end of a counter or a clock in brackets: `[  412.004311]`, `[  +73 ms]`, `[12/90]`.
fn counter(line: &[u8]) -> Option<usize> {
    let inside = line.strip_prefix(b"[")?;
    let (mut letters, mut says) = (0, false);
    for (at, byte) in inside.iter().enumerate() {
        letters = if byte.is_ascii_alphabetic() { letters + 1 } else { 0 };
        match byte {
            b']' => {
                let end = at + 2;
                let is_blank = at > 2 && inside[..at].iter().all(|byte| *byte == b' ');
                return ((says || is_blank) && matches!(line.get(end), None | Some(b' ' | b'\t' | b'\n')))
                    .then_some(end);
            }
            b'0'..=b'9' => says = true,
            b' ' | b'.' | b',' | b':' | b'+' | b'-' | b'/' | b'%' => {}
            _ if letters > 0 && letters < 3 && says => {}
            _ => return None,
        }
    }
    None
}

/// Hashes the first column of a line, numbers and blanks aside: a counter, a clock or a name in
/// brackets, a name before a bar, a time since the start. Returns `None` without one, or if the
/// line says nothing behind it.
pub fn common_column(line: &[u8]) -> Option<u64> {
    let read = &line[..line.len().min(READ)];
    let end = counter(read)
        .or_else(|| step(read))
        .or_else(|| bracketed(read))
        .or_else(|| barred(read))
        .or_else(|| seconds(read))?;
    let is_word = |three: &[u8]| three.iter().all(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    line[end..].windows(3).any(is_word).then(|| form_of(&line[..end]))
}

/// Hashes a column without its numbers and blanks. A clock and a blank clock are alike.
fn form_of(column: &[u8]) -> u64 {
    let says = |byte: &&u8| {
        !byte.is_ascii_digit() && !byte.is_ascii_whitespace() && !matches!(byte, b'.' | b'+' | b'-')
    };
    let letters: Vec<u8> = column.iter().filter(says).copied().collect();
    hash(&letters)
}

/// Maximum bytes of a name in a column.
const NAME: usize = 48;

/// Returns the end of a name in brackets: `[api]`, `(worker 3)`.
fn bracketed(line: &[u8]) -> Option<usize> {
    let close = match line.first()? {
        b'[' => b']',
        b'(' => b')',
        b'<' => b'>',
        _ => return None,
    };
    let end = 1 + memchr::memchr(close, &line[1..line.len().min(NAME)])?;
    let inside = &line[1..end];
    let is_name = !inside.is_empty()
        && inside.iter().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b'#')
                || !byte.is_ascii()
        });
    let is_number = inside.iter().all(u8::is_ascii_digit);
    (is_name
        && (line[0] == b'[' || is_number || line[0] == b'(')
        && matches!(line.get(end + 1), Some(b' ' | b'\t' | b'[')))
    .then_some(end + 1)
}

/// Returns the end of a name before a bar: `api | `, `worker-3   │ `.
fn barred(line: &[u8]) -> Option<usize> {
    let is_name = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'@' | b'#')
    };
    let name = line.iter().take(NAME).take_while(is_name).count();
    let blank = line[name..].iter().take_while(|byte| **byte == b' ').count();
    let rest = &line[name + blank..];
    let bar = ["|", "│", "┃", "║"].iter().find(|bar| rest.starts_with(bar.as_bytes()))?;
    let letters = line[..name].iter().any(u8::is_ascii_alphabetic);
    (letters && (blank > 0 || bar.len() > 1) && matches!(rest.get(bar.len()), Some(b' ')))
        .then_some(name + blank + bar.len())
}

/// Returns the end of a time since the start: `0.004s `, `+12.5ms `, `12.345: `.
fn seconds(line: &[u8]) -> Option<usize> {
    let sign = usize::from(matches!(line.first(), Some(b'+')));
    let digits = |from: usize| line[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let point = sign + whole;
    let part = if whole > 0 && line.get(point) == Some(&b'.') { digits(point + 1) } else { 0 };
    let end = if part > 0 { point + 1 + part } else { point };
    let unit = line[end..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = end + unit;
    let is_time = whole > 0 && (part > 0 || sign > 0 && unit > 0) && unit < 3;
    (is_time && matches!(line.get(end), Some(b' ' | b'\t' | b':' | b'|'))).then_some(end)
}

/// Returns true if letters stand only in the names of a month and a day, and in the `T` before a
/// time.
fn is_date(before: &[u8]) -> bool {
    let (mut letters, mut names) = (0, 0);
    for byte in before {
        letters = if byte.is_ascii_alphabetic() { letters + 1 } else { 0 };
        names += usize::from(letters == 2);
        if letters > 3 || names > 2 {
            return false;
        }
    }
    true
}

pub fn is_in_time(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':' | b'+' | b'-' | b'Z' | b']' | b')')
}

/// Returns the end of a step's number and its seconds: `#12`, `#12 3.456`.
fn step(line: &[u8]) -> Option<usize> {
    let digits = |from: usize| line[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number =
        line.first().filter(|byte| **byte == b'#').map(|_| digits(1)).filter(|digits| *digits > 0)?;
    let end = 1 + number;
    let is_column = line.get(end) == Some(&b' ');
    let whole = if is_column { digits(end + 1) } else { 0 };
    let point = end + 1 + whole;
    let is_seconds = whole > 0 && line.get(point) == Some(&b'.');
    is_column.then(|| if is_seconds { point + 1 + digits(point + 1) } else { end })
}

/// Returns the end of a service's name: `web-1  |`.
fn service(line: &[u8]) -> Option<usize> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let name = line.iter().take_while(|byte| is_name(byte)).count();
    let blank = line[name..].iter().take_while(|byte| **byte == b' ').count();
    let end = name + blank;
    let is_named = line[..name].iter().any(|byte| !byte.is_ascii_alphabetic());
    let is_column = is_named && blank > 0 && line[end..].starts_with(b"| ");
    is_column.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(line: &str) -> &str {
        std::str::from_utf8(without_prefix(line.as_bytes())).unwrap()
    }

    #[test]
    fn columns_are_left_out_and_the_indentation_stays() {
        for prefix in [
            "2026-04-22T16:09:39.6734301Z ",
            "[12:00:01] ",
            "12:00:01.123 ",
            "Nov 23 08:47:06 ",
            "[Sun Nov 23 08:47:06] ",
            "2026/04/22 16:09:39 ",
            "build\tinstall dependencies\t2026-04-22T16:09:39.67Z ",
            "web-1  | ",
            "web-1  | 2026-04-22 16:09:39,123 ",
            "#12 ",
            "#12 3.456 ",
            "2026-04-22T16:09:39.67Z #12 3.456 ",
            "[  412.004311] ",
            "[  +73 ms] ",
            "[        ] ",
            "[12/90] ",
            "[ 45%] ",
            "a job with a long name (on one system, of one kind, with all options that it knows, release)\tand a step\t2026-04-22T16:09:39.67Z ",
        ] {
            assert_eq!(rest(&format!("{prefix}  error: no")), "  error: no", "{prefix}");
        }
    }

    #[test]
    fn what_a_line_says_is_no_column() {
        for line in [
            "error: it failed at 12:00:01 today",
            "started at 12:00:01",
            "a.ts:12:03:44",
            "# heading",
            "#include <a.h>",
            "a | b",
            "12:00 noon",
            "[x] done",
            "[ ] open",
            "[17](a)",
            "[info] a",
            "",
            "::::",
        ] {
            assert_eq!(rest(line), line);
        }
    }
}
