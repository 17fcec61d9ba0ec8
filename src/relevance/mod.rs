//! Values the lines of a text by their use to the next turn of an agent.
//!
//! No line of a listing or a source file says that it matters, so the value of a line comes from
//! two sources: the words that it shares with the question, and the names that no kept line
//! contains yet.
//!
//! **The question** is the arguments of the call, or the user's last words. A shared word counts by
//! how rare it is in the text, `log(lines / lines with the word)`: the usual inverse document
//! frequency, with lines as documents. A word on more than one line in [`COMMON`] counts 0, since
//! it would mark an eighth of the text. The first text of a question weighs [`question::WEIGHT`]
//! and later texts less, because the arguments of a call are more specific than a conversation.
//!
//! **New names.** Agents continue with names: they open a file, call a function, search for an
//! identifier. A name that no kept line contains is worth [`NAME`]; a plain word a fifth of it.
//! Keeping a line takes its words out of the value of all other lines, so that the second line
//! about a subject competes with the first line about another. This makes the choice a greedy
//! cover: the best line for its room is taken, and the values of the others can only fall.
//! `Names::next` uses that: the head of the queue is final once its value, computed again, still
//! exceeds the next.
//!
//! **Crowds.** The more lines of one form are kept for their names, the less the new names of the
//! others are worth (`crowds`).
//!
//! **Groups.** Search results stand under their file, listings under their folder, hunks under
//! their file. The first line of each group is worth two names, so that a small room shows every
//! file before it shows the second match of one.
//!
//! **Neighbors.** A line counts with the line before and after it, since a line alone says little.
//! The value is divided by the room that the three take, including the marks of the gaps that they
//! open.
//!
//! Stemming, synonyms and embeddings are not used: they need a model or a language, and identifiers
//! have neither.

mod crowds;
mod group;
mod hasher;
mod letters;
mod question;
mod queue;
mod scripts;
mod words;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::ops::RangeInclusive;

use crowds::Crowds;
pub use crowds::form;
use group::group;
pub use hasher::{PlainHasher, hash};
pub use question::Question;
use queue::Queue;
use words::{Words, each_word};

/// Words for which a table has room from the start. Blank lines have none.
const RESERVED: usize = 1 << 16;

/// The value of a name that is new, of a plain word that is new, and of the first line of a group.
/// The rarest word of a question is worth a name.
const NAME: u32 = question::WEIGHT;
const PLAIN: u32 = NAME / 5;
const GROUP: u32 = NAME * 2;

/// A word of the question that is on more than one line of this many says nothing.
const COMMON: usize = 8;

/// A line answers the question if it has this share of the best line's score.
const ANSWERS: (u32, u32) = (3, 10);

/// The part of a line in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A line of a text or a header of a diff.
    Text,
    /// A line that a diff changes, in the file of this number.
    Change(usize),
    /// A line that a diff shows beside a change.
    Context,
}

/// The lines of a text, each with its words and its value beside the lines that are kept.
#[derive(Clone, Debug)]
pub struct Relevance<'a> {
    /// Words by line, by their number, each once per line.
    words: Lists,
    /// Lines by word.
    lines: Lists,
    /// The worth of each word while no kept line has it.
    news: Vec<u32>,
    /// The value of each line, from words of the question, the first line of a group, and new
    /// words.
    values: Vec<u32>,
    /// The words of the question in each line.
    asked: Vec<u32>,
    crowds: Crowds<'a>,
}

impl<'a> Relevance<'a> {
    /// Reads the lines of a text.
    pub fn new(lines: impl Iterator<Item = (&'a [u8], Part)>, question: &Question) -> Relevance<'a> {
        // A table that grows writes its words again each time, and most lines have a new one.
        let mut numbers: Words<u32> = Words::default();
        numbers.reserve(lines.size_hint().0.min(RESERVED));
        let mut groups: HashSet<&[u8], BuildHasherDefault<PlainHasher>> = HashSet::default();
        let (mut words, mut news, mut values) = (Lists::default(), vec![], vec![]);
        // The lines so far that the last line with each word ends.
        let mut last: Vec<usize> = vec![];
        let mut before = None;
        let mut crowds = Crowds::default();
        for (line, part) in lines {
            crowds.take(line, part);
            let nth = words.ends.len() + 1;
            if before.replace(line) == Some(line) {
                words.repeat_last();
                values.push(0);
                continue;
            }
            each_word(line, |_| true, &mut |word, _| {
                let number = *numbers.entry(word).or_insert_with(|| {
                    news.push(if word.is_name() { NAME } else { PLAIN });
                    last.push(0);
                    news.len() as u32 - 1
                });
                if std::mem::replace(&mut last[number as usize], nth) != nth {
                    words.all.push(number);
                }
            });
            words.ends.push(words.all.len());
            let is_first = group(line).is_some_and(|group| groups.insert(group));
            let of_change = if matches!(part, Part::Change(_)) { NAME } else { 0 };
            values.push(of_change + if is_first { GROUP } else { 0 });
        }
        let lines = words.inverted(news.len());
        let all = values.len();
        let rare = |count: usize, weight: u32| match count * COMMON > all.max(2 * COMMON) {
            true => 0,
            false => weight * (all / count).ilog2() / all.ilog2().max(1),
        };
        let mut asked = vec![0; all];
        for (word, weight) in question.words() {
            if let Some(number) = numbers.get(&word) {
                let of_word = lines.get(*number as usize);
                let worth = rare(of_word.len(), weight);
                of_word.iter().for_each(|line| asked[*line as usize] += worth);
            }
        }
        for (line, value) in values.iter_mut().enumerate() {
            *value += asked[line] + words.get(line).iter().map(|word| news[*word as usize]).sum::<u32>();
        }
        Relevance { words, lines, news, values, asked, crowds }
    }

    /// Returns the lines with the highest score for the question, best first, then in order.
    pub fn answers(&self) -> Vec<usize> {
        let best = self.asked.iter().copied().max().unwrap_or(0);
        let tells = |line: &usize| self.asked[*line] > 0 && self.asked[*line] * ANSWERS.1 >= best * ANSWERS.0;
        let mut lines: Vec<usize> = (0..self.asked.len()).filter(tells).collect();
        lines.sort_by_key(|line| Reverse(self.asked[*line]));
        lines
    }

    /// Takes the words of a kept line out of the values of all lines.
    pub fn learn(&mut self, line: usize) {
        for &word in self.words.get(line) {
            let worth = std::mem::take(&mut self.news[word as usize]);
            if worth > 0 {
                self.lines.get(word as usize).iter().for_each(|line| self.values[*line as usize] -= worth);
            }
        }
    }
}

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    all: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    /// Adds the last list again.
    fn repeat_last(&mut self) {
        let start = self.ends.len().checked_sub(2).map_or(0, |before| self.ends[before]);
        self.all.extend_from_within(start..);
        self.ends.push(self.all.len());
    }

    fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start..self.ends[at]]
    }

    /// Returns, for each number below `most`, the lists that have it.
    fn inverted(&self, most: usize) -> Lists {
        let mut ends = vec![0; most];
        self.all.iter().for_each(|number| ends[*number as usize] += 1);
        let mut end = 0;
        for count in &mut ends {
            // The end of each list is its start until the list is filled.
            end += std::mem::replace(count, end);
        }
        let mut all = vec![0; self.all.len()];
        for list in 0..self.ends.len() {
            for number in self.get(list) {
                let at = &mut ends[*number as usize];
                all[*at] = list as u32;
                *at += 1;
            }
        }
        Lists { all, ends }
    }
}

/// Lines that are kept or may be.
pub trait Lines {
    /// Returns true if the line is kept.
    fn is_kept(&self, line: usize) -> bool;
    /// Returns the line with its neighbors.
    fn around(&self, line: usize) -> RangeInclusive<usize>;
    /// Returns the room that keeping these lines takes, at least 1.
    fn cost(&self, lines: RangeInclusive<usize>) -> u64;
}

/// The lines of a text in the order of their value for their room.
#[derive(Debug)]
pub struct Names<'a> {
    relevance: Relevance<'a>,
    queue: Queue,
}

impl<'a> Names<'a> {
    pub fn new(relevance: Relevance<'a>, lines: &impl Lines) -> Names<'a> {
        let all = (0..relevance.values.len()).filter(|line| !lines.is_kept(*line));
        let mut queue = Queue::default();
        all.for_each(|line| relevance.value(line, lines).wait(line, &mut queue));
        Names { relevance, queue }
    }

    /// Takes the words of a kept line out of the values of all lines.
    pub fn learn(&mut self, line: usize) {
        self.relevance.learn(line);
    }

    /// Charges a line to its crowd.
    pub fn charge(&mut self, line: usize) {
        self.relevance.crowds.charge(line);
    }

    /// Returns the score of a line for the question.
    pub fn asked(&self, line: usize) -> u32 {
        self.relevance.asked[line]
    }

    /// Returns the value of a line alone.
    pub fn value(&self, line: usize) -> u32 {
        self.relevance.alone(line)
    }

    /// Returns the line of the highest value for its room, with its neighbors, or `None` if no
    /// line has any value.
    pub fn next(&mut self, lines: &impl Lines) -> Option<(usize, RangeInclusive<usize>)> {
        // The value of a line only falls as others are kept, so the best line is the first whose
        // value has not changed.
        while let Some(best) = self.queue.pop() {
            let line = Value::line_of(best);
            if lines.is_kept(line) {
                continue;
            }
            let value = self.relevance.value(line, lines);
            if value.rank(line) == best {
                return Some((line, lines.around(line)));
            }
            value.wait(line, &mut self.queue);
        }
        None
    }
}

/// The value of a line and its neighbors for the room that they take, and of the line alone, which
/// decides a tie.
#[derive(Clone, Copy, Debug)]
struct Value {
    for_room: u64,
    own: u32,
}

impl Value {
    /// Returns a number by which values are ordered, and among equal ones earlier lines are higher.
    /// A queue compares such numbers without a branch.
    fn rank(self, line: usize) -> u128 {
        u128::from(self.for_room) << 64 | u128::from(self.own) << 32 | u128::from(!(line as u32))
    }

    fn line_of(rank: u128) -> usize {
        !(rank as u32) as usize
    }

    /// Adds a line of this value to a queue. A line without value never gains any.
    fn wait(self, line: usize, queue: &mut Queue) {
        if self.for_room > 0 {
            queue.push(self.rank(line));
        }
    }
}

impl Relevance<'_> {
    /// Returns the value of a line in the crowd of its form.
    fn alone(&self, line: usize) -> u32 {
        let asked = self.asked[line];
        let news = if self.crowds.is_context(line) { 0 } else { self.values[line] - asked };
        asked + self.crowds.worth(line, news)
    }

    /// Returns the value of a line that is not kept, with its neighbors.
    fn value(&self, line: usize, lines: &impl Lines) -> Value {
        /// Fractions of a value that are distinguished.
        const SCALE: u64 = 1 << 32;
        let (around, own) = (lines.around(line), self.alone(line));
        // A range without its end is walked in fewer steps.
        let beside = (*around.start()..around.end() + 1).filter(|at| *at != line && !lines.is_kept(*at));
        let value = own + beside.map(|at| self.alone(at)).sum::<u32>();
        // A division is slow, and many lines have no value.
        let for_room = if value == 0 { 0 } else { u64::from(value) * SCALE / lines.cost(around) };
        Value { for_room, own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that all take the same room.
    struct Page {
        kept: Vec<bool>,
    }

    impl Lines for Page {
        fn is_kept(&self, line: usize) -> bool {
            self.kept[line]
        }

        fn around(&self, line: usize) -> RangeInclusive<usize> {
            line.saturating_sub(1)..=(line + 1).min(self.kept.len() - 1)
        }

        fn cost(&self, lines: RangeInclusive<usize>) -> u64 {
            lines.filter(|line| !self.kept[*line]).count().max(1) as u64
        }
    }

    /// Returns the numbers of the kept lines.
    fn kept(text: &str, question: &str, room: usize) -> Vec<usize> {
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        let question = Question::new(&[question.to_owned()]);
        let relevance = Relevance::new(lines.iter().map(|line| (*line, Part::Text)), &question);
        let mut page = Page { kept: vec![false; lines.len()] };
        let mut names = Names::new(relevance, &page);
        let mut kept = vec![];
        while let Some((_, around)) = names.next(&page) {
            let new: Vec<usize> = around.filter(|line| !page.kept[*line]).collect();
            if kept.len() + new.len() > room {
                break;
            }
            for line in new {
                page.kept[line] = true;
                names.learn(line);
                names.charge(line);
                kept.push(line);
            }
        }
        kept.sort_unstable();
        kept
    }

    /// Forty lines with `line` as line 20.
    fn with(line: &str) -> String {
        let filler = "the same words again\n";
        filler.repeat(20) + line + "\n" + &filler.repeat(19)
    }

    #[test]
    fn a_line_that_answers_the_question_is_kept_with_its_neighbors() {
        assert_eq!(kept(&with("the okapi again"), "where is the Okapi?", 3), [19, 20, 21]);
        assert_eq!(kept(&with("fn openBackDoor()"), "back doors, open", 3), [19, 20, 21]);
    }

    #[test]
    fn a_new_name_is_worth_more_than_a_new_word() {
        let text = with("a zebra and a gnu").replacen("the same words again", "see src/zoo/zebra.rs", 1);
        assert_eq!(kept(&text, "", 2), [0, 1]);
    }

    #[test]
    fn names_that_are_kept_are_not_kept_again() {
        let text = "use_one()\nx\nx\nuse_one()\nx\nx\nuse_two()\nx\nx\n";
        assert_eq!(kept(text, "", 5), [0, 1, 5, 6, 7]);
    }

    #[test]
    fn lines_without_words_are_left_to_the_ends() {
        assert_eq!(kept("1\n2\n--\n\n{\n}\n", "anything", 9), [0; 0]);
        assert_eq!(kept("", "anything", 9), [0; 0]);
    }

    #[test]
    fn the_first_line_of_a_group_is_kept() {
        let group = |name: &str| format!("src/{name}.rs:1: let a = it;\n") + &"    let a = it;\n".repeat(9);
        let lines = kept(&(group("one") + &group("two") + &group("six")), "", 8);
        assert!([0, 10, 20].iter().all(|head| lines.contains(head)), "{lines:?}");
    }
}
