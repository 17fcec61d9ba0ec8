//! The question that a text answers: the words of a call's arguments or of its user.

use super::scripts::WITHOUT_SPACES;
use super::words::{Word, Words, each_word};

/// The weight of a word of the first text.
pub const WEIGHT: u32 = 10;

/// Maximum words that are stored as they are spelt.
const SPELT: usize = 64;

/// Maximum bytes of each text that are read.
const READ: usize = 16_384;

/// The words of a question, with the lines so far that have each.
#[derive(Clone, Debug, Default)]
pub struct Question {
    words: Words<QuestionWord>,
    /// The lengths of words by their first byte.
    lengths: Lengths,
    /// The words in ASCII as they are spelt, unless they are too many. A text in ASCII that has a
    /// word has it in some case.
    spelt: Option<Vec<Spelt>>,
    /// The other words, unless they are too many, or a text may have one in other letters.
    wide: Option<Vec<Spelt>>,
    /// The words that no later line is worth more for.
    worn: usize,
    /// The last line that was scored, if it was short, and the words that it has of the question.
    last: Vec<u8>,
    found: Vec<Word>,
}

/// Maximum bytes of a line that is remembered.
const SHORT: usize = 1_024;

/// A word, and how the question spells it.
type Spelt = (Word, Box<[u8]>);

/// A word of a question.
#[derive(Clone, Copy, Debug)]
struct QuestionWord {
    /// The number of the first text that has it.
    text: u32,
    /// The lines so far that have it.
    lines: u32,
}

impl QuestionWord {
    /// The worth of the first line with a word.
    const FIRST: u32 = 16;

    /// Returns the worth of the next line with the word: half as much each time that the number of
    /// lines with it has doubled, and in the end nothing.
    fn worth(self) -> u32 {
        QuestionWord::FIRST >> (self.lines + 1).ilog2().min(QuestionWord::FIRST)
    }
}

impl Question {
    /// Reads the first 16 KiB of each text.
    pub fn new(texts: &[String]) -> Question {
        let (mut words, mut lengths) = (Words::default(), Lengths::default());
        let (mut spelt, mut wide) = (vec![], Some(vec![]));
        for (number, text) in (0..).zip(texts) {
            let text = &text.as_bytes()[..text.len().min(READ)];
            each_word(text, |_| true, &mut |word, text| {
                lengths.add(text);
                words.entry(word).or_insert_with(|| {
                    // No line in ASCII has another.
                    if text.is_ascii() && spelt.len() <= SPELT {
                        spelt.push((word, text.into()));
                    }
                    let others = wide.take().filter(|others| others.len() < SPELT);
                    wide = others.filter(|_| stands_as_spelt(word, text)).map(|mut others: Vec<_>| {
                        others.extend((!text.is_ascii()).then(|| (word, text.into())));
                        others
                    });
                    QuestionWord { text: number, lines: 0 }
                });
            });
        }
        spelt.sort();
        let spelt = (spelt.len() <= SPELT).then_some(spelt);
        Question { words, lengths, spelt, wide, ..Question::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the number of words that no later line is worth more for.
    pub fn worn(&self) -> usize {
        self.worn
    }

    /// Returns the words in ASCII that are not worn, or `None` if they are many.
    pub fn spelt(&self) -> Option<Vec<&[u8]>> {
        self.spelt.as_deref().map(|words| self.unworn(words))
    }

    /// Returns the other words that are not worn, or `None` if a text may have one that is not
    /// spelt in it, or if they are many. A text in which letters of ASCII stand beside others may
    /// have any.
    pub fn wide(&self) -> Option<Vec<&[u8]>> {
        self.wide.as_deref().map(|words| self.unworn(words))
    }

    fn unworn<'a>(&self, words: &'a [Spelt]) -> Vec<&'a [u8]> {
        let is_worn = |word| self.words.get(word).is_none_or(|word| word.worth() == 0);
        words.iter().filter(|(word, _)| !is_worn(word)).map(|(_, text)| &**text).collect()
    }

    /// Iterates over the words with their weights, at most [`WEIGHT`], in any order. The first text
    /// weighs most.
    pub fn words(&self) -> impl Iterator<Item = (Word, u32)> {
        self.words.iter().map(|(word, asked)| (*word, WEIGHT * 4 / (4 + asked.text)))
    }

    /// Scores a line by the words that it has of the question. A line with worn words alone scores
    /// nothing, and may be left out.
    pub fn score(&mut self, line: &[u8]) -> u32 {
        let Question { words, lengths, worn, last, found, .. } = self;
        if words.is_empty() {
            return 0;
        }
        // Many lines repeat the one before.
        if last != line || line.len() > SHORT {
            found.clear();
            let mut look = |word, _: &[u8]| found.extend(words.contains_key(&word).then_some(word));
            each_word(line, |text| lengths.has(text), &mut look);
            last.clear();
            // One byte more tells a longer line from all that are short.
            last.extend_from_slice(&line[..line.len().min(SHORT + 1)]);
        }
        let mut score = 0;
        for word in found {
            if let Some(word) = words.get_mut(word).filter(|word| word.worth() > 0) {
                score += word.worth();
                word.lines += 1;
                *worn += usize::from(word.worth() == 0);
            }
        }
        score
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let last = self.last.capacity() + self.found.capacity() * size_of::<Word>();
        self.words.capacity() * size_of::<(Word, QuestionWord)>() + last
    }
}

/// The lengths of texts, a bit for each, by the last bits of their first byte, which are alike in
/// any case.
#[derive(Clone, Debug, Default)]
struct Lengths([u64; 32]);

impl Lengths {
    fn place(text: &[u8]) -> (usize, u64) {
        (usize::from(text.first().copied().unwrap_or_default()) % 32, 1 << text.len().min(63))
    }

    fn add(&mut self, text: &[u8]) {
        let (first, length) = Lengths::place(text);
        self.0[first] |= length;
    }

    #[inline]
    fn has(&self, text: &[u8]) -> bool {
        let (first, length) = Lengths::place(text);
        self.0[first] & length != 0
    }
}

/// Returns true if any text that has a word spells it so, in some case of its letters in ASCII. A
/// word of a script with spaces is spelt in other cases, and the sign of the unit kelvin is another
/// `k`.
fn stands_as_spelt(word: Word, text: &[u8]) -> bool {
    let is_of = |text: &str| text.chars().all(|letter| letter >= WITHOUT_SPACES);
    word.is_name()
        || text.is_ascii() && !text.iter().all(|letter| letter.eq_ignore_ascii_case(&b'k'))
        || std::str::from_utf8(text).is_ok_and(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_question_count_less_the_more_lines_have_them() {
        let mut question = Question::new(&["{\"path\": \"src/parse.rs\"}".into(), String::new()]);
        let mut score = |line: &str| question.score(line.as_bytes());
        assert_eq!([score("nothing"), score("to parse"), score("to parse"), score("Parse")], [0, 16, 8, 8]);
        assert!(score("see src/parse.rs") > 16);
    }

    #[test]
    fn no_question_scores_nothing() {
        assert_eq!(Question::default().score(b"parse"), 0);
    }
}
