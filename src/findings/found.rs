//! Assembles the result of a search: kept text in document order, a mark in each gap, and the notice at the end.

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
use crate::text::clamp::closing_rooms;
use crate::text::earlier::Closing;
use crate::text::extent::Extent;
use crate::text::figures::{Cutting, KeptLines};
use crate::text::lines::longest_line;
use crate::text::notice::{Notice, Place};
use crate::text::size::Size;
use crate::text::source::{Source, bytes_in};
use crate::text::units::Text;
use crate::text::utf8::Utf8;

/// A text truncated to its findings and parts of both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub text: String,
    /// The position of the notice in the text, in chars.
    pub notice: Range<usize>,
    /// Kept parts of the input in chars, and their size, excluding marks in lines that were cut before.
    pub ranges: Vec<Range<usize>>,
    pub kept: Size,
    pub lines: KeptLines,
    /// The notice is followed by the continuation hint with which another tool ended its output.
    pub closes: bool,
}

/// Returns the bytes of input ranges given in chars.
type BytesOf<'a> = &'a dyn Fn(&[Range<usize>]) -> usize;

/// The parameters of a search's result.
#[allow(missing_debug_implementations, reason = "a closure has no debug form")]
pub struct Request<'a> {
    pub limits: &'a Limits,
    /// Supplies the labels of the notice.
    pub policy: &'a Policy,
    pub notice: &'a Notice,
    /// Size of the input, and a measure of its bytes if they differ from those of the text.
    pub totals: Size,
    pub bytes_of: Option<BytesOf<'a>>,
    pub in_bytes: bool,
    /// Ignore notices and marks in the text; they are not from an earlier cut.
    pub fresh: bool,
    /// Size of further input that the notice accounts for.
    pub beside: Size,
}

impl<'a> Request<'a> {
    /// Creates a request with a policy's limits and notice, for an input of size `totals`.
    pub fn of(policy: &'a Policy, totals: Size) -> Self {
        let (limits, notice) = (&policy.limits, &policy.notice);
        let (bytes_of, in_bytes, beside) = (None, false, Size::default());
        Request { limits, policy, notice, totals, bytes_of, in_bytes, fresh: false, beside }
    }
}

/// Searches a text and truncates it. Returns `None` if there are no findings or they do not fit.
pub fn clamp<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Found> {
    let mut findings = Findings::new(limits, &policy.needles);
    let mut totals = source.totals.unwrap_or_default();
    let mut from = 0;
    for mark in source.marks {
        source.head.slice(from..mark.start).each_utf8(&mut |text| findings.push(text));
        source.head.slice(mark.start..mark.end).each_utf8(&mut |text| findings.push_mark(text));
        from = mark.end;
    }
    source.head.slice(from..source.head.len()).each_utf8(&mut |text| findings.push(text));
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
    // Invalid UTF-8 becomes longer when decoded, and limits apply to the output.
    let out = if source.totals.is_none() { findings.state.size } else { totals };
    let policy = &*policy.naming(notice, |limits| source.with_totals(Some(out)).exceeded(limits));
    findings.clamp(&Request {
        limits,
        notice,
        bytes_of: if is_broken || source.input.is_some() { Some(&bytes_of) } else { None },
        in_bytes: source.in_bytes(),
        fresh: source.fresh,
        beside: source.beside,
        ..Request::of(policy, totals)
    })
}

/// Maximum attempts to fit a notice; digits of a number change in fewer.
const ROUNDS: usize = 6;

impl Findings {
    /// Truncates the text that was searched. Returns `None` if there are no findings or they do not fit.
    pub fn clamp(&self, request: &Request) -> Option<Found> {
        self.state.shelf.findings().next()?;
        self.closed(request).or_else(|| self.compose(request, None, ""))
    }

    /// Keeps another tool's continuation hint after the notice, as [`crate::text::clamp`] does.
    fn closed(&self, request: &Request) -> Option<Found> {
        let (recent, limits) = (self.state.recent.text(), request.limits);
        let closing =
            request.notice.closes().then(|| Closing::find(Utf8(recent), self.state.size.bytes))??;
        let end = &recent[recent.len() - (self.state.size.bytes - closing.start)..];
        let end = std::str::from_utf8(end).ok()?;
        let taken = Extent::of(Utf8(end.as_bytes()), limits);
        if !taken.fits(limits) {
            return None;
        }
        let line_break = if end.starts_with('\n') { "" } else { "\n" };
        closing_rooms(limits, taken, line_break.len()).find_map(|room| {
            let found = self.compose(&Request { limits: &room, ..*request }, Some(closing), end)?;
            if found.notice.is_empty() && *request.notice != Notice::None {
                return None;
            }
            let text = [&found.text, line_break, end].concat();
            let fits = Extent::of(Utf8(text.as_bytes()), limits).fits(limits);
            (fits && longest_line(&text) <= limits.line_bytes).then_some(Found { text, ..found })
        })
    }

    /// Composes the text before a kept end.
    fn compose(&self, request: &Request, closing: Option<Closing>, end: &str) -> Option<Found> {
        let looks = !request.fresh && *request.notice != Notice::None;
        let mut old = if looks { self.old_notices(end.len()) } else { Old::default() };
        old.cut_at_end += end.len();
        let pieces = self.pieces(&old);
        let last = pieces.last()?.unit.number;
        let sizes = pieces.iter().map(|piece| piece.size(last, request.limits)).collect();
        let composer = Composer { findings: self, request, old, pieces, sizes, last, closing, end };
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
    /// The end that is kept after the notice, or empty.
    closing: Option<Closing>,
    end: &'a str,
}

impl Composer<'_> {
    /// Returns the truncated text with this notice, or `None` if both do not fit.
    fn with_notice(&self, notice: &Notice) -> Option<Found> {
        let mut text = self.render(notice, &self.at_least());
        for _ in 0..ROUNDS {
            let room = self.room_beside(notice, &text)?;
            let body = self.compose(room, !separator(notice, &text).is_empty())?;
            let next = self.render(notice, &self.counts(&body));
            // Taking less room than was reserved is fine.
            if self.taken(&next).minus(self.taken(&text)) == Taken::default() {
                return self.finish(notice, &next, body);
            }
            text = next;
        }
        None
    }

    fn finish(&self, notice: &Notice, text: &str, body: Body) -> Option<Found> {
        let lines = self.kept_lines(&body);
        let bytes = self.kept_bytes(&body);
        let before = Utf8(&body.text).size().chars + separator(notice, text).len();
        let end = self.end_size();
        let mut ranges = body.ranges;
        if end.chars > 0 {
            let total = self.request.totals.chars;
            match ranges.last_mut().filter(|last| last.end == total - end.chars) {
                Some(last) => last.end = total,
                None => ranges.push(total - end.chars..total),
            }
        }
        let all = [String::from_utf8(body.text).ok()?.as_str(), separator(notice, text), text].concat();
        let limits = self.request.limits;
        let fits = Extent::of(Utf8(all.as_bytes()), limits).fits(limits);
        (fits && longest_line(&all) <= limits.line_bytes).then(|| Found {
            notice: before..before + text.encode_utf16().count(),
            text: all,
            kept: Size { bytes, chars: body.kept.chars - body.foreign.chars, ..body.kept } + end,
            ranges,
            lines,
            closes: self.closing.is_some(),
        })
    }

    fn compose(&self, room: Limits, separated: bool) -> Option<Body> {
        let units = self.old.first.number..=self.last;
        let findings = self.findings.state.shelf.findings().filter(|finding| units.contains(&finding.unit));
        let mut choice = Choice::new(&self.pieces, &self.sizes, units.clone(), self.largest_mark(), room);
        choice.keep_ends();
        // Recurring findings get the room that new ones leave.
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
        self.old.leave_out_parts(&mut kept);
        // If the last line is a bare newline, the separator would replace it and leave a gap before it.
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

    /// Marks omitted text between two pieces, or between a piece and an end of the text.
    fn mark_gap(&self, body: &mut Body, before: Option<&Piece>, after: Option<&Piece>) {
        let start = self.old.first;
        let next = before.map_or(start.number, |piece| piece.unit.number + 1);
        if next == after.map_or(self.last + 1, |piece| piece.unit.number) {
            return;
        }
        let all = self.findings.state.size - self.end_size();
        let is_open = self.is_open() || !self.end.is_empty();
        let first = before.map_or(start.line, |piece| piece.unit.line + 1);
        let last = after.map_or(all.lines(is_open), |piece| piece.unit.line);
        let start = before.map_or(start.char, |piece| piece.unit.char + piece.unit.chars);
        let end = after.map_or(all.chars, |piece| piece.unit.char);
        body.add_mark(last.saturating_sub(first), end - start);
    }

    /// Returns the maximum size of a mark, including the newline that ends a partial line before it.
    fn largest_mark(&self) -> Taken {
        let mark = format!("\n[... {} chars ...]\n", grouped(self.findings.state.size.chars));
        let in_pieces =
            self.pieces.iter().any(|piece| !piece.unit.ends_line && piece.unit.number != self.last);
        Taken { lines: if in_pieces { 2 } else { 1 }, ..self.taken(&mark) }
    }

    fn is_open(&self) -> bool {
        self.findings.state.last.is_some_and(|last| !last.ends_line)
    }

    /// Returns the room beside the notice and its separator, or `None` if those exceed the limits.
    fn room_beside(&self, notice: &Notice, text: &str) -> Option<Limits> {
        let separator = separator(notice, text);
        let mut taken = self.taken(&[separator, text].concat());
        if separator.starts_with('\n') {
            // The separator ends the preceding line, which is counted already.
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
        // Count in the earlier notice's unit, if there is one.
        if self.old.hidden == Size::default() { self.request.in_bytes } else { self.old.in_bytes }
    }

    fn at_least(&self) -> Counts {
        let Request { totals, beside, limits, .. } = self.request;
        Counts::at_least(*totals, *beside, self.old.hidden, limits)
    }

    fn counts(&self, body: &Body) -> Counts {
        let Request { totals, beside, .. } = self.request;
        let notices = self.old.taken();
        let end = self.end_size();
        let amount = |of: fn(&Size) -> usize, kept: usize| {
            let cutting = Cutting {
                total: of(totals),
                kept: kept + of(&end),
                beside: of(beside),
                hidden: of(&self.old.hidden),
                notices: of(&notices),
                kept_notices: of(&body.old),
            };
            cutting.amount()
        };
        let bytes = self.kept_bytes(body);
        let lines = self.kept_lines(body);
        let shown = lines.total - end.newlines;
        let total = self.closing.map_or(lines.total, |closing| closing.lines(shown).max(lines.total));
        let missing = total - lines.kept() + beside.newlines;
        Counts {
            chars: amount(|size| size.chars, body.kept.chars - body.foreign.chars),
            bytes: amount(|size| size.bytes, bytes),
            lines: Amount { omitted: missing, total: total + beside.newlines },
            kept_lines: line_ranges(lines.ranges),
        }
    }

    fn kept_lines(&self, body: &Body) -> KeptLines {
        let total = self.request.totals.lines(self.is_open());
        let mut ranges = body.lines.clone();
        if !self.end.is_empty() {
            ranges.push((total + 1 - self.end_size().lines(self.is_open()), total));
        }
        KeptLines { ranges, total }
    }

    fn end_size(&self) -> Size {
        Utf8(self.end.as_bytes()).size()
    }

    /// Returns the kept bytes of the input, excluding marks.
    fn kept_bytes(&self, body: &Body) -> usize {
        self.request.bytes_of.map_or(body.kept.bytes - body.foreign.bytes, |of| of(&body.ranges))
    }
}

fn separator(notice: &Notice, text: &str) -> &'static str {
    if text.is_empty() { "" } else { notice.separators(Place::AfterHead).0 }
}
