//! A cookie: what follows `Cookie:` or `"cookie":`, up to the end of its line or its quote, or to
//! the next header of that name.

use std::ops::Range;

use super::form::is_name_byte;

/// The longer of the two names of the header, and the bytes of the other.
const SET: &[u8] = b"set-cookie";
const WORD: usize = "cookie".len();

/// Most bytes of the name of the first cookie.
const NAME: usize = 256;

/// Fewest and most bytes of the first value, and of all that follows.
const LEAST: usize = 8;
const MOST: usize = 2048;

/// Returns the cookies behind an anchor.
pub fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    let skip = |at: usize, most: usize, is: fn(&u8) -> bool| {
        at + text[at..].iter().take(most).take_while(|byte| is(byte)).count()
    };
    let start = skip(skip(at, 4, |byte| b" \t".contains(byte)), 1, |&byte| byte == b'"');
    let value = skip(start, NAME, |&byte| is_name_byte(byte));
    let first = text.get(value + 1).filter(|_| value > start && text[value] == b'=')?;
    if first.is_ascii_whitespace() || *first == b',' {
        return None;
    }
    let mut end = value + 1;
    while let Some(byte) = text.get(end).filter(|byte| !b"\r\n\"'[]{}$<>`()".contains(byte)) {
        if *byte == b':' && text[end.saturating_sub(WORD).max(value)..end].eq_ignore_ascii_case(b"cookie") {
            let set = text[end.saturating_sub(SET.len()).max(value)..end].eq_ignore_ascii_case(SET);
            end = (end - if set { SET.len() } else { WORD }).max(value);
            break;
        }
        if end - value > MOST && byte & 0xC0 != 0x80 {
            break;
        }
        end += 1;
    }
    (end > value + LEAST).then_some(start..end)
}
