//! The rules for truncating the texts of a tool result, and what the lengths of texts tell by
//! themselves.

use std::borrow::Cow;

use crate::clean;
use crate::encoding::Size;
use crate::json::Literal;
use crate::limits::Limits;
use crate::policy::{Policy, Share};
use crate::tokens::MOST_PER_CHAR;

/// The rules for truncating texts.
#[derive(Clone, Debug, Default)]
pub struct SlotRules {
    pub policy: Policy,
    pub clean: Option<clean::CleanOptions>,
}

impl SlotRules {
    /// Returns true if texts change before the limits apply.
    pub fn prepares(&self) -> bool {
        self.clean.is_some() || self.policy.redact.is_some()
    }

    /// Returns rules with a tighter limit in chars, shared by all blocks of a result.
    pub fn shortened(&self, max_chars: usize) -> SlotRules {
        let mut rules = self.clone();
        rules.policy.limits.chars = rules.policy.limits.chars.min(max_chars);
        if rules.policy.share == Share::Each {
            rules.policy.share = Share::Fair;
        }
        rules
    }

    /// Returns rules for the result of a tool, which failed if `is_error`.
    pub fn failed(&self, is_error: bool) -> Cow<'_, SlotRules> {
        if !is_error || self.policy.is_error {
            return Cow::Borrowed(self);
        }
        let mut rules = self.clone();
        rules.policy.is_error = true;
        Cow::Owned(rules)
    }

    /// Returns rules with the question of the texts, if some of them may be cut.
    pub fn asking(mut self, texts: &[Literal], ask: impl FnOnce() -> Vec<String>) -> SlotRules {
        if self.policy.asks() && self.may_cut(texts) {
            self.policy.query = ask();
        }
        self
    }

    /// Returns false if the texts of a result surely fit.
    pub fn may_cut(&self, texts: &[Literal]) -> bool {
        let growth = if self.prepares() { GROWTH } else { 1 };
        if growth == 1 && surely_fit(texts, &self.policy) {
            return false;
        }
        if surely_over(texts, &self.policy.limits) {
            return true;
        }
        let size = texts.iter().map(Literal::size).fold(Size::default(), |sum, size| sum + size);
        !fits(size, growth, texts.len(), &self.policy.limits)
    }

    /// Returns rules that keep the head alone, without a notice.
    pub fn head(&self) -> SlotRules {
        SlotRules { policy: self.policy.head(), ..self.clone() }
    }
}

/// The most by which preparing lengthens a text: a short secret becomes a mark, and repeated lines
/// are counted.
const GROWTH: usize = 80;

/// Returns true if texts of this size together surely fit.
pub fn fits(size: Size, growth: usize, texts: usize, limits: &Limits) -> bool {
    size.bytes.saturating_mul(growth) <= limits.bytes.min(limits.line_bytes)
        && size.chars.saturating_mul(growth) <= limits.chars.min(limits.tokens / MOST_PER_CHAR)
        && size.newlines.saturating_add(texts) <= limits.lines
}

/// Returns true if the texts fit by their length alone: a char takes at most three bytes and one
/// line.
pub fn surely_fit(texts: &[Literal], policy: &Policy) -> bool {
    let limits = &policy.limits;
    let least = limits.lines.min(limits.chars).min(limits.tokens / MOST_PER_CHAR);
    let least = least.min(limits.bytes / 3).min(limits.line_bytes / 3);
    texts.iter().map(Literal::len).sum::<usize>() <= least
}

/// Returns true if the texts do not fit by their length alone: an escape of six bytes stands for
/// one byte at least. A text that JavaScript holds has none.
fn surely_over(texts: &[Literal], limits: &Limits) -> bool {
    let least = |text: &Literal| if text.held().is_some() { text.len() } else { text.len() / 6 };
    texts.iter().map(least).sum::<usize>() > limits.bytes.min(limits.chars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNLIMITED;
    use proptest::prelude::*;

    #[test]
    fn an_escape_of_six_bytes_may_stand_for_one() {
        let quoted = format!("\"{}\"", "\\u0041".repeat(100));
        let over = |bytes| surely_over(&[Literal::of(quoted.as_bytes())], &Limits { bytes, ..Limits::NONE });
        assert_eq!([over(99), over(100)], [true, false]);
    }

    fn limit() -> impl Strategy<Value = usize> {
        prop_oneof![6 => Just(UNLIMITED), 3 => 0..90usize, 1 => 0..600usize]
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        const PARTS: [&[u8]; 8] = [
            b"a",
            "漢".as_bytes(),
            "😀".as_bytes(),
            b"\\n",
            b"\\u0041",
            b"\\ud83d\\ude00",
            b"\\ud83d",
            b"\xF0\x9F",
        ];
        let part =
            (prop::sample::select(&PARTS[..]), 1..60usize).prop_map(|(part, times)| part.repeat(times));
        prop::collection::vec(part, 0..3).prop_map(|parts| [b"\"", &*parts.concat(), b"\""].concat())
    }

    proptest! {
        #[test]
        fn lengths_tell_what_counting_tells(
            quoted in prop::collection::vec(text(), 1..3),
            (bytes, lines, chars) in (limit(), limit(), limit()),
            (tokens, line_bytes) in (limit(), limit()),
        ) {
            let texts: Vec<Literal> = quoted.iter().map(|quoted| Literal::of(quoted)).collect();
            let limits = Limits { bytes, lines, chars, tokens, line_bytes };
            let rules = SlotRules { policy: Policy { limits, ..Policy::default() }, clean: None };
            let size = texts.iter().map(Literal::size).fold(Size::default(), |sum, size| sum + size);
            let fits = fits(size, 1, texts.len(), &limits);
            prop_assert!(!(surely_over(&texts, &limits) && fits), "{:?} over {:?}", size, limits);
            prop_assert_eq!(rules.may_cut(&texts), !fits && !surely_fit(&texts, &rules.policy));
        }
    }
}
