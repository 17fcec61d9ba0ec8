//! A payload by the text that holds it: base64 or a data URL.

use super::base64::{decode, decoded, is_base64};
use super::item::{Class, Item};
use super::sniff::{Medium, goes_on, sniff};
use super::{are_words, data_type, words};

/// The bytes of an image, a sound or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    pub medium: Option<Medium>,
    /// The type that its holder or a data URL names.
    pub said: Option<String>,
    /// Its bytes, decoded.
    pub bytes: usize,
    /// All of its bytes were read.
    is_whole: bool,
}

/// Units read to find dimensions: for most files, and for photos, as in lib/media/medium.ts. A
/// header that goes on is read in steps, each so many times as long as all before.
const HEADS: [usize; 2] = [4_096, 262_144];
const STEP: usize = 8;
/// Units read to decide if a text is base64.
const SHOWN: usize = 64;

impl Payload {
    /// Reads a text. Returns `None` for anything else, such as the URL of an image, or words about
    /// a payload. `said`: the type that its holder declares.
    pub fn of(text: &str, said: Option<String>) -> Option<Payload> {
        if text.is_empty() {
            let payload = Payload { medium: None, said, bytes: 0, is_whole: true };
            return Some(payload).filter(|payload| payload.item(false).class == Class::Broken);
        }
        let (named, data) = data_type(text).map_or(("", text), |(named, data)| (named, data));
        if data.len() == text.len() && !is_payload(text.as_bytes()) {
            return None;
        }
        let said = if named.is_empty() { said } else { Some(named.to_owned()) };
        let padding = data.bytes().rev().take(2).take_while(|byte| *byte == b'=').count();
        let bytes = decoded(data.encode_utf16().count() - padding);
        let mut head = HEADS[0];
        loop {
            let start = decode(&data.as_bytes()[..data.len().min(head)]);
            if start.len() == bytes && are_words(&start) {
                return None;
            }
            let medium = sniff(&start);
            let is_read = medium.is_some_and(|medium| medium.size.is_some()) || data.len() <= head;
            if is_read || head >= HEADS[1] && !goes_on(&start) {
                return Some(Payload { medium, said, bytes, is_whole: start.len() == bytes });
            }
            head = if head < HEADS[1] { HEADS[1] } else { head * STEP };
        }
    }

    /// Returns its measures. `from_user`: the user sent it.
    pub fn item(&self, from_user: bool) -> Item {
        let size = self.medium.and_then(|medium| medium.size);
        let class = Class::of(self.medium, self.said.as_deref(), self.is_whole);
        Item { bytes: self.bytes, size, class, from_user }
    }

    /// Returns the words that replace it.
    pub fn words(&self) -> String {
        words(self.medium, self.said.as_deref(), self.bytes)
    }
}

fn is_payload(text: &[u8]) -> bool {
    let shown = &text[..text.len().min(SHOWN)];
    let padding = shown.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let body = &shown[..shown.len() - padding];
    body.len() >= 4 && body.iter().all(|byte| is_base64((*byte).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_data_urls_are_payloads() {
        let said = |text: &str| Payload::of(text, Some("a/b".into())).map(|payload| payload.words());
        assert_eq!(said("R0lGODlhAwACAA==").unwrap(), "[... 10 bytes of image/gif 3x2 omitted]");
        assert_eq!(said("data:;base64,R0lGODlhAwACAA==").unwrap(), "[... 10 bytes of image/gif 3x2 omitted]");
        assert_eq!(said("data:c/d;base64,AAAA").unwrap(), "[... 3 bytes of c/d omitted]");
        assert_eq!(said("AAAA").unwrap(), "[... 3 bytes of a/b omitted]");
        let empty = |said: &str| Payload::of("", Some(said.into())).map(|payload| payload.words());
        assert_eq!(empty("image/png").unwrap(), "[... 0 bytes of image/png omitted]");
        assert_eq!(empty("application/pdf"), None);
        for none in ["https://a.b/c.png", "/tmp/a.png", "", "AAA", "a b c d", "Wy4uLiAzIGJ5dGVzIG9taXR0ZWRd"]
        {
            assert_eq!(said(none), None, "{none}");
        }
    }
}
