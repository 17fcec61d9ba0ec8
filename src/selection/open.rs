//! Findings still waiting for trailing context lines.

use super::SearchState;
use super::score::Score;
use super::shelf::{Finding, Worth};
use super::unit::Unit;

/// Context lines kept before and after a finding, and around a high-scoring one.
const BEFORE: usize = 2;
const BEFORE_HOT: usize = 3;
const AFTER: usize = 3;
const AFTER_HOT: usize = 5;
/// Trailing lines that are kept while they are indented.
const AFTER_INDENTED: usize = 6;

/// Further lines on either side that are kept if there is room.
pub const AROUND: usize = 12;

/// A finding whose context is incomplete.
#[derive(Clone, Debug)]
pub struct Open {
    finding: Finding,
    heading: Option<(Unit, Vec<u8>)>,
    /// Its trailing context may still grow.
    grows: bool,
    /// It has words of the question.
    is_asked: bool,
}

impl Open {
    pub fn new(
        unit: usize,
        score: Score,
        worth: Worth,
        likeness: u32,
        heading: Option<(Unit, Vec<u8>)>,
    ) -> Open {
        let (before, after) = if score.is_hot() { (BEFORE_HOT, AFTER_HOT) } else { (BEFORE, AFTER) };
        let around = (unit.saturating_sub(AROUND), unit + AROUND);
        // A near heading is among the lines around.
        let heading = heading.filter(|(heading, _)| heading.number < around.0);
        let number = heading.as_ref().map(|(heading, _)| heading.number);
        let first = unit.saturating_sub(before);
        let finding = Finding { unit, worth, likeness, first, last: unit + after, around, heading: number };
        Open { finding, heading, grows: true, is_asked: false }
    }

    /// Opens a line with words of the question.
    pub fn asked(unit: usize, worth: Worth) -> Open {
        Open { is_asked: true, ..Open::new(unit, Score::default(), worth, 0, None) }
    }
}

impl SearchState {
    /// Extends open findings by a unit, and closes those that are complete.
    pub fn go_on(&mut self, unit: Unit, text: &[u8]) {
        self.extend_open(unit.number, text);
        while self.awaited(unit.number) == Some(0) {
            let open = self.open.remove(0);
            self.close(open);
        }
    }

    /// Extends open findings by a unit.
    pub fn extend_open(&mut self, number: usize, text: &[u8]) {
        let indented = matches!(text, [b' ' | b'\t' | b'|', _, ..]);
        for Open { finding, grows, .. } in &mut self.open {
            if number > finding.last {
                *grows &= indented && number <= finding.unit + AFTER_INDENTED;
                finding.last += usize::from(*grows);
            }
        }
    }

    /// Returns the units from this one on that the next finding to be complete waits for.
    pub fn awaited(&self, number: usize) -> Option<usize> {
        // Findings were opened in order, and all wait for equally many lines.
        self.open.first().map(|open| (open.finding.around.1 + 1).saturating_sub(number))
    }

    /// Stores a finding with its heading, and with its context if it is worth that.
    pub fn close(&mut self, Open { mut finding, heading, is_asked, .. }: Open) {
        // Context does not extend across skipped text, whose units may be stored for another
        // finding.
        let Some((first, last)) = self.recent.numbers() else { return };
        finding.around = (finding.around.0.max(first), finding.around.1.min(last));
        let (first, last) = finding.around;
        if is_asked {
            if self.asked.wants(finding.unit, finding.worth) {
                self.asked.put(finding, self.recent.between(first, last));
            }
            return;
        }
        let [in_lines, in_contexts] =
            [&self.lines, &self.contexts].map(|shelf| shelf.wants(finding.unit, finding.worth));
        if !in_lines && !in_contexts {
            return;
        }
        let context = self.recent.between(first, last);
        if in_lines {
            let own = context.iter().copied().filter(|(unit, _)| unit.number == finding.unit);
            let heading = heading.as_ref().map(|(unit, text)| (*unit, &**text));
            self.lines.put(finding, own.chain(heading));
        }
        if in_contexts {
            self.contexts.put(finding, context);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::{SearchTerms, Selection};
    use crate::encoding::Size;
    use crate::limits::Limits;

    /// Generates lines, some of them findings, and `None` for skipped text.
    fn parts() -> impl Strategy<Value = Vec<Option<String>>> {
        let line = prop_oneof![
            12 => "[b-d ]{0,30}\n",
            3 => "error: [a-z]{1,9} is missing\n",
            1 => "fatal: panic: [a-z]{1,9}\n",
        ];
        prop::collection::vec(prop::option::weighted(0.95, line), 0..120)
    }

    proptest! {
        #[test]
        fn the_shelf_holds_the_context_of_its_findings(parts in parts()) {
            let limits = Limits { bytes: 1_000, ..Limits::NONE };
            let mut selection = Selection::new(&limits, SearchTerms { failure: true, needles: &[], query: &[] });
            for part in parts {
                match part {
                    Some(line) => selection.push(line.as_bytes()),
                    None => selection.skip(Size { bytes: 9, chars: 9, newlines: 1, broken: 0 }),
                }
            }
            selection.finish();
            let shelf = &selection.state.contexts;
            let said: BTreeSet<usize> = shelf
                .findings()
                .flat_map(|finding| finding.around.0..=finding.around.1)
                .collect();
            let held: BTreeSet<usize> = shelf.units().map(|(unit, _)| unit.number).collect();
            prop_assert_eq!(held, said);
        }
    }
}
