//! Assembles the result of a search: kept text in document order, a mark in each gap, and the
//! notice at the end.
//!
//! A notice has longer and shorter forms, and more room only adds lines. So a longer form is used
//! once it leaves room for each line that a shorter one keeps where the longer has room for one
//! line at most. Until then the shorter form is used beside these lines.

use std::borrow::Cow;
use std::ops::Range;

use super::body::Body;
use super::closing::Closing;
use super::figures::{KeptLines, KeptParts, Omission};
use super::input::{BytesOf, Input, bytes_in};
use super::long_lines::has_long_line;
use super::sides::Sides;
use super::{Cut, Terms};
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::notice::counts::{Amount, Counts, grouped, line_ranges};
use crate::notice::saved::SavedPart;
use crate::notice::{Notice, NoticePlace};
use crate::policy::Keep;
use crate::selection::diff::places;
use crate::selection::reason::Reasons;
use crate::selection::{Addition, Mix, Old, Piece, Selection, WHOLE};

/// Maximum attempts to fit a notice; digits of a number change in fewer.
const ROUNDS: usize = 6;

/// Truncates the searched text, or the part of it before its closing. Returns `None` if only the
/// ends fit.
pub fn cut<T: Text>(
    selection: &Selection,
    input: &Input<T>,
    terms: Terms,
    closing: Option<&Closing>,
) -> Option<Cut> {
    let looks = !input.fresh && *terms.notice != Notice::None;
    let end = closing.map_or("", |closing| &closing.text);
    let mut old = if looks { selection.old_notices(end.len()) } else { Old::default() };
    old.cut_at_end += end.len();
    if let (SavedPart::Nowhere, Some(named)) = (&old.saved, input.named) {
        old.saved = named.clone();
    }
    let pieces = selection.pieces(&old);
    // Ends that a policy asks for are kept as they are.
    let places = if terms.policy.reserves() { vec![] } else { places(&pieces) };
    let last = pieces.last()?.unit.number;
    let size = selection.size();
    let totals = input.totals.unwrap_or(if T::UTF16 { size } else { Size { bytes: input.total, ..size } });
    // Invalid UTF-8 becomes longer when decoded.
    let bytes_in = |ranges: &[Range<usize>]| bytes_in(input.head, ranges);
    let is_broken = !T::UTF16 && input.totals.is_none() && size.bytes != input.total;
    let mut composer = Composer {
        selection,
        mix: selection.mix(terms.policy, &places),
        terms,
        totals,
        beside: input.beside,
        apart: input.apart,
        bytes_of: input.bytes_of.or(is_broken.then_some(&bytes_in)),
        in_bytes: input.in_bytes(),
        old,
        pieces: &pieces,
        kept: vec![],
        last,
        closing,
        end: Utf8(end.as_bytes()).size(),
    };
    let mark = composer.largest_mark().chars;
    composer.kept = selection.steps(
        (&pieces, &places),
        &composer.old,
        composer.mix,
        mark,
        &terms.limits,
        terms.policy.explains,
    )?;
    let saved = terms.saved(&composer.old.saved);
    let ladder = terms.notice.ladder(saved).chain([Cow::Owned(Notice::None)]);
    // The name of the whole says more than lines of it: where both do not fit, the ends stand
    // beside the name.
    let names = terms.notice.names_saved() && saved.has_line();
    let ladder: Vec<_> = ladder.take_while(|notice| !names || notice.tells_name()).collect();
    let cut = composer.on_ladder(&ladder)?;
    Some(Cut { sides: Sides { tail: input.total, end: input.total, ..cut.sides }, ..cut })
}

/// A notice, the kept text beside it, and the lines in it.
struct Fitting {
    text: String,
    body: Body,
    lines: usize,
}

struct Composer<'a> {
    selection: &'a Selection,
    /// The shares of the streams.
    mix: Mix,
    terms: Terms<'a>,
    /// Size of the input, and a measure of its bytes if they differ from those of the text.
    totals: Size,
    bytes_of: Option<BytesOf<'a>>,
    in_bytes: bool,
    /// Sizes of further input that the notice accounts for: omitted, and kept.
    beside: Size,
    apart: Size,
    old: Old,
    pieces: &'a [Piece<'a>],
    /// The pieces in the order in which they are kept, as far as any may fit, each with the gaps
    /// that it adds.
    kept: Vec<Addition>,
    last: usize,
    /// The end that is kept after the notice, and its size.
    closing: Option<&'a Closing>,
    end: Size,
}

impl<'a> Composer<'a> {
    /// Returns the truncated text with the longest notice that leaves room for all lines that a
    /// result in less room keeps.
    fn on_ladder(&self, ladder: &[Cow<Notice>]) -> Option<Cut> {
        let (longest, shorter) = ladder.split_first()?;
        let limits = &self.terms.limits;
        let longest_fits = self.fit(longest, limits, usize::MAX);
        let own = longest_fits.as_ref().map_or(0, |fitting| fitting.lines);
        let least = self.kept_in_less(longest, shorter, limits, own);
        if let Some(fitting) = longest_fits.filter(|_| own >= least)
            && let Some(cut) = self.finish(longest, fitting)
        {
            return Some(cut);
        }
        shorter.iter().find_map(|notice| {
            let fitting = self.fit(notice, limits, least.max(1))?;
            if fitting.lines < least { None } else { self.finish(notice, fitting) }
        })
    }

    /// Returns the number of lines that the best notice of a ladder keeps within limits.
    fn kept_on(&self, ladder: &[Cow<Notice>], limits: &Limits) -> usize {
        let Some((longest, shorter)) = ladder.split_first() else { return 0 };
        let own = self.fit(longest, limits, usize::MAX).map_or(0, |fitting| fitting.lines);
        own.max(self.kept_in_less(longest, shorter, limits, own))
    }

    /// Returns the number of lines that shorter notices keep where the longest has room for one
    /// line at most. `own`: the lines that it keeps within the limits.
    fn kept_in_less(&self, longest: &Notice, shorter: &[Cow<Notice>], limits: &Limits, own: usize) -> usize {
        let Some(first) = self.kept.first() else { return 0 };
        let reserved = self.with_separator(longest, &self.render(longest, &self.at_least()));
        // Beside one line its figures may have more digits.
        let beside_one = self.fit(longest, &Limits::NONE, 1);
        let written = beside_one.map_or(reserved, |fitting| self.with_separator(longest, &fitting.text));
        let notice = reserved.plus(written.minus(reserved));
        let mark = self.largest_mark();
        let marks = mark.zip(mark, |mark, _| mark * (1 + first.gaps) as usize);
        let small = notice.plus(first.size).plus(marks);
        let taken = self.kept[..own].iter().fold(Usage::default(), |taken, step| taken.plus(step.size));
        let rooms = limits.cut_each(small).filter(|room| taken.within(room));
        rooms.map(|room| self.kept_on(shorter, &room)).max().unwrap_or(0)
    }

    /// Fits a notice and the first lines in the order into limits: as many as there is room for,
    /// and `most` of them. Returns `None` if the notice and one line do not fit.
    fn fit(&self, notice: &Notice, limits: &Limits, most: usize) -> Option<Fitting> {
        let mut text = self.render(notice, &self.at_least());
        for _ in 0..ROUNDS {
            let room = self.room_beside(notice, &text, limits)?;
            let lines = self.fitting(room, most)?;
            let body = self.compose(lines, !separator(notice, &text).is_empty());
            let next = self.render(notice, &self.counts(&body));
            // Taking less room than was reserved is fine.
            if self.taken(&next).minus(self.taken(&text)) == Usage::default() {
                return Some(Fitting { text: next, body, lines });
            }
            text = next;
        }
        None
    }

    fn finish(&self, notice: &Notice, Fitting { text, body, .. }: Fitting) -> Option<Cut> {
        let lines = self.kept_lines(&body);
        let taken = self.kept.iter().map(|step| (self.pieces[step.at].unit.line + 1, step.reason));
        let reasons = self.terms.policy.explains.then(|| Reasons::new(taken, &lines.ranges));
        let bytes = self.kept_bytes(&body);
        let start = Utf8(&body.text).size().chars + separator(notice, &text).len();
        let (end, total) = (self.end, self.totals.chars);
        let mut ranges = body.ranges;
        if end.chars > 0 {
            match ranges.last_mut().filter(|last| last.end == total - end.chars) {
                Some(last) => last.end = total,
                None => ranges.push(total - end.chars..total),
            }
        }
        let middle = [String::from_utf8(body.text).ok()?.as_str(), separator(notice, &text), &text].concat();
        let limits = &self.terms.limits;
        let fits = Extent::of(Utf8(middle.as_bytes()), limits).fits(limits);
        (fits && !has_long_line(Utf8(middle.as_bytes()), limits.line_bytes)).then(|| Cut {
            keep: match self.terms.policy {
                policy if policy.reserves() => policy.keep,
                _ if 2 * self.mix.weight >= WHOLE => Keep::Findings,
                _ => Keep::Relevant,
            },
            sides: Sides::default(),
            middle,
            notice: start..start + text.encode_utf16().count(),
            within: Some(KeptParts {
                ranges,
                size: Size { bytes, chars: body.kept.chars - body.foreign.chars, ..body.kept } + end,
                lines,
                reasons,
            }),
        })
    }

    /// Returns how many of the first lines in the order fit a room, marks included.
    fn fitting(&self, room: Limits, most: usize) -> Option<usize> {
        let mark = self.largest_mark();
        let (mut taken, mut gaps, mut fitting) = (Usage::default(), 1, None);
        for (nth, step) in self.kept.iter().take(most).enumerate() {
            taken = taken.plus(step.size);
            gaps += step.gaps;
            if !taken.within(&room) {
                break;
            }
            if taken.plus(mark.zip(mark, |mark, _| mark * gaps as usize)).within(&room) {
                fitting = Some(nth + 1);
            }
        }
        fitting
    }

    /// Assembles the first lines in the order.
    fn compose(&self, lines: usize, separated: bool) -> Body {
        let mut body = Body::default();
        let mut before: Option<&Piece> = None;
        let mut kept: Vec<_> = self.kept[..lines].iter().map(|step| &self.pieces[step.at]).collect();
        kept.sort_unstable_by_key(|piece| piece.unit.number);
        self.old.leave_out_parts(&mut kept);
        // If the last line is a bare newline, the separator would replace it and leave a gap before
        // it.
        if separated
            && let [.., before, last] = kept[..]
            && (last.text, last.unit.number) == (b"\n", self.last)
            && before.unit.number + 1 != self.last
        {
            kept.pop();
        }
        for (at, piece) in kept.iter().enumerate() {
            let number = piece.unit.number;
            let goes_on = kept.get(at + 1).is_some_and(|next| next.unit.number == number + 1);
            self.mark_gap(&mut body, before, Some(piece));
            body.add(piece, self.old.size_of(number, piece.text, goes_on));
            before = Some(piece);
        }
        self.mark_gap(&mut body, before, None);
        if separated {
            body.drop_newline(before.is_some_and(|piece| piece.unit.number == self.last));
        }
        body
    }

    /// Marks omitted text between two pieces, or between a piece and an end of the text.
    fn mark_gap(&self, body: &mut Body, before: Option<&Piece>, after: Option<&Piece>) {
        let start = self.old.first;
        let next = before.map_or(start.number, |piece| piece.unit.number + 1);
        if next == after.map_or(self.last + 1, |piece| piece.unit.number) {
            return;
        }
        let all = self.selection.size() - self.end;
        let is_open = self.selection.is_open() || self.end.chars > 0;
        let first = before.map_or(start.line, |piece| piece.unit.line + 1);
        let last = after.map_or(all.lines(is_open), |piece| piece.unit.line);
        let start = before.map_or(start.char, |piece| piece.unit.char + piece.unit.chars);
        let end = after.map_or(all.chars, |piece| piece.unit.char);
        body.add_mark(last.saturating_sub(first), end - start);
    }

    /// Returns the maximum size of a mark, including the newline that ends a partial line before
    /// it.
    fn largest_mark(&self) -> Usage {
        let Size { chars, newlines, .. } = self.selection.size();
        let in_pieces =
            self.pieces.iter().any(|piece| !piece.unit.ends_line && piece.unit.number != self.last);
        let lines = format!("[... {} lines ...]\n", grouped(newlines + 1));
        let mark = if in_pieces { format!("\n[... {} chars ...]\n", grouped(chars)) } else { lines };
        Usage { lines: if in_pieces { 2 } else { 1 }, ..self.taken(&mark) }
    }

    /// Returns the room beside the notice and its separator, or `None` if those exceed the limits.
    fn room_beside(&self, notice: &Notice, text: &str, limits: &Limits) -> Option<Limits> {
        let mut taken = self.with_separator(notice, text);
        if separator(notice, text).starts_with('\n') {
            // The separator ends the preceding line, which is counted already.
            taken.lines -= 1;
        }
        taken.within(limits).then(|| limits.less(taken))
    }

    fn with_separator(&self, notice: &Notice, text: &str) -> Usage {
        self.taken(&[separator(notice, text), text].concat())
    }

    fn taken(&self, text: &str) -> Usage {
        Extent::of(Utf8(text.as_bytes()), &self.terms.limits).usage()
    }

    fn render(&self, notice: &Notice, counts: &Counts) -> String {
        notice.render(NoticePlace::AfterHead, counts, self.terms.labels(self.in_bytes(), &self.old.saved))
    }

    fn in_bytes(&self) -> bool {
        // Count in the earlier notice's unit, if there is one.
        if self.old.hidden == Size::default() { self.in_bytes } else { self.old.in_bytes }
    }

    fn at_least(&self) -> Counts {
        Counts::at_least(self.totals, [self.beside, self.apart], self.old.hidden, &self.terms.limits)
    }

    fn counts(&self, body: &Body) -> Counts {
        let notices = self.old.taken();
        let end = self.closing.map_or(Size::default(), Closing::beside_original);
        let amount = |of: fn(&Size) -> usize, kept: usize| {
            let cutting = Omission {
                total: of(&self.totals),
                kept: kept + of(&self.end),
                beside: of(&self.beside),
                apart: of(&self.apart),
                hidden: of(&self.old.hidden),
                notices: of(&notices) + of(&end),
                kept_notices: of(&body.old) + of(&end),
            };
            cutting.amount()
        };
        let bytes = self.kept_bytes(body);
        let lines = self.kept_lines(body);
        let shown = lines.total - self.end.newlines;
        let total = self.closing.map_or(lines.total, |closing| closing.lines(shown).max(lines.total));
        let missing = total - lines.kept() + self.beside.newlines;
        Counts {
            chars: amount(|size| size.chars, body.kept.chars - body.foreign.chars),
            bytes: amount(|size| size.bytes, bytes),
            lines: Amount { omitted: missing, total: total + self.beside.newlines + self.apart.newlines },
            kept_lines: line_ranges(lines.ranges),
            ..Counts::default()
        }
    }

    fn kept_lines(&self, body: &Body) -> KeptLines {
        let total = self.totals.lines(self.selection.is_open());
        let mut ranges = body.lines.clone();
        if self.end.chars > 0 {
            ranges.push((total + 1 - self.end.lines(self.selection.is_open()), total));
        }
        KeptLines { ranges, total }
    }

    /// Returns the kept bytes of the input, excluding marks.
    fn kept_bytes(&self, body: &Body) -> usize {
        self.bytes_of.map_or(body.kept.bytes - body.foreign.bytes, |of| of(&body.ranges))
    }
}

fn separator(notice: &Notice, text: &str) -> &'static str {
    if text.is_empty() { "" } else { notice.separators(NoticePlace::AfterHead).0 }
}
