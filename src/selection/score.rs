//! Scores how well a line explains a failure, from words and shapes, without knowledge of specific
//! tools.

use super::bytes::{Beginning, any_word, word_length};
use super::shapes::{self, Shape};
use super::words::{self, Lengths, Weight, Word};

/// A weight in halves, which keeps it an integer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub i32);

impl Score {
    /// The weight of a needle.
    pub const ASKED_FOR: Score = Score::of(10);
    /// The least weight of a line that states a result.
    pub const TALLY: Score = Score::of(6);
    /// The weight of a changed line in a diff.
    pub const CHANGED: Score = Score::of(4);

    /// The minimum of a finding.
    pub const LEAST: Score = Score::of(4);

    const fn of(weight: i32) -> Score {
        Score(weight * 2)
    }

    /// Returns true if the line is a finding.
    pub fn tells(self) -> bool {
        self >= Score::LEAST
    }

    /// Returns true if the finding deserves more context.
    pub fn is_hot(self) -> bool {
        self >= Score::of(9)
    }
}

/// Scores a line or a piece of a long one, without escape sequences.
pub fn score(line: &[u8]) -> Score {
    weigh(line, may_matter)
}

#[inline]
fn weigh(line: &[u8], may_matter: impl Fn(Beginning) -> bool) -> Score {
    let mut weighed = LineWeight::default();
    any_word(line, may_matter, |start, end| {
        weighed.add_word(line, start, end);
        false
    });
    if memchr::memchr_iter(b'"', line).any(|at| shapes::is_server_error(&line[at + 1..])) {
        weighed.shape = weighed.shape.max(6);
    }
    weighed.best = weighed.best.max(shapes::of_beginning(line));
    weighed.total(line)
}

/// Returns true if a word's first letters and length allow a weight, if it may be a state, or if a
/// capital is where one begins the end of a name of a failure.
#[inline]
fn may_matter(word: Beginning) -> bool {
    let Beginning { first, second, length, capitals } = word;
    let may_tell = words::allow(&TELLING, first, second, length);
    let may_be_state = (length > 5) & (capitals & 1 == 1);
    let ends = capitals & !1 & ((1 << length.saturating_sub(SHORTEST_END - 1)) - 1);
    may_tell | may_be_state | (ends >> length.saturating_sub(LONGEST_END) != 0)
}

/// The lengths of words that may have a weight or begin a shape.
const TELLING: Lengths = {
    let mut lengths = words::LENGTHS;
    let mut at = 0;
    while at < lengths.len() {
        lengths[at] |= shapes::LENGTHS[at];
        at += 1;
    }
    lengths
};

/// Returns true if a word's first letters and length allow a weight.
#[inline]
pub fn may_tell(word: &[u8]) -> bool {
    matches!(word, [first, second, ..] if words::allow(&TELLING, *first, *second, word.len()))
}

#[derive(Default)]
struct LineWeight {
    /// The highest weight, and the number of matches.
    best: i32,
    hits: i32,
    /// The highest weight of shapes that ignore their context.
    alone: i32,
    /// The highest weight of shapes that gain from words beside them, but not from a file position.
    shape: i32,
    /// The lowest weight of words that make a line less important.
    minus: i32,
}

impl LineWeight {
    fn hit(&mut self, weight: i32) {
        self.best = self.best.max(weight);
        self.hits += 1;
    }

    // Few words get here. Inlining this would push the byte loop out of registers.
    #[inline(never)]
    fn add_word(&mut self, line: &[u8], start: usize, end: usize) {
        let length = end - start;
        if let Some(word) = Word::at(line, start, length) {
            match words::weight(word) {
                Some(Weight::Word(weight)) => return self.add_weight(line, start, end, weight),
                Some(Weight::Phrase) => {
                    if let Some(weight) = words::phrase(word, &line[..start], &line[end..]) {
                        self.hit(weight);
                    }
                }
                None => {}
            }
        }
        if length > 5 && is_error_name(&line[start..end]) {
            let named = line.get(end) == Some(&b':');
            self.hit(if named {
                10
            } else if start == 0 {
                7
            } else {
                4
            });
        }
        if let Some(weight) = state(line, start, end) {
            self.hit(weight);
        }
        match shapes::of_word(line, start, end) {
            Some(Shape::Alone(weight)) => self.alone = self.alone.max(weight),
            Some(Shape::Beside(weight)) => self.shape = self.shape.max(weight),
            None => {}
        }
    }

    fn add_weight(&mut self, line: &[u8], start: usize, end: usize, weight: i32) {
        let (before, after) = (&line[..start], &line[end..]);
        let word = &line[start..end];
        if is_of_a_name(before, word, after) {
            return;
        }
        let first = before.iter().filter(|byte| !byte.is_ascii_whitespace()).take(4).count() <= 3;
        if weight == words::WARNING {
            // A warning is a level: only as a label does it weigh less, and one that is shouted
            // begins a report.
            match after.first() {
                Some(b':') if first && is_shouted(word) => self.hit(4),
                Some(b':' | b']' | b'[' | b'(') => self.minus = self.minus.min(weight),
                _ => {}
            }
            return;
        }
        if weight < 0 {
            self.minus = self.minus.min(weight);
            return;
        }
        if words::is_none_before(before)
            || words::is_none_after(&after[..after.len().min(24)])
            || weight >= COUNTED && words::is_counted_none(before, &after[..after.len().min(24)])
        {
            return;
        }
        let marked = matches!(after.first(), Some(b':' | b'[' | b']' | b'!'));
        let shouted = word.len() > 2 && is_shouted(word);
        self.hit(
            weight + if marked { 3 } else { 0 } + if shouted { 2 } else { 0 } + if first { 2 } else { 0 },
        );
    }

    fn total(&self, line: &[u8]) -> Score {
        let mut best = self.best;
        if best > 0 && shapes::names_a_place(line) {
            best += 2;
        }
        best = best.max(self.shape);
        if best > 0 {
            best += (self.hits - 1).clamp(0, 2);
        }
        best = best.max(self.alone);
        // Scores are in halves: negative weights count half beside a strong one.
        let score = (2 * best + if best >= 8 { self.minus } else { 2 * self.minus }).max(0);
        Score(if score > 0 && shapes::passed(line) { score / PASSED } else { score })
    }
}

/// The least weight of a word whose count of 0 is good news. What is expected may be 0.
const COUNTED: i32 = 4;

/// A test that passed says so of a name of failure.
const PASSED: i32 = 3;

fn is_shouted(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_uppercase)
}

/// Returns true if a word is part of a path, an option or an identifier. Capitals that hyphens join
/// are not part of one.
fn is_of_a_name(before: &[u8], word: &[u8], after: &[u8]) -> bool {
    let is_capital = |byte: &u8| byte.is_ascii_uppercase();
    if is_shouted(word)
        && (matches!(before, [.., capital, b'-'] if is_capital(capital))
            || matches!(after, [b'-', capital, ..] if is_capital(capital)))
    {
        return false;
    }
    let is_member = matches!(before, [.., owner, b'.'] if *owner != b'.');
    is_member
        || matches!(before.last(), Some(b'/' | b'\\' | b'-' | b'$'))
        || match after {
            [b'/' | b'\\' | b'-' | b'=', ..] => true,
            [b'.', next, ..] => next.is_ascii_alphanumeric(),
            _ => false,
        }
}

/// The least weight of a capitalised part of a state, and the weight of `ERR` in one of capitals.
const PART: i32 = 7;
const ERR: i32 = 6;

/// Returns true if a word may be a state: a capital begins it, and more than one part.
#[inline]
fn may_be_state(word: &[u8]) -> bool {
    word.len() > 5 && word[0].is_ascii_uppercase()
}

/// Returns the weight of the name of a state that has a word of failure as a part: capitals that
/// underscores join, or capitalised words. The names of programs are not states.
fn state(line: &[u8], start: usize, end: usize) -> Option<i32> {
    let (before, word, after) = (&line[..start], &line[start..end], &line[end..]);
    let is_of_program = matches!(before.last(), Some(b'.' | b'/' | b'\\' | b'$' | b'-'))
        || matches!(after, [b'(' | b';' | b'/' | b'\\' | b'<', ..] | [b':', b':', ..])
        || after.trim_ascii_start().starts_with(b"=")
        || matches!(after, [b'.', next, ..] if next.is_ascii_alphanumeric());
    if !may_be_state(word) || is_of_program {
        return None;
    }
    let weight_of = |part: &[u8]| match Word::at(part, 0, part.len()).and_then(words::weight) {
        Some(Weight::Word(weight)) => weight,
        _ => 0,
    };
    if word.contains(&b'_') {
        let is_of_capitals =
            word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
        let parts =
            word.split(|byte| *byte == b'_').map(|part| if part == b"ERR" { ERR } else { weight_of(part) });
        return parts.max().filter(|weight| is_of_capitals && *weight > 0).map(|weight| weight + 2);
    }
    let mut parts = humps(word).peekable();
    let first = parts.next()?;
    parts.peek()?;
    std::iter::once(first).chain(parts).map(weight_of).max().filter(|weight| *weight >= PART)
}

/// Yields the capitalised words of a word: of `OOMKilled`, `OOM` and `Killed`.
fn humps(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = (1..rest.len()).find(|at| {
            let follows = |by: usize| rest.get(at + by).is_some_and(u8::is_ascii_lowercase);
            rest[*at].is_ascii_uppercase() && (rest[at - 1].is_ascii_lowercase() || follows(1))
        });
        let (hump, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!hump.is_empty()).then_some(hump)
    })
}

/// Returns the length of the part of a state that begins a text.
pub fn part_length(text: &[u8]) -> usize {
    let length = word_length(text);
    let joined = text[..length].iter().position(|byte| *byte == b'_').unwrap_or(length);
    humps(&text[..joined]).next().map_or(0, <[u8]>::len)
}

/// The ends of names of failures, by length.
const ENDS: [&[u8]; 9] = [
    b"Error",
    b"Failed",
    b"Killed",
    b"Denied",
    b"Failure",
    b"Refused",
    b"BackOff",
    b"NotFound",
    b"Exception",
];

const SHORTEST_END: usize = ENDS[0].len();
const LONGEST_END: usize = ENDS[ENDS.len() - 1].len();

/// Returns true if a word names a failure, such as `TypeError`, `NullPointerException`,
/// `OOMKilled`.
fn is_error_name(word: &[u8]) -> bool {
    let is_free = |stem: &[u8]| stem.iter().any(u8::is_ascii_alphanumeric);
    ENDS.iter().any(|end| word.strip_suffix(*end).is_some_and(is_free))
}

#[cfg(test)]
mod tests {
    use super::super::words::WORDS;
    use super::*;
    use proptest::prelude::*;

    fn weight(line: &str) -> f64 {
        f64::from(score(line.as_bytes()).0) / 2.0
    }

    proptest! {
        #[test]
        fn a_word_that_may_not_matter_has_no_weight(
            parts in prop::collection::vec(
                prop_oneof![
                    3 => "[a-zA-Z]{1,9}",
                    1 => "[ -~]{0,9}",
                    2 => prop::sample::select(WORDS).prop_map(|(word, _)| word.to_owned()),
                    2 => prop::sample::select(&ENDS[..]).prop_map(|end| String::from_utf8_lossy(end).into_owned()),
                    3 => prop::sample::select(&[" ", "_", ".", ": ", "E501 ", "HTTP/1.1 404 ", "=nan", "\"level\":50", "ERR_"][..]).prop_map(str::to_owned),
                ],
                0..30,
            ),
        ) {
            let line = parts.concat();
            prop_assert_eq!(score(line.as_bytes()), weigh(line.as_bytes(), |_| true));
        }
    }

    #[test]
    fn lines_are_scored_by_importance() {
        let cases = [
            ("nothing to see", 0.0),
            ("error: mismatched types", 12.0),
            ("src/a.rs:12: error: cannot borrow", 12.0),
            ("0 errors, no failures", 0.0),
            ("errors: 0", 0.0),
            ("Pass 11 Fail 0 Error 0", 0.0),
            ("Spec store overflow: Not affected", 0.0),
            ("see src/error.rs and error/mod.ts, --error=1 $error", 0.0),
            ("TypeError: x is not a function", 11.0),
            ("  at Object.TypeError (a.js:1:2)", 6.0),
            ("warning: unused variable `error`", 1.0),
            ("Warning  FailedScheduling  pod/a  0/3 nodes", 7.0),
            ("WARNING: DATA RACE", 4.0),
            ("| CREATE_FAILED | AWS::S3::Bucket", 9.0),
            ("net::ERR_NAME_NOT_RESOLVED at https://a", 8.0),
            ("TEST-UNEXPECTED-FAIL | a.js", 10.0),
            ("kernel: SystemOOM encountered", 7.0),
            ("const MAX_ERRORS = 3; FailedTests(x); make_failed", 0.0),
            ("  ✓ says that it failed (3 ms)", 2.0),
            ("test parse::an_error_is_told ... ok", 0.0),
            ("check spelling......Failed", 7.0),
            ("not ok 3 - adds", 8.0),
            ("  ✕ adds (3 ms)", 8.0),
            ("  ✖ adds (3 ms)", 8.0),
            ("BUG: kernel NULL pointer dereference", 9.0),
            ("kernel BUG at mm/box.c:3722!", 6.0),
            ("fixes a bug in the parser", 2.0),
            ("general protection fault: 0000", 7.0),
            ("make: *** No rule to make target 'x'", 6.0),
            ("Check failure of a with ENOENT... [OK]", 3.0),
            ("E   assert 1 == 2", 5.0),
            ("10.0.0.1 \"GET / HTTP/1.1\" 502 17", 6.0),
            ("< HTTP/1.1 404 Not Found", 6.0),
            ("{\"level\":50,\"msg\":\"x\"}", 7.0),
            ("Severity: High", 7.0),
            ("step 12 loss=nan", 6.0),
            ("a.py:3:1: F401 `os` imported but unused", 6.0),
            ("[cause]: Error", 8.0),
            ("OSError: [Errno 2]", 10.0),
            ("  Reason: OOMKilled", 8.0),
        ];
        for (line, expected) in cases {
            assert_eq!(weight(line), expected, "{line}");
        }
    }
}
