//! Truncates a text by the single ladder that decides which parts stay.
//!
//! Each rung takes the text only if those above it could not:
//!
//! 1. Lines over `line_bytes` are cut to their beginnings. The text is then another one, with marks
//!    in it, and all later amounts count from the text before.
//! 2. A text within the limits stays as it is. If lines of it were cut, a notice may name the saved
//!    output (`saved_line`).
//! 3. The text of two streams that was cut before is cut stream by stream (`streams`), since each
//!    has a notice of its own.
//! 4. A closing, in which another tool says how to continue or a line tells of an exit, is kept
//!    (`closing`): first behind the lines of a search, then behind ends of the text before it. It
//!    is omitted where it would take the room of the name of the saved output.
//! 5. A policy that searches keeps the lines of the search (`compose`). A search that finds
//!    nothing, or leaves no room for its marks, falls through.
//! 6. The head, the tail or both ends stay (`head_tail`), beside the longest form of the notice
//!    that fits: as it was asked for, then with amounts alone, then `[...]`, then none. This rung
//!    takes every text.
//!
//! A text that was cut before goes through the rungs once more with its own size as the limits, if
//! the cut is larger than it in any of them: earlier limits hold, although nobody names them now.
//!
//! Every rung keeps to the same rules. A notice is part of the result and counts towards the
//! limits. Kept text is text of the input, in its order. Where the input is given as the windows
//! of its ends ([`input`]), the cut is that of the whole text: the windows are as long as any cut
//! can reach.

mod body;
pub mod closing;
pub mod compose;
pub mod figures;
pub mod fit;
mod head_tail;
pub mod important_end;
pub mod input;
pub mod long_lines;
pub mod pass;
mod saved_line;
pub mod sides;
mod streams;
pub mod whole_lines;
pub mod worded;

use std::borrow::Cow;
use std::ops::Range;

use crate::encoding::{Size, Text, Utf8};
use crate::extent::Extent;
use crate::limits::{Limits, Usage};
use crate::notice::Notice;
use crate::notice::counts::{Labels, NeededCounts};
use crate::notice::earlier::NoticeAmounts;
use crate::notice::saved::SavedPart;
use crate::policy::{Keep, Policy};
use crate::selection::{SearchTerms, Selection};
use closing::{Closing, keep_closing};
use figures::KeptParts;
use head_tail::HeadTail;
use input::{Input, bytes_in};
use long_lines::{cut_lines, has_long_line};
use sides::Sides;

/// A truncated text: the head and the tail of the input, and the text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The kept part, [`Keep::Auto`] resolved.
    pub keep: Keep,
    /// The parts of the input that stand unchanged at both ends of the result.
    pub sides: Sides,
    /// The text between the sides: a notice with its separators, or all that a search or the
    /// truncation of lines left.
    pub middle: String,
    /// The position of the notice in the result, in chars.
    pub notice: Range<usize>,
    /// The kept parts of the input, if `middle` has any.
    pub within: Option<KeptParts>,
}

/// The limits and the notice of one cut.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    pub policy: &'a Policy,
    /// The limits of this text, which may be less than those of the policy.
    pub limits: Limits,
    /// The notice of this text.
    pub notice: &'a Notice,
    /// The exceeded limits, which the notice names, if they were determined for more than this
    /// text.
    pub exceeded: Option<Limits>,
}

impl<'a> From<&'a Policy> for Terms<'a> {
    fn from(policy: &'a Policy) -> Terms<'a> {
        Terms { policy, limits: policy.limits, notice: &policy.notice, exceeded: None }
    }
}

impl<'a> Terms<'a> {
    /// Adds the exceeded limits if the notice names them and they are not known yet.
    pub fn naming(self, exceeded: impl FnOnce(&Limits) -> Limits) -> Terms<'a> {
        let unknown = self.exceeded.is_none() && self.notice.names_limits();
        Terms { exceeded: if unknown { Some(exceeded(&self.policy.limits)) } else { self.exceeded }, ..self }
    }

    /// Returns the labels of the notice. `in_bytes`: the text is counted in bytes. `earlier`: the
    /// saved output that the notice of an earlier cut names, which is used if this cut saves none.
    pub fn labels<'b>(&self, in_bytes: bool, earlier: &'b SavedPart) -> Labels<'b>
    where
        'a: 'b,
    {
        let Policy { limits, source, pages, .. } = self.policy;
        let limits = self.exceeded.unwrap_or(*limits);
        Labels { limits, source, saved: self.saved(earlier), pages: *pages, in_bytes }
    }

    /// Returns the saved output of this cut, or of an earlier one if this cut saves none or cannot.
    pub fn saved<'b>(&self, earlier: &'b SavedPart) -> &'b SavedPart
    where
        'a: 'b,
    {
        match &self.policy.saved {
            SavedPart::Nowhere => earlier,
            SavedPart::Failed(_) if !earlier.name().is_empty() => earlier,
            saved => saved,
        }
    }
}

/// Truncates a text to a policy, or returns `None` if it fits.
pub fn truncate<T: Text>(input: &Input<T>, policy: &Policy) -> Option<Cut> {
    let (terms, max) = (Terms::from(policy), policy.limits.line_bytes);
    if !has_long_line(input.head, max) {
        return truncate_lines(input, terms);
    }
    let lines = cut_lines(input.head, max);
    let bytes_of = |parts: &[Range<usize>]| bytes_in(input.head, &lines.ranges_of(parts));
    let cut = Input {
        bytes_of: (!T::UTF16).then_some(&bytes_of),
        ..Input::of_lines(&lines, input.size(NeededCounts::ALL))
    };
    let terms = terms.naming(|limits| input.exceeded(limits));
    let made = truncate_lines(&cut, Terms { limits: policy.limits.after_cutting_lines(), ..terms });
    let made = made.unwrap_or_else(|| Cut::whole(&cut));
    let kept = made.kept(&cut);
    let ranges = lines.ranges_of(&kept.ranges);
    let bytes = if T::UTF16 { kept.size.bytes } else { bytes_in(input.head, &ranges) };
    Some(made.detached(&cut, KeptParts { size: Size { bytes, ..kept.size }, ranges, ..kept }))
}

/// Truncates a text without overlong lines.
pub fn truncate_lines<T: Text>(input: &Input<T>, terms: Terms) -> Option<Cut> {
    truncate_with(input, terms, || Some(pass::select(input, &terms.limits, SearchTerms::of(terms.policy))))
}

/// Like [`truncate_lines`], with a search of its own, which runs only if the policy searches and
/// the text does not fit. If lines were truncated and the text fits, a notice may say where the
/// full text is saved.
pub fn truncate_with<'f, T: Text>(
    input: &Input<T>,
    terms: Terms,
    search: impl FnOnce() -> Option<Cow<'f, Selection>>,
) -> Option<Cut> {
    let fits = input.fits(&terms.limits);
    if fits && !(input.shows_marks() && terms.notice.tells(&terms.policy.saved)) {
        return None;
    }
    let terms = terms.naming(|limits| input.exceeded(limits));
    let input = &input.measured(terms.notice);
    let closing = terms.notice.closes().then(|| input.closing()).flatten();
    if fits {
        return saved_line::add(input, terms, closing.as_ref());
    }
    let streams = streams::of(input, terms);
    if let Some(cut) = streams::cut(input, &streams, terms) {
        return Some(cut);
    }
    let earlier = input.earlier();
    let (input, told) = (&Input { earlier: Some(&earlier), ..*input }, &earlier.told);
    // A search does not tell streams.
    let selection = if streams.is_empty() && terms.searches() { search() } else { None };
    let found =
        |terms: Terms, closing: Option<&Closing>| compose::cut(selection.as_ref()?, input, terms, closing);
    let ends = |text: &Input<T>, terms: Terms, closing: Option<&Closing>| {
        HeadTail::new(text, input, closing, terms).with_ladder()
    };
    // The name of the whole says more than a line about an exit: where both do not fit, the latter
    // goes.
    let is_exit = closing.as_ref().is_some_and(|closing| closing.is_exit);
    let saved = terms.saved(told.saved());
    let name = saved.name();
    let has_name = |cut: &Cut| {
        let names = is_exit && terms.notice.names_saved() && saved.has_line();
        !names || cut.middle.contains(name)
    };
    let make = |terms: Terms| {
        let closed = closing.as_ref().and_then(|closing| {
            let before = &input.before(closing.start);
            keep_closing(input, terms, closing, |room| found(room, Some(closing))).or_else(|| {
                keep_closing(input, terms, closing, |room| {
                    let cut = ends(before, room, Some(closing));
                    // If head and tail meet, the room may exceed the text before the closing, which
                    // is not all that must fit.
                    let Sides { start, head, tail, end } = cut.sides;
                    let is_all = start == 0 && head == tail && head > 0 && end == before.total;
                    (!is_all).then_some(cut)
                })
            })
        });
        let open = || found(terms, None).unwrap_or_else(|| ends(input, terms, None));
        match closed {
            Some(cut) if has_name(&cut) => cut,
            Some(cut) => Some(open()).filter(has_name).unwrap_or(cut),
            None => open(),
        }
    };
    let cut = make(terms);
    Some(match terms.within(input, *told != NoticeAmounts::default(), &cut) {
        Some(within) => make(within),
        None => cut,
    })
}

/// Minimum chars and bytes of a result for which a text is searched if the policy does not ask for
/// a search. In less, the marks of gaps leave no room for a line that says something; a notice that
/// counts what is missing says more.
const LEAST_SEARCHED: usize = 64;

/// Lines of a notice that names a saved output, with one line of text on both sides.
const NOTICE_LINES: usize = 6;

impl Terms<'_> {
    /// Returns the terms with limits bounded by the size of a text that was cut before, unless its
    /// new cut keeps to them: earlier limits hold for it, and another notice may take more room
    /// than the last.
    fn within<T: Text>(self, input: &Input<T>, was_cut: bool, cut: &Cut) -> Option<Self> {
        if !was_cut || !input.is_whole() {
            return None;
        }
        let Usage { bytes, lines, chars, .. } = input.extent(&Limits::NONE).usage();
        let Limits { line_bytes, tokens, .. } = self.limits;
        let [bytes, lines, chars] = [
            self.limits.bytes.min(bytes),
            self.limits.lines.min(lines.max(NOTICE_LINES)),
            self.limits.chars.min(chars),
        ];
        let limits = Limits { bytes, lines, chars, tokens, line_bytes };
        let is_larger = limits != self.limits && !Extent::of(Utf8(&cut.utf8(input)), &limits).fits(&limits);
        is_larger.then_some(Terms { limits, ..self })
    }

    /// Returns true if lines between the ends may be kept.
    fn searches(&self) -> bool {
        let is_small = self.limits.chars.min(self.limits.bytes) < LEAST_SEARCHED;
        self.policy.seeks_failure()
            || self.policy.keep == Keep::Relevant
            || (self.policy.keep == Keep::Auto || self.policy.reserves()) && !is_small
    }
}

impl Cut {
    /// Keeps all of a text whose lines were truncated.
    pub fn whole<T: Text>(input: &Input<T>) -> Cut {
        let end = input.chars();
        let sides = Sides::all(input.total);
        Cut { keep: Keep::Head, sides, middle: String::new(), notice: end..end, within: None }
    }

    /// Extends the cut of the text before `start` by the rest of the input. A notice of an earlier
    /// cut directly before `start` was dropped, so that the kept tail may end before it.
    fn with_end<T: Text>(mut self, input: &Input<T>, start: usize) -> Cut {
        let Sides { head, end, .. } = self.sides;
        if self.sides.has_tail() && end < start {
            let kept = self.kept(input).and_end(input, start);
            let sides = Sides { start: head, head, tail: start, end: start };
            self = Cut { sides, ..self.detached(input, kept) };
        }
        self.sides.keep_end(start..input.total);
        self
    }

    /// Makes the cut independent of its input.
    pub fn detached<T: Text>(self, input: &Input<T>, kept: KeptParts) -> Cut {
        let middle = self.string(input);
        Cut { sides: Sides::default(), middle, within: Some(kept), ..self }
    }

    /// Returns the truncated text as well-formed UTF-16.
    pub fn text<T: Text>(&self, input: &Input<T>) -> Vec<u16> {
        let (head, tail) = input.parts(self.sides);
        let mut text = Vec::with_capacity(head.len() + self.middle.len() + tail.len());
        head.write(&mut text);
        text.extend(self.middle.encode_utf16());
        tail.write(&mut text);
        text
    }

    /// Returns the truncated text as UTF-8.
    pub fn utf8<T: Text>(&self, input: &Input<T>) -> Vec<u8> {
        let (head, tail) = input.parts(self.sides);
        let mut text = vec![];
        head.each_utf8(&mut |piece| text.extend_from_slice(piece));
        text.extend_from_slice(self.middle.as_bytes());
        tail.each_utf8(&mut |piece| text.extend_from_slice(piece));
        text
    }

    /// Returns the truncated text as a string.
    pub fn string<T: Text>(&self, input: &Input<T>) -> String {
        String::from_utf8(self.utf8(input)).unwrap_or_default()
    }

    /// Returns the text of the notice. `before`: the chars of the kept head, none if the cut is
    /// independent of its input.
    pub fn notice_text(&self, before: usize) -> String {
        let units: Vec<u16> = self.middle.encode_utf16().collect();
        let [start, end] = [self.notice.start, self.notice.end].map(|at| at.saturating_sub(before));
        units.get(start..end).map_or_else(String::new, String::from_utf16_lossy)
    }

    /// Returns the kept parts of the input.
    pub fn kept<T: Text>(&self, input: &Input<T>) -> KeptParts {
        self.within.clone().unwrap_or_else(|| KeptParts::of(input, self.sides))
    }
}

#[cfg(test)]
mod tests {
    use super::figures::KeptLines;
    use super::*;
    use crate::encoding::Utf8;

    #[test]
    fn a_closing_with_the_only_finding_is_kept() {
        let end = "\n\n[Showing lines 90-99 of 99. Full output: /tmp/a.log]\n\nCommand exited with code 1";
        let text = "\n".repeat(12) + end;
        let limits = Limits { lines: 12, ..Limits::NONE };
        let needles = vec!["/tmp/a.log".into()];
        let policy = Policy { limits, keep: Keep::Findings, needles, ..Policy::default() };
        let input = Input::whole(Utf8(text.as_bytes()));
        let cut = truncate(&input, &policy).unwrap();
        let text = String::from_utf8(cut.utf8(&input)).unwrap();
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn kept_parts_of_truncated_lines_are_those_of_the_input() {
        let limits = Limits { line_bytes: 16, chars: 60, ..Limits::NONE };
        let policy = Policy { limits, keep: Keep::Head, notice: Notice::Pi, ..Policy::default() };
        let text = ("é".repeat(30) + "\nok\n").repeat(9);
        let input = Input::whole(Utf8(text.as_bytes()));
        let cut = truncate(&input, &policy).unwrap();
        // The notice with a number is longer than a line may be.
        let line = "éé[+28 chars]\nok\n";
        assert_eq!(String::from_utf8(cut.utf8(&input)).unwrap(), line.repeat(3) + "[...]");
        let kept = cut.kept(&input);
        assert_eq!(kept.ranges, [0..2, 30..36, 64..70, 98..102]);
        assert_eq!((kept.size.bytes, kept.size.chars), (2 * 6 + 4 * 3, 18));
        assert_eq!(kept.lines, KeptLines { ranges: vec![(1, 6)], total: 18 });
    }

    #[test]
    fn a_text_without_overlong_lines_fits() {
        let policy = Policy { limits: Limits { line_bytes: 3, ..Limits::NONE }, ..Policy::default() };
        assert_eq!(truncate(&Input::whole(Utf8(b"abc\r\nabc\n")), &policy), None);
    }
}
