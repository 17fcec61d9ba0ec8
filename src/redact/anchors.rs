//! Finds the texts with which a secret may begin: by a sieve, then by an automaton.
//!
//! The sieve tells few texts of a group apart, so texts that are alike share one: the two groups
//! whose union lets the fewest more places pass are joined until as many are left as the sieve has.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};

use crate::sieve::{GROUPS, Sieve};

/// Bytes of a text that the sieve looks at.
const DEPTH: usize = 4;

/// How often text has bytes with an upper half, of 100.
const OFTEN: [u64; 16] = [2, 1, 12, 8, 4, 4, 45, 25, 1, 1, 1, 1, 1, 1, 1, 1];

#[derive(Debug)]
pub struct Anchors {
    sieve: Sieve,
    automaton: AhoCorasick,
    longest: usize,
}

impl Anchors {
    pub fn of(texts: &[&String]) -> Anchors {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .start_kind(StartKind::Anchored)
            .kind(Some(AhoCorasickKind::DFA))
            .build(texts)
            .expect("anchors");
        let mut sieve = Sieve::default();
        for (nth, group) in grouped(texts.iter().map(|text| text.as_bytes())).iter().enumerate() {
            for text in group {
                sieve.add(nth, &text.chunks(1).collect::<Vec<_>>());
            }
        }
        Anchors { sieve, automaton, longest: texts.iter().map(|text| text.len()).max().unwrap_or(0) }
    }

    /// Returns the place of the next anchor before `stop`, and which it is.
    pub fn next(&self, text: &[u8], from: usize, stop: usize) -> Option<(usize, usize)> {
        let end = text.len().min(stop.saturating_add(self.longest));
        self.sieve.places(&text[..end], from).find_map(|at| {
            let here = Input::new(text).range(at..end).anchored(Anchored::Yes);
            Some((at, self.automaton.find(here)?.pattern().as_usize()))
        })
    }
}

/// The halves of bytes that a group allows.
type Halves = [(u16, u16); DEPTH];

fn halves(text: &[u8]) -> Halves {
    std::array::from_fn(|nth| text.get(nth).map_or((!0, !0), |byte| (1 << (byte & 15), 1 << (byte >> 4))))
}

fn joined(one: &Halves, other: &Halves) -> Halves {
    std::array::from_fn(|nth| (one[nth].0 | other[nth].0, one[nth].1 | other[nth].1))
}

/// How many places a group lets pass, in proportion.
fn weight(halves: &Halves) -> u64 {
    let often = |high: u16| (0..16).filter(|half| high >> half & 1 == 1).map(|half| OFTEN[half]).sum::<u64>();
    halves.iter().map(|&(low, high)| u64::from(low.count_ones()) * often(high)).product()
}

/// Puts texts into as many groups as the sieve has.
fn grouped<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Vec<Vec<&'t [u8]>> {
    let mut heads: Vec<&[u8]> = texts.map(|text| &text[..text.len().min(DEPTH)]).collect();
    heads.sort_unstable();
    heads.dedup();
    let mut groups: Vec<(Halves, Vec<&[u8]>)> =
        heads.into_iter().map(|head| (halves(head), vec![head])).collect();
    let more = |one: &Halves, other: &Halves| {
        weight(&joined(one, other)).saturating_sub(weight(one) + weight(other))
    };
    let nearest = |groups: &[(Halves, Vec<&[u8]>)], at: usize| {
        let others = (0..groups.len()).filter(|&other| other != at);
        others.map(|other| (more(&groups[at].0, &groups[other].0), other)).min().unwrap_or((u64::MAX, at))
    };
    let mut near: Vec<(u64, usize)> = (0..groups.len()).map(|at| nearest(&groups, at)).collect();
    while groups.len() > GROUPS {
        let one = (0..groups.len()).min_by_key(|&at| near[at].0).unwrap_or(0);
        let (keep, gone) = (one.min(near[one].1), one.max(near[one].1));
        let (halves, texts) = groups.swap_remove(gone);
        near.swap_remove(gone);
        groups[keep].0 = joined(&groups[keep].0, &halves);
        groups[keep].1.extend(texts);
        let last = groups.len();
        for at in 0..last {
            let was = near[at].1;
            if at == keep || was == keep || was == gone {
                near[at] = nearest(&groups, at);
            } else {
                near[at].1 = if was == last { gone } else { was };
                near[at] = near[at].min((more(&groups[at].0, &groups[keep].0), keep));
            }
        }
    }
    groups.into_iter().map(|(_, texts)| texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_a_group_and_is_found() {
        let texts: Vec<String> =
            (0..300).map(|nth| format!("{}{nth}-", ["key", "tok", "Sec", "x_"][nth % 4])).collect();
        let groups = grouped(texts.iter().map(|text| text.as_bytes()));
        assert!(groups.len() <= GROUPS && groups.iter().all(|group| !group.is_empty()));
        let anchors = Anchors::of(&texts.iter().collect::<Vec<_>>());
        for (nth, text) in texts.iter().enumerate() {
            let within = format!("some words before {text}");
            assert_eq!(anchors.next(within.as_bytes(), 0, within.len()), Some((18, nth)), "{text}");
        }
    }
}
