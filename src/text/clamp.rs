//! Cuts a text to a policy: finds what to keep and the notice that tells what is missing, together.
//!
//! The two depend on each other: the notice takes room and names what did not fit. So a notice is worked out for the
//! most that could be kept, room is made for it, and it is worked out again for what was kept; as less is kept it can
//! only grow, so the first one that keeps its size stands beside the most that can be kept with it.

use std::borrow::Cow;

use super::cut::{self, Extent, Room, Side};
use super::earlier::Earlier;
use super::ending;
use super::figures::Figures;
use super::lines::{Span, lines};
use super::notice::{Counts, Labels, Notice, Place};
use super::size::Size;
use super::source::{Clamped, Kept, Source};
use super::units::{Text, Utf8};
use crate::policy::{Keep, Limits, Policy, UNLIMITED};

/// Cuts a text to the policy; `None` when it fits. Lines that are too long must have been cut before.
pub fn clamp<T: Text>(source: &Source<T>, policy: &Policy) -> Option<Clamped> {
    clamp_to(source, &policy.limits, policy, &policy.notice)
}

/// Cuts a text to limits of its own, with a notice of its own that names the limits of the policy.
pub fn clamp_to<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Clamped> {
    if source.fits(limits) {
        return None;
    }
    let cutter = Cutter::new(source, limits, policy, notice);
    let ladder = notice.ladder().chain([Cow::Owned(Notice::None)]);
    let mut rungs = ladder.filter_map(|notice| cutter.with_notice(&notice));
    Some(rungs.next().unwrap_or_else(|| cutter.nothing()))
}

/// What 'auto' comes to for a text that ends in `tail`, and the share of the head.
pub fn resolve_keep<T: Text>(policy: &Policy, tail: T) -> (Keep, f64) {
    match policy.keep {
        Keep::Auto if policy.is_error => (Keep::Ends, 0.2),
        Keep::Auto if ending::is_important(tail) => (Keep::Ends, 0.7),
        Keep::Auto => (Keep::Head, 1.0),
        keep => (keep, policy.head_share),
    }
}

/// More rounds than the digits of a number can change.
const ROUNDS: usize = 8;

struct Cutter<'a, T> {
    source: &'a Source<'a, T>,
    limits: &'a Limits,
    policy: &'a Policy,
    keep: Keep,
    head_share: f64,
    earlier: Earlier,
    /// Marks and earlier notices, in order: no cut falls inside one.
    spans: Vec<Span>,
}

/// Both sides that are kept, with their sizes.
#[derive(Clone, Copy)]
struct Sides {
    head: Side,
    tail: Side,
}

const NOTHING: Side = Side { at: 0, size: Size { bytes: 0, chars: 0, newlines: 0, broken: 0 } };

impl Sides {
    fn kept(&self) -> Kept {
        Kept { head: self.head.at, tail: self.tail.at }
    }
}

impl<'a, T: Text> Cutter<'a, T> {
    fn new(source: &'a Source<'a, T>, limits: &'a Limits, policy: &'a Policy, notice: &Notice) -> Self {
        let (keep, head_share) = resolve_keep(policy, source.tail);
        let earlier = match notice {
            Notice::None | Notice::Literal(_) => Earlier::default(),
            _ => Earlier::find(source.head, source.tail, source.total),
        };
        let mut spans: Vec<Span> = source.marks.iter().chain(&earlier.spans).copied().collect();
        spans.sort_by_key(|span| span.start);
        Cutter { source, limits, policy, keep, head_share, earlier, spans }
    }

    /// The cut with this notice, unless the notice does not fit.
    fn with_notice(&self, notice: &Notice) -> Option<Clamped> {
        let needs = notice.needs(self.figures().in_bytes());
        let mut text = self.render(notice, self.likely_place(), &self.figures().at_least(self.limits, needs));
        let mut largest = text.clone();
        for _ in 0..ROUNDS {
            let sides = self.keep_beside(notice, &text);
            let kept = sides.kept();
            let next = self.render(notice, self.place(kept), &self.figures().of(kept, needs));
            if self.same_size(&next, &text) {
                return self.finish(notice, sides, next);
            }
            if next.len() >= largest.len() {
                largest.clone_from(&next);
            }
            text = next;
        }
        // A text that does not settle gets room for the largest form that was seen.
        let sides = self.keep_beside(notice, &largest);
        let kept = sides.kept();
        let text = self.render(notice, self.place(kept), &self.figures().of(kept, needs));
        let settled = self.extent(&text).size.bytes <= self.extent(&largest).size.bytes
            && text.matches('\n').count() <= largest.matches('\n').count();
        if settled && self.fits_with(notice, kept, &text) { self.finish(notice, sides, text) } else { None }
    }

    /// Nothing kept and no notice.
    fn nothing(&self) -> Clamped {
        let (head, tail) = (0, self.source.total);
        Clamped { head, tail, mid: String::new(), separators: (0, 0), keep: self.keep, broken: false }
    }

    fn finish(&self, notice: &Notice, sides: Sides, text: String) -> Option<Clamped> {
        let kept = sides.kept();
        let place = self.place(kept);
        let limits = self.limits;
        if longest_line(&text) > limits.line_bytes {
            return None;
        }
        if place == Place::Alone && !text.is_empty() {
            // A notice that takes the lines which the text would need gives way to one that is glued to it.
            let (lead, trail) = notice.separators(self.least_place());
            let lines = 1 + lead.len() + trail.len() + text.matches('\n').count();
            if lines > limits.lines || !self.extent(&text).fits(limits) {
                return None;
            }
        }
        let (lead, trail) = separators(notice, place, &text);
        Some(Clamped {
            head: kept.head,
            tail: kept.tail,
            separators: (lead.len(), trail.len()),
            mid: [lead, &text, trail].concat(),
            keep: self.keep,
            broken: sides.head.size.broken + sides.tail.size.broken > 0,
        })
    }

    /// What can be kept beside a notice.
    fn keep_beside(&self, notice: &Notice, text: &str) -> Sides {
        let nothing = Sides { head: NOTHING, tail: Side { at: self.source.total, ..NOTHING } };
        let head = || self.head_beside(notice, text, None).map(|head| Sides { head, ..nothing });
        let tail = || self.tail_beside(notice, text, NOTHING).map(|tail| Sides { tail, ..nothing });
        let kept = match self.keep {
            Keep::Head | Keep::Auto => head(),
            Keep::Tail => tail(),
            Keep::Ends => self.ends_beside(notice, text).or_else(tail).or_else(head),
        };
        kept.unwrap_or(nothing)
    }

    fn ends_beside(&self, notice: &Notice, text: &str) -> Option<Sides> {
        let head = self.head_beside(notice, text, Some(self.head_share))?;
        let tail = self.tail_beside(notice, text, head)?;
        Some(Sides { head, tail })
    }

    /// The head that can be kept: all of the room, or its share of it where a tail is kept too.
    fn head_beside(&self, notice: &Notice, text: &str, share: Option<f64>) -> Option<Side> {
        let limits = self.limits;
        let place = if share.is_some() { Place::Between } else { Place::AfterHead };
        let (lead, trail) = separators(notice, place, text);
        let mid = [lead, text, trail].concat();
        let room = Room::before(self.extent(&mid), limits)?;
        let room = share.map_or(room, |share| room.share(share));
        let head = self.source.head.slice(0..self.head_bound());
        let longest = cut::prefix(head, &room);
        let glued = if mid.starts_with('\n') { None } else { mid.lines().next().map(str::len).or(Some(0)) };
        let mut end = self.fit_last_line(head, longest.at, glued)?;
        if self.policy.snap {
            end = cut::snap_head(head, end, mid.starts_with('\n'));
        }
        // Either step may undo the other; both only shorten the head.
        loop {
            let before = end;
            end = self
                .spans
                .iter()
                .find(|span| span.start < end && end < span.end)
                .map_or(end, |span| span.start);
            end = self.fit_last_line(head, end, glued)?;
            if end == before {
                return (end > 0).then(|| longest.end_at(head, end));
            }
        }
    }

    /// Moves the end of a head back until its last line is within the limit with `glued` more bytes on it.
    fn fit_last_line(&self, head: T, end: usize, glued: Option<usize>) -> Option<usize> {
        let Some(glued) = glued.filter(|_| self.limits.line_bytes != UNLIMITED) else { return Some(end) };
        let start = head.rfind_newline(end).map_or(0, |newline| newline + 1);
        Some(start + cut::prefix_of_bytes(head.slice(start..end), self.limits.line_bytes.checked_sub(glued)?))
    }

    /// The tail that can be kept after a head.
    fn tail_beside(&self, notice: &Notice, text: &str, kept: Side) -> Option<Side> {
        let (source, limits, head) = (self.source, self.limits, kept.at);
        let (lead, trail) = separators(notice, Place::beside(head > 0, true), text);
        let before = Extent::sized(source.head.slice(0..head), kept.size, limits)
            .then(self.extent(lead))
            .then(self.extent(text))
            .then(self.extent(trail));
        let open = source.tail.is_empty() || !source.tail.ends_with_newline();
        let room = Room::after(before, open, limits)?;
        let offset = source.total - source.tail.len();
        let bound = self.tail_bound().max(head).max(offset);
        let tail = source.tail_from(bound);
        let longest = cut::suffix(tail, &room);
        let mut start = longest.at;
        if self.policy.snap {
            start = cut::snap_tail(tail, start);
        }
        let glued = if text.is_empty() && head > 0 {
            let line = source.head.rfind_newline(head).map_or(0, |newline| newline + 1);
            Some(source.head.slice(line..head).size().bytes)
        } else {
            None
        };
        let mut start = bound + start;
        loop {
            let before = start;
            start = self.fit_first_line(start, glued)?;
            start = self
                .spans
                .iter()
                .find(|span| span.start < start && start < span.end)
                .map_or(start, |s| s.end);
            if start == before {
                let side = longest.start_at(tail, start - bound);
                return (start < source.total).then_some(Side { at: start, ..side });
            }
        }
    }

    /// Moves the start of a tail on until its first line is within the limit with `glued` more bytes on it.
    fn fit_first_line(&self, start: usize, glued: Option<usize>) -> Option<usize> {
        let Some(glued) = glued.filter(|_| self.limits.line_bytes != UNLIMITED) else { return Some(start) };
        let tail = self.source.tail_from(start);
        let content = lines(tail).next().map_or(0, |line| line.content);
        Some(start + cut::suffix_of_bytes(tail.slice(0..content), self.limits.line_bytes.checked_sub(glued)?))
    }

    /// A notice at the end is no text to keep.
    fn head_bound(&self) -> usize {
        let last = self.earlier.spans.last().filter(|span| span.end == self.source.total);
        last.map_or(self.source.head.len(), |span| span.start.min(self.source.head.len()))
    }

    /// Nor is one at the start.
    fn tail_bound(&self) -> usize {
        self.earlier.spans.first().filter(|span| span.start == 0).map_or(0, |span| span.end)
    }

    fn fits_with(&self, notice: &Notice, kept: Kept, text: &str) -> bool {
        let limits = self.limits;
        let (lead, trail) = separators(notice, self.place(kept), text);
        Extent::of(self.source.head.slice(0..kept.head), limits)
            .then(self.extent(&[lead, text, trail].concat()))
            .then(Extent::of(self.source.tail_from(kept.tail), limits))
            .fits(limits)
    }

    fn place(&self, kept: Kept) -> Place {
        Place::beside(kept.head > 0, kept.tail < self.source.total)
    }

    fn likely_place(&self) -> Place {
        Place::beside(self.keep != Keep::Tail, matches!(self.keep, Keep::Tail | Keep::Ends))
    }

    /// The place beside text that takes the fewest lines.
    fn least_place(&self) -> Place {
        if self.keep == Keep::Head { Place::AfterHead } else { Place::BeforeTail }
    }

    fn extent(&self, text: &str) -> Extent {
        Extent::of(Utf8(text.as_bytes()), self.limits)
    }

    fn same_size(&self, a: &str, b: &str) -> bool {
        a == b || self.extent(a) == self.extent(b)
    }

    fn figures(&self) -> Figures<'_, T> {
        Figures { source: self.source, earlier: &self.earlier }
    }

    fn render(&self, notice: &Notice, place: Place, counts: &Counts) -> String {
        let labels = Labels {
            limits: &self.policy.limits,
            source: &self.policy.source,
            in_bytes: self.figures().in_bytes(),
        };
        notice.render(place, counts, labels)
    }
}

fn separators(notice: &Notice, place: Place, text: &str) -> (&'static str, &'static str) {
    if text.is_empty() { ("", "") } else { notice.separators(place) }
}

fn longest_line(text: &str) -> usize {
    text.lines().map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clamped(text: &str, policy: &Policy) -> String {
        let source = Source::whole(Utf8(text.as_bytes()));
        match clamp(&source, policy) {
            None => text.to_owned(),
            Some(cut) => String::from_utf16(&source.compose(&cut)).unwrap(),
        }
    }

    fn policy(keep: Keep, limits: Limits, notice: Notice) -> Policy {
        Policy { keep, limits, notice, ..Policy::default() }
    }

    #[test]
    fn a_long_line_is_kept_in_part_and_its_end_is_no_text_of_its_own() {
        let text = "x".repeat(60_000) + "\n";
        let all = Policy { notice: Notice::None, ..Policy::default() };
        assert_eq!(clamped(&text, &all), "x".repeat(51_200));
        let hint = clamped(&text, &Policy::default());
        assert_eq!(hint.len(), 51_200);
        assert!(hint.ends_with(
            "(limit 50KB or 2000 lines); request smaller chunks (offset/limit) or specific sections]"
        ));
    }

    #[test]
    fn each_side_is_snapped_to_lines() {
        let text: String = (0..100).map(|n| format!("line {n:03}\n")).collect();
        let pi = |keep, chars| clamped(&text, &policy(keep, Limits { chars, ..Limits::NONE }, Notice::Pi));
        assert_eq!(pi(Keep::Head, 100), format!("{}[... 837 more characters truncated]", &text[..63]));
        assert_eq!(pi(Keep::Tail, 100), format!("[... 837 more characters truncated]\n{}", &text[837..]));
        assert_eq!(
            pi(Keep::Ends, 199),
            format!("{}\n\n[... 748 more characters truncated]\n\n{}", &text[..80], &text[828..])
        );
        // Moving to the next line would cost more than a fifth of the tail.
        assert!(pi(Keep::Ends, 100).contains("\n\nine 096\nline 097"));
    }

    #[test]
    fn a_notice_gives_way_to_a_shorter_one() {
        let text = "y".repeat(500);
        let at = |chars| clamped(&text, &policy(Keep::Head, Limits { chars, ..Limits::NONE }, Notice::Hint));
        assert_eq!(at(40), "yyyyy[... 495 more characters truncated]");
        assert_eq!(at(10), "yyyyy[...]");
        assert_eq!(at(4), "yyyy");
        assert_eq!(at(0), "");
    }

    #[test]
    fn too_few_lines_for_a_notice_of_its_own_get_a_glued_one() {
        let text = "some line\n".repeat(50);
        let limits = Limits { lines: 1, ..Limits::NONE };
        assert_eq!(
            clamped(&text, &policy(Keep::Head, limits, Notice::Hint)),
            "some line[... 491 more characters truncated]"
        );
        assert_eq!(clamped(&text, &policy(Keep::Tail, limits, Notice::Hint)), "some line\n");
    }

    #[test]
    fn a_second_cut_counts_from_the_original() {
        let text = "z".repeat(10_000);
        for notice in [Notice::Hint, Notice::Pi, Notice::Count] {
            for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
                let once =
                    clamped(&text, &policy(keep, Limits { chars: 2_000, ..Limits::NONE }, notice.clone()));
                let twice =
                    clamped(&once, &policy(keep, Limits { chars: 1_000, ..Limits::NONE }, notice.clone()));
                let kept = twice.matches('z').count();
                let counted = match notice {
                    Notice::Count => super::super::notice::grouped(10_000 - kept),
                    _ => (10_000 - kept).to_string(),
                };
                assert!(twice.contains(&counted), "{notice:?} {keep:?}: {counted} in {twice}");
            }
        }
    }

    #[test]
    fn templates_are_told_the_lines() {
        let text: String = (1..=50).map(|n| format!("{n:02}\n")).collect();
        let notice = Notice::Template("[{keptLines} of {totalLines}, {omittedLines} gone]".into());
        let limits = Limits { lines: 12, ..Limits::NONE };
        assert_eq!(
            clamped(&text, &policy(Keep::Head, limits, notice.clone())),
            "01\n02\n03\n04\n05\n06\n07\n08\n09\n10\n\n[1-10 of 50, 40 gone]"
        );
        assert_eq!(
            clamped(&text, &policy(Keep::Ends, limits, notice)),
            "01\n02\n03\n04\n05\n\n[1-5,47-50 of 50, 41 gone]\n\n47\n48\n49\n50\n"
        );
    }
}
