//! The best findings so far with their context, in bounded memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::score::Score;
use super::unit::Unit;

/// The value of a finding: its score, halved for each earlier line like it. An integer, and so equal on every platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Worth(u32);

impl Worth {
    /// Maximum halvings; beyond that, all repeats are worth equally little.
    const MOST_HALVINGS: u16 = 12;

    /// The minimum value of a finding without earlier ones like it.
    pub const NEW: Worth = Worth((Score::LEAST.0 as u32) << Worth::MOST_HALVINGS);

    pub fn of(score: Score, before: u16) -> Worth {
        Worth((score.0.unsigned_abs() << Worth::MOST_HALVINGS) >> before.min(Worth::MOST_HALVINGS))
    }
}

/// A line that explains a failure, and its range of context lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub unit: usize,
    pub first: usize,
    pub last: usize,
    /// First and last line to keep if there is room.
    pub around: (usize, usize),
    /// The number of its heading.
    pub heading: Option<usize>,
    pub worth: Worth,
}

impl Finding {
    /// Orders findings for eviction: lowest value first, then the latest.
    fn rank(&self) -> (Worth, Reverse<usize>) {
        (self.worth, Reverse(self.unit))
    }
}

/// Bytes per unit besides its text.
const OVERHEAD: usize = 96;

#[derive(Clone, Debug)]
pub struct Shelf {
    findings: BTreeMap<(Worth, Reverse<usize>), Finding>,
    /// The units of all findings, each stored once with its number of users.
    units: BTreeMap<usize, Stored>,
    memory: usize,
    most: usize,
    full: bool,
}

#[derive(Clone, Debug)]
struct Stored {
    unit: Unit,
    text: Box<[u8]>,
    users: usize,
}

impl Shelf {
    /// Creates a shelf that holds up to `most` bytes.
    pub fn new(most: usize) -> Shelf {
        Shelf { findings: BTreeMap::new(), units: BTreeMap::new(), memory: 0, most, full: false }
    }

    /// Returns true if there is room, or if the finding is worth more than the least stored one.
    pub fn wants(&self, unit: usize, worth: Worth) -> bool {
        let least = self.findings.first_key_value().map(|(rank, _)| *rank);
        !self.full || least.is_some_and(|least| (worth, Reverse(unit)) > least)
    }

    /// Stores a finding with its units, and evicts the least valuable ones.
    pub fn put<'a>(&mut self, finding: Finding, units: impl Iterator<Item = (Unit, &'a [u8])>) {
        self.findings.insert(finding.rank(), finding);
        for (unit, text) in units {
            let stored = self.units.entry(unit.number).or_insert_with(|| {
                self.memory += text.len() + OVERHEAD;
                Stored { unit, text: text.into(), users: 0 }
            });
            stored.users += 1;
        }
        while self.memory > self.most {
            self.full = true;
            let Some((_, least)) = self.findings.pop_first() else { return };
            for number in (least.around.0..=least.around.1).chain(least.heading) {
                self.give_up(number);
            }
        }
    }

    fn give_up(&mut self, number: usize) {
        let std::collections::btree_map::Entry::Occupied(mut stored) = self.units.entry(number) else {
            return;
        };
        stored.get_mut().users -= 1;
        if stored.get().users == 0 {
            self.memory -= stored.remove().text.len() + OVERHEAD;
        }
    }

    /// Iterates over the findings, most valuable first, then earliest.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.values().rev()
    }

    /// Iterates over the units of all findings, in order.
    pub fn units(&self) -> impl Iterator<Item = (Unit, &[u8])> {
        self.units.values().map(|stored| (stored.unit, &*stored.text))
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.memory + self.findings.len() * size_of::<((Worth, Reverse<usize>), Finding)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(shelf: &mut Shelf, unit: usize, score: i32) {
        let text = [b'x'; 100];
        let worth = Worth::of(Score(score), 0);
        let finding =
            Finding { unit, first: unit, last: unit + 1, around: (unit, unit + 1), heading: None, worth };
        let units = (unit..=unit + 1).map(|number| {
            let foreign = Default::default();
            let unit =
                Unit { number, char: 0, line: number, bytes: 100, chars: 100, foreign, ends_line: true };
            (unit, &text[..])
        });
        shelf.put(finding, units);
    }

    #[test]
    fn least_valuable_findings_are_evicted_and_shared_units_stay() {
        let mut shelf = Shelf::new(4 * (100 + OVERHEAD));
        put(&mut shelf, 10, 20);
        put(&mut shelf, 11, 8);
        put(&mut shelf, 20, 8);
        let numbers = |shelf: &Shelf| shelf.units().map(|(unit, _)| unit.number).collect::<Vec<_>>();
        assert_eq!(shelf.findings().map(|finding| finding.unit).collect::<Vec<_>>(), [10, 11]);
        assert_eq!(numbers(&shelf), [10, 11, 12]);
        assert!(!shelf.wants(30, Worth::of(Score(8), 0)) && shelf.wants(30, Worth::of(Score(9), 0)));
        put(&mut shelf, 30, 30);
        assert_eq!(numbers(&shelf), [10, 11, 30, 31]);
    }
}
