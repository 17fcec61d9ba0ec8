//! Cuts a text to a policy: finds what to keep and the notice that tells what is missing, together.
//!
//! The two depend on each other: the notice takes room and names what did not fit. So a notice is worked out for the
//! most that could be kept, room is made for it, and it is worked out again for what was kept; as less is kept it can
//! only grow, so the first one that keeps its size stands beside the most that can be kept with it.

use std::borrow::Cow;

use super::amounts::Counts;
use super::extent::Extent;
use super::figures::Figures;
use super::lines::longest_line;
use super::notice::{Notice, Place};
use super::sides::{Keeper, Sides, separators};
use super::size::Size;
use super::source::{Clamped, Kept, Source};
use super::units::Text;
use crate::limits::Limits;
use crate::policy::{Keep, Policy};

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
    let cutter = Cutter { keeper: Keeper::new(source, limits, policy, notice), policy };
    let ladder = notice.ladder().chain([Cow::Owned(Notice::None)]);
    let mut rungs = ladder.filter_map(|notice| cutter.with_notice(&notice));
    Some(rungs.next().unwrap_or_else(|| cutter.nothing()))
}

/// More rounds than the digits of a number can change.
const ROUNDS: usize = 8;

struct Cutter<'a, T> {
    keeper: Keeper<'a, T>,
    policy: &'a Policy,
}

impl<T: Text> Cutter<'_, T> {
    /// The cut with this notice, unless the notice does not fit.
    fn with_notice(&self, notice: &Notice) -> Option<Clamped> {
        let needs = notice.needs(self.figures().in_bytes());
        let mut text =
            self.render(notice, self.likely_place(), &self.figures().at_least(self.keeper.limits, needs));
        let mut largest = text.clone();
        for _ in 0..ROUNDS {
            let sides = self.keeper.beside(notice, &text);
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
        let sides = self.keeper.beside(notice, &largest);
        let kept = sides.kept();
        let text = self.render(notice, self.place(kept), &self.figures().of(kept, needs));
        let settled = self.keeper.extent(&text).size.bytes <= self.keeper.extent(&largest).size.bytes
            && text.matches('\n').count() <= largest.matches('\n').count();
        if settled && self.fits_with(notice, kept, &text) { self.finish(notice, sides, text) } else { None }
    }

    /// Nothing kept and no notice.
    fn nothing(&self) -> Clamped {
        Clamped {
            head: 0,
            tail: self.keeper.source.total,
            mid: String::new(),
            separators: (0, 0),
            keep: self.keeper.keep,
            sizes: [Size::default(); 2],
        }
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
        Some(Clamped {
            head: kept.head,
            tail: kept.tail,
            separators: (lead.len(), trail.len()),
            mid: [lead, &text, trail].concat(),
            keep: self.keeper.keep,
            sizes: [sides.head.size, sides.tail.size],
        })
    }

    fn fits_with(&self, notice: &Notice, kept: Kept, text: &str) -> bool {
        let limits = self.keeper.limits;
        let (lead, trail) = separators(notice, self.place(kept), text);
        Extent::of(self.keeper.source.head.slice(0..kept.head), limits)
            .then(self.keeper.extent(&[lead, text, trail].concat()))
            .then(Extent::of(self.keeper.source.tail_from(kept.tail), limits))
            .fits(limits)
    }

    fn place(&self, kept: Kept) -> Place {
        Place::beside(kept.head > 0, kept.tail < self.keeper.source.total)
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
        Figures { source: self.keeper.source, earlier: &self.keeper.earlier }
    }

    fn render(&self, notice: &Notice, place: Place, counts: &Counts) -> String {
        notice.render(place, counts, self.policy.labels(self.figures().in_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Utf8;

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
                    Notice::Count => crate::text::amounts::grouped(10_000 - kept),
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
