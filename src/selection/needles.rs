//! Texts that the caller looks for.

use aho_corasick::AhoCorasick;

/// A needle on more units than this says nothing if it is also on more than one of this many.
const FEW: usize = 8;
const COMMON: usize = 33;

/// Texts that make any line with them a finding. All are searched in one pass.
#[derive(Clone, Debug)]
pub struct Needles {
    all: AhoCorasick,
    /// Bytes of the longest needle.
    pub longest: usize,
    /// The units so far that have each needle.
    units: Vec<usize>,
}

/// How often a rare needle has occurred so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Frequency {
    /// On few of the units.
    Seldom,
    /// On a few units.
    Few,
}

impl Needles {
    /// Returns `None` if there are no needles, or if they exceed the memory that an automaton can
    /// address.
    pub fn new(needles: &[String]) -> Option<Needles> {
        let needles: Vec<&String> = needles.iter().filter(|needle| !needle.is_empty()).collect();
        let longest = needles.iter().map(|needle| needle.len()).max()?;
        let units = vec![0; needles.len()];
        Some(Needles { all: AhoCorasick::new(needles).ok()?, longest, units })
    }

    /// Counts the needles of a unit. Returns if it has any, and the frequency of the rarest among
    /// the units so far.
    pub fn count(&mut self, text: &[u8], units: usize) -> (bool, Option<Frequency>) {
        let mut found: Vec<usize> =
            self.all.find_overlapping_iter(text).map(|found| found.pattern().as_usize()).collect();
        found.sort_unstable();
        found.dedup();
        let mut rarest = None;
        for needle in &found {
            let count = &mut self.units[*needle];
            *count += 1;
            let frequency = match *count {
                ..=FEW => Some(Frequency::Few),
                count => (count * COMMON <= units).then_some(Frequency::Seldom),
            };
            rarest = rarest.max(frequency);
        }
        (!found.is_empty(), rarest)
    }
}
