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
//! A quoted value ends at its quote; without one, where its line ends. Any other ends at white space, a quote or a bracket,
//! and at a comma, `;` or `&` behind which another name begins.

use std::ops::Range;

use super::MARK;
use super::name::{self, Kind, MOST, Sense};
use super::random::is_random;
use super::reader::{Quote, Reader};
use super::rules::MOST_KIND;
use super::unquoted::{PLAIN, Place, bare, scheme_of};
use super::value::{Stands, is_identifier, is_secret};

/// Bytes before a name that may say what it is.
const BEFORE: usize = 24;

/// Bytes before a name in which the mark begins that it is a part of.
const IN_MARK: usize = MARK.len() + MOST_KIND;

/// Bytes before an anchor that are looked at.
pub const BACK: usize = MOST + IN_MARK + BEFORE;

const OPERATORS: [&[u8]; 18] = [
    b":::=", b"!==", b"===", b"||=", b"??=", b"::=", b"%3D", b"%3d", b":=", b"=>", b"?=", b".=", b"+=",
    b"==", b"!=", b"<-", b"=", b":",
];

/// A named secret.
#[derive(Debug)]
pub struct Named {
    pub secret: Range<usize>,
    pub kind: &'static str,
}

pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Returns the secret whose name has an anchor at a place of a text.
pub fn find(text: &[u8], at: usize) -> Option<Named> {
    let name = name_at(text, at)?;
    // What a parser did not expect.
    let is_parsed = text[..name.start].ends_with(b"nexpected ");
    let sense = || name::sense(&text[name.clone()]).filter(|_| !is_parsed);
    let (secret, sense, is_env) = forms(text, &name, &sense)?;
    let before = &text[name.start.saturating_sub(IN_MARK)..name.start];
    let mark = memchr::memmem::rfind(before, MARK);
    if mark.is_some_and(|at| !before[at..].contains(&b']')) {
        return None;
    }
    let kind = if is_env && sense.is_compound { "secret" } else { kind_of(sense) };
    Some(Named { secret, kind })
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
fn name_at(text: &[u8], at: usize) -> Option<Range<usize>> {
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

pub type Found = (Range<usize>, Sense, bool);

fn forms(text: &[u8], name: &Range<usize>, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    let before = &text[name.start.saturating_sub(BEFORE)..name.start];
    let mut reader = Reader { text, at: name.end };
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
    if let Some(operator) = OPERATORS.iter().find(|operator| reader.rest().starts_with(operator)) {
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

/// Reads the value behind an operator.
fn assigned(
    mut reader: Reader,
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
        next.skip_while(2, |byte| byte == b'-' || byte == b'+');
        if next.skip(b"\n") && next.blanks() > 0 {
            return bare(next, sense, PLAIN);
        }
        return None;
    }
    if next.skip_while(40, |byte| byte.is_ascii_whitespace()) > 0 && Quote::at(next.rest()).is_some() {
        reader = next;
    }
    let secured = b"(ConvertTo-SecureString ";
    if reader.rest().len() > secured.len() && reader.rest()[..secured.len()].eq_ignore_ascii_case(secured) {
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
    let is_line = begins_line || exports.iter().any(|word| before.ends_with(word));
    if let Some(found) = quoted(reader, sense, is_env) {
        return found;
    }
    let found = bare(reader, sense, Place { is_tight, is_env: is_env && is_line, is_url, is_common: false })?;
    Some((found.0, found.1, is_env))
}

/// Reads a quoted value. The outer `None`: no quote stands here.
#[expect(clippy::option_option)]
fn quoted(mut reader: Reader, sense: Sense, is_env: bool) -> Option<Option<Found>> {
    let mut prefixed = reader;
    if prefixed.skip_while(2, |byte| b"bBrRuUfFL@$".contains(&byte)) > 0
        && Quote::at(prefixed.rest()).is_some()
    {
        reader = prefixed;
    }
    let quote = reader.quote()?;
    let (end, is_closed) = quote.close(reader.rest());
    let lead = scheme_of(&reader.rest()[..end]);
    let sense = sense.behind_scheme(lead);
    let (start, end) = (reader.at + lead, reader.at + end);
    let value = &reader.text[start.min(end)..end];
    if !is_closed {
        // What was cut off is one word, up to the end of its line.
        let trimmed = value.len() - value.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        let value = &value[..trimmed];
        let is_word = !value.is_empty()
            && !value.iter().any(|byte| byte.is_ascii_whitespace() || b"\"'`<>(){}[]".contains(byte));
        let is_secret = is_word && is_secret(value, sense, Stands::Quoted { single: quote.is_single() });
        return Some(is_secret.then_some((start..start + trimmed, sense, is_env)));
    }
    let is_secret =
        !value.is_empty() && is_secret(value, sense, Stands::Quoted { single: quote.is_single() });
    Some(is_secret.then_some((start..end, sense, is_env)))
}

/// Reads `TYPE = "value"`.
fn declared(mut reader: Reader, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
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

/// Reads a value behind a name and a blank, where a command sets it.
fn command(
    reader: Reader,
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
    bare(reader, sense, Place { is_tight: true, ..PLAIN })
}

/// Reads the value in `setName("value")`.
fn given(mut reader: Reader, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
    if !reader.skip(b"(") || Quote::at(reader.rest()).is_none() {
        return None;
    }
    let found = quoted(reader, sense()?, false)??;
    let behind = Quote::at(&reader.text[found.0.end..]).map(|quote| found.0.end + quote.length());
    let is_last = behind.and_then(|at| reader.text.get(at)) == Some(&b')');
    (is_last && is_random(&reader.text[found.0.clone()])).then_some(found)
}

/// Reads a value that stands beside its name: `#define NAME "value"`, `| name | value |`, a tab.
fn listed(mut reader: Reader, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
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
    bare(reader, sense()?, Place { is_common: true, ..PLAIN })
}

/// Reads the value behind `"name",`.
fn argument(reader: Reader, quote: Quote, sense: Sense) -> Option<Found> {
    let found = quoted(reader, sense, false)??;
    let mut after = Reader { text: reader.text, at: found.0.end };
    let closing = after.quote()?;
    after.skip_while(40, |byte| byte.is_ascii_whitespace());
    let value = &reader.text[found.0.clone()];
    let is_last = after.peek().is_none_or(|byte| b")]}\\".contains(&byte));
    let is_chosen = sense.kind == Kind::Password && is_last && !is_identifier(value);
    let is_one = (is_chosen || is_random(value)) && (is_last || after.peek() == Some(b','));
    (closing.slashes == quote.slashes && is_one).then_some(found)
}

/// Reads the `value` beside a name that is one itself.
fn valued(mut reader: Reader, sense: &dyn Fn() -> Option<Sense>) -> Option<Found> {
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

/// Reads the text of an element.
fn element(mut reader: Reader, sense: Sense) -> Option<Found> {
    reader.skip_while(60, |byte| byte.is_ascii_whitespace());
    reader.skip(b"<value>");
    reader.skip(b"<![CDATA[");
    let long = reader.rest().iter().take_while(|byte| !b"<\n\r".contains(byte)).count();
    let value = &reader.rest()[..long];
    let value = value.strip_suffix(b"]]>").unwrap_or(value);
    let trimmed = value.len() - value.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let value = &value[..trimmed];
    let is_word = !value.is_empty()
        && !value.iter().any(|byte| byte.is_ascii_whitespace() || b"\"`(){}[]".contains(byte));
    let secret = reader.at..reader.at + trimmed;
    (is_word && is_secret(value, sense, Stands::Quoted { single: true })).then_some((secret, sense, false))
}
