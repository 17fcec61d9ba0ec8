//! Finds dull lines, which a search need not score.
//!
//! False positives are allowed: a line may be scored for nothing. But a line with a score is never
//! dull, nor is a blank one or a command.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::beginnings;
use super::bytes::{self, ESCAPE, LOOKED_AT, sequence, word_length};
use super::finder::WordFinder;
use super::headings::is_command;
use super::prefix::{is_in_time, without_prefix};
use super::score::{may_tell, part_length};
use super::shapes;
use super::unit::LAST_PIECE as LONGEST_PIECE;
use super::words::{self, Weight, Word};
use crate::relevance::Question;
use crate::sieve::{self, BLOCK, Found, Sieve};

/// The lines that a search need not score. By default, all are scored.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    opens: bool,
    /// True if lines of failure are scored.
    failure: bool,
    /// Finds lines after the head with a word of the question, which are scored.
    asked: Option<Box<WordFinder>>,
    /// The words of the question that were worn when the finder was made.
    worn: usize,
}

/// The questions that a unit has no score for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    pub of_failure: bool,
    pub of_question: bool,
}

/// The newlines of a part of a text, and the places where a word of failure, or of the question,
/// may begin.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub failure: Vec<Found>,
    asked: Vec<Found>,
    looked: bool,
}

impl Gate {
    pub fn new(failure: bool, question: &Question) -> Gate {
        let asked = (!question.is_empty()).then(|| WordFinder::of(question).map(Box::new));
        let opens = !matches!(asked, Some(None));
        Gate { opens, failure, asked: asked.flatten(), worn: question.worn() }
    }

    /// Leaves out the words of the question that are worn: common ones soon are, and most lines
    /// with words of a question have no others.
    pub fn renew(&mut self, question: &Question) {
        if self.opens && self.worn < question.worn() {
            *self = Gate::new(self.failure, question);
        }
    }

    /// Returns true if some lines may be skipped.
    pub fn opens(&self) -> bool {
        self.opens
    }

    /// Returns true if lines in the head are skipped on other terms than those behind it.
    pub fn asks(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns true if a whole line may show a failure, be blank, or be a command. It ends at `end`
    /// of the part of the text, and `places` are those of that part.
    pub fn may_tell(&self, line: &[u8], places: &Places, end: usize) -> bool {
        self.failure
            && match said(line, sieve::places(&places.failure, end - line.len(), end)) {
                Said::Nothing => false,
                Said::InColours => !is_dull_behind_colours(line),
                Said::Something => true,
            }
    }

    /// Returns the questions that a unit at `start` of the part need not be scored for. `tells`: it
    /// is known that it may tell.
    pub fn silence(&self, unit: &[u8], places: &Places, start: usize, tells: bool) -> Silence {
        if !self.opens {
            return Silence::default();
        }
        let found = || sieve::places(&places.failure, start, start + unit.len());
        // A word of three letters at its end depends on the next char, which belongs to the next
        // unit.
        let is_whole = !unit.last().is_some_and(u8::is_ascii_alphabetic);
        Silence {
            of_failure: self.failure && is_whole && !tells && tells_nothing(unit, found()),
            of_question: self.has_no_word(unit, places, start),
        }
    }

    /// Returns true if a unit has no word of the question.
    pub fn has_no_word(&self, unit: &[u8], places: &Places, start: usize) -> bool {
        let found = if self.failure { &places.asked } else { &places.failure };
        let places = || sieve::places(found, start, start + unit.len());
        self.asked.as_ref().is_none_or(|asked| asked.has_no_word(unit, places()))
    }
}

impl Places {
    /// Forgets the places of the part before.
    pub fn clear(&mut self) {
        self.failure.clear();
        self.asked.clear();
        self.looked = false;
    }

    /// Looks at a part of a text, once. Finds nothing if no line is dull.
    pub fn look(&mut self, gate: &Gate, text: &[u8]) {
        static OPEN: LazyLock<Sieve> = LazyLock::new(Sieve::default);
        if std::mem::replace(&mut self.looked, true) {
            return;
        }
        let Places { failure, asked, .. } = self;
        if !gate.opens {
            return;
        }
        let look = |sieve: &Sieve, found: &mut Vec<Found>| {
            found.resize(text.len().div_ceil(BLOCK), Found::default());
            sieve.look(text, found);
        };
        let of_question = gate.asked.as_ref().map(|asked| asked.sieve());
        if gate.failure {
            look(beginnings::sieve(), failure);
            beginnings::sift(text, failure);
            of_question.into_iter().for_each(|sieve| look(sieve, asked));
        } else {
            look(of_question.unwrap_or(&OPEN), failure);
        }
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        (self.failure.capacity() + self.asked.capacity()) * size_of::<Found>()
    }
}

/// Returns true if a piece of a long line has no score.
pub fn is_dull_piece(piece: &[u8]) -> bool {
    const BLOCKS: usize = LONGEST_PIECE.div_ceil(BLOCK);
    if piece.len() > LONGEST_PIECE {
        return false;
    }
    // Only blocks with bytes behind them are looked at by vectors.
    let (mut text, mut found) = ([0; (BLOCKS + 1) * BLOCK], [Found::default(); BLOCKS]);
    text[..piece.len()].copy_from_slice(piece);
    let found = &mut found[..piece.len().div_ceil(BLOCK)];
    beginnings::sieve().look(&text, found);
    beginnings::sift(&text, found);
    tells_nothing(piece, sieve::places(found, 0, piece.len()))
}

/// Returns true if a whole line has colours, and without them no score.
fn is_dull_behind_colours(line: &[u8]) -> bool {
    line.len() <= LOOKED_AT && matches!(bytes::plain(line), Cow::Owned(text) if is_dull_piece(&text))
}

/// The contribution of a line to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// It has no score, and is neither blank nor a command.
    Nothing,
    /// It has colours, and has to be read without them.
    InColours,
    Something,
}

fn tells_nothing(line: &[u8], places: impl Iterator<Item = usize>) -> bool {
    said(line, places) == Said::Nothing
}

fn said(line: &[u8], places: impl Iterator<Item = usize>) -> Said {
    let whole = line;
    let line = &line[..line.len().min(LOOKED_AT)];
    // A value that is not a number ends where the line is cut, and has no place in the whole line.
    let ends =
        |value: &[u8; 3]| line.last_chunk().is_some_and(|last: &[u8; 3]| last.eq_ignore_ascii_case(value));
    if line.len() < whole.len() && (ends(b"nan") || ends(b"inf")) {
        return Said::Something;
    }
    let mut may_begin = false;
    for at in places {
        let Some(text) = line.get(at..).filter(|text| !text.is_empty()) else { continue };
        let tells = match text[0] {
            ESCAPE => return Said::InColours,
            b'^' if text.starts_with(b"^[[") => return Said::InColours,
            b'[' if sequence(&text[1..], false).is_some() => return Said::InColours,
            b'^' | b'[' => false,
            b'"' => shapes::is_server_error(&text[1..]),
            b'+' | b'$' | b'>' | b'#' | b':' | 0x80.. => {
                may_begin = true;
                false
            }
            _ => {
                may_begin |= text.starts_with(b"E  ") || text.starts_with(b"RUN ");
                is_telling_word(line, at)
            }
        };
        if tells {
            return Said::Something;
        }
    }
    if may_begin && begins(line) || is_blank(line) { Said::Something } else { Said::Nothing }
}

/// Returns true if a word of failure, or the end of a name of a failure, begins here.
fn is_telling_word(line: &[u8], start: usize) -> bool {
    let length = word_length(&line[start..]);
    let end = start + length;
    let word = &line[start..end];
    let is_weighed = || match Word::at(line, start, length).and_then(words::weight) {
        Some(Weight::Word(weight)) => weight > 0,
        Some(Weight::Phrase) => Word::at(line, start, length)
            .is_some_and(|word| words::phrase(word, &line[..start], &line[end..]).is_some()),
        None => false,
    };
    // The text before may be a prefix, which is omitted.
    let is_shape = || {
        [(line, start), (&line[start..], 0)]
            .iter()
            .any(|(line, at)| shapes::of_word(line, *at, at + length).is_some())
    };
    // A part of the name of a state may be a word of failure.
    let is_part = || {
        if !line[start].is_ascii_uppercase() {
            return false;
        }
        let length = part_length(&line[start..]);
        let part = &line[start..start + length];
        part == b"ERR"
            || length < word.len()
                && matches!(Word::at(line, start, length).and_then(words::weight), Some(Weight::Word(1..)))
    };
    let is_report = || matches!(word, b"WARNING" | b"WARN") && line.get(end) == Some(&b':');
    may_tell(word) && (is_weighed() || is_shape() || is_report())
        || matches!(word, b"NotFound" | b"BackOff")
        || is_part()
}

/// Returns true if the line itself is a mark, a command, or may replace the line before.
fn begins(line: &[u8]) -> bool {
    let said = without_prefix(line);
    said.starts_with(b"+") || is_command(said) || shapes::of_beginning(said) > 0
}

/// Returns true if a line is empty after its prefix.
fn is_blank(line: &[u8]) -> bool {
    // Most lines end as neither a prefix nor a blank.
    if let [.., last, b'\n'] = line
        && !(last.is_ascii_whitespace() || is_in_time(*last) || *last == b'|')
    {
        return false;
    }
    let text = line.trim_ascii_end();
    text.is_empty() || may_end_prefix(text) && without_prefix(line).trim_ascii().is_empty()
}

/// Returns true if a text ends as the columns of a prefix do: in a bar, a time, or the number or
/// the seconds of a step.
fn may_end_prefix(text: &[u8]) -> bool {
    let run = text.iter().rev().take_while(|byte| is_in_time(**byte)).count();
    let (before, run) = text.split_at(text.len() - run);
    if run.is_empty() {
        return before.ends_with(b"|");
    }
    if run.ends_with(b"]") {
        return true;
    }
    let is_step = |text: &[u8]| {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        text[..text.len() - digits].ends_with(b"#")
    };
    matches!(run, [_, _, b':', _, _, b':', ..])
        || is_step(before)
        || before.strip_suffix(b" ").is_some_and(is_step)
}

#[cfg(test)]
mod tests {
    use super::super::score::score;
    use super::super::words::{PHRASES, WORDS};
    use super::*;
    use proptest::prelude::*;

    fn is_dull_line(line: &[u8]) -> bool {
        let (gate, mut places) = (Gate::new(true, &Question::default()), Places::default());
        places.look(&gate, line);
        !gate.may_tell(line, &places, line.len())
    }

    fn part() -> impl Strategy<Value = String> {
        let words = WORDS.iter().map(|(word, _)| (*word).to_owned());
        let phrases = PHRASES.iter().map(|(first, rest, _)| format!("{first}{rest}"));
        let shapes = [
            "TypeError",
            "x.NotFound:",
            "ImageBackOff ",
            "OOMKilled",
            "FailedMount",
            "SystemOOM",
            "CREATE_FAILED",
            "net::ERR_X",
            "SSL_ERR ",
            "OOM_SCORE",
            "OOMScore",
            "TEST-UNEXPECTED-FAIL",
            "WARNING:",
            "HTTP/1.1 404 ",
            "\" 502 ",
            " E501 ",
            "F4012: ",
            "loss=nan",
            ": -inf ",
            "\"level\":50",
            "\"status\": 502",
            "severity: High",
            "✕ ",
            "× ",
            "●",
            "❌",
            "⨯ ",
            "E  ",
            ">  ",
            "--> ",
            "+ ",
            "$ make",
            "==> ",
            "##[group]",
            "::group::",
            "RUN x",
            "[a 1/2] RUN y",
            "\u{1b}[31m",
            "^[[0m",
            "[31m",
            "[0;1m",
            "12:00:01",
            "2026-01-02T10:00:00.123Z",
            "[12:00:01] ",
            "web-1  | ",
            "#12 ",
            "#12 3.456",
            "Nov 23 08:47:06 ",
            "[  412.004311] ",
            "[  +73 ms]",
            "[        ] ",
            "build\tinstall\t",
            "   ",
            "\t",
            "\r",
            "x",
            "lines",
            "_",
            "9",
            ".",
            ":",
            "=",
            "0 ",
            "no ",
            "é",
            "漢字",
        ];
        let all: Vec<String> = words.chain(phrases).chain(shapes.map(str::to_owned)).collect();
        (prop::sample::select(all), 0..4usize).prop_map(|(part, how)| match how {
            0 => part.to_uppercase(),
            1 => format!("{part} "),
            _ => part,
        })
    }

    proptest! {
        #[test]
        fn a_dull_line_has_no_score_and_heads_nothing(
            parts in prop::collection::vec(part(), 0..6),
            lead in prop_oneof![4 => Just(0), 1 => 560..620usize],
        ) {
            let line = format!("{}{}\n", "x ".repeat(lead / 2), parts.concat());
            let text = super::super::bytes::plain(line.as_bytes());
            let said = without_prefix(&text);
            let matters = score(said).0 > 0
                || said.trim_ascii().is_empty()
                || said.starts_with(b"+")
                || is_command(said);
            prop_assert!(!(matters && is_dull_line(line.as_bytes())), "{:?}", line);
        }
    }

    #[test]
    fn a_line_that_is_cut_may_end_in_a_value() {
        for value in ["loss=nan", "LOSS=INF"] {
            let line = format!("{}{value}panicked\n", " x".repeat((LOOKED_AT - value.len()) / 2));
            assert!(!is_dull_line(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_shape_may_stand_right_behind_a_prefix() {
        assert!(!is_dull_line(b"no  + 12:00:01E501 \n"));
    }

    #[test]
    fn usual_lines_are_dull() {
        for line in [
            "2026-01-02T10:00:00.12Z INFO  server: GET /api/items/12 took 34 ms\n",
            "10.0.0.1 - - \"GET /static/app.7.js HTTP/1.1\" 200 9000\n",
            "   Compiling some-crate-12 v1.3.0\n",
            "    at handler (src/routes/items.ts:44:12)\n",
        ] {
            assert!(is_dull_line(line.as_bytes()), "{line}");
        }
    }
}
