//! The way through a text that should be one JSON value, to the place where it ends or breaks.
//!
//! `serde_json` says only that a text is not JSON. A mend also asks how much of it is whole: where
//! the value ends if other text follows, which containers are open where it breaks, and where
//! their last whole parts end. One pass answers this, in memory of one byte a level. Raw line ends
//! in strings are passed over, since many writers of damaged files leave them, and so are bytes
//! that are not UTF-8.

use serde::de::IgnoredAny;

/// The treatment of what a strict reader rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leniency {
    /// A value in a text of its own.
    Document,
    /// A row that raw line ends may have broken anywhere, even within a char or a number.
    Row,
}

/// Containers whose last whole parts are known: the value itself, and those in it.
const LEVELS: usize = 2;

/// The way through a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The end of the value, or the place where it breaks.
    pub end: usize,
    pub is_whole: bool,
    /// The outermost containers that are open where the value breaks.
    pub open: [Option<BrokenContainer>; LEVELS],
}

/// A container that is open where a value breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenContainer {
    /// Its first byte.
    pub start: u8,
    /// The end of its last whole element or member, or of its first byte.
    pub end: usize,
    /// It has whole elements or members.
    pub has_parts: bool,
}

/// The part of a text that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPart {
    /// The outermost value, if it must be an object or a list.
    Root,
    Value,
    /// A value, or the end of a list that is empty so far.
    First,
    Name,
    /// A name, or the end of an object that is empty so far.
    FirstName,
    Colon,
    /// A comma, or the end of the container.
    More,
    /// White space after the outermost value.
    Nothing,
}

/// Walks through the value at `start`.
pub fn walk(text: &[u8], start: usize, leniency: Leniency) -> Walk {
    let (mut stack, mut open) = (Vec::<u8>::new(), [None; LEVELS]);
    let (mut at, mut next) = (start, NextPart::Value);
    loop {
        at += text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        let broken = |at| Walk { end: at, is_whole: false, open };
        let Some(&byte) = text.get(at) else { return broken(at) };
        let is_end = match (byte, next) {
            (b'{' | b'[', NextPart::Value | NextPart::First) => {
                at += 1;
                if let Some(open) = open.get_mut(stack.len()) {
                    *open = Some(BrokenContainer { start: byte, end: at, has_parts: false });
                }
                stack.push(byte);
                next = if byte == b'{' { NextPart::FirstName } else { NextPart::First };
                false
            }
            (b'"', _) if !matches!(next, NextPart::Colon | NextPart::More) => {
                match string_end(text, at) {
                    Ok(end) => at = end,
                    Err(place) => return broken(place),
                }
                let is_name = matches!(next, NextPart::Name | NextPart::FirstName);
                next = if is_name { NextPart::Colon } else { NextPart::More };
                !is_name
            }
            (b':', NextPart::Colon) => {
                (at, next) = (at + 1, NextPart::Value);
                false
            }
            (b',', NextPart::More) => {
                at += 1;
                next = if stack.last() == Some(&b'{') { NextPart::Name } else { NextPart::Value };
                false
            }
            (b'}', NextPart::More | NextPart::FirstName) | (b']', NextPart::More | NextPart::First) => {
                // The start of a container is two before its end in ASCII.
                if stack.pop() != Some(byte - 2) {
                    return broken(at);
                }
                if let Some(closed) = open.get_mut(stack.len()) {
                    *closed = None;
                }
                (at, next) = (at + 1, NextPart::More);
                true
            }
            (_, NextPart::Value | NextPart::First) => {
                // A number before anything else may be a part of one.
                let is_after = |end: &usize| text.get(*end).is_some_and(|byte| b",]} \n\r\t".contains(byte));
                match scalar_end(text, at, leniency).filter(is_after) {
                    Some(end) => at = end,
                    None => return broken(at),
                }
                next = NextPart::More;
                true
            }
            _ => return broken(at),
        };
        if is_end && stack.is_empty() {
            return Walk { end: at, is_whole: true, open };
        }
        if is_end && let Some(Some(open)) = open.get_mut(stack.len() - 1) {
            (open.end, open.has_parts) = (at, true);
        }
    }
}

/// Returns the end of the string that begins at `start`, or the place where it breaks.
fn string_end(text: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start + 1;
    loop {
        at += plain(&text[at..]);
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_length(&text[at..]).ok_or(at)?,
            Some(b'\n' | b'\r') => at += 1,
            // Programs on Node read U+FFFD for a byte that is not UTF-8.
            Some(128..) => at += char_length(&text[at..]).unwrap_or(1),
            _ => return Err(at),
        }
    }
}

/// Counts the bytes at the start that are ASCII and mean themselves in a string.
fn plain(text: &[u8]) -> usize {
    let is_plain = |byte: u8| (b' '..128).contains(&byte) & (byte != b'"') & (byte != b'\\');
    // Without a branch for each byte, so that the compiler tests many at once.
    let is_whole = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & is_plain(*byte));
    let whole = text.chunks_exact(16).take_while(is_whole).count() * 16;
    whole + text[whole..].iter().take_while(|byte| is_plain(**byte)).count()
}

/// Returns the length of an escape. A line end breaks it.
fn escape_length(text: &[u8]) -> Option<usize> {
    match text.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => text.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// Returns the length of a char that is not ASCII, with the line ends between its bytes.
fn char_length(text: &[u8]) -> Option<usize> {
    let total = match text[0] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let (mut bytes, mut count) = ([0; 4], 0);
    for (at, byte) in text.iter().enumerate() {
        if matches!(byte, b'\n' | b'\r') && count > 0 {
            continue;
        }
        bytes[count] = *byte;
        count += 1;
        if count == total {
            return simdutf8::basic::from_utf8(&bytes[..total]).is_ok().then_some(at + 1);
        }
        if count > 1 && byte & 0xC0 != 0x80 {
            break;
        }
    }
    None
}

/// Returns the end of a number or of a literal.
fn scalar_end(text: &[u8], start: usize, leniency: Leniency) -> Option<usize> {
    let is_break = |byte: u8| leniency == Leniency::Row && is_line_end(byte);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let mut token = &text[start..];
    token = &token[..token.iter().take_while(|byte| is_part(**byte) || is_break(**byte)).count()];
    let breaks = token.iter().rev().take_while(|byte| is_line_end(**byte)).count();
    token = &token[..token.len() - breaks];
    let whole: Vec<u8> = token.iter().copied().filter(|byte| !is_line_end(*byte)).collect();
    serde_json::from_slice::<IgnoredAny>(&whole).is_ok().then_some(start + token.len())
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns a value without the raw line ends that broke it: they are escaped in strings, and
/// omitted within a char and, in a row, outside of strings.
pub fn joined(value: &[u8], leniency: Leniency) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let (mut in_string, mut is_escaped) = (false, false);
    // The bytes that a char still lacks.
    let mut missing = 0;
    for (at, byte) in value.iter().enumerate() {
        if is_line_end(*byte) {
            match in_string {
                true if missing > 0 => {}
                true => out.extend_from_slice(if *byte == b'\n' { b"\\n" } else { b"\\r" }),
                false if leniency == Leniency::Row => {}
                false => out.push(*byte),
            }
            continue;
        }
        missing = match byte {
            _ if leniency == Leniency::Document => 0,
            0xC0.. if char_length(&value[at..]).is_some() => byte.leading_ones().min(4) - 1,
            0x80..0xC0 if missing > 0 => missing - 1,
            _ => 0,
        };
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ => {}
        }
        out.push(*byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(text: &[u8]) -> Walk {
        walk(text, 0, Leniency::Row)
    }

    #[test]
    fn the_end_of_a_value_or_the_place_of_a_break_is_found() {
        for (text, end, is_whole) in [
            (&br#"{"a":[1,true,"b"]} {"#[..], 18, true),
            (br#"{"a":[1,tru"#, 8, false),
            (b"[1,2", 3, false),
            (b"[]]", 2, true),
            (b"[}", 1, false),
            (b"{\"a\":\n1\n2}", 10, true),
            (b"{\"a\":\"\0\"}", 6, false),
            (br#"{"a\u12g4":1}"#, 3, false),
            ("[\"\u{e9}\u{65e5}\u{1f600}\"]".as_bytes(), 13, true),
            (b"[\"\xe6\x97\n\xa5\"]", 8, true),
            (b"[\"\xe6\x97\"]", 6, true),
            (b"[\"\xed\xa0\x80\"]", 7, true),
            (b"[\"\xe6\"\n", 5, false),
        ] {
            let found = row(text);
            assert_eq!((found.end, found.is_whole), (end, is_whole), "{}", String::from_utf8_lossy(text));
        }
        assert!(walk(b"[\"\xe6\x97\"]", 0, Leniency::Document).is_whole);
        assert_eq!(joined(b"\"\xe6\nabc\"", Leniency::Row), b"\"\xe6\\nabc\"");
    }

    #[test]
    fn open_containers_tell_their_last_whole_parts() {
        fn open(text: &str) -> [Option<(char, &str, bool)>; 2] {
            let found = walk(text.as_bytes(), 0, Leniency::Document);
            let read = |open: BrokenContainer| (char::from(open.start), &text[..open.end], open.has_parts);
            found.open.map(|open| open.map(read))
        }
        assert_eq!(
            open("[{\"a\":1}, {\"b\""),
            [Some(('[', "[{\"a\":1}", true)), Some(('{', "[{\"a\":1}, {", false))]
        );
        assert_eq!(
            open("{\"a\":[1,[2],[3],"),
            [Some(('{', "{", false)), Some(('[', "{\"a\":[1,[2],[3]", true))]
        );
        assert_eq!(open("{\"a\":[1],"), [Some(('{', "{\"a\":[1]", true)), None]);
    }

    #[test]
    fn line_ends_are_escaped_or_omitted() {
        let text = b"{\"a\n\":\n\"\xe6\n\x97\r\xa5\r\"}";
        assert_eq!(joined(text, Leniency::Row), "{\"a\\n\":\"\u{65e5}\\r\"}".as_bytes());
        assert_eq!(joined(b"{\n\"a\":\"\n\"}", Leniency::Document), b"{\n\"a\":\"\\n\"}");
    }

    proptest! {
        /// Damaged JSON is a value exactly where `serde_json` reads one, once line ends are joined.
        #[test]
        fn a_value_is_whole_where_it_is_json(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\n", "\\u00e9", "a", "\"k\":", "1", "-2.5e3", "true",
                    "null", " ", "\n", "\0", "\u{65e5}", "{\"a\":[", "\"x\"", "]}",
                ]),
                0..16,
            ),
            is_closed in any::<bool>(),
        ) {
            let inner = parts.concat();
            let text = if is_closed { format!("{{\"k\":[{inner}]}}") } else { format!("{{{inner}") };
            let found = row(text.as_bytes());
            prop_assert!(found.end <= text.len());
            let is_json = |value: &[u8]| serde_json::from_slice::<IgnoredAny>(value).is_ok();
            if found.is_whole {
                prop_assert!(is_json(&joined(&text.as_bytes()[..found.end], Leniency::Row)), "{text:?}");
            } else {
                prop_assert!(!is_json(&joined(text.as_bytes(), Leniency::Row)), "{text:?}");
            }
        }
    }
}
