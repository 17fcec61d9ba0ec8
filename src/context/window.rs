//! The share of a context window that a prompt may take.

use crate::limits::UNLIMITED;

/// Tokens that a model reads and writes in one turn, and the part reserved for its answer.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub tokens: usize,
    pub reserve: usize,
}

/// Typical chars per token.
const CHARS: usize = 4;

/// Maximum chars of one tool result, by the smallest window each tier applies to.
const TIERS: [(usize, usize); 3] = [(200_000, 64_000), (100_000, 32_000), (0, 16_000)];

impl Window {
    /// Returns the tokens available to a prompt. The reserve is capped at a quarter of the window.
    pub fn budget(&self) -> usize {
        if self.tokens == UNLIMITED { UNLIMITED } else { self.tokens - self.reserve.min(self.tokens / 4) }
    }

    /// Returns the maximum chars of one tool result: 30 % of the window, at most its tier.
    pub fn result_chars(&self) -> usize {
        let share = (self.tokens as u128 * 3 / 10) as usize;
        let tier = TIERS.iter().find(|(from, _)| self.tokens >= *from).map_or(0, |(_, chars)| *chars);
        share.saturating_mul(CHARS).min(tier)
    }

    /// Returns the maximum chars of all tool results together: four times `each`, or half the window if that is more.
    pub fn all_results_chars(&self, each: usize) -> usize {
        each.saturating_mul(4).max(self.tokens.saturating_mul(CHARS / 2))
    }
}

/// The cheapest way to make a prompt fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Fits,
    CompactOnly,
    TruncateToolResultsOnly,
    CompactThenTruncate,
}

/// Spare tokens required to rely on truncation alone, since both counts are estimates.
const SPARE: usize = 512;

/// Chooses a route for a prompt of `tokens`. `least` is the number of tokens after shrinking all tool results, or
/// `None` if none can shrink.
pub fn route(tokens: usize, budget: usize, least: Option<usize>) -> Route {
    match least {
        _ if tokens <= budget => Route::Fits,
        None => Route::CompactOnly,
        Some(least) if least >= tokens => Route::CompactOnly,
        Some(least) if least.saturating_add(SPARE) <= budget => Route::TruncateToolResultsOnly,
        Some(_) => Route::CompactThenTruncate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_takes_at_most_a_quarter() {
        for (tokens, reserve, budget) in [
            (200_000, 16_384, 183_616),
            (16_000, 20_000, 12_000),
            (4_096, 20_000, 3_072),
            (4_097, 20_000, 3_073),
            (128_000, 0, 128_000),
            (3, 5, 3),
            (0, 5, 0),
            (UNLIMITED, UNLIMITED, UNLIMITED),
        ] {
            assert_eq!(Window { tokens, reserve }.budget(), budget, "{tokens} {reserve}");
        }
    }

    #[test]
    fn results_are_capped_by_share_and_tier() {
        for (tokens, each, all) in [
            (0, 0, 0),
            (100, 120, 480),
            (8_000, 9_600, 38_400),
            (13_333, 15_996, 63_984),
            (13_334, 16_000, 64_000),
            (32_000, 16_000, 64_000),
            (99_999, 16_000, 199_998),
            (100_000, 32_000, 200_000),
            (128_000, 32_000, 256_000),
            (199_999, 32_000, 399_998),
            (200_000, 64_000, 400_000),
            (1_000_000, 64_000, 2_000_000),
            (UNLIMITED, 64_000, UNLIMITED),
        ] {
            let window = Window { tokens, reserve: 0 };
            assert_eq!((window.result_chars(), window.all_results_chars(each)), (each, all), "{tokens}");
        }
    }

    #[test]
    fn truncation_alone_needs_spare_tokens() {
        for (tokens, budget, least, expected) in [
            (1_000, 1_000, Some(10), Route::Fits),
            (1_001, 1_000, None, Route::CompactOnly),
            (1_001, 1_000, Some(1_001), Route::CompactOnly),
            (1_001, 1_000, Some(1_002), Route::CompactOnly),
            (1_001, 1_000, Some(488), Route::TruncateToolResultsOnly),
            (1_001, 1_000, Some(489), Route::CompactThenTruncate),
            (1_001, 1_000, Some(1_000), Route::CompactThenTruncate),
            (9_000, 400, Some(0), Route::CompactThenTruncate),
        ] {
            assert_eq!(route(tokens, budget, least), expected, "{tokens} {budget} {least:?}");
        }
    }
}
