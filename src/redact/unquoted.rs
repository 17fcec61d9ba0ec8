//! Reads values without quotes.

use super::form::{Found, is_name_byte};
use super::name::{MOST, Sense};
use super::reader::{Quote, TextCursor};
use super::value::{Stands, is_secret};

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
    let is_hash =
        rest.starts_with(b"$argon2") || rest.starts_with(b"$scrypt") || rest.starts_with(b"$pbkdf2");
    let mut long = 0;
    while let Some(&byte) = rest.get(long) {
        let behind = &rest[long + 1..];
        let ends = match byte {
            _ if byte.is_ascii_whitespace() || byte.is_ascii_control() => true,
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'|' | b'(' | b')' | b'[' | b']' | b'}' => true,
            b'{' => !rest[..long].ends_with(b"$"),
            b'&' | b'#' if place.is_url => true,
            b'\\' => {
                Quote::at(&rest[long..]).is_some()
                    || matches!(behind.first(), None | Some(b'n' | b'r' | b't' | b'u' | b'\\' | b'\n'))
            }
            b'%' => behind.starts_with(b"26"),
            b',' if is_hash => false,
            b',' | b';' | b'&' => ends_at(behind) || !place.is_env && byte != b',',
            _ => false,
        };
        if ends {
            break;
        }
        long += 1;
    }
    let value = &rest[..long];
    let value = match value {
        [all @ .., b'.' | b':' | b'?'] if !place.is_env => all,
        _ => value,
    };
    if value.is_empty() {
        return None;
    }
    let mut after = TextCursor { text: reader.text, at: reader.at + long };
    let next = after.peek();
    if next.is_some_and(|byte| b"([{<".contains(&byte)) {
        return None;
    }
    after.blanks();
    let at_end = after.peek().is_none_or(|byte| b"\n\r".contains(&byte));
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
