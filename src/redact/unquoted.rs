//! Reads values without quotes.

use super::form::{Found, is_name_byte, name_at, opens};
use super::format::Formats;
use super::name::{MOST, Sense};
use super::reader::{Quote, TextCursor};
use super::value::{Stands, is_secret};
use crate::encoding::byte_table::byte_table;

/// The evidence around a value without quotes.
#[derive(Clone, Copy, Debug)]
pub struct ValueContext {
    pub is_tight: bool,
    /// The name of a variable at the start of a line precedes the value.
    pub is_env: bool,
    pub is_url: bool,
    /// Text that is not a value has the same form, as in a table.
    pub is_common: bool,
}

/// The context of a value without an operator.
pub const PLAIN: ValueContext =
    ValueContext { is_tight: false, is_env: false, is_url: false, is_common: false };

/// Finds a secret without quotes.
pub fn bare(mut reader: TextCursor, sense: Sense, place: ValueContext) -> Option<Found> {
    let lead = scheme_of(reader.rest());
    let sense = sense.behind_scheme(lead);
    reader.at += lead;
    let rest = reader.rest();
    let is_hash = rest.strip_prefix(b"$").is_some_and(|name| {
        [b"argon2".as_slice(), b"scrypt", b"pbkdf2"].iter().any(|hash| name.starts_with(hash))
    });
    let long = length(rest, |at| {
        let (byte, behind) = (rest[at], &rest[at + 1..]);
        match byte {
            b'{' => !rest[..at].ends_with(b"$"),
            _ if ends_value(byte) => true,
            b'&' | b'#' if place.is_url => true,
            b'\\' => {
                Quote::at(&rest[at..]).is_some()
                    || matches!(behind.first(), None | Some(b'n' | b'r' | b't' | b'u' | b'\\' | b'\n'))
            }
            b'%' => behind.starts_with(b"26"),
            b',' if is_hash => false,
            b',' | b';' | b'&' => ends_at(behind) || !place.is_env && byte != b',',
            _ => false,
        }
    });
    let value = &rest[..long];
    let value = match value {
        [all @ .., b'.' | b':' | b'?'] if !place.is_env => all,
        _ => value,
    };
    if value.is_empty() {
        return None;
    }
    let mut after = TextCursor { text: reader.text, at: reader.at + long };
    let is_cut = after.rest().starts_with(CUT);
    let next = after.peek().filter(|_| !is_cut);
    if next.is_some_and(|byte| b"([{<".contains(&byte)) {
        return None;
    }
    after.blanks();
    let at_end = is_cut || after.peek().is_none_or(|byte| b"\n\r".contains(&byte));
    let ends = at_end || after.rest().starts_with(b"#") || after.rest().starts_with(b"//");
    let stands = match next {
        _ if place.is_common => Stands::Code,
        Some(b',' | b')' | b']' | b'}') => Stands::Code,
        Some(b';') if !place.is_tight => Stands::Code,
        _ if place.is_tight => Stands::Tight,
        Some(b'"' | b'\'' | b'`' | b'\\' | b';' | b'&') => Stands::Bare { ends: true },
        _ => Stands::Bare { ends },
    };
    let secret = reader.at..reader.at + value.len();
    is_secret(value, sense, stands).then_some((secret, sense, false))
}

/// The beginning of a notice or a mark, which may stand directly behind a text that was cut. It is
/// not that of a mark of a secret.
pub const CUT: &[u8] = b"[... ";

/// Bytes from which on a value ends before the next name of a secret.
const LONG: usize = 16;

/// The bytes at which a value may end.
static ENDS: [bool; 256] =
    byte_table!(byte => ends_value(byte) || matches!(byte, b'&' | b'#' | b'\\' | b'%' | b',' | b';'));

/// Returns the length of a value that ends at some places.
fn length(text: &[u8], ends: impl Fn(usize) -> bool) -> usize {
    let end_in = |from: usize, to: usize| {
        let places = text[from..to].iter().zip(from..);
        places.filter(|(byte, _)| ENDS[usize::from(**byte)]).map(|(_, at)| at).find(|&at| ends(at))
    };
    let mut read = text.len().min(LONG);
    if let Some(end) = end_in(0, read) {
        return end;
    }
    let mut from = read;
    while read < text.len() {
        let anchor = Formats::get().next(text, from, text.len()).map_or(text.len(), |(at, _)| at);
        if let Some(end) = end_in(read, anchor.max(read)) {
            return end;
        }
        read = read.max(anchor);
        let name = name_at(text, anchor);
        match name {
            // A name that begins within the first bytes is a part of the value.
            Some(name) if name.start >= LONG && opens(text, &name) => return name.start,
            Some(name) => from = name.end,
            None => from = anchor + 1,
        }
    }
    read
}

/// Returns true for a byte that ends any value without quotes.
pub const fn ends_value(byte: u8) -> bool {
    matches!(
        byte,
        0..=b' ' | 0x7F | b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b'(' | b')' | b'[' | b']' | b'{' | b'}'
    )
}

/// Returns true if a value ends at a separator before this text: another name begins, or nothing.
fn ends_at(behind: &[u8]) -> bool {
    let name = behind.iter().take(MOST).take_while(|&&byte| is_name_byte(byte) || byte == b' ').count();
    let first = behind.first();
    first.is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'`;&,)]}\\".contains(byte))
        || name > 0 && behind.get(name) == Some(&b'=')
}

/// Returns the bytes of a scheme of HTTP at the start of a value.
pub fn scheme_of(value: &[u8]) -> usize {
    let schemes: [&[u8]; 9] =
        [b"bearer", b"basic", b"token", b"bot", b"apikey", b"negotiate", b"digest", b"splunk", b"ssws"];
    let word = value.iter().take(10).take_while(|byte| byte.is_ascii_alphabetic()).count();
    if word == 0 || !schemes.iter().any(|scheme| value[..word].eq_ignore_ascii_case(scheme)) {
        return 0;
    }
    let blanks = value[word..].iter().take(4).take_while(|&&byte| byte == b' ').count();
    if blanks == 0 { 0 } else { word + blanks }
}
