//! Finds the lines that have a word of the question.

use crate::relevance::Question;
use crate::sieve::{BITS, Sieve};

/// Finds the places in a line where a word of a question may begin.
#[derive(Clone, Debug)]
pub struct WordFinder {
    sieve: Sieve,
    /// The words by the last bits of their first byte.
    words: Vec<Vec<Box<[u8]>>>,
    /// A line that is not ASCII has a word only if it spells it, or if its letters in ASCII stand
    /// beside others.
    reads_wide: bool,
}

/// The last bits of a letter do not depend on its case.
const LETTERS: usize = 32;

impl WordFinder {
    /// Returns `None` if a question has so many words that most lines have one.
    pub fn of(question: &Question) -> Option<WordFinder> {
        let (mut sieve, mut words) = (Sieve::default(), vec![vec![]; LETTERS]);
        let (spelt, wide) = (question.spelt()?, question.wide());
        let reads_wide = wide.is_some();
        let all = [spelt, wide.unwrap_or_default()].concat();
        // For few words one table is selective enough, in half of the time.
        let groups = if all.len() <= 2 * BITS { BITS } else { 2 * BITS };
        for (at, word) in all.iter().enumerate() {
            sieve.add_word(at * groups / all.len(), word);
            words[usize::from(word[0]) % LETTERS].push((*word).into());
        }
        Some(WordFinder { sieve, words, reads_wide })
    }

    /// Returns the sieve that finds the places.
    pub fn sieve(&self) -> &Sieve {
        &self.sieve
    }

    /// Returns true if a line has no word at any of its places.
    pub fn has_no_word(&self, line: &[u8], mut places: impl Iterator<Item = usize>) -> bool {
        (line.is_ascii() || self.reads_wide && !mixes_letters(line))
            && !places.any(|at| {
                let words = &self.words[usize::from(line[at]) % LETTERS];
                // A small letter goes on with the word before it: `the` stands neither in `other`
                // nor in `there`.
                let goes_on = |at: usize| line.get(at).is_some_and(u8::is_ascii_lowercase);
                let stands = |word: &[u8]| {
                    line.get(at..at + word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word))
                        && !goes_on(at + word.len())
                };
                let is_inside = at > 0 && line[at - 1].is_ascii_alphabetic() && goes_on(at);
                !is_inside && words.iter().any(|word| stands(word))
            })
    }
}

/// Returns true if a run of other chars is between two ASCII letters, or has a letter itself and is
/// beside one: both may be letters of one word. A word leaves out signs.
fn mixes_letters(line: &[u8]) -> bool {
    let is_beside = |one: u8, other: u8| one.is_ascii_alphabetic() & !other.is_ascii();
    let pairs = line.iter().zip(&line[1.min(line.len())..]);
    // Without an early exit, the compiler vectorizes this loop. Few lines need another.
    if !pairs.fold(false, |found, (a, b)| found | is_beside(*a, *b) | is_beside(*b, *a)) {
        return false;
    }
    let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
    let mut at = 0;
    while let Some(start) = line[at..].iter().position(|byte| !byte.is_ascii()).map(|skip| at + skip) {
        let end = line[start..].iter().position(u8::is_ascii).map_or(line.len(), |length| start + length);
        let before = is_letter(line[..start].last());
        let after = is_letter(line.get(end));
        let run = &line[start..end];
        if before && after
            || (before || after)
                && run.utf8_chunks().any(|chunk| chunk.valid().contains(char::is_alphanumeric))
        {
            return true;
        }
        at = end;
    }
    false
}
