//! Notices in a caller's words, with fields such as `{omittedChars}` or, with grouped digits, `{omittedChars:,}`.

use super::notice::{Counts, Labels, grouped, limits_text};

/// Replaces the fields of a template. TypeScript has refused unknown ones; braces that hold none stand for themselves.
pub fn fill(template: &str, counts: &Counts, labels: Labels) -> String {
    let (mut text, mut rest) = (String::with_capacity(template.len() + 16), template);
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let found =
            inside.find('}').and_then(|close| Some((close, field(&inside[..close], counts, labels)?)));
        match found {
            Some((close, value)) => {
                text.push_str(&value);
                rest = &inside[close + 1..];
            }
            None => {
                text.push('{');
                rest = inside;
            }
        }
    }
    text.push_str(rest);
    text
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
        // Nothing is saved yet: a saved whole will be named here.
        "saved" => return Some(String::new()),
        "limits" => return Some(limits_text(labels.limits)),
        _ => return None,
    };
    Some(if group { grouped(number) } else { number.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Limits;
    use crate::text::notice::Amount;

    #[test]
    fn fields_are_filled_and_other_braces_stay() {
        let chars = Amount { omitted: 1_234_567, total: 2_000_000 };
        let counts = Counts { chars, kept_lines: "1-3".into(), ..Counts::default() };
        let limits = Limits { bytes: 51_200, lines: 2_000, ..Limits::NONE };
        let labels = Labels { limits: &limits, source: "stdout", in_bytes: false };
        for (template, text) in [
            ("{source}: {omittedChars:,}/{totalChars}", "stdout: 1,234,567/2000000"),
            ("{ {keptLines} of {limits}{saved} }", "{ 1-3 of 50KB or 2000 lines }"),
            ("{} {a {b} {{source}} {", "{} {a {b} {stdout} {"),
        ] {
            assert_eq!(fill(template, &counts, labels), text);
        }
    }
}
