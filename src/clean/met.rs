//! Equal lines that meet where a text was cut: folding would take them for repeats of the original.

use super::repeats::LONGEST;
use crate::encoding::{NEWLINE, Text, Utf16};

/// Drops all but two of three or more identical lines in a row, so that folding changes nothing. `None` if there are no
/// three.
pub fn leave_two(text: &[u16]) -> Option<Vec<u16>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut last, mut times): (&[u16], usize) = (&[], 0);
    for line in text.split_inclusive(|unit| *unit == NEWLINE) {
        let content = line.strip_suffix(&[NEWLINE]).unwrap_or(line);
        times = if times > 0 && content == last { times + 1 } else { 1 };
        last = content;
        if times < 3 || Utf16(content).size().bytes > LONGEST {
            out.extend_from_slice(line);
        }
    }
    (out.len() < text.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Options, clean};
    use proptest::prelude::*;

    fn left(text: &str) -> String {
        let units: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16(&leave_two(&units).unwrap_or(units)).unwrap()
    }

    #[test]
    fn two_stay() {
        for (text, expected) in [
            ("a\na\na\na\nb\n", "a\na\nb\n"),
            ("a\na\na", "a\na\n"),
            ("x\n\n\n\n\nx", "x\n\n\nx"),
            ("\n\n\n", "\n\n"),
            ("a\na\naa", "a\na\naa"),
            ("a\nb\na\n", "a\nb\na\n"),
            ("", ""),
        ] {
            assert_eq!(left(text), expected, "{text:?}");
        }
        let longer = "x".repeat(LONGEST + 1) + "\n";
        assert_eq!(left(&longer.repeat(4)), longer.repeat(4));
    }

    proptest! {
        #[test]
        fn folding_changes_nothing_then(lines in prop::collection::vec(prop::sample::select(vec!["a", "", "[previous line 2 more times]", "漢"]), 0..30), open in any::<bool>()) {
            let text = lines.join("\n") + if open { "" } else { "\n" };
            let left = left(&text);
            prop_assert_eq!(clean(left.as_bytes(), Options::ALL), left.into_bytes());
        }
    }
}
