//! The units of selection: lines, and pieces of long lines.

use std::borrow::Cow;
use std::collections::VecDeque;

/// Longer lines are split into pieces.
pub const LONG_LINE: usize = 1_000;

/// Bytes of a piece. The last piece may be longer, which keeps a mark at the end of a line in one
/// piece.
const PIECE: usize = 256;
pub const LAST_PIECE: usize = PIECE + 32;

/// The position and size of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    pub number: usize,
    /// Chars and complete lines before it.
    pub char: usize,
    pub line: usize,
    pub bytes: usize,
    pub chars: usize,
    pub foreign: Foreign,
    pub ends_line: bool,
}

/// The parts of a unit that are not input: our marks, and the bytes that U+FFFD adds to those it
/// replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    pub bytes: u16,
    pub chars: u16,
}

impl Foreign {
    pub fn plus(self, other: Foreign) -> Foreign {
        Foreign { bytes: self.bytes + other.bytes, chars: self.chars + other.chars }
    }
}

impl Unit {
    /// Returns the following unit, given its size.
    pub fn next(&self, bytes: usize, chars: usize, ends_line: bool) -> Unit {
        let line = self.line + usize::from(self.ends_line);
        let (number, char) = (self.number + 1, self.char + self.chars);
        Unit { number, char, line, bytes, chars, foreign: Foreign::default(), ends_line }
    }

    /// Returns the preceding unit, given its size.
    pub fn previous(&self, bytes: usize, chars: usize, ends_line: bool) -> Unit {
        let (number, line) = (self.number - 1, self.line - usize::from(ends_line));
        Unit { number, char: self.char - chars, line, bytes, chars, foreign: Foreign::default(), ends_line }
    }
}

/// Takes units.
pub trait Units {
    fn take(&mut self, unit: &[u8]);

    /// Takes the unit at the start of a text.
    fn take_first(&mut self, text: &[u8], length: usize) {
        self.take(&text[..length]);
    }

    /// Takes whole lines at the start of a text in one step, and returns their end.
    fn skim(&mut self, _text: &[u8]) -> usize {
        0
    }
}

impl<F: FnMut(&[u8])> Units for F {
    fn take(&mut self, unit: &[u8]) {
        self(unit);
    }
}

/// Splits a stream into units, independently of its chunks.
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    /// The start of an incomplete unit.
    pending: Vec<u8>,
    /// Inside a long line.
    long: bool,
}

impl Splitter {
    /// Returns the bytes of the incomplete unit.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    pub fn push(&mut self, mut text: &[u8], each: &mut impl Units) {
        while !self.pending.is_empty() && !text.is_empty() {
            let before = self.pending.len();
            // Enough for one unit. The units behind it are read in place, which is faster.
            let more = &text[..text.len().min(LONG_LINE + 1 - before.min(LONG_LINE))];
            self.pending.extend_from_slice(more);
            let Some(length) = next_unit(&self.pending, self.long, false) else {
                text = &text[more.len()..];
                continue;
            };
            self.long = self.pending[length - 1] != b'\n';
            each.take(&self.pending[..length]);
            text = &text[length.saturating_sub(before)..];
            self.pending.truncate(before);
            self.pending.drain(..length.min(before));
        }
        let used = self.split(text, false, each);
        self.pending.extend_from_slice(&text[used..]);
    }

    /// Emits the pending text as the last unit.
    pub fn finish(&mut self, each: &mut impl Units) {
        let pending = std::mem::take(&mut self.pending);
        self.split(&pending, true, &mut |unit: &[u8]| each.take(unit));
    }

    /// Emits the complete units of a text and returns their end.
    fn split(&mut self, text: &[u8], finished: bool, each: &mut impl Units) -> usize {
        let mut at = 0;
        loop {
            if !self.long {
                at += each.skim(&text[at..]);
            }
            let Some(length) = next_unit(&text[at..], self.long, finished) else { return at };
            self.long = text[at + length - 1] != b'\n';
            each.take_first(&text[at..], length);
            at += length;
        }
    }
}

fn next_unit(text: &[u8], long: bool, finished: bool) -> Option<usize> {
    let most = if long { LAST_PIECE } else { LONG_LINE };
    let newline = memchr::memchr(b'\n', &text[..text.len().min(most + 1)]);
    let end = match newline {
        Some(newline) => newline + 1,
        None if text.len() > most => return Some(piece(&text[..PIECE + 1])),
        None if finished && !text.is_empty() => text.len(),
        None => return None,
    };
    // The rest of a long line may hold lines of its own.
    Some(if long { escaped_line(&text[..end]).unwrap_or(end) } else { end })
}

/// Returns the end of the first line of a text in a JSON string: after an escaped newline.
fn escaped_line(text: &[u8]) -> Option<usize> {
    // Few texts have a backslash.
    let mut ends = memchr::memchr_iter(b'\\', text).filter(|at| text[*at..].starts_with(ESCAPED_NEWLINE));
    ends.next().map(|at| at + ESCAPED_NEWLINE.len())
}

pub const ESCAPED_NEWLINE: &[u8] = b"\\n";

/// Returns a piece of a JSON string without the backslash before each quote.
pub fn unescaped(piece: &[u8]) -> Cow<'_, [u8]> {
    const QUOTE: &[u8] = b"\\\"";
    let mut quotes =
        memchr::memchr_iter(b'\\', piece).filter(|at| piece[*at..].starts_with(QUOTE)).peekable();
    if quotes.peek().is_none() {
        return Cow::Borrowed(piece);
    }
    let mut text = Vec::with_capacity(piece.len());
    let mut done = 0;
    for at in quotes {
        text.extend_from_slice(&piece[done..at]);
        done = at + 1;
    }
    text.extend_from_slice(&piece[done..]);
    Cow::Owned(text)
}

/// Returns the end of the first piece of a text: after an escaped newline, after the last element,
/// tag, statement or sentence in its second half, after a separator there, or else between two code
/// points.
fn piece(text: &[u8]) -> usize {
    if let Some(end) = escaped_line(&text[..PIECE]) {
        return end;
    }
    let second_half = &text[PIECE / 2..PIECE];
    let is_end = |pair: &[u8]| {
        matches!(pair, [b'}' | b']', b','] | [b'.' | b'!' | b'?', b' '] | [b';' | b'>' | b'}', _])
    };
    let end = second_half.windows(2).rposition(is_end).map(|at| match second_half[at..] {
        [b'}' | b']', b',', ..] | [b'.' | b'!' | b'?', b' ', ..] => at + 2,
        _ => at + 1,
    });
    match end.or_else(|| memchr::memrchr3(b'{', b',', b' ', second_half).map(|at| at + 1)) {
        Some(end) => PIECE / 2 + end,
        None => (0..=PIECE).rev().find(|&at| text[at] & 0xC0 != 0x80).unwrap_or(PIECE),
    }
}

/// Bytes and chars of a unit. The type is small, since the units may be as many as the bytes.
pub type Length = (u16, u16);

/// Consecutive units and their text.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// The last unit; earlier ones are derived from their lengths.
    last: Option<Unit>,
    lengths: VecDeque<Length>,
    /// Foreign parts, by unit number.
    foreign: VecDeque<(usize, Foreign)>,
    text: Vec<u8>,
    /// Bytes at the start of `text` that belong to removed units.
    gone: usize,
}

impl Stretch {
    pub fn push(&mut self, unit: Unit, text: &[u8]) {
        self.last = Some(unit);
        // A unit is at most LONG_LINE bytes and a newline.
        self.lengths.push_back((unit.bytes as u16, unit.chars as u16));
        if unit.foreign != Foreign::default() {
            self.foreign.push_back((unit.number, unit.foreign));
        }
        self.text.extend_from_slice(text);
    }

    /// Appends lines of these lengths. `last` is the last of them.
    pub fn extend(&mut self, last: Unit, lines: &[u8], lengths: &[Length]) {
        self.last = Some(last);
        self.text.extend_from_slice(lines);
        self.lengths.extend(lengths);
    }

    pub fn pop_front(&mut self) {
        let Some((bytes, _)) = self.lengths.pop_front() else { return };
        let number = self.last.map_or(0, |last| last.number - self.lengths.len());
        if self.foreign.front().is_some_and(|(first, _)| *first == number) {
            self.foreign.pop_front();
        }
        self.gone += usize::from(bytes);
        if self.gone * 2 > self.text.len() {
            self.text.drain(..self.gone);
            self.gone = 0;
        }
    }

    pub fn text(&self) -> &[u8] {
        &self.text[self.gone..]
    }

    pub fn bytes(&self) -> usize {
        self.text.len() - self.gone
    }

    pub fn units(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the numbers of the first and the last unit, or `None` if there are none.
    pub fn numbers(&self) -> Option<(usize, usize)> {
        let last = self.last.filter(|_| !self.lengths.is_empty())?.number;
        Some((last + 1 - self.lengths.len(), last))
    }

    /// Returns the position after the first `bytes` bytes, which end a unit.
    pub fn place_after(&self, bytes: usize) -> Unit {
        let mut end = 0;
        let is_before = |unit: &Unit| {
            end += unit.bytes;
            end <= bytes
        };
        let last = self.iter().map(|(unit, _)| unit).take_while(is_before).last();
        last.map_or_else(Unit::default, |unit| unit.next(0, 0, false))
    }

    pub fn first_bytes(&self) -> usize {
        self.lengths.front().map_or(0, |(bytes, _)| usize::from(*bytes))
    }

    /// Iterates over the text of the units, in order.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let mut rest = self.text();
        self.lengths.iter().map(move |(bytes, _)| rest.split_off(..usize::from(*bytes)).unwrap_or_default())
    }

    /// Iterates over the text of the units, the last one first.
    pub fn texts_back(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.text();
        self.lengths.iter().rev().map(move |(bytes, _)| {
            let (before, text) = rest.split_at(rest.len() - usize::from(*bytes));
            rest = before;
            text
        })
    }

    /// Iterates over the units and their text, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Unit, &[u8])> {
        self.between(0, usize::MAX).into_iter().rev()
    }

    /// Returns the units between two numbers, and their text, in reverse order.
    pub fn between(&self, first: usize, last: usize) -> Vec<(Unit, &[u8])> {
        let most = last.saturating_sub(first).saturating_add(1).min(self.units());
        let (mut rest, mut units) = (self.text(), Vec::with_capacity(most));
        let mut next: Option<Unit> = None;
        for &(bytes, chars) in self.lengths.iter().rev() {
            let (before, text) = rest.split_at(rest.len() - usize::from(bytes));
            rest = before;
            let ends_line = text.ends_with(b"\n");
            let unit = next.map(|next| next.previous(bytes.into(), chars.into(), ends_line)).or(self.last);
            let Some(mut unit) = unit.filter(|unit| unit.number >= first) else { break };
            next = Some(unit);
            if unit.number <= last {
                unit.foreign = self.foreign_of(unit.number);
                units.push((unit, text));
            }
        }
        units
    }

    fn foreign_of(&self, number: usize) -> Foreign {
        let at = self.foreign.binary_search_by_key(&number, |(number, _)| *number);
        at.ok().and_then(|at| self.foreign.get(at)).map_or(Foreign::default(), |(_, foreign)| *foreign)
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.text.capacity()
            + self.lengths.capacity() * size_of::<Length>()
            + self.foreign.capacity() * size_of::<(usize, Foreign)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str, chunk: usize) -> Vec<String> {
        let (mut splitter, mut units) = (Splitter::default(), vec![]);
        let each = &mut |unit: &[u8]| units.push(String::from_utf8(unit.to_vec()).unwrap());
        for chunk in text.as_bytes().chunks(chunk) {
            splitter.push(chunk, each);
        }
        splitter.finish(each);
        units
    }

    #[test]
    fn lines_stay_whole_and_long_ones_split_at_separators() {
        assert_eq!(units("a\n\nb", 1), ["a\n", "\n", "b"]);
        let line = "x".repeat(1_000);
        assert_eq!(units(&format!("{line}\n{line}"), 7), [format!("{line}\n"), line.clone()]);
        let long = "{\"key\": \"value\"}, ".repeat(80);
        let pieces = units(&long, 1_000_000);
        assert!(pieces.iter().all(|piece| piece.len() <= LAST_PIECE) && pieces.concat() == long);
        assert!(pieces[..pieces.len() - 1].iter().all(|piece| piece.ends_with([' ', ',', '{'])));
        let said = format!("{{\"log\": \"{}\"}}", "it is \\\"so\\\"\\n".repeat(200));
        assert!(
            units(&said, 1_000_000)[1..].iter().all(|piece| piece == "it is \\\"so\\\"\\n" || piece == "\"}")
        );
        assert_eq!(*unescaped(b"it is \\\"so\\\"\\n"), *b"it is \"so\"\\n");
        let wide = "漢".repeat(500);
        assert_eq!(units(&wide, 100_000).concat(), wide);
    }

    #[test]
    fn units_do_not_depend_on_chunks() {
        let text = format!("a\n{}\nb\n{}", "word, ".repeat(300), "y".repeat(2_000));
        for chunk in [1, 2, 3, 64, 257, 999, 1_001] {
            assert_eq!(units(&text, chunk), units(&text, text.len()), "{chunk}");
        }
    }

    #[test]
    fn a_stretch_knows_the_positions_of_its_units() {
        let mut stretch = Stretch::default();
        let foreign = Foreign { bytes: 2, chars: 1 };
        let mut unit = Unit { number: 0, char: 0, line: 0, bytes: 3, chars: 3, foreign, ends_line: true };
        for text in ["ab\n", "漢\n", "", "tail"].into_iter().filter(|text| !text.is_empty()) {
            if text != "ab\n" {
                unit = unit.next(text.len(), text.encode_utf16().count(), text.ends_with('\n'));
                unit.foreign = foreign;
            }
            stretch.push(unit, text.as_bytes());
        }
        stretch.pop_front();
        let all: Vec<_> =
            stretch.iter().map(|(unit, text)| (unit.number, unit.char, unit.line, text)).collect();
        assert!(stretch.texts().eq(stretch.iter().map(|(_, text)| text)));
        assert!(stretch.iter().all(|(unit, _)| unit.foreign == foreign));
        assert_eq!(all, [(1, 3, 1, "漢\n".as_bytes()), (2, 5, 2, "tail".as_bytes())]);
        assert_eq!((stretch.units(), stretch.bytes(), stretch.numbers()), (2, 8, Some((1, 2))));
        let mut back = stretch.between(0, 9);
        back.reverse();
        assert_eq!(back, stretch.iter().collect::<Vec<_>>());
        let between = |first, last| stretch.between(first, last).into_iter().rev().collect::<Vec<_>>();
        assert_eq!((between(0, 9), between(1, 1)), (back.clone(), back[..1].to_vec()));
    }
}
