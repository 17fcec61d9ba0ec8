//! The text that tells a model what is missing.

use std::borrow::Cow;

use super::amounts::{Amount, Counts, Labels, Needs, grouped, limits_text};
use super::saved::Saved;
use super::size::Size;
use super::template;

/// What a notice says, and how it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    None,
    /// Names the amounts, the limits that were broken, and where the rest is or what to ask for instead.
    Hint,
    /// `[... N more characters truncated]`, as Pi and OpenClaw write it; also what a longer notice gives way to.
    Pi,
    /// `... (12,345 chars truncated from SOURCE)`, as Daycare writes it.
    Count,
    /// `[... N chars omitted]`, for all but the last cut block of a result.
    Mark,
    /// `[...]`, where nothing longer fits.
    Dots,
    /// A caller's text with fields such as `{omittedChars}`.
    Template(String),
    /// A text that is already worked out.
    Literal(String),
    /// Another that stands right behind a head, with no separator of ours.
    Glued(Box<Notice>),
}

/// Where a notice stands: which sides of the text are kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    AfterHead,
    BeforeTail,
    Between,
    Alone,
}

impl Place {
    pub fn beside(head: bool, tail: bool) -> Place {
        match (head, tail) {
            (true, true) => Place::Between,
            (true, false) => Place::AfterHead,
            (false, true) => Place::BeforeTail,
            (false, false) => Place::Alone,
        }
    }
}

impl Notice {
    /// The notices to try, in order: one that does not fit gives way to a shorter one, and is never cut.
    pub fn ladder(&self) -> impl Iterator<Item = Cow<'_, Notice>> {
        let shorter: &[Notice] = match self {
            Notice::None | Notice::Dots => &[],
            Notice::Pi | Notice::Mark => &[Notice::Dots],
            _ => &[Notice::Pi, Notice::Dots],
        };
        std::iter::once(Cow::Borrowed(self)).chain(shorter.iter().cloned().map(Cow::Owned))
    }

    /// Tells whether it has no words: a cut beside which nothing stands has all of it.
    pub fn is_empty(&self) -> bool {
        match self {
            Notice::None => true,
            Notice::Template(text) | Notice::Literal(text) => text.is_empty(),
            _ => false,
        }
    }

    pub fn needs(&self, in_bytes: bool) -> Needs {
        match self {
            Notice::None | Notice::Dots | Notice::Literal(_) => Needs::default(),
            Notice::Hint => Needs { chars: !in_bytes, bytes: in_bytes, lines: false },
            Notice::Pi | Notice::Count | Notice::Mark => Needs { chars: true, ..Needs::default() },
            Notice::Template(template) => template::needs(template),
            Notice::Glued(notice) => notice.needs(in_bytes),
        }
    }

    /// Tells whether it names limits, so that those which were broken have to be known.
    pub fn names_limits(&self) -> bool {
        match self {
            Notice::Hint => true,
            Notice::Template(template) => template.contains("{limits}"),
            Notice::Glued(notice) => notice.names_limits(),
            _ => false,
        }
    }

    /// Tells whether it says where the whole of a text is, or why it is nowhere.
    pub fn tells(&self, saved: &Saved) -> bool {
        match self {
            Notice::Hint => *saved != Saved::Nowhere,
            Notice::Template(template) => template.contains("{saved}") && !saved.name().is_empty(),
            _ => false,
        }
    }

    /// Whether an end in which another tool says how to go on may stand behind it: what a host writes stays the last.
    pub fn closes(&self) -> bool {
        !matches!(self, Notice::Glued(_))
    }

    /// The notice with its separators as it would stand between ends, were all of a text missing.
    pub fn largest(&self, all: Size, labels: Labels) -> String {
        let missing = |total| Amount { omitted: total, total };
        let counts = Counts {
            chars: missing(all.chars),
            bytes: missing(all.bytes),
            lines: missing(all.newlines),
            kept_lines: String::new(),
        };
        let text = self.render(Place::Between, &counts, labels);
        let (lead, trail) = self.separators(Place::Between);
        [lead, &text, trail].concat()
    }

    /// What stands between the notice and the text on either side of it.
    pub fn separators(&self, place: Place) -> (&'static str, &'static str) {
        match (place, self) {
            (_, Notice::None) | (Place::Alone, _) => ("", ""),
            (Place::Between, _) => ("\n\n", "\n\n"),
            (Place::BeforeTail, _) => ("", "\n"),
            (Place::AfterHead, Notice::Pi | Notice::Mark | Notice::Dots | Notice::Glued(_)) => ("", ""),
            (Place::AfterHead, Notice::Count) => ("\n", ""),
            (Place::AfterHead, _) => ("\n\n", ""),
        }
    }

    pub fn render(&self, place: Place, counts: &Counts, labels: Labels) -> String {
        match self {
            Notice::None => String::new(),
            Notice::Hint => {
                let (amount, unit) =
                    if labels.in_bytes { (counts.bytes, "bytes") } else { (counts.chars, "chars") };
                format!(
                    "[tool output truncated: {} of {} {unit} omitted (limit {}); {}]",
                    grouped(amount.omitted),
                    grouped(amount.total),
                    limits_text(labels.limits),
                    labels.saved.advice(labels.pages)
                )
            }
            Notice::Pi => format!("[... {} more characters truncated]", counts.chars.omitted),
            Notice::Count => {
                let more = if place == Place::Between { " ..." } else { "" };
                format!(
                    "... ({} chars truncated from {}){more}",
                    grouped(counts.chars.omitted),
                    labels.source
                )
            }
            Notice::Mark => format!("[... {} chars omitted]", counts.chars.omitted),
            Notice::Dots => "[...]".into(),
            Notice::Template(template) => template::fill(template, counts, labels),
            Notice::Literal(text) => text.clone(),
            Notice::Glued(notice) => notice.render(place, counts, labels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::text::saved::Place as At;

    const LIMITS: Limits = Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE };

    fn render(notice: &Notice, place: Place, saved: &Saved) -> String {
        let amount = Amount { omitted: 5_159_358, total: 5_210_412 };
        let counts = Counts { chars: amount, ..Counts::default() };
        let labels = Labels { limits: &LIMITS, source: "stdout", saved, pages: false, in_bytes: false };
        notice.render(place, &counts, labels)
    }

    #[test]
    fn each_notice_reads_as_documented() {
        let cases = [
            (
                Notice::Hint,
                "[tool output truncated: 5,159,358 of 5,210,412 chars omitted (limit 50KB or 2,000 lines); ask for \
                 less, or for specific sections]",
            ),
            (Notice::Pi, "[... 5159358 more characters truncated]"),
            (Notice::Count, "... (5,159,358 chars truncated from stdout)"),
            (Notice::Mark, "[... 5159358 chars omitted]"),
        ];
        for (notice, text) in cases {
            assert_eq!(render(&notice, Place::AfterHead, &Saved::Nowhere), text);
        }
        let between = render(&Notice::Count, Place::Between, &Saved::Nowhere);
        assert_eq!(between, "... (5,159,358 chars truncated from stdout) ...");
    }

    #[test]
    fn the_hint_tells_where_the_whole_is() {
        let ends = [
            (
                Saved::Whole(At::Path("/tmp/a.log".into())),
                "; full output saved as /tmp/a.log, read or search it there or with read_output]",
            ),
            (
                Saved::Part(At::Id("a1".into())),
                "; the start of it saved as a1, page or search it with read_output]",
            ),
            (
                Saved::Failed("ENOSPC".into()),
                "; the rest could not be saved (ENOSPC); ask for less, or for specific sections]",
            ),
        ];
        for (saved, end) in ends {
            let text = render(&Notice::Hint, Place::AfterHead, &saved);
            assert!(text.ends_with(&format!("(limit 50KB or 2,000 lines){end}")), "{text}");
            assert_eq!(crate::text::notice_line::parse(text.as_bytes()), Some((5_159_358, false)));
        }
    }

    #[test]
    fn a_tool_that_gives_parts_is_to_be_asked_for_them() {
        let saved = Saved::Nowhere;
        let labels = Labels { limits: &LIMITS, source: "", saved: &saved, pages: true, in_bytes: false };
        let text = Notice::Hint.render(Place::AfterHead, &Counts::default(), labels);
        assert!(text.ends_with("; request smaller chunks (offset/limit) or specific sections]"), "{text}");
    }
}
