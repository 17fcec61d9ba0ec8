//! Hears what the frame of a text tells: the exit of the command that printed it.

/// Maximum bytes of a line that are read.
const READ: usize = 120;

/// Returns true if the first or the last line of a text tells that a command failed: `Command failed with exit code 1`,
/// `[exit code 1]`, `npm ERR! code ELIFECYCLE`.
pub fn tells_failure<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut said = lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let Some(first) = said.next() else { return false };
    let last = said.last().unwrap_or(first);
    is_failed_command(first) || is_failed_command(last) || is_exit_line(last)
}

fn is_failed_command(line: &[u8]) -> bool {
    let line = &line[..line.len().min(READ)];
    let rest = line.strip_prefix(b"Command failed with ").or_else(|| line.strip_prefix(b"Command exited with "));
    rest.and_then(|rest| rest.strip_prefix(b"exit code ").or_else(|| rest.strip_prefix(b"code "))).is_some_and(is_bad)
}

fn is_exit_line(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]")).unwrap_or(line);
    line.strip_prefix(b"exit code ").is_some_and(is_bad) || memchr::memmem::find(line, b"ERR! code ").is_some()
}

fn is_bad(code: &[u8]) -> bool {
    let digits = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
    code[..digits].iter().any(|digit| *digit != b'0')
}
