//! A queue of ranks, the highest first.
//!
//! As lines are kept, the ranks of most others fall by a little, again and again. In one heap each
//! would sink through all of it. So ranks that are nearly alike share a bucket, and only those of
//! the highest bucket are in order.

use std::collections::BinaryHeap;

/// Buckets for the values between a power of two and the next, as bits.
const BITS: u32 = 5;

/// The buckets of all values of 64 bits.
const BUCKETS: usize = (u64::BITS as usize) << BITS;

#[derive(Debug)]
pub struct Queue {
    /// The ranks of each bucket below `top`.
    buckets: Vec<Vec<u128>>,
    top: usize,
    /// The ranks of the bucket `top` and of those above it.
    highest: BinaryHeap<u128>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { buckets: vec![vec![]; BUCKETS], top: BUCKETS, highest: BinaryHeap::new() }
    }
}

impl Queue {
    pub fn push(&mut self, rank: u128) {
        match bucket(rank) {
            bucket if bucket < self.top => self.buckets[bucket].push(rank),
            _ => self.highest.push(rank),
        }
    }

    /// Removes the highest rank.
    pub fn pop(&mut self) -> Option<u128> {
        while self.highest.is_empty() {
            self.top = self.buckets[..self.top].iter().rposition(|bucket| !bucket.is_empty())?;
            self.highest = BinaryHeap::from(std::mem::take(&mut self.buckets[self.top]));
        }
        self.highest.pop()
    }
}

/// Returns the bucket of a rank, whose upper half is its value.
fn bucket(rank: u128) -> usize {
    let value = (rank >> 64) as u64;
    let power = value.checked_ilog2().unwrap_or(0);
    // The bits behind the highest one.
    let rest = (value << (u64::BITS - 1 - power) << 1) >> (u64::BITS - BITS);
    (power as usize) << BITS | rest as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rank() -> impl Strategy<Value = u128> {
        (any::<u64>(), 0..u64::BITS, any::<u64>())
            .prop_map(|(value, shift, rest)| u128::from(value >> shift) << 64 | u128::from(rest))
    }

    proptest! {
        #[test]
        fn the_highest_comes_first(steps in prop::collection::vec(prop::option::weighted(0.7, rank()), 0..200)) {
            let (mut queue, mut all) = (Queue::default(), BinaryHeap::new());
            for step in steps {
                match step {
                    Some(rank) => {
                        queue.push(rank);
                        all.push(rank);
                    }
                    None => prop_assert_eq!(queue.pop(), all.pop()),
                }
            }
            while let Some(rank) = all.pop() {
                prop_assert_eq!(queue.pop(), Some(rank));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
