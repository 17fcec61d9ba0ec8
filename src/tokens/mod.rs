//! A token estimate for truncation.
//!
//! A text is a sequence of runs. The weight of each depends on its kind, its length and the
//! preceding run. Pieces of a text can be weighed separately if the runs at both ends are stored,
//! because those may continue in adjacent pieces.

pub mod ascii;
pub mod char_class;
pub mod runs;

use crate::encoding::Text;
use crate::tokens::ascii::{BLOCK, Runs};
use crate::tokens::char_class::Kind;
use crate::tokens::runs::{FOREIGN, Run, TOKEN};

/// Maximum tokens that a UTF-16 unit adds to a text.
pub const MOST_PER_CHAR: usize = 3;

/// Maximum bytes of a text per token. A blank and the following newline weigh the least.
pub const MOST_BYTES: usize = 200;

/// Weight of a text that can be extended at both ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    weight: u64,
    /// Set once there is a second run.
    first: Run,
    /// The kind of the run before the last.
    before: Kind,
    last: Run,
}

impl Estimate {
    pub fn of<T: Text>(text: T) -> Estimate {
        Estimate::default().and(text)
    }

    /// Extends the estimate by `text` at the end.
    pub fn and<T: Text>(mut self, text: T) -> Estimate {
        let mut at = 0;
        while at < text.len() {
            if let Some(block) = text.ascii(at) {
                self.push_block(&block);
                at += BLOCK;
                continue;
            }
            let end = text.len().min(at + BLOCK);
            while at < end {
                let (point, len) = text.decode(at);
                self.push(point);
                at += len;
            }
        }
        self
    }

    pub fn tokens(self) -> usize {
        usize::try_from(self.weight.div_ceil(TOKEN)).unwrap_or(usize::MAX)
    }

    /// Restores an estimate stored with [`Estimate::to_state`] to append text: four numbers, all
    /// zero at first.
    pub fn from_state(state: &[f64]) -> Estimate {
        let before = Run::from_state(state[1], 0.0).kind();
        let last = Run::from_state(state[2], state[3]);
        Estimate { weight: state[0] as u64, first: Run::default(), before, last }
    }

    pub fn to_state(self, state: &mut [f64]) {
        let [last, length] = self.last.to_state();
        state[..4].copy_from_slice(&[self.weight as f64, f64::from(self.before as u8), last, length]);
    }

    /// Adds a code point at the end.
    #[inline]
    pub fn push(&mut self, point: char) {
        let (run, foreign) = Run::of(point);
        if self.last.joins(run) {
            self.last = self.last.grown();
        } else {
            self.begin(run);
        }
        self.weight += self.last.step(self.before) + foreign;
    }

    fn push_block(&mut self, block: &[u8; BLOCK]) {
        let mut runs = Runs::of(block);
        self.weight += FOREIGN * u64::from(runs.foreign);
        // The first run may continue the last one, and `first` may not be set yet.
        while let Some(run) = runs.take() {
            self.push_run(run);
            if self.before != Kind::Start {
                break;
            }
        }
        let mut before = self.last.kind();
        if let Some(last) = runs.weigh(&mut before, &mut self.weight) {
            (self.before, self.last) = (before, last.folded());
        }
    }

    /// Adds a run at the end, which may continue the last one.
    #[inline]
    fn push_run(&mut self, run: Run) {
        if self.last.joins(run) {
            let all = self.last.join(run);
            self.weight += all.weight(self.before) - self.last.weight(self.before);
            self.last = all.folded();
        } else {
            self.weight += run.weight(self.last.kind());
            self.begin(run.folded());
        }
    }

    #[inline]
    fn begin(&mut self, run: Run) {
        if self.before == Kind::Start {
            self.first = self.last;
        }
        self.before = self.last.kind();
        self.last = run;
    }

    /// Adds a code point at the start.
    pub fn push_front(&mut self, point: char) {
        let mut all = Estimate::default();
        all.push(point);
        *self = all.then(*self);
    }

    /// Returns the estimate of this text followed by `next`.
    pub fn then(mut self, next: Estimate) -> Estimate {
        if self.last.is_empty() || next.last.is_empty() {
            return if self.last.is_empty() { next } else { self };
        }
        let joint = next.front();
        self.weight += next.weight - joint.weight(Kind::Start);
        self.push_run(joint);
        if next.before == Kind::Start {
            return self;
        }
        Estimate { first: self.front(), before: next.before, last: next.last, ..self }
    }

    /// Returns the first run, which may also be the last.
    fn front(&self) -> Run {
        if self.before == Kind::Start { self.last } else { self.first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{Utf8, Utf16};
    use proptest::prelude::*;

    fn tokens(text: &str) -> usize {
        Estimate::of(Utf8(text.as_bytes())).tokens()
    }

    /// Generates runs of all lengths, of kinds whose weights depend on each other.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z]{1,40}",
            "[A-Z]{1,40}",
            "[0-9]{1,40}",
            " {1,30}",
            "[\n\t\r]{1,4}",
            Just(" \n".to_owned()),
            "-{1,30}",
            "[!-/]{1,4}",
            "[漢か한жéłếअ。─✅\0😀𠀀ꀀ]{1,4}",
            "[█░●⠋₂\u{5d1}\u{5b8}\u{5c1}\u{301}]{1,4}",
            r"\\{1,9}",
            "漢{1,30}",
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn common_texts_have_these_estimates() {
        for (text, least, most) in [
            ("", 0, 0),
            (" ", 1, 1),
            ("\n", 1, 1),
            ("The quick brown fox jumps over the lazy dog.", 10, 13),
            ("const total = items.reduce((sum, item) => sum + item.price, 0)", 17, 22),
            ("123456789", 3, 3),
            ("1,234", 3, 3),
            ("                                x", 2, 3),
            ("----------------------------------------", 1, 3),
            ("dGhlIHF1aWNrIGJyb3duIGZveA==", 14, 22),
            ("deadbeef00ff", 5, 8),
            ("这是一个测试", 4, 6),
            ("안녕하세요", 3, 4),
            ("😀😀😀", 3, 6),
        ] {
            let tokens = tokens(text);
            assert!((least..=most).contains(&tokens), "{tokens} for {text:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_take_tokens_and_chars_at_most_the_maximum(text in text()) {
            let chars = text.encode_utf16().count();
            prop_assert!((usize::from(chars > 0)..=chars * MOST_PER_CHAR).contains(&tokens(&text)), "{}", tokens(&text));
        }

        #[test]
        fn tokens_stand_for_at_most_the_maximum_of_bytes(text in text(), times in 1..200usize) {
            let text = text.repeat(times);
            prop_assert!(text.len() <= tokens(&text) * MOST_BYTES, "{} for {text:?}", tokens(&text));
        }

        #[test]
        fn appended_text_never_lowers_the_estimate(a in text(), b in text()) {
            let both = tokens(&format!("{a}{b}"));
            prop_assert!(tokens(&a) <= both);
        }

        #[test]
        fn joining_and_extending_match_counting_the_whole(a in text(), b in text(), c in text()) {
            let [one, two, three] = [&a, &b, &c].map(|text| Estimate::of(Utf8(text.as_bytes())));
            let all = [a, b, c].concat();
            let whole = Estimate::of(Utf8(all.as_bytes()));
            prop_assert_eq!(one.then(two).then(three), whole);
            prop_assert_eq!(one.then(two.then(three)), whole);
            let mut backwards = Estimate::default();
            all.chars().rev().for_each(|point| backwards.push_front(point));
            prop_assert_eq!(backwards, whole);
        }

        #[test]
        fn blocks_weigh_as_much_as_code_points(text in r"[\x00-\x7F]{0,40}([ -~]{60,90}|-{70}|[a-z ]{64,200}|é){1,4}") {
            let mut one_by_one = Estimate::default();
            text.chars().for_each(|point| one_by_one.push(point));
            prop_assert_eq!(Estimate::of(Utf8(text.as_bytes())), one_by_one);
            let units: Vec<u16> = text.encode_utf16().collect();
            prop_assert_eq!(Estimate::of(Utf16(&units)), one_by_one);
        }

        #[test]
        fn a_stored_state_can_be_continued(a in text(), b in text()) {
            let mut state = [0.0; 4];
            Estimate::of(Utf8(a.as_bytes())).to_state(&mut state);
            let taken_up = Estimate::from_state(&state).and(Utf8(b.as_bytes()));
            prop_assert_eq!(taken_up.tokens(), tokens(&format!("{a}{b}")));
        }
    }
}
