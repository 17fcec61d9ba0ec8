//! What a cut leaves of a text, whatever was asked to be kept.

use std::ops::Range;

use crate::findings::{self, Found};
use crate::limits::Limits;
use crate::policy::{Keep, Policy};
use crate::text::Text;
use crate::text::clamp::{clamp_before_closing, clamp_to};
use crate::text::figures::KeptLines;
use crate::text::notice::Notice;
use crate::text::size::Size;
use crate::text::source::{Clamped, Source};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One or both ends are kept.
    Ends(Clamped),
    /// Findings are kept, and some of both ends.
    Findings(Found),
}

/// Cuts a text to limits of its own, with a notice of its own; `None` when it fits. Where findings are asked for and
/// there are none, both ends are kept.
pub fn clamp<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Outcome> {
    clamp_with(source, limits, policy, notice, || findings::clamp(source, limits, policy, notice))
}

/// The same with a search of one's own, which is asked only where there may be something to find.
pub fn clamp_with<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
    search: impl FnOnce() -> Option<Found>,
) -> Option<Outcome> {
    if policy.searches()
        && !source.fits(limits)
        && let Some(found) = search()
    {
        // Where the search has no room for an end that says how to go on, the ends of the text may.
        let closed = || clamp_before_closing(source, limits, policy, notice);
        let ends = if found.closes { None } else { closed() };
        return Some(ends.map_or(Outcome::Findings(found), Outcome::Ends));
    }
    clamp_to(source, limits, policy, notice).map(Outcome::Ends)
}

impl Outcome {
    /// What was kept, [`Keep::Auto`] resolved.
    pub fn keep(&self) -> Keep {
        match self {
            Outcome::Ends(cut) => cut.keep,
            Outcome::Findings(_) => Keep::Findings,
        }
    }

    /// The clamped text, well-formed.
    pub fn text<T: Text>(&self, source: &Source<T>) -> Vec<u16> {
        match self {
            Outcome::Ends(cut) => source.compose(cut),
            Outcome::Findings(found) => found.text.encode_utf16().collect(),
        }
    }

    /// Where the notice stands in it, in chars.
    pub fn notice(&self) -> Range<usize> {
        match self {
            Outcome::Ends(cut) => {
                let (start, (lead, trail)) = (cut.sizes[0].chars, cut.separators);
                start + lead..start + cut.mid.encode_utf16().count() - trail
            }
            Outcome::Findings(found) => found.notice.clone(),
        }
    }

    /// The parts of a text of `length` chars that are kept, in chars.
    pub fn ranges(&self, length: usize) -> Vec<Range<usize>> {
        match self {
            Outcome::Ends(cut) => {
                let ([head, tail], [start, after]) = (cut.sizes, cut.around);
                let end = length - after;
                vec![start..start + head.chars, end - tail.chars..end]
            }
            Outcome::Findings(found) => found.ranges.clone(),
        }
    }

    /// What is kept of the input: its size, marks not counted, and its lines.
    pub fn kept<T: Text>(&self, source: &Source<T>) -> (Size, KeptLines) {
        match self {
            Outcome::Ends(cut) => source.kept(cut.kept),
            Outcome::Findings(found) => (found.kept, found.lines.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Utf8;

    #[test]
    fn an_end_that_says_how_to_go_on_stays_where_it_holds_the_only_finding() {
        let end = "\n\n[Showing lines 90-99 of 99. Full output: /tmp/a.log]\n\nCommand exited with code 1";
        let text = "\n".repeat(12) + end;
        let limits = Limits { lines: 12, ..Limits::NONE };
        let needles = vec!["/tmp/a.log".into()];
        let policy = Policy { limits, keep: Keep::Findings, needles, ..Policy::default() };
        let source = Source::whole(Utf8(text.as_bytes()));
        let outcome = clamp(&source, &limits, &policy, &policy.notice).unwrap();
        let text = String::from_utf16(&outcome.text(&source)).unwrap();
        assert!(text.ends_with(end), "{text}");
    }
}
