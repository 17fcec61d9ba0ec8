//! The words of other scripts than ASCII: those with spaces, in lower case, and those without, by
//! pairs of chars.

use std::sync::LazyLock;

use super::words::{SHORTEST, Word};

/// From here on, scripts are written without spaces.
pub const WITHOUT_SPACES: char = '\u{2E80}';

/// Passes on a word in another script: in one without spaces, each pair of characters.
pub fn wide_word(text: &[u8], each: &mut impl FnMut(Word, &[u8])) {
    let text = String::from_utf8_lossy(text);
    let mut spaced = String::with_capacity(text.len());
    let mut before = None;
    for (at, letter) in text.char_indices() {
        if letter < WITHOUT_SPACES {
            push_lower(letter, &mut spaced);
            before = None;
            continue;
        }
        let is_dense = is_dense(letter);
        if let Some(before) = before.filter(|_| is_dense) {
            let pair = &text.as_bytes()[before..at + letter.len_utf8()];
            each(Word::lower(pair), pair);
        }
        before = is_dense.then_some(at);
    }
    if spaced.len() >= SHORTEST {
        each(Word::lower(spaced.as_bytes()), spaced.as_bytes());
    }
}

/// Returns true for a letter or digit of a script without spaces. Most are in a few ranges, which
/// are tested first.
fn is_dense(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
        || letter.is_alphanumeric()
}

/// Adds a letter or digit of a script with spaces in lower case, and nothing for another char.
fn push_lower(letter: char, text: &mut String) {
    /// The lower case of each letter and digit, 0 for other chars. The tables of std take ten times
    /// as long.
    static LOWER: LazyLock<Box<[u16]>> = LazyLock::new(|| {
        ('\0'..WITHOUT_SPACES).map(|letter| lower(letter).map_or(0, |lower| lower as u16)).collect()
    });
    match char::from_u32(u32::from(LOWER[letter as usize])) {
        Some('\0') | None => {}
        Some(lower) => text.push(lower),
    }
    if letter == DOTTED {
        text.push('\u{307}');
    }
}

/// The one letter with a lower case of two chars: an i, and a dot above.
const DOTTED: char = 'İ';

fn lower(letter: char) -> Option<char> {
    letter.is_alphanumeric().then(|| letter.to_lowercase().next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_unicode() {
        for letter in '\0'..=char::MAX {
            let mut text = String::new();
            if letter < WITHOUT_SPACES {
                push_lower(letter, &mut text);
                let lower = letter.to_lowercase().filter(|_| letter.is_alphanumeric());
                assert_eq!(text, lower.collect::<String>(), "{letter:?}");
            } else {
                assert_eq!(is_dense(letter), letter.is_alphanumeric(), "{letter:?}");
            }
        }
    }
}
