//! Puts together what a search keeps: the kept text in document order, a mark in each gap, and the notice last.

use std::borrow::Cow;
use std::ops::Range;

use super::Findings;
use super::body::Body;
use super::choice::{Choice, Piece};
use super::old::Old;
use super::shelf::{Finding, Worth};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::room::Taken;
use crate::text::amounts::{Amount, Counts, grouped, line_ranges};
use crate::text::extent::Extent;
use crate::text::figures::{Cutting, KeptLines};
use crate::text::lines::{Span, longest_line};
use crate::text::notice::{Notice, Place};
use crate::text::size::Size;
use crate::text::source::{Source, bytes_in};
use crate::text::units::Text;
use crate::text::utf8::Utf8;

/// A text of which the findings and some of both ends are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub text: String,
    /// Where the notice stands in it, in chars.
    pub notice: Range<usize>,
    /// Kept parts of the input, in chars, and their size; marks in lines that were cut before are not counted.
    pub ranges: Vec<Range<usize>>,
    pub kept: Size,
    pub lines: KeptLines,
}

/// Tells the bytes of parts of an input, given in chars.
type BytesOf<'a> = &'a dyn Fn(&[Range<usize>]) -> usize;

/// What is asked of a search.
#[allow(missing_debug_implementations, reason = "a closure has no debug form")]
pub struct Request<'a> {
    pub limits: &'a Limits,
    /// What the notice names beside the amounts.
    pub policy: &'a Policy,
    pub notice: &'a Notice,
    /// Size of the input, and the bytes of its parts where they are not those of the text.
    pub totals: Size,
    pub bytes_of: Option<BytesOf<'a>>,
    pub in_bytes: bool,
    /// Marks in lines that were cut before, in chars, where the search was not told of them.
    pub marks: &'a [Span],
    /// Notices and marks in the text are its own.
    pub fresh: bool,
    /// What else the notice answers for.
    pub beside: Size,
}

impl<'a> Request<'a> {
    /// A text of this size under the limits and with the notice of a policy.
    pub fn of(policy: &'a Policy, totals: Size) -> Self {
        let (limits, notice) = (&policy.limits, &policy.notice);
        let (bytes_of, in_bytes, beside) = (None, false, Size::default());
        Request { limits, policy, notice, totals, bytes_of, in_bytes, marks: &[], fresh: false, beside }
    }
}

/// Searches a text and clamps it to limits of its own; `None` when nothing was found, or nothing of it has room.
pub fn clamp<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Found> {
    let mut findings = Findings::new(limits, &policy.needles);
    let mut totals = source.totals.unwrap_or_default();
    source.head.each_utf8(&mut |text| findings.push(text));
    if !source.is_whole() {
        findings.skip(totals - source.head.size() - source.tail.size());
        source.tail.each_utf8(&mut |text| findings.push(text));
    }
    findings.finish();
    if source.totals.is_none() {
        totals = Size {
            bytes: if T::UTF16 { findings.state.size.bytes } else { source.total },
            ..findings.state.size
        };
    }
    let bytes_of = |ranges: &[Range<usize>]| match source.input {
        Some(input) => input.bytes_of(ranges),
        None => bytes_in(source.head, ranges),
    };
    let is_broken = !T::UTF16 && findings.state.size.bytes != source.total;
    findings.clamp(&Request {
        limits,
        notice,
        bytes_of: if is_broken || source.input.is_some() { Some(&bytes_of) } else { None },
        in_bytes: source.in_bytes(),
        marks: source.marks,
        fresh: source.fresh,
        beside: source.beside,
        ..Request::of(policy, totals)
    })
}

/// More rounds than the digits of a number can change.
const ROUNDS: usize = 6;

impl Findings {
    /// Clamps the text that the search has seen to the end. `None` when nothing was found, or when the limits are too
    /// small for any of it.
    pub fn clamp(&self, request: &Request) -> Option<Found> {
        self.state.shelf.findings().next()?;
        let looks = !request.fresh && *request.notice != Notice::None;
        let old = if looks { self.old_notices() } else { Old::default() };
        let pieces = self.pieces(&old);
        let last = pieces.last()?.unit.number;
        let sizes = pieces.iter().map(|piece| piece.size(last, request.limits)).collect();
        let composer = Composer { findings: self, request, old, pieces, sizes, last };
        let ladder = request.notice.ladder().chain([Cow::Owned(Notice::None)]);
        ladder.into_iter().find_map(|notice| composer.with_notice(&notice))
    }
}

struct Composer<'a> {
    findings: &'a Findings,
    request: &'a Request<'a>,
    old: Old,
    pieces: Vec<Piece<'a>>,
    sizes: Vec<Taken>,
    last: usize,
}

impl Composer<'_> {
    /// The clamped text with this notice, unless there is no room for both.
    fn with_notice(&self, notice: &Notice) -> Option<Found> {
        let mut text = self.render(notice, &self.at_least());
        for _ in 0..ROUNDS {
            let room = self.room_beside(notice, &text)?;
            let body = self.compose(room, !separator(notice, &text).is_empty())?;
            let next = self.render(notice, &self.counts(&body));
            // Less room than was made for it is enough.
            if self.taken(&next).minus(self.taken(&text)) == Taken::default() {
                return self.finish(notice, &next, body);
            }
            text = next;
        }
        None
    }

    fn finish(&self, notice: &Notice, text: &str, body: Body) -> Option<Found> {
        let lines = self.kept_lines(&body);
        let marks = self.kept_marks(&body);
        let bytes = self.kept_bytes(&body, marks);
        let before = Utf8(&body.text).size().chars + separator(notice, text).len();
        let all = [String::from_utf8(body.text).ok()?.as_str(), separator(notice, text), text].concat();
        let limits = self.request.limits;
        let fits = Extent::of(Utf8(all.as_bytes()), limits).fits(limits);
        (fits && longest_line(&all) <= limits.line_bytes).then(|| Found {
            notice: before..before + text.encode_utf16().count(),
            text: all,
            kept: Size { bytes, chars: body.kept.chars - marks.chars, ..body.kept },
            ranges: body.ranges,
            lines,
        })
    }

    fn compose(&self, room: Limits, separated: bool) -> Option<Body> {
        let mut choice = Choice::new(&self.pieces, &self.sizes, self.last, self.largest_mark(), room);
        choice.keep_ends();
        let findings = self.findings.state.shelf.findings().filter(|finding| finding.unit <= self.last);
        // What has come again and again gets the room that is left when the others have theirs.
        let (new, again): (Vec<&Finding>, Vec<&Finding>) =
            findings.partition(|finding| finding.worth >= Worth::NEW);
        let mut found = false;
        for findings in [new, again] {
            let kept: Vec<_> = findings.into_iter().filter(|finding| choice.keep_finding(finding)).collect();
            found |= !kept.is_empty();
            choice.keep_headings(&kept);
            choice.widen(&kept);
        }
        if !found {
            return None;
        }
        choice.keep_rest();
        let mut body = Body::default();
        let mut before: Option<&Piece> = None;
        let mut kept: Vec<_> = choice.kept().collect();
        // Of a last line that is nothing but the newline which gives way, nothing would be left but a gap before it.
        if separated
            && let [.., before, last] = kept[..]
            && (last.text, last.unit.number) == (b"\n", self.last)
            && before.unit.number + 1 != self.last
        {
            kept.pop();
        }
        for piece in kept {
            self.mark_gap(&mut body, before, Some(piece));
            body.add(piece, self.old.size_of(piece.unit.number, piece.text));
            before = Some(piece);
        }
        self.mark_gap(&mut body, before, None);
        if separated {
            body.drop_newline(before.is_some_and(|piece| piece.unit.number == self.last));
        }
        Some(body)
    }

    /// Marks what is missing between two pieces, or between a piece and an end of the text.
    fn mark_gap(&self, body: &mut Body, before: Option<&Piece>, after: Option<&Piece>) {
        let next = before.map_or(0, |piece| piece.unit.number + 1);
        if next == after.map_or(self.last + 1, |piece| piece.unit.number) {
            return;
        }
        let all = self.findings.state.size;
        let first = before.map_or(0, |piece| piece.unit.line + 1);
        let last = after.map_or(all.lines(self.is_open()), |piece| piece.unit.line);
        let start = before.map_or(0, |piece| piece.unit.char + piece.unit.chars);
        let end = after.map_or(all.chars, |piece| piece.unit.char);
        body.add_mark(last.saturating_sub(first), end - start);
    }

    /// What a mark takes at most, with the newline that ends a piece of a line before it.
    fn largest_mark(&self) -> Taken {
        let mark = format!("\n[... {} chars ...]\n", grouped(self.findings.state.size.chars));
        let in_pieces =
            self.pieces.iter().any(|piece| !piece.unit.ends_line && piece.unit.number != self.last);
        Taken { lines: if in_pieces { 2 } else { 1 }, ..self.taken(&mark) }
    }

    fn is_open(&self) -> bool {
        self.findings.state.last.is_some_and(|last| !last.ends_line)
    }

    /// What the limits leave beside the notice and its separator.
    fn room_beside(&self, notice: &Notice, text: &str) -> Option<Limits> {
        let separator = separator(notice, text);
        let mut taken = self.taken(&[separator, text].concat());
        if separator.starts_with('\n') {
            // It ends the line before it, which has been counted.
            taken.lines -= 1;
        }
        taken.within(self.request.limits).then(|| taken.rest_of(self.request.limits))
    }

    fn taken(&self, text: &str) -> Taken {
        Taken::of(Extent::of(Utf8(text.as_bytes()), self.request.limits))
    }

    fn render(&self, notice: &Notice, counts: &Counts) -> String {
        notice.render(Place::AfterHead, counts, self.request.policy.labels(self.in_bytes()))
    }

    fn in_bytes(&self) -> bool {
        self.request.in_bytes || self.old.in_bytes
    }

    fn at_least(&self) -> Counts {
        let Request { totals, beside, limits, .. } = self.request;
        Counts::at_least(*totals, *beside, self.old.hidden, limits)
    }

    fn counts(&self, body: &Body) -> Counts {
        let Request { totals, beside, .. } = self.request;
        let notices = self.old.sizes.iter().fold(self.old.marks, |sum, size| sum + *size);
        let marks = self.kept_marks(body);
        let amount = |of: fn(&Size) -> usize, kept: usize| {
            let cutting = Cutting {
                total: of(totals),
                kept,
                beside: of(beside),
                hidden: self.old.hidden,
                notices: of(&notices),
                kept_notices: of(&body.old),
            };
            cutting.amount()
        };
        let bytes = self.kept_bytes(body, marks);
        let lines = self.kept_lines(body);
        let missing = lines.total - lines.kept() + beside.newlines;
        Counts {
            chars: amount(|size| size.chars, body.kept.chars.saturating_sub(marks.chars)),
            bytes: amount(|size| size.bytes, bytes),
            lines: Amount { omitted: missing, total: lines.total + beside.newlines },
            kept_lines: line_ranges(lines.ranges),
        }
    }

    fn kept_lines(&self, body: &Body) -> KeptLines {
        KeptLines { ranges: body.lines.clone(), total: self.request.totals.lines(self.is_open()) }
    }

    /// Bytes of the input that are kept, marks not counted.
    fn kept_bytes(&self, body: &Body, marks: Size) -> usize {
        self.request.bytes_of.map_or(body.kept.bytes.saturating_sub(marks.bytes), |of| of(&body.ranges))
    }

    /// What of the kept text is not the input's.
    fn kept_marks(&self, body: &Body) -> Size {
        let is_kept = |mark: &&Span| {
            let at = body.ranges.partition_point(|range| range.end < mark.end);
            body.ranges.get(at).is_some_and(|range| range.start <= mark.start)
        };
        self.request.marks.iter().filter(is_kept).fold(body.foreign, |sum, mark| sum + mark.size)
    }
}

fn separator(notice: &Notice, text: &str) -> &'static str {
    if text.is_empty() { "" } else { notice.separators(Place::AfterHead).0 }
}
