//! Custom notices with fields such as `{omittedChars}` or, with grouped digits, `{omittedChars:,}`.

use crate::notice::counts::{Counts, Labels, NeededCounts, grouped, limits_text};

/// Replaces the fields of a template. TypeScript has rejected unknown fields; other braces are kept
/// as text.
pub fn fill(template: &str, counts: &Counts, labels: Labels) -> String {
    let (mut text, mut from) = (String::with_capacity(template.len() + 16), 0);
    for (at, name) in braces(template) {
        if at < from {
            continue;
        }
        if let Some(value) = field(name, counts, labels) {
            text.push_str(&template[from..at]);
            text.push_str(&value);
            from = at + name.len() + 2;
        }
    }
    text.push_str(&template[from..]);
    text
}

/// Returns the figures that the fields of a template use. Text outside braces does not count.
pub fn needs(template: &str) -> NeededCounts {
    let names = |part: &str| braces(template).any(|(_, name)| name.contains(part));
    NeededCounts { chars: names("Chars"), bytes: names("Bytes"), lines: names("Lines") }
}

/// Yields the text between each opening brace and the next closing one, with the position of the
/// former.
fn braces(template: &str) -> impl Iterator<Item = (usize, &str)> {
    template.match_indices('{').filter_map(|(at, _)| {
        let inside = &template[at + 1..];
        Some((at, &inside[..inside.find('}')?]))
    })
}

fn field(name: &str, counts: &Counts, labels: Labels) -> Option<String> {
    let (name, group) = name.strip_suffix(":,").map_or((name, false), |name| (name, true));
    let number = match name {
        "omittedChars" => counts.chars.omitted,
        "totalChars" => counts.chars.total,
        "omittedBytes" => counts.bytes.omitted,
        "totalBytes" => counts.bytes.total,
        "omittedLines" => counts.lines.omitted,
        "totalLines" => counts.lines.total,
        "keptLines" => return Some(counts.kept_lines.clone()),
        "source" => return Some(labels.source.to_owned()),
        "saved" => return Some(labels.saved.name().to_owned()),
        "limits" => return Some(limits_text(&labels.limits)),
        _ => return None,
    };
    Some(if group { grouped(number) } else { number.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::notice::counts::Amount;
    use crate::notice::saved::{Location, SavedPart};

    #[test]
    fn only_fields_need_counting() {
        let chars = NeededCounts { chars: true, ..NeededCounts::default() };
        assert_eq!(needs("Lines and Bytes: {omittedChars:,}"), chars);
        assert_eq!(
            needs("{keptLines} of {totalBytes}"),
            NeededCounts { lines: true, bytes: true, ..NeededCounts::default() }
        );
    }

    #[test]
    fn fields_are_filled_and_other_braces_kept() {
        let chars = Amount { omitted: 1_234_567, total: 2_000_000 };
        let counts = Counts { chars, kept_lines: "1-3".into(), ..Counts::default() };
        let limits = Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE };
        let saved = SavedPart::Whole(Location::Path("a.log".into()));
        let labels = Labels { limits, source: "stdout", saved: &saved, pages: false, in_bytes: false };
        for (template, text) in [
            ("{source}: {omittedChars:,}/{totalChars}", "stdout: 1,234,567/2000000"),
            ("{ {keptLines} of {limits}: {saved} }", "{ 1-3 of 50KB or 2,000 lines: a.log }"),
            ("{} {a {b} {{source}} {", "{} {a {b} {stdout} {"),
        ] {
            assert_eq!(fill(template, &counts, labels), text);
        }
    }
}
