//! Escapes of JSON, read as the characters that they stand for.
//!
//! PHP writes `/` as `\/`, .NET `+` as `\u002B`, and a string of JSON within JSON doubles the
//! backslashes. Formats see the characters; the output keeps the escapes.

use std::ops::Range;

/// Most backslashes of an escape: JSON within JSON within JSON.
const MOST: usize = 7;

/// An escape in a text that shows the character in its place.
#[derive(Clone, Copy, Debug)]
struct Escape {
    at: usize,
    /// Bytes in its place.
    shown: usize,
    raw: [u8; MOST + 5],
    length: usize,
}

/// The escapes of a text, by their places.
#[derive(Clone, Debug, Default)]
pub struct Escapes {
    list: Vec<Escape>,
    /// The beginning of an escape at the end of the input so far.
    pending: Vec<u8>,
    /// True if the input so far ends in more backslashes than an escape has.
    is_long: bool,
}

/// The character behind some backslashes.
enum Next {
    /// An escape of some bytes, for this character.
    Char(usize, u8),
    Other,
    /// More must be read.
    Open,
}

impl Escapes {
    /// Appends a chunk to a text, its escapes as characters.
    pub fn read(&mut self, chunk: &[u8], text: &mut Vec<u8>) {
        let joined;
        let mut rest = if self.pending.is_empty() {
            chunk
        } else {
            joined = [std::mem::take(&mut self.pending).as_slice(), chunk].concat();
            &joined
        };
        while !rest.is_empty() {
            let slashes = rest.iter().take_while(|&&byte| byte == b'\\').count();
            if self.is_long || slashes > MOST {
                self.is_long = slashes == rest.len();
                let plain = rest.len().min(slashes + 1);
                text.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
                continue;
            }
            if slashes > 0 {
                let taken = match next(&rest[slashes..]) {
                    Next::Open => {
                        self.pending = rest.to_vec();
                        return;
                    }
                    Next::Other => {
                        text.extend_from_slice(&rest[..=slashes]);
                        slashes + 1
                    }
                    Next::Char(length, char) => self.escape(&rest[..slashes + length], slashes, char, text),
                };
                rest = &rest[taken..];
            }
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            text.extend_from_slice(&rest[..plain]);
            rest = &rest[plain..];
        }
    }

    /// Ends the input: the beginning of an escape is plain text.
    pub fn finish(&mut self, text: &mut Vec<u8>) {
        text.append(&mut self.pending);
        self.is_long = false;
    }

    fn escape(&mut self, raw: &[u8], slashes: usize, char: u8, text: &mut Vec<u8>) -> usize {
        let (at, length) = (text.len(), raw.len());
        // A quote within a string keeps one backslash fewer than the string around it would need.
        let before = if matches!(char, b'"' | b'\'' | b'`') { 2 * slashes - 1 } else { 0 };
        text.extend(std::iter::repeat_n(b'\\', before));
        text.push(char);
        let mut escape = Escape { at, shown: before + 1, raw: [0; MOST + 5], length };
        escape.raw[..length].copy_from_slice(raw);
        self.list.push(escape);
        length
    }

    /// Returns the end of a range so that it parts no escape.
    pub fn whole(&self, end: usize) -> usize {
        let after = self.list.partition_point(|escape| escape.at < end);
        let last = after.checked_sub(1).map(|nth| &self.list[nth]);
        last.map_or(end, |escape| end.max(escape.at + escape.shown))
    }

    /// Appends a part of the text, its escapes as they were.
    pub fn write(&self, text: &[u8], Range { start, end }: Range<usize>, out: &mut Vec<u8>) {
        let first = self.list.partition_point(|escape| escape.at < start);
        let mut from = start;
        for escape in self.list[first..].iter().take_while(|escape| escape.at < end) {
            out.extend_from_slice(&text[from..escape.at]);
            out.extend_from_slice(&escape.raw[..escape.length]);
            from = escape.at + escape.shown;
        }
        out.extend_from_slice(text.get(from..end).unwrap_or_default());
    }

    /// Forgets the first bytes of the text.
    pub fn drain(&mut self, bytes: usize) {
        if self.list.is_empty() {
            return;
        }
        self.list.retain_mut(|escape| {
            let stays = escape.at >= bytes;
            escape.at = escape.at.saturating_sub(bytes);
            stays
        });
    }

    pub fn memory(&self) -> usize {
        self.list.capacity() * size_of::<Escape>() + self.pending.capacity()
    }
}

/// Reads the chars after backslashes.
fn next(after: &[u8]) -> Next {
    match after {
        [] => Next::Open,
        [b'/', ..] => Next::Char(1, b'/'),
        [b'u', digits @ ..] => {
            let hex = &digits[..digits.len().min(4)];
            let starts =
                hex.iter().zip(0..).all(|(&byte, nth)| byte.is_ascii_hexdigit() && (nth > 1 || byte == b'0'));
            let code = || u8::from_str_radix(std::str::from_utf8(&hex[2..]).ok()?, 16).ok();
            match hex.len() {
                4 if starts => match code() {
                    Some(char @ (0x20..=0x5B | 0x5D..=0x7E)) => Next::Char(5, char),
                    _ => Next::Other,
                },
                0..4 if starts => Next::Open,
                _ => Next::Other,
            }
        }
        _ => Next::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(chunks: &[&[u8]]) -> (Escapes, Vec<u8>) {
        let (mut escapes, mut text) = (Escapes::default(), vec![]);
        chunks.iter().for_each(|chunk| escapes.read(chunk, &mut text));
        escapes.finish(&mut text);
        (escapes, text)
    }

    #[test]
    fn escapes_are_read_as_what_they_stand_for() {
        let cases = [
            (r"a\/b", "a/b"),
            (r"a\\\/b", "a/b"),
            (r"\u002B\u0026", "+&"),
            (r"\\u002b", "+"),
            (r"{\u0022a\u0022}", r#"{\"a\"}"#),
            (r"\\u0022", r#"\\\""#),
            (r"\u000a\u4e2d\n\u", r"\u000a\u4e2d\n\u"),
            (r"\\\\\\\\/", r"\\\\\\\\/"),
            (r"\u00", r"\u00"),
        ];
        for (raw, shown) in cases {
            assert_eq!(String::from_utf8(read(&[raw.as_bytes()]).1).unwrap(), shown);
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter_and_nothing_is_lost(raw in r#"[\\/u02bB"a]{0,40}"#, at in 0..41usize, cut in 0..41usize) {
            let (raw, at) = (raw.as_bytes(), at.min(raw.len()));
            let (escapes, text) = read(&[raw]);
            prop_assert_eq!(&read(&[&raw[..at], &raw[at..]]).1, &text);
            let (mut out, cut) = (vec![], escapes.whole(cut.min(text.len())));
            escapes.write(&text, 0..cut, &mut out);
            escapes.write(&text, cut..text.len(), &mut out);
            prop_assert_eq!(out.as_slice(), raw);
        }
    }
}
