//! The text that tells a model what is missing.

use std::borrow::Cow;
use std::fmt::Write;

use super::size::Size;
use super::template;
use crate::policy::{Limits, UNLIMITED};

/// What a notice says, and how it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    None,
    /// Names the amounts and the limits, and what to ask for instead.
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

/// The figures a notice may name. Only those that it asks for need to be true, see [`Notice::needs`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub chars: Amount,
    pub bytes: Amount,
    pub lines: Amount,
    /// Such as `1-120,4803-5000`.
    pub kept_lines: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub omitted: usize,
    pub total: usize,
}

/// Which figures have to be counted for a notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub chars: bool,
    pub bytes: bool,
    pub lines: bool,
}

impl Needs {
    pub const ALL: Needs = Needs { chars: true, bytes: true, lines: true };
}

/// What a notice names besides figures.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    pub limits: &'a Limits,
    pub source: &'a str,
    /// The text is counted in bytes: it came as bytes, and no pass over it is wanted.
    pub in_bytes: bool,
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

    pub fn needs(&self, in_bytes: bool) -> Needs {
        match self {
            Notice::None | Notice::Dots | Notice::Literal(_) => Needs::default(),
            Notice::Hint => Needs { chars: !in_bytes, bytes: in_bytes, lines: false },
            Notice::Pi | Notice::Count | Notice::Mark => Needs { chars: true, ..Needs::default() },
            Notice::Template(template) => template::needs(template),
        }
    }

    /// The notice with its separators as it would stand between ends, were all of a text missing.
    pub fn largest(&self, all: Size, limits: &Limits, source: &str) -> String {
        let missing = |total| Amount { omitted: total, total };
        let counts = Counts {
            chars: missing(all.chars),
            bytes: missing(all.bytes),
            lines: missing(all.newlines),
            kept_lines: String::new(),
        };
        let text = self.render(Place::Between, &counts, Labels { limits, source, in_bytes: false });
        let (lead, trail) = self.separators(Place::Between);
        [lead, &text, trail].concat()
    }

    /// What stands between the notice and the text on either side of it.
    pub fn separators(&self, place: Place) -> (&'static str, &'static str) {
        match (place, self) {
            (_, Notice::None) | (Place::Alone, _) => ("", ""),
            (Place::Between, _) => ("\n\n", "\n\n"),
            (Place::BeforeTail, _) => ("", "\n"),
            (Place::AfterHead, Notice::Pi | Notice::Mark | Notice::Dots) => ("", ""),
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
                    "[tool output truncated: {} of {} {unit} omitted (limit {}); request smaller chunks \
                     (offset/limit) or specific sections]",
                    amount.omitted,
                    amount.total,
                    limits_text(labels.limits)
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
        }
    }
}

/// Names the limits in force: `50KB or 2000 lines`.
pub fn limits_text(limits: &Limits) -> String {
    let bytes = match limits.bytes {
        n if n >= 1 << 20 && n.is_multiple_of(1 << 20) => format!("{}MB", n >> 20),
        n if n >= 1 << 10 && n.is_multiple_of(1 << 10) => format!("{}KB", n >> 10),
        n => format!("{n}B"),
    };
    let named = [
        (limits.bytes, bytes),
        (limits.lines, format!("{} lines", limits.lines)),
        (limits.chars, format!("{} chars", limits.chars)),
        (limits.tokens, format!("{} tokens", limits.tokens)),
    ];
    let in_force: Vec<_> = named.into_iter().filter(|(n, _)| *n != UNLIMITED).map(|(_, text)| text).collect();
    in_force.join(" or ")
}

/// Groups digits by three: `12,345`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes kept lines as ranges, 1-based and inclusive; ranges that touch become one.
pub fn line_ranges(ranges: impl IntoIterator<Item = (usize, usize)>) -> String {
    let mut merged: Vec<(usize, usize)> = vec![];
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        match merged.last_mut() {
            Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    let mut text = String::new();
    for (first, last) in merged {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{first}-{last}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE };

    fn render(notice: &Notice, place: Place) -> String {
        let amount = Amount { omitted: 5_159_358, total: 5_210_412 };
        let counts = Counts { chars: amount, ..Counts::default() };
        notice.render(place, &counts, Labels { limits: &LIMITS, source: "stdout", in_bytes: false })
    }

    #[test]
    fn each_notice_reads_as_documented() {
        let cases = [
            (
                Notice::Hint,
                "[tool output truncated: 5159358 of 5210412 chars omitted (limit 50KB or 2000 lines); request \
                 smaller chunks (offset/limit) or specific sections]",
            ),
            (Notice::Pi, "[... 5159358 more characters truncated]"),
            (Notice::Count, "... (5,159,358 chars truncated from stdout)"),
            (Notice::Mark, "[... 5159358 chars omitted]"),
        ];
        for (notice, text) in cases {
            assert_eq!(render(&notice, Place::AfterHead), text);
        }
        assert_eq!(render(&Notice::Count, Place::Between), "... (5,159,358 chars truncated from stdout) ...");
    }

    #[test]
    fn limits_are_named_exactly() {
        let named = |bytes, lines, chars, tokens| {
            limits_text(&Limits { bytes, lines, chars, tokens, line_bytes: UNLIMITED })
        };
        assert_eq!(named(1_000, UNLIMITED, 40, 9), "1000B or 40 chars or 9 tokens");
        assert_eq!(named(2 << 20, 1, UNLIMITED, UNLIMITED), "2MB or 1 lines");
    }

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(line_ranges([(1, 120), (4_803, 5_000)]), "1-120,4803-5000");
        assert_eq!(line_ranges([(1, 3), (3, 9)]), "1-9");
        assert_eq!(line_ranges([(1, 0), (7, 7)]), "7-7");
    }
}
