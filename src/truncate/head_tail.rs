//! Keeps the head, the tail, or both ends of a text. Determines the kept parts and the notice
//! together.
//!
//! The two depend on each other: the notice takes up room and names the omitted amounts. We render
//! the notice for the most text that could be kept, make room for it, and render it again for the
//! text actually kept. Keeping less can only make the notice longer, so the first notice whose size
//! does not change is paired with the longest text that fits beside it.

use std::borrow::Cow;

use super::closing::Closing;
use super::figures::Figures;
use super::input::Input;
use super::long_lines::has_long_line;
use super::sides::{Fitter, Sides, separators};
use super::{Cut, Terms};
use crate::encoding::{Text, Utf8};
use crate::extent::Extent;
use crate::notice::counts::{Counts, NeededCounts};
use crate::notice::saved::SavedPart;
use crate::notice::{Notice, NoticePlace};
use crate::policy::Keep;

/// Rounds of rendering. Exceeds the number of times that a digit count can change.
const ROUNDS: usize = 8;

/// Truncates a text, or the part of it before its closing. Figures are those of the whole text.
pub struct HeadTail<'a, T> {
    pub fitter: Fitter<'a, T>,
    /// The text whose figures the notice names.
    whole: &'a Input<'a, T>,
    closing: Option<&'a Closing>,
    terms: Terms<'a>,
}

impl<'a, T: Text> HeadTail<'a, T> {
    pub fn new(
        input: &'a Input<'a, T>,
        whole: &'a Input<'a, T>,
        closing: Option<&'a Closing>,
        terms: Terms<'a>,
    ) -> Self {
        let mut fitter = Fitter::new(input, terms);
        if closing.is_some() {
            fitter.goes_on = true;
        }
        HeadTail { fitter, whole, closing, terms }
    }

    /// Returns the cut with the notice, or with the longest shorter one that fits.
    pub fn with_ladder(&self) -> Cut {
        let ladder = self.terms.notice.ladder(self.terms.saved(self.earlier()));
        let ladder = ladder.chain([Cow::Owned(Notice::None)]);
        let mut rungs = ladder.filter_map(|notice| self.with_notice(&notice));
        rungs.next().unwrap_or_else(|| self.cut(self.fitter.nothing(), "", ("", "")))
    }

    /// Returns the cut with this notice, or `None` if the notice does not fit. If it does not fit
    /// beside whole lines, the cut may fall inside a line.
    pub fn with_notice(&self, notice: &Notice) -> Option<Cut> {
        let unsnapped = || HeadTail { fitter: self.fitter.unsnapped(), ..*self };
        self.settle(notice).or_else(|| unsnapped().settle(notice))
    }

    /// Renders the notice until it describes the text that fits beside it.
    fn settle(&self, notice: &Notice) -> Option<Cut> {
        let needs = notice.needs(self.figures().in_bytes());
        let at_least = self.figures().at_least(&self.terms.limits, needs);
        let mut text = self.render(notice, self.likely_place(), &at_least);
        let mut largest = text.clone();
        for _ in 0..ROUNDS {
            let sides = self.fitter.beside(notice, &text);
            let next = self.render(notice, sides.place(), &self.counts(sides, needs));
            if next == text || self.fitter.extent(&next) == self.fitter.extent(&text) {
                return self.finish(notice, sides, next);
            }
            if next.len() >= largest.len() {
                largest.clone_from(&next);
            }
            text = next;
        }
        // If the size does not settle, reserve room for the largest notice seen.
        let sides = self.fitter.beside(notice, &largest);
        let text = self.render(notice, sides.place(), &self.counts(sides, needs));
        let settled = self.fitter.extent(&text).size.bytes <= self.fitter.extent(&largest).size.bytes
            && text.matches('\n').count() <= largest.matches('\n').count();
        if settled && self.fits_with(notice, sides, &text) { self.finish(notice, sides, text) } else { None }
    }

    fn finish(&self, notice: &Notice, sides: Sides, text: String) -> Option<Cut> {
        let (place, limits) = (sides.place(), &self.terms.limits);
        let (lead, trail) = separators(notice, place, &text);
        if [&text, lead].into_iter().any(|text| has_long_line(Utf8(text.as_bytes()), limits.line_bytes)) {
            return None;
        }
        if place == NoticePlace::Alone && !text.is_empty() {
            // If the notice takes the lines that the text needs, a glued notice is used instead.
            let (lead, trail) = notice.separators(self.least_place());
            let lines = 1 + lead.len() + trail.len() + text.matches('\n').count();
            if lines > limits.lines || !self.fitter.extent(&text).fits(limits) {
                return None;
            }
        }
        Some(self.cut(sides, &text, (lead, trail)))
    }

    fn cut(&self, sides: Sides, text: &str, (lead, trail): (&str, &str)) -> Cut {
        let (head, _) = self.fitter.input.parts(sides);
        let start = head.chars() + Utf8(lead.as_bytes()).chars();
        Cut {
            keep: match self.fitter.keep {
                Keep::Relevant if text.is_empty() => Keep::Head,
                Keep::Relevant => Keep::Ends,
                keep => keep,
            },
            sides,
            middle: [lead, text, trail].concat(),
            notice: start..start + text.encode_utf16().count(),
            within: None,
        }
    }

    fn fits_with(&self, notice: &Notice, sides: Sides, text: &str) -> bool {
        let limits = &self.terms.limits;
        let (lead, trail) = separators(notice, sides.place(), text);
        let (head, tail) = self.fitter.input.parts(sides);
        Extent::of(head, limits)
            .then(self.fitter.extent(&[lead, text, trail].concat()))
            .then(Extent::of(tail, limits))
            .fits(limits)
    }

    fn likely_place(&self) -> NoticePlace {
        NoticePlace::beside(self.fitter.keep != Keep::Tail, self.fitter.keep != Keep::Head)
    }

    /// Returns the place beside text that takes the fewest lines.
    fn least_place(&self) -> NoticePlace {
        if self.fitter.keep == Keep::Head { NoticePlace::AfterHead } else { NoticePlace::BeforeTail }
    }

    fn figures(&self) -> Figures<'_, T> {
        Figures { input: self.whole, earlier: &self.fitter.earlier, closing: self.closing }
    }

    fn counts(&self, sides: Sides, needs: NeededCounts) -> Counts {
        let end = if self.closing.is_some() { self.whole.total } else { sides.end };
        self.figures().of(Sides { end, ..sides }, needs)
    }

    fn render(&self, notice: &Notice, place: NoticePlace, counts: &Counts) -> String {
        notice.render(place, counts, self.terms.labels(self.figures().in_bytes(), self.earlier()))
    }

    /// Returns the saved output that earlier notices name, of this text or of those that were
    /// dropped beside it.
    fn earlier(&self) -> &SavedPart {
        match (self.fitter.earlier.told.saved(), self.whole.named) {
            (SavedPart::Nowhere, Some(named)) => named,
            (saved, _) => saved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::truncate_lines;
    use super::*;
    use crate::encoding::Utf8;
    use crate::limits::Limits;
    use crate::policy::Policy;

    fn clamped(text: &str, policy: &Policy) -> String {
        let input = Input::whole(Utf8(text.as_bytes()));
        let cut = truncate_lines(&input, policy.into());
        cut.map_or_else(|| text.to_owned(), |cut| String::from_utf8(cut.utf8(&input)).unwrap())
    }

    fn policy(keep: Keep, limits: Limits, notice: Notice) -> Policy {
        Policy { keep, limits, notice, ..Policy::default() }
    }

    #[test]
    fn a_long_line_is_truncated_without_a_separate_end() {
        let text = "x".repeat(60_000) + "\n";
        let head = Policy { keep: Keep::Head, ..Policy::default() };
        let all = Policy { notice: Notice::None, ..head.clone() };
        assert_eq!(clamped(&text, &all), "x".repeat(51_200));
        let hint = clamped(&text, &head);
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
                    _ => crate::notice::counts::grouped(10_000 - kept),
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
