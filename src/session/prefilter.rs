//! Filters out rows that cannot need changes, before they are parsed.

use memchr::memmem::Finder;

use super::rewrite_row::{RowOptions, SideData};
use crate::dialect::structured::CopyChoice;
use crate::tokens::MOST_PER_CHAR;

#[derive(Debug)]
pub struct Prefilter {
    /// Rows up to this length are within every limit.
    least: usize,
    /// The spellings of an escaped surrogate.
    surrogates: [Finder<'static>; 2],
}

/// The maximum growth of a text when decoded, which invalid UTF-8 reaches.
const LONGER: usize = 3;

impl Prefilter {
    pub fn of(options: &RowOptions) -> Prefilter {
        let limits = &options.rules.policy.limits;
        let sizes =
            limits.bytes.min(limits.chars).min(limits.tokens / MOST_PER_CHAR).min(limits.line_bytes) / LONGER;
        // An escaped newline takes two bytes, and the last line needs none.
        let lines = limits.lines.saturating_sub(1).saturating_mul(2);
        let side = match options.side {
            SideData::Keep => usize::MAX,
            SideData::Cap { max, .. } => max,
            SideData::Drop => 0,
        };
        let is_any = options.rules.prepares() || options.structured != CopyChoice::Both;
        let least = if is_any { 0 } else { sizes.min(lines).min(side) };
        Prefilter { least, surrogates: ["\\ud", "\\uD"].map(Finder::new) }
    }

    /// Returns true if a row may need changes, with or without its newline.
    pub fn may_matter(&self, row: &[u8]) -> bool {
        let row = row.strip_suffix(b"\n").unwrap_or(row);
        row.len() > self.least || self.surrogates.iter().any(|spelled| spelled.find(row).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rows_are_skipped() {
        let side = SideData::Cap { max: 8_192, spare: 0 };
        let gate = Prefilter::of(&RowOptions { side, ..RowOptions::default() });
        let row = |text: &str| format!("{{\"role\":\"tool\",\"content\":\"{text}\"}}\n").into_bytes();
        assert!(!gate.may_matter(&row(&"x".repeat(3_000))));
        assert!(gate.may_matter(&row(&"x".repeat(5_000))));
        assert!(gate.may_matter(&row("\\ud83d")));
        let least = vec![b'x'; gate.least];
        assert!(!gate.may_matter(&least) && !gate.may_matter(&[&least[..], b"\n"].concat()));
        assert!(gate.may_matter(&[&least[..], b"x"].concat()));
    }
}
