//! Assembles the result of a search: kept text in document order, a mark in each gap, and the notice at the end.

use std::borrow::Cow;
use std::ops::Range;

use super::body::Body;
use super::choice::{Choice, Piece};
use super::old::Old;
use super::{Aim, Selection, Sought};
use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::notice::counts::{Amount, Counts, Needs, grouped, line_ranges};
use crate::notice::saved::Saved;
use crate::notice::{Notice, Place};
use crate::policy::Keep;
use crate::relevance::{Relevance, keep_relevant};
use crate::truncate::closing::Closing;
use crate::truncate::figures::{Cutting, Kept, KeptLines};
use crate::truncate::input::{BytesOf, Input, bytes_in};
use crate::truncate::long_lines::has_long_line;
use crate::truncate::sides::Sides;
use crate::truncate::{Cut, Terms};

/// Share of the searched text that is at its start, if a text is too long to be searched whole. Failures are more often
/// at the end.
const HEAD_SHARE: usize = 4;

/// Searches a text for a result within limits.
pub fn select<T: Text>(input: &Input<T>, limits: &Limits, sought: Sought) -> Selection {
    let mut selection = Selection::new(limits, sought);
    if let Some(pieces) = input.pieces.filter(|_| !input.is_whole()) {
        let most = input.most_searched.max(selection.window.saturating_mul(2 * HEAD_SHARE));
        let skipped = most / HEAD_SHARE..input.total.saturating_sub(most - most / HEAD_SHARE);
        let (mut at, mut gap) = (0, Size::default());
        pieces(&mut |piece| {
            let (start, rest) = piece.split_line();
            let is_skipped = skipped.contains(&at);
            // A line that a piece has cut goes with the piece before it.
            for (part, is_skipped) in [(start, gap.chars > 0), (rest, is_skipped)] {
                if is_skipped {
                    gap = gap + part.size();
                } else {
                    if gap.chars > 0 {
                        selection.skip(std::mem::take(&mut gap));
                    }
                    part.each_utf8(&mut |text| selection.push(text));
                }
                at += part.units();
            }
            true
        });
    } else {
        let mut from = 0;
        for mark in input.marks {
            input.head.slice(from..mark.start).each_utf8(&mut |text| selection.push(text));
            input.head.slice(mark.start..mark.end).each_utf8(&mut |text| selection.push_mark(text));
            from = mark.end;
        }
        input.head.slice(from..input.head.len()).each_utf8(&mut |text| selection.push(text));
        if !input.is_whole() {
            selection.skip(input.size(Needs::ALL) - input.head.size() - input.tail.size());
            input.tail.each_utf8(&mut |text| selection.push(text));
        }
    }
    selection.finish();
    selection
}

/// Shares of the room reserved for the start and the end of a text, before findings and before relevant lines.
const ENDS_OF_FINDINGS: [f64; 2] = [0.05, 0.08];
const ENDS_OF_RELEVANT: [f64; 2] = [0.25, 0.25];

/// Maximum attempts to fit a notice; digits of a number change in fewer.
const ROUNDS: usize = 6;

impl Selection {
    /// Returns true if there may be lines to keep besides both ends.
    pub fn any(&self) -> bool {
        matches!(self.aim, Aim::Answer(_)) || self.state.lines.findings().next().is_some()
    }

    /// Truncates the searched text, or the part of it before its closing. Returns `None` if only the ends fit.
    pub fn cut<T: Text>(&self, input: &Input<T>, terms: Terms, closing: Option<&Closing>) -> Option<Cut> {
        let looks = !input.fresh && *terms.notice != Notice::None;
        let end = closing.map_or("", |closing| &closing.text);
        let mut old = if looks { self.old_notices(end.len()) } else { Old::default() };
        old.cut_at_end += end.len();
        if let (Saved::Nowhere, Some(named)) = (&old.saved, input.named) {
            old.saved = named.clone();
        }
        let pieces = self.pieces(&old);
        let last = pieces.last()?.unit.number;
        let sizes = pieces.iter().map(|piece| piece.size(last, &terms.limits)).collect();
        let size = self.state.size;
        let totals =
            input.totals.unwrap_or(if T::UTF16 { size } else { Size { bytes: input.total, ..size } });
        // Invalid UTF-8 becomes longer when decoded.
        let bytes_in = |ranges: &[Range<usize>]| bytes_in(input.head, ranges);
        let is_broken = !T::UTF16 && input.totals.is_none() && size.bytes != input.total;
        let relevance = match &self.aim {
            Aim::Failure(_) => None,
            Aim::Answer(question) => {
                // Notices of earlier cuts say nothing about the text.
                let is_old = |piece: &Piece| old.size_of(piece.unit.number, piece.text, true).is_some();
                let lines = pieces.iter().map(|piece| if is_old(piece) { b"" } else { piece.text });
                Some(Relevance::new(lines, question))
            }
        };
        let composer = Composer {
            selection: self,
            relevance,
            terms,
            totals,
            beside: input.beside,
            bytes_of: input.bytes_of.or(is_broken.then_some(&bytes_in)),
            in_bytes: input.in_bytes(),
            old,
            pieces,
            sizes,
            last,
            closing,
            end: Utf8(end.as_bytes()).size(),
        };
        let saved = terms.saved(&composer.old.saved);
        let ladder = terms.notice.ladder(saved).chain([Cow::Owned(Notice::None)]);
        // The name of the whole says more than lines of it: where both do not fit, the ends stand beside the name.
        let names = terms.notice.names_saved() && saved.has_line();
        let ladder = ladder.take_while(|notice| !names || notice.names_saved() && **notice != Notice::Pi);
        let cut = ladder.into_iter().find_map(|notice| composer.with_notice(&notice))?;
        Some(Cut { sides: Sides { tail: input.total, end: input.total, ..cut.sides }, ..cut })
    }
}

struct Composer<'a> {
    selection: &'a Selection,
    /// Present if lines are sought by their relevance.
    relevance: Option<Relevance>,
    terms: Terms<'a>,
    /// Size of the input, and a measure of its bytes if they differ from those of the text.
    totals: Size,
    bytes_of: Option<BytesOf<'a>>,
    in_bytes: bool,
    /// Size of further input that the notice accounts for.
    beside: Size,
    old: Old,
    pieces: Vec<Piece<'a>>,
    sizes: Vec<Usage>,
    last: usize,
    /// The end that is kept after the notice, and its size.
    closing: Option<&'a Closing>,
    end: Size,
}

impl Composer<'_> {
    /// Returns the truncated text with this notice, or `None` if both do not fit.
    fn with_notice(&self, notice: &Notice) -> Option<Cut> {
        let mut text = self.render(notice, &self.at_least());
        for _ in 0..ROUNDS {
            let room = self.room_beside(notice, &text)?;
            let body = self.compose(room, !separator(notice, &text).is_empty())?;
            let next = self.render(notice, &self.counts(&body));
            // Taking less room than was reserved is fine.
            if self.taken(&next).minus(self.taken(&text)) == Usage::default() {
                return self.finish(notice, &next, body);
            }
            text = next;
        }
        None
    }

    fn finish(&self, notice: &Notice, text: &str, body: Body) -> Option<Cut> {
        let lines = self.kept_lines(&body);
        let bytes = self.kept_bytes(&body);
        let start = Utf8(&body.text).size().chars + separator(notice, text).len();
        let (end, total) = (self.end, self.totals.chars);
        let mut ranges = body.ranges;
        if end.chars > 0 {
            match ranges.last_mut().filter(|last| last.end == total - end.chars) {
                Some(last) => last.end = total,
                None => ranges.push(total - end.chars..total),
            }
        }
        let middle = [String::from_utf8(body.text).ok()?.as_str(), separator(notice, text), text].concat();
        let limits = &self.terms.limits;
        let fits = Extent::of(Utf8(middle.as_bytes()), limits).fits(limits);
        (fits && !has_long_line(Utf8(middle.as_bytes()), limits.line_bytes)).then(|| Cut {
            keep: if self.relevance.is_some() { Keep::Relevant } else { Keep::Findings },
            sides: Sides::default(),
            middle,
            notice: start..start + text.encode_utf16().count(),
            within: Some(Kept {
                ranges,
                size: Size { bytes, chars: body.kept.chars - body.foreign.chars, ..body.kept } + end,
                lines,
            }),
        })
    }

    fn compose(&self, room: Limits, separated: bool) -> Option<Body> {
        let units = self.old.first.number..=self.last;
        let mut choice = Choice::new(&self.pieces, &self.sizes, units.clone(), self.largest_mark(), room);
        let found = match &self.relevance {
            Some(relevance) => {
                choice.keep_ends(ENDS_OF_RELEVANT);
                keep_relevant(relevance.clone(), &mut choice)
            }
            None => self.keep_findings(&mut choice),
        };
        if !found {
            return None;
        }
        choice.keep_rest(self.tallies().first().copied());
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
        Some(body)
    }

    /// Keeps both ends and the findings. Returns true if any finding is kept.
    fn keep_findings(&self, choice: &mut Choice) -> bool {
        let units = self.old.first.number..=self.last;
        let findings = self.selection.state.lines.findings().filter(|finding| units.contains(&finding.unit));
        choice.keep_ends(ENDS_OF_FINDINGS);
        choice.keep_tallies(&self.tallies());
        choice.keep_findings(&findings.collect::<Vec<_>>())
    }

    /// Returns the numbers of the lines that state results, the last one first.
    fn tallies(&self) -> Vec<usize> {
        let units = self.selection.state.tallies.units().map(|(unit, _)| unit.number);
        units.filter(|number| (self.old.first.number..=self.last).contains(number)).collect()
    }

    /// Marks omitted text between two pieces, or between a piece and an end of the text.
    fn mark_gap(&self, body: &mut Body, before: Option<&Piece>, after: Option<&Piece>) {
        let start = self.old.first;
        let next = before.map_or(start.number, |piece| piece.unit.number + 1);
        if next == after.map_or(self.last + 1, |piece| piece.unit.number) {
            return;
        }
        let all = self.selection.state.size - self.end;
        let is_open = self.is_open() || self.end.chars > 0;
        let first = before.map_or(start.line, |piece| piece.unit.line + 1);
        let last = after.map_or(all.lines(is_open), |piece| piece.unit.line);
        let start = before.map_or(start.char, |piece| piece.unit.char + piece.unit.chars);
        let end = after.map_or(all.chars, |piece| piece.unit.char);
        body.add_mark(last.saturating_sub(first), end - start);
    }

    /// Returns the maximum size of a mark, including the newline that ends a partial line before it.
    fn largest_mark(&self) -> Usage {
        let Size { chars, newlines, .. } = self.selection.state.size;
        let in_pieces =
            self.pieces.iter().any(|piece| !piece.unit.ends_line && piece.unit.number != self.last);
        let lines = format!("[... {} lines ...]\n", grouped(newlines + 1));
        let mark = if in_pieces { format!("\n[... {} chars ...]\n", grouped(chars)) } else { lines };
        Usage { lines: if in_pieces { 2 } else { 1 }, ..self.taken(&mark) }
    }

    fn is_open(&self) -> bool {
        self.selection.state.last.is_some_and(|last| !last.ends_line)
    }

    /// Returns the room beside the notice and its separator, or `None` if those exceed the limits.
    fn room_beside(&self, notice: &Notice, text: &str) -> Option<Limits> {
        let separator = separator(notice, text);
        let mut taken = self.taken(&[separator, text].concat());
        if separator.starts_with('\n') {
            // The separator ends the preceding line, which is counted already.
            taken.lines -= 1;
        }
        taken.within(&self.terms.limits).then(|| self.terms.limits.less(taken))
    }

    fn taken(&self, text: &str) -> Usage {
        Extent::of(Utf8(text.as_bytes()), &self.terms.limits).usage()
    }

    fn render(&self, notice: &Notice, counts: &Counts) -> String {
        notice.render(Place::AfterHead, counts, self.terms.labels(self.in_bytes(), &self.old.saved))
    }

    fn in_bytes(&self) -> bool {
        // Count in the earlier notice's unit, if there is one.
        if self.old.hidden == Size::default() { self.in_bytes } else { self.old.in_bytes }
    }

    fn at_least(&self) -> Counts {
        Counts::at_least(self.totals, self.beside, self.old.hidden, &self.terms.limits)
    }

    fn counts(&self, body: &Body) -> Counts {
        let notices = self.old.taken();
        let amount = |of: fn(&Size) -> usize, kept: usize| {
            let cutting = Cutting {
                total: of(&self.totals),
                kept: kept + of(&self.end),
                beside: of(&self.beside),
                hidden: of(&self.old.hidden),
                notices: of(&notices),
                kept_notices: of(&body.old),
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
            lines: Amount { omitted: missing, total: total + self.beside.newlines },
            kept_lines: line_ranges(lines.ranges),
        }
    }

    fn kept_lines(&self, body: &Body) -> KeptLines {
        let total = self.totals.lines(self.is_open());
        let mut ranges = body.lines.clone();
        if self.end.chars > 0 {
            ranges.push((total + 1 - self.end.lines(self.is_open()), total));
        }
        KeptLines { ranges, total }
    }

    /// Returns the kept bytes of the input, excluding marks.
    fn kept_bytes(&self, body: &Body) -> usize {
        self.bytes_of.map_or(body.kept.bytes - body.foreign.bytes, |of| of(&body.ranges))
    }
}

fn separator(notice: &Notice, text: &str) -> &'static str {
    if text.is_empty() { "" } else { notice.separators(Place::AfterHead).0 }
}
