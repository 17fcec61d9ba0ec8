//! The weights of words: words of failure, phrases, and words of success.
//!
//! The weights come from measuring which lines people needed in the failing output of many tools.
//! The tables do not contain names or messages of specific tools.

use super::bytes::{is_word, word_length};

/// The weight of a warning, which is a level.
pub const WARNING: i32 = -5;

/// Lower-case words and their weights. Negative weights make a line less important.
#[rustfmt::skip]
pub const WORDS: &[(&str, i32)] = &[
    ("panicked", 9), ("segfault", 9), ("sigsegv", 9), ("sigabrt", 9),
    ("fatal", 8), ("panic", 8), ("deadlock", 8),
    ("fail", 7), ("failed", 7), ("denied", 7), ("refused", 7),
    ("error", 6), ("exception", 6), ("failure", 6), ("critical", 6), ("rejected", 6), ("conflict", 6), ("conflicts", 6),
    ("conflicting", 6), ("malformed", 6), ("corrupt", 6), ("unresolved", 6), ("cannot", 6), ("unable", 6),
    ("unsatisfied", 6), ("unmet", 6), ("violates", 6), ("enoent", 6), ("eacces", 6), ("eperm", 6), ("econnrefused", 6),
    ("aborted", 5), ("crash", 5), ("crashed", 5), ("killed", 5), ("mismatch", 5), ("mismatched", 5), ("invalid", 5),
    ("illegal", 5), ("unexpected", 5), ("undefined", 5), ("uninitialised", 5), ("uninitialized", 5), ("missing", 5),
    ("violation", 5), ("destroyed", 5), ("overflow", 5),
    ("errors", 4), ("failures", 4), ("traceback", 4), ("abort", 4), ("unreachable", 4), ("timeout", 4),
    ("fault", 4), ("destroy", 3), ("leak", 3),
    ("skipped", 2), ("expected", 2), ("want", 2), ("bug", 2), ("actual", 1), ("received", 1),
    ("oom", 7), ("forbidden", 6), ("unauthorized", 6), ("exceeded", 5), ("evicted", 5),
    ("warning", WARNING), ("warn", WARNING), ("deprecated", -3), ("info", -2), ("debug", -2), ("note", -2), ("help", -2),
];

/// Phrases by first word: the text that must follow, and the weight of the phrase.
pub const PHRASES: &[(&str, &str, i32)] = &[
    ("not", " found", 6),
    ("not", " ok", 8),
    ("not", " defined", 6),
    ("not", " assignable", 3),
    ("no", " such", 7),
    ("no", " rule", 6),
    ("could", " not", 7),
    ("couldn", "'t", 6),
    ("can", "'t", 4),
    ("does", " not exist", 6),
    ("caused", " by", 6),
    ("cause", "]", 7),
    ("core", " dumped", 8),
    ("exit", " code", 3),
    ("exit", " status", 3),
    ("exited", " with", 3),
    ("exiting", " with", 3),
    ("out", " of memory", 7),
    ("timed", " out", 6),
    ("already", " exists", 5),
    ("is", " not", 1),
    ("stack", " trace", 2),
    ("most", " recent call last", 2),
];

/// Length of the longest word in both tables.
pub const LONGEST: usize = 13;

/// A lower-case word of up to [`LONGEST`] bytes in one integer, for fast comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(u128);

impl Word {
    /// Reads a word of a line in lower case, or returns `None` if it is longer than all weighted
    /// words.
    pub fn at(line: &[u8], start: usize, length: usize) -> Option<Word> {
        if length > LONGEST {
            return None;
        }
        let sixteen = line[start..].first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 16];
            bytes[..length].copy_from_slice(&line[start..start + length]);
            bytes
        });
        let within = (1 << (8 * length)) - 1;
        // Digits stay unchanged; underscores become a byte that does not occur in words.
        Some(Word((u128::from_le_bytes(sixteen) | LOWER) & within))
    }

    const fn known(word: &str) -> Word {
        let (word, mut bytes, mut at) = (word.as_bytes(), [0; 16], 0);
        while at < word.len() {
            bytes[at] = word[at];
            at += 1;
        }
        Word(u128::from_le_bytes(bytes))
    }

    const fn slot(self) -> usize {
        let folded = (self.0 as u64) ^ ((self.0 >> 64) as u64);
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SLOT_BITS)) as usize
    }
}

/// The bit that makes a letter lower case, in each byte.
const LOWER: u128 = u128::from_ne_bytes([0x20; 16]);

const SLOT_BITS: u32 = 9;

/// The weight of a word on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Word(i32),
    /// The following text decides.
    Phrase,
}

/// All words of both tables in an open hash table.
const TABLE: [Option<(Word, Weight)>; 1 << SLOT_BITS] = {
    let mut table = [None; 1 << SLOT_BITS];
    let mut at = 0;
    while at < WORDS.len() + PHRASES.len() {
        let (word, weight) = if at < WORDS.len() {
            (Word::known(WORDS[at].0), Weight::Word(WORDS[at].1))
        } else {
            (Word::known(PHRASES[at - WORDS.len()].0), Weight::Phrase)
        };
        let mut slot = word.slot();
        while table[slot].is_some() {
            slot = (slot + 1) % table.len();
        }
        table[slot] = Some((word, weight));
        at += 1;
    }
    table
};

/// Word lengths by first two letters, one bit per length. This rules out most words of a text.
pub type Lengths = [u16; 1 << 10];

/// Returns the index of a word in [`Lengths`], ignoring case. Digits share their index with
/// letters, which is slightly less selective.
pub const fn beginning(first: u8, second: u8) -> usize {
    (first as usize & 31) << 5 | second as usize & 31
}

/// Returns true if some word has these first letters and this length. Takes no branch.
#[inline]
pub fn allow(lengths: &Lengths, first: u8, second: u8, length: usize) -> bool {
    u32::from(lengths[beginning(first, second)]) >> length.min(31) & 1 == 1
}

/// The lengths of the words in both tables.
pub const LENGTHS: Lengths = {
    let mut lengths = [0; 1 << 10];
    let mut at = 0;
    while at < WORDS.len() + PHRASES.len() {
        let word = if at < WORDS.len() { WORDS[at].0 } else { PHRASES[at - WORDS.len()].0 }.as_bytes();
        lengths[beginning(word[0], word[1])] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Returns the weight of a word, or `None` if it is in neither table.
pub fn weight(word: Word) -> Option<Weight> {
    let mut slot = word.slot();
    while let Some((known, weight)) = TABLE[slot] {
        if known == word {
            return Some(weight);
        }
        slot = (slot + 1) % TABLE.len();
    }
    None
}

/// The first words of the phrases.
const FIRSTS: [Word; PHRASES.len()] = {
    let (mut firsts, mut at) = ([Word(0); PHRASES.len()], 0);
    while at < firsts.len() {
        firsts[at] = Word::known(PHRASES[at].0);
        at += 1;
    }
    firsts
};

/// Returns the weight of the phrase that begins with a word.
pub fn phrase(word: Word, before: &[u8], after: &[u8]) -> Option<i32> {
    let follows =
        |rest: &str| after.get(..rest.len()).is_some_and(|after| after.eq_ignore_ascii_case(rest.as_bytes()));
    let phrases = PHRASES.iter().zip(FIRSTS).filter(|(_, first)| *first == word).map(|(phrase, _)| phrase);
    let phrases = phrases.filter(|(_, rest, _)| follows(rest));
    // A phrase that ends in a bracket must begin with one.
    let phrases = phrases.filter(|(_, rest, _)| *rest != "]" || before.ends_with(b"["));
    phrases.map(|(.., weight)| *weight).max()
}

/// Returns true if the preceding text negates a word: "0 errors", "no known failures".
pub fn is_none_before(before: &[u8]) -> bool {
    let counts = |text: &[u8]| {
        ["0 ", "no "].iter().any(|none| {
            let start = text.len().checked_sub(none.len());
            start.is_some_and(|start| {
                let free = start == 0 || !(text[start - 1].is_ascii_digit() || text[start - 1] == b'.');
                free && text[start..].eq_ignore_ascii_case(none.as_bytes())
            })
        })
    };
    let Some(before_space) = before.strip_suffix(b" ") else { return false };
    let word = before_space.iter().rev().take_while(|&&byte| is_word(byte)).count();
    counts(before) || word > 0 && counts(&before_space[..before_space.len() - word])
}

/// Returns true if the following text negates a word: "errors: 0", "failures seen = 0", `"error":
/// null`.
pub fn is_none_after(after: &[u8]) -> bool {
    let quoted = after.strip_prefix(b"\"");
    let mut rest = quoted.unwrap_or(after).trim_ascii_start();
    let word = word_length(rest);
    if quoted.is_none() && word > 0 {
        rest = rest[word..].trim_ascii_start();
    }
    let Some((b':' | b'=', value)) = rest.split_first() else { return false };
    let value = value.trim_ascii_start();
    let ends = |after: &[u8]| !after.first().is_some_and(|byte| is_word(*byte));
    value.strip_prefix(b"0").is_some_and(ends)
        || value.get(..SPARED.len()).is_some_and(|value| value.eq_ignore_ascii_case(SPARED))
        || quoted.is_some()
            && EMPTY.iter().any(|empty| value.strip_prefix(empty.as_bytes()).is_some_and(ends))
}

/// The value that says of a weakness that it is not there.
const SPARED: &[u8] = b"not affected";

/// Returns true if a word's count behind it is 0, beside another count: `Fail 0 Error 0`.
pub fn is_counted_none(before: &[u8], after: &[u8]) -> bool {
    let is_blank = |byte: &u8| *byte == b' ';
    let number = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(count) = after.strip_prefix(b" ") else { return false };
    let digits = number(count);
    let next = count[digits..].trim_ascii_start();
    let follows = || {
        let word = word_length(next);
        let rest = next.get(word..).unwrap_or_default().strip_prefix(b" ").unwrap_or_default();
        word > 0 && number(rest) > 0
    };
    let precedes = || {
        let before = before.trim_ascii_end();
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = &before[..before.len() - digits];
        digits > 0
            && rest.last().is_some_and(is_blank)
            && rest.trim_ascii_end().last().is_some_and(|byte| is_word(*byte))
    };
    count[..digits].iter().all(|digit| *digit == b'0')
        && digits > 0
        && count.get(digits).is_none_or(|byte| !is_word(*byte))
        && (follows() || precedes())
}

/// JSON values that negate a word.
const EMPTY: [&str; 5] = ["null", "false", "\"\"", "[]", "{}"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lengths_cover_both_tables() {
        let firsts = PHRASES.iter().map(|(first, ..)| *first);
        for word in WORDS.iter().map(|(word, _)| *word).chain(firsts) {
            let bytes = word.as_bytes();
            let lengths = LENGTHS[beginning(bytes[0], bytes[1])];
            assert!(word.len() <= LONGEST && lengths & 1 << word.len() != 0, "{word}");
        }
    }

    #[test]
    fn counts_of_none_are_recognised() {
        for (before, after) in
            [("", " 0 Error 0"), ("Pass 7 Fail 0 ", " 0"), ("Pass 7 ", " 0 (0 skipped)"), ("", " 0 of 5")]
        {
            assert!(is_counted_none(before.as_bytes(), after.as_bytes()), "{before}|{after}");
        }
        for (before, after) in
            [("", " 0"), ("Pass 7 ", " 2"), ("step 3: ", " 0"), ("", " 0x7f 1"), ("", " 10 Error 0")]
        {
            assert!(!is_counted_none(before.as_bytes(), after.as_bytes()), "{before}|{after}");
        }
    }

    #[test]
    fn words_of_success_are_recognised() {
        for before in ["0 ", "no ", "found 0 ", "no known ", "with 0 type "] {
            assert!(is_none_before(before.as_bytes()), "{before}");
        }
        for before in ["10 ", "1.0 ", "", "not ", "0", "0 one two "] {
            assert!(!is_none_before(before.as_bytes()), "{before}");
        }
        for after in [": 0", " = 0, ok", " seen: 0", "\": null,", "\":[]", "\": \"\"", ": Not affected"] {
            assert!(is_none_after(after.as_bytes()), "{after}");
        }
        for after in
            [": 01", " 0", ": no such file", ": null pointer", "\": nullable", ": [] is not", " one two: 0"]
        {
            assert!(!is_none_after(after.as_bytes()), "{after}");
        }
    }
}
