//! The likeness of a file to its backup, for backups without a note: what a repair may have made of
//! the old rows, and what cannot come from one.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufRead, BufReader};

use super::conversation::Conversation;
use super::failure::Failure;
use super::progress::Progress;
use super::replacement::CHUNK;
use super::row_format::is_blank;
use super::session_file::SessionFile;
use crate::json::{Document, Value, equal};
use crate::slots::side_data::MORE;

/// Returns the rows or messages of the session behind those that a repair may have made of its
/// backup, or `None` if it has others.
pub fn appended_since(
    session: &SessionFile,
    backup: &SessionFile,
    progress: &Progress,
) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    if let Some((now, then)) = Conversation::read(session)?.zip(Conversation::read(backup)?) {
        let (old, mut new) = (then.from(0), now.from(0));
        let is_like = old.len() <= new.len() && new.iter().zip(&old).all(|(a, b)| may_come_from(a, b));
        return Ok(is_like.then(|| new.split_off(old.len())));
    }
    if session.document.is_some() || backup.document.is_some() {
        return Ok(None);
    }
    session.from(0, |now| {
        backup.from(0, |then| {
            let [mut now, mut then] = [now, then].map(|file| BufReader::with_capacity(CHUNK, file));
            while let Some(old) = full_row(&mut then)? {
                progress.step()?;
                if !full_row(&mut now)?.is_some_and(|new| may_come_from(&new, &old)) {
                    return Ok(None);
                }
            }
            let mut rows = vec![];
            while let Some(row) = full_row(&mut now)? {
                rows.push(row);
            }
            Ok(Some(rows))
        })
    })
}

/// Reads the next row that is not blank.
fn full_row(file: &mut BufReader<&fs::File>) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut row = vec![];
        if file.read_until(b'\n', &mut row)? == 0 {
            return Ok(None);
        }
        if !is_blank(&row) {
            return Ok(Some(row));
        }
    }
}

/// Returns true if a repair may have made one row of another: it shortens strings, leaves out
/// members and elements, and changes no name and no other value.
fn may_come_from(new: &[u8], old: &[u8]) -> bool {
    if new.trim_ascii_end() == old.trim_ascii_end() {
        return true;
    }
    let (Some(new), Some(old)) = (Document::parse(new), Document::parse(old)) else { return false };
    let mut pairs = vec![(new.root(), old.root())];
    while let Some((new, old)) = pairs.pop() {
        if new.is_object() && old.is_object() {
            let then: HashMap<String, Value> = named(old).collect();
            for (name, member) in named(new) {
                match then.get(&name) {
                    Some(then) => pairs.push((member, *then)),
                    None if name == MORE => {}
                    None => return false,
                }
            }
        } else if new.is_list() && old.is_list() {
            if new.elements().count() > old.elements().count() {
                return false;
            }
            pairs.extend(new.elements().zip(old.elements()));
        } else {
            let is_cut = new.text().zip(old.text()).is_some_and(|(new, old)| new.len() < old.len());
            if !is_cut && !equal(new, old) {
                return false;
            }
        }
    }
    true
}

fn named<'d>(object: Value<'d>) -> impl Iterator<Item = (String, Value<'d>)> {
    object.members().filter_map(|member| Some((member.name()?.string()?, member)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_only_shortens_strings_and_leaves_out_parts() {
        let old = br#"{"type":"message","id":"a","n":1,"message":{"content":["long","x"]},"content":"a long text"}"#;
        let cases: [(&[u8], bool); 11] = [
            (old, true),
            (br#"{"type":"message","id":"a","n":1,"message":{"content":["l"]},"content":"a lo"}"#, true),
            (br#"{"type":"message","id":"a","n":1,"message":{}}"#, true),
            (br#"{"type":"message","id":"a","n":1,"message":{"[...]":"more"}}"#, true),
            (br#"{"type":"message","id":"a","n":1,"message":{"content":["other text"]}}"#, false),
            (br#"{"type":"message","id":"a","n":1,"message":{"content":["l","x","y"]}}"#, false),
            (br#"{"type":"message","id":"b","n":1,"message":{},"content":"a long text"}"#, false),
            (br#"{"type":"message","id":"a","n":2,"message":{},"content":"a long text"}"#, false),
            (
                br#"{"type":"message","id":"a","n":1,"message":{},"content":"a longer text than before"}"#,
                false,
            ),
            (br#"{"type":"message","id":"a","new":1}"#, false),
            (b"{\"type\":\"mess", false),
        ];
        for (new, is_same) in cases {
            assert_eq!(may_come_from(new, old), is_same, "{}", String::from_utf8_lossy(new));
        }
    }
}
