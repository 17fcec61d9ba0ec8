//! Cuts a text to a policy: finds what to keep and the notice that tells what is missing, together.
//!
//! The two depend on each other: the notice takes room and names what did not fit. So a notice is worked out for the
//! most that could be kept, room is made for it, and it is worked out again for what was kept; as less is kept it can
//! only grow, so the first one that keeps its size stands beside the most that can be kept with it.

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

/// Cuts a text to the policy; `None` when it fits. Lines that are too long must have been cut before.
pub fn clamp<T: Text>(source: &Source<T>, policy: &Policy) -> Option<Clamped> {
    clamp_to(source, &policy.limits, policy, &policy.notice)
}

/// Cuts a text to limits of its own, with a notice of its own that names the limits of the policy. Where only its lines
/// were cut, it stays, and tells where its whole is.
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

/// Cuts what stands before the end in which another tool says how to go on, and keeps that end. `None` where there is no
/// such end, or no room for it beside a notice.
pub fn clamp_before_closing<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Clamped> {
    let policy = &*policy.naming(notice, |limits| source.exceeded(limits));
    before_closing(source, limits, notice, |before, closing, room| {
        let cut = Cutter::new(before, source, Some(closing), room, policy, notice).cut_with(notice);
        // Where both meet, the room may be larger than what stands before, which is not all that has to fit.
        let is_all = cut.kept.head == cut.kept.tail && cut.kept.has_head();
        (!is_all).then_some(cut)
    })
}

/// Keeps the end in which another tool says how to go on, behind what `cut` makes of the text before it. `cut` is told the
/// room for that, and answers `None` where it is not right for a cut.
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
    // An end that begins inside a line begins a line of its own behind a notice.
    let breaks = usize::from(end.unit(0) != NEWLINE);
    for room in closing_rooms(limits, taken, breaks) {
        let Some(mut cut) = cut(&before, closing, &room) else { continue };
        if cut.mid.is_empty() && !notice.is_empty() {
            return None;
        }
        if breaks == 1 && !cut.kept.has_tail() && !cut.mid.is_empty() {
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

/// The room beside an end that takes so much, with up to so many line breaks before it, the largest first: how lines and
/// tokens add up depends on where both meet.
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

/// More rounds than the digits of a number can change.
const ROUNDS: usize = 8;

/// Cuts the whole, or what stands before the closing of it, and tells what is missing of the whole.
pub(super) struct Cutter<'a, T> {
    pub(super) keeper: Keeper<'a, T>,
    /// What the notice speaks of.
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
            // A notice before the closing stands between ends.
            keeper.content.end = source.total;
            keeper.goes_on = true;
        }
        Cutter { keeper, whole, closing, policy }
    }

    /// The cut with this notice, or with the longest shorter one that fits.
    fn cut_with(&self, notice: &Notice) -> Clamped {
        let ladder = notice.ladder().chain([Cow::Owned(Notice::None)]);
        let mut rungs = ladder.filter_map(|notice| self.beside(&notice));
        rungs.next().unwrap_or_else(|| self.nothing())
    }

    /// The cut with this notice: inside a line where it does not fit beside whole ones.
    pub(super) fn beside(&self, notice: &Notice) -> Option<Clamped> {
        let unsnapped = || Cutter { keeper: self.keeper.unsnapped(), ..*self };
        self.with_notice(notice).or_else(|| unsnapped().with_notice(notice))
    }

    /// The cut with this notice, unless the notice does not fit.
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
        // A text that does not settle gets room for the largest form that was seen.
        let sides = self.keeper.beside(notice, &largest);
        let kept = sides.kept();
        let text = self.render(notice, self.place(kept), &self.counts(kept, needs));
        let settled = self.keeper.extent(&text).size.bytes <= self.keeper.extent(&largest).size.bytes
            && text.matches('\n').count() <= largest.matches('\n').count();
        if settled && self.fits_with(notice, kept, &text) { self.finish(notice, sides, text) } else { None }
    }

    /// Nothing kept and no notice.
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
            // A notice that takes the lines which the text would need gives way to one that is glued to it.
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

    /// The place beside text that takes the fewest lines.
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
    fn a_long_line_is_kept_in_part_and_its_end_is_no_text_of_its_own() {
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
    fn a_notice_gives_way_to_a_shorter_one() {
        let text = "y".repeat(500);
        let at = |chars| clamped(&text, &policy(Keep::Head, Limits { chars, ..Limits::NONE }, Notice::Hint));
        assert_eq!(at(40), "yyyyy[... 495 more characters truncated]");
        assert_eq!(at(10), "yyyyy[...]");
        assert_eq!(at(4), "yyyy");
        assert_eq!(at(0), "");
    }

    #[test]
    fn a_notice_fits_beside_a_cut_inside_a_line_or_a_blank_that_takes_it_along() {
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
    fn an_empty_notice_leaves_an_end_that_says_how_to_go_on() {
        let end = "\n[6 more lines in file. Use offset=4 to continue.]";
        let text = "x".repeat(300) + end;
        for empty in [Notice::Literal(String::new()), Notice::Template(String::new()), Notice::None] {
            let policy = policy(Keep::Head, Limits { chars: 150, ..Limits::NONE }, empty);
            assert_eq!(clamped(&text, &policy), "x".repeat(150 - end.len()) + end);
            // It shares the last line with what is kept before it.
            let limits = Limits { lines: 3, ..Limits::NONE };
            let end = ", \"nextCursor\": \"abc\"}";
            let text = format!("1\n2\n3\n4\n{end}");
            let policy = Policy { limits, snap: false, ..policy };
            assert_eq!(clamped(&text, &policy), "1\n2\n3".to_owned() + &end[2..]);
        }
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
                    Notice::Pi => (10_000 - kept).to_string(),
                    _ => crate::text::amounts::grouped(10_000 - kept),
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
