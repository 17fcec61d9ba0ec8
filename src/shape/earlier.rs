//! Notices of earlier cuts in the texts of a document.
//!
//! A tool returns the text of a captured process in an object, beside its exit code. That text was
//! cut before, and its notice names the saved output. A cut of the object keeps that name beside
//! its text: no other place says which of several texts it belongs to.
//!
//! The notice of a cut of data counts all that its texts miss, so their own amounts do not count
//! beside it.

use std::collections::HashMap;

use crate::encoding::{Size, Text, Utf8};
use crate::json::{Document, Literal, Value, string};
use crate::notice::Notice;
use crate::notice::earlier::{EarlierNotices, NoticeAmounts};
use crate::notice::saved::SavedPart;

/// Bytes of the longest code point in JSON, before which the beginning of a string may end.
const LONGEST_POINT: usize = 12;
/// The beginnings of all notices.
const BEGINNINGS: [&[u8]; 3] = [b"[tool output truncated: ", b"[... ", b"... ("];

/// The texts of a document that were cut before, by id.
#[derive(Debug, Default)]
pub struct EarlierTexts(HashMap<u32, EarlierText>);

/// A text that was cut before.
#[derive(Debug)]
pub struct EarlierText {
    hidden: Size,
    in_bytes: bool,
    told: NoticeAmounts,
    /// The text is a notice.
    is_all: bool,
    /// The notice that names the saved output beside the text.
    pub notice: Option<Notice>,
    /// Bytes of its shortest notice with the name, 0 if there is none.
    pub notice_bytes: usize,
    /// Bytes of JSON that hold it, or all of a text that is a notice.
    pub least: u32,
}

impl EarlierTexts {
    pub fn of(document: &Document) -> EarlierTexts {
        let mut texts = EarlierTexts::default();
        if may_have_notice(document.root().source()) {
            let strings = document.values().filter(|value| value.source()[0] == b'"' && !value.is_name());
            for value in strings.filter(|value| may_have_notice(value.source())) {
                texts.0.extend(EarlierText::of(value.source()).map(|text| (value.id(), text)));
            }
        }
        texts
    }

    pub fn get(&self, id: u32) -> Option<&EarlierText> {
        self.0.get(&id)
    }

    /// Returns what all notices tell.
    pub fn told(&self, document: &Document) -> NoticeAmounts {
        let mut all = NoticeAmounts::default();
        // The end of the data whose own notice counts the texts in it.
        let mut counted = 0;
        if self.0.is_empty() {
            return all;
        }
        for value in document.values() {
            let is_data = value.is_container() && value.id() > 0 && value.id() >= counted;
            if is_data && self.ends_in_notice(value) {
                counted = value.next_id();
            }
            let Some(text) = self.get(value.id()) else { continue };
            if value.id() >= counted || value.next_id() == counted {
                let (chars, bytes) =
                    if text.in_bytes { (0, text.hidden.bytes) } else { (text.hidden.chars, 0) };
                (all.chars, all.bytes) = (all.chars + chars, all.bytes + bytes);
            }
            all.add_saved(text.told.clone());
        }
        all
    }

    /// Returns true if the last value of a list or an object is its notice.
    fn ends_in_notice(&self, container: Value) -> bool {
        let last = container.next_id() - 1;
        self.get(last).is_some_and(|text| text.is_all) && container.at(last).parent() == Some(container)
    }
}

impl EarlierText {
    /// Reads a string, given with its quotes.
    fn of(quoted: &[u8]) -> Option<EarlierText> {
        let text = Literal::of(quoted).string();
        let text = Utf8(text.as_bytes());
        let earlier = EarlierNotices::find(text, text, text.len());
        if earlier.told == NoticeAmounts::default() {
            return None;
        }
        let (hidden, saved) = (earlier.hidden(), earlier.told.saved());
        let is_all = earlier.leading + earlier.trailing >= text.len();
        let line = saved.line().filter(|_| saved.has_line());
        let shortest = line.as_ref().map(|line| {
            let omitted = hidden.chars + text.len();
            format!("[... {omitted} chars omitted]\n{line}")
        });
        let notice_bytes = shortest.as_ref().map_or(0, String::len);
        let least = match &shortest {
            _ if is_all => quoted.len(),
            Some(notice) => string(notice).len() + LONGEST_POINT,
            None => 0,
        };
        let notice = match saved {
            SavedPart::Nowhere | SavedPart::Failed(_) => None,
            _ if line.is_some() => Some(Notice::Named(Box::new(Notice::Mark))),
            _ => Some(Notice::Hint),
        };
        let least = least.min(quoted.len()) as u32;
        let in_bytes = earlier.in_bytes();
        Some(EarlierText { hidden, in_bytes, is_all, notice, notice_bytes, least, told: earlier.told })
    }
}

fn may_have_notice(json: &[u8]) -> bool {
    BEGINNINGS.iter().any(|beginning| memchr::memmem::find(json, beginning).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::policy::Policy;
    use crate::shape::{cut_texts, shape_told};

    const ONE: &str = "0123456789abcdef";
    const OTHER: &str = "fedcba9876543210";

    /// Returns a text as a capture leaves it.
    fn captured(id: &str, omitted: usize) -> String {
        let total = omitted + 4_000;
        let how = format!("full output saved as {id}, page or search it with read_output");
        format!(
            "{}\n\n[tool output truncated: {omitted} of {total} chars omitted (limit 4KB); {how}]",
            "a \"line\" of the build\n".repeat(180)
        )
    }

    fn object(texts: &[String]) -> String {
        let members: Vec<String> =
            texts.iter().enumerate().map(|(at, text)| format!("\"text{at}\":{}", string(text))).collect();
        format!("{{\"exitCode\":1,{}}}", members.join(","))
    }

    fn told(json: &str, bytes: usize) -> String {
        let limits = Limits { bytes, ..Limits::NONE };
        let made = shape_told(json, &Policy { limits, ..Policy::default() }).unwrap();
        assert!(made.json.len() <= bytes);
        String::from_utf8(made.json).unwrap()
    }

    #[test]
    fn one_saved_output_is_that_of_the_whole() {
        let json = object(&[captured(ONE, 90_000)]);
        for bytes in (300..4_000).step_by(37) {
            let made = told(&json, bytes);
            assert_eq!(made.matches(ONE).count(), 2, "{bytes} {made}");
            let again = told(&made, bytes / 2 + 100);
            assert!(again.contains(ONE), "{bytes} {again}");
        }
        let made = told(&json, 2_000);
        let total = made.rsplit_once(" of ").unwrap().1.split(' ').next().unwrap().replace(',', "");
        assert_eq!(total.parse::<usize>().unwrap(), json.len() + 90_000);
    }

    #[test]
    fn each_of_several_is_named_beside_its_text() {
        let json = object(&[captured(ONE, 90_000), captured(OTHER, 5_000)]);
        for bytes in (400..8_000).step_by(97) {
            let made = told(&json, bytes);
            let (first, second) = made.split_once("\"text1\":").unwrap();
            assert_eq!([first.matches(ONE).count(), second.matches(OTHER).count()], [1, 1], "{bytes} {made}");
            assert!(!second.contains(ONE) && !first.contains(OTHER), "{bytes} {made}");
        }
    }

    #[test]
    fn data_in_data_keeps_its_notice() {
        let inner: Vec<String> = [ONE, OTHER].map(|id| told(&object(&[captured(id, 90_000)]), 2_000)).into();
        let json = format!("[{}]", inner.join(","));
        let made = told(&json, 2_500);
        for id in [ONE, OTHER] {
            assert_eq!(made.matches(id).count(), 2, "{made}");
        }
        // The notices in it count what its texts omitted.
        let total = made.rsplit_once(" of ").unwrap().1.split(' ').next().unwrap().replace(',', "");
        assert!(total.parse::<usize>().unwrap().abs_diff(2 * 94_000) < 2_000, "{made}");
    }

    #[test]
    fn texts_are_those_with_notices() {
        let texts = [captured(ONE, 90_000), captured(OTHER, 5_000)];
        let json = object(&texts);
        let (found, beside) = cut_texts(&json).unwrap();
        assert_eq!(found, texts);
        assert_eq!(beside, object(&["".into(), "".into()]).len() - 4);
        assert_eq!(cut_texts(&object(&["[... text".into()])), None);
        assert_eq!(cut_texts(&told(&json, 2_000)).map(|(texts, _)| texts.len()), Some(2));
    }
}
