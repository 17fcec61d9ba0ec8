//! The order of findings by the places in which they stand, so that no stretch takes all the room.
//!
//! A tool may print hundreds of lines that tell of a failure: a flood, which someone may have
//! invented to hide what matters. Their words and forms may all differ, but they stand together. So
//! a finding is worth less behind many in its part of the text, and every second one is among the
//! best of its block.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use super::shelf::{Finding, Worth};

/// A text has so many parts of equally many units.
const PARTS: usize = 16;

/// Maximum distance in units between one finding of a block and the next.
const NEAR: usize = 4;

/// The findings of a block that are among its best.
const BEST: usize = 4;

/// Sorts findings by worth, and gives those in the last run the worth of equal ones before it.
/// `units`: the numbers of the text's first and last unit. `before`: the last unit before the run.
pub fn sort(findings: &mut [Finding], units: &RangeInclusive<usize>, before: Option<usize>) {
    by_worth(findings);
    // Lines that the caller asks for come before all others.
    let asked = findings.partition_point(|finding| finding.worth == Worth::ASKED_FOR);
    let findings = &mut findings[asked..];
    if let Some(before) = before {
        prefer_last_run(findings, before);
        by_worth(findings);
    }
    charge_parts(findings, units);
    // Of findings charged to one worth, those that were worth more stay first.
    findings.sort_by_key(|finding| Reverse(finding.worth));
    findings.copy_from_slice(&alternate(findings));
}

fn by_worth(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| (Reverse(finding.worth), finding.unit));
}

/// Swaps the worths of equal findings, so that those behind a unit have the highest.
fn prefer_last_run(findings: &mut [Finding], before: usize) {
    let mut alike: Vec<(u32, usize)> =
        findings.iter().enumerate().map(|(at, finding)| (finding.likeness, at)).collect();
    alike.sort_unstable();
    for group in alike.chunk_by(|a, b| a.0 == b.0) {
        let worths: Vec<Worth> = group.iter().map(|(_, at)| findings[*at].worth).collect();
        let mut places: Vec<usize> = group.iter().map(|(_, at)| *at).collect();
        places.sort_by_key(|at| (findings[*at].unit <= before, findings[*at].unit));
        places.into_iter().zip(worths).for_each(|(at, worth)| findings[at].worth = worth);
    }
}

/// Takes a point off the worth of a finding each time the better ones in its part have doubled.
fn charge_parts(findings: &mut [Finding], units: &RangeInclusive<usize>) {
    let all = units.end() - units.start() + 1;
    let mut better = [0; PARTS];
    for finding in findings {
        let better = &mut better[(finding.unit - units.start()) * PARTS / all];
        finding.worth = finding.worth.less(u32::ilog2(*better / 2 + 1));
        *better += 1;
    }
}

/// Orders findings so that every second one is among the best of its block, as long as there are
/// any.
fn alternate(findings: &[Finding]) -> Vec<Finding> {
    let blocks = blocks(findings);
    let mut seen = vec![0; findings.len() + 1];
    let mut is_best = |at: &usize| {
        seen[blocks[*at]] += 1;
        seen[blocks[*at]] <= BEST
    };
    let mut best = (0..findings.len()).filter(|at| is_best(at));
    let (mut any, mut is_taken) = (0..findings.len(), vec![false; findings.len()]);
    let mut order = Vec::with_capacity(findings.len());
    while order.len() < findings.len() {
        let is_odd = order.len() % 2 == 1;
        let next = if is_odd { best.find(|at| !is_taken[*at]) } else { None };
        let Some(at) = next.or_else(|| any.find(|at| !is_taken[*at])) else { break };
        is_taken[at] = true;
        order.push(findings[at]);
    }
    order
}

/// Returns the number of the block of each finding.
fn blocks(findings: &[Finding]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..findings.len()).collect();
    places.sort_unstable_by_key(|at| findings[*at].unit);
    let (mut blocks, mut block, mut before) = (vec![0; findings.len()], 0, 0);
    for at in places {
        let unit = findings[at].unit;
        block += usize::from(unit > before + NEAR);
        (blocks[at], before) = (block, unit);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::likeness::Earlier;
    use super::super::score::Score;
    use super::*;

    fn finding(unit: usize, score: i32, likeness: u32) -> Finding {
        let worth = Worth::of(Score(score), Earlier::default());
        Finding { unit, worth, likeness, first: unit, last: unit, around: (unit, unit), heading: None }
    }

    fn sorted(mut findings: Vec<Finding>, last: usize, before: Option<usize>) -> Vec<usize> {
        sort(&mut findings, &(0..=last), before);
        findings.iter().map(|finding| finding.unit).collect()
    }

    proptest! {
        #[test]
        fn a_flood_leaves_others_among_the_first(
            scores in prop::collection::vec(20..40, 20..600),
            other in 8..40,
            gap in 0..NEAR,
        ) {
            let flood = scores.iter().enumerate().map(|(nth, score)| finding(nth * (1 + gap), *score, 0));
            let unit = scores.len() * (1 + gap) + NEAR;
            let order = sorted(flood.chain([finding(unit, other, 1)]).collect(), unit * 9, None);
            prop_assert!(order.iter().take(2 * (BEST + 1)).any(|at| *at == unit), "{order:?}");
        }

        #[test]
        fn each_finding_is_kept_once_and_asked_ones_come_first(
            units in prop::collection::btree_set(0..900_usize, 1..200),
            asked in 0..20_usize,
            before in prop::option::of(0..900_usize),
        ) {
            let worth = |nth| if nth % 20 < asked { Worth::ASKED_FOR } else { Worth::of(Score(9), Earlier::default()) };
            let findings: Vec<Finding> = units.iter().enumerate()
                .map(|(nth, unit)| Finding { worth: worth(nth), ..finding(*unit, 9, nth as u32 % 7) })
                .collect();
            let mut order = findings.clone();
            sort(&mut order, &(0..=899), before);
            prop_assert!(order.is_sorted_by_key(|finding| finding.worth != Worth::ASKED_FOR));
            let mut kept: Vec<usize> = order.iter().map(|finding| finding.unit).collect();
            kept.sort_unstable();
            prop_assert_eq!(kept, units.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn equal_findings_of_the_last_run_come_first() {
        let run = |start: usize, halved: i32| {
            [finding(start, 32 >> halved, 1), finding(start + 40, 30 >> halved, 2)]
        };
        let findings: Vec<Finding> = [run(0, 0), run(100, 1), run(200, 2)].concat();
        assert_eq!(sorted(findings.clone(), 299, Some(190))[..2], [200, 240]);
        assert_eq!(sorted(findings, 299, None)[..2], [0, 40]);
    }
}
