//! A password among the arguments of a command: behind its flag, or behind a user's name.

use std::ops::Range;

/// Most bytes between the name of a program and the flag.
const BETWEEN: usize = 200;

/// Most bytes of a user's name, and of a password.
const USER: usize = 128;
const MOST: usize = 256;

/// Returns the password behind a flag of the program whose name ends at a place: `redis-cli -a v`.
/// An empty flag is the place itself.
pub fn find(text: &[u8], at: usize, flag: &str) -> Option<Range<usize>> {
    if flag.is_empty() {
        return password(text, at + usize::from(text.get(at) == Some(&b' ')), 6, b"-");
    }
    let rest = &text[at..text.len().min(at + BETWEEN + flag.len())];
    let ends = |byte: &u8| b"\n|;&[]".contains(byte);
    let line = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let mut flags = memchr::memmem::find_iter(line, flag.as_bytes());
    flags.find_map(|nth| password(text, at + nth + flag.len(), 6, b"-"))
}

/// Returns the password in `user:password`.
pub fn find_after_user(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at + usize::from(text.get(at).is_some_and(|byte| b"\"'".contains(byte)));
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b":\"'$<[]/".contains(byte);
    let user = text[from..].iter().take(USER + 1).position(ends).filter(|&long| long > 0)?;
    let colon = from + user;
    password(text, colon + 1, 8, b"/")
        .filter(|_| text[colon] == b':')
        .filter(|found| found.start == colon + 1)
}

/// Returns a password of some bytes, perhaps behind a quote, that does not begin with some others.
fn password(text: &[u8], at: usize, least: usize, not: &[u8]) -> Option<Range<usize>> {
    let start = at + usize::from(text.get(at).is_some_and(|byte| b"\"'".contains(byte)));
    let rest = &text[start.min(text.len())..];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'$<>[]".contains(byte);
    let mut long = rest.iter().take(MOST).take_while(|byte| !ends(byte)).count();
    // Whole characters.
    while long == MOST && rest.get(long).is_some_and(|byte| byte & 0xC0 == 0x80) {
        long -= 1;
    }
    let begins = rest.first().is_some_and(|first| !not.contains(first));
    (begins && long >= least).then_some(start..start + long)
}
