//! Stores lines between the ends of a long text that begin as no line before them does.
//!
//! Odd lines are known once all lines are read (`odd`), but of a long text only the ends and
//! the findings are stored. So each line behind the head is looked at for a moment: at its first
//! words, without signs and numbers. The lines of a log begin in few ways. A line that begins in a
//! way new to the text is stored. Where lines begin in too many ways, fewer of their words are
//! read, and in the end none.

use super::odd::mix;
use super::unit::Unit;

/// Maximum words of a start, and the bytes of a line in which they are sought.
const WORDS: usize = 4;
const READ: usize = 64;

/// Maximum starts that are counted. If lines begin in more ways, a start has a word less.
const MOST: usize = 64;

/// Lines behind which a new start is rare.
const LEAST: usize = 128;

/// The starts of lines so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starts {
    /// The words of a start. Without any, no line is looked at.
    words: usize,
    /// The starts in their order: frequent ones are found first.
    known: Vec<u64>,
    lines: usize,
    /// The bytes that the start of the last line was read from.
    last: Vec<u8>,
    stored: Vec<(Unit, Box<[u8]>)>,
}

impl Default for Starts {
    fn default() -> Starts {
        Starts { words: WORDS, known: vec![], lines: 0, last: vec![], stored: vec![] }
    }
}

impl Starts {
    /// Returns true if a line to come may be stored.
    pub fn looks(&self) -> bool {
        self.words > 0
    }

    /// Takes the next line. `unit`: its unit, which is needed for lines that are stored.
    pub fn take(&mut self, line: &[u8], unit: impl FnOnce() -> Unit) {
        if !self.looks() {
            return;
        }
        // Most lines begin as the one before them.
        let is_repeat = !self.last.is_empty() && line.starts_with(&self.last);
        let start = if is_repeat { None } else { self.start(line) };
        self.lines += usize::from(is_repeat || start.is_some());
        let Some(start) = start.filter(|start| !self.known.contains(start)) else { return };
        self.known.push(start);
        if self.known.len() > MOST {
            *self = Starts { words: self.words - 1, ..Starts::default() };
        } else if self.lines > LEAST {
            self.stored.push((unit(), line.into()));
        }
    }

    /// Hashes the first words of a line, or returns `None` if it has no word.
    fn start(&mut self, line: &[u8]) -> Option<u64> {
        let (mut hash, mut words, mut in_word) = (0, 0, false);
        let read = &line[..line.len().min(READ)];
        let end = read.iter().position(|byte| {
            let is_letter = byte.is_ascii_alphabetic() || !byte.is_ascii();
            if is_letter {
                hash = mix(hash, *byte);
            } else if in_word {
                hash = mix(hash, b' ');
                words += 1;
            }
            in_word = is_letter;
            words == self.words
        });
        self.last.clear();
        self.last.extend(end.map_or(&[][..], |end| &read[..=end]));
        (words > 0).then_some(hash)
    }

    /// Iterates over the lines that are stored, in order.
    pub fn units(&self) -> impl Iterator<Item = (Unit, &[u8])> {
        self.stored.iter().map(|(unit, text)| (*unit, &**text))
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let texts: usize =
            self.stored.iter().map(|(_, text)| text.len() + size_of::<(Unit, Box<[u8]>)>()).sum();
        texts + self.last.capacity() + self.known.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the numbers of the lines that are stored.
    fn stored(lines: &[String]) -> Vec<usize> {
        let mut starts = Starts::default();
        for (number, line) in lines.iter().enumerate() {
            starts.take(line.as_bytes(), || Unit { number, ..Unit::default() });
        }
        assert!(starts.stored.len() <= MOST);
        starts.units().map(|(unit, _)| unit.number).collect()
    }

    fn name(nth: usize) -> String {
        nth.to_string().bytes().map(|digit| char::from(digit + 49)).collect()
    }

    proptest! {
        #[test]
        fn a_line_that_begins_in_another_way_is_stored(
            crowd in prop::collection::hash_set("[a-z]{3,9}|[а-я]{3,9}", 1..4),
            odd in "[а-я]{3,9}|[가-힣]{2,4}",
            between in prop::sample::select(&[": ", "] ", "\",\"say\":\"", " = ", "\t"][..]),
            count in 600..1_200_usize,
            at in any::<prop::sample::Index>(),
            names in any::<bool>(),
        ) {
            prop_assume!(!crowd.contains(&odd));
            let crowd: Vec<&String> = crowd.iter().collect();
            // Names end starts of several words first.
            let least = WORDS * MOST + LEAST + 1;
            let at = least + at.index(count - least);
            let line = |nth: usize| {
                let label = if nth == at { &odd } else { crowd[nth % crowd.len()] };
                let name = if names { name(nth) } else { nth.to_string() };
                format!("{{\"{nth}\":\"{label}{between}{name} moved\n")
            };
            prop_assert_eq!(stored(&(0..count).map(line).collect::<Vec<_>>()), [at]);
        }

        #[test]
        fn few_lines_are_stored_of_any(lines in prop::collection::vec("[ -~é]{0,30}\n", 0..600)) {
            stored(&lines);
        }
    }

    #[test]
    fn no_line_is_stored_where_each_begins_in_its_own_way() {
        assert_eq!(
            stored(&(0..3_000).map(|nth| format!("{} moved\n", name(nth))).collect::<Vec<_>>()),
            [0; 0]
        );
    }
}
