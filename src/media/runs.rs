//! Finds base64 in a text: data URLs, and long runs whose first bytes identify a file type.

use super::base64::{decode, decoded, is_base64, is_line_end};
use super::item::Item;
use super::sniff::{Medium, goes_on, sniff};
use super::{PREFIX, is_name};
use multiversion::multiversion;
use std::ops::Range;

/// A payload in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadRun {
    /// The units to replace, including the prefix of a data URL.
    pub range: Range<usize>,
    pub medium: Option<Medium>,
    /// The type that a data URL names.
    pub said: Option<String>,
    /// Bytes of the payload, decoded.
    pub bytes: usize,
}

impl PayloadRun {
    /// Returns its measures. A provider reads it as text, whatever it is.
    pub fn item(&self) -> Item {
        Item { bytes: self.bytes, ..Item::default() }
    }

    /// Returns the words that replace it.
    pub fn words(&self) -> String {
        super::words(self.medium, self.said.as_deref(), self.bytes)
    }
}

/// Units of the shortest payload of a data URL, and of the shortest bare one.
const SHORTEST: usize = 1_024;
const SHORTEST_BARE: usize = 4_096;
/// Distance between the units that are examined. No payload fits between two of them.
const STEP: usize = SHORTEST / 2;
/// Units of the shortest line of a payload in lines.
const SHORTEST_LINE: usize = 40;
/// Units decoded to identify a payload, and to find the size of an image. Some cameras write 64 KiB
/// first.
const HEADS: [usize; 2] = [4_096, 131_072];

/// Finds the payloads of a text, in order.
pub fn runs<U: Copy + Into<u16>>(text: &[U]) -> Vec<PayloadRun> {
    let (mut found, mut at, mut done) = (vec![], STEP / 2, 0);
    while at < text.len() {
        // Every examined unit may be the end of a line of a payload.
        let ends = text[at..].iter().take(2).take_while(|unit| is_line_end((**unit).into())).count();
        if text.get(at + ends).is_some_and(|unit| is_base64((*unit).into())) {
            let line = around(text, at + ends, done);
            let (run, end) =
                url(text, &line, done).map_or_else(|| bare(text, &line, done), |run| (Some(run), 0));
            done = run.as_ref().map_or(end, |run| run.range.end);
            found.extend(run);
        }
        at = at.max(done) + STEP;
    }
    found
}

/// Returns the base64 around a unit, from `floor` on.
fn around<U: Copy + Into<u16>>(text: &[U], at: usize, floor: usize) -> Range<usize> {
    let before = text[floor..at].iter().rev().take_while(|unit| is_base64((**unit).into())).count();
    at - before..end_of(text, at)
}

/// Returns the end of the base64 that starts at `from`.
fn end_of<U: Copy + Into<u16>>(text: &[U], from: usize) -> usize {
    let whole = from + whole_chunks(&text[from..]);
    whole + text[whole..].iter().take_while(|unit| is_base64((**unit).into())).count()
}

/// Returns the units of base64 that a text starts with, up to those of a last chunk.
#[multiversion(targets("x86_64+avx2"))]
fn whole_chunks<U: Copy + Into<u16>>(text: &[U]) -> usize {
    const WIDE: usize = 64;
    // Without a branch for each unit, so that the compiler tests many at once.
    let is_whole = |chunk: &&[U]| chunk.iter().fold(true, |all, unit| all & is_base64((*unit).into()));
    text.chunks_exact(WIDE).take_while(is_whole).count() * WIDE
}

/// Returns the end of a payload with its padding.
fn padded<U: Copy + Into<u16>>(text: &[U], end: usize) -> usize {
    end + text[end..].iter().take(2).take_while(|unit| (**unit).into() == u16::from(b'=')).count()
}

/// Identifies a payload. Reads more than its start only if the size of an image is not there.
fn medium_of<U: Copy + Into<u16>>(payload: &[U]) -> Option<Medium> {
    let mut head = HEADS[0];
    loop {
        let start = decode(&payload[..payload.len().min(head)]);
        let medium = sniff(&start)?;
        let is_read = medium.size.is_some() || !medium.kind.starts_with("image/") || payload.len() <= head;
        if is_read || head >= HEADS[1] && !goes_on(&start) {
            return Some(medium);
        }
        head = if head < HEADS[1] { HEADS[1] } else { head * 8 };
    }
}

/// Returns the data URL with this payload.
fn url<U: Copy + Into<u16>>(text: &[U], payload: &Range<usize>, floor: usize) -> Option<PayloadRun> {
    if payload.len() < SHORTEST {
        return None;
    }
    let before = &text[payload.start.saturating_sub(PREFIX).max(floor)..payload.start];
    let before: Vec<u8> = before.iter().map(|unit| u8::try_from((*unit).into()).unwrap_or(b' ')).collect();
    let name = before.strip_suffix(b";base64,")?;
    let start = memchr::memmem::rfind(name, b"data:")?;
    let said = std::str::from_utf8(&name[start + 5..]).ok()?.split(';').next()?;
    if !(said.is_empty() || is_name(said)) {
        return None;
    }
    Some(PayloadRun {
        range: payload.start - (before.len() - start)..padded(text, payload.end),
        medium: medium_of(&text[payload.start..payload.end]),
        said: (!said.is_empty()).then(|| said.to_owned()),
        bytes: decoded(payload.len()),
    })
}

/// Returns the bare payload that contains this line: alone if it is long, otherwise with the lines
/// of equal length before and after. Also returns the end of those lines, so that none is read
/// twice.
fn bare<U: Copy + Into<u16>>(text: &[U], line: &Range<usize>, floor: usize) -> (Option<PayloadRun>, usize) {
    let width = line.len();
    let (mut start, mut end, mut units) = (line.start, line.end, width);
    let mut whole = end;
    if (SHORTEST_LINE..SHORTEST_BARE).contains(&width) {
        while let Some(above) = line_end_before(text, start, floor).filter(|end| end - floor >= width) {
            if around(text, above - 1, floor) != (above - width..above) {
                break;
            }
            start = above - width;
            units += width;
        }
        while let Some(below) = line_start_after(text, end) {
            let next = end_of(text, below) - below;
            if next == 0 || next > width {
                break;
            }
            end = below + next;
            units += next;
            if next < width {
                break;
            }
            whole = end;
        }
    }
    let medium = match units {
        SHORTEST_BARE.. => medium_of(&text[start..end]),
        _ => None,
    };
    let range = start..padded(text, end);
    (medium.map(|_| PayloadRun { range, medium, said: None, bytes: decoded(units) }), whole)
}

/// Returns the end of the line before the line at `start`.
fn line_end_before<U: Copy + Into<u16>>(text: &[U], start: usize, floor: usize) -> Option<usize> {
    let ends =
        text[floor..start].iter().rev().take(2).take_while(|unit| is_line_end((**unit).into())).count();
    (ends > 0).then_some(start - ends)
}

/// Returns the start of the line after the line that ends at `end`.
fn line_start_after<U: Copy + Into<u16>>(text: &[U], end: usize) -> Option<usize> {
    let ends = text[end..].iter().take(2).take_while(|unit| is_line_end((**unit).into())).count();
    (ends > 0).then_some(end + ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Base64 of a PNG of 3 x 2, of so many chars.
    fn png(chars: usize) -> String {
        let head = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAAC";
        head.to_owned() + &"Ab3/".repeat(chars / 4)[..chars - head.len()]
    }

    fn found(text: &str) -> Vec<(&str, usize)> {
        let runs = runs(text.as_bytes());
        let wide: Vec<u16> = text.encode_utf16().collect();
        if text.is_ascii() {
            assert_eq!(super::runs(&wide), runs);
        }
        runs.into_iter().map(|run| (&text[run.range], run.bytes)).collect()
    }

    #[test]
    fn data_urls_are_found_with_their_words() {
        let url = format!("data:image/png;name=a;base64,{}", png(2_000) + "==");
        let text = format!("see {url}) and data:image/png;base64,{}", png(1_000));
        assert_eq!(found(&text), [(&url[..], 1_500)]);
        assert_eq!(found(&format!("{url}{url}")).len(), 2);
        let run = runs(format!("data:text/plain;base64,{}", "Zm9v".repeat(300)).as_bytes()).remove(0);
        assert_eq!((run.medium, run.said.as_deref(), run.bytes), (None, Some("text/plain"), 900));
    }

    #[test]
    fn bare_runs_are_found_by_their_first_bytes() {
        let (run, random) = (png(4_096) + "=", "Ab3/".repeat(4_096));
        assert_eq!(found(&format!("<{run}> {random}")), [(&run[..], 3_072)]);
        assert_eq!(found(&png(4_095)), []);
        let medium = runs(run.as_bytes())[0].medium.unwrap();
        assert_eq!((medium.kind, medium.size), ("image/png", Some((3, 2))));
    }

    #[test]
    fn lines_of_equal_length_are_one_run() {
        let body = png(5_000);
        let lines: Vec<&str> = (0..5_000).step_by(76).map(|at| &body[at..(at + 76).min(5_000)]).collect();
        for end in ["\n", "\r\n"] {
            let run = lines.join(end) + "==";
            assert_eq!(found(&format!("Screenshot{end}{run}{end}done{end}")), [(&run[..], 3_750)]);
        }
        let words = "Screenshot\n".repeat(2_000);
        assert_eq!(found(&words), []);
    }

    #[test]
    fn lines_are_found_at_any_place_and_width() {
        let body = png(5_000);
        for (width, end) in [(63, "\n"), (62, "\r\n"), (127, "\n"), (126, "\r\n"), (255, "\n"), (511, "\n")] {
            let lines: Vec<&str> =
                (0..5_000).step_by(width).map(|at| &body[at..(at + width).min(5_000)]).collect();
            let run = lines.join(end);
            for before in 1..=width + end.len() {
                let text = format!("{}{run}", " ".repeat(before));
                assert_eq!(found(&text), [(&run[..], 3_750)], "{width} {before}");
            }
        }
    }

    thread_local! {
        static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    /// A unit that counts how often units are read.
    #[derive(Clone, Copy)]
    struct Counted(u8);

    impl From<Counted> for u16 {
        fn from(unit: Counted) -> u16 {
            READS.set(READS.get() + 1);
            unit.0.into()
        }
    }

    #[test]
    fn no_unit_is_read_over_and_over() {
        let line = "0123456789abcdef".repeat(4);
        for text in [line.clone() + "\n", line.clone() + "\r\n", line.clone() + " ", line, "ab ".into()] {
            let units: Vec<Counted> = text.bytes().cycle().take(300_000).map(Counted).collect();
            READS.set(0);
            assert_eq!(super::runs(&units), []);
            assert!(READS.get() < 12 * units.len(), "{text:?}: {}", READS.get());
        }
    }

    #[test]
    fn a_url_follows_lines_of_another_kind() {
        let url = format!("data:image/png;base64,{}", png(2_000));
        assert_eq!(
            found(&format!("{}{url}", "0123456789abcdef0123456789abcdef0123456789abcdef\n".repeat(200)))
                .len(),
            1
        );
    }

    proptest! {
        #[test]
        fn runs_are_found_wherever_they_stand(
            before in "[ a-z\n]{0,3000}", chars in 4_096..9_000usize, after in "[ a-z\n]{0,3000}",
        ) {
            let run = png(chars);
            let text = format!("{before} {run} {after}");
            prop_assert_eq!(found(&text), [(&run[..], decoded(chars))]);
        }

        #[test]
        fn no_text_panics(parts in prop::collection::vec(
            prop_oneof!["[A-Za-z0-9+/=\r\n]{0,90}", "data:[a-z/;]{0,9}base64,", Just(png(4_100)), ".{0,40}"], 0..60,
        )) {
            let text = parts.concat();
            let mut end = 0;
            for run in runs(text.as_bytes()) {
                prop_assert!(run.range.start >= end && run.range.len() >= SHORTEST);
                prop_assert!(text.get(run.range.clone()).is_some());
                end = run.range.end;
            }
        }
    }
}
