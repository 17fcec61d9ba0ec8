//! Runs of code points of one kind, and their weights in tokens.
//!
//! Current tokenizers pre-split text in similar ways before they consult their vocabularies: at
//! spaces, which belong to the following word; between letters, digits and signs; and where a
//! capital follows a small letter. Of these pieces, common words are one token, digits one token
//! per three, and a rule of dashes one or two. The rest depends on length, at a rate that differs
//! by script. So the weight of a run depends on its kind, its length and the kind of the preceding
//! run. The weights were fitted to o200k_base, with a small upward bias, on more kinds of text than
//! `npm run bench:tokens` reports.

use crate::tokens::char_class::Kind::{self, *};
use crate::tokens::char_class::{LOW, LOW_KINDS};

/// Units of weight per token.
pub const TOKEN: u64 = 100;

/// A sequence of code points of one kind, or of one sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The kind in the low eight bits, and the code point of a sign above them.
    key: u32,
    /// Folded: see [`fold`].
    length: u8,
}

/// Length from which lengths are folded. From here on, the weight of one more code point depends
/// only on the kind and, for digits, on the length modulo three. So the weight that folding removes
/// does not depend on the context of the run.
const FOLDED: u8 = 13;
const LENGTHS: usize = FOLDED as usize + 3;

/// Returns a short length at which additional code points weigh as much as at `length`.
const fn fold(length: u8) -> u8 {
    if length < LENGTHS as u8 { length } else { FOLDED + (length - FOLDED) % 3 }
}

impl Run {
    /// Returns a run of one code point, and the surcharge of a letter that is rare in English.
    #[inline]
    pub fn of(point: char) -> (Run, u64) {
        let entry = match point as usize {
            low @ ..LOW => LOW_KEYS[low],
            high => key(point as u32, Kind::of_high(high)),
        };
        (Run { key: entry & KEY, length: 1 }, FOREIGN * u64::from(entry >> KEY.count_ones()))
    }

    /// Returns a run of bytes of the kind of `byte`, not folded.
    #[inline]
    pub fn of_ascii(byte: u8, length: u8) -> Run {
        Run { key: LOW_KEYS[usize::from(byte)] & KEY, length }
    }

    #[inline]
    pub fn kind(self) -> Kind {
        Kind::ALL[self.key as usize & 31]
    }

    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Returns true if adjacent runs form one run.
    #[inline]
    pub fn joins(self, other: Run) -> bool {
        self.key == other.key
    }

    /// Extends the run by one code point.
    #[inline]
    pub fn grown(self) -> Run {
        let length = if self.length + 1 == LENGTHS as u8 { FOLDED } else { self.length + 1 };
        Run { length, ..self }
    }

    /// Returns the run followed by another of the same key. Neither is longer than a block. Not
    /// folded.
    #[inline]
    pub fn join(self, other: Run) -> Run {
        Run { length: self.length + other.length, ..self }
    }

    #[inline]
    pub fn folded(self) -> Run {
        Run { length: fold(self.length), ..self }
    }

    /// Returns the weight that the last code point adds to the run. `before`: the kind of the
    /// preceding run.
    #[inline]
    pub fn step(self, before: Kind) -> u64 {
        STEPS[before as usize & 31][self.key as usize & 31][self.length as usize & 15].into()
    }

    /// Returns the weight of the run.
    pub fn weight(self, before: Kind) -> u64 {
        weight_of(before, self.kind(), self.length.into())
    }

    /// Restores a run stored with [`Run::to_state`].
    pub fn from_state(key: f64, length: f64) -> Run {
        Run { key: key as u32, length: length as u8 }
    }

    pub fn to_state(self) -> [f64; 2] {
        [self.key.into(), self.length.into()]
    }
}

const fn key(point: u32, kind: Kind) -> u32 {
    let sign = if kind.is_sign() { point } else { 0 };
    sign << 8 | kind as u32
}

/// The bits of a key. The bits above it in a table entry hold the degree to which a letter is rare
/// in English.
const KEY: u32 = u32::MAX >> 2;

/// Weight of a letter per degree of rarity.
pub const FOREIGN: u64 = 11;

/// Returns the degree to which a letter is rare in English. Vocabularies cover English best.
/// Letters more common in other languages in ASCII indicate words that are split into several
/// tokens.
#[inline]
pub const fn foreign(byte: u8) -> u8 {
    // Not a `match`, which compiles to a table.
    if byte == b'j' || byte == b'k' || byte == b'z' {
        3
    } else if byte == b'w' || byte == b'y' {
        2
    } else {
        0
    }
}

/// Keys of code points, and above them the degrees of letters.
static LOW_KEYS: [u32; LOW] = {
    let mut keys = [0; LOW];
    let mut at = 0;
    while at < LOW {
        let foreign = if at < 0x80 { foreign(at as u8) as u32 } else { 0 };
        keys[at] = foreign << KEY.count_ones() | key(at as u32, LOW_KINDS[at]);
        at += 1;
    }
    keys
};

/// Numbers for runs, by the kind of the preceding run, the kind of the run, and its length.
/// Dimensions are padded to powers of two for faster lookups.
type RunTable = [[[u16; LENGTHS]; 32]; 32];

static WEIGHTS: RunTable = table(false);
/// The weight that each code point adds, by its position.
static STEPS: RunTable = table(true);

/// `by_one`: less the weight of a run that is one code point shorter.
const fn table(by_one: bool) -> RunTable {
    let mut table = [[[0; LENGTHS]; 32]; 32];
    let mut before = 0;
    while before < Kind::ALL.len() {
        let mut kind = 0;
        while kind < Kind::ALL.len() {
            let mut length = 1;
            while length < LENGTHS {
                let (before_it, all) = (Kind::ALL[before], Kind::ALL[kind]);
                let less = if by_one { weight(before_it, all, length as u64 - 1) } else { 0 };
                table[before][kind][length] = (weight(before_it, all, length as u64) - less) as u16;
                length += 1;
            }
            kind += 1;
        }
        before += 1;
    }
    table
}

/// Like [`weight`], by the table if the run is short.
#[inline]
pub fn weight_of(before: Kind, kind: Kind, length: usize) -> u64 {
    let short = WEIGHTS[before as usize & 31][kind as usize & 31].get(length);
    short.map_or_else(|| weight(before, kind, length as u64), |&weight| weight.into())
}

/// Returns the weight of a run of this kind and length.
const fn weight(before: Kind, kind: Kind, length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    match kind {
        Start => 0,
        // The last of several spaces joins the following piece.
        Space if length == 1 => 1,
        Space => 100 + length,
        Tab => 75 + 5 * length,
        Newline => line_end(before) + 10 * (length - 1),
        Return => 100 * length,
        Digit => length.div_ceil(3) * TOKEN + if matches!(before, Space) { 100 } else { 0 },
        Lower => lower(before, length),
        Upper => upper(before, length),
        Accented => 115 * length,
        Extended if matches!(before, Space) => 120 + 170 * (length - 1),
        Extended => 170 * length,
        Toned => 30 * length,
        Greek => word(length, 2, 45),
        Cyrillic => word(length, 3, 26),
        Mark => 95 * length,
        Semitic if matches!(before, Mark) => 90 + 36 * (length - 1),
        Semitic => word(length, 2, 36),
        Indic => word(length, 2, 41),
        Thai => word(length, 2, 50),
        Khmer => word(length, 2, 62),
        Han => word(length, 1, 86),
        Kana => word(length, 1, 55),
        Hangul => word(length, 1, 65),
        Sparse => 205 * length,
        Unknown => 250 * length,
        Punctuation => sign(before, 100, 50 + 30 * past(length, 1, 2)) + repeats(length, 10, 2),
        Wide => sign(before, 100, 50) + repeats(length, 50, 10),
        Symbol => sign(before, 100, 70) + repeats(length, 50, 10),
        Shade => sign(before, 100, 90) + 90 * (length - 1),
        Pictograph if matches!(before, Pictograph | Shade) => 190 + 170 * (length - 1),
        Pictograph => sign(before, 150, 120) + 170 * (length - 1),
        Control => 100 + repeats(length, 50, 50),
        // A single backslash joins the quote that it escapes. Several are escaped themselves and
        // join no other piece.
        Escape => sign(before, 100, 50) + 70 * past(length, 1, 2) + 25 * past(length, 2, u64::MAX),
        Emoji => 180 * length,
        Astral => 300 * length,
    }
}

/// Returns how many letters lie after the first `from` and up to the letter `to`.
const fn past(length: u64, from: u64, to: u64) -> u64 {
    (if length < to { length } else { to }).saturating_sub(from)
}

/// Returns the weight of one token, plus `each` for each letter after the first few.
const fn word(length: u64, few: u64, each: u64) -> u64 {
    TOKEN + each * length.saturating_sub(few)
}

/// Weighs small letters. Vocabularies contain words mostly in the form that follows a space.
/// Letters beside digits, as in hashes, are rarely in them.
const fn lower(before: Kind, length: u64) -> u64 {
    let start = match before {
        // Words of seven letters and more are often not English and split into several tokens.
        Space => 100 + 16 * past(length, 4, 7) + 44 * past(length, 7, 10),
        Digit => 100 + 45 * past(length, 1, 10),
        Upper => 15 + 8 * past(length, 3, 10),
        Accented | Extended => 20 + 18 * past(length, 1, 10),
        // Vietnamese words are short and in the vocabulary.
        Toned => 10 + 15 * past(length, 2, 10),
        Mark => 60 + 20 * past(length, 2, 10),
        // A word absorbs one preceding sign.
        Punctuation | Escape => 40 + 13 * past(length, 3, 10),
        _ => 100 + 13 * past(length, 3, 10),
    };
    start + 46 * past(length, 10, u64::MAX)
}

/// Weighs capitals. Words are short. A long run is usually a sequence, with one token for every two
/// letters.
const fn upper(before: Kind, length: u64) -> u64 {
    let start = match before {
        Space => 100 + 12 * past(length, 1, 12),
        Punctuation | Escape => 50 + 35 * past(length, 1, 4) + 5 * past(length, 4, 12),
        Digit => 120 + 55 * past(length, 1, 4) + 15 * past(length, 4, 12),
        Lower => 115 + 55 * past(length, 1, 4) + 15 * past(length, 4, 12),
        _ => 100 + 55 * past(length, 1, 4) + 15 * past(length, 4, 12),
    };
    start + 60 * past(length, 12, u64::MAX)
}

/// Weighs the first newline of a run. Signs and blanks absorb newlines.
const fn line_end(before: Kind) -> u64 {
    match before {
        Space | Tab | Return | Punctuation | Wide | Symbol | Shade | Control | Escape => 0,
        _ => 100,
    }
}

const fn sign(before: Kind, alone: u64, behind_another: u64) -> u64 {
    if matches!(before, Punctuation | Symbol | Shade | Escape) { behind_another } else { alone }
}

/// Returns the weight of repetitions: `each` for the first four, `many` for the others.
const fn repeats(length: u64, each: u64, many: u64) -> u64 {
    each * past(length, 1, 5) + many * past(length, 5, u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_grow_alike_after_any_kind() {
        for kind in Kind::ALL {
            for length in u64::from(FOLDED)..60 {
                let more = |before, length| weight(before, kind, length + 1) - weight(before, kind, length);
                let here = more(Start, length);
                assert!(Kind::ALL.iter().all(|&before| more(before, length) == here), "{kind:?} {length}");
                assert_eq!(here, more(Start, length + 3), "{kind:?} {length}");
            }
        }
    }

    #[test]
    fn a_longer_run_never_weighs_less() {
        for before in Kind::ALL {
            for kind in Kind::ALL {
                let weights: Vec<_> = (0..40).map(|length| weight(before, kind, length)).collect();
                assert!(weights.is_sorted(), "{before:?} {kind:?}");
            }
        }
    }
}
