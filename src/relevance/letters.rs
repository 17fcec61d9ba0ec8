//! The words, identifiers and paths of ASCII, by masks of its letters.
//!
//! Words end so irregularly that a processor mispredicts most ends that a loop over bytes looks
//! for, which takes longer than all else. The masks of a block tell all ends at once.

use std::ops::Range;

use crate::encoding::byte_table::byte_table;
use crate::encoding::mask;

/// Bytes that are read at once, a bit for each.
pub const BLOCK: usize = u128::BITS as usize;

/// The bytes of a block by their kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Letters {
    lower: u128,
    upper: u128,
    digits: u128,
    /// Underscores and dollars.
    signs: u128,
    /// Dots, slashes and hyphens.
    joints: u128,
    colons: u128,
    wide: u128,
}

/// The kind of a byte.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 3;
const SIGN: u8 = 4;
const JOINT: u8 = 5;
const COLON: u8 = 6;
const WIDE: u8 = 7;

const fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => LOWER,
        b'A'..=b'Z' => UPPER,
        b'0'..=b'9' => DIGIT,
        b'_' | b'$' => SIGN,
        b'.' | b'/' | b'-' => JOINT,
        b':' => COLON,
        0x80.. => WIDE,
        _ => 0,
    }
}

const KINDS: [u8; 256] = byte_table!(byte => kind(byte));

impl Letters {
    /// Reads the first bytes of a text.
    pub fn of(text: &[u8]) -> Letters {
        let mut letters = Letters::default();
        for (nth, half) in text[..text.len().min(BLOCK)].chunks(mask::BLOCK).enumerate() {
            let mut kinds = [0; mask::BLOCK];
            kinds.iter_mut().zip(half).for_each(|(kind, byte)| *kind = KINDS[usize::from(*byte)]);
            let of = |kind: u8| u128::from(mask::of_byte(&kinds, kind)) << (nth * mask::BLOCK);
            letters.lower |= of(LOWER);
            letters.upper |= of(UPPER);
            letters.digits |= of(DIGIT);
            letters.signs |= of(SIGN);
            letters.joints |= of(JOINT);
            letters.colons |= of(COLON);
            letters.wide |= of(WIDE);
        }
        letters
    }

    pub fn is_ascii(&self) -> bool {
        self.wide == 0
    }

    /// Returns the bytes up to the last that is in no path, that byte included.
    pub fn whole(&self, length: usize) -> usize {
        let inside = self.parts() | self.wide | self.joints | self.colons;
        BLOCK - (!inside & first(length)).leading_zeros() as usize
    }

    /// Leaves out the bytes from a place on.
    pub fn until(self, end: usize) -> Letters {
        let Letters { lower, upper, digits, signs, joints, colons, wide } = self;
        let keep = |mask: u128| mask & first(end);
        let (lower, upper, digits, signs) = (keep(lower), keep(upper), keep(digits), keep(signs));
        Letters { lower, upper, digits, signs, joints: keep(joints), colons: keep(colons), wide: keep(wide) }
    }

    /// The bytes of identifiers.
    fn parts(&self) -> u128 {
        self.lower | self.upper | self.digits | self.signs
    }

    fn letters(&self) -> u128 {
        self.lower | self.upper
    }

    /// The first bytes of words, numbers and runs of signs. The last capital of `HTTPResponse`
    /// begins a word.
    fn starts(&self) -> u128 {
        let Letters { lower, upper, digits, signs, .. } = *self;
        let first = |run: u128| run & !(run << 1);
        let humps = upper & (lower << 1 | upper << 1 & lower >> 1);
        first(self.letters()) | humps | first(digits) | first(signs)
    }

    /// Returns the words of at least three letters.
    pub fn words(&self) -> impl Iterator<Item = Range<usize>> {
        let (letters, starts) = (self.letters(), self.starts());
        let goes_on = letters & !starts;
        bits(letters & starts & goes_on >> 1 & goes_on >> 2)
            .map(move |start| start..next(!goes_on, start + 1))
    }

    /// Returns the identifiers of more than one part in which two letters stand side by side.
    pub fn identifiers(&self) -> impl Iterator<Item = Range<usize>> {
        let parts = self.parts();
        self.spelt(parts, self.starts() & parts << 1)
    }

    /// Returns the paths of more than one identifier in which two letters stand side by side.
    pub fn paths(&self) -> impl Iterator<Item = Range<usize>> {
        let (parts, colons) = (self.parts(), self.colons);
        let joints = self.joints & parts << 1 & parts >> 1;
        let double = colons & colons >> 1 & parts << 1 & parts >> 2;
        self.spelt(parts | joints | double | double << 1, joints | double)
    }

    /// Returns the runs with one of these places in which two letters stand side by side.
    fn spelt(&self, runs: u128, places: u128) -> impl Iterator<Item = Range<usize>> {
        let pairs = self.letters() & self.letters() >> 1;
        let mut places = places;
        std::iter::from_fn(move || {
            let place = Some(places.trailing_zeros() as usize).filter(|place| *place < BLOCK)?;
            let start = BLOCK - (!runs & first(place)).leading_zeros() as usize;
            let end = next(!runs, place);
            places &= !first(end);
            Some(start..end)
        })
        .filter(move |run| pairs & first(run.end) & !first(run.start) != 0)
    }
}

/// The lowest bits of this number.
fn first(number: usize) -> u128 {
    1_u128.checked_shl(number as u32).map_or(!0, |bit| bit - 1)
}

/// Returns the place of the first set bit from a place on.
fn next(mask: u128, from: usize) -> usize {
    (mask & !first(from)).trailing_zeros() as usize
}

/// Iterates over the places of set bits.
fn bits(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (at < BLOCK).then_some(at)
    })
}
