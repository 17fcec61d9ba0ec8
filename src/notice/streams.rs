//! The streams of a process that was captured apart, each cut for itself.
//!
//! ```text
//! text   = label stream [label stream] [exit]
//! label  = "stdout:" NEWLINE | "stderr:" NEWLINE
//! stream = [notice NEWLINE] kept [gap notice] [NEWLINE]
//! ```
//!
//! A stream is a text of its own, and does not begin with a label. Its notices count the text that
//! is missing of it, so those of both streams count from the whole output. This also holds for one
//! notice of a text with both labels: text that is missing between them is missing of the first
//! stream, text that is missing behind them of the second. A text without a notice is one text,
//! whatever it holds, and so is a text in which only one stream has a notice, but the other a mark.

use std::ops::Range;

use super::earlier::{EarlierNotices, NoticeAmounts};
use super::locate::{ascii, is_newline, last_notice, notice_at};
use super::parse::is_mark;
use crate::encoding::Text;

/// The labels. `label` in lib/capture/process.ts writes them.
const LABELS: [&[u8]; 2] = [b"stdout:\n", b"stderr:\n"];
/// Units of a label.
pub const LABEL: usize = LABELS[0].len();

/// Returns the streams in a text, without their labels, or nothing if it is one text. The last has
/// the exit line, and a stream that ends in a notice lacks the newline before the next label.
pub fn streams<T: Text>(text: T) -> Vec<Range<usize>> {
    let Some(first) = label_at(text, 0) else { return vec![] };
    let line = [b"\n", LABELS[1 - first]].concat();
    let bytes = ascii(text);
    let is_cut = |end: usize| last_notice(text.slice(LABEL..end), true).is_some();
    let begins = |at: usize| notice_at(text, at).is_some_and(|found| is_newline(text, found.end));
    // A label follows a line of the stream before it. A program may print such a line too, but
    // nothing beside a notice.
    let mut ends = memchr::memmem::find_iter(&bytes[LABEL..], &line).map(|at| LABEL + at);
    let end = ends.clone().find(|&end| is_cut(end) || begins(end + line.len())).or_else(|| ends.next());
    let streams = match end {
        Some(end) => vec![LABEL..end + usize::from(!is_cut(end)), end + line.len()..text.len()],
        None => std::iter::once(LABEL..text.len()).collect(),
    };
    let is_told = |stream: &Range<usize>| {
        let part = text.slice(stream.clone());
        EarlierNotices::find(part, part, part.len()).told != NoticeAmounts::default()
    };
    // A mark without a notice beside it is that of a cut of the whole.
    let is_marked = |stream: &Range<usize>| bytes[stream.clone()].split(|&byte| byte == b'\n').any(is_mark);
    let is_part = streams.iter().any(|stream| is_marked(stream) && !is_told(stream));
    let is_nested = streams.iter().any(|stream| label_at(text, stream.start).is_some());
    if is_part || is_nested || !streams.iter().any(is_told) { vec![] } else { streams }
}

/// Returns which label begins at a position.
fn label_at<T: Text>(text: T, at: usize) -> Option<usize> {
    let start = ascii(text.slice(at..text.len().min(at + LABEL)));
    LABELS.iter().position(|label| *label == start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{Utf8, Utf16};

    const PI: &str = "[... 12 more characters truncated]";
    const HINT: &str = "[tool output truncated: 70 of 90 chars omitted (limit 9B); request smaller chunks]";

    fn parts(text: &str) -> Vec<&str> {
        let wide: Vec<u16> = text.encode_utf16().collect();
        let found = streams(Utf8(text.as_bytes()));
        assert_eq!(streams(Utf16(&wide)).len(), found.len());
        found.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn streams_are_told_by_labels_and_a_notice() {
        for (text, streams) in [
            (format!("stdout:\na\n\n{HINT}\nstderr:\nb"), vec![format!("a\n\n{HINT}"), "b".into()]),
            (format!("stdout:\na{PI}\nstderr:\nb\n"), vec![format!("a{PI}"), "b\n".into()]),
            (
                format!("stderr:\na{PI}\n[Full output: x]\nstdout:\nb{PI}\n[exit code 1]"),
                vec![format!("a{PI}\n[Full output: x]"), format!("b{PI}\n[exit code 1]")],
            ),
            (format!("stderr:\na\nstdout:\n{PI}\nb"), vec!["a\n".into(), format!("{PI}\nb")]),
            (format!("stderr:\n{PI}\na\nstdout:\nb"), vec![format!("{PI}\na\n"), "b".into()]),
            (format!("stdout:\n{PI}\na"), vec![format!("{PI}\na")]),
            (format!("stdout:\na\nstderr:\nb{PI}"), vec!["a\n".into(), format!("b{PI}")]),
            (format!("stdout:\na\n\n{PI}\n\nb\nstderr:\nc"), vec![format!("a\n\n{PI}\n\nb\n"), "c".into()]),
            (
                format!("stdout:\na\nstderr:\nb{PI}\nstderr:\nc"),
                vec![format!("a\nstderr:\nb{PI}"), "c".into()],
            ),
        ] {
            assert_eq!(parts(&text), streams, "{text:?}");
        }
    }

    #[test]
    fn other_texts_are_one() {
        for text in [
            "stdout:\na\nstderr:\nb".to_owned(),
            format!("stdout:\nstdout:\na{PI}\nstderr:\nb"),
            format!("x\nstdout:\na{PI}\nstderr:\nb"),
            format!("stdout: a{PI}\nstderr:\nc"),
            format!("stdout:\na\n[... 2 lines ...]\nstderr:\nb{PI}"),
        ] {
            assert!(parts(&text).is_empty(), "{text:?}");
        }
    }
}
