//! A value behind an operator: `NAME=v`, `name: v`, `var name string = "v"`.

use std::ops::Range;

use super::form::Found;
use super::name::Sense;
use super::neighbor::valued;
use super::quoted::quoted;
use super::reader::{Quote, TextCursor};
use super::unquoted::{PLAIN, ValueContext, bare};

const OPERATORS: [&[u8]; 18] = [
    b":::=", b"!==", b"===", b"||=", b"??=", b"::=", b"%3D", b"%3d", b":=", b"=>", b"?=", b".=", b"+=",
    b"==", b"!=", b"<-", b"=", b":",
];

/// Returns the operator that begins a text.
pub fn operator(text: &[u8]) -> Option<&'static [u8]> {
    let first = text.first()?;
    // Most have one byte.
    let is_open = text.get(1).is_some_and(|next| b":=>".contains(next));
    match first {
        b'=' if !is_open => return Some(b"="),
        b':' if !is_open => return Some(b":"),
        _ => {}
    }
    OPERATORS.into_iter().find(|operator| operator[0] == *first && text.starts_with(operator))
}

/// Reads the value behind an operator.
pub fn assigned(
    mut reader: TextCursor,
    operator: &[u8],
    blanks: usize,
    name: &Range<usize>,
    before: &[u8],
    sense: Sense,
) -> Option<Found> {
    let is_equal = operator == b"=";
    let is_colon = operator == b":";
    if is_colon && matches!(reader.peek(), Some(b':')) {
        return None;
    }
    let behind = reader.blanks();
    if is_colon && let Some(found) = declared(reader, &|| Some(sense)) {
        return Some(found);
    }
    if reader.peek() == Some(b'{') {
        let mut within = reader;
        within.at += 1;
        return valued(within, &|| Some(sense));
    }
    // A value may stand in the next line, where it is quoted or a block of YAML.
    let mut next = reader;
    if is_colon && behind > 0 && next.peek().is_some_and(|byte| byte == b'|' || byte == b'>') {
        next.at += 1;
        next.skip_while(2, |byte| b"-+".contains(&byte) || byte.is_ascii_digit());
        if next.skip(b"\n") && next.blanks() > 0 {
            return bare(next, sense, PLAIN);
        }
        return None;
    }
    if next.skip_while(40, |byte| byte.is_ascii_whitespace()) > 0 && Quote::at(next.rest()).is_some() {
        reader = next;
    }
    let secured = b"(ConvertTo-SecureString ";
    if reader.peek() == Some(b'(')
        && reader.rest().get(..secured.len()).is_some_and(|call| call.eq_ignore_ascii_case(secured))
    {
        reader.at += secured.len();
        let mut named = reader;
        if named.skip(b"-String ") {
            reader = named;
        }
    }
    let is_tight = blanks == 0 && behind == 0 && !is_colon;
    let is_env = is_tight && is_equal;
    let lead = before.last().copied();
    let is_url = is_env && lead.is_some_and(|byte| b"?&;".contains(&byte));
    let begins_line =
        lead.is_none_or(|byte| byte == b'\n' || byte == b'\r') && (name.start == 0 || lead.is_some());
    let exports: [&[u8]; 6] = [b"export ", b"set ", b"ENV ", b"ARG ", b"-x ", b"- "];
    let is_line = begins_line || lead == Some(b' ') && exports.iter().any(|word| before.ends_with(word));
    if let Some(found) = quoted(reader, sense, is_env) {
        return found;
    }
    let found =
        bare(reader, sense, ValueContext { is_tight, is_env: is_env && is_line, is_url, is_common: false })?;
    Some((found.0, found.1, is_env))
}

/// Reads `TYPE = "value"`.
pub fn declared(mut reader: TextCursor, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    let long = reader.skip_while(40, |byte| byte.is_ascii_alphabetic() || b"&*_<>[].|?'8".contains(&byte));
    if long == 0 {
        return None;
    }
    let mut blanks = reader.blanks();
    // `&'static str`, `const char *`.
    for _ in 0..2 {
        if blanks > 0
            && reader.skip_while(40, |byte| byte.is_ascii_alphabetic() || b"&*_<>[].|?".contains(&byte)) > 0
        {
            blanks = reader.blanks();
        }
    }
    if blanks == 0 || !(reader.skip(b":=") || reader.skip(b"=")) {
        return None;
    }
    reader.blanks();
    quoted(reader, sense()?, false)?
}
