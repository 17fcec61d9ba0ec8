//! Takes lines that say nothing many at a time.

use super::bytes;
use super::gate::{Gate, Places, Silence};
use super::headings::Paragraph;
use super::old::is_mark;
use super::prefix::without_prefix;
use super::unit::{LONG_LINE, Length, Unit, Units};
use super::{Aim, SearchState, shapes};
use crate::encoding::{Size, utf8};
use crate::notice::earlier;
use crate::sieve::line_end;

/// Bytes of text that are looked at before their lines are taken.
pub const PART: usize = 16 * 1024;

/// Takes the units of a part of the text.
pub struct UnitReader<'r> {
    pub state: &'r mut SearchState,
    pub aim: &'r mut Aim,
    pub gate: &'r Gate,
    /// Places that the sieves of the gate find in the part, once a line needs them. A run of
    /// repeats does not.
    pub found: &'r mut Places,
    pub text: &'r [u8],
    /// Room for the lengths of lines.
    pub lengths: &'r mut Vec<Length>,
    pub window: usize,
    /// The start of the last line that may tell of a failure.
    pub telling: Option<usize>,
}

impl Units for UnitReader<'_> {
    fn take(&mut self, unit: &[u8]) {
        self.state.take(unit, self.aim, self.window, Silence::default());
    }

    fn take_first(&mut self, text: &[u8], length: usize) {
        let (unit, start) = (&text[..length], self.text.len() - text.len());
        self.found.look(self.gate, self.text);
        let tells = self.telling == Some(start);
        let silence = self.gate.silence(unit, self.found, start, tells);
        self.state.take(unit, self.aim, self.window, silence);
    }

    fn skim(&mut self, text: &[u8]) -> usize {
        let UnitReader { state, gate, found, text: part, lengths, telling, .. } = self;
        // The text is the rest of the part.
        let start = part.len() - text.len();
        if state.may_skim_blank(self.aim) {
            let blank = text.iter().take_while(|byte| **byte == b'\n').count();
            if blank > 0 {
                lengths.clear();
                lengths.resize(blank, (1, 1));
                state.append(&text[..blank], lengths, self.window);
                return blank;
            }
        }
        if !state.may_skim() {
            return 0;
        }
        // An answer is not sought in the head.
        let room = if gate.asks() { state.head_room() } else { None };
        let number = state.next_unit(Size::default()).number;
        let most = state.awaited(number).unwrap_or(usize::MAX);
        let mut end = start;
        lengths.clear();
        if let Some(unwanted) = state.unwanted.filter(|_| gate.opens()) {
            let line = state.last.map_or(0, |last| last.bytes);
            let line = &state.recent.text()[state.recent.bytes().saturating_sub(line)..];
            while lengths.len() < most
                && part[end..].starts_with(line)
                && !state.may_be_notice(line, end + line.len() - start, false)
            {
                lengths.push(length_of(line));
                end += line.len();
            }
            if let Some(likeness) = unwanted.likeness {
                state.seen.count_more(likeness, lengths.len() as u32);
            }
        }
        let repeats = lengths.len();
        if memchr::memchr(b'\n', &part[end..]).is_some() {
            found.look(gate, part);
        }
        let mut after_blank = state.blank;
        let mut paragraph = Paragraph::new(&state.headings);
        while lengths.len() < most
            && let Some(next) = line_end(&found.failure, end)
        {
            let line = &part[end..next];
            if line.len() > LONG_LINE + 1 || state.may_be_notice(line, next - start, after_blank) {
                break;
            }
            let tells = gate.may_tell(line, found, next);
            if !tells && (room.is_some() || gate.has_no_word(line, found, end)) {
                paragraph.take(line, lengths.len());
            } else if line.iter().all(u8::is_ascii_whitespace) {
                paragraph.end();
            } else {
                *telling = tells.then_some(end);
                break;
            }
            after_blank = line.len() == 1;
            lengths.push(length_of(line));
            end = next;
            if room.is_some_and(|room| end - start > room) {
                break;
            }
        }
        if lengths.len() > repeats {
            state.unwanted = None;
        }
        if !lengths.is_empty() {
            let lines = &part[start..end];
            if state.wide && !lines.is_ascii() {
                count_chars(lines, lengths);
            }
            state.pass(lines, lengths, paragraph, self.aim, self.window);
        }
        end - start
    }
}

impl SearchState {
    /// Returns true if the next units may be whole lines that change nothing but the ends of the
    /// text.
    fn may_skim(&self) -> bool {
        let begins_line = self.last.is_none_or(|last| last.ends_line);
        let in_notice = self.maybe.is_some() && self.size.bytes <= earlier::SEARCHED;
        begins_line && self.foreign.is_empty() && !in_notice
    }

    /// Returns true if further blank lines change nothing but the ends of the text, as behind a
    /// blank line.
    fn may_skim_blank(&self, aim: &Aim) -> bool {
        let is_awaited = !self.open.is_empty() || !self.foreign.is_empty() || aim.needles.is_some();
        // The newline of a long line may be a piece, and ends no paragraph.
        let is_in_paragraph = aim.failure && self.headings.in_paragraph();
        !is_awaited && !is_in_paragraph && self.last.is_some_and(|last| last.ends_line && last.bytes == 1)
    }

    /// Returns the bytes that the head may still grow by, if it may.
    fn head_room(&self) -> Option<usize> {
        self.head_open.then(|| self.head_most.saturating_sub(self.head.bytes()))
    }

    /// Returns true if a line may be an earlier notice, or a mark. `end` is its end behind the text
    /// so far.
    fn may_be_notice(&self, line: &[u8], end: usize, after_blank: bool) -> bool {
        self.size.bytes + end <= earlier::SEARCHED
            && (after_blank && matches!(line, [b'[' | b'.', ..]) || is_mark(line))
    }

    /// Takes dull and blank lines of these lengths. Equals taking each.
    fn pass(&mut self, lines: &[u8], lengths: &[Length], paragraph: Paragraph, aim: &Aim, window: usize) {
        let last = self.last_unit(lengths);
        let line = &lines[lines.len() - last.bytes..];
        if aim.failure {
            let (mut rest, mut next) = (lines, None);
            let back = lengths.iter().rev().map(|&(bytes, chars)| {
                let (before, line) = rest.split_at(rest.len() - usize::from(bytes));
                rest = before;
                let unit = next.map_or(last, |next: Unit| next.previous(bytes.into(), chars.into(), true));
                next = Some(unit);
                (unit, line)
            });
            self.headings.pass(back);
            if let Some(begins) = paragraph.begins {
                let first = begins.map(|begins| {
                    let unit = self.last_unit(&lengths[..=begins]);
                    let (start, _) = sum(&lengths[..begins]);
                    (unit, &lines[start..start + unit.bytes])
                });
                self.headings.begin_paragraph(first);
            }
            self.start = shapes::start(without_prefix(&bytes::plain(line)));
        }
        self.blank = line.len() == 1;
        if !self.open.is_empty() {
            let (first, mut rest) = (self.next_unit(Size::default()).number, lines);
            for (nth, (bytes, _)) in lengths.iter().enumerate() {
                self.extend_open(first + nth, rest);
                rest = &rest[usize::from(*bytes)..];
            }
        }
        let first = self.next_unit(Size::default()).number;
        self.append(lines, lengths, window);
        if aim.failure && !self.head_open {
            let in_head = self.head.numbers().map_or(0, |(_, end)| (end + 1).saturating_sub(first));
            self.look_at_starts(lines, lengths, in_head);
        }
    }

    /// Looks at the starts of the last lines, which have these lengths, but for those in the head.
    fn look_at_starts(&mut self, mut lines: &[u8], lengths: &[Length], in_head: usize) {
        let Some(last) = self.last.filter(|_| self.starts.looks()) else { return };
        for (nth, (bytes, _)) in lengths.iter().enumerate() {
            let (line, rest) = lines.split_at(usize::from(*bytes));
            lines = rest;
            if nth >= in_head {
                let before = lengths[nth..].iter().rev().skip(1);
                let back =
                    |unit: Unit, &(bytes, chars): &Length| unit.previous(bytes.into(), chars.into(), true);
                self.starts.take(line, || before.fold(last, back));
            }
        }
    }

    /// Adds lines of these lengths to the ends of the text.
    fn append(&mut self, lines: &[u8], lengths: &[Length], window: usize) {
        let last = self.last_unit(lengths);
        if self.head_open {
            let room = self.head_most.saturating_sub(self.head.bytes());
            let end = if lines.len() <= room {
                Some(lines.len() - 1)
            } else {
                memchr::memrchr(b'\n', &lines[..room])
            };
            if let Some(end) = end {
                let lines = &lines[..=end];
                let lengths = &lengths[..memchr::memchr_iter(b'\n', lines).count()];
                self.head.extend(self.last_unit(lengths), lines, lengths);
            }
            self.head_open = lines.len() <= room;
        }
        self.last = Some(last);
        let (bytes, chars) = sum(lengths);
        self.size = self.size + Size { bytes, chars, newlines: lengths.len(), broken: 0 };
        self.recent.extend(last, lines, lengths);
        self.forget(window);
    }

    /// Returns the last of the next lines, which have these lengths.
    fn last_unit(&self, lengths: &[Length]) -> Unit {
        let first = self.next_unit(Size::default());
        let Some((&(bytes, chars), before)) = lengths.split_last() else { return first };
        Unit {
            number: first.number + before.len(),
            char: first.char + sum(before).1,
            line: first.line + before.len(),
            bytes: bytes.into(),
            chars: chars.into(),
            ends_line: true,
            ..first
        }
    }
}

/// Returns the length of a line in ASCII.
fn length_of(line: &[u8]) -> Length {
    (line.len() as u16, line.len() as u16)
}

/// Counts the chars of lines whose bytes are known.
fn count_chars(mut lines: &[u8], lengths: &mut [Length]) {
    for (bytes, chars) in lengths {
        let line = lines.split_off(..usize::from(*bytes)).unwrap_or_default();
        *chars = utf8::chars_of_valid(line) as u16;
    }
}

/// Sums bytes and chars.
fn sum(lengths: &[Length]) -> (usize, usize) {
    let add =
        |(bytes, chars), length: &Length| (bytes + usize::from(length.0), chars + usize::from(length.1));
    lengths.iter().fold((0, 0), add)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gate::Gate;
    use super::super::shelf::Shelf;
    use super::super::{SearchTerms, Selection};
    use crate::limits::Limits;

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            8 => "[a-d ]{0,40}\n",
            3 => "( {0,6}[a-z]{1,9}){1,5}\n",
            2 => "2026-01-02T10:00:00.1Z( {0,3}[a-z]{0,6}){0,3}\n",
            1 => "error: [a-z]{1,9} is missing\n",
            1 => "[+-]  [a-z]{1,4}\n",
            1 => "\\[[a-z0-9]{0,4}(\\] RUN)?[a-z ]{0,9}\n",
            2 => "((other|the|there|Parse|parser|reparse|HTTPParse|item_list|itemsList|THEre|kelvins|é)[ _.x1-]?){1,6}\n",
            1 => "(parse|Item|\\$ |> |漢字|é|\u{212A}elvin|#12 ){1,4}\n",
            1 => "(parse|pa|rse|✓|İ|é|漢| |\u{301}|_){1,5}\n",
            1 => "[ \t\r]{0,3}\n",
            2 => "( {0,2})(\u{1b}\\[3[0-9]m| |[a-z]{1,9}|error: |\\+ |- |\\[0m|✓ ){0,6}\n",
            1 => Just("\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n".to_owned()),
            1 => Just("[... 12 lines ...]\n".to_owned()),
            1 => "[a-z ]{990,1020}\n",
            1 => "[a-z, ]{1500}",
        ];
        let repeated = prop_oneof![
            4 => "( {0,2})(\\[31m)?( {0,2})(error: [a-c]{1,2} 失?is missing|[1-3] failed|[+-]  a|\\$ make|E501: x)\n",
            1 => "[a-d ]{0,9}\n",
        ];
        let lines = prop_oneof![
            6 => line.prop_map(|line| line.to_string()),
            1 => (repeated, 1..40usize).prop_map(|(line, times)| line.repeat(times)),
        ];
        (prop::collection::vec(lines, 0..90), 1..7usize)
            .prop_map(|(lines, times)| lines.concat().repeat(times))
    }

    proptest! {
        #[test]
        fn skimming_changes_nothing(
            text in text(),
            chunk in 1..5_000usize,
            chars in 0..3_000usize,
            head in 0..9_000usize,
            failure in any::<bool>(),
            shelved in prop_oneof![Just(150_000), 300..3_000usize],
            asked in prop::option::of(prop_oneof![Just(""), Just("parse the item_list"), Just("kelvin é")]),
        ) {
            let limits = Limits { chars, ..Limits::NONE };
            let question: Vec<String> = asked.iter().map(|text| (*text).to_owned()).collect();
            let sought = SearchTerms { failure, needles: &[], query: &question };
            let mut plain = Selection::new(&limits, sought);
            plain.gate = Gate::default();
            let mut skimming = Selection::new(&limits, sought);
            for selection in [&mut plain, &mut skimming] {
                selection.state.lines = Shelf::new(shelved);
                selection.state.contexts = Shelf::new(shelved);
                selection.state.head_most = head;
                text.as_bytes().chunks(chunk).for_each(|chunk| selection.push(chunk));
                selection.finish();
            }
            let (plain, skimming) = (plain.state, skimming.state);
            prop_assert!(plain.head.iter().eq(skimming.head.iter()));
            prop_assert!(plain.recent.iter().eq(skimming.recent.iter()));
            prop_assert_eq!((plain.last, plain.size, plain.marks), (skimming.last, skimming.size, skimming.marks));
            prop_assert!(plain.lines.findings().eq(skimming.lines.findings()));
            prop_assert!(plain.lines.units().eq(skimming.lines.units()));
            prop_assert!(plain.contexts.findings().eq(skimming.contexts.findings()));
            prop_assert!(plain.contexts.units().eq(skimming.contexts.units()));
            prop_assert!(plain.asked.findings().eq(skimming.asked.findings()));
            prop_assert!(plain.asked.units().eq(skimming.asked.units()));
            prop_assert_eq!(plain.seen, skimming.seen);
            prop_assert_eq!(plain.starts, skimming.starts);
            prop_assert!(plain.tallies.units().eq(skimming.tallies.units()));
            prop_assert_eq!(format!("{:?}", plain.notices), format!("{:?}", skimming.notices));
        }
    }
}
