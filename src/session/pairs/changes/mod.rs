//! The repair of a history as changes of its rows: ids and names here, the places of messages in
//! `lay_out`. `apply` makes the changes as the rows pass by.

mod apply;
mod lay_out;

pub use apply::NAMING;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::pieces::{Maker, naming};
use super::reading::{Reading, is_apart};
use super::word_changes::{AnswerWords, WordChanges};
use crate::dialect::PairRules;
use crate::hash::hash;
use crate::pairs::arrangement::{Arrangement, Freedom, Orphans, PairCounts};
use crate::pairs::pairing::Pairing;
use crate::pairs::plan::Plan;
use crate::pairs::records::{Answer, Records};
use crate::pairs::renames::Renames;
use crate::session::active_branch::Branch;
use crate::session::failure::Failure;
use crate::session::progress::Progress;
use crate::session::rewrite_row::RowOptions;
use crate::session::session_file::SessionFile;

/// The number of a row, and the place of a message in it.
type MessagePlace = (u64, u32);

#[derive(Debug, Default)]
pub struct RowChanges {
    rules: Option<&'static PairRules>,
    /// Bytes of the session that were read.
    read: u64,
    messages: HashMap<MessagePlace, MessageChange>,
    /// The rows with a change.
    rows: HashSet<u64>,
    /// The members with the id of a row and that of the row before it.
    chain: Option<&'static [String; 2]>,
    branch: Option<Branch>,
    /// The last new row after a row, with the number of that.
    followed: HashMap<String, (u64, String)>,
    /// The rows that go, and those that move, each with the row before it that stays. The first row
    /// has none before it.
    skipped: HashMap<String, Option<String>>,
    moved: HashSet<String>,
    /// Calls that get a result.
    pub paired: u64,
    /// Calls without a result that the format has no way to give one.
    pub unpaired: u64,
    /// Results without a call, and second ones of a call, which go, and those that the format has
    /// no way to remove.
    pub orphans: u64,
    pub strays: u64,
    /// Results that move to their calls, ids and names that change, and turns that become one.
    pub rearranged: u64,
}

#[derive(Debug, Default)]
struct MessageChange {
    words: WordChanges,
    /// The blocks of its new list: those at an index of the old one, or new ones.
    list: Option<Vec<Result<u32, String>>>,
    is_gone: bool,
    /// Messages or rows that come after it.
    after: Vec<String>,
}

impl MessageChange {
    /// Returns true if the message itself changes.
    fn is_of_its_own(&self) -> bool {
        let WordChanges { calls, answers, closes, gone } = &self.words;
        self.is_gone
            || self.list.is_some()
            || *closes
            || !gone.is_empty()
            || !calls.is_empty()
            || !answers.is_empty()
    }
}

impl RowChanges {
    /// Reads a session. `mends`: with the rows that its damaged lines still hold. `options`: those
    /// of results that stay as words.
    pub fn read(
        session: &SessionFile,
        mends: bool,
        options: &RowOptions,
        progress: &Progress,
    ) -> Result<RowChanges, Failure> {
        let Some(mut reading) = Reading::of(session, mends, progress)? else {
            return Ok(RowChanges::default());
        };
        let rules = reading.history.rules;
        let naming = naming(&reading);
        let history = std::mem::replace(&mut reading.history, Records::of(rules, is_apart(reading.layout)));
        let mut changes = RowChanges { rules: Some(rules), read: reading.read, ..RowChanges::default() };
        if rules.are_one {
            // A call that is closed takes more bytes than an open one.
            let is_fixed = reading.keeps_offsets || reading.layout.is_some_and(|layout| layout.offsets);
            match is_fixed {
                true => changes.unpaired = history.calls.iter().filter(|call| call.is_open).count() as u64,
                false => changes.close(&history, reading.freedom() == Some(Freedom::Free)),
            }
            return Ok(changes);
        }
        let pairing = paired_with_others(history, &reading);
        let freedom = reading.freedom();
        let maker = Maker {
            rules,
            layout: reading.layout,
            freedom: freedom.unwrap_or(Freedom::Rows),
            row_members: &reading.row_members,
            naming,
            options,
        };
        let chain = reading.layout.and_then(|layout| layout.chain.as_ref());
        let gives =
            |name: &str| maker.gives(name) || chain.is_some_and(|chain| chain.iter().any(|own| own == name));
        let Some(freedom) = freedom.filter(|_| !reading.row_members.counts(&gives)) else {
            changes.count_as_they_are(&pairing);
            return Ok(changes);
        };
        let laid_out = Arrangement::of(&pairing, freedom, Orphans::Dropped);
        // A session without a message is lost, so results without any call stay.
        if laid_out.as_ref().is_some_and(|(pieces, _)| pieces.is_empty()) {
            changes.count_as_they_are(&pairing);
            return Ok(changes);
        }
        changes.chain = chain;
        changes.rename(&pairing, freedom);
        if let Some((pieces, counts)) = laid_out {
            changes.count(counts);
            let plan = Plan::of(pieces, pairing.messages.len());
            let pieces = changes.gathered(&plan, &pairing, &maker, session, mends, progress)?;
            changes.lay_out(plan, &pairing, &pieces, &reading.ids);
        }
        changes.drop_copies(&pairing, &reading);
        changes.branch = reading.branch;
        Ok(changes)
    }

    /// Returns true if rows came since that may change what is to be done. `read`: the bytes of the
    /// session that are there.
    pub fn are_old(&self, read: u64) -> bool {
        !self.messages.is_empty() && self.read < read
    }

    fn message(&mut self, place: MessagePlace) -> &mut MessageChange {
        self.rows.insert(place.0);
        self.messages.entry(place).or_default()
    }

    /// Closes the calls that hold their results and have none.
    fn close(&mut self, history: &Records, may_remove: bool) {
        for (nth, is_again) in history.open_calls() {
            let call = &history.calls[nth];
            let message = &history.messages[call.at];
            let words = &mut self.message((message.row, message.nth)).words;
            match is_again && may_remove {
                true if call.index.is_none() => {}
                true => _ = words.gone.insert(nth - message.calls.start),
                false => words.closes = true,
            }
            self.paired += 1;
        }
    }

    fn count(&mut self, PairCounts { added, removed, moved }: PairCounts) {
        self.paired += added;
        self.orphans += removed;
        self.rearranged += moved;
    }

    /// Counts the calls and the results that only a row that comes in or goes could repair.
    fn count_as_they_are(&mut self, pairing: &Pairing) {
        let lacks = pairing.calls.iter().filter(|call| call.answer.is_none() && pairing.lacks(call));
        self.unpaired = lacks.count() as u64;
        let is_stray = |answer: &&Answer| answer.call.is_none() && !answer.stays;
        self.strays = pairing.answers.iter().filter(is_stray).count() as u64;
    }

    /// Gives calls and results the ids and the names that the provider accepts. The rows of a host
    /// keep their ids, which its other files may name.
    fn rename(&mut self, pairing: &Pairing, freedom: Freedom) {
        let renames = if freedom == Freedom::Free { Renames::of(pairing) } else { Renames::default() };
        self.rearranged += renames.count;
        for (nth, id) in renames.calls {
            let message = &pairing.messages[pairing.calls[nth].at];
            let first = message.calls.start;
            self.message((message.row, message.nth)).words.calls.insert(nth - first, id.to_string());
        }
        let named = pairing.nameless().map(|(nth, tool)| (nth, tool.to_owned()));
        for (nth, tool) in named {
            self.rearranged += 1;
            self.answer(pairing, nth).tool = Some(tool);
        }
        for (nth, id) in renames.answers {
            let call = pairing.answers[nth].call.map(|call| pairing.calls[call].id_name);
            let words = self.answer(pairing, nth);
            (words.id, words.id_name) = (Some(id.to_string()), call);
        }
    }

    fn answer(&mut self, pairing: &Pairing, nth: usize) -> &mut AnswerWords {
        let message = &pairing.messages[pairing.answers[nth].at];
        let first = message.answers.start;
        self.message((message.row, message.nth)).words.answers.entry(nth - first).or_default()
    }
}

/// Pairs calls with results. The other branches of a session hold some of the missing ones.
fn paired_with_others(history: Records, reading: &Reading) -> Pairing {
    let mut pairing = Pairing::of(history);
    let has = |ids: &HashSet<u64>, id: &Option<Rc<str>>| {
        id.as_ref().is_some_and(|id| ids.contains(&hash(id.as_bytes())))
    };
    for answer in pairing.answers.iter_mut().filter(|answer| answer.call.is_none()) {
        answer.stays |= !answer.is_duplicate && has(&reading.called, &answer.id);
    }
    // No text can answer a call whose result is there.
    for call in pairing.calls.iter_mut().filter(|call| call.answer.is_none()) {
        call.has_template &= !has(&reading.answered, &call.id);
    }
    pairing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::rows::RowReader;
    use std::fs;

    /// Returns what is left of rows, and the counts of calls with a result and without.
    pub fn paired(rows: &[&str]) -> (Vec<String>, u64, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, rows.join("\n")).unwrap();
        let session = SessionFile::open_any(path).unwrap();
        let changes =
            RowChanges::read(&session, false, &RowOptions::default(), &Progress::default()).unwrap();
        let (mut reading, mut left) = (RowReader::of_session(&session), vec![]);
        for row in rows {
            let rows = changes.in_place_of(row.as_bytes(), &mut reading);
            let rows = rows.unwrap_or_else(|| vec![row.as_bytes().to_vec()]);
            left.extend(rows.into_iter().map(|row| String::from_utf8(row).unwrap().trim_end().to_owned()));
        }
        (left, changes.paired, changes.unpaired)
    }

    /// Writes rows of Qwen Code or Claude Code: each with its id, its parent, and its message.
    pub fn linked(rows: &[(&str, &str, &str, String)]) -> Vec<String> {
        let row = |(id, parent, kind, message): &(&str, &str, &str, String)| {
            let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
            format!(r#"{{"uuid":"{id}","parentUuid":{parent},"type":"{kind}","message":{message}}}"#)
        };
        rows.iter().map(row).collect()
    }

    fn stay(rows: &[String]) {
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        assert_eq!(paired(&all), (rows.to_vec(), 0, 0));
    }

    #[test]
    fn rows_without_ids_and_rows_that_are_counted_have_no_way() {
        let call = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}}"#;
        let (left, paired_calls, unpaired) = paired(&[r#"{"type":"session"}"#, call]);
        assert_eq!((left.len(), paired_calls, unpaired), (2, 0, 1));
        let row = |at: u32, ordinal: u32, message: &str| {
            format!(
                r#"{{"type":"message","ordinal":{ordinal},"id":"r{at}","parentId":"r{}","message":{message}}}"#,
                at - 1
            )
        };
        let call =
            r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}"#;
        let words = r#"{"role":"user","content":"x"}"#;
        let label = |at: u32, ordinal: u32| {
            format!(r#"{{"type":"label","ordinal":{ordinal},"id":"r{at}","parentId":"r{}"}}"#, at - 1)
        };
        let first = [r#"{"type":"session","version":3,"id":"r0"}"#.to_owned(), row(1, 1, call)];
        let of = |rows: &[String]| {
            let rows = [&first[..], rows].concat();
            let (left, paired_calls, unpaired) = paired(&rows.iter().map(String::as_str).collect::<Vec<_>>());
            (left.len() - rows.len(), paired_calls, unpaired)
        };
        // Rows without a message count too.
        assert_eq!(of(&[row(2, 2, words), label(3, 4), label(4, 7)]), (0, 0, 1));
        assert_eq!(of(&[label(2, 4), label(3, 7), row(4, 9, words)]), (0, 0, 1));
        // In few rows, numbers that begin at the first one and omit none do.
        assert_eq!(of(&[row(2, 2, words), label(3, 3)]), (0, 0, 1));
        assert_eq!(of(&[label(2, 2)]), (0, 0, 1));
        // Numbers that do not rise in all rows, or in too few, do not count them.
        assert_eq!(of(&[row(2, 2, words), label(3, 2), label(4, 3)]), (1, 1, 0));
        assert_eq!(of(&[row(2, 2, words), label(3, 4)]), (1, 1, 0));
    }

    #[test]
    fn only_the_branch_that_is_sent_changes() {
        let parts = |role: &str, part: &str| format!(r#"{{"role":"{role}","parts":[{part}]}}"#);
        let words = || parts("model", r#"{"text":"done"}"#);
        let call = || parts("model", r#"{"functionCall":{"id":"c1","name":"t","args":{}}}"#);
        let result = |text: &str| {
            parts(
                "user",
                &format!(
                    r#"{{"functionResponse":{{"id":"c1","name":"t","response":{{"output":"{text}"}}}}}}"#
                ),
            )
        };
        // A call that was run twice: the second result is sent.
        stay(&linked(&[
            ("a1", "", "assistant", call()),
            ("r1", "a1", "tool_result", result("one")),
            ("r2", "a1", "tool_result", result("two")),
            ("a2", "r2", "assistant", words()),
        ]));
        let blocks = |role: &str, block: &str| format!(r#"{{"role":"{role}","content":[{block}]}}"#);
        let text = || r#"{"type":"text","text":"x"}"#.to_owned();
        let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"t","input":{{}}}}"#);
        let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}"#);
        // Rows of another branch between a call and its result.
        stay(&linked(&[
            ("a1", "", "assistant", blocks("assistant", &call("c1"))),
            ("ub", "", "user", blocks("user", &text())),
            ("ab", "ub", "assistant", blocks("assistant", &call("c9"))),
            ("r1", "a1", "user", blocks("user", &result("c1"))),
            ("x1", "r1", "assistant", blocks("assistant", &text())),
        ]));
        // Results of parallel calls, each behind its call.
        stay(&linked(&[
            ("a1", "", "assistant", blocks("assistant", &call("c1"))),
            ("r1", "a1", "user", blocks("user", &result("c1"))),
            ("a2", "a1", "assistant", blocks("assistant", &call("c2"))),
            ("r2", "a2", "user", blocks("user", &result("c2"))),
            ("x1", "r2", "assistant", blocks("assistant", &text())),
        ]));
        // A call on the branch still gets a result.
        let rows = linked(&[
            ("a1", "", "assistant", blocks("assistant", &call("c1"))),
            ("ub", "", "user", blocks("user", &text())),
            ("x1", "a1", "user", blocks("user", &text())),
        ]);
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        let (left, paired_calls, _) = paired(&all);
        assert_eq!((left.len(), paired_calls), (4, 1));
        assert!(left[1].contains("tool_result"), "{left:?}");
    }

    #[test]
    fn a_row_with_bytes_that_are_not_utf_8_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let call = r#"{"role":"assistant","content":"x?","tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}]}"#;
        let result = r#"{"role":"tool","tool_call_id":"c1","content":"x"}"#;
        let text = [call, "\n", result, "\n"].concat().into_bytes();
        let bad: Vec<u8> = text.iter().map(|byte| if *byte == b'?' { 0xFF } else { *byte }).collect();
        fs::write(&path, bad).unwrap();
        let session = SessionFile::open_any(path).unwrap();
        let changes =
            RowChanges::read(&session, false, &RowOptions::default(), &Progress::default()).unwrap();
        assert_eq!((changes.orphans, changes.strays, changes.paired), (0, 0, 0));
    }

    #[test]
    fn a_session_of_results_without_a_call_stays() {
        let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"x"}}"#);
        let rows = [result("gone1"), result("gone2")];
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        assert_eq!(paired(&all), (rows.to_vec(), 0, 0));
        let words = r#"{"role":"user","content":"on"}"#;
        assert_eq!(paired(&[all[0], words]).0, [words]);
    }
}
