//! Tells the lines of prose, whose words of failure tell of no failure of their own.

/// Bytes of the shortest line of prose, and of those that are read.
const LEAST: usize = 40;
const READ: usize = 200;

/// One byte of so many may be a digit or a sign that prose seldom has, and one of so many at least
/// ends a word where words are apart.
const SIGNS: usize = 16;
const WORD: usize = 12;

/// Returns true if a line is a part of a sentence in any language: letters, blanks between words,
/// few other signs, and no label in front. Most lines of programs have names with signs and
/// numbers.
pub fn is_prose(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let read = &line[..line.len().min(READ)];
    let first = read.split(|byte| *byte == b' ').next().unwrap_or_default();
    if matches!(first.last(), Some(b':' | b']')) {
        return false;
    }
    let (mut signs, mut blanks, mut letters) = (0, 0, 0);
    for byte in read {
        match byte {
            b' ' => blanks += 1,
            b'a'..=b'z' | b'A'..=b'Z' => letters += 1,
            0x80.. | b'.' | b',' | b'\'' | b'`' | b'*' | b'#' | b'?' | b'!' => {}
            _ => signs += 1,
        }
    }
    read.len() >= LEAST && signs * SIGNS <= read.len() && blanks * WORD >= letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sentences_of_any_words_are_prose(
            words in prop_oneof![
                prop::collection::vec("[a-z]{1,9}", 20..40),
                prop::collection::vec("[а-я]{1,12}", 20..40),
                prop::collection::vec("[가-힣]{1,4}", 20..40),
            ],
            mark in prop::sample::select(&["", "- ", "## ", "> ", "1. "][..]),
            end in prop::sample::select(&["", ".", ":", "?"][..]),
        ) {
            let line = format!("{mark}{}{end}\n", words.join(" "));
            prop_assert!(is_prose(line.as_bytes()));
        }
    }

    #[test]
    fn sentences_are_prose() {
        for line in [
            "The default timeout is thirty seconds, and a request that exceeds it fails.",
            "- `timeout`: the time after which a request is aborted with an *error*",
            "設定を読み込み中に接続先の処理を終了して結果を一覧へ書き出す。",
        ] {
            assert!(is_prose(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn lines_of_programs_are_not() {
        for line in [
            "",
            "error: build failed",
            "[WARNING]: Found a variable that uses the name of another one",
            "fatal: the file could not be written to the folder of the user",
            "src/a.rs:12:3: error: mismatched types in a call of it",
            "npm ERR! code ELIFECYCLE npm ERR! errno 1 npm ERR! a@1.0.0 test",
            "step 12 of 3000 copies block 7919 of part 37 to the store 4",
            "    const total = price(basket, ledger) * tariff[depot] + 1;",
            "{\"name\":\"harbor\",\"tags\":[\"quay\"],\"open\":true,\"size\":12}",
            "anna,brix,cove,dune,elms,ford,gate,hill,isle,june,knot",
        ] {
            assert!(!is_prose(line.as_bytes()), "{line}");
        }
    }
}
