//! Finds the banners of sections that tell of a failure: `____ Test.opens ____`, `---- a::b ----`.
//!
//! If many tests fail for one reason, their traces are alike, and each is worth half of the trace
//! before. But each failed test is a finding of its own, and its name stands in the banner above
//! the trace.

use super::bytes;
use super::likeness::{LikenessCounts, likeness};
use super::page::Piece;
use super::prefix::without_prefix;
use super::score::Score;
use super::shelf::{Finding, Worth};

/// A banner has a run of one of these signs at either end, and so many signs are a run.
const SIGNS: &[u8] = b"_-=*#~+";
const RUN: usize = 3;

/// Maximum bytes of a banner.
const LONGEST: usize = 200;

/// Returns the banners above findings among pieces as findings without context, in order. `known`
/// are the numbers of the units of the findings, in order.
pub fn banners(pieces: &[Piece], known: &[usize]) -> Vec<Finding> {
    let Some(end) = known.last() else { return vec![] };
    let mut known = known.iter().peekable();
    // The last banner of each sign, until a finding behind it is seen.
    let mut last = [None; SIGNS.len()];
    let mut above = vec![];
    for (at, Piece { unit, text, .. }) in pieces.iter().enumerate() {
        if unit.number > *end {
            break;
        }
        while known.next_if(|finding| **finding < unit.number).is_some() {}
        if known.next_if(|finding| **finding == unit.number).is_some() {
            above.extend(last.iter_mut().filter_map(Option::take));
        } else if let Some(sign) = banner(text) {
            last[sign] = Some(at);
        }
    }
    above.sort_unstable();
    let mut seen = LikenessCounts::default();
    let findings = above.into_iter().map(|at| {
        let (unit, likeness) = (pieces[at].unit.number, likeness(pieces[at].text));
        let worth = Worth::of(Score::LEAST, seen.count(likeness));
        let likeness = likeness.same as u32;
        Finding { unit, worth, likeness, first: unit, last: unit, around: (unit, unit), heading: None }
    });
    findings.collect()
}

/// Returns the number of the sign at both ends of a line that says something between them.
fn banner(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Most lines end in another byte, also those in colours.
    line.last().filter(|byte| SIGNS.contains(byte) || **byte == b'm')?;
    if line.len() > LONGEST {
        return None;
    }
    let plain = bytes::plain(line);
    let said = without_prefix(&plain);
    let sign = memchr::memchr(*said.last()?, SIGNS)?;
    let is_sign = |byte: &&u8| **byte == SIGNS[sign];
    let (start, end) =
        (said.iter().take_while(is_sign).count(), said.iter().rev().take_while(is_sign).count());
    let says = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    (start >= RUN && end >= RUN && said.iter().any(says)).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;
    use proptest::prelude::*;

    /// Returns the numbers of the lines that are banners above a line with an `!`.
    fn found(text: &str) -> Vec<usize> {
        let mut next = Unit::default();
        let mut known = vec![];
        let mut pieces = vec![];
        for text in text.split_inclusive('\n') {
            let unit = Unit { bytes: text.len(), chars: text.len(), ends_line: true, ..next };
            next = unit.next(0, 0, false);
            pieces.push(Piece { unit, text: text.as_bytes(), is_weighed: true });
            if text.contains('!') {
                known.push(unit.number);
            }
        }
        banners(&pieces, &known).into_iter().map(|finding| finding.unit).collect()
    }

    proptest! {
        #[test]
        fn each_section_with_a_finding_has_its_banner(
            sign in prop::sample::select(SIGNS),
            run in RUN..40,
            sections in prop::collection::vec(("[a-z]{1,9}(::|[.] |-)[a-z]{1,9}", any::<bool>(), 0..30usize), 1..40),
            prefix in prop::sample::select(&["", "[12:00:01] ", "web-1  | ", "\x1b[31m"][..]),
        ) {
            let run = char::from(sign).to_string().repeat(run);
            let (mut text, mut expected, mut lines) = (String::new(), vec![], 0);
            for (name, fails, between) in &sections {
                if *fails {
                    expected.push(lines);
                }
                let end = if *fails { "!\n" } else { "" };
                let colour = if prefix.starts_with('\x1b') { "\x1b[0m" } else { "" };
                let rest = "  it goes on\n".repeat(*between);
                text += &format!("{prefix}{run} {name} {run}{colour}\n{rest}{end}");
                lines += 1 + between + usize::from(*fails);
            }
            prop_assert_eq!(found(&text), expected);
        }
    }

    #[test]
    fn rules_lists_and_tables_are_not_banners() {
        for line in ["--------", "-- a --", "- a", "| --- | --- |", "_ _ _ _", "--- a", "a ---", "*** 7 ***"]
        {
            assert_eq!(found(&format!("{line}\n!\n")), [0; 0], "{line}");
        }
    }
}
