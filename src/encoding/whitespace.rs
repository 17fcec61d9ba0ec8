//! White space as JavaScript defines it: that of Unicode, plus U+FEFF, minus U+0085.

/// Returns true if `trim` of JavaScript removes the char.
pub fn is_space(point: char) -> bool {
    point == '\u{FEFF}' || point.is_whitespace() && point != '\u{85}'
}

/// Returns true if any char is not white space.
pub fn is_visible(mut text: impl Iterator<Item = char>) -> bool {
    text.any(|point| !is_space(point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_matches_trim_of_javascript() {
        let spaces: String = ('\0'..=char::MAX).filter(|&point| is_space(point)).collect();
        let expected = "\t\n\u{B}\u{C}\r \u{A0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\
            \u{2007}\u{2008}\u{2009}\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
        assert_eq!(spaces, expected);
    }
}
