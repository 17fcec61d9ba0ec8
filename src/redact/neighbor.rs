//! A value beside its name, without an operator: an argument, an element, a cell, what a command
//! sets.

use std::ops::Range;

use super::form::Found;
use super::name::{Kind, Sense};
use super::quoted::quoted;
use super::random::is_random;
use super::reader::{Quote, TextCursor};
use super::unquoted::{PLAIN, ValueContext, bare};
use super::value::{Stands, is_identifier, is_secret};

/// Reads a value behind a name and a blank, where a command sets it.
pub fn command(
    reader: TextCursor,
    name: &Range<usize>,
    before: &[u8],
    sense: &dyn Fn() -> Option<Sense>,
) -> Option<Found> {
    let text = reader.text;
    let is_flag = text[name.start] == b'-' && before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let sets: [&[u8]; 10] = [
        b"set -gx ",
        b"set -Ux ",
        b"set -x ",
        b"set -xg ",
        b"set -g ",
        b"setenv ",
        b"setx ",
        b"ENV ",
        b"set -U ",
        b"export ",
    ];
    let is_set = sets.iter().any(|word| before.ends_with(word));
    let is_login = &text[name.clone()] == b"password" && {
        let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(1);
        words.next() == Some(b"login".as_slice())
    };
    if !(is_flag || is_set || is_login) {
        return None;
    }
    let sense = sense()?;
    if let Some(found) = quoted(reader, sense, false) {
        return found;
    }
    if reader.peek() == Some(b'-') {
        return None;
    }
    bare(reader, sense, ValueContext { is_tight: true, ..PLAIN })
}

/// Reads the value in `setName("value")`.
pub fn given(mut reader: TextCursor, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    if !reader.skip(b"(") || Quote::at(reader.rest()).is_none() {
        return None;
    }
    let found = quoted(reader, sense()?, false)??;
    let behind = Quote::at(&reader.text[found.0.end..]).map(|quote| found.0.end + quote.length());
    let is_last = behind.and_then(|at| reader.text.get(at)) == Some(&b')');
    (is_last && is_random(&reader.text[found.0.clone()])).then_some(found)
}

/// Reads a value beside its name: `#define NAME "value"`, `| name | value |`, a tab.
pub fn listed(mut reader: TextCursor, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    if Quote::at(reader.rest()).is_some() {
        let found = quoted(reader, sense()?, false)??;
        let value = &reader.text[found.0.clone()];
        // Constants of programs are named by themselves.
        let has_digits = value.iter().filter(|byte| byte.is_ascii_digit()).count() >= 2;
        return (value.len() >= 10 && has_digits && is_random(value)).then_some(found);
    }
    let is_cell = reader.skip(b"|");
    if !is_cell && reader.text.get(reader.at.checked_sub(1)?) != Some(&b'\t') {
        return None;
    }
    reader.blanks();
    bare(reader, sense()?, ValueContext { is_common: true, ..PLAIN })
}

/// Reads the value behind `"name",`.
pub fn argument(reader: TextCursor, quote: Quote, sense: Sense) -> Option<Found> {
    let found = quoted(reader, sense, false)??;
    let mut after = TextCursor { text: reader.text, at: found.0.end };
    let closing = after.quote()?;
    after.skip_while(40, |byte| byte.is_ascii_whitespace());
    let value = &reader.text[found.0.clone()];
    let is_last = after.peek().is_none_or(|byte| b")]}\\".contains(&byte));
    let is_chosen = sense.kind == Kind::Password && is_last && !is_identifier(value);
    let is_one = (is_chosen || is_random(value)) && (is_last || after.peek() == Some(b','));
    (closing.slashes == quote.slashes && is_one).then_some(found)
}

/// Reads the `value` beside a name that is one itself.
pub fn valued(mut reader: TextCursor, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    reader.skip_while(60, |byte| byte.is_ascii_whitespace() || b",;".contains(&byte));
    reader.quote();
    let word = reader.rest().get(..5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    reader.at += 5;
    let quote = reader.quote();
    reader.blanks();
    if !(reader.skip(b"=>") || reader.skip(b":") || reader.skip(b"=")) {
        return None;
    }
    reader.blanks();
    let sense = sense()?;
    if let Some(found) = quoted(reader, sense, false) {
        return found;
    }
    if quote.is_some() {
        return None;
    }
    bare(reader, sense, PLAIN)
}

/// Bytes of the text of an element that may hold a `>`. In a longer text it ends another tag.
const SHORT: usize = 64;

/// Reads the text of an element.
pub fn element(mut reader: TextCursor, sense: Sense) -> Option<Found> {
    reader.skip_while(60, |byte| byte.is_ascii_whitespace());
    reader.skip(b"<value>");
    reader.skip(b"<![CDATA[");
    let (rest, mut has_tag) = (reader.rest(), false);
    let mut end = 0;
    while let Some(byte) = rest.get(end).filter(|byte| !b"<\n\r".contains(byte)) {
        has_tag |= *byte == b'>';
        if has_tag && end > SHORT {
            return None;
        }
        end += 1;
    }
    let value = &rest[..end];
    let value = value.strip_suffix(b"]]>").unwrap_or(value);
    let trimmed = value.len() - value.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let value = &value[..trimmed];
    let is_word = !value.is_empty()
        && !value.iter().any(|byte| byte.is_ascii_whitespace() || b"\"`(){}[]".contains(byte));
    let secret = reader.at..reader.at + trimmed;
    (is_word && is_secret(value, sense, Stands::Quoted { single: true })).then_some((secret, sense, false))
}
