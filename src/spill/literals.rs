//! Texts of which every match of a regular expression holds one, read off expressions that are simple.
//!
//! The engine takes 70 ns a byte; most of what models search for, such as `error|FAILED.*`, can be ruled out of most lines
//! at the speed of memory.

/// Shortest text that rules out enough lines.
const SHORTEST: usize = 3;

/// Returns one text for each alternative; none where groups, classes or counts make that hard to tell.
pub fn literals(regex: &str) -> Vec<String> {
    let mut all = vec![];
    let (mut run, mut longest) = (String::new(), String::new());
    let mut chars = regex.chars();
    loop {
        let next = chars.next();
        let literal = match next {
            Some('(' | ')' | '[' | ']' | '{' | '}' | char::REPLACEMENT_CHARACTER) => return vec![],
            Some('\\') => match chars.next() {
                // The last two are the start and the end of a word.
                Some('b' | 'B' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' | '<' | '>') => None,
                Some(escaped) if escaped.is_ascii_punctuation() => Some(escaped),
                // A char by its number, or an error.
                _ => return vec![],
            },
            Some('*' | '?') => {
                run.pop();
                None
            }
            // What is repeated once or more is optional again where that is repeated.
            Some('+') if is_repeated(chars.as_str()) => return vec![],
            None | Some('.' | '^' | '$' | '+' | '|') => None,
            literal => literal,
        };
        if let Some(literal) = literal {
            run.push(literal);
            continue;
        }
        if run.len() > longest.len() {
            longest = std::mem::take(&mut run);
        }
        run.clear();
        if matches!(next, None | Some('|')) {
            if longest.len() < SHORTEST {
                return vec![];
            }
            all.push(std::mem::take(&mut longest));
        }
        if next.is_none() {
            return all;
        }
    }
}

/// Whether a repetition, lazy or not, is followed by another.
fn is_repeated(rest: &str) -> bool {
    rest.strip_prefix('?').unwrap_or(rest).starts_with(['*', '+', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex_lite::Regex;

    #[test]
    fn each_alternative_gives_its_longest() {
        for (regex, expected) in [
            ("error", vec!["error"]),
            (r"error\[E\d+\]", vec!["error[E"]),
            (r"^\s+at |\bFAILED\b", vec!["at ", "FAILED"]),
            ("colou?r: .*blue", vec!["colo"]),
            ("ab+cde", vec!["cde"]),
            ("abcd+?e", vec!["abcd"]),
            ("abcd+*e", vec![]),
            ("abcd+??e", vec![]),
            ("abcd+?*e", vec![]),
            (r"\<error\>", vec!["error"]),
            ("error|no", vec![]),
            ("error|", vec![]),
            ("(?i)error", vec![]),
            ("[Ee]rror", vec![]),
            ("erro{2}r", vec![]),
            (r"\x65rror", vec![]),
        ] {
            assert_eq!(literals(regex), expected, "{regex}");
        }
    }

    proptest! {
        #[test]
        fn every_match_holds_one(
            regex in r"(aab[*+?]{0,3}|[ab.|é^$]|\\[.bdw<>]){0,4}[*+?]{0,2}",
            text in "(aab?|[ab.1é]){0,20}",
        ) {
            let Ok(compiled) = Regex::new(&regex) else { return Ok(()) };
            let all = literals(&regex);
            for found in compiled.find_iter(&text) {
                prop_assert!(all.is_empty() || all.iter().any(|one| found.as_str().contains(one)), "{all:?}");
            }
        }
    }
}
