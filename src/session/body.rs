//! The text of a tool result before it is truncated: in place in its row, or derived from it.

use crate::json::Literal;
use crate::policy::{Keep, Policy};
use crate::text::Size;
use crate::text::clean::{self, Cleaner, look::is_clean, met};
use crate::text::earlier;
use crate::text::space::is_space;
use crate::text::units::{NEWLINE, is_high, is_low};

#[derive(Clone, Debug)]
pub enum Body<'a> {
    Row(Literal<'a>),
    /// UTF-8.
    Made(Vec<u8>),
}

/// The head and the tail of a text; if the tail is empty, the head is the whole text.
pub type Windows = (Vec<u16>, Vec<u16>);

/// Maximum chars searched for findings, and the share of the head, as in lib/text/pieces.ts. The text between is
/// skipped.
const SEARCHED: usize = 16 << 20;
const SEARCHED_HEAD: usize = 4 << 20;
/// A window is aligned to the end of a line within this distance.
const PIECE: usize = 65_536;

impl Body<'_> {
    pub fn literal(&self) -> Literal<'_> {
        match self {
            Body::Row(literal) => *literal,
            Body::Made(text) => Literal::plain(text),
        }
    }

    pub fn size(&self) -> Size {
        self.literal().size()
    }

    /// Returns the parts of a text of `chars` chars that can affect a cut.
    pub fn windows(&self, chars: usize, policy: &Policy) -> Windows {
        let (head, tail) = reach(policy);
        // The tokens of the whole text decide which limits a notice names.
        if policy.limits.counts_tokens() || chars <= head.max(tail).max(earlier::SEARCHED) {
            return (self.literal().units(), vec![]);
        }
        // Notices at the ends are not kept, so a window must extend beyond them.
        let [head, tail] = [head, tail].map(|side| side.saturating_add(earlier::LONGEST));
        (self.literal().head(head), self.literal().tail(tail))
    }

    /// Returns the parts to search for findings: the whole text, or both ends, aligned to lines if possible.
    pub fn searched(&self, chars: usize, policy: &Policy) -> Windows {
        let (head, tail) = reach(policy);
        let first = SEARCHED_HEAD.max(head.saturating_add(PIECE));
        let last = (SEARCHED - SEARCHED_HEAD).max(tail.saturating_add(PIECE));
        if chars <= SEARCHED || chars.saturating_sub(last) <= first {
            return (self.literal().units(), vec![]);
        }
        // One more unit tells if a surrogate pair would be split.
        let mut head = self.literal().head(first + 1);
        let splits = is_high(head[first - 1]) && is_low(head[first]);
        head.truncate(first - usize::from(splits));
        let line = head.iter().rposition(|unit| *unit == NEWLINE).map_or(0, |at| at + 1);
        if line > first - PIECE {
            head.truncate(line);
        }
        let mut tail = self.literal().tail(last + 1);
        let splits = is_high(tail[0]) && is_low(tail[1]);
        tail.drain(..1 + usize::from(splits));
        let line = tail[..PIECE].iter().position(|unit| *unit == NEWLINE).map_or(0, |at| at + 1);
        tail.drain(..line);
        (head, tail)
    }

    /// Returns the cleaned text, or `None` if cleaning changes nothing or leaves no visible text.
    pub fn cleaned(&self, options: Option<clean::Options>) -> Option<Vec<u8>> {
        let options = options?;
        let text = self.literal().utf8();
        // An earlier notice or cut may have made lines alike. Folding them would lose their position.
        let options = clean::Options { repeats: options.repeats && !was_cut(&text), ..options };
        if options == clean::Options::NONE || is_clean(&text, options.repeats) {
            return None;
        }
        let (mut cleaner, mut out) = (Cleaner::new(options), Vec::with_capacity(text.len()));
        cleaner.push(&text, &mut out);
        cleaner.finish(&mut out);
        (out != text && std::str::from_utf8(&out).is_ok_and(is_visible)).then_some(out)
    }

    /// Returns the text without leading white space, or `None` if that is everything.
    pub fn trimmed(&self) -> Option<Vec<u8>> {
        let text = self.literal().string();
        let shown = text.trim_start_matches(is_space);
        (!shown.is_empty()).then(|| shown.as_bytes().to_vec())
    }
}

/// Returns the maximum reach of a cut, in chars from the start and from the end.
fn reach(policy: &Policy) -> (usize, usize) {
    let reach = policy.limits.bytes.min(policy.limits.chars).saturating_add(2);
    let of = |side| if policy.keep == side { 0 } else { reach };
    (of(Keep::Tail), of(Keep::Head))
}

fn is_visible(text: &str) -> bool {
    text.chars().any(|point| !is_space(point))
}

/// Drops all but two of equal lines that met in a cut of a cleaned text, so that the next cleaning does not fold them.
pub fn parted(text: Vec<u16>, options: Option<clean::Options>) -> Vec<u16> {
    let folds = options.is_some_and(|options| options.repeats);
    let left = if folds { met::leave_two(&text) } else { None };
    left.filter(|_| !was_cut(String::from_utf16_lossy(&text).as_bytes())).unwrap_or(text)
}

/// Returns true if a text has visible chars. Lone surrogates count as visible.
pub fn shows(text: &[u16]) -> bool {
    char::decode_utf16(text.iter().copied()).any(|point| !point.is_ok_and(is_space))
}

/// Returns true if a text contains one of our notices or marks.
fn was_cut(text: &[u8]) -> bool {
    let behind =
        |mark: &'static [u8]| memchr::memmem::find_iter(text, mark).map(move |at| &text[at + mark.len()..]);
    let after_digits = |text: &'_ [u8], also: u8| -> Option<usize> {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == also).count();
        (count > 0).then_some(count)
    };
    behind(b"[tool output truncated: ").next().is_some()
        || memchr::memmem::find_iter(text, b"[...]")
            .any(|at| starts_line(&text[..at]) && ends_line(&text[at + 5..]))
        || behind(b"[... ").any(|text| {
            let Some(rest) = after_digits(text, b'0').map(|count| &text[count..]) else { return false };
            rest.starts_with(b" more characters truncated]") || rest.starts_with(b" chars omitted]")
        })
        || behind(b"... (").any(|text| {
            after_digits(text, b',').is_some_and(|count| text[count..].starts_with(b" chars truncated from "))
        })
        || behind(b"[+").any(|text| {
            let Some(rest) = after_digits(text, b'0').map(|count| &text[count..]) else { return false };
            rest.strip_prefix(b" chars]").is_some_and(ends_line)
        })
}

/// Returns true if a line starts after `text`, as `^` defines it in JavaScript.
fn starts_line(text: &[u8]) -> bool {
    matches!(text, [] | [.., b'\n' | b'\r'])
        || text.ends_with("\u{2028}".as_bytes())
        || text.ends_with("\u{2029}".as_bytes())
}

/// Returns true if a line ends before `text`.
fn ends_line(text: &[u8]) -> bool {
    matches!(text, [] | [b'\n' | b'\r', ..])
        || text.starts_with("\u{2028}".as_bytes())
        || text.starts_with("\u{2029}".as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn body(text: &str) -> Body<'static> {
        Body::Made(text.as_bytes().to_vec())
    }

    #[test]
    fn windows_cover_the_reach_of_a_cut() {
        let policy = Policy {
            keep: Keep::Tail,
            limits: Limits { bytes: 300_000, ..Limits::NONE },
            ..Policy::default()
        };
        let small = body(&"é".repeat(300_002));
        assert_eq!(small.windows(300_002, &policy).0.len(), 300_002);
        let large = body(&"é".repeat(400_000));
        let (head, tail) = large.windows(400_000, &policy);
        // A notice at the end extends the windows.
        assert_eq!((head.len(), tail.len()), (earlier::LONGEST, 300_002 + earlier::LONGEST));
    }

    #[test]
    fn searched_windows_are_aligned_and_split_no_pair() {
        let policy = Policy { limits: Limits { bytes: 9_000, ..Limits::NONE }, ..Policy::default() };
        let line = "0123456789abcdef\n";
        let text = line.repeat((20 << 20) / line.len());
        let (head, tail) = body(&text).searched(text.len(), &policy);
        assert!(head.len() > (4 << 20) - line.len() && head.len() <= 4 << 20);
        assert!(tail.len() > (12 << 20) - line.len() && tail.len() <= 12 << 20);
        assert_eq!((head.last(), tail.first()), (Some(&NEWLINE), Some(&u16::from(b'0'))));
        let text = "x".to_owned() + &"😀".repeat(10 << 20);
        let (head, tail) = body(&text).searched(1 + (20 << 20), &policy);
        assert_eq!(head.len(), (4 << 20) - 1);
        assert_eq!(tail.len(), 12 << 20);
        let text = "😀".repeat(10 << 20) + "x";
        let (head, tail) = body(&text).searched(1 + (20 << 20), &policy);
        assert_eq!((head.len(), tail.len()), (4 << 20, (12 << 20) - 1));
    }

    #[test]
    fn notices_and_marks_prevent_folding() {
        for cut in [
            "x [tool output truncated: 7",
            "[... 12 more characters truncated]",
            "a [... 9 chars omitted] b",
            "... (1,234 chars truncated from out)",
            "[+12 chars]\r\n",
            "[+1 chars]",
            "[+1 chars]\u{2028}",
            "a\n[...]\nb",
            "a\r[...]\nb",
            "a\u{2028}[...]\u{2029}b",
        ] {
            assert!(was_cut(cut.as_bytes()), "{cut:?}");
        }
        for whole in [
            "[... x chars omitted]",
            "[+12 chars] b",
            "[... 1,2 chars omitted]",
            "... ( chars truncated from",
            "[+ chars]",
            "a [...]",
            "[...] a",
        ] {
            assert!(!was_cut(whole.as_bytes()), "{whole:?}");
        }
    }
}
