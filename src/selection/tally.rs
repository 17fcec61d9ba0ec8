//! Lines that state a result: how many failed, and how a command ended.

use std::collections::VecDeque;

use super::bytes::{Beginning, any_word, is_word};
use super::unit::Unit;
use super::words::{self, Lengths};

/// Maximum tallies stored, and maximum bytes of one.
const STORED: usize = 12;
const LONGEST: usize = 400;

/// The last lines of a text that state a result, one of each likeness.
#[derive(Clone, Debug, Default)]
pub struct Tallies {
    last: VecDeque<Tally>,
}

#[derive(Clone, Debug)]
struct Tally {
    likeness: u64,
    unit: Unit,
    /// The number of the last unit before it that states a result of its likeness.
    before: Option<usize>,
    text: Box<[u8]>,
}

impl Tallies {
    /// Stores a line that states a result. `likeness` is that of the line behind its prefix.
    pub fn put(&mut self, unit: Unit, text: &[u8], likeness: u64) {
        if text.len() <= LONGEST {
            let alike = self.last.iter().find(|tally| tally.likeness == likeness);
            let before = alike.map(|tally| tally.unit.number);
            self.last.retain(|tally| tally.likeness != likeness);
            self.last.push_back(Tally { likeness, unit, before, text: text.into() });
        }
        if self.last.len() > STORED {
            self.last.pop_front();
        }
    }

    /// Iterates over the stored lines, last first.
    pub fn units(&self) -> impl Iterator<Item = (Unit, &[u8])> {
        self.last.iter().rev().map(|tally| (tally.unit, &*tally.text))
    }

    /// Returns the last unit before the last of several runs, if the last tally has one like it.
    pub fn last_run(&self) -> Option<usize> {
        self.last.back().and_then(|tally| tally.before)
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.last.iter().map(|tally| tally.text.len() + size_of::<Tally>()).sum()
    }
}

/// Returns true if a line without colours states that something failed: a number of failures, an
/// exit code, or a step that ended in failure.
pub fn is_tally(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let may_be = |word: Beginning| words::allow(&LENGTHS, word.first, word.second, word.length);
    // All results but the failure of a step have a number.
    let has_number = line.iter().fold(false, |found, byte| found | byte.is_ascii_digit());
    let is_result = |start, end| {
        let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
        counts_failures(before, word, after) || tells_exit(word, after)
    };
    has_number && (any_word(line, may_be, is_result) || ends_in_error(line)) || ends_in_failure(line)
}

/// Words of failures that are counted, and words before the status of an exit.
const FAILURES: [&str; 9] =
    ["failed", "failures", "failure", "fail", "failing", "errors", "error", "problems", "errored"];
const EXITS: [&str; 5] = ["exit", "exited", "exiting", "returned", "code"];

const LENGTHS: Lengths = {
    let (mut lengths, mut at) = ([0; 1 << 10], 0);
    while at < FAILURES.len() + EXITS.len() {
        let word = if at < FAILURES.len() { FAILURES[at] } else { EXITS[at - FAILURES.len()] }.as_bytes();
        lengths[words::beginning(word[0], word[1])] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Returns true for a number, at least 1, before or after a word of failure: `1 failed`, `279
/// errors`, `failures: 2`.
fn counts_failures(before: &[u8], word: &[u8], after: &[u8]) -> bool {
    FAILURES.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
        && (counts_before(before) || counts_after(after))
}

/// Returns true if a text ends in a number and up to one word: `1 `, `13 snapshots `.
fn counts_before(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b" ") else { return false };
    let number = |text: &[u8]| {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
        let (before, number) = text.split_at(text.len() - digits);
        let is_free = !before.last().is_some_and(|byte| is_word(*byte) || matches!(byte, b':' | b'.' | b'-'));
        is_free && number.iter().any(|digit| matches!(digit, b'1'..=b'9'))
    };
    let word = text.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let before = &text[..text.len() - word];
    number(text) || word > 0 && before.strip_suffix(b" ").is_some_and(number)
}

/// Returns true if a number, at least 1, follows a colon: `: 2`.
fn counts_after(text: &[u8]) -> bool {
    let Some(number) = text.strip_prefix(b":") else { return false };
    let number = number.trim_ascii_start();
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_free = !number.get(digits).is_some_and(|byte| is_word(*byte) || matches!(byte, b':' | b'.'));
    is_free && number[..digits].iter().any(|digit| *digit != b'0')
}

/// Returns true for an exit that is not 0: `exit code 1`, `exited with 2`, `exit status: 101`.
fn tells_exit(word: &[u8], after: &[u8]) -> bool {
    EXITS.iter().any(|exit| word.eq_ignore_ascii_case(exit.as_bytes()))
        && is_bad_status(&after[..after.len().min(24)])
}

/// Returns true for the exit of a recipe that is not 0: `[all] Error 2`.
fn ends_in_error(line: &[u8]) -> bool {
    let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && line[..line.len() - digits].ends_with(b" Error ") && !line.ends_with(b" 0")
}

/// Returns true if the words of a status and its number, at least 1, follow: ` with code 1`, `
/// status: 101`.
fn is_bad_status(text: &[u8]) -> bool {
    const BETWEEN: [&str; 5] = ["with", "code", "status", "non", "zero"];
    let mut between = 0;
    for part in
        text.split(|byte| matches!(byte, b' ' | b':' | b'=' | b'(' | b'-')).filter(|part| !part.is_empty())
    {
        if BETWEEN.iter().any(|word| part.eq_ignore_ascii_case(word.as_bytes())) {
            between += 1;
            continue;
        }
        let digits = part.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return between > 0 && digits > 0 && part[..digits].iter().any(|digit| *digit != b'0');
    }
    false
}

/// Returns true if a line ends in the failure of a step that it names: `BUILD FAILED`,
/// `lint.......Failed`.
fn ends_in_failure(line: &[u8]) -> bool {
    let line = line.strip_suffix(b".").unwrap_or(line).trim_ascii_end();
    let word = line.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (before, word) = line.split_at(line.len() - word);
    word.eq_ignore_ascii_case(b"failed") && (before.ends_with(b".") || word == b"FAILED" || word == b"FAIL")
        || line.starts_with(b"FAILED ")
        || line.starts_with(b"FAIL ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_with_failures_are_tallies() {
        for line in [
            "395 passed, 1 failed",
            "test result: FAILED. 550 passed; 1 failed; 0 ignored",
            "Found 279 errors in 9 files",
            "13 snapshots failed",
            "Tests:       1 failed, 12 passed",
            "failures: 2",
            "make: *** [all] Error 2",
            "##[error]Process completed with exit code 100.",
            "No tests found, exiting with code 1",
            "error: process exited with status 2",
            "BUILD FAILED",
            "lint (all).........Failed",
            "FAILED tests/a.py::test_b - x",
            "1,204 problems (3 errors)",
        ] {
            assert!(is_tally(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn results_without_failures_are_none() {
        for line in [
            "395 passed, 0 failed",
            "errors: 0",
            "exit code 0",
            "Process completed",
            "error: no such file",
            "a.ts:12 error TS1: x",
            "it failed",
            "",
            "Error 0",
        ] {
            assert!(!is_tally(line.as_bytes()), "{line}");
        }
    }
}
