//! Remembers the last scored line, because many lines repeat it.

use super::likeness::{Likeness, likeness};
use super::score::{Score, score};
use super::tally::is_tally;

/// A line without its prefix, and the judgments of it.
#[derive(Clone, Debug, Default)]
pub struct Echo {
    said: Vec<u8>,
    score: Score,
    is_tally: bool,
    likeness: Option<Likeness>,
}

impl Echo {
    /// Scores a line. Returns also if it has a score and states a result.
    pub fn score(&mut self, said: &[u8]) -> (Score, bool) {
        if self.said != said {
            self.said.clear();
            self.said.extend_from_slice(said);
            self.score = score(said);
            self.is_tally = self.score > Score::default() && is_tally(said);
            self.likeness = None;
        }
        (self.score, self.is_tally)
    }

    /// Returns the likeness of any line.
    pub fn likeness(&mut self, line: &[u8]) -> Likeness {
        if self.said != line {
            return likeness(line);
        }
        *self.likeness.get_or_insert_with(|| likeness(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_says_what_the_line_says() {
        let mut echo = Echo::default();
        for line in ["", "error: a", "error: a", "2 failed", "error: a", "error: a 1", "x", "", "error: a 2"]
        {
            let line = line.as_bytes();
            let before = echo.likeness(line);
            let expected = score(line);
            let is_result = expected > Score::default() && is_tally(line);
            assert_eq!(echo.score(line), (expected, is_result));
            assert_eq!([before, echo.likeness(line), echo.likeness(line)], [likeness(line); 3]);
        }
    }
}
