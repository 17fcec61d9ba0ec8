//! ASCII in blocks. All bytes of a block are compared with their neighbors at once, by vector
//! code, so that only runs are weighed one by one.

use crate::encoding::mask;
use crate::tokens::char_class::{Kind, LOW_KINDS};
use crate::tokens::runs::{Run, foreign, weight_of};

/// Bytes of a block, one for each bit of [`Runs::starts`].
pub use crate::encoding::mask::BLOCK;

/// The runs of a block.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// For each byte, the byte of its kind or, if it is a sign, itself.
    members: [u8; BLOCK],
    /// A bit for each byte at which a run starts, the first one among them.
    starts: u64,
    /// How rare the letters are in English, together.
    pub foreign: u32,
}

impl Runs {
    #[inline]
    pub fn of(block: &[u8; BLOCK]) -> Runs {
        // A loop over arrays without branches or tables, which compiles to vector code.
        let (mut members, mut degrees) = ([0; BLOCK], [0; BLOCK]);
        for at in 0..BLOCK {
            members[at] = member(block[at]);
            degrees[at] = foreign(block[at]);
        }
        // 64 times three at most, which a byte holds.
        let foreign = degrees.into_iter().fold(0, u8::wrapping_add);
        Runs { members, starts: mask::changes(&members), foreign: foreign.into() }
    }

    /// Removes the first run.
    #[inline]
    pub fn take(&mut self) -> Option<Run> {
        if self.starts == 0 {
            return None;
        }
        let start = self.starts.trailing_zeros() as usize;
        self.starts &= self.starts - 1;
        let end = self.starts.trailing_zeros() as usize;
        Some(Run::of_ascii(self.members[start % BLOCK], (end - start) as u8))
    }

    /// Adds the weights of the remaining runs to `weight`, and returns the last one. `before`: the
    /// kind of the run before, and then of that before the last.
    #[inline]
    pub fn weigh(self, before: &mut Kind, weight: &mut u64) -> Option<Run> {
        let (mut starts, mut start) = (self.starts, self.starts.trailing_zeros() as usize);
        while starts != 0 {
            starts &= starts - 1;
            let end = starts.trailing_zeros() as usize;
            let member = self.members[start % BLOCK];
            let kind = LOW_KINDS[usize::from(member)];
            *weight += weight_of(*before, kind, end - start);
            if starts == 0 {
                return Some(Run::of_ascii(member, (end - start) as u8));
            }
            (*before, start) = (kind, end);
        }
        None
    }
}

#[inline]
fn member(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => b'a',
        b'A'..=b'Z' => b'A',
        b'0'..=b'9' => b'0',
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_those_of_a_walk(block in prop::collection::vec(0..0x80u8, BLOCK)) {
            let block: [u8; BLOCK] = block.try_into().expect("it is as long");
            let walked = block.chunk_by(|&a, &b| Run::of(a.into()).0.joins(Run::of(b.into()).0));
            let walked: Vec<_> = walked.map(|run| Run::of_ascii(run[0], run.len() as u8)).collect();
            let mut runs = Runs::of(&block);
            prop_assert_eq!(std::iter::from_fn(|| runs.take()).collect::<Vec<_>>(), walked);
        }
    }
}
