//! The best findings so far with their context, in bounded memory.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use super::likeness::Earlier;
use super::score::Score;
use super::unit::Unit;
use crate::relevance::PlainHasher;

/// The value of a finding: its score, halved for each earlier line like it, and a point less each
/// time the crowd before it has doubled, or the pairs of findings of its form. An integer, and so
/// equal on every platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worth(u32);

impl Worth {
    /// Maximum halvings; beyond that, all repeats are worth equally little.
    const MOST_HALVINGS: u32 = 12;

    /// The worth of a line that the caller asks for, which exceeds all others.
    pub const ASKED_FOR: Worth = Worth(u32::MAX);

    /// Returns the worth in hundredths of a point, rounded up, since every finding says something.
    pub fn hundredths(self) -> u64 {
        // A score is in halves.
        (u64::from(self.0) * 50).div_ceil(1 << Worth::MOST_HALVINGS)
    }

    /// Takes points off, down to the least worth.
    pub fn less(self, points: u32) -> Worth {
        Worth(self.0.saturating_sub((2 * points) << Worth::MOST_HALVINGS).max(1))
    }

    pub fn of(score: Score, earlier: Earlier) -> Worth {
        let crowd = (earlier.crowd + 1).ilog2().max((earlier.form / 2 + 1).ilog2());
        let score = score.0.unsigned_abs().saturating_sub(2 * crowd).max(1);
        Worth((score << Worth::MOST_HALVINGS) >> earlier.same.min(Worth::MOST_HALVINGS))
    }
}

/// A line that explains a failure, and its range of context lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub unit: usize,
    pub worth: Worth,
    /// The hash by which equal findings are alike.
    pub likeness: u32,
    pub first: usize,
    pub last: usize,
    /// First and last line to keep if there is room.
    pub around: (usize, usize),
    /// The number of its heading.
    pub heading: Option<usize>,
}

impl Finding {
    /// Orders findings for eviction: lowest value first, then the latest.
    fn rank(&self) -> Rank {
        (self.worth, Reverse(self.unit))
    }
}

type Rank = (Worth, Reverse<usize>);

/// Bytes per unit besides its text, and per finding.
const OVERHEAD: usize = 96;
const PER_FINDING: usize = size_of::<(Rank, (Finding, Box<[usize]>))>();

#[derive(Clone, Debug)]
pub struct Shelf {
    /// The findings, each with the numbers of its units.
    findings: BTreeMap<Rank, (Finding, Box<[usize]>)>,
    /// The units of all findings by their number, each stored once with its number of users.
    units: HashMap<usize, ShelfEntry, BuildHasherDefault<PlainHasher>>,
    memory: usize,
    most: usize,
    full: bool,
}

#[derive(Clone, Debug)]
struct ShelfEntry {
    unit: Unit,
    text: Box<[u8]>,
    users: usize,
}

impl Shelf {
    /// Creates a shelf that holds up to `most` bytes.
    pub fn new(most: usize) -> Shelf {
        Shelf { findings: BTreeMap::new(), units: HashMap::default(), memory: 0, most, full: false }
    }

    /// Returns true if there is room, or if the finding is worth more than the least stored one.
    pub fn wants(&self, unit: usize, worth: Worth) -> bool {
        !self.full
            || self.findings.first_key_value().is_some_and(|(least, _)| (worth, Reverse(unit)) > *least)
    }

    /// Stores a finding with its units, and evicts the least valuable ones.
    pub fn put<'a>(&mut self, finding: Finding, units: impl IntoIterator<Item = (Unit, &'a [u8])>) {
        let mut numbers = vec![];
        for (unit, text) in units {
            numbers.push(unit.number);
            let stored = self.units.entry(unit.number).or_insert_with(|| {
                self.memory += text.len() + OVERHEAD;
                ShelfEntry { unit, text: text.into(), users: 0 }
            });
            stored.users += 1;
        }
        self.memory += PER_FINDING + numbers.len() * size_of::<usize>();
        self.findings.insert(finding.rank(), (finding, numbers.into()));
        while self.memory > self.most {
            self.full = true;
            let Some((_, (_, numbers))) = self.findings.pop_first() else { return };
            self.memory -= PER_FINDING + numbers.len() * size_of::<usize>();
            numbers.iter().for_each(|number| self.give_up(*number));
        }
    }

    fn give_up(&mut self, number: usize) {
        let Entry::Occupied(mut stored) = self.units.entry(number) else { return };
        stored.get_mut().users -= 1;
        if stored.get().users == 0 {
            self.memory -= stored.remove().text.len() + OVERHEAD;
        }
    }

    /// Iterates over the findings, most valuable first, then earliest.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values().rev().map(|(finding, _)| finding)
    }

    /// Iterates over the units of all findings, in order.
    pub fn units(&self) -> impl Iterator<Item = (Unit, &[u8])> {
        let mut units: Vec<_> = self.units.values().map(|stored| (stored.unit, &*stored.text)).collect();
        units.sort_unstable_by_key(|(unit, _)| unit.number);
        units.into_iter()
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(unit: usize, score: i32) -> Finding {
        let worth = Worth::of(Score(score), Earlier::default());
        let around = (unit, unit + 1);
        Finding { unit, worth, likeness: 0, first: unit, last: unit + 1, around, heading: None }
    }

    fn put(shelf: &mut Shelf, unit: usize, score: i32) {
        let text = [b'x'; 100];
        let units = (unit..=unit + 1).map(|number| {
            let foreign = Default::default();
            let unit =
                Unit { number, char: 0, line: number, bytes: 100, chars: 100, foreign, ends_line: true };
            (unit, &text[..])
        });
        shelf.put(finding(unit, score), units);
    }

    #[test]
    fn least_valuable_findings_are_evicted_and_shared_units_stay() {
        let mut shelf = Shelf::new(4 * (100 + OVERHEAD) + 3 * (PER_FINDING + 16));
        put(&mut shelf, 10, 20);
        put(&mut shelf, 11, 8);
        put(&mut shelf, 20, 8);
        let numbers = |shelf: &Shelf| shelf.units().map(|(unit, _)| unit.number).collect::<Vec<_>>();
        assert_eq!(shelf.findings().map(|finding| finding.unit).collect::<Vec<_>>(), [10, 11]);
        assert_eq!(numbers(&shelf), [10, 11, 12]);
        assert!(!shelf.wants(30, finding(30, 8).worth) && shelf.wants(30, finding(30, 9).worth));
        put(&mut shelf, 30, 30);
        assert_eq!(numbers(&shelf), [10, 11, 30, 31]);
    }
}
