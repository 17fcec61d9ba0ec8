//! Counts of the results that a repair cuts, in the words of the command line.

use std::ops::AddAssign;

use serde::Serialize;

use super::row_payloads::Payloads;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cuts {
    /// Results with text over the limits.
    pub over: u64,
    /// Those that become shorter by a tenth or more for the model. A host that cuts results itself,
    /// or has bounded them with a notice of its own, gains nothing from the others.
    pub worth: u64,
    /// Other results with large details: side data, or a second copy in their row.
    pub details: u64,
    /// Results whose text is cut, with the bytes of their texts before and after.
    pub texts: u64,
    pub bytes: u64,
    pub left: u64,
    /// Bytes of damaged rows that are put aside.
    pub aside: u64,
    /// Rows of the conversation that damaged lines hold and a repair brings back, or documents that
    /// it closes.
    pub mended: u64,
    /// Payloads that words replace.
    pub media: Payloads,
}

impl Cuts {
    /// Counts a result whose text or details are cut.
    pub fn add(&mut self, text: bool, details: bool) {
        self.over += u64::from(text);
        self.details += u64::from(details && !text);
    }

    /// Counts the second copy of the results of a row. It stands for one of them, which may be
    /// counted already.
    pub fn add_copy(&mut self) {
        self.details += u64::from(!self.any());
    }

    pub fn any(self) -> bool {
        self != Cuts::default()
    }
}

impl AddAssign for Cuts {
    fn add_assign(&mut self, other: Self) {
        self.over += other.over;
        self.worth += other.worth;
        self.details += other.details;
        self.media += other.media;
        self.texts += other.texts;
        self.bytes += other.bytes;
        self.left += other.left;
        self.aside += other.aside;
        self.mended += other.mended;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(results: &[(bool, bool)], has_copy: bool) -> Cuts {
        let mut cuts = Cuts::default();
        results.iter().for_each(|(text, details)| cuts.add(*text, *details));
        if has_copy {
            cuts.add_copy();
        }
        cuts
    }

    #[test]
    fn each_result_counts_once() {
        let cuts = counted(&[(true, true), (false, true), (true, false), (false, false)], true);
        assert_eq!(cuts, Cuts { over: 2, details: 1, ..Cuts::default() });
    }

    #[test]
    fn a_second_copy_is_that_of_a_result() {
        assert_eq!(counted(&[(false, false)], true), Cuts { details: 1, ..Cuts::default() });
        assert_eq!(counted(&[(true, false)], true), Cuts { over: 1, ..Cuts::default() });
        assert!(!counted(&[(false, false)], false).any());
    }

    #[test]
    fn rows_add_up() {
        let mut all = counted(&[(true, false)], false);
        all += counted(&[(false, true)], false);
        assert_eq!(all, Cuts { over: 1, details: 1, ..Cuts::default() });
    }
}
