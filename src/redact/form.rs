//! Finds the value that a name gives to a secret, in the form around both.
//!
//! | form | such as |
//! |---|---|
//! | assignment | `NAME=v`, `name: v`, `name := "v"`, `'name' => 'v'`, `name ?= v`, `var name string = "v"`, `d["name"] = "v"` |
//! | argument of a call, pair | `set("name", "v")`, `setName("v")`, `["name", "v"]`, `#define NAME "v"`, a cell of a table |
//! | name as a value | `{"name": "NAME", "value": "v"}`, `<add key="name" value="v"/>` |
//! | element | `<name>v</name>`, `<name><value>v</value></name>`, `<string name="name">v</string>`, `<key>name</key><string>v</string>` |
//! | flag | `--name v`, `-Name v` |
//! | command | `set -gx NAME v`, `setenv NAME v`, `login ada password v` |
//!
//! A quoted value ends at its quote; without one, where its line ends. Any other ends at white
//! space, a quote or a bracket, and at a comma, `;` or `&` behind which another name begins. A long
//! one also ends before the next name of a secret, so no byte is read for two names.

use std::ops::Range;

use super::assignment::{assigned, declared, operator};
use super::name::{self, Kind, MOST, Sense};
use super::neighbor::{argument, command, element, given, listed, valued};
use super::reader::TextCursor;
use super::rules::MOST_KIND;
use super::unquoted::{PLAIN, bare, ends_value, scheme_of};
use super::value::{Stands, is_secret};
use super::{MARK, REACH};

/// Bytes before a name that may classify it.
const BEFORE: usize = 24;

/// Bytes before a name in which the mark begins that it is a part of.
const IN_MARK: usize = MARK.len() + MOST_KIND;

/// Bytes before an anchor that are looked at.
pub const BACK: usize = MOST + IN_MARK + BEFORE;

/// A named secret.
#[derive(Debug)]
pub struct NamedSecret {
    pub secret: Range<usize>,
    pub kind: &'static str,
}

pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Returns the secret of a name. Its value ends within [`REACH`] bytes from the name, so any anchor
/// in the name gives the same answer.
pub fn find(text: &[u8], name: Range<usize>) -> Option<NamedSecret> {
    let text = &text[..text.len().min(name.start + REACH)];
    // The part that a parser did not expect.
    let is_parsed = text[..name.start].ends_with(b"nexpected ");
    let sense = || name::sense(&text[name.clone()]).filter(|_| !is_parsed);
    let (secret, sense, is_env) = forms(text, &name, &sense)?;
    let before = &text[name.start.saturating_sub(IN_MARK)..name.start];
    let mark = memchr::memmem::rfind(before, MARK);
    if mark.is_some_and(|at| !before[at..].contains(&b']')) {
        return None;
    }
    let kind = if is_env && sense.is_compound { "secret" } else { kind_of(sense) };
    Some(NamedSecret { secret, kind })
}

/// Returns the bytes before the secret in a member with this name, and its kind.
pub fn member(name: &str, text: &str) -> Option<(usize, &'static str)> {
    let lead = scheme_of(text.as_bytes());
    let sense = name::sense(name.as_bytes())?.behind_scheme(lead);
    let value = &text.as_bytes()[lead..];
    is_secret(value, sense, Stands::Quoted { single: false }).then_some((lead, kind_of(sense)))
}

fn kind_of(sense: Sense) -> &'static str {
    match sense.kind {
        Kind::Password => "password",
        Kind::Secret => "secret",
        Kind::Authorization => "authorization header",
        Kind::Key | Kind::Token => "api key",
    }
}

/// Returns the name around an anchor.
pub fn name_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let end = at + text[at..].iter().take(MOST + 1).take_while(|&&byte| is_name_byte(byte)).count();
    // Most anchors stand in prose.
    let is_open = match text.get(end) {
        None => false,
        Some(b' ' | b'\t' | b'\n' | b'\r') => true,
        Some(byte) => b"\"'`\\=:<>?!|+.%&[,(".contains(byte),
    };
    if !is_open {
        return None;
    }
    let back = text[..at].iter().rev().take(MOST + 1).take_while(|&&byte| is_name_byte(byte)).count();
    let mut start = at - back;
    // The letter of an escape before a name.
    if back > 0 && start > 0 && text[start - 1] == b'\\' && b"nrt".contains(&text[start]) {
        start += 1;
    }
    let trimmed = text[start..end].iter().rev().take_while(|&&byte| b".-".contains(&byte)).count();
    let end = end - trimmed;
    (end > at && end - start <= MOST).then_some(start..end)
}

/// Returns true if a value without quotes begins right behind the name of a secret.
pub fn opens(text: &[u8], name: &Range<usize>) -> bool {
    let behind = &text[name.end..];
    let value = operator(behind).and_then(|operator| behind.get(operator.len()));
    value.is_some_and(|&byte| !ends_value(byte)) && name::sense(&text[name.clone()]).is_some()
}

pub type Found = (Range<usize>, Sense, bool);

fn forms(text: &[u8], name: &Range<usize>, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    let before = &text[name.start.saturating_sub(BEFORE)..name.start];
    let mut reader = TextCursor { text, at: name.end };
    if before.last() == Some(&b'<') || before.last() == Some(&b':') && text.get(name.end) == Some(&b'>') {
        let long = reader.skip_while(120, |byte| !b"<>\n[".contains(&byte));
        let is_empty = long > 0 && text[reader.at - 1] == b'/';
        return if reader.skip(b">") && !is_empty { element(reader, sense()?) } else { None };
    }
    let quote = reader.quote();
    let _is_indexed = reader.skip(b"[]") || quote.is_some() && reader.skip(b"]");
    let after_name = reader;
    if quote.is_some() && reader.skip(b">") {
        return element(reader, sense()?);
    }
    if reader.skip(b"</key>") {
        reader.skip_while(40, |byte| byte.is_ascii_whitespace());
        return if reader.skip(b"<string>") { element(reader, sense()?) } else { None };
    }
    let blanks = reader.blanks();
    if let Some(operator) = operator(reader.rest()) {
        reader.at += operator.len();
        return assigned(reader, operator, blanks, name, before, sense()?);
    }
    if quote.is_none() {
        let is_line = reader.peek().is_some_and(|byte| b"\n\r".contains(&byte));
        return match blanks {
            _ if is_line => valued(after_name, sense),
            0 => given(reader, sense),
            _ => command(reader, name, before, sense)
                .or_else(|| declared(reader, sense))
                .or_else(|| listed(reader, sense)),
        };
    }
    let quote = quote?;
    if before.ends_with(b"name=\"") && (reader.skip(b"\r\n\r\n") || reader.skip(b"\n\n")) {
        return bare(reader, sense()?, PLAIN);
    }
    if reader.skip(b",") {
        reader.skip_while(40, |byte| byte.is_ascii_whitespace());
        if reader.peek().is_some_and(|byte| b"\"'`\\".contains(&byte)) {
            let mut here = reader;
            here.quote()?;
            if !here.rest().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"value")) {
                return argument(reader, quote, sense()?);
            }
        }
    }
    let separated = |byte: &u8| byte.is_ascii_whitespace() || b",;".contains(byte);
    let is_beside = after_name.rest().first().is_some_and(separated);
    if is_beside { valued(after_name, sense) } else { None }
}
