//! Rows that keep their length, in files whose bytes other files count.
//!
//! Codex CLI notes places in a rollout elsewhere: a fork has the offset at which its parent ends
//! for it, and the database of the threads has the offset of each turn and of the end that it has
//! read. After a repair that makes such a file shorter, forks do not open, and new ones are
//! refused: the rollout "shrank before projection". So no row may start at another place than
//! before. JSON permits blanks behind a value, so a row that gets shorter is filled up with them
//! before its newline. No row is added, removed, split or joined, and a row that would get longer
//! stays as it is. Only a file without a last newline grows by that, at its end, as with the next
//! row.

/// Fills a new row up to the length of the old one. Returns `None` if it is longer.
pub fn filled(new: &[u8], old: &[u8]) -> Option<Vec<u8>> {
    let missing = old.len().checked_sub(new.len())?;
    let (json, end) = new.split_at(new.trim_ascii_end().len());
    Some([json, &vec![b' '; missing], end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_row_keeps_its_length_and_its_value(long in "[a-z]{0,40}", short in "[a-z]{0,40}", end in prop::sample::select(vec!["", "\n", "\r\n", " \n"])) {
            let [old, new] = [&long, &short].map(|text| format!("{{\"a\":\"{text}\"}}{end}"));
            let found = filled(new.as_bytes(), old.as_bytes());
            prop_assert_eq!(found.is_some(), short.len() <= long.len());
            if let Some(row) = found {
                prop_assert_eq!(row.len(), old.len());
                prop_assert!(row.ends_with(end.as_bytes()) && Document::parse(&row).is_some());
                let without: Vec<u8> = row.into_iter().filter(|byte| *byte != b' ').collect();
                prop_assert_eq!(without, new.replace(' ', "").into_bytes());
            }
        }
    }
}
