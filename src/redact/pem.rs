//! Finds a private key in PEM, also with a prefix before each of its lines: numbers, times, names
//! of files or services, comments, quotes of a program.
//!
//! A line of a key is one long run of base64, or ends in one. Without its END line a key ends with
//! its last such line.

use super::MARK;

/// Most bytes before the base64 of a line.
const PREFIX: usize = 200;

/// Base64 that is a line of a key after any prefix.
const LONG: usize = 40;

/// Base64 that is a line of a key without a prefix.
const SHORT: usize = 16;

/// Most bytes of a line that something precedes.
const WIDEST: usize = PREFIX + 1024;

/// Most bytes of a key.
const MOST: usize = 32 << 10;

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Returns the length of a frame such as `-----BEGIN RSA PRIVATE KEY-----` at the start of a text.
fn frame(text: &[u8], word: &[u8]) -> Option<usize> {
    let label = text.strip_prefix(b"-----")?.strip_prefix(word)?;
    let long = label
        .iter()
        .take(64)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ')
        .count();
    let (label, rest) = label.split_at(long);
    let is_key = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (is_key && rest.starts_with(b"-----")).then_some(5 + word.len() + long + 5)
}

/// Returns the length of what parts two lines: white space, escaped or not, and the ends of quoted
/// lines within.
fn gap(text: &[u8]) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(&byte) = text.get(at).filter(|_| at < 80) {
        let slashes = text[at..].iter().take(9).take_while(|&&byte| byte == b'\\').count();
        match text.get(at + slashes) {
            _ if byte.is_ascii_whitespace() => at += 1,
            Some(b'n' | b'r' | b't') if slashes > 0 => at += slashes + 1,
            Some(b'"' | b'\'' | b'`' | b',' | b';' | b'+') => {
                at += slashes + 1;
                continue;
            }
            _ => break,
        }
        end = at;
    }
    end
}

/// The next line of a key: where its base64 begins and ends, and where its line ends.
struct KeyLine {
    from: usize,
    to: usize,
    next: usize,
}

/// Reads a line up to a newline or an escape of one.
fn line(text: &[u8]) -> KeyLine {
    let breaks =
        |at: usize| matches!(text[at..], [b'\n' | b'\r', ..]) || text[at] == b'\\' && gap(&text[at..]) > 0;
    let next = (0..text.len().min(WIDEST)).find(|&at| breaks(at)).unwrap_or(text.len().min(WIDEST));
    let decoration = |byte: &u8| !is_base64(*byte) && *byte != b'-';
    let to = next - text[..next].iter().rev().take(12).take_while(|byte| decoration(byte)).count();
    // The operator between quoted lines is base64 as well.
    let to = match text[..to] {
        [.., quote @ (b'"' | b'\'' | b'`'), b' ', b'+'] => to - 2 - usize::from(quote != 0),
        _ => to,
    };
    let from = to - text[..to].iter().rev().take_while(|&&byte| is_base64(byte)).count();
    KeyLine { from, to, next }
}

/// Returns true if each bracket of a prefix is closed in it, so that JSON around it stays whole,
/// and no mark is in it.
fn is_closed(prefix: &[u8]) -> bool {
    let count = |byte: u8| prefix.iter().filter(|&&other| other == byte).count();
    let has_mark = memchr::memmem::find(prefix, MARK).is_some();
    !has_mark
        && !prefix.iter().any(|byte| b"{}".contains(byte))
        && count(b'[') == count(b']')
        && count(b'(') == count(b')')
}

/// Returns the length of the private key that begins a text.
pub fn find(text: &[u8]) -> Option<usize> {
    let text = &text[..text.len().min(MOST)];
    let mut at = frame(text, b"BEGIN ")?;
    let (mut found, mut headers) = (None, 0);
    // The last line before END may be short.
    let mut may_be_short = true;
    loop {
        let gap = gap(&text[at..]);
        let here = at + gap;
        let rest = &text[here..];
        if let Some(end) = frame(rest, b"END ") {
            return found.map(|_| here + end);
        }
        if gap == 0 || rest.is_empty() {
            return found;
        }
        let run = rest.iter().take_while(|&&byte| is_base64(byte)).count();
        if run >= SHORT {
            found = Some(here + run);
            (at, may_be_short) = (here + run, true);
            continue;
        }
        let KeyLine { from, to, next } = line(rest);
        let prefix = &rest[..from];
        if let Some(end) = end_in(&rest[..next]) {
            return found.map(|_| here + end);
        }
        let is_prefix = prefix.len() <= PREFIX && is_closed(prefix);
        let ends_text = here + to == text.len() && from == 0;
        match to - from {
            LONG.. if is_prefix => {
                found = Some(here + to);
                may_be_short = true;
            }
            _ if found.is_none() && headers < 8 && is_header(&rest[..next]) => headers += 1,
            1..=76 if found.is_some() && ends_text => return Some(text.len()),
            1..=76 if found.is_some() && may_be_short && is_prefix => {
                let after = &rest[(next + self::gap(&rest[next..])).min(rest.len())..];
                if end_in(&after[..line(after).next]).is_none() {
                    return found;
                }
                may_be_short = false;
            }
            _ => return found,
        }
        at = here + next;
    }
}

/// Returns the place behind an END frame in a line.
fn end_in(line: &[u8]) -> Option<usize> {
    let at = memchr::memmem::find(line, b"-----END ")?;
    let is_prefix = at <= PREFIX && is_closed(&line[..at]);
    Some(at + frame(&line[at..], b"END ").filter(|_| is_prefix)?)
}

/// Returns true for `Proc-Type: 4,ENCRYPTED`.
fn is_header(line: &[u8]) -> bool {
    let colon = memchr::memmem::find(line, b": ");
    colon.is_some_and(|at| {
        let name = line[..at].rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
        at < PREFIX
            && !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
            && line.len() < 240
            && !line.iter().any(|byte| b"\"'[".contains(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIXES: &[&str] = &[
        "",
        "     7\t",
        "     7\u{2192}",
        "id.pem:12:",
        "id.pem-12-",
        "2026-03-02T10:00:00.5Z ",
        "web-1  | ",
        "3f2a8c1e (Ada 2026-03-02 10:00:00 +0000 7) ",
        "# ",
        "> ",
        "+",
        "    ",
        "[INFO] ",
        "10:00:00 INFO  key: ",
        "// ",
    ];

    #[test]
    fn a_key_is_found_behind_what_stands_before_its_lines() {
        let line = "Fake0Fake1Fake2Fake3Fake4Fake5Fake6Fake7Fake8Fake9Fake0Fake1Fake";
        for prefix in PREFIXES {
            for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
                let key = [
                    "-----BEGIN ",
                    label,
                    "-----\n",
                    prefix,
                    line,
                    "\n",
                    prefix,
                    "Fake0A==\n",
                    prefix,
                    "-----END ",
                    label,
                    "-----",
                ]
                .concat();
                assert_eq!(find(format!("{key}\n{prefix}more").as_bytes()), Some(key.len()), "{key}");
                let cut = key.find("\nFake0A").unwrap_or(key.len());
                let cut = key[..cut].len();
                assert!(find(&key.as_bytes()[..cut]).is_some());
            }
        }
        for (before, after) in [("\"", "\\n\" +"), ("'", "\\n',"), ("    \"", "\","), ("b'", "\\n'")] {
            let key = [
                "-----BEGIN PRIV",
                "ATE KEY-----",
                after,
                "\n",
                before,
                line,
                after,
                "\n",
                before,
                "-----END PRIV",
                "ATE KEY-----",
            ]
            .concat();
            assert_eq!(find(format!("{key}{after}").as_bytes()), Some(key.len()), "{key}");
        }
    }
}
