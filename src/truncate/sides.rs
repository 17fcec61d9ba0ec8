//! Finds the longest head, tail, or both that fit beside a notice, moved to line ends and out of
//! marks.

use std::borrow::Cow;
use std::ops::Range;

use super::Terms;
use super::fit::{self, Side};
use super::important_end;
use super::input::Input;
use super::long_lines::lines;
use crate::encoding::{RETURN, Size, Text, Utf8};
use crate::extent::{Extent, Room};
use crate::limits::{Limits, UNLIMITED};
use crate::notice::earlier::EarlierNotices;
use crate::notice::span::{Span, in_order};
use crate::notice::{Notice, NoticePlace};
use crate::policy::{Keep, Policy};

/// The kept sides of a text, in units: from `start` to `head` and from `tail` to `end`. Notices of
/// an earlier cut lie outside `start` and `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    pub start: usize,
    pub head: usize,
    pub tail: usize,
    pub end: usize,
}

impl Sides {
    pub fn all(total: usize) -> Sides {
        Sides { start: 0, head: total, tail: total, end: total }
    }

    pub fn has_head(self) -> bool {
        self.start < self.head
    }

    pub fn has_tail(self) -> bool {
        self.tail < self.end
    }

    pub fn parts(self) -> [Range<usize>; 2] {
        [self.start..self.head, self.tail..self.end]
    }

    /// Extends the tail by an end of the text.
    pub fn keep_end(&mut self, end: Range<usize>) {
        self.tail = if self.has_tail() { self.tail } else { end.start };
        self.end = end.end;
    }

    /// Returns the place of a notice between the sides.
    pub fn place(self) -> NoticePlace {
        NoticePlace::beside(self.has_head(), self.has_tail())
    }

    /// Returns the spans inside the sides.
    pub fn of(self, spans: &[Span]) -> impl Iterator<Item = &Span> {
        let is_in = |span: &Span, part: &Range<usize>| part.start <= span.start && span.end <= part.end;
        spans.iter().filter(move |span| self.parts().iter().any(|part| is_in(span, part)))
    }
}

/// Finds the kept sides of one text.
#[derive(Clone, Debug)]
pub struct Fitter<'a, T> {
    pub input: &'a Input<'a, T>,
    pub limits: Limits,
    /// The requested part, [`Keep::Auto`] resolved.
    pub keep: Keep,
    head_share: f64,
    snap: bool,
    pub earlier: Cow<'a, EarlierNotices>,
    /// The text between the earlier notices at both ends, which are not kept.
    pub content: Range<usize>,
    /// More text follows the end and shares its last line.
    pub goes_on: bool,
    /// Marks and earlier notices, in order. Cuts do not fall inside them.
    spans: Vec<Span>,
}

impl<'a, T: Text> Fitter<'a, T> {
    pub fn new(input: &'a Input<'a, T>, Terms { policy, limits, notice, .. }: Terms) -> Self {
        let (keep, head_share) = resolve_keep(policy, input.tail);
        let earlier = if *notice == Notice::None { Cow::default() } else { input.earlier() };
        let mut spans: Vec<Span> = input.marks.iter().chain(&earlier.spans).copied().collect();
        in_order(&mut spans);
        let mut content = earlier.content(input.total);
        // A return before the newline of a dropped notice no longer belongs to a line end.
        let ends_in_return = || input.in_tail(content.end - 1..content.end).unit(0) == RETURN;
        if limits.line_bytes != UNLIMITED && earlier.trailing > 0 && !content.is_empty() && ends_in_return() {
            content.end -= 1;
        }
        Fitter { input, limits, keep, head_share, snap: policy.snap, earlier, content, goes_on: false, spans }
    }

    /// Returns a copy that does not snap cuts to line ends.
    pub fn unsnapped(&self) -> Self {
        Fitter { snap: false, ..self.clone() }
    }

    /// Returns empty sides.
    pub fn nothing(&self) -> Sides {
        let Range { start, end } = self.content;
        Sides { start, head: start, tail: end, end }
    }

    /// Returns the longest sides that fit beside a notice with this text.
    pub fn beside(&self, notice: &Notice, text: &str) -> Sides {
        let nothing = self.nothing();
        let none = Side { at: nothing.start, size: Size::default() };
        let head = || self.head_beside(notice, text, None).map(|head| Sides { head: head.at, ..nothing });
        let tail = || self.tail_beside(notice, text, none).map(|tail| Sides { tail, ..nothing });
        let both = || {
            let head = self.head_beside(notice, text, Some(self.head_share))?;
            let tail = self.tail_beside(notice, text, head)?;
            Some(Sides { head: head.at, tail, ..nothing })
        };
        let kept = match self.keep {
            Keep::Head | Keep::HeadOrEnds => head(),
            Keep::Tail => tail(),
            // Two ends without a notice between them would read as one text.
            Keep::Relevant if text.is_empty() => head(),
            // Lines between the ends were searched for before. If there are none, both ends are
            // kept. If both do not fit, the end with the larger share is kept.
            _ if self.head_share > 0.5 => both().or_else(head).or_else(tail),
            _ => both().or_else(tail).or_else(head),
        };
        let kept = kept.unwrap_or(nothing);
        // Only what earlier cuts omitted is missing: the notice stays where theirs was.
        let meets = kept.has_head() && kept.has_tail() && kept.head == kept.tail;
        let whole = match *self.earlier {
            EarlierNotices { trailing: 1.., leading: 0, .. } if meets => head(),
            EarlierNotices { trailing: 0, leading: 1.., .. } if meets => tail(),
            _ => None,
        };
        whole.filter(|sides| sides.head == sides.tail).unwrap_or(kept)
    }

    /// Returns the longest head that fits, within its share of the room if a tail is kept too.
    fn head_beside(&self, notice: &Notice, text: &str, share: Option<f64>) -> Option<Side> {
        let limits = &self.limits;
        let place = if share.is_some() { NoticePlace::Between } else { NoticePlace::AfterHead };
        let (lead, trail) = separators(notice, place, text);
        let mid = [lead, text, trail].concat();
        let mut room = Room::before(self.extent(&mid), limits)?;
        room.closed &= !self.goes_on;
        let room = share.map_or(room, |share| room.share(share));
        let Range { start, end } = self.content;
        let end = self.earlier.gap.as_ref().map_or(end, |gap| gap.start);
        let head = self.input.head.slice(start..end.min(self.input.head.len()));
        let longest = fit::prefix(head, &room);
        let glued = if mid.starts_with('\n') { None } else { mid.lines().next().map(str::len).or(Some(0)) };
        let mut end = self.fit_last_line(head, longest.at, glued)?;
        if self.snap {
            end = fit::snap_head(head, end, mid.starts_with('\n'));
        }
        // Each step may undo the other. Both only shorten the head.
        loop {
            let before = end;
            end = self
                .spans
                .iter()
                .find(|span| span.start < start + end && start + end < span.end)
                .map_or(end, |span| span.start.saturating_sub(start));
            end = self.fit_last_line(head, end, glued)?;
            if end == before {
                let side = longest.end_at(head, end);
                return (end > 0).then_some(Side { at: start + end, ..side });
            }
        }
    }

    /// Moves the end of a head back until its last line, with `glued` more bytes, is within the
    /// limit.
    fn fit_last_line(&self, head: T, end: usize, glued: Option<usize>) -> Option<usize> {
        let Some(glued) = glued.filter(|_| self.limits.line_bytes != UNLIMITED) else { return Some(end) };
        let start = head.rfind_newline(end).map_or(0, |newline| newline + 1);
        Some(start + fit::prefix_of_bytes(head.slice(start..end), self.limits.line_bytes.checked_sub(glued)?))
    }

    /// Returns the longest tail that fits after a head.
    fn tail_beside(&self, notice: &Notice, text: &str, kept: Side) -> Option<usize> {
        let (input, limits, head) = (self.input, &self.limits, kept.at);
        let Range { start: first, end } = self.content;
        let (lead, trail) = separators(notice, NoticePlace::beside(head > first, true), text);
        let before = Extent::sized(input.head.slice(first..head), kept.size, limits)
            .then(self.extent(lead))
            .then(self.extent(text))
            .then(self.extent(trail));
        let offset = input.total - input.tail.len();
        let after = self.earlier.gap.as_ref().map_or(offset, |gap| gap.end.max(offset));
        let bound = head.max(after).min(end);
        let tail = input.in_tail(bound..end);
        let is_open = !tail.is_empty() && !tail.ends_with_newline();
        let room = Room::after(before, is_open, limits)?;
        let mut start = fit::suffix(tail, &room);
        if self.snap {
            start = fit::snap_tail(tail, start);
        }
        let glued = if text.is_empty() && head > first {
            let kept = input.head.slice(first..head);
            let line = kept.rfind_newline(kept.len()).map_or(0, |newline| newline + 1);
            Some(kept.slice(line..kept.len()).size().bytes)
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
                return (start < end).then_some(start);
            }
        }
    }

    /// Moves the start of a tail forward until its first line, with `glued` more bytes, is within
    /// the limit.
    fn fit_first_line(&self, start: usize, glued: Option<usize>) -> Option<usize> {
        let Some(glued) = glued.filter(|_| self.limits.line_bytes != UNLIMITED) else { return Some(start) };
        let tail = self.input.in_tail(start..self.content.end);
        let content = lines(tail).next().map_or(0, |line| line.content);
        Some(start + fit::suffix_of_bytes(tail.slice(0..content), self.limits.line_bytes.checked_sub(glued)?))
    }

    pub fn extent(&self, text: &str) -> Extent {
        Extent::of(Utf8(text.as_bytes()), &self.limits)
    }
}

/// Share of the head if findings were searched for and not found.
const WITHOUT_FINDINGS: f64 = 0.2;

/// Resolves the ends of a text that ends in `tail`. [`Keep::Relevant`] means both ends with a
/// notice between them. Returns the part to keep and the share of the head.
fn resolve_keep<T: Text>(policy: &Policy, tail: T) -> (Keep, f64) {
    match policy.keep {
        _ if policy.seeks_failure() => (Keep::Ends, WITHOUT_FINDINGS),
        Keep::Auto | Keep::Relevant => (Keep::Relevant, 0.5),
        Keep::HeadOrEnds if important_end::is_important(tail) => (Keep::Ends, 0.7),
        Keep::HeadOrEnds => (Keep::Head, 1.0),
        // The other end takes the unused room of one end, unless the share of that end is zero.
        Keep::Ends if policy.head_share == 0.0 => (Keep::Tail, 0.0),
        Keep::Ends if policy.head_share == 1.0 => (Keep::Head, 1.0),
        keep => (keep, policy.head_share),
    }
}

/// Returns the separators of a notice, which are empty if its text is empty.
pub fn separators(notice: &Notice, place: NoticePlace, text: &str) -> (&'static str, &'static str) {
    if text.is_empty() { ("", "") } else { notice.separators(place) }
}
