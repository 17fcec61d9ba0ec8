//! Tells which lines of a text an agent will use next.
//!
//! No line of a listing or a source file says that it matters. Two things do: the words that the line shares with the
//! question, weighted by how rare they are in the text, and the names that no kept line has yet. A line counts with its
//! neighbours, since a line alone says little.

mod group;
mod question;
mod words;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::RangeInclusive;

use group::group;
pub use question::Question;
use words::{Words, each_word};

/// The value of a name that is new, of a plain word that is new, and of the first line of a group. The rarest word of a
/// question is worth a name.
const NAME: u32 = question::WEIGHT;
const PLAIN: u32 = NAME / 5;
const GROUP: u32 = NAME * 2;

/// A word of the question that is on more than one line of this many says nothing.
const COMMON: usize = 8;

/// The words of the lines of a text, and their values.
#[derive(Debug)]
pub struct Relevance {
    /// Words of all lines, by their number, each once per line. A line's words end where the next begin.
    words: Vec<u32>,
    starts: Vec<usize>,
    /// Values by number of the word.
    names: Vec<bool>,
    /// Values by line, whatever else is kept: those of the question and of a group's first line.
    fixed: Vec<u32>,
}

impl Relevance {
    /// Reads the lines of a text.
    pub fn new<'a>(lines: impl Iterator<Item = &'a [u8]>, question: &Question) -> Relevance {
        let mut numbers: Words<u32> = Words::default();
        let mut groups = HashSet::new();
        let (mut words, mut starts, mut names, mut counts) = (vec![], vec![], vec![], vec![]);
        let mut fixed = vec![];
        for line in lines {
            let start = words.len();
            starts.push(start);
            each_word(line, &mut |word| {
                let number = *numbers.entry(word).or_insert_with(|| {
                    names.push(word.is_name());
                    counts.push(0_usize);
                    counts.len() as u32 - 1
                });
                words.push(number);
            });
            words[start..].sort_unstable();
            let mut kept = start;
            for at in start..words.len() {
                if at == start || words[at] != words[at - 1] {
                    words[kept] = words[at];
                    counts[words[at] as usize] += 1;
                    kept += 1;
                }
            }
            words.truncate(kept);
            fixed.push(if group(line).is_some_and(|group| groups.insert(group)) { GROUP } else { 0 });
        }
        starts.push(words.len());
        let lines = fixed.len();
        let rare = |count: usize, weight: u32| match count * COMMON > lines.max(2 * COMMON) {
            true => 0,
            false => weight * (lines / count).ilog2() / lines.ilog2().max(1),
        };
        let mut asked = vec![0; names.len()];
        for (word, weight) in question.words() {
            if let Some(number) = numbers.get(&word).map(|number| *number as usize) {
                asked[number] = rare(counts[number], weight);
            }
        }
        for (line, fixed) in fixed.iter_mut().enumerate() {
            let words = &words[starts[line]..starts[line + 1]];
            *fixed += words.iter().map(|word| asked[*word as usize]).sum::<u32>();
        }
        Relevance { words, starts, names, fixed }
    }

    fn words(&self, line: usize) -> &[u32] {
        &self.words[self.starts[line]..self.starts[line + 1]]
    }
}

/// Lines that are kept or may be.
pub trait Lines {
    /// Returns true if the line is kept.
    fn is_kept(&self, line: usize) -> bool;
    /// Returns the line with its neighbours.
    fn around(&self, line: usize) -> RangeInclusive<usize>;
    /// Returns the room that keeping these lines takes, at least 1.
    fn cost(&self, lines: RangeInclusive<usize>) -> u64;
    /// Keeps these lines if they fit.
    fn keep(&mut self, lines: RangeInclusive<usize>) -> bool;
}

/// Keeps the lines of the highest value for their room, each with its neighbours, until no more fit. Returns true if any
/// line is kept.
pub fn keep_relevant(relevance: &Relevance, lines: &mut impl Lines) -> bool {
    let mut known = vec![false; relevance.names.len()];
    let learn = |known: &mut Vec<bool>, line: usize| {
        for word in relevance.words(line) {
            known[*word as usize] = true;
        }
    };
    let all = 0..relevance.fixed.len();
    for line in all.clone().filter(|line| lines.is_kept(*line)) {
        learn(&mut known, line);
    }
    // The value of a line only falls as others are kept, so the best is the first that is still worth what it was.
    let mut queue: BinaryHeap<(u64, Reverse<usize>)> = all
        .filter(|line| !lines.is_kept(*line))
        .map(|line| (relevance.value(line, lines, &known), Reverse(line)))
        .collect();
    let mut any = false;
    while let Some((_, Reverse(line))) = queue.pop() {
        if lines.is_kept(line) {
            continue;
        }
        let value = relevance.value(line, lines, &known);
        if queue.peek().is_some_and(|next| (value, Reverse(line)) < *next) {
            queue.push((value, Reverse(line)));
            continue;
        }
        if value == 0 {
            break;
        }
        let around = lines.around(line);
        let new: Vec<usize> = around.clone().filter(|line| !lines.is_kept(*line)).collect();
        if lines.keep(around) {
            any = true;
            new.into_iter().for_each(|line| learn(&mut known, line));
        }
    }
    any
}

impl Relevance {
    /// Returns the value of a line and its neighbours for the room that they take.
    fn value(&self, line: usize, lines: &impl Lines, known: &[bool]) -> u64 {
        /// Fractions of a value that are told apart.
        const SCALE: u64 = 1 << 32;
        let around = lines.around(line);
        let of_word = |word: &u32| match (known[*word as usize], self.names[*word as usize]) {
            (true, _) => 0,
            (false, true) => NAME,
            (false, false) => PLAIN,
        };
        let of_line = |line: usize| self.fixed[line] + self.words(line).iter().map(of_word).sum::<u32>();
        let value: u32 = around.clone().filter(|line| !lines.is_kept(*line)).map(of_line).sum();
        u64::from(value) * SCALE / lines.cost(around)
    }
}
