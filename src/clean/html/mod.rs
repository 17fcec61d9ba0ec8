//! Turns a page of HTML into text, in one pass and bounded memory.
//!
//! Scripts, styles, tags and comments go. Blocks begin and end lines, paragraphs are set off by
//! blank lines, headings have "#" and items "-", the cells of a row share a line. `pre` keeps its
//! white space. A link is followed by its target, an image is shown by its words. References are
//! chars.
//!
//! A text is a page if it begins with an element of HTML, or with its doctype, after white space,
//! comments and processing instructions. Any other text stays as it is: logs and other formats of
//! XML among them.

mod element;
mod entity;
mod reader;
mod step;
mod writer;

use element::Element;
use reader::HtmlReader;

pub use step::HtmlStep;

/// Bytes within which a page begins.
const START: usize = 4_096;

/// A text that may be a page.
#[derive(Clone, Debug)]
enum Html {
    /// The first bytes, while they do not tell.
    Unknown(Vec<u8>),
    Page(Box<HtmlReader>),
    Text,
}

impl Default for Html {
    fn default() -> Html {
        Html::Unknown(vec![])
    }
}

impl Html {
    /// Takes the next bytes, which split no char, and adds what they show.
    fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            Html::Text => out.extend_from_slice(text),
            Html::Page(reader) => reader.push(text, out),
            Html::Unknown(start) => {
                let room = START.saturating_sub(start.len()).min(text.len());
                start.extend_from_slice(&text[..room]);
                let is_page = begins(start).or((start.len() >= START).then_some(false));
                let Some(is_page) = is_page else { return };
                let start = std::mem::take(start);
                *self = if is_page { Html::Page(Box::default()) } else { Html::Text };
                self.push(if is_page { without_mark(&start) } else { &start }, out);
                self.push(&text[room..], out);
            }
        }
    }

    /// Ends the text.
    fn finish(&mut self, out: &mut Vec<u8>) {
        match self {
            Html::Text => {}
            Html::Page(reader) => reader.finish(out),
            Html::Unknown(start) => out.append(start),
        }
        *self = Html::default();
    }

    fn memory(&self) -> usize {
        match self {
            Html::Text => 0,
            Html::Page(_) => 4 * START,
            Html::Unknown(start) => start.capacity(),
        }
    }
}

/// Returns true if a text is a page. Only its first bytes matter.
pub fn is_page(text: &[u8]) -> bool {
    begins(&text[..text.len().min(START)]) == Some(true)
}

/// Tells whether a text begins like a page, or returns `None` if that takes more of it.
fn begins(start: &[u8]) -> Option<bool> {
    let (mut rest, mut is_xml) = (without_mark(start), false);
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() || b"<!--".starts_with(rest) {
            return None;
        }
        let Some(markup) = rest.strip_prefix(b"<") else {
            return if "\u{feff}".as_bytes().starts_with(rest) { None } else { Some(false) };
        };
        rest = match markup.first()? {
            b'!' if markup.starts_with(b"!--") => after(&markup[3..], b"-->")?,
            b'?' => {
                is_xml = true;
                after(markup, b">")?
            }
            b'!' => {
                let name = markup[1..].split(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                let words: Vec<&[u8]> = name.filter(|word| !word.is_empty()).take(2).collect();
                let has_end = memchr::memchr(b'>', markup).is_some();
                let is_html = words.len() == 2
                    && words[0].eq_ignore_ascii_case(b"doctype")
                    && words[1].eq_ignore_ascii_case(b"html");
                return has_end.then_some(is_html);
            }
            byte if byte.is_ascii_alphabetic() => {
                let size =
                    markup.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
                let name = markup[..size?].to_ascii_lowercase();
                // Other formats of XML have elements of these names.
                let is_html = if is_xml { name == b"html" } else { Element::of(&name) != Element::Unknown };
                return Some(is_html);
            }
            _ => return Some(false),
        };
    }
}

/// Passes on the text of a cleaning, whose first "<" is a reference if it would begin a page:
/// cleaning it again changes nothing.
#[derive(Clone, Debug, Default)]
struct Guard {
    start: Vec<u8>,
    is_past: bool,
}

impl Guard {
    fn memory(&self) -> usize {
        self.start.capacity()
    }

    fn push(&mut self, text: &[u8], is_last: bool, out: &mut Vec<u8>) {
        if self.is_past {
            return out.extend_from_slice(text);
        }
        self.start.extend_from_slice(text);
        let is_decided = is_last || self.start.len() >= START;
        let Some(is_page) =
            begins(&self.start[..self.start.len().min(START)]).or(is_decided.then_some(false))
        else {
            return;
        };
        let start = std::mem::take(&mut self.start);
        match memchr::memchr(b'<', &start).filter(|_| is_page) {
            Some(at) => {
                [&start[..at], b"&lt;", &start[at + 1..]].iter().for_each(|part| out.extend_from_slice(part))
            }
            None => out.extend_from_slice(&start),
        }
        self.is_past = true;
    }
}

/// Returns a text without its byte order mark.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Returns the bytes after a mark.
fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(text, mark).map(|at| &text[at + mark.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{CleanOptions, Cleaner};
    use proptest::prelude::*;

    fn shown(page: &str, size: usize) -> String {
        let mut cleaner = Cleaner::new(CleanOptions { html: true, ..CleanOptions::NONE });
        let mut out = vec![];
        page.as_bytes().chunks(size).for_each(|piece| cleaner.push(piece, &mut out));
        cleaner.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_is_read_as_lines() {
        let page = "<!DOCTYPE html>\n<html><head><title>A  page</title><script>let a = '<p>no</p>'</script>\n\
            <style>p { color: red }</style></head><body><!-- no -- > --><h1>One &amp; two</h1>\n<p>Some <b>bold</b>\n\
            text with <a href=\"/a?b=1&amp;c=2\">a link</a>.<br>Next</p><ul><li>one<ul><li>inner</li></ul><li>two</ul>\
            <pre>\nlet a\n  = 1 &lt; 2\n</pre><table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p><td></td><td>3\n</table>\
            <img src=x alt='A  cat'> a < b &nbsp; <a href=https://x.y>https://x.y</a> <a href='#top'>up</a>\
            <a href='javascript:x()'>run</a></body></html>\n";
        let expected = "A page\n\n# One & two\n\nSome bold text with a link (/a?b=1&c=2).\nNext\n\n- one\n  - inner\n\
            - two\n\nlet a\n  = 1 < 2\n\na | b\n1 |  | 3\n\n[A cat] a < b https://x.y uprun";
        for size in [1, 2, 7, 999_999] {
            assert_eq!(shown(page, size), expected, "{size}");
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "a <b>c</b>",
            "<?xml version='1.0'?><project><name>x</name></project>",
            "<svg-like/>",
            "<rss><a>b</a></rss>",
            "<?xml?><a>b</a>",
            "< div>",
            "{\"a\":\"<p>\"}",
            "<!doctype book><p>",
            "<!-- no end",
            "<",
            "<!",
            "<<<<<<< HEAD\n<p>",
            "\u{feff}",
            "<p",
        ] {
            assert_eq!(shown(text, 1), text);
            assert_eq!(shown(text, 99), text);
            assert!(!is_page(text.as_bytes()), "{text}");
        }
        for text in [
            "\u{feff}\n<!-- a --> <?xml ?><!doctype HTML PUBLIC 'x'>a",
            "<p>a",
            "<HTML\n>a",
            "<br/>a",
            "<script>x</script>a",
        ] {
            assert_eq!(shown(text, 1), "a");
            assert!(is_page(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_not_closed_ends_with_the_page() {
        for (page, expected) in [
            ("<p>a<script>b", "a"),
            ("<p>a<!-- b", "a"),
            ("<p>a<b title='", "a"),
            ("<p>a&am", "a&am"),
            ("<p>a<", "a<"),
            ("<p>a</", "a"),
            ("<p><a href=x>a", "a (x)"),
            ("<p><a href=x>a<a href=y>b", "a (x)b (y)"),
            ("<p>a</script>b</nothing>", "ab"),
            ("<p>a<script>b</scripts>c</SCRIPT >d", "ad"),
            ("<script>a<</script>b", "b"),
            ("<p>a<!-->b<!--->c<!--x--!>d-->e", "abce"),
            ("<p>&lt;p>a", "&lt;p>a"),
            ("<pre> \u{feff}&lt;p>a", " \u{feff}<p>a"),
            ("<table><tr><td>a<td></table>b", "a | \n\nb"),
        ] {
            assert_eq!(shown(page, 1), expected);
            assert_eq!(shown(page, 99), expected);
        }
    }

    #[test]
    fn hostile_pages_take_bounded_memory_and_no_more_text_than_they_have() {
        let size = 1_000_000;
        for unit in [
            "<",
            "<ul>",
            "<li>",
            "<pre>",
            "<td>",
            "&",
            "&#",
            "<a href='x",
            "<a href=x>",
            "<!--",
            "<p",
            "<h6>",
            "</p>",
            "<tr><td>",
        ] {
            let page = format!("<p>{}", unit.repeat(size / unit.len()));
            let mut reader = Html::default();
            let mut out = vec![];
            page.as_bytes().chunks(65_536).for_each(|piece| reader.push(piece, &mut out));
            assert!(reader.memory() <= 4 * START);
            reader.finish(&mut out);
            assert!(out.len() <= page.len() + 99, "{unit}: {}", out.len());
        }
    }

    proptest! {
        #[test]
        fn any_pieces_show_one_text_that_is_not_a_page(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "<p>", "</p>", "<", ">", "&", ";", "&lt;", "&#60;", "<a href='x'>", "</a>", "<script>", "</script>", "<!--",
                    "-->", "<td>", "<tr>", "</table>", "<li>", "<ul>", "<pre>", "</pre>", "\n", " ", "text", "漢", "'", "\"", "=",
                    "<img alt=a>", "<br>", "<h2>", "/", "<b", "\u{feff}", "<div>", "p>",
                ]),
                0..40,
            ),
            size in 1..9usize,
        ) {
            let page = format!("<p>{}", parts.concat());
            let text = shown(&page, size);
            prop_assert_eq!(&text, &shown(&page, page.len()));
            prop_assert_eq!(&shown(&text, 99), &text);
            prop_assert!(text.len() <= 5 * page.len());
        }
    }
}
