//! The repair of a history as changes of its rows.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::pieces::{Maker, Need, Pieces, naming};
use super::reading::{Reading, RowId, each_entry, is_apart};
use super::template::new_id;
use super::words::{AnswerWords, WordChanges};
use crate::dialect::PairRules;
use crate::hash::hash;
use crate::json::{Document, Value, string};
use crate::pairs::arrangement::{Arrangement, Block, Freedom, Orphans, PairCounts, Piece, Plan};
use crate::pairs::pairing::Pairing;
use crate::pairs::records::{Answer, Records};
use crate::pairs::renames::Renames;
use crate::session::active_branch::Branch;
use crate::session::failure::Failure;
use crate::session::progress::Progress;
use crate::session::rewrite_row::RowOptions;
use crate::session::row_format::RowEntry;
use crate::session::rows::{Row, RowReader};
use crate::session::session_file::SessionFile;
use crate::session::splice::Splices;

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
        if rules.are_one && reading.keeps_offsets {
            changes.unpaired = history.calls.iter().filter(|call| call.is_open).count() as u64;
            return Ok(changes);
        }
        if rules.are_one {
            match reading.layout.is_some_and(|layout| layout.offsets) {
                // A call that is closed takes more bytes than an open one.
                true => changes.unpaired = history.calls.iter().filter(|call| call.is_open).count() as u64,
                false => changes.close(&history, reading.freedom() == Some(Freedom::Free)),
            }
            return Ok(changes);
        }
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
        let freedom = reading.freedom();
        let maker = Maker {
            rules,
            layout: reading.layout,
            freedom: freedom.unwrap_or(Freedom::Rows),
            around: &reading.around,
            naming,
            options,
        };
        let chain = reading.layout.and_then(|layout| layout.chain.as_ref());
        let gives =
            |name: &str| maker.gives(name) || chain.is_some_and(|chain| chain.iter().any(|own| own == name));
        let Some(freedom) = freedom.filter(|_| !reading.around.counts(&gives)) else {
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
        let plan = laid_out.map(|(pieces, counts)| {
            changes.count(counts);
            Plan::of(pieces, pairing.messages.len())
        });
        if let Some(plan) = plan {
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

    /// Reads the session once more for what moves, and makes what is new.
    fn gathered(
        &self,
        plan: &Plan,
        pairing: &Pairing,
        maker: &Maker,
        session: &SessionFile,
        mends: bool,
        progress: &Progress,
    ) -> Result<Pieces, Failure> {
        let mut pieces = Pieces::of(plan, pairing);
        if pieces.is_empty() {
            return Ok(pieces);
        }
        let mut next = 0;
        each_entry(session, mends, progress, &mut |row, entry| {
            let from = next;
            while pairing.messages.get(next).is_some_and(|message| message.row == row.number) {
                next += 1;
            }
            if !(from..next).any(|at| pieces.needs(at)) {
                return;
            }
            let mut read = |entry: &RowEntry| {
                for at in from..next {
                    let message = entry.messages.get(pairing.messages[at].nth as usize);
                    message.into_iter().for_each(|message| pieces.read(maker, pairing, at, entry, *message));
                }
            };
            match self.with_words(row, entry) {
                Some(named) => {
                    let document = Document::parse(&named);
                    document.iter().for_each(|document| read(&entry.again(document.root())));
                }
                None => read(entry),
            }
        })?;
        Ok(pieces)
    }

    fn lay_out(&mut self, plan: Plan, pairing: &Pairing, pieces: &Pieces, ids: &[RowId]) {
        let place = |at: usize| (pairing.messages[at].row, pairing.messages[at].nth);
        for (at, list) in plan.lists {
            let own = |block| match block {
                Block::Own(of, index) if of == at => Some(Ok(index)),
                block => Some(Err(pieces.block(&block)?)),
            };
            self.message(place(at)).list = Some(list.into_iter().filter_map(own).collect());
        }
        let moved = plan.after.values().flatten().filter_map(|piece| match piece {
            Piece::Moved(at) => Some(*at),
            _ => None,
        });
        let moved: HashSet<usize> = moved.collect();
        for at in plan.gone {
            self.message(place(at)).is_gone = true;
            if let Some(RowId { id, before, .. }) = ids.get(at) {
                self.skipped.insert(id.to_string(), before.as_ref().map(|id| id.to_string()));
                if moved.contains(&at) {
                    self.moved.insert(id.to_string());
                }
            }
        }
        self.settle_skipped();
        for (anchor, after) in plan.after {
            let own = ids.get(anchor).map(|row| row.id.to_string());
            let mut last = own.clone();
            for (piece, nth) in after.into_iter().zip(0..) {
                let (need, blocks) = match piece {
                    Piece::Home(blocks, call) => (Need::Home(call), blocks),
                    Piece::New(call) => (Need::New(call), vec![]),
                    Piece::Moved(at) => (Need::Moved(at), vec![]),
                    Piece::Words(nth) => (Need::Block(Block::Words(nth)), vec![]),
                    Piece::Kept(_) | Piece::Listed(..) => continue,
                };
                let blocks: Vec<String> = blocks.iter().filter_map(|block| pieces.block(block)).collect();
                let Some(filled) = pieces.get(&need).map(|filled| filled.with_blocks(&blocks)) else {
                    continue;
                };
                let new = match need {
                    Need::Moved(at) => ids.get(at).map(|row| row.id.to_string()),
                    _ => own.as_ref().map(|own| new_id(own, &format!("{anchor} {nth}"))),
                };
                let json = filled.with_ids(last.as_deref(), new.as_deref().unwrap_or_default());
                self.message(place(anchor)).after.push(json);
                last = new;
            }
            if let (Some(own), Some(last)) = (own, last) {
                self.followed.insert(own, (pairing.messages[anchor].row, last));
            }
        }
    }

    /// Removes the copies of rows that change, which would come back as these.
    fn drop_copies(&mut self, pairing: &Pairing, Reading { ids, others, .. }: &Reading) {
        let mut changed: HashMap<&str, u64> = HashMap::new();
        for (message, own) in pairing.messages.iter().zip(ids) {
            let change = self.messages.get(&(message.row, message.nth));
            if change.is_some_and(MessageChange::is_of_its_own) {
                changed.insert(&own.id, own.hash);
            }
        }
        let is_copy = |own: &RowId| changed.get(&*own.id) == Some(&own.hash);
        let copies: Vec<u64> = others.iter().filter(|(own, _)| is_copy(own)).map(|(_, row)| *row).collect();
        copies.into_iter().for_each(|row| self.message((row, 0)).is_gone = true);
    }

    /// Makes each row that goes lead to the last one before it that stays.
    fn settle_skipped(&mut self) {
        let mut settled: HashMap<String, Option<String>> = HashMap::new();
        for start in self.skipped.keys() {
            let (mut way, mut on_way, mut at) = (vec![], HashSet::new(), Some(start));
            while let Some(id) = at
                && !settled.contains_key(id)
                && self.skipped.contains_key(id)
                && on_way.insert(id)
            {
                way.push(id);
                at = self.skipped[id].as_ref();
            }
            // Rows that name each other in a circle follow none.
            let end = at.filter(|id| !on_way.contains(id));
            let end = end.and_then(|id| settled.get(id).cloned().unwrap_or(Some(id.clone())));
            settled.extend(way.into_iter().map(|id| (id.clone(), end.clone())));
        }
        self.skipped = settled;
    }

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
        let is_emptied = |change: &MessageChange, message: Value| {
            self.rules.is_some_and(|rules| change.words.empties(rules, message))
        };
        let emptied: HashSet<u32> = entry
            .messages
            .iter()
            .zip(0..)
            .filter(|(message, nth)| {
                self.messages.get(&(row.number, *nth)).is_some_and(|change| is_emptied(change, **message))
            })
            .map(|(_, nth)| nth)
            .collect();
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
        let mut rows: Vec<Vec<u8>> = own.into_iter().collect();
        // The last row of a file may have no newline.
        let has_end = row.text.ends_with(b"\n");
        for json in after {
            if let Some(last) = rows.last_mut().filter(|_| !has_end) {
                last.push(b'\n');
            }
            rows.push([json.as_bytes(), if has_end { b"\n" } else { b"" }].concat());
        }
        Some(rows)
    }

    /// Returns a row with the ids and the names that change.
    fn with_words(&self, row: &Row, entry: &RowEntry) -> Option<Vec<u8>> {
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

/// Members that name a row, beside that of the row before.
pub const NAMING: [&str; 4] = ["firstKeptEntryId", "targetId", "leafUuid", "logicalParentUuid"];

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
    use crate::dialect::structured::CopyChoice;
    use crate::policy::Policy;
    use crate::session::rewrite_row::SideData;
    use crate::slots::slot_rules::SlotRules;
    use std::fs;

    fn options() -> RowOptions {
        RowOptions {
            rules: SlotRules { policy: Policy::default(), clean: None },
            side: SideData::Keep,
            structured: CopyChoice::Both,
            asks: false,
            media: None,
            dialect: None,
        }
    }

    /// Returns what is left of rows, and the counts of calls with a result and without.
    fn paired(rows: &[&str]) -> (Vec<String>, u64, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, rows.join("\n")).unwrap();
        let session = SessionFile::open_any(path).unwrap();
        let changes = RowChanges::read(&session, false, &options(), &Progress::default()).unwrap();
        let (mut reading, mut left) = (RowReader::of_session(&session), vec![]);
        for row in rows {
            let rows = changes.in_place_of(row.as_bytes(), &mut reading);
            let rows = rows.unwrap_or_else(|| vec![row.as_bytes().to_vec()]);
            left.extend(rows.into_iter().map(|row| String::from_utf8(row).unwrap().trim_end().to_owned()));
        }
        (left, changes.paired, changes.unpaired)
    }

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

    /// Writes rows of Qwen Code or Claude Code: each with its id, its parent, and its message.
    fn linked(rows: &[(&str, &str, &str, String)]) -> Vec<String> {
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
        let changes = RowChanges::read(&session, false, &options(), &Progress::default()).unwrap();
        assert_eq!((changes.orphans, changes.strays, changes.paired), (0, 0, 0));
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
    fn a_session_of_results_without_a_call_stays() {
        let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"x"}}"#);
        let rows = [result("gone1"), result("gone2")];
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        assert_eq!(paired(&all), (rows.to_vec(), 0, 0));
        let words = r#"{"role":"user","content":"on"}"#;
        assert_eq!(paired(&[all[0], words]).0, [words]);
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

    #[test]
    fn rows_that_go_and_name_each_other_in_a_circle_end() {
        let row = |id: &str, before: &str, call: &str| {
            let result = format!(r#"{{"type":"tool_result","tool_use_id":"{call}","content":"x"}}"#);
            format!(
                r#"{{"parentUuid":"{before}","type":"user","message":{{"role":"user","content":[{result}]}},"uuid":"{id}"}}"#
            )
        };
        let [one, two] = [row("a", "b", "gone1"), row("b", "a", "gone2")];
        let words = r#"{"parentUuid":"b","type":"user","message":{"role":"user","content":"x"},"uuid":"c"}"#;
        let (left, _, _) = paired(&[&one, &two, words]);
        assert_eq!(left, [words.replace("\"b\"", "null")]);
    }
}
