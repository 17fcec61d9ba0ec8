//! The changes, made to one row after the other.

use std::collections::HashSet;

use super::RowChanges;
use crate::json::{Document, Value, string};
use crate::session::row_format::RowEntry;
use crate::session::rows::{Row, RowReader};
use crate::session::splice::Splices;

/// Members that name a row, beside that of the row before.
pub const NAMING: [&str; 4] = ["firstKeptEntryId", "targetId", "leafUuid", "logicalParentUuid"];

impl RowChanges {
    /// Takes the next row of the session. Returns the rows in its place, or `None` if it stays as
    /// it is.
    pub fn in_place_of(&self, bytes: &[u8], reading: &mut RowReader) -> Option<Vec<Vec<u8>>> {
        if self.messages.is_empty() {
            return None;
        }
        let mark = &bytes[..reading.mark_in(bytes)];
        let mut rows = self.rows(&reading.next(bytes)?)?;
        if let Some(first) = rows.first_mut().filter(|_| !mark.is_empty()) {
            *first = [mark, first].concat();
        }
        Some(rows)
    }

    fn rows(&self, row: &Row) -> Option<Vec<Vec<u8>>> {
        let is_linked = !self.followed.is_empty() || !self.skipped.is_empty();
        if !self.rows.contains(&row.number) && !is_linked {
            return None;
        }
        let document = row.document_on_node()?;
        let entry = row.entry(&document);
        let is_emptied = |message: Value, nth: u32| {
            let change = self.messages.get(&(row.number, nth));
            self.rules.zip(change).is_some_and(|(rules, change)| change.words.empties(rules, message))
        };
        let messages = entry.messages.iter().zip(0..);
        let emptied: HashSet<u32> =
            messages.filter(|(message, nth)| is_emptied(**message, *nth)).map(|(_, nth)| nth).collect();
        let named = self.with_words(row, &entry);
        let named_document = named.as_ref().and_then(|named| Document::parse(named));
        let (document, entry) = match &named_document {
            Some(named) => (named, entry.again(named.root())),
            None => (&document, entry),
        };
        let mut splices = Splices::default();
        let (mut goes, mut after) = (false, vec![]);
        for (message, nth) in entry.messages.iter().copied().zip(0..) {
            let Some(change) = self.messages.get(&(row.number, nth)) else { continue };
            if let (Some(list), Some(rules)) = (&change.list, self.rules) {
                write_list(&mut splices, message, &rules.list, list);
            }
            let is_gone = change.is_gone || emptied.contains(&nth);
            if row.format.is_document() {
                if is_gone {
                    splices.remove(message);
                }
                change.after.iter().for_each(|json| splices.insert_after(message, json.clone()));
            } else {
                goes |= is_gone;
                after.extend(&change.after);
            }
        }
        self.follow(&mut splices, row.number, &entry);
        let own = match (splices.is_empty(), named.clone()) {
            _ if goes => None,
            (true, None) if after.is_empty() => return None,
            (true, Some(named)) => Some(named),
            (true, None) => Some(row.text.to_vec()),
            (false, _) => Some(splices.written_row(document.root())),
        };
        Some(followed(own, &after, row.text.ends_with(b"\n")))
    }

    /// Returns a row with the ids and the names that change.
    pub(super) fn with_words(&self, row: &Row, entry: &RowEntry) -> Option<Vec<u8>> {
        let rules = self.rules.filter(|_| self.rows.contains(&row.number))?;
        let mut splices = Splices::default();
        for (message, nth) in entry.messages.iter().copied().zip(0..) {
            if let Some(change) = self.messages.get(&(row.number, nth)) {
                change.words.write(&mut splices, rules, message);
            }
        }
        (!splices.is_empty()).then(|| splices.written_row(entry.root))
    }

    /// Makes a row follow the new one after the row that it names. For a row that goes, it names
    /// the one before.
    fn follow(&self, splices: &mut Splices, number: u64, entry: &RowEntry) {
        // Rows without a message are in the chain too.
        let Some([_, parent]) = self.chain else { return };
        let named = |name: &str| entry.root.get(name).and_then(|named| Some((named, named.string()?)));
        for (value, id) in NAMING.into_iter().filter_map(named) {
            let skipped = self.skipped.get(&id).filter(|_| !self.moved.contains(&id));
            if let Some(before) = skipped {
                splices.replace(value, before.as_ref().map_or("null".to_owned(), |id| string(id)));
            }
        }
        let Some((value, first)) = named(parent) else { return };
        let Some(target) = self.skipped.get(&first).cloned().unwrap_or(Some(first.clone())) else {
            return splices.replace(value, "null".to_owned());
        };
        let is_on = || self.branch.as_ref().is_none_or(|branch| branch.holds(number));
        let last = self.followed.get(&target).filter(|(anchor, _)| number > *anchor && is_on());
        let to = last.map_or(target, |(_, last)| last.clone());
        if to != first {
            splices.replace(value, string(&to));
        }
    }
}

/// Puts rows after another. The last row of a file may have no newline.
fn followed(own: Option<Vec<u8>>, after: &[&String], has_end: bool) -> Vec<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = own.into_iter().collect();
    for json in after {
        if let Some(last) = rows.last_mut().filter(|_| !has_end) {
            last.push(b'\n');
        }
        rows.push([json.as_bytes(), if has_end { b"\n" } else { b"" }].concat());
    }
    rows
}

/// Writes a list of blocks. If none is new, the others stay as they are.
fn write_list(splices: &mut Splices, message: Value, name: &str, list: &[Result<u32, String>]) {
    let old = message.get(name).filter(|old| old.is_list());
    let blocks: Vec<Value> = old.map_or(vec![], |old| old.elements().collect());
    let is_shorter = list.iter().all(Result::is_ok);
    if is_shorter && !list.is_empty() {
        let stay: HashSet<u32> = list.iter().filter_map(|block| block.as_ref().ok()).copied().collect();
        let gone = blocks.iter().zip(0..).filter(|(_, index)| !stay.contains(index));
        return gone.for_each(|(block, _)| splices.remove(*block));
    }
    let json = list.iter().filter_map(|block| match block {
        Ok(index) => {
            blocks.get(*index as usize).map(|block| String::from_utf8_lossy(block.source()).into_owned())
        }
        Err(json) => Some(json.clone()),
    });
    splices.set(message, name, format!("[{}]", json.collect::<Vec<_>>().join(",")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::pairs::changes::tests::paired;

    #[test]
    fn rows_that_follow_name_the_new_one() {
        let call = r#"{"type":"message","id":"0000000a","parentId":null,"timestamp":"T","version":1,"message":{"role":"assistant","timestamp":1,"content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}}"#;
        let next = r#"{"type":"message","id":"0000000b","parentId":"0000000a","timestamp":"U","version":1,"message":{"role":"user","content":"x"}}"#;
        let (left, paired_calls, _) = paired(&[r#"{"type":"session","version":3,"id":"s"}"#, call, next]);
        assert_eq!((left.len(), paired_calls), (4, 1));
        let new = &left[2];
        assert!(new.contains(r#""parentId":"0000000a""#) && new.contains(r#""toolCallId":"c1""#), "{new}");
        // The members that all rows have.
        assert!(new.contains(r#""timestamp":1"#) && new.contains(r#""timestamp":"T""#), "{new}");
        assert!(new.ends_with(r#""version":1}"#), "{new}");
        let id = Document::parse(new.as_bytes()).unwrap().root().get("id").and_then(Value::string).unwrap();
        assert_eq!(left[3], next.replace("0000000a", &id));
        let all: Vec<&str> = left.iter().map(String::as_str).collect();
        assert_eq!(paired(&all), (left.clone(), 0, 0));
    }

    #[test]
    fn results_without_a_call_go_with_their_row_only_if_nothing_else_is_in_it() {
        let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}"#);
        let row = |id: &str, parent: &str, blocks: &[String]| {
            let blocks = blocks.join(",");
            format!(
                r#"{{"parentUuid":{parent},"type":"user","message":{{"role":"user","content":[{blocks}]}},"uuid":"{id}"}}"#
            )
        };
        let text = r#"{"type":"text","text":"on"}"#.to_owned();
        let rows = [
            row("a", "null", &[result("gone1"), result("gone2")]),
            r#"{"type":"system","uuid":"d","parentUuid":"a","logicalParentUuid":"a"}"#.to_owned(),
            row("b", "\"d\"", &[result("gone3"), text.clone()]),
            r#"{"type":"summary","summary":"s","leafUuid":"b"}"#.to_owned(),
        ];
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        let (left, _, _) = paired(&all);
        assert_eq!(left[0], r#"{"type":"system","uuid":"d","parentUuid":null,"logicalParentUuid":null}"#);
        assert_eq!(left[1], row("b", "\"d\"", &[text]));
        assert_eq!(left[2], rows[3]);
        // A copy of a row that goes would come back as this.
        let (left, _, _) = paired(&[all[0], all[0], all[1], all[2]]);
        assert_eq!(left.len(), 2);
    }

    #[test]
    fn an_open_part_goes_if_a_later_part_of_its_call_is_there() {
        let message = |parts: &str| format!(r#"{{"role":"assistant","parts":[{parts}]}}"#);
        let open = r#"{"type":"tool-read","toolCallId":"c1","state":"input-available","input":{}}"#;
        let done =
            r#"{"type":"tool-read","toolCallId":"c1","state":"output-available","input":{},"output":"x"}"#;
        let text = r#"{"type":"text","text":"look"}"#;
        let rows = [message(open), message(&[text, ",", open, ",", open].concat()), message(done)];
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        let (left, paired_calls, _) = paired(&all);
        assert_eq!((left, paired_calls), (vec![message(text), rows[2].clone()], 3));
    }
}
