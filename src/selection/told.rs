//! Reads the exit of a command from the frame of its output.

/// Maximum bytes of a line that are read.
const READ: usize = 120;

/// Returns true if the first or the last line of a text tells that a command failed: `Command
/// failed with exit code 1`, `[exit code 1]`, `npm ERR! code ELIFECYCLE`. `back`: the lines from
/// the last one on.
pub fn tells_failure<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    back: impl Iterator<Item = &'a [u8]>,
) -> bool {
    let said = |line: &&[u8]| !line.is_empty();
    let Some(first) = lines.map(<[u8]>::trim_ascii).find(said) else { return false };
    let last = back.map(<[u8]>::trim_ascii).find(said).unwrap_or(first);
    is_failed_command(first) || is_failed_command(last) || is_exit_line(last) || is_failed_object(first, last)
}

/// Returns true if a text is the JSON of an object with a member that tells of a failure near its
/// start or its end.
fn is_failed_object(first: &[u8], last: &[u8]) -> bool {
    if !(first.starts_with(b"{") && last.ends_with(b"}")) {
        return false;
    }
    let (start, end) = (&first[..first.len().min(READ)], &last[last.len() - last.len().min(READ)..]);
    [start, end].into_iter().any(|text| {
        memchr::memchr_iter(b'"', text)
            .any(|at| !text[..at].ends_with(b"\\") && is_failed_member(&text[at..]))
    })
}

/// Returns true if a text begins with the name and the value of a member that tells of a failure.
pub fn is_failed_member(text: &[u8]) -> bool {
    MEMBERS.iter().any(|member| text.strip_prefix(b"\"").is_some_and(|text| tells(text, member)))
}

/// The members of objects that tell of a failure: a number that is neither 0 nor the status of a
/// success, or a flag.
const MEMBERS: [(&str, Option<bool>); 9] = [
    ("exitCode", None),
    ("exit_code", None),
    ("code", None),
    ("status", None),
    ("success", Some(false)),
    ("ok", Some(false)),
    ("isError", Some(true)),
    ("is_error", Some(true)),
    ("failed", Some(true)),
];

fn tells(text: &[u8], (name, flag): &(&str, Option<bool>)) -> bool {
    let value = text.strip_prefix(name.as_bytes()).and_then(|text| text.strip_prefix(b"\""));
    let value = value.map(<[u8]>::trim_ascii_start).and_then(|text| text.strip_prefix(b":"));
    let Some(value) = value.map(<[u8]>::trim_ascii_start) else { return false };
    match flag {
        Some(flag) => value.starts_with(if *flag { b"true" } else { b"false" }),
        None => {
            let value = value.strip_prefix(b"-").unwrap_or(value);
            let length = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ends = matches!(value.get(length), Some(b',' | b'}' | b' '));
            let number = std::str::from_utf8(&value[..length]).ok().and_then(|digits| digits.parse().ok());
            ends && number.is_some_and(|number: u32| number != 0 && !(100..400).contains(&number))
        }
    }
}

fn is_failed_command(line: &[u8]) -> bool {
    let line = &line[..line.len().min(READ)];
    let rest =
        line.strip_prefix(b"Command failed with ").or_else(|| line.strip_prefix(b"Command exited with "));
    rest.and_then(|rest| rest.strip_prefix(b"exit code ").or_else(|| rest.strip_prefix(b"code ")))
        .is_some_and(is_bad)
}

fn is_exit_line(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]")).unwrap_or(line);
    line.strip_prefix(b"exit code ").is_some_and(is_bad)
        || memchr::memmem::find(line, b"ERR! code ").is_some()
}

fn is_bad(code: &[u8]) -> bool {
    let digits = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
    code[..digits].iter().any(|digit| *digit != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(text: &str) -> bool {
        let lines = text.split_inclusive('\n').map(str::as_bytes);
        tells_failure(lines.clone(), lines.rev())
    }

    #[test]
    fn exits_and_flags_of_failure_are_heard() {
        for text in [
            "a\nb\n\n[exit code 1]\n",
            "Command failed with exit code 127\na\nb\n",
            "a\nnpm ERR! code ELIFECYCLE\n",
            "a\n\nCommand exited with code 2",
            "{\"stdout\": \"a\", \"exitCode\": 1}",
            "{\"code\":-1,\"stdout\":\"a\"}",
            "{\"success\":false,\"log\":\"a\"}",
            "{\"log\":\"a\",\"is_error\":true}",
        ] {
            assert!(tells(text), "{text}");
        }
    }

    #[test]
    fn what_the_text_itself_says_is_no_exit() {
        for text in [
            "",
            "[exit code 0]",
            "a [exit code 1] b\nc",
            "Command failed with a bang\n",
            "{\"log\":\"{\\\"exitCode\\\":1}\"}",
            "{\"status\": 200, \"exitCode\": 0}",
            "{\"code\": 1.5}",
            "exitCode: 1",
        ] {
            assert!(!tells(text), "{text}");
        }
    }
}
