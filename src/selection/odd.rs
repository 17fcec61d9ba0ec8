//! Finds odd lines: those that go on in a rare way where nearly all other lines go on in few.
//!
//! No word tells that `region FLASH overflowed` matters, nor that `błąd` does. But among thousands
//! of lines that begin with `cc -O2 -c`, it is the only line that begins with another word, and
//! where hundreds of lines have a place in a file and then `ostrzeżenie:`, one has `błąd:`. So the
//! rule reads no language. A line is a walk from word to word, and each word is a way on from the
//! **form** of the text before it, in which all words are alike. A place from which the lines go
//! on in many ways (a name, a path, an id) tells nothing. A place from which all but one line in
//! [`CLOSED`] go on in frequent ways is closed, and the other ways on from it are odd. A label at
//! the start, in brackets, behind `path:LINE:COL:` or as the value of a key is such a place, and
//! so is the sign that follows a name.
//!
//! Prose and sources have odd lines everywhere. So a line is as odd as it is alone: few of the
//! [`NEAR`] lines on either side of it may be odd.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::bytes;
use super::likeness::{LikenessCounts, likeness};
use super::page::Piece;
use super::prefix::without_prefix;
use super::score::Score;
use super::shelf::{Finding, Worth};
use crate::relevance::PlainHasher;

/// Maximum words and bytes of a line that are read.
const WORDS: usize = 6;
const READ: usize = 160;

/// A way on is rare if at most one line of so many takes it, and a place is closed if at most one
/// line of so many takes a rare way.
const RARE: u32 = 64;
const CLOSED: u32 = 32;

/// Lines on either side among which few are odd.
const NEAR: usize = 256;

/// The least bits of an odd line: one of 128.
const LEAST: u32 = 7;

/// A way on from a place.
#[derive(Clone, Copy, Debug)]
struct Way {
    place: u32,
    lines: u32,
}

/// A place in the walks of the lines: those that come by, and those that go on in a rare way.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    lines: u32,
    rare: u32,
}

type Numbers = HashMap<u64, u32, BuildHasherDefault<PlainHasher>>;

/// The walks of all lines.
#[derive(Debug, Default)]
struct Walks {
    of_places: Numbers,
    of_ways: Numbers,
    ways: Vec<Way>,
    /// The ways of each line, one line after the other, and their ends.
    steps: Vec<u32>,
    ends: Vec<usize>,
}

impl Walks {
    /// Reads the walk of a line. A line that is stored for its words does not measure others.
    fn take(&mut self, line: &[u8], counts: bool) {
        let Walks { of_places, of_ways, ways, steps, ends } = self;
        walk(line, |form, way| {
            let way = *of_ways.entry(mix(form, way)).or_insert_with(|| {
                let places = of_places.len() as u32;
                ways.push(Way { place: *of_places.entry(form).or_insert(places), lines: 0 });
                ways.len() as u32 - 1
            });
            ways[way as usize].lines += u32::from(counts);
            steps.push(way);
        });
        ends.push(steps.len());
    }

    /// Takes the last line again.
    fn repeat_last(&mut self, counts: bool) {
        let last = self.ends.len().checked_sub(2).map_or(0, |before| self.ends[before]);
        for at in last..self.steps.len() {
            let way = self.steps[at];
            self.ways[way as usize].lines += u32::from(counts);
            self.steps.push(way);
        }
        self.ends.push(self.steps.len());
    }

    /// Returns the bits of each line's oddest step.
    fn bits(self) -> Vec<u32> {
        let mut places = vec![Place::default(); self.of_places.len()];
        self.ways.iter().for_each(|way| places[way.place as usize].lines += way.lines);
        for way in &self.ways {
            let place = &mut places[way.place as usize];
            place.rare += if way.lines * RARE <= place.lines { way.lines } else { 0 };
        }
        let of_way = |way: &Way| {
            let Place { lines, rare } = places[way.place as usize];
            let is_odd = way.lines * RARE <= lines && rare * CLOSED <= lines;
            if is_odd { (lines / rare.max(1)).max(1).ilog2() } else { 0 }
        };
        let of_ways: Vec<u32> = self.ways.iter().map(of_way).collect();
        let mut start = 0;
        let of_line = |end: &usize| {
            let steps = &self.steps[std::mem::replace(&mut start, *end)..*end];
            steps.iter().map(|way| of_ways[*way as usize]).max().unwrap_or(0)
        };
        self.ends.iter().map(of_line).collect()
    }
}

/// Returns the odd lines among pieces as findings without context, in order.
pub fn odd(pieces: &[Piece]) -> Vec<Finding> {
    if pieces.len() < 1 << LEAST {
        return vec![];
    }
    let (mut walks, mut begins, mut before) = (Walks::default(), true, None);
    for &Piece { unit, text, is_weighed } in pieces {
        let text = if begins { text } else { b"" };
        if before.replace(text) == Some(text) {
            walks.repeat_last(is_weighed);
        } else {
            let plain = bytes::plain(&text[..text.len().min(READ)]);
            walks.take(without_prefix(&plain), is_weighed);
        }
        begins = unit.ends_line;
    }
    let bits = walks.bits();
    let mut before = vec![0];
    before.extend(bits.iter().scan(0, |sum, bits| {
        *sum += usize::from(*bits > 0);
        Some(*sum)
    }));
    let mut seen = LikenessCounts::default();
    let odd = bits.iter().enumerate().filter_map(|(at, bits)| {
        if *bits < LEAST {
            return None;
        }
        let (first, last) = (at.saturating_sub(NEAR), (at + NEAR + 1).min(pieces.len()));
        let alone = ((last - first) / (before[last] - before[first])).ilog2();
        let bits = alone.min(*bits);
        (bits >= LEAST).then(|| {
            let unit = pieces[at].unit.number;
            let earlier = seen.count(likeness(without_prefix(pieces[at].text)));
            let worth = Worth::of(Score(bits as i32), earlier);
            Finding { unit, worth, first: unit, last: unit, around: (unit, unit), heading: None }
        })
    });
    odd.collect()
}

/// Walks through a line: passes on the form so far, and how the line goes on.
fn walk(line: &[u8], mut step: impl FnMut(u64, u64)) {
    let line = line.trim_ascii_end();
    let (mut form, mut at) = (1, 0);
    // A blank line says nothing, and does not differ.
    for _ in 0..if line.is_empty() { 0 } else { WORDS } {
        // The signs before a word, in which blanks are one.
        let (mut signs, mut before) = (0, 0);
        while let Some(&byte) = line.get(at).filter(|byte| !is_in_word(**byte)) {
            let byte = if byte == b'\t' { b' ' } else { byte };
            if byte != b' ' || byte != before {
                signs = mix(signs, u64::from(byte));
            }
            (before, at) = (byte, at + 1);
        }
        step(form, signs);
        form = mix(form, signs);
        if at == line.len() {
            return;
        }
        // A word, in which a number is one digit.
        let (mut word, mut before, mut letters) = (0, 0, false);
        while let Some(&byte) = line.get(at).filter(|byte| is_in_word(**byte)) {
            let byte = if byte.is_ascii_digit() { b'0' } else { byte };
            if byte != b'0' || byte != before {
                word = mix(word, u64::from(byte));
            }
            letters |= byte.is_ascii_alphabetic() || !byte.is_ascii() || byte == b'_';
            (before, at) = (byte, at + 1);
        }
        step(form, word);
        form = mix(form, u64::from(letters));
    }
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ (value + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b'/' | b'\\' | b'-' | b'+' | b'~' | b'@')
        || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unit::Unit;
    use super::*;

    /// Returns the numbers of the odd lines of a text.
    fn odd_lines(text: &str) -> Vec<usize> {
        let mut next = Unit::default();
        let of_line = |line: &'_ str| {
            let unit = Unit { bytes: line.len(), chars: line.len(), ends_line: true, ..next };
            next = unit.next(0, 0, false);
            unit
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let units: Vec<Unit> = lines.iter().copied().map(of_line).collect();
        let pieces = units.iter().zip(&lines);
        let pieces: Vec<Piece> = pieces
            .map(|(unit, line)| Piece { unit: *unit, text: line.as_bytes(), is_weighed: true })
            .collect();
        odd(&pieces).into_iter().map(|finding| finding.unit).collect()
    }

    /// Alphabets of words that no list can hold.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{3,9}", "[а-я]{3,9}", "[α-ω]{3,9}", "[ა-ჰ]{3,9}", "[가-힣]{2,4}", "[ঀ-৿]{3,6}"]
    }

    /// The form of a line: around a label, and around a name that each line has for itself.
    const FORMS: [[&str; 3]; 8] = [
        ["", ": ", ""],
        ["[", "] ", " is here"],
        ["2026-11-27 09:14:02 ", " ", " moved"],
        ["{\"lvl\":\"", "\",\"say\":\"", "\"}"],
        ["lvl=", " at=", ""],
        ["src/dock/ring_7.x:12:5: ", ": ", ""],
        ["| ", " | ", " |"],
        ["  ", " -> ", " in 7 ms"],
    ];

    proptest! {
        #[test]
        fn a_rare_label_is_odd_in_any_language(
            [before, between, after] in prop::sample::select(&FORMS[..]),
            frequent in prop::collection::hash_set(word(), 1..4),
            rare in word(),
            count in 300..900usize,
            at in any::<prop::sample::Index>(),
        ) {
            prop_assume!(!frequent.contains(&rare));
            let frequent: Vec<&String> = frequent.iter().collect();
            let name = |nth: usize| nth.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
            let at = at.index(count);
            let line = |nth: usize| {
                let label = if nth == at { &rare } else { frequent[nth % frequent.len()] };
                format!("{before}{label}{between}name_{}{after}\n", name(nth))
            };
            prop_assert_eq!(odd_lines(&(0..count).map(line).collect::<String>()), [at]);
        }

        #[test]
        fn a_line_of_another_shape_is_odd_among_names(
            words in prop::collection::vec(word(), 3..6),
            odd in prop::collection::vec(word(), 3..6),
            signs in prop::sample::select(&[" ", "/", ", ", " = ", "::"][..]),
            count in 300..900usize,
        ) {
            prop_assume!(odd[0] != words[0]);
            let name = |nth: usize| nth.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
            let mut lines: Vec<String> = (0..count)
                .map(|nth| format!("{}{signs}{}_{}{signs}{}\n", words[0], words[1], name(nth), words[2]))
                .collect();
            lines[count / 2] = odd.join(" ") + "\n";
            prop_assert_eq!(odd_lines(&lines.concat()), [count / 2]);
        }

        #[test]
        fn nothing_is_odd_where_all_differ(lines in prop::collection::vec("([a-z]{1,9}[ ,.:(]{1,2}){1,9}", 130..300)) {
            prop_assert!(odd_lines(&(lines.join("\n") + "\n")).len() * 128 <= lines.len());
        }
    }

    #[test]
    fn nothing_is_odd_in_a_few_lines() {
        assert_eq!(odd_lines(&("cc -c a.c\n".repeat(100) + "left out\n")), [0; 0]);
    }
}
