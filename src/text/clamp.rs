//! Truncates a text to a policy. Determines the kept parts and the notice together.
//!
//! The two depend on each other: the notice takes up room and names the omitted amounts. We render the notice for the
//! most text that could be kept, make room for it, and render it again for the text actually kept. Keeping less can
//! only make the notice longer, so the first notice whose size does not change is paired with the longest text that
//! fits beside it.

use std::borrow::Cow;

use super::amounts::{Counts, Needs};
use super::earlier::Closing;
use super::extent::Extent;
use super::figures::Figures;
use super::lines::longest_line;
use super::notice::{Notice, Place};
use super::sides::{Keeper, Sides, separators};
use super::source::{Clamped, Kept, Source};
use super::units::{NEWLINE, Text};
use super::utf8::Utf8;
use super::whereabouts;
use crate::limits::{Limits, UNLIMITED};
use crate::policy::{Keep, Policy};

/// Truncates a text to the policy, or returns `None` if it fits. Overlong lines must be truncated first.
pub fn clamp<T: Text>(source: &Source<T>, policy: &Policy) -> Option<Clamped> {
    clamp_to(source, &policy.limits, policy, &policy.notice)
}

/// Truncates a text to the given limits, with the given notice, which names the policy's limits. If the text fits but
/// lines in it were truncated, the text is kept and the notice says where the full text is saved.
pub fn clamp_to<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Clamped> {
    let fits = source.fits(limits);
    if fits && !(source.shows_marks() && notice.tells(&policy.saved)) {
        return None;
    }
    let policy = &*policy.naming(notice, |limits| source.exceeded(limits));
    if fits {
        return whereabouts::tell(source, limits, policy, notice);
    }
    let cut = clamp_before_closing(source, limits, policy, notice);
    cut.or_else(|| Some(Cutter::new(source, source, None, limits, policy, notice).cut_with(notice)))
}

/// Truncates the text before a closing, in which another tool says how to continue, and keeps that closing. Returns
/// `None` if there is no closing, or no room for it beside a notice.
pub fn clamp_before_closing<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Clamped> {
    let policy = &*policy.naming(notice, |limits| source.exceeded(limits));
    before_closing(source, limits, notice, |before, closing, room| {
        let cut = Cutter::new(before, source, Some(closing), room, policy, notice).cut_with(notice);
        // If head and tail meet, the room may exceed the text before the closing, which is not all that must fit.
        let is_all = cut.kept.head == cut.kept.tail && cut.kept.has_head();
        (!is_all).then_some(cut)
    })
}

/// Keeps the closing, in which another tool says how to continue, after the result of `cut` for the text before it.
/// `cut` receives the room for its result, and returns `None` to reject a cut.
pub(super) fn before_closing<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    notice: &Notice,
    cut: impl Fn(&Source<T>, Closing, &Limits) -> Option<Clamped>,
) -> Option<Clamped> {
    let closing = notice.closes().then(|| source.closing())??;
    let before = source.before(closing.start);
    let end = source.in_tail(closing.start..source.total);
    let taken = Extent::of(end, limits);
    if !taken.fits(limits) {
        return None;
    }
    // A closing that begins inside a line gets a line of its own after a notice.
    let breaks = usize::from(end.unit(0) != NEWLINE);
    for room in closing_rooms(limits, taken, breaks) {
        let Some(mut cut) = cut(&before, closing, &room) else { continue };
        if cut.mid.is_empty() && !notice.is_empty() {
            return None;
        }
        if breaks == 1 && !cut.kept.has_tail() && !cut.mid.is_empty() && !cut.mid.ends_with('\n') {
            cut.mid.push('\n');
            cut.separators.1 += 1;
        }
        cut.sizes[1] = cut.sizes[1] + end.size();
        cut.kept.end = source.total;
        let (head, tail) = source.parts(cut.kept);
        let all = Extent::of(head, limits)
            .then(Extent::of(Utf8(cut.mid.as_bytes()), limits))
            .then(Extent::of(tail, limits));
        let is_long = limits.line_bytes != UNLIMITED
            && longest_line(&String::from_utf16_lossy(&source.compose(&cut))) > limits.line_bytes;
        if all.fits(limits) && !is_long {
            return Some(cut);
        }
    }
    None
}

/// Yields the candidate rooms beside a closing of this extent with up to `breaks` line breaks before it, largest first.
/// More than one is needed because the sum of lines and tokens depends on where the parts meet.
pub fn closing_rooms(limits: &Limits, end: Extent, breaks: usize) -> impl Iterator<Item = Limits> {
    let [bytes, lines, chars, tokens] = end.amounts();
    let most = if limits.counts_tokens() { 5 } else { 0 };
    let spares = (0..=1).flat_map(move |line| (0..=most).map(move |spare| (line, spare)));
    (0..=breaks).flat_map(move |breaks| spares.clone().map(move |spare| (breaks, spare))).map(
        move |(breaks, (line, spare))| {
            limits.less([
                bytes + breaks,
                (lines + breaks + line).saturating_sub(1),
                chars + breaks,
                (tokens + breaks + spare).saturating_sub(2),
            ])
        },
    )
}

/// Rounds of rendering. Exceeds the number of times that a digit count can change.
const ROUNDS: usize = 8;

/// Truncates a text, or the part of it before its closing. Figures are those of the whole text.
pub(super) struct Cutter<'a, T> {
    pub(super) keeper: Keeper<'a, T>,
    /// The text whose figures the notice names.
    whole: &'a Source<'a, T>,
    closing: Option<Closing>,
    policy: &'a Policy,
}

impl<'a, T: Text> Cutter<'a, T> {
    pub(super) fn new(
        source: &'a Source<'a, T>,
        whole: &'a Source<'a, T>,
        closing: Option<Closing>,
        limits: &'a Limits,
        policy: &'a Policy,
        notice: &Notice,
    ) -> Self {
        let mut keeper = Keeper::new(source, limits, policy, notice);
        if closing.is_some() {
            // A notice before the closing has text on both sides.
            keeper.content.end = source.total;
            keeper.goes_on = true;
        }
        Cutter { keeper, whole, closing, policy }
    }

    /// Returns the cut with this notice, or with the longest shorter one that fits.
    fn cut_with(&self, notice: &Notice) -> Clamped {
        let ladder = notice.ladder().chain([Cow::Owned(Notice::None)]);
        let mut rungs = ladder.filter_map(|notice| self.beside(&notice));
        rungs.next().unwrap_or_else(|| self.nothing())
    }

    /// Returns the cut with this notice. If it does not fit beside whole lines, the cut may fall inside a line.
    pub(super) fn beside(&self, notice: &Notice) -> Option<Clamped> {
        let unsnapped = || Cutter { keeper: self.keeper.unsnapped(), ..*self };
        self.with_notice(notice).or_else(|| unsnapped().with_notice(notice))
    }

    /// Returns the cut with this notice, or `None` if the notice does not fit.
    fn with_notice(&self, notice: &Notice) -> Option<Clamped> {
        let needs = notice.needs(self.figures().in_bytes());
        let mut text =
            self.render(notice, self.likely_place(), &self.figures().at_least(self.keeper.limits, needs));
        let mut largest = text.clone();
        for _ in 0..ROUNDS {
            let sides = self.keeper.beside(notice, &text);
            let kept = sides.kept();
            let next = self.render(notice, self.place(kept), &self.counts(kept, needs));
            if self.same_size(&next, &text) {
                return self.finish(notice, sides, next);
            }
            if next.len() >= largest.len() {
                largest.clone_from(&next);
            }
            text = next;
        }
        // If the size does not settle, reserve room for the largest notice seen.
        let sides = self.keeper.beside(notice, &largest);
        let kept = sides.kept();
        let text = self.render(notice, self.place(kept), &self.counts(kept, needs));
        let settled = self.keeper.extent(&text).size.bytes <= self.keeper.extent(&largest).size.bytes
            && text.matches('\n').count() <= largest.matches('\n').count();
        if settled && self.fits_with(notice, kept, &text) { self.finish(notice, sides, text) } else { None }
    }

    /// Returns a cut that keeps no text and has no notice.
    fn nothing(&self) -> Clamped {
        self.cut(self.keeper.nothing(), String::new(), (0, 0))
    }

    fn finish(&self, notice: &Notice, sides: Sides, text: String) -> Option<Clamped> {
        let kept = sides.kept();
        let place = self.place(kept);
        let limits = self.keeper.limits;
        if longest_line(&text) > limits.line_bytes {
            return None;
        }
        if place == Place::Alone && !text.is_empty() {
            // If the notice takes the lines that the text needs, a glued notice is used instead.
            let (lead, trail) = notice.separators(self.least_place());
            let lines = 1 + lead.len() + trail.len() + text.matches('\n').count();
            if lines > limits.lines || !self.keeper.extent(&text).fits(limits) {
                return None;
            }
        }
        let (lead, trail) = separators(notice, place, &text);
        Some(self.cut(sides, [lead, &text, trail].concat(), (lead.len(), trail.len())))
    }

    fn cut(&self, sides: Sides, mid: String, separators: (usize, usize)) -> Clamped {
        let (source, kept) = (self.keeper.source, sides.kept());
        let before = source.head.slice(0..kept.start);
        let after = source.in_tail(kept.end..source.total);
        Clamped {
            kept,
            mid,
            separators,
            keep: self.keeper.keep,
            sizes: [sides.head.size, sides.tail.size],
            around: [before.size().chars, after.size().chars],
        }
    }

    fn fits_with(&self, notice: &Notice, kept: Kept, text: &str) -> bool {
        let limits = self.keeper.limits;
        let (lead, trail) = separators(notice, self.place(kept), text);
        let (head, tail) = self.keeper.source.parts(kept);
        Extent::of(head, limits)
            .then(self.keeper.extent(&[lead, text, trail].concat()))
            .then(Extent::of(tail, limits))
            .fits(limits)
    }

    fn place(&self, kept: Kept) -> Place {
        Place::beside(kept.has_head(), kept.has_tail())
    }

    fn likely_place(&self) -> Place {
        Place::beside(self.keeper.keep != Keep::Tail, matches!(self.keeper.keep, Keep::Tail | Keep::Ends))
    }

    /// Returns the place beside text that takes the fewest lines.
    fn least_place(&self) -> Place {
        if self.keeper.keep == Keep::Head { Place::AfterHead } else { Place::BeforeTail }
    }

    fn same_size(&self, a: &str, b: &str) -> bool {
        a == b || self.keeper.extent(a) == self.keeper.extent(b)
    }

    fn figures(&self) -> Figures<'_, T> {
        Figures { source: self.whole, earlier: &self.keeper.earlier, closing: self.closing }
    }

    fn counts(&self, kept: Kept, needs: Needs) -> Counts {
        let end = if self.closing.is_some() { self.whole.total } else { kept.end };
        self.figures().of(Kept { end, ..kept }, needs)
    }

    fn render(&self, notice: &Notice, place: Place, counts: &Counts) -> String {
        notice.render(place, counts, self.policy.labels(self.figures().in_bytes()))
    }
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
    fn a_long_line_is_truncated_without_a_separate_end() {
        let text = "x".repeat(60_000) + "\n";
        let all = Policy { notice: Notice::None, ..Policy::default() };
        assert_eq!(clamped(&text, &all), "x".repeat(51_200));
        let hint = clamped(&text, &Policy::default());
        assert_eq!(hint.len(), 51_200);
        assert!(hint.ends_with("(limit 50KB); ask for less, or for specific sections]"));
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
    fn a_shorter_notice_is_used_if_the_first_does_not_fit() {
        let text = "y".repeat(500);
        let at = |chars| clamped(&text, &policy(Keep::Head, Limits { chars, ..Limits::NONE }, Notice::Hint));
        assert_eq!(at(40), "yyyyy[... 495 more characters truncated]");
        assert_eq!(at(10), "yyyyy[...]");
        assert_eq!(at(4), "yyyy");
        assert_eq!(at(0), "");
    }

    #[test]
    fn a_notice_fits_after_a_cut_inside_a_line_or_a_merging_blank() {
        let limits = Limits { chars: 7, bytes: 13, line_bytes: 1, ..Limits::NONE };
        let notice = Notice::Template("{omittedChars}".into());
        let text = "a\nb\r\n\nb\na\na\n\r\n";
        assert_eq!(clamped(text, &policy(Keep::Tail, limits, notice)), "9\n\na\n\r\n");
        let notice = Notice::Template("-- {omittedChars}\nmore --\n".into());
        let text = " ".to_owned() + &"x".repeat(478);
        let limits = Limits { tokens: 7, ..Limits::NONE };
        assert_eq!(clamped(&text, &policy(Keep::Head, limits, notice)), " \n\n-- 478\nmore --\n");
    }

    #[test]
    fn an_empty_notice_keeps_the_closing() {
        let end = "\n[6 more lines in file. Use offset=4 to continue.]";
        let text = "x".repeat(300) + end;
        for empty in [Notice::Literal(String::new()), Notice::Template(String::new()), Notice::None] {
            let policy = policy(Keep::Head, Limits { chars: 150, ..Limits::NONE }, empty);
            assert_eq!(clamped(&text, &policy), "x".repeat(150 - end.len()) + end);
            // The closing shares the last line with the kept text before it.
            let limits = Limits { lines: 3, ..Limits::NONE };
            let end = ", \"nextCursor\": \"abc\"}";
            let text = format!("1\n2\n3\n4\n{end}");
            let policy = Policy { limits, snap: false, ..policy };
            assert_eq!(clamped(&text, &policy), "1\n2\n3".to_owned() + &end[2..]);
        }
    }

    #[test]
    fn with_too_few_lines_the_notice_is_glued() {
        let text = "some line\n".repeat(50);
        let limits = Limits { lines: 1, ..Limits::NONE };
        assert_eq!(
            clamped(&text, &policy(Keep::Head, limits, Notice::Hint)),
            "some line[... 491 more characters truncated]"
        );
        assert_eq!(clamped(&text, &policy(Keep::Tail, limits, Notice::Hint)), "some line\n");
    }

    #[test]
    fn a_second_cut_counts_against_the_original() {
        let text = "z".repeat(10_000);
        for notice in [Notice::Hint, Notice::Pi, Notice::Count] {
            for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
                let once =
                    clamped(&text, &policy(keep, Limits { chars: 2_000, ..Limits::NONE }, notice.clone()));
                let twice =
                    clamped(&once, &policy(keep, Limits { chars: 1_000, ..Limits::NONE }, notice.clone()));
                let kept = twice.matches('z').count();
                let counted = match notice {
                    Notice::Pi => (10_000 - kept).to_string(),
                    _ => crate::text::amounts::grouped(10_000 - kept),
                };
                assert!(twice.contains(&counted), "{notice:?} {keep:?}: {counted} in {twice}");
            }
        }
    }

    #[test]
    fn templates_can_name_lines() {
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
