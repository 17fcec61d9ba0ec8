//! One budget for several payloads.

/// Limits of several payloads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaBudget {
    /// Bytes, decoded.
    pub bytes: usize,
    pub items: usize,
    /// Keep the first rather than the latest.
    pub first: bool,
}

impl MediaBudget {
    /// Returns, for each payload in order, true to omit it. Payloads are kept from the kept end on,
    /// as long as each fits beside the ones before it.
    pub fn gone(&self, sizes: &[usize]) -> Vec<bool> {
        let (mut gone, mut bytes, mut items) = (vec![true; sizes.len()], self.bytes, self.items);
        for nth in 0..sizes.len() {
            let at = if self.first { nth } else { sizes.len() - 1 - nth };
            if items > 0 && sizes[at] <= bytes {
                (gone[at], bytes, items) = (false, bytes - sizes[at], items - 1);
            }
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(budget: MediaBudget, sizes: &[usize]) -> Vec<usize> {
        let gone = budget.gone(sizes).into_iter();
        sizes.iter().zip(gone).filter(|(_, gone)| !gone).map(|(size, _)| *size).collect()
    }

    #[test]
    fn the_latest_stay_unless_the_first_are_asked_for() {
        let budget = MediaBudget { bytes: 10, items: 2, first: false };
        assert_eq!(kept(budget, &[1, 2, 3, 4]), [3, 4]);
        assert_eq!(kept(MediaBudget { first: true, ..budget }, &[1, 2, 3, 4]), [1, 2]);
        assert_eq!(kept(budget, &[1, 20, 4]), [1, 4]);
        assert_eq!(kept(MediaBudget { bytes: 0, ..budget }, &[0, 1]), [0]);
        assert!(kept(MediaBudget { items: 0, ..budget }, &[0, 1]).is_empty());
    }

    proptest! {
        #[test]
        fn what_stays_is_within_the_budget_and_stays(
            sizes in prop::collection::vec(0..100usize, 0..30), bytes in 0..500usize, items in 0..30usize, first: bool,
        ) {
            let budget = MediaBudget { bytes, items, first };
            let left = kept(budget, &sizes);
            prop_assert!(left.iter().sum::<usize>() <= bytes && left.len() <= items);
            prop_assert_eq!(&kept(budget, &left), &left);
        }
    }
}
