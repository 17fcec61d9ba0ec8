//! Distinguishes random text from names that a person chose.

/// Pairs of letters that are common in English and in names of programs.
const COMMON: &[u8] = b"th he in er an re nd on en at ou ed ha to or it is hi es ng te ar st nt se al le ve of me li ra ro ri \
io ic ne ea co de ec ct ti si ma ta om em la el ll ss us ut un ur ul tr ty ry ly ac ad ag ai am ap as av ay be bi bl bo br bu ca ce \
ch ci ck cl cr cu di do du ee ef ei ep et ev ex fa fe fi fo fr fu ga ge gh gi go gr gu ho id ie if ig il im ip ir ity iv ke ki lo lu \
mi mo mp mu na no ns nu ob oc od og ok ol oo op os ot ow pa pe pi pl po pr pu qu rd rs rt sa sc sh so sp su sy tu up ue ui va vi wa we wh wi wo";

const fn table() -> [u32; 26] {
    let (mut table, mut at) = ([0; 26], 0);
    while at + 1 < COMMON.len() {
        let (first, second) = (COMMON[at], COMMON[at + 1]);
        if first != b' ' && second != b' ' {
            table[(first - b'a') as usize] |= 1 << (second - b'a');
        }
        at += 1;
    }
    table
}

const PAIRS: [u32; 26] = table();

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
}

impl Make {
    pub fn of(text: &[u8]) -> Make {
        let mut make = Make { is_hex: true, ..Make::default() };
        let mut last = b' ';
        for &byte in text {
            if byte.is_ascii_alphabetic() {
                make.letters += 1;
                make.turns += usize::from(last.is_ascii_digit());
                if last.is_ascii_alphabetic() {
                    let [first, second] = [last, byte].map(|letter| letter.to_ascii_lowercase() - b'a');
                    make.pairs += 1;
                    make.common += usize::from(PAIRS[usize::from(first)] >> second & 1 == 1);
                    make.cases += usize::from(last.is_ascii_lowercase() && byte.is_ascii_uppercase());
                }
            } else if byte.is_ascii_digit() {
                make.digits += 1;
                make.turns += usize::from(last.is_ascii_alphabetic());
            }
            make.is_hex &= byte.is_ascii_hexdigit();
            last = byte;
        }
        make
    }

    pub fn is_mixed(self) -> bool {
        self.letters > 0 && self.digits > 0
    }

    /// Returns true if a text looks random.
    pub fn is_random(self) -> bool {
        let Make { letters, digits, turns, pairs, common, cases, is_hex } = self;
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
        is_drawn && digits > 0 || pairs >= 12 && is_less(pairs, 42)
    }

    /// Returns true if letters change case more often than in a name.
    pub fn is_erratic(self) -> bool {
        self.pairs >= 12 && self.cases >= 3 && 100 * self.common < 56 * self.pairs
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
