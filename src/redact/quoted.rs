//! A value in quotes.

use super::form::Found;
use super::name::Sense;
use super::reader::{Quote, TextCursor};
use super::unquoted::{CUT, scheme_of};
use super::value::{Stands, is_secret};

/// Reads a quoted value. The outer `None`: there is no quote here.
#[expect(clippy::option_option)]
pub fn quoted(mut reader: TextCursor, sense: Sense, is_env: bool) -> Option<Option<Found>> {
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
        // The text that was cut off is one word, up to the end of its line.
        let value = &value[..memchr::memmem::find(value, CUT).unwrap_or(value.len())];
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
