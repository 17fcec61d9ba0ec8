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
//! [`NEAR`] lines on either side of it may be odd. But one event may have several lines: an error,
//! the place in the source, and the command that stops. Up to [`EVENT`] odd lines that stand
//! together count as one.

use super::bytes;
use super::likeness::{LikenessCounts, likeness};
use super::page::Piece;
use super::prefix::without_prefix;
use super::score::Score;
use super::shelf::{Finding, Worth};

/// Maximum words and bytes of a line that are read.
const WORDS: usize = 6;
const READ: usize = 160;

/// A way on is rare if at most one line of so many takes it, and a place is closed if at most one
/// line of so many takes a rare way.
const RARE: u32 = 64;
const CLOSED: u32 = 32;

/// Ways on from a place that are counted each. The first lines take the frequent ones, so all
/// others count as one rare way.
const WAYS: u32 = 64;

/// Lines on either side among which few are odd.
const NEAR: usize = 256;

/// Odd lines of one event, and the maximum distance between one and the next.
const EVENT: usize = 6;
const TOGETHER: usize = 3;

/// The least bits of an odd line: one of 128.
const LEAST: u32 = 7;

/// The index of no place and of no way.
const NONE: u32 = u32::MAX;

/// A place in the walks of the lines.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first and the last way on from it, and the number of ways.
    first: u32,
    last: u32,
    ways: u32,
    /// The way that stands for all others.
    others: u32,
    /// A bit for each way, by its text. Most texts are of no way yet, and need no search.
    known: u128,
    /// The places behind a word: one without letters, or another.
    behind: [u32; 2],
}

/// A way on from a place.
#[derive(Clone, Copy, Debug)]
struct Way {
    place: u32,
    text: u64,
    is_other: bool,
    lines: u32,
    /// The next way on from the same place.
    next: u32,
    /// The place behind signs, once a second line takes the way.
    behind: u32,
}

/// The walks of all lines.
#[derive(Debug)]
struct Walks {
    places: Vec<Place>,
    ways: Vec<Way>,
    /// The number of lines so far, and of all lines.
    lines: usize,
    all: u32,
    /// The ways of the last line.
    last: Vec<u32>,
    /// The lines that took a way which may be rare, in order.
    steps: Vec<(usize, u32)>,
}

impl Walks {
    fn new(lines: usize) -> Walks {
        let places = vec![Place::NEW];
        Walks { places, ways: vec![], lines: 0, all: lines as u32, last: vec![], steps: vec![] }
    }

    /// Reads the walk of a line. A line that is stored for its words does not measure others.
    fn take(&mut self, line: &[u8], counts: bool) {
        self.last.clear();
        let line = line.trim_ascii_end();
        let (mut place, mut at) = (0, 0);
        // A blank line says nothing, and does not differ.
        for _ in 0..if line.is_empty() { 0 } else { WORDS } {
            let signs;
            (signs, at) = read_signs(line, at);
            let Some(way) = self.way(place, signs) else { break };
            if at == line.len() {
                break;
            }
            // Signs that no line had before most often are in no line behind it either.
            let Way { lines, behind, .. } = self.ways[way];
            if lines == 0 && behind == NONE && place > 0 {
                break;
            }
            if behind == NONE {
                self.ways[way].behind = self.new_place();
            }
            place = self.ways[way].behind as usize;
            let kinds;
            if self.is_open(place) {
                (_, kinds, at) = read_word::<false>(line, at);
            } else {
                let word;
                (word, kinds, at) = read_word::<true>(line, at);
                self.way(place, word);
            }
            let letters = usize::from(kinds & LETTER > 0);
            if self.places[place].behind[letters] == NONE {
                self.places[place].behind[letters] = self.new_place();
            }
            place = self.places[place].behind[letters] as usize;
        }
        self.repeat_last(counts);
    }

    /// Takes the last line again.
    fn repeat_last(&mut self, counts: bool) {
        for at in &self.last {
            let way = &mut self.ways[*at as usize];
            way.lines += u32::from(counts);
            if way.may_be_rare(self.all) {
                self.steps.push((self.lines, *at));
            }
        }
        self.lines += 1;
    }

    fn new_place(&mut self) -> u32 {
        self.places.push(Place::NEW);
        self.places.len() as u32 - 1
    }

    /// Returns true for a place from which too many lines go on in a rare way.
    fn is_open(&self, place: usize) -> bool {
        let others = self.ways.get(self.places[place].others as usize);
        others.is_some_and(|others| others.lines * CLOSED > self.all)
    }

    /// Takes a way on from a place, and returns it unless it is among the others.
    fn way(&mut self, place: usize, text: u64) -> Option<usize> {
        let Place { first, last, ways, others, known, .. } = &mut self.places[place];
        let bit = 1 << (text % u64::from(u128::BITS));
        let mut at = if *known & bit > 0 { *first } else { NONE };
        while let Some(way) = self.ways.get(at as usize) {
            if way.text == text {
                self.last.push(at);
                return Some(at as usize);
            }
            at = way.next;
        }
        let new = self.ways.len() as u32;
        let is_other = *ways >= WAYS;
        if !is_other {
            *ways += 1;
            *known |= bit;
            // Frequent ways are found first.
            match self.ways.get_mut(*last as usize) {
                Some(last) => last.next = new,
                None => *first = new,
            }
            *last = new;
        } else if *others != NONE {
            self.last.push(*others);
            return None;
        } else {
            *others = new;
        }
        self.ways.push(Way { place: place as u32, text, is_other, lines: 0, next: NONE, behind: NONE });
        self.last.push(new);
        (!is_other).then_some(new as usize)
    }

    /// Returns the lines that took a rare way from a closed place, with the bits of the oddest.
    fn odd(self) -> Vec<(usize, u32)> {
        // The lines of each place, and those that go on in a rare way.
        let mut counts = vec![(0, 0); self.places.len()];
        self.ways.iter().for_each(|way| counts[way.place as usize].0 += way.lines);
        for way in &self.ways {
            let (lines, rare) = &mut counts[way.place as usize];
            *rare += if way.is_rare(*lines) { way.lines } else { 0 };
        }
        let mut odd: Vec<(usize, u32)> = vec![];
        for (line, way) in self.steps {
            let way = &self.ways[way as usize];
            let (lines, rare) = counts[way.place as usize];
            if rare * CLOSED > lines || !way.is_rare(lines) {
                continue;
            }
            let Some(bits) = (lines / rare.max(1)).checked_ilog2().filter(|bits| *bits > 0) else { continue };
            match odd.last_mut() {
                Some((last, most)) if *last == line => *most = bits.max(*most),
                _ => odd.push((line, bits)),
            }
        }
        odd
    }
}

impl Place {
    const NEW: Place = Place { first: NONE, last: NONE, ways: 0, others: NONE, known: 0, behind: [NONE; 2] };
}

impl Way {
    /// Returns true if the way is rare among the lines of its place.
    fn is_rare(&self, lines: u32) -> bool {
        self.is_other || self.lines * RARE <= lines
    }

    /// Returns true if the way may be rare at a closed place, given the number of all lines.
    fn may_be_rare(&self, all: u32) -> bool {
        self.lines * if self.is_other { CLOSED } else { RARE } <= all
    }
}

/// Returns the odd lines among pieces as findings without context, in order.
pub fn odd(pieces: &[Piece]) -> Vec<Finding> {
    if pieces.len() < 1 << LEAST {
        return vec![];
    }
    let (mut walks, mut begins, mut before) = (Walks::new(pieces.len()), true, None);
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
    let odd = walks.odd();
    let before = |line: usize| odd.partition_point(|(at, _)| *at < line);
    let events = odd.chunk_by(|(a, _), (b, _)| b - a <= TOGETHER);
    let odd_lines = events.flat_map(|event| event.iter().map(|line| (line, event.len())));
    let mut seen = LikenessCounts::default();
    let findings = odd_lines.filter(|((_, bits), _)| *bits >= LEAST).filter_map(|((at, bits), together)| {
        let (first, last) = (at.saturating_sub(NEAR), (at + NEAR + 1).min(pieces.len()));
        let events = before(last) - before(first) - (together.min(EVENT) - 1);
        let alone = ((last - first) / events).ilog2();
        let bits = alone.min(*bits);
        (bits >= LEAST).then(|| {
            let unit = pieces[*at].unit.number;
            let likeness = likeness(without_prefix(pieces[*at].text));
            let worth = Worth::of(Score(bits as i32), seen.count(likeness));
            let likeness = likeness.same as u32;
            Finding { unit, worth, likeness, first: unit, last: unit, around: (unit, unit), heading: None }
        })
    });
    findings.collect()
}

/// The kinds of bytes: those of words, and among these digits and letters.
const IN_WORD: u8 = 1;
const DIGIT: u8 = 2;
const LETTER: u8 = 4;

const KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([0; 256], 0);
    while byte < kinds.len() {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' => IN_WORD | DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => IN_WORD | LETTER,
            b'.' | b'/' | b'\\' | b'-' | b'+' | b'~' | b'@' => IN_WORD,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Returns the hash of the signs at a place, in which blanks are one, and their end.
fn read_signs(line: &[u8], at: usize) -> (u64, usize) {
    let (mut signs, mut before) = (0, 0);
    for (nth, &byte) in line[at..].iter().enumerate() {
        if KINDS[usize::from(byte)] > 0 {
            return (signs, at + nth);
        }
        let byte = if byte == b'\t' { b' ' } else { byte };
        if byte != b' ' || byte != before {
            signs = mix(signs, byte);
        }
        before = byte;
    }
    (signs, line.len())
}

/// Returns the hash of the word at a place, in which a number is one digit, the kinds of its bytes,
/// and its end. The hash of a word behind which any may follow is not needed.
fn read_word<const HASHED: bool>(line: &[u8], at: usize) -> (u64, u8, usize) {
    let (mut word, mut kinds, mut before) = (0, 0, 0);
    for (nth, &byte) in line[at..].iter().enumerate() {
        let kind = KINDS[usize::from(byte)];
        if kind == 0 {
            return (word, kinds, at + nth);
        }
        kinds |= kind;
        if HASHED {
            let is_digit = kind & DIGIT > 0;
            if !is_digit || before & DIGIT == 0 {
                word = mix(word, if is_digit { b'0' } else { byte });
            }
            before = kind;
        }
    }
    (word, kinds, line.len())
}

/// A number without order for each byte.
const NOISE: [u64; 256] = {
    let (mut noise, mut byte, mut state) = ([0; 256], 0, 0_u64);
    while byte < noise.len() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        noise[byte] = mixed ^ mixed >> 31;
        byte += 1;
    }
    noise
};

/// Adds a byte to a hash. A multiplication for each would take most of the time of a line.
pub fn mix(hash: u64, byte: u8) -> u64 {
    hash.rotate_left(5) ^ NOISE[usize::from(byte)]
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
            // The first lines open the places, one each.
            let at = WORDS + at.index(count - WORDS);
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
    fn rare_ways_are_odd_beyond_those_that_are_counted_each() {
        let name =
            |nth: usize| nth.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
        let line = |nth: usize| match nth % 160 {
            80 => format!("{}: moved\n", name(nth)),
            _ => format!("kept: moved {}\n", name(nth)),
        };
        let rare: Vec<usize> = (80..16_000).step_by(160).collect();
        assert!(rare.len() > WAYS as usize);
        assert_eq!(odd_lines(&(0..16_000).map(line).collect::<String>()), rare);
    }

    #[test]
    fn odd_lines_of_one_event_are_as_odd_as_one() {
        let text = |event: usize| {
            let other = |nth: usize| format!("{} moved\n", ["stop", "left", "gone", "lost"][nth % 4]);
            let crowd = "cc -c a.c\n".repeat(400);
            crowd.clone() + &(0..event).map(other).collect::<String>() + &crowd
        };
        for event in 1..=EVENT {
            assert_eq!(odd_lines(&text(event)), (400..400 + event).collect::<Vec<_>>(), "{event}");
        }
        assert_eq!(odd_lines(&text(EVENT + 5)), [0; 0]);
    }

    #[test]
    fn nothing_is_odd_in_a_few_lines() {
        assert_eq!(odd_lines(&("cc -c a.c\n".repeat(100) + "left out\n")), [0; 0]);
    }
}
