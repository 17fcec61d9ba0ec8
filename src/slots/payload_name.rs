//! Base64 payloads in a row, which are never truncated inside.

use std::collections::HashMap;

use crate::json::{Document, Literal, Value, string, without_controls};
use crate::media::{data_type, is_name, is_part};
use crate::notice::counts::grouped;

/// Members that name the type of an object's payload, most reliable first.
const NAMES: [&str; 6] = ["mimeType", "mime_type", "mediaType", "media_type", "format", "type"];
/// Formats and block types of payloads.
const MEDIA: &str = " aac flac gif jpeg jpg m4a mp3 mp4 ogg opus pcm pcm16 pdf png wav webm webp \
    image audio video media input_image input_audio input_video input_media ";

/// Returns the type of the payload beside these members: a media type other than text, a format, or
/// a block type.
pub fn medium_of(members: &[Value]) -> Option<String> {
    NAMES.iter().find_map(|name| {
        let named = members.iter().rev().find(|member| member.is_named(name))?;
        named.string().filter(|text| is_medium(text))
    })
}

fn is_medium(text: &str) -> bool {
    match text.contains('/') {
        true => is_name(text) && !text.starts_with("text/"),
        false => is_part(text) && MEDIA.contains(&format!(" {text} ")),
    }
}

/// Chars of the shortest payload. Shorter texts may be words. If a neighboring member names a
/// type, the lower minimum applies.
const LONG: usize = 1_024;
const LONG_BESIDE: usize = 64;

/// Returns the replacements of an oversized payload, longest first, or `None` if the text is not a
/// payload.
pub fn omitted(text: &Literal, medium: Option<&str>) -> Option<Vec<String>> {
    // The start tells most texts from payloads, and a long text is not decoded for it.
    let start = String::from_utf16_lossy(&text.head(LONG_BESIDE));
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"+/_-=".contains(&byte);
    let may_be = start.starts_with("data:") || start.bytes().all(is_sign);
    if may_be { replacements(&text.string(), medium) } else { None }
}

fn replacements(text: &str, medium: Option<&str>) -> Option<Vec<String>> {
    let (kind, chars) = match data_type(text) {
        Some((kind, rest)) => (Some(kind), rest.encode_utf16().count()),
        None if is_base64(text.as_bytes(), medium) => (medium, text.len()),
        None => return None,
    };
    let padding = text.bytes().rev().take(2.min(chars)).take_while(|byte| *byte == b'=').count();
    let size = format!("[... {} bytes", grouped((chars - padding) * 3 / 4));
    let named = kind.filter(|kind| is_name(kind)).map(|kind| format!("{size} of {kind} omitted]"));
    Some(named.into_iter().chain([format!("{size} omitted]"), String::new()]).collect())
}

/// Returns compact JSON with its payloads replaced by their types and sizes, which prevents cuts
/// inside a payload. Returns `None` if it has no payloads, or is not JSON.
pub fn with_names(json: &str) -> Option<String> {
    if !may_have_payload(json.as_bytes()) {
        return None;
    }
    let document = Document::parse(json.as_bytes())?;
    let (mut names, mut open) = (HashMap::new(), vec![(document.root(), None::<String>)]);
    while let Some((value, medium)) = open.pop() {
        let members: Vec<Value> = value.members().collect();
        let medium = medium_of(&members).or(medium);
        open.extend(value.elements().chain(members).map(|part| (part, medium.clone())));
        let name = value.text().and_then(|text| name_of(&text, medium.as_deref()));
        names.extend(name.map(|name| (value.id(), string(&name))));
    }
    if names.is_empty() {
        return None;
    }
    Some(without_controls(document.root().compact_with(|leaf| names.remove(&leaf.id()))))
}

/// Returns true if a string of JSON begins like a payload: as a data URL, or with many chars of
/// base64, among which JSON may escape a slash. Few other texts have one, and most need no parse.
fn may_have_payload(json: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+/\\-".contains(byte);
    memchr::memchr_iter(b'"', json).any(|quote| {
        let text = &json[quote + 1..];
        text.starts_with(b"data:") || text.get(..BEGINNING).is_some_and(|start| start.iter().all(is_sign))
    })
}

/// Chars of the beginning of a payload.
const BEGINNING: usize = 64;

/// Returns the longest replacement that is shorter than the payload.
fn name_of(text: &Literal, medium: Option<&str>) -> Option<String> {
    let names = omitted(text, medium)?;
    let chars = text.size().chars;
    names.into_iter().find(|words| !words.is_empty() && words.len() < chars)
}

/// Returns true for base64 or base64url without white space and with consistent padding. Without a
/// named type, the text must be long and have capitals and small letters. With one, it must not
/// consist of hex digits.
fn is_base64(text: &[u8], medium: Option<&str>) -> bool {
    let body = text.strip_suffix(b"=").map_or(text, |body| body.strip_suffix(b"=").unwrap_or(body));
    let fits = if body.len() < text.len() { text.len().is_multiple_of(4) } else { text.len() % 4 != 1 };
    let has = |set: fn(&u8) -> bool| body.iter().any(set);
    let is_all = |signs: &[u8]| {
        !body.is_empty() && body.iter().all(|byte| byte.is_ascii_alphanumeric() || signs.contains(byte))
    };
    text.len() >= if medium.is_some() { LONG_BESIDE } else { LONG }
        && fits
        && (is_all(b"+/") || is_all(b"_-"))
        && match medium {
            None => has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase),
            Some(_) => !has(u8::is_ascii_digit) || has(|byte| !byte.is_ascii_hexdigit()),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, medium: Option<&str>) -> Option<String> {
        omitted(&text.to_owned().into(), medium).map(|said| said[0].clone())
    }

    #[test]
    fn payloads_are_named_with_their_size() {
        let base64 = "UklG".repeat(300);
        assert_eq!(said(&base64, None).unwrap(), "[... 900 bytes omitted]");
        assert_eq!(
            said(&format!("{base64}QQ=="), Some("audio/wav")).unwrap(),
            "[... 901 bytes of audio/wav omitted]"
        );
        assert_eq!(said(&"A".repeat(80), Some("wav")).unwrap(), "[... 60 bytes of wav omitted]");
        assert_eq!(said("data:a/b;x=1;base64,AAA=", None).unwrap(), "[... 2 bytes of a/b omitted]");
        assert_eq!(said("data:;base64,", None).unwrap(), "[... 0 bytes omitted]");
    }

    #[test]
    fn payloads_in_json_are_replaced_by_names() {
        let (long, short) = ("UklG".repeat(300), "A".repeat(80));
        let json = format!(
            r#"{{"1":["{long}",{{"{long}":1.0}}],"b":"\u007f{short}","format":"wav","x":[{{"y":"{short}"}}]}}"#
        );
        assert_eq!(
            with_names(&json).unwrap(),
            format!(
                r#"{{"1":["[... 900 bytes of wav omitted]",{{"{long}":1.0}}],"b":"\u007f{short}","format":"wav","x":[{{"y":"[... 60 bytes of wav omitted]"}}]}}"#
            )
        );
        for none in [r#"{"a":"data:;base64,"}"#, &format!(r#"["{short}"]"#), &long, "[1]"] {
            assert_eq!(with_names(none), None);
        }
    }

    #[test]
    fn texts_are_not_payloads() {
        let run = "aB-_".repeat(300);
        assert!(said(&run, None).is_some());
        for text in
            [&format!("{run}+"), &format!("{run}x"), &format!("{run}="), &format!("{run} "), &run[..1_020]]
        {
            assert_eq!(said(text, None), None, "{text}");
        }
        for text in ["h".repeat(4_000), "0a1b".repeat(900), "data:,a".repeat(300)] {
            assert_eq!(said(&text, None), None);
        }
        assert_eq!(said(&"0a1b".repeat(900), Some("audio/wav")), None);
        assert!(
            !is_medium("text/plain") && !is_medium("json") && !is_medium("a b/c") && is_medium("font/otf")
        );
    }
}
