//! The question that a text answers: the words of a call's arguments or of its user.

use std::collections::HashMap;

use super::words::{Word, each_word};

/// Maximum bytes of each text that are read.
const READ: usize = 16_384;

/// The words of a question, with the lines so far that have each.
#[derive(Clone, Debug, Default)]
pub struct Question {
    words: HashMap<Word, u32>,
}

impl Question {
    /// Reads the first 64 KiB of each text.
    pub fn new(texts: &[String]) -> Question {
        let mut words = HashMap::new();
        for text in texts {
            let text = &text.as_bytes()[..text.floor_char_boundary(READ)];
            each_word(text, &mut |word| {
                words.insert(word, 0);
            });
        }
        Question { words }
    }

    pub fn words(&self) -> impl Iterator<Item = Word> {
        self.words.keys().copied()
    }

    /// Scores a line by the words that it has of the question. A word is worth half as much each time the
    /// number of earlier lines with it doubles.
    pub fn score(&mut self, line: &[u8]) -> u32 {
        const WORTH: u32 = 16;
        let mut score = 0;
        if !self.words.is_empty() {
            each_word(line, &mut |word| {
                if let Some(lines) = self.words.get_mut(&word) {
                    score += WORTH >> (*lines + 1).ilog2().min(WORTH);
                    *lines += 1;
                }
            });
        }
        score
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.words.capacity() * size_of::<(Word, u32)>()
    }
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
