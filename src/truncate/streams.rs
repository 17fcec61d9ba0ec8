//! A cut of each stream in a text of two, which share the room as in their first cut. Labels and
//! the exit line stay, and each notice counts from its own stream.

use std::ops::{Add, Range};

use super::figures::{KeptLines, KeptParts};
use super::input::{Input, raw_size};
use super::long_lines::has_long_line;
use super::sides::Sides;
use super::{Cut, Terms, truncate_lines};
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::fair::split_fairly;
use crate::limits::Usage;
use crate::notice::Notice;
use crate::notice::earlier::{NoticeAmounts, SEARCHED};
use crate::notice::saved::SavedPart;
use crate::notice::streams::{LABEL, streams};
use crate::policy::Keep;

/// Returns the streams in a text, or nothing if it is one text.
pub fn of<T: Text>(input: &Input<T>, terms: Terms) -> Vec<Range<usize>> {
    let looks = !input.fresh && *terms.notice != Notice::None;
    if looks && input.is_whole() && input.total <= SEARCHED { streams(input.head) } else { vec![] }
}

/// Cuts the streams of a text. Returns `None` without streams, or without room for the labels and a
/// notice of each stream.
pub fn cut<T: Text>(input: &Input<T>, streams: &[Range<usize>], terms: Terms) -> Option<Cut> {
    let cut = cut_to(input, streams, terms)?;
    let has_notice = |stream: &Range<usize>| {
        Input::whole(input.head.slice(stream.clone())).told() != NoticeAmounts::default()
    };
    let within = terms.within(input, streams.iter().any(has_notice), &cut);
    Some(within.and_then(|within| cut_to(input, streams, within)).unwrap_or(cut))
}

fn cut_to<T: Text>(input: &Input<T>, streams: &[Range<usize>], terms: Terms) -> Option<Cut> {
    if streams.is_empty() || input.has_marks() || input.beside != Size::default() {
        return None;
    }
    let (text, limits) = (input.head, &terms.limits);
    let taken = |part: T| Extent::of(part, limits).usage();
    let label = |stream: &Range<usize>| text.slice(stream.start - LABEL..stream.start);
    let framed = streams.iter().map(|stream| taken(label(stream))).fold(Usage::default(), Usage::plus);
    let sizes: Vec<Usage> = streams.iter().map(|stream| taken(text.slice(stream.clone()))).collect();
    // The newline before a label ends a line that is counted, but may cost a token, as a split of a
    // line does.
    let all = raw_size(text);
    let notice = terms.notice.largest(all, terms.labels(input.in_bytes(), &SavedPart::Nowhere));
    let notice = Extent::of(Utf8(notice.as_bytes()), limits).usage();
    let notice = Usage { tokens: notice.tokens + 2, ..notice };
    let newline = Usage { bytes: 1, chars: 1, tokens: 1, lines: 0 };
    let rooms = split_fairly(&sizes, notice, &limits.less(framed.plus(newline)));
    // A text with one notice may have lost text of both streams in a cut of all of it: as long as
    // the other stream stays whole, the notice counts from both.
    let is_whole = |at: usize| {
        let part = text.slice(streams[at].clone());
        Extent::of(part, limits).fits(&rooms[at]) && Input::whole(part).told() == NoticeAmounts::default()
    };
    let apart = |stream: usize| {
        let others = (0..streams.len()).filter(|&other| other != stream);
        if others.clone().all(is_whole) {
            others.map(|other| raw_size(text.slice(streams[other].clone()))).fold(Size::default(), Size::add)
        } else {
            Size::default()
        }
    };
    let (mut made, mut at) = (Joined::default(), 0);
    for (nth, (stream, &room)) in streams.iter().zip(&rooms).enumerate() {
        // The newline behind a notice belongs to no stream.
        made.before = made.before + raw_size(text.slice(at..stream.start - LABEL));
        at = stream.end;
        made.keep(label(stream));
        let whole = Input::whole(text.slice(stream.clone()));
        let part = Input { named: input.named, apart: apart(nth), ..whole };
        match truncate_lines(&part, Terms { limits: room, ..terms }) {
            None => made.keep(part.head),
            Some(cut) if cut.notice.is_empty() => return None,
            Some(cut) => made.add(&part, &cut),
        }
    }
    if made.notice.is_empty() {
        return None;
    }
    let cut = made.finish(terms.policy.keep, all.lines(input.is_open()))?;
    let whole = Utf8(cut.middle.as_bytes());
    let fits = Extent::of(whole, limits).fits(limits) && !has_long_line(whole, limits.line_bytes);
    fits.then_some(cut)
}

/// The result so far.
#[derive(Default)]
struct Joined {
    /// The size of the text up to here.
    before: Size,
    text: Vec<u8>,
    notice: Range<usize>,
    kept: KeptParts,
}

impl Joined {
    /// Keeps a part of the text whole, on a line of its own.
    fn keep<T: Text>(&mut self, part: T) {
        if self.text.last().is_some_and(|byte| *byte != b'\n') {
            self.text.push(b'\n');
        }
        part.each_utf8(&mut |piece| self.text.extend_from_slice(piece));
        let size = raw_size(part);
        let lines = (1, size.lines(!part.is_empty() && !part.ends_with_newline()));
        self.note(size, std::iter::once(0..size.chars).collect(), size, vec![lines]);
    }

    /// Adds the cut of a stream.
    fn add<T: Text>(&mut self, input: &Input<T>, cut: &Cut) {
        let start = Utf8(&self.text).size().chars;
        self.notice = start + cut.notice.start..start + cut.notice.end;
        self.text.extend_from_slice(&cut.utf8(input));
        let KeptParts { ranges, size, lines, .. } = cut.kept(input);
        self.note(raw_size(input.head), ranges, size, lines.ranges);
    }

    fn note(&mut self, size: Size, ranges: Vec<Range<usize>>, kept: Size, lines: Vec<(usize, usize)>) {
        let Size { chars, newlines, .. } = self.before;
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        self.kept.ranges.extend(ranges.map(|range| chars + range.start..chars + range.end));
        let lines = lines.into_iter().filter(|(first, last)| first <= last);
        self.kept.lines.ranges.extend(lines.map(|(first, last)| (newlines + first, newlines + last)));
        self.kept.size = self.kept.size + kept;
        self.before = self.before + size;
    }

    fn finish(self, keep: Keep, lines: usize) -> Option<Cut> {
        let KeptParts { ranges, size, lines: KeptLines { ranges: kept, .. }, .. } = self.kept;
        let lines = KeptLines { ranges: kept, total: lines };
        Some(Cut {
            keep,
            sides: Sides::default(),
            middle: String::from_utf8(self.text).ok()?,
            notice: self.notice,
            within: Some(KeptParts { ranges, size, lines, reasons: None }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Utf16;
    use crate::limits::Limits;
    use crate::policy::Policy;
    use crate::truncate::truncate;

    fn cut_to(text: &str, keep: Keep, chars: usize) -> Option<String> {
        let limits = Limits { chars, ..Limits::NONE };
        let policy = Policy { limits, keep, notice: Notice::Hint, ..Policy::default() };
        let units: Vec<u16> = text.encode_utf16().collect();
        let input = Input::whole(Utf16(&units));
        truncate(&input, &policy).map(|cut| cut.string(&input))
    }

    #[test]
    fn each_stream_counts_from_its_own_whole() {
        for keep in [Keep::Head, Keep::Tail, Keep::Ends, Keep::Findings, Keep::Relevant] {
            let stream = |name: &str, lines| {
                let text: String = (0..lines).map(|at| format!("{name} {at}\n")).collect();
                (text.len(), cut_to(&text, keep, 3_000).unwrap())
            };
            let ((out, one), (err, two)) = (stream("out", 2_000), stream("error", 3_000));
            let mut text = format!("stderr:\n{two}\nstdout:\n{one}\n[exit code 1]");
            for chars in [4_000, 2_000, 900, 600] {
                text = cut_to(&text, keep, chars).unwrap();
                let number = |rest: &str| rest.split(' ').next()?.replace(',', "").parse().ok();
                let totals: Vec<usize> = text.split(" of ").skip(1).filter_map(number).collect();
                // Each cut may count a newline beside a notice or a label as part of either.
                let is_near = |(told, whole): (&usize, usize)| told.abs_diff(whole) <= 4;
                assert_eq!(totals.len(), 2, "{keep:?} {chars}: {text}");
                assert!(totals.iter().zip([err, out]).all(is_near), "{keep:?} {chars}: {text}");
                assert!(text.starts_with("stderr:\n") && text.contains("\nstdout:\n"), "{text}");
                assert!(text.ends_with("\n[exit code 1]"), "{text}");
                assert_eq!(cut_to(&text, keep, chars), None);
            }
        }
    }

    #[test]
    fn a_notice_of_more_lines_adds_none_to_what_was_cut_before() {
        let notice = "[tool output truncated: 3,589 of 3,624 chars omitted (limit 12 lines); full output saved as \
                      64c22287695f160e, page or search it with read_output]";
        let error: String = (0..5).map(|at| format!("line {at} of stderr\n")).collect();
        let first = format!("stdout:\nline 1\n[... 194 lines ...]\nline 199\n\n{notice}\nstderr:\n{error}");
        for chars in 200..first.len() {
            let limits = Limits { chars, lines: 13, ..Limits::NONE };
            let policy = Policy { limits, keep: Keep::Auto, notice: Notice::Pi, ..Policy::default() };
            let input = Input::whole(Utf8(first.as_bytes()));
            let second = truncate(&input, &policy).map(|cut| cut.string(&input)).unwrap();
            assert!(second.lines().count() <= first.lines().count(), "{chars}: {second}");
        }
    }

    #[test]
    fn one_notice_counts_from_both_streams() {
        let stream = |name: &str, lines| (0..lines).map(|at| format!("{name} {at}\n")).collect::<String>();
        let whole = format!("stdout:\n{}stderr:\n{}", stream("out", 40), stream("error", 400));
        let number = |rest: &str| rest.split(' ').next()?.replace(',', "").parse().ok();
        let mut text = cut_to(&whole, Keep::Tail, 3_000).unwrap();
        text = format!("stdout:\n{}stderr:\n{text}", stream("out", 40));
        for chars in [2_500, 2_000] {
            text = cut_to(&text, Keep::Head, chars).unwrap();
            let totals: Vec<usize> = text.split(" of ").skip(1).filter_map(number).collect();
            assert_eq!(totals.len(), 1, "{text}");
            assert!(
                totals[0].abs_diff(whole.len() + stream("out", 40).len()) <= 40,
                "{totals:?} {}",
                whole.len()
            );
        }
    }
}
