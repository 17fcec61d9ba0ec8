//! Distinguishes random text from names that a person chose.

use crate::encoding::byte_table::byte_table;

/// Pairs of letters that are common in English and in names of programs.
const COMMON: &[u8] = b"th he in er an re nd on en at ou ed ha to or it is hi es ng te ar st nt se al le ve of me li ra ro ri \
io ic ne ea co de ec ct ti si ma ta om em la el ll ss us ut un ur ul tr ty ry ly ac ad ag ai am ap as av ay be bi bl bo br bu ca ce \
ch ci ck cl cr cu di do du ee ef ei ep et ev ex fa fe fi fo fr fu ga ge gh gi go gr gu ho id ie if ig il im ip ir ity iv ke ki lo lu \
mi mo mp mu na no ns nu ob oc od og ok ol oo op os ot ow pa pe pi pl po pr pu qu rd rs rt sa sc sh so sp su sy tu up ue ui va vi wa we wh wi wo";

/// Returns the place of a letter in the alphabet from 1 on, 0 for any other byte.
const fn letter(byte: u8) -> u8 {
    if byte.is_ascii_alphabetic() { (byte | 0x20) - b'a' + 1 } else { 0 }
}

/// The letters that often follow a letter, a bit for each. No bit stands for other bytes.
const PAIRS: [u32; 32] = {
    let (mut table, mut at) = ([0; 32], 0);
    while at + 1 < COMMON.len() {
        let (first, second) = (letter(COMMON[at]), letter(COMMON[at + 1]));
        if first > 0 && second > 0 {
            table[first as usize] |= 1 << second;
        }
        at += 1;
    }
    table
};

/// The kinds of bytes.
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const WORD: u8 = LETTER | DIGIT;
const CAPITAL: u8 = 4;
const HEX: u8 = 8;
const SMALL: u8 = 16;

/// The kind of each byte, and its place in the alphabet.
const KINDS: [(u8, u8); 256] = {
    const fn kind(byte: u8) -> u8 {
        byte.is_ascii_alphabetic() as u8 * LETTER
            + byte.is_ascii_digit() as u8 * DIGIT
            + byte.is_ascii_uppercase() as u8 * CAPITAL
            + byte.is_ascii_hexdigit() as u8 * HEX
            + byte.is_ascii_lowercase() as u8 * SMALL
    }
    byte_table!(byte => (kind(byte), letter(byte)))
};

/// The kinds of chars in a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Make {
    pub letters: usize,
    pub digits: usize,
    /// Number of places with a letter beside a digit.
    turns: usize,
    /// Number of pairs of letters, of common pairs, and of pairs whose case differs.
    pairs: usize,
    common: usize,
    cases: usize,
    is_hex: bool,
    /// A bit for each ASCII byte of the text.
    seen: u128,
    /// True if the text has chars beyond ASCII.
    pub is_wide: bool,
}

/// Returns a bit for each of some ASCII bytes.
pub const fn bits(bytes: &[u8]) -> u128 {
    let (mut bits, mut at) = (0, 0);
    while at < bytes.len() {
        bits |= 1 << bytes[at];
        at += 1;
    }
    bits
}

const DIGITS: u128 = bits(b"0123456789");
const CAPITALS: u128 = bits(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
/// The bit of a letter from that of its capital.
const LOWER: u32 = 32;

/// Fewest pairs of letters that tell a draw from a name without a digit.
const TOLD: usize = 12;

/// Returns true if a text has a digit, or letters enough to look random or erratic.
pub fn may_be_told(text: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| text.iter().filter(|byte| is(byte)).count();
    count(u8::is_ascii_digit) > 0 || count(u8::is_ascii_alphabetic) > TOLD
}

impl Make {
    pub fn of(text: &[u8]) -> Make {
        let (mut make, mut all, mut before, mut last) = (Make::default(), HEX, 0, 0);
        // A value stands in every few bytes of some texts, so kinds are added up without a branch.
        let [mut low, mut high] = [0u64; 2];
        for &byte in text {
            let (kind, letter) = KINDS[usize::from(byte)];
            make.letters += usize::from(kind & LETTER);
            make.digits += usize::from(kind & DIGIT > 0);
            // A letter is 1 and a digit 2, so only one of each adds up to 3.
            make.turns += usize::from((kind & WORD) + (before & WORD) == WORD);
            make.pairs += usize::from(kind & before & LETTER);
            make.common += (PAIRS[usize::from(last & 31)] >> letter & 1) as usize;
            make.cases += usize::from((before & SMALL > 0) & (kind & CAPITAL > 0));
            low |= u64::from(byte < 64) << (byte & 63);
            high |= u64::from(byte >> 6 == 1) << (byte & 63);
            make.is_wide |= !byte.is_ascii();
            (all, before, last) = (all & kind, kind, letter);
        }
        Make { is_hex: all & HEX > 0, seen: u128::from(high) << 64 | u128::from(low), ..make }
    }

    /// Returns true if the text has one of the bytes of a set, as [`bits`] makes it.
    pub fn has_any(self, set: u128) -> bool {
        self.seen & set != 0
    }

    /// Returns true if the text has no byte but those of a set.
    pub fn has_only(self, set: u128) -> bool {
        !self.is_wide && self.seen & !set == 0
    }

    /// Returns the number of different letters and digits. A letter and its capital are one.
    pub fn distinct(self) -> u32 {
        (self.seen & DIGITS | (self.seen | self.seen >> LOWER) & CAPITALS).count_ones()
    }

    pub fn is_mixed(self) -> bool {
        self.letters > 0 && self.digits > 0
    }

    /// Returns true if a text looks random.
    pub fn is_random(self) -> bool {
        let Make { letters, digits, turns, pairs, common, cases, is_hex, .. } = self;
        if letters + digits < 8 {
            return false;
        }
        let is_less = |of: usize, percent: usize| 100 * common < percent * of;
        let is_drawn = turns >= 6
            || turns >= 4 && is_less(pairs, 85)
            || cases >= 3 && is_less(pairs, 60)
            || is_hex && letters + digits >= 16 && digits >= 3 && letters >= 2
            || pairs >= 5 && is_less(pairs, 50) && (turns >= 2 || 5 * cases >= pairs);
        // Text without digits needs more evidence.
        is_drawn && digits > 0 || pairs >= TOLD && is_less(pairs, 42)
    }

    /// Returns true if letters change case more often than in a name.
    pub fn is_erratic(self) -> bool {
        self.pairs >= TOLD && self.cases >= 3 && 100 * self.common < 56 * self.pairs
    }
}

pub fn is_random(text: &[u8]) -> bool {
    Make::of(text).is_random()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_told_from_what_was_drawn() {
        for name in [
            "function_declaration1",
            "node_modules",
            "x509_certificate_v3",
            "utf8_to_utf16",
            "AuthenticationToken2",
            "password123",
            "base64EncodedString1",
            "my-service-account-2",
            "/home/user1/.docker/config",
        ] {
            assert!(!is_random(name.as_bytes()), "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn long_draws_are_random(hex in "[0-9a-f]{32}", lower in "[a-z0-9]{24}", any in "[A-Za-z0-9]{28}") {
            let found = [&hex, &lower, &any].map(|drawn| is_random(drawn.as_bytes()));
            prop_assert!(found.iter().filter(|&&found| found).count() >= 2, "{hex} {lower} {any}");
        }
    }
}
