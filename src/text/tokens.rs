//! An estimate of tokens that cuts can rely on.
//!
//! Every code point weighs a fixed part of a token and every line is rounded up by itself. So the estimate is additive
//! over lines and never shrinks when text is added at either end, and a cut by tokens can be found by walking.
//! The weights lean upwards for prose and code; no tokenizer has measured their error yet, and they may change.

use super::units::Text;

/// Weights are in this part of a token. No UTF-16 unit weighs more than one token, so chars bound tokens.
const TOKEN: u64 = 40;

/// Weight of an estimated text to which other text may be glued on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Of the first line, its newline included.
    first: u64,
    /// Once a newline has come.
    rest: Option<Rest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    /// Tokens of the complete lines between the first and the last.
    closed: u64,
    /// Weight of the last line so far.
    open: u64,
}

impl Estimate {
    pub fn of<T: Text>(text: T) -> Estimate {
        let (mut estimate, mut at) = (Estimate::default(), 0);
        while at < text.len() {
            let (point, len) = text.decode(at);
            estimate.push(point);
            at += len;
        }
        estimate
    }

    pub fn tokens(self) -> usize {
        let rest = self.rest.map_or(0, |rest| rest.closed + rest.open.div_ceil(TOKEN));
        usize::try_from(self.first.div_ceil(TOKEN) + rest).unwrap_or(usize::MAX)
    }

    /// Takes up an estimate that was left with [`Estimate::to_state`]: three numbers, all zero at first.
    pub fn from_state(state: &[f64]) -> Estimate {
        let open = state[2] as u64;
        // The last line is stored plus one, since zero says that no newline has come.
        let rest = open.checked_sub(1).map(|open| Rest { closed: state[1] as u64, open });
        Estimate { first: state[0] as u64, rest }
    }

    pub fn to_state(self, state: &mut [f64]) {
        let (closed, open) = self.rest.map_or((0, 0), |rest| (rest.closed, rest.open + 1));
        state[..3].copy_from_slice(&[self.first as f64, closed as f64, open as f64]);
    }

    /// Adds a code point at the end.
    pub fn push(&mut self, point: char) {
        let newline = point == '\n';
        match &mut self.rest {
            None => {
                self.first += weight(point);
                self.rest = newline.then_some(Rest { closed: 0, open: 0 });
            }
            Some(rest) => {
                rest.open += weight(point);
                if newline {
                    rest.closed += rest.open.div_ceil(TOKEN);
                    rest.open = 0;
                }
            }
        }
    }

    /// Adds a code point at the start.
    pub fn push_front(&mut self, point: char) {
        if point == '\n' {
            self.rest = Some(match self.rest {
                None => Rest { closed: 0, open: self.first },
                Some(rest) => Rest { closed: rest.closed + self.first.div_ceil(TOKEN), ..rest },
            });
            self.first = 0;
        }
        self.first += weight(point);
    }

    /// The estimate of this text with `next` glued to its end.
    pub fn then(mut self, next: Estimate) -> Estimate {
        match (&mut self.rest, next.rest) {
            (None, rest) => {
                self.first += next.first;
                self.rest = rest;
            }
            (Some(rest), None) => rest.open += next.first,
            (Some(rest), Some(after)) => {
                rest.closed += (rest.open + next.first).div_ceil(TOKEN) + after.closed;
                rest.open = after.open;
            }
        }
        self
    }
}

/// What one code point weighs, a little above what the vocabulary charges for it on average.
fn weight(point: char) -> u64 {
    match point {
        'a'..='z' => 10,
        ' ' => 5,
        '\n' => 12,
        '\t' => 12,
        '0'..='9' => 28,
        'A'..='Z' => 22,
        '!'..='~' => 28,
        '\u{C0}'..='\u{24F}' => 24,
        // Greek, Cyrillic.
        '\u{370}'..='\u{52F}' => 14,
        // Hebrew, Arabic.
        '\u{590}'..='\u{6FF}' => 18,
        // CJK punctuation, kana, ideographs, full-width forms.
        '\u{3000}'..='\u{312F}' | '\u{4E00}'..='\u{9FFF}' | '\u{FF00}'..='\u{FF60}' => 32,
        // Hangul syllables.
        '\u{AC00}'..='\u{D7A3}' => 28,
        '\u{10000}'.. => 80,
        _ => 40,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Utf8;
    use proptest::prelude::*;

    fn tokens(text: &str) -> usize {
        Estimate::of(Utf8(text.as_bytes())).tokens()
    }

    #[test]
    fn nothing_is_no_token_and_no_char_is_more_than_one() {
        assert_eq!(tokens(""), 0);
        for point in ['a', 'Z', '0', '~', '\u{7F}', 'é', 'Ж', '漢', '한', '😀', '\u{FFFF}'] {
            assert!(weight(point) <= TOKEN * point.len_utf16() as u64, "{point:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_add_up(a in "(?s).{0,40}\n", b in "(?s).{0,40}") {
            prop_assert_eq!(tokens(&a) + tokens(&b), tokens(&format!("{a}{b}")));
        }

        #[test]
        fn text_at_either_end_never_makes_it_less(a in "[a-z\n漢😀]{0,9}", b in "[a-z\n漢😀]{0,9}") {
            let both = tokens(&format!("{a}{b}"));
            prop_assert!(tokens(&a) <= both && tokens(&b) <= both);
        }

        #[test]
        fn gluing_and_growing_agree_with_counting_the_whole(a in "[a-c\n ]{0,12}", b in "[a-c\n ]{0,12}") {
            let whole = Estimate::of(Utf8(format!("{a}{b}").as_bytes()));
            prop_assert_eq!(Estimate::of(Utf8(a.as_bytes())).then(Estimate::of(Utf8(b.as_bytes()))), whole);
            let mut backwards = Estimate::default();
            format!("{a}{b}").chars().rev().for_each(|point| backwards.push_front(point));
            prop_assert_eq!(backwards, whole);
        }
    }
}
