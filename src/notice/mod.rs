//! The notice that tells a model about omitted text.

pub mod counts;
pub mod earlier;
pub mod locate;
pub mod parse;
pub mod saved;
pub mod span;
pub mod streams;
pub mod template;

use std::borrow::Cow;

use crate::encoding::Size;
use crate::notice::counts::{Amount, Counts, Labels, NeededCounts, grouped, limits_text};
use crate::notice::saved::SavedPart;

/// `MIDDLE_OMISSION_MARKER` of spillway/openclaw: what OpenClaw puts between two ends.
pub const MIDDLE: &str =
    "\n\n\u{26a0}\u{fe0f} [... middle content omitted \u{2014} showing head and tail ...]\n\n";

/// The content of a notice, which also determines its separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    None,
    /// Names the amounts, the exceeded limits, and the location of the full text or what to request
    /// instead.
    Hint,
    /// `[... N more characters truncated]`, in the format of Pi and OpenClaw. Also replaces longer
    /// notices that do not fit.
    Pi,
    /// Another notice, before a line `[Full output: NAME]`. Replaces a notice that does not name
    /// the saved output, if there is room and the output was saved.
    Named(Box<Notice>),
    /// `... (12,345 chars truncated from SOURCE)`, in the format of Daycare.
    Count,
    /// `[... N chars omitted]`, for all truncated blocks of a result except the last.
    Mark,
    /// `[...]`, if no longer notice fits.
    Dots,
    /// A caller's text with fields such as `{omittedChars}`.
    Template(String),
    /// A finished text.
    Literal(String),
    /// Another notice, placed directly after the head without a separator. Between two ends
    /// [`MIDDLE`] precedes it, by which users of OpenClaw tell such a cut.
    Glued(Box<Notice>),
}

/// The position of a notice: the sides of the text kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticePlace {
    AfterHead,
    BeforeTail,
    Between,
    Alone,
}

impl NoticePlace {
    pub fn beside(head: bool, tail: bool) -> NoticePlace {
        match (head, tail) {
            (true, true) => NoticePlace::Between,
            (true, false) => NoticePlace::AfterHead,
            (false, true) => NoticePlace::BeforeTail,
            (false, false) => NoticePlace::Alone,
        }
    }
}

impl Notice {
    /// Yields the notices to try, longest first. A notice that does not fit is replaced by a
    /// shorter one and never truncated. `saved`: the saved output of the text.
    pub fn ladder(&self, saved: &SavedPart) -> impl Iterator<Item = Cow<'_, Notice>> {
        let first = match self {
            Notice::Pi | Notice::Count | Notice::Glued(_) if saved.has_line() => Cow::Owned(self.named()),
            _ => Cow::Borrowed(self),
        };
        let shorter = match self {
            Notice::None | Notice::Dots => vec![],
            Notice::Mark => vec![Notice::Dots],
            Notice::Pi if !saved.has_line() => vec![Notice::Dots],
            Notice::Pi | Notice::Named(_) => vec![Notice::Pi, Notice::Dots],
            _ if saved.has_line() => vec![Notice::Pi.named(), Notice::Pi, Notice::Dots],
            _ => vec![Notice::Pi, Notice::Dots],
        };
        std::iter::once(first).chain(shorter.into_iter().map(Cow::Owned))
    }

    fn named(&self) -> Notice {
        Notice::Named(Box::new(self.clone()))
    }

    /// Returns true if the notice has no text. An empty [`Notice::Template`] or [`Notice::Literal`]
    /// counts as empty.
    pub fn is_empty(&self) -> bool {
        match self {
            Notice::None => true,
            Notice::Template(text) | Notice::Literal(text) => text.is_empty(),
            _ => false,
        }
    }

    pub fn needs(&self, in_bytes: bool) -> NeededCounts {
        match self {
            Notice::None | Notice::Dots | Notice::Literal(_) => NeededCounts::default(),
            Notice::Hint => NeededCounts { chars: !in_bytes, bytes: in_bytes, lines: false },
            Notice::Pi | Notice::Count | Notice::Mark => {
                NeededCounts { chars: true, ..NeededCounts::default() }
            }
            Notice::Template(template) => template::needs(template),
            Notice::Glued(notice) | Notice::Named(notice) => notice.needs(in_bytes),
        }
    }

    /// Returns true if the notice names limits. The exceeded limits must then be determined.
    pub fn names_limits(&self) -> bool {
        match self {
            Notice::Hint => true,
            Notice::Template(template) => template.contains("{limits}"),
            Notice::Glued(notice) | Notice::Named(notice) => notice.names_limits(),
            _ => false,
        }
    }

    /// Returns true if the notice says where the full text is saved, or why it is not.
    pub fn tells(&self, saved: &SavedPart) -> bool {
        match self {
            Notice::Hint => *saved != SavedPart::Nowhere,
            Notice::Template(template) => template.contains("{saved}") && !saved.name().is_empty(),
            _ => false,
        }
    }

    /// Returns true if a closing of another tool may follow the notice. A notice of a host stays
    /// last.
    pub fn closes(&self) -> bool {
        match self {
            Notice::Named(notice) => notice.closes(),
            _ => !matches!(self, Notice::Glued(_)),
        }
    }

    /// Returns true if the notice names a saved output, or another one takes its place that does.
    pub fn names_saved(&self) -> bool {
        matches!(self, Notice::Hint | Notice::Pi | Notice::Count | Notice::Named(_) | Notice::Glued(_))
    }

    /// Returns true if the notice itself names a saved output.
    pub fn tells_name(&self) -> bool {
        matches!(self, Notice::Hint | Notice::Named(_))
    }

    /// Renders the notice between two ends, with separators, as if all of the text were omitted.
    pub fn largest(&self, all: Size, labels: Labels) -> String {
        let missing = |total| Amount { omitted: total, total };
        let counts = Counts {
            chars: missing(all.chars),
            bytes: missing(all.bytes),
            lines: missing(all.newlines),
            ..Counts::default()
        };
        let ladder = self.ladder(labels.saved).next();
        let notice = ladder.as_deref().unwrap_or(self);
        let text = notice.render(NoticePlace::Between, &counts, labels);
        let (lead, trail) = notice.separators(NoticePlace::Between);
        [lead, &text, trail].concat()
    }

    /// Returns the separators before and after the notice.
    pub fn separators(&self, place: NoticePlace) -> (&'static str, &'static str) {
        match (place, self) {
            (_, Notice::None) | (NoticePlace::Alone, _) => ("", ""),
            (_, Notice::Named(notice)) => notice.separators(place),
            (NoticePlace::Between, Notice::Glued(_)) => (MIDDLE, "\n\n"),
            (NoticePlace::Between, _) => ("\n\n", "\n\n"),
            (NoticePlace::BeforeTail, _) => ("", "\n"),
            (NoticePlace::AfterHead, Notice::Pi | Notice::Mark | Notice::Dots | Notice::Glued(_)) => ("", ""),
            (NoticePlace::AfterHead, Notice::Count) => ("\n", ""),
            (NoticePlace::AfterHead, _) => ("\n\n", ""),
        }
    }

    pub fn render(&self, place: NoticePlace, counts: &Counts, labels: Labels) -> String {
        match self {
            Notice::None => String::new(),
            Notice::Hint => {
                let (amount, unit) =
                    if labels.in_bytes { (counts.bytes, "bytes") } else { (counts.chars, "chars") };
                format!(
                    "[tool output truncated: {} of {} {unit} omitted{} (limit {}); {}]",
                    grouped(amount.omitted),
                    grouped(amount.total),
                    counts.values(),
                    limits_text(&labels.limits),
                    labels.saved.advice(labels.pages)
                )
            }
            Notice::Pi => format!("[... {} more characters truncated]", counts.chars.omitted),
            Notice::Named(notice) => {
                let text = notice.render(place, counts, labels);
                match labels.saved.line() {
                    Some(line) => format!("{text}\n{line}"),
                    None => text,
                }
            }
            Notice::Count => {
                let more = if place == NoticePlace::Between { " ..." } else { "" };
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
    use crate::notice::saved::Location as At;

    const LIMITS: Limits = Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE };

    fn render(notice: &Notice, place: NoticePlace, saved: &SavedPart) -> String {
        let amount = Amount { omitted: 5_159_358, total: 5_210_412 };
        let counts = Counts { chars: amount, ..Counts::default() };
        let labels = Labels { limits: LIMITS, source: "stdout", saved, pages: false, in_bytes: false };
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
            assert_eq!(render(&notice, NoticePlace::AfterHead, &SavedPart::Nowhere), text);
        }
        let between = render(&Notice::Count, NoticePlace::Between, &SavedPart::Nowhere);
        assert_eq!(between, "... (5,159,358 chars truncated from stdout) ...");
    }

    #[test]
    fn the_hint_names_the_saved_output() {
        let ends = [
            (
                SavedPart::Whole(At::Path("/tmp/a.log".into())),
                "; full output saved as /tmp/a.log, read or search it there]",
            ),
            (
                SavedPart::Part(At::Id("a1".into())),
                "; the start of it saved as a1, page or search it with read_output]",
            ),
            (
                SavedPart::Failed("ENOSPC".into()),
                "; the rest could not be saved (ENOSPC); ask for less, or for specific sections]",
            ),
        ];
        for (saved, end) in ends {
            let text = render(&Notice::Hint, NoticePlace::AfterHead, &saved);
            assert!(text.ends_with(&format!("(limit 50KB or 2,000 lines){end}")), "{text}");
            assert_eq!(crate::notice::parse::parse(text.as_bytes()), Some((5_159_358, false)));
        }
    }

    #[test]
    fn the_hint_suggests_paging_if_the_tool_pages() {
        let saved = SavedPart::Nowhere;
        let labels = Labels { limits: LIMITS, source: "", saved: &saved, pages: true, in_bytes: false };
        let text = Notice::Hint.render(NoticePlace::AfterHead, &Counts::default(), labels);
        assert!(text.ends_with("; request smaller chunks (offset/limit) or specific sections]"), "{text}");
    }
}
