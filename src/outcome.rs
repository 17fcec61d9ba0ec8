//! The result of truncating one text.

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
    /// One or both ends of the text.
    Ends(Clamped),
    /// Findings and parts of both ends.
    Findings(Found),
}

/// Truncates a text to the given limits, with the given notice. Returns `None` if it fits. If findings are requested
/// but not found, both ends are kept.
pub fn clamp<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Outcome> {
    clamp_with(source, limits, policy, notice, || findings::clamp(source, limits, policy, notice))
}

/// Like [`clamp`], with a custom search, which runs only if the policy searches and the text does not fit.
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
        // If the search has no room for a closing, the ends of the text may.
        let ends = if found.closes { None } else { clamp_before_closing(source, limits, policy, notice) };
        return Some(ends.map_or(Outcome::Findings(found), Outcome::Ends));
    }
    clamp_to(source, limits, policy, notice).map(Outcome::Ends)
}

impl Outcome {
    /// Returns the kept part, [`Keep::Auto`] resolved.
    pub fn keep(&self) -> Keep {
        match self {
            Outcome::Ends(cut) => cut.keep,
            Outcome::Findings(_) => Keep::Findings,
        }
    }

    /// Returns the truncated text as well-formed UTF-16.
    pub fn text<T: Text>(&self, source: &Source<T>) -> Vec<u16> {
        match self {
            Outcome::Ends(cut) => source.compose(cut),
            Outcome::Findings(found) => found.text.encode_utf16().collect(),
        }
    }

    /// Returns the position of the notice in the truncated text, in chars.
    pub fn notice(&self) -> Range<usize> {
        match self {
            Outcome::Ends(cut) => {
                let (start, (lead, trail)) = (cut.sizes[0].chars, cut.separators);
                start + lead..start + cut.mid.encode_utf16().count() - trail
            }
            Outcome::Findings(found) => found.notice.clone(),
        }
    }

    /// Returns the kept parts of a text of `length` chars, in chars.
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

    /// Returns the size of the kept input, without marks, and its lines.
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
    fn a_closing_with_the_only_finding_is_kept() {
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
