//! The reasons for which a search keeps lines, and those of the best lines that it drops.

use std::collections::HashSet;

use super::shares::Stream;
use super::shelf::Worth;

/// The taker of a line, and the hundredths of a point that the line scores there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub taker: &'static str,
    pub hundredths: u64,
}

impl Reason {
    /// The reason to keep a line that takes no more room than the mark of a gap in its place.
    pub const GAP: Reason = Reason { taker: "gap", hundredths: 0 };

    /// Returns the reason of a stream that weighs nothing.
    pub fn place(stream: Stream) -> Reason {
        Reason::points(stream, 0)
    }

    pub fn points(stream: Stream, points: u32) -> Reason {
        Reason { taker: stream.name(), hundredths: 100 * u64::from(points) }
    }

    /// Returns the reason of a finding. Lines that the caller asks for come before all streams.
    pub fn finding(worth: Worth) -> Reason {
        match worth {
            Worth::ASKED_FOR => Reason { taker: "needles", hundredths: 0 },
            worth => Reason::beside(Stream::Findings, worth),
        }
    }

    /// Returns the reason of a line beside a finding.
    pub fn beside(stream: Stream, worth: Worth) -> Reason {
        let hundredths = if worth == Worth::ASKED_FOR { 0 } else { worth.hundredths() };
        Reason { taker: stream.name(), hundredths }
    }

    /// Returns true if the line itself says something.
    pub fn tells(&self) -> bool {
        let weighs = [Stream::Findings, Stream::Answers, Stream::Names].map(Stream::name);
        self.hundredths > 0 && weighs.contains(&self.taker)
    }
}

/// Dropped lines that are explained.
pub const DROPPED: usize = 20;

/// The reasons of lines, which are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// One for each kept line, in order.
    pub kept: Vec<(usize, Reason)>,
    /// The dropped lines that more room would keep first for their text, at most [`DROPPED`].
    pub dropped: Vec<(usize, Reason)>,
}

impl Reasons {
    /// Explains the kept lines. `taken`: the reasons of lines in the order in which they are kept.
    /// `kept`: the first and the last line of each kept run, in order. A line counts once, with its
    /// first piece. Kept lines that no stream took belong to the end that says how to continue.
    pub fn new(taken: impl Iterator<Item = (usize, Reason)>, kept: &[(usize, usize)]) -> Reasons {
        let (mut reasons, mut seen) = (Reasons::default(), HashSet::new());
        for (line, reason) in taken {
            let next = kept.partition_point(|(_, last)| *last < line);
            let is_kept = kept.get(next).is_some_and(|(first, _)| *first <= line);
            let counts = is_kept || reason.tells() && reasons.dropped.len() < DROPPED;
            if counts && seen.insert(line) {
                let list = if is_kept { &mut reasons.kept } else { &mut reasons.dropped };
                list.push((line, reason));
            }
        }
        let all = kept.iter().flat_map(|(first, last)| *first..=*last);
        let rest = all.filter(|line| seen.insert(*line)).map(|line| (line, Reason::place(Stream::Tail)));
        reasons.kept.extend(rest);
        reasons.kept.sort_unstable_by_key(|(line, _)| *line);
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kept_line_has_the_reason_of_its_first_piece() {
        let [finding, name] = [Stream::Findings, Stream::Names].map(|stream| Reason::points(stream, 7));
        let [head, around, tail] = [Stream::Head, Stream::Around, Stream::Tail].map(Reason::place);
        let taken =
            [(2, finding), (1, head), (2, head), (5, around), (5, name), (6, around), (8, Reason::GAP)];
        let reasons = Reasons::new(taken.into_iter(), &[(1, 2), (8, 9)]);
        assert_eq!(reasons.kept, [(1, head), (2, finding), (8, Reason::GAP), (9, tail)]);
        assert_eq!(reasons.dropped, [(5, name)]);
    }
}
