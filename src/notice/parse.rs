//! Parses lines that are notices, marks or continuations.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::saved::SavedPart;

/// Bytes of the longest mark between findings.
pub const LONGEST_MARK: usize = 40;

/// Returns true if a line is a mark between findings: `[... 1,234 lines ...]`.
pub fn is_mark(line: &[u8]) -> bool {
    let Some((_, rest)) = line.strip_prefix(b"[... ").and_then(number) else { return false };
    matches!(rest, b" lines ...]" | b" line ...]" | b" chars ...]")
}

/// The text after the amount of a short notice: our endings, and newer ones of OpenClaw.
const ENDINGS: [&[u8]; 4] = [
    b" more characters truncated]",
    b" chars omitted]",
    b" more characters truncated; rerun with narrower args if needed]",
    b" chars truncated; narrow args]",
];

/// Parses a notice. Returns the omitted amount and true if it is in bytes.
pub fn parse(line: &[u8]) -> Option<(usize, bool)> {
    if let Some(rest) = line.strip_prefix(b"[tool output truncated: ") {
        let (hidden, rest) = number(rest)?;
        let (_, rest) = number(rest.strip_prefix(b" of ")?)?;
        let in_bytes = rest.starts_with(b" bytes omitted ");
        let goes_on = |words: &[u8]| words.starts_with(b"(") || words.starts_with(b"with ");
        return (rest.ends_with(b"]") && (in_bytes || rest.starts_with(b" chars omitted ")))
            .then_some((hidden, in_bytes))
            .filter(|_| goes_on(&rest[b" chars omitted ".len()..]));
    }
    if let Some(rest) = line.strip_prefix(b"[... ") {
        let (hidden, rest) = number(rest)?;
        return ENDINGS.contains(&rest).then_some((hidden, false));
    }
    let (hidden, rest) = number(line.strip_prefix(b"... (")?)?;
    let source = rest.strip_prefix(b" chars truncated from ")?;
    (source.ends_with(b")") || source.ends_with(b") ...")).then_some((hidden, false))
}

/// Returns true if a line is a notice, or ends in one, that a line with the name of the saved
/// output may follow.
pub fn takes_name(line: &[u8]) -> bool {
    let glued = memchr::memmem::rfind(line, b"[... ").and_then(|at| parse(&line[at..]));
    glued.is_some() || line.starts_with(b"... (") && parse(line).is_some()
}

/// Returns the saved output that a notice names.
pub fn saved(notice: &[u8]) -> SavedPart {
    let advice = || {
        let text = std::str::from_utf8(notice).ok()?.strip_prefix("[tool output truncated: ")?;
        text.strip_suffix(']')?.split_once("); ")
    };
    advice().map_or(SavedPart::Nowhere, |(_, advice)| SavedPart::parse(advice))
}

/// Returns true if a text contains one of our notices or marks, in any position. Their fixed parts
/// are ASCII, so any encoding will do that keeps ASCII as it is.
pub fn has_notice(text: &[u8]) -> bool {
    static CUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let notices = [
            r"\[tool output truncated: ",
            r"\[\.\.\. [0-9]+ (more characters truncated|chars omitted)\]",
            r"\.\.\. \([0-9,]+ chars truncated from ",
            r"(?mR:\[\+[0-9]+ chars\]$|^\[\.\.\.\]$)",
        ];
        Regex::new(&notices.join("|")).ok()
    });
    CUT.as_ref().is_some_and(|cut| cut.is_match(text))
}

/// The continuation that another tool offers at the end of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// Total lines that the tool could return, if named.
    Of(Option<usize>),
    /// Lines not yet returned.
    More(usize),
}

/// Parses a line that says how to continue, as Pi ends results of its read and bash tools, and
/// OpenClaw saved results.
pub fn continuation(line: &[u8]) -> Option<Continuation> {
    let after = |words: &[u8]| memchr::memmem::find(line, words).map(|at| &line[at + words.len()..]);
    let goes_on =
        after(b"Use offset=").and_then(number).is_some_and(|(_, rest)| rest.starts_with(b" to continue"));
    let is_saved = after(b"Full output: ").is_some_and(|place| place.len() > 1);
    let left =
        line.strip_prefix(b"[").and_then(number).filter(|(_, rest)| rest.starts_with(b" more lines in file"));
    if let Some((left, _)) = left {
        return Some(Continuation::More(left));
    }
    let all = line.strip_prefix(b"[Showing lines ").and_then(|_| after(b" of ")).and_then(number);
    (goes_on || is_saved).then_some(Continuation::Of(all.map(|(all, _)| all)))
}

/// Returns true if a line reports how a command ended: in our words, or in those of Pi.
pub fn is_exit(line: &[u8]) -> bool {
    breaks_before_exit(line) > 0
}

/// Returns the newlines that end the text before a line about an exit: Pi writes a blank line
/// before its own. Returns zero for other lines.
pub fn breaks_before_exit(line: &[u8]) -> usize {
    let words: [&[u8]; 3] = [b"Command exited with code ", b"Command timed out after ", b"Command aborted"];
    match words.iter().any(|words| line.starts_with(words)) {
        true => 2,
        false => usize::from(is_own_exit(line)),
    }
}

/// Bytes of our longest line about an exit.
pub const LONGEST_EXIT: usize = 120;

/// Parses `[timed out, killed by SIGNAL, exit code N]`, in which any part may be missing.
/// `exitLine` in lib/capture/process.ts writes it.
fn is_own_exit(line: &[u8]) -> bool {
    let Some(mut rest) = line.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else {
        return false;
    };
    if line.len() > LONGEST_EXIT {
        return false;
    }
    if let Some(more) = rest.strip_prefix(b"timed out") {
        let Some(more) = more.strip_prefix(b", ") else { return more.is_empty() };
        rest = more;
    }
    if let Some(signal) = rest.strip_prefix(b"killed by ") {
        let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_+-?".contains(byte);
        let name = signal.iter().take_while(is_of_name).count();
        if name == 0 || name == signal.len() {
            return name > 0;
        }
        let Some(more) = signal[name..].strip_prefix(b", ") else { return false };
        rest = more;
    }
    let code = rest.strip_prefix(b"exit code ").map(|code| code.strip_prefix(b"-").unwrap_or(code));
    code.is_some_and(|code| !code.is_empty() && code.iter().all(u8::is_ascii_digit))
}

/// Returns the start of the JSON member `nextCursor`, which MCP uses for paging.
pub fn cursor(text: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\"nextCursor\"";
    let at = memchr::memmem::rfind(text, NAME)?;
    let value = text[at + NAME.len()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    (value.starts_with(b"\"") && !value.starts_with(b"\"\"")).then_some(at)
}

/// Parses a number with optional grouping. Rejects more than fifteen digits: no text is that large.
fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b',').unwrap_or(text.len());
    let digits: String =
        text[..end].iter().filter(|byte| **byte != b',').map(|&byte| char::from(byte)).collect();
    let value = if digits.len() <= 15 { digits.parse().ok()? } else { return None };
    Some((value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_names_the_omitted_amount() {
        for (line, told) in [
            ("[tool output truncated: 70 of 90 chars omitted (limit 9B); x]", Some((70, false))),
            ("[tool output truncated: 1,070 of 2,090 bytes omitted (limit 9B); x]", Some((1_070, true))),
            ("[tool output truncated: 7 of 9 chars omitted with 2 members (limit 9B); x]", Some((7, false))),
            ("[tool output truncated: 7 of 9 chars omitted x (limit 9B); x]", None),
            ("[... 12 more characters truncated]", Some((12, false))),
            ("... (1,234 chars truncated from x)", Some((1_234, false))),
            ("[... 12 more characters truncated] x", None),
            ("[... 9999999999999999 more characters truncated]", None),
            ("[... 12 lines ...]", None),
        ] {
            assert_eq!(parse(line.as_bytes()), told, "{line}");
        }
    }

    #[test]
    fn continuations_are_parsed() {
        for (line, told) in [
            (
                "[Showing lines 1-1603 of 5000 (50.0KB limit). Use offset=1604 to continue.]",
                Some(Continuation::Of(Some(5_000))),
            ),
            ("[12 more lines in file. Use offset=9 to continue.]", Some(Continuation::More(12))),
            (
                "[Showing last 1.0KB of line 9 (line is 2.0MB). Full output: /tmp/a.log]",
                Some(Continuation::Of(None)),
            ),
            ("Full output: /tmp/a.log", Some(Continuation::Of(None))),
            ("Use offset=x to continue", None),
            ("more lines in file", None),
            ("Full output: ", None),
        ] {
            assert_eq!(continuation(line.as_bytes()), told, "{line}");
        }
        assert_eq!(cursor(br#"{"a":1,"nextCursor" : "b"}"#), Some(7));
        assert!(cursor(br#"{"nextCursor":null}"#).is_none() && cursor(br#"{"nextCursor":""}"#).is_none());
    }

    #[test]
    fn an_exit_takes_up_the_whole_line() {
        for line in [
            "[exit code 0]",
            "[exit code -1]",
            "[timed out]",
            "[killed by SIGKILL]",
            "[timed out, killed by SIGRTMIN+3, exit code 137]",
            "Command exited with code 1",
        ] {
            assert!(is_exit(line.as_bytes()), "{line}");
        }
        for line in [
            "[killed by a], b, exit code 1]",
            "[exit code ]",
            "[exit code 0",
            "exit code 0]",
            "[timed out, ]",
            "[killed by ]",
            "[]",
        ] {
            assert!(!is_exit(line.as_bytes()), "{line}");
        }
        assert!(!is_exit(format!("[killed by {}]", "x".repeat(LONGEST_EXIT)).as_bytes()));
    }

    #[test]
    fn a_mark_takes_up_the_whole_line() {
        assert!(is_mark(b"[... 1,234 lines ...]") && is_mark(b"[... 1 line ...]"));
        assert!(!is_mark(b"[... lines ...]") && !is_mark(b"[... 1 line ...] x"));
    }

    #[test]
    fn notices_and_marks_are_found_in_any_position() {
        for cut in [
            "x [tool output truncated: 7",
            "[... 12 more characters truncated]",
            "a [... 9 chars omitted] b",
            "... (1,234 chars truncated from out)",
            "[+12 chars]\r\n",
            "[+1 chars]",
            "a\n[...]\nb",
            "a\r[...]\nb",
        ] {
            assert!(has_notice(cut.as_bytes()), "{cut:?}");
        }
        for whole in [
            "[... x chars omitted]",
            "[+12 chars] b",
            "[... 1,2 chars omitted]",
            "... ( chars truncated from",
            "[+ chars]",
            "a [...]",
            "[...] a",
        ] {
            assert!(!has_notice(whole.as_bytes()), "{whole:?}");
        }
    }
}
