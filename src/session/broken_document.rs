//! Reads what a damaged document still holds: a session that is one JSON value, cut off by a crash,
//! with text of an older write behind it, or with raw line ends in its strings.
//!
//! The last message of a document that was cut off is damaged, and the host rewrites it with the
//! next one. So the list of messages is closed after its last whole element, and its object, if it
//! is in one, behind the list. Nothing is closed within a message: a half of one is not a message.
//! The rest is a scrap, byte for byte. A document without a whole message is not mended, since the
//! host would take what is left for a new session.

use super::layout::Layout;
use super::mend::is_row;
use super::row_format::{is_blank, mark_of};
use crate::json::Document;
use crate::json::Value;
use crate::json::walk::{BrokenContainer, Leniency, joined, walk};

/// A document that was damaged.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenDocument {
    pub layout: &'static Layout,
    /// A document with all that was whole.
    pub text: Vec<u8>,
    /// The rest.
    pub scrap: Vec<u8>,
}

impl BrokenDocument {
    /// Reads the bytes of a file that is not JSON. Returns `None` unless it is a document of a
    /// known layout with a whole message.
    pub fn of(bytes: &[u8]) -> Option<BrokenDocument> {
        let found = walk(bytes, mark_of(bytes), Leniency::Document);
        let (end, closing) = match found.open {
            _ if found.is_whole => (found.end, ""),
            [
                Some(BrokenContainer { start: b'{', .. }),
                Some(BrokenContainer { start: b'[', end, has_parts: true }),
            ] => (end, "]}"),
            [Some(BrokenContainer { start, end, has_parts: true }), _] => {
                (end, if start == b'[' { "]" } else { "}" })
            }
            _ => return None,
        };
        let (whole, rest) = bytes.split_at(end);
        // A row may look like a document; other rows then stand behind it.
        let is_line = whole.ends_with(b"}") && lines(whole.trim_ascii_start()).count() == 1;
        if found.is_whole && is_line && lines(rest).skip(1).any(is_row) {
            return None;
        }
        let mut text = joined(whole, Leniency::Document);
        text.extend_from_slice(closing.as_bytes());
        let scrap = if is_blank(rest) {
            text.extend_from_slice(rest);
            &[]
        } else {
            rest
        };
        let document = Document::parse(&text[mark_of(&text)..])?;
        let root = document.root();
        let layout = Layout::of_document(root).filter(|layout| has_message(layout, root, found.is_whole))?;
        Some(BrokenDocument { layout, scrap: scrap.to_vec(), text })
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Returns true if a whole message is in a document. A part of a message that is a file of its own
/// is whole only if the file is.
fn has_message(layout: &Layout, root: Value, is_whole: bool) -> bool {
    let has_objects = |list: Value| list.elements().any(Value::is_object);
    let messages = layout.messages(root);
    match messages.contains(&root) {
        true => is_whole,
        false => !messages.is_empty() || has_objects(root) || root.members().any(has_objects),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mended(text: &str) -> Option<(String, String)> {
        let string = |bytes| String::from_utf8(bytes).unwrap();
        BrokenDocument::of(text.as_bytes()).map(|found| (string(found.text), string(found.scrap)))
    }

    const A: &str = r#"{"role":"user","content":"a"}"#;
    const B: &str = r#"{"role":"assistant","content":[{"type":"text","text":"b ] }"}]}"#;

    #[test]
    fn documents_are_closed_after_their_last_whole_message() {
        let gemini =
            |messages: &str| format!(r#"{{"sessionId":"s","projectHash":"h","messages":[{messages}"#);
        let user = r#"{"type":"user","content":"a"}"#;
        for (damaged, text, scrap) in [
            (format!("[{A},{B}"), format!("[{A},{B}]"), String::new()),
            (format!("[{A},{}", &B[..50]), format!("[{A}]"), format!(",{}", &B[..50])),
            (format!("[\n  {A},\n  {}", &B[..9]), format!("[\n  {A}]"), format!(",\n  {}", &B[..9])),
            (format!("[{A}]\n\"}}]"), format!("[{A}]"), "\n\"}]".into()),
            (
                format!("[{A},{{\"role\":\"\0\0\"}},{B}]"),
                format!("[{A}]"),
                format!(",{{\"role\":\"\0\0\"}},{B}]"),
            ),
            (format!("[{A}]\0\0"), format!("[{A}]"), "\0\0".into()),
            (format!("\u{feff}[{A}"), format!("\u{feff}[{A}]"), String::new()),
            (
                "[{\"role\":\"u\",\"a\":\"\n\"}\n]\n".to_owned(),
                "[{\"role\":\"u\",\"a\":\"\\n\"}\n]\n".into(),
                String::new(),
            ),
            (gemini(&format!("{user},{{\"type\"")), gemini(user) + "]}", ",{\"type\"".into()),
            (gemini(user) + "],\"last", gemini(user) + "]}", ",\"last".into()),
        ] {
            assert_eq!(mended(&damaged), Some((text, scrap)), "{damaged:?}");
        }
    }

    #[test]
    fn documents_without_a_whole_message_are_not_mended() {
        let part = r#"{"sessionID":"s","messageID":"m","type":"tool","state":{"output":"a"}}"#;
        let alone = format!("{part}{A}");
        assert_eq!(mended(&alone), Some((part.into(), A.into())));
        for text in [
            &part[..part.len() - 1],
            &part[..40],
            &B[..20],
            &format!("[{}", &B[..20]),
            &format!("{part}\n{A}\n"),
            "[1,2",
            "{\"name\":\"spillway\",\"files\":[{\"a\":1},",
            "",
        ] {
            assert_eq!(mended(text), None, "{text}");
        }
    }

    /// The text of a document in one of the layouts, with its messages.
    fn document() -> impl Strategy<Value = (String, Vec<String>)> {
        let text = prop::collection::vec(
            prop::sample::select(vec![
                "a",
                "{}",
                "[",
                "]},",
                "\\\"",
                "\\\\",
                "\\n",
                "\u{e9}",
                "{\\\"role\\\":1}",
            ]),
            0..5,
        );
        let message = (text, 0..3usize).prop_map(|(text, kind)| {
            let text = text.concat();
            match kind {
                0 => format!(r#"{{"role":"user","type":"user","ts":1,"content":"{text}"}}"#),
                1 => format!(r#"{{"type":"gemini","role":"x","content":[{{"t":"{text}"}},{{}}]}}"#),
                _ => {
                    format!("{{\n  \"role\": \"user\",\n  \"type\": \"user\",\n  \"n\": [1, \"{text}\"]\n}}")
                }
            }
        });
        let layout = prop::sample::select(vec![
            ("[", "]"),
            ("[\n  ", "\n]\n"),
            ("{\"version\":1,\"messages\":[", "]}"),
            ("{\"sessionId\":\"s\",\"projectHash\":\"h\",\"messages\":[", "],\"last\":{\"a\":[1]}}"),
        ]);
        (layout, prop::collection::vec(message, 1..6))
            .prop_map(|((start, end), messages)| (format!("{start}{}{end}", messages.join(", ")), messages))
    }

    proptest! {
        #[test]
        fn whole_messages_stay_and_no_byte_is_lost(
            (text, messages) in document(),
            at in any::<prop::sample::Index>(),
            kind in 0..3u8,
            junk in prop::sample::select(vec!["\0\0\0", "\u{1}", "]x", "}{", "\"}]"]),
        ) {
            let bytes = text.as_bytes();
            let at = at.index(bytes.len());
            let (damaged, kept) = match kind {
                0 => (bytes[..at].to_vec(), at),
                1 => ([&bytes[..at], junk.as_bytes(), &bytes[at..]].concat(), at),
                _ => ([bytes, junk.as_bytes()].concat(), bytes.len()),
            };
            if serde_json::from_slice::<serde::de::IgnoredAny>(&damaged).is_ok() {
                return Ok(());
            }
            let mut from = 0;
            let whole: Vec<usize> = messages.iter().map(|message| {
                from += text[from..].find(message.as_str()).unwrap() + message.len();
                from
            }).take_while(|end| *end <= kept).collect();
            let Some(BrokenDocument { text: left, scrap, .. }) = BrokenDocument::of(&damaged) else {
                // Text that reads like a part of a message may stand behind the last of them.
                prop_assert!(whole.is_empty(), "{:?}", String::from_utf8_lossy(&damaged));
                return Ok(());
            };
            let document = Document::parse(&left).unwrap();
            let root = document.root();
            let list: Vec<Value> = match root.is_list() {
                true => root.elements().collect(),
                false => root.get("messages").unwrap().elements().collect(),
            };
            for (message, found) in messages.iter().zip(&list).take(whole.len()) {
                prop_assert_eq!(message.as_bytes(), found.source());
            }
            prop_assert!(list.len() >= whole.len());
            // The closing brackets are all that is new. They stand before blanks at the end. Junk
            // that opens a string makes line ends a part of it, and a string has them escaped.
            prop_assert!(damaged.ends_with(&scrap));
            let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\\n", "\n");
            let (before, after) = (plain(&damaged[..damaged.len() - scrap.len()]), plain(&left));
            let end = if scrap.is_empty() { before.trim_ascii_end() } else { &before };
            let (blanks, closed) = (&before[end.len()..], after.strip_prefix(end));
            let brackets = closed.and_then(|closed| closed.strip_suffix(blanks));
            prop_assert!(brackets.is_some_and(|brackets| {
                brackets.len() <= 2 && brackets.bytes().all(|byte| matches!(byte, b']' | b'}'))
            }), "{before:?}\n{after:?}");
        }
    }
}
