//! Number literals. Rewritten JSON keeps their spelling, since a shorter one would lose precision.

/// Parses a literal that is spelled as an unsigned integer.
pub fn whole(spelling: &[u8]) -> Option<u64> {
    std::str::from_utf8(spelling).ok()?.parse().ok()
}

/// Returns true if the number literal is zero.
pub fn is_zero(spelling: &[u8]) -> bool {
    let digits = spelling.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.filter(|byte| byte.is_ascii_digit()).all(|digit| *digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_many_spellings() {
        for zero in ["0", "-0", "0.00", "0e9", "-0.0E+1"] {
            assert!(is_zero(zero.as_bytes()), "{zero}");
        }
        for number in ["1", "-1", "0.01", "10", "1e-9"] {
            assert!(!is_zero(number.as_bytes()), "{number}");
        }
        assert_eq!((whole(b"17"), whole(b"-1"), whole(b"1.0"), whole(b"1e3")), (Some(17), None, None, None));
    }
}
