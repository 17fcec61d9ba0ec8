//! The columns in front of a line: a time, the name of a job or a service, the number of a step.

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
    let end = time(read).or_else(|| step(read)).or_else(|| service(read)).unwrap_or(0);
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
            "",
            "::::",
        ] {
            assert_eq!(rest(line), line);
        }
    }
}
