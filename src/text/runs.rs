//! Runs of code points of one kind, and what a tokenizer makes of them.
//!
//! Tokenizers of today split text much alike before they look into their vocabulary: at spaces, which go to the word
//! behind them; between letters, digits and signs; where a capital follows a small letter. Of the pieces, common words
//! are one token, digits one for every three, a rule of dashes one or two, and the rest goes by its length, which
//! differs from script to script. So a run is weighed by its kind, its length and the kind of the run before it. The
//! weights were fitted to o200k_base, a little upwards, over more kinds of text than `npm run bench:tokens` shows.

use super::kind::Kind::{self, *};
use super::kind::{LOW, LOW_KINDS};

/// Weights are in this part of a token.
pub const TOKEN: u64 = 100;

/// So many code points in a row of one kind, or of one sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The kind, and above its eight bits the code point of a sign.
    key: u32,
    /// Folded: see [`fold`].
    length: u8,
}

/// Where lengths begin to be folded. From here on what one more code point weighs depends on nothing but the kind and,
/// of digits, the length modulo three; so what folding takes away weighs the same wherever the run stands.
const FOLDED: u8 = 13;
const LENGTHS: usize = FOLDED as usize + 3;

/// A length that weighs more code points as the length itself does.
const fn fold(length: u8) -> u8 {
    if length < LENGTHS as u8 { length } else { FOLDED + (length - FOLDED) % 3 }
}

impl Run {
    /// A run of one, and what its letter adds to the weight of any word that has it.
    #[inline]
    pub fn of(point: char) -> (Run, u64) {
        let entry = match point as usize {
            low @ ..LOW => LOW_KEYS[low],
            high => key(point as u32, Kind::of_high(high)),
        };
        (Run { key: entry & KEY, length: 1 }, FOREIGN * u64::from(entry >> KEY.count_ones()))
    }

    #[inline]
    pub fn kind(self) -> Kind {
        Kind::ALL[self.key as usize & 0xFF]
    }

    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Whether both are one run where they meet.
    #[inline]
    pub fn joins(self, other: Run) -> bool {
        self.key == other.key
    }

    /// The run with one more code point.
    #[inline]
    pub fn grown(self) -> Run {
        let length = if self.length + 1 == LENGTHS as u8 { FOLDED } else { self.length + 1 };
        Run { length, ..self }
    }

    pub fn join(self, other: Run) -> Run {
        Run { length: fold(self.length + other.length), ..self }
    }

    /// What the last code point adds to the weight of a run that comes after one of another kind, or sign.
    #[inline]
    pub fn step(self, before: Kind) -> u64 {
        STEPS[before as usize & 31][self.key as usize & 31][self.length as usize & 15].into()
    }

    /// The weight of a run of the folded length.
    pub fn weight(self, before: Kind) -> u64 {
        weight(before, self.kind(), self.length.into())
    }

    /// What `other`, which joins it, adds to its weight.
    pub fn weight_of_more(self, other: Run, before: Kind) -> u64 {
        weight(before, self.kind(), (self.length + other.length).into()) - self.weight(before)
    }

    /// Takes up a run that was left with [`Run::to_state`].
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

/// The bits of a key. In those above it an entry of the table says how foreign a letter is.
const KEY: u32 = u32::MAX >> 2;

/// What a letter adds that is foreign in the first degree.
const FOREIGN: u64 = 11;

/// Keys of code points. Vocabularies know English best: letters that it has less often than other languages that are
/// written in ASCII tell of words that are in parts.
static LOW_KEYS: [u32; LOW] = {
    let mut keys = [0; LOW];
    let mut at = 0;
    while at < LOW {
        let foreign = match at as u8 as char {
            'j' | 'k' | 'z' if at < 0x80 => 3,
            'w' | 'y' if at < 0x80 => 2,
            _ => 0,
        };
        keys[at] = foreign << KEY.count_ones() | key(at as u32, LOW_KINDS[at]);
        at += 1;
    }
    keys
};

/// What each code point adds: by the kind before the run, the kind of the run, and the place in it. Places are padded to
/// powers of two, which makes the table as fast as it is.
static STEPS: [[[u16; LENGTHS]; 32]; 32] = {
    let mut steps = [[[0; LENGTHS]; 32]; 32];
    let mut before = 0;
    while before < Kind::ALL.len() {
        let mut kind = 0;
        while kind < Kind::ALL.len() {
            let mut length = 1;
            while length < LENGTHS {
                let (before_it, all) = (Kind::ALL[before], Kind::ALL[kind]);
                let less = weight(before_it, all, length as u64 - 1);
                steps[before][kind][length] = (weight(before_it, all, length as u64) - less) as u16;
                length += 1;
            }
            kind += 1;
        }
        before += 1;
    }
    steps
};

/// The weight of a run of this kind and length.
const fn weight(before: Kind, kind: Kind, length: u64) -> u64 {
    if length == 0 {
        return 0;
    }
    match kind {
        Start => 0,
        // The last of several spaces goes to what follows.
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
        // One goes to the quote that it escapes; several are escaped themselves, and go to nothing.
        Escape => sign(before, 100, 50) + 70 * past(length, 1, 2) + 25 * past(length, 2, u64::MAX),
        Emoji => 180 * length,
        Astral => 300 * length,
    }
}

/// Letters of `length` after the first `from` of them, up to the letter `to`.
const fn past(length: u64, from: u64, to: u64) -> u64 {
    (if length < to { length } else { to }).saturating_sub(from)
}

/// One token, and more for each letter after the first few.
const fn word(length: u64, few: u64, each: u64) -> u64 {
    TOKEN + each * length.saturating_sub(few)
}

/// Small letters. Words that follow a space are in the vocabulary more often than any others; letters beside digits, as
/// in hashes, are hardly ever.
const fn lower(before: Kind, length: u64) -> u64 {
    let start = match before {
        // Words of seven letters and more are seldom English, and what is not is in parts.
        Space => 100 + 16 * past(length, 4, 7) + 44 * past(length, 7, 10),
        Digit => 100 + 45 * past(length, 1, 10),
        Upper => 15 + 8 * past(length, 3, 10),
        Accented | Extended => 20 + 18 * past(length, 1, 10),
        // Words of Vietnamese are short, and in the vocabulary.
        Toned => 10 + 15 * past(length, 2, 10),
        Mark => 60 + 20 * past(length, 2, 10),
        // A word takes one sign before it along.
        Punctuation | Escape => 40 + 13 * past(length, 3, 10),
        _ => 100 + 13 * past(length, 3, 10),
    };
    start + 46 * past(length, 10, u64::MAX)
}

/// Capitals. Words are short; a long row of them is a sequence, of which a token takes two.
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

/// Signs take newlines along, and so do blanks.
const fn line_end(before: Kind) -> u64 {
    match before {
        Space | Tab | Return | Punctuation | Wide | Symbol | Shade | Control | Escape => 0,
        _ => 100,
    }
}

const fn sign(before: Kind, alone: u64, behind_another: u64) -> u64 {
    if matches!(before, Punctuation | Symbol | Shade | Escape) { behind_another } else { alone }
}

/// The same sign again, for the first four times and after them.
const fn repeats(length: u64, each: u64, many: u64) -> u64 {
    each * past(length, 1, 5) + many * past(length, 5, u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_goes_on_alike_whatever_stands_before_it() {
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
