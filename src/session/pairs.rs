//! Tool calls without a result: finds them in the rows that a model is sent, and puts in results
//! that say so. Results without a call: removes them.
//!
//! A real result that comes later replaces a result that a host put in for it. Otherwise a result
//! is put in after its call, and before the rows that follow it: as a row, as an element of a
//! document, or in the call where both are one object. Where rows name the one before them, the
//! next one names the new row.

use std::collections::{HashMap, HashSet};
use std::io::{Seek, SeekFrom};
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::active_branch::{Branch, SessionTree};
use super::edits::block_of;
use super::failure::Failure;
use super::mend::{Mender, Piece, Taken};
use super::progress::Progress;
use super::rewrite_row::texts_of;
use super::row_format::Entry;
use super::rows::{Row, RowReader, Rows, each_row};
use super::session_file::SessionFile;
use super::splice::Splices;
use crate::dialect::{CallPaths, Table, Template, ToolResult};
use crate::hash::hash;
use crate::json::{Literal, Value, string};

/// The words of a result that is missing, as in lib/pairs/repair.ts.
const MISSING: &str = "[No result: the call was interrupted, or its result was removed]";

/// The results to put in.
#[derive(Debug, Default)]
pub struct Pairs {
    branch: Option<Branch>,
    /// The members with the id of a row and that of the row before it.
    chain: Option<&'static [String; 2]>,
    /// Those after a row, or after a message of the document.
    after: HashMap<u64, Vec<String>>,
    /// Rows with a call that gets its result within.
    within: HashSet<u64>,
    /// The new ids of rows that others name, with the numbers of these rows.
    followed: HashMap<String, (u64, String)>,
    /// Results that take the place of others, by their row and their place in it, and those that
    /// move there.
    moved: HashMap<(u64, usize), String>,
    gone: HashSet<(u64, usize)>,
    /// The ids of rows that go, with those of the rows before them. The first row has none before
    /// it.
    skipped: HashMap<String, Option<String>>,
    /// Calls that get a result.
    pub paired: u64,
    /// Calls without a result that the format has no way to give one.
    pub unpaired: u64,
    /// Results without a call, which go.
    pub orphans: u64,
}

/// A call whose result has not come yet.
#[derive(Debug)]
struct Pending {
    id: String,
    /// The number of the row, or of the message of the document, after which its result stands, and
    /// the id of that row.
    anchor: u64,
    anchor_id: Option<String>,
    /// The row or element, with the place for the id of the row before. `None` if the format has
    /// none.
    json: Option<Filled>,
}

/// A result whose call has not come yet.
#[derive(Debug)]
struct Orphan {
    id: String,
    place: (u64, usize),
    /// The start and the length of the list that holds it, if it is a block.
    list: Option<(usize, usize)>,
    /// The id of its row, and that of the row before.
    ids: Option<(String, Option<String>)>,
}

/// JSON of a template, with the places where ids go.
#[derive(Clone, Debug, Default)]
struct Filled {
    json: String,
    parents: Vec<usize>,
    news: Vec<usize>,
}

impl Filled {
    /// Returns the JSON with the id of the row before it, and its own.
    fn with(&self, parent: &str, new: &str) -> String {
        let mut ids: Vec<(usize, &str)> = self.parents.iter().map(|at| (*at, parent)).collect();
        ids.extend(self.news.iter().map(|at| (*at, new)));
        ids.sort_unstable();
        let (mut json, mut from) = (String::new(), 0);
        for (at, id) in ids {
            json += &self.json[from..at];
            json += &string(id);
            from = at;
        }
        json + &self.json[from..]
    }

    /// Writes a template. `of` returns the JSON of a name; a member without is omitted.
    fn write(&mut self, template: &Template, of: &dyn Fn(&str) -> Option<Filled>) -> bool {
        match template {
            Template::String(text) if text == "$parent" => self.parents.push(self.json.len()),
            Template::String(text) if text == "$new" => self.news.push(self.json.len()),
            Template::String(text) if text.starts_with('$') => match of(&text[1..]) {
                Some(filled) => self.append(&filled),
                None => return false,
            },
            Template::Array(elements) => {
                self.json.push('[');
                for (at, element) in elements.iter().enumerate() {
                    self.json.push_str(if at > 0 { "," } else { "" });
                    self.write(element, of);
                }
                self.json.push(']');
            }
            Template::Object(members) => {
                self.json.push('{');
                for (name, member) in members {
                    let length = self.json.len();
                    let comma = if self.json.ends_with('{') { "" } else { "," };
                    self.json += comma;
                    self.json += &string(name);
                    self.json.push(':');
                    if !self.write(member, of) {
                        self.json.truncate(length);
                    }
                }
                self.json.push('}');
            }
            other => self.json += &other.to_string(),
        }
        true
    }

    fn append(&mut self, other: &Filled) {
        let length = self.json.len();
        self.parents.extend(other.parents.iter().map(|at| at + length));
        self.news.extend(other.news.iter().map(|at| at + length));
        self.json += &other.json;
    }
}

fn plain(json: String) -> Option<Filled> {
    Some(Filled { json, ..Filled::default() })
}

/// Returns the JSON of the message that answers a call.
fn answer(kind: &CallPaths, id: &str, call: Value, message: Value) -> Filled {
    let tool = kind.tool_of(call);
    let of = |name: &str| match name {
        "id" => plain(string(id)),
        "tool" => plain(string(tool.as_ref()?)),
        "text" => plain(string(MISSING)),
        other => plain(message.get(other)?.compact()),
    };
    let mut result = Filled::default();
    kind.result.iter().for_each(|template| {
        result.write(template, &of);
    });
    let Some(home) = &kind.home else { return result };
    let mut filled = Filled::default();
    let blocks = Filled { json: format!("[{}]", result.json), ..result };
    filled.write(home, &|name| if name == "blocks" { Some(blocks.clone()) } else { of(name) });
    filled
}

/// Reads the calls and results of a session.
#[derive(Default)]
struct Reader {
    pairs: Pairs,
    pending: Vec<Pending>,
    orphans: Vec<Orphan>,
    /// The hashed ids of all calls, those on other branches as well.
    called: HashSet<u64>,
    /// Calls whose result may be replaced, with its place, and true if it says that there is none.
    stand_ins: HashMap<String, ((u64, usize), bool)>,
    /// The id of the message in the last row, which may go on in the next, and its pending calls.
    turn: Option<(String, usize)>,
    messages: u64,
}

impl Reader {
    fn take(&mut self, number: u64, entry: &Entry) {
        let calls = entry.messages.iter().flat_map(|message| Table::get().calls(*message));
        self.called.extend(calls.filter_map(|call| Some(hash(call.id?.as_bytes()))));
        if entry.is_aside() || self.pairs.branch.as_ref().is_some_and(|branch| !branch.holds(number)) {
            return;
        }
        let layout = entry.layout();
        let chain = layout.and_then(|layout| layout.chain.as_ref());
        self.pairs.chain = self.pairs.chain.or(chain);
        let own_id = chain.and_then(|[id, _]| entry.root.get(id)).and_then(Value::string);
        let mut nth = 0;
        for message in entry.messages.iter().copied() {
            let at = if entry.format().is_document() { self.messages } else { number };
            self.messages += 1;
            for result in Table::get().results(message, None) {
                nth += 1;
                if let Some(id) = result.id().filter(|_| result.is_filled) {
                    self.answer(id, (number, nth - 1), &result, message, entry);
                }
            }
            self.go_on(message, at, own_id.as_ref());
            for (kind, id, call) in Table::get().answerable(message) {
                match kind.lacks_result(call) {
                    Some(true) => {
                        self.pairs.within.insert(number);
                        self.pairs.paired += 1;
                    }
                    Some(false) => {}
                    None => {
                        let json = self.row_of(kind, &id, call, message, entry, own_id.is_some());
                        self.pending.push(Pending { id, anchor: at, anchor_id: own_id.clone(), json });
                    }
                }
            }
        }
    }

    /// Takes a result at a place: of a call that waits for it, or whose result it replaces.
    fn answer(
        &mut self,
        id: String,
        place: (u64, usize),
        result: &ToolResult,
        message: Value,
        entry: &Entry,
    ) {
        let (is_short, is_absent) = said(result);
        let is_error = result.is_error();
        if let Some(at) = self.pending.iter().position(|call| call.id == id) {
            self.pending.remove(at);
            self.turn = None;
            // An event of Copilot CLI is a row with an id of its own, and the program takes the
            // first.
            if (is_absent || is_short && is_error) && !self.is_event(result, entry) {
                self.stand_ins.insert(id, (place, is_absent));
            }
            return;
        }
        let ids = ids_of(entry);
        let has_chain = entry.layout().is_some_and(|layout| layout.chain.is_some());
        // Rows without ids are referred to by number, so none goes.
        if self.is_event(result, entry) || has_chain && ids.is_none() {
            return;
        }
        let list = block_of(message, result.object).and_then(Value::parent);
        let Some((before, said_so)) = self.stand_ins.get(&id).copied() else {
            let may_lack = result.dialect.is_apart && !Table::get().is_from_model(message);
            if may_lack && !id.is_empty() {
                let list = list.map(|list| self.length_of(place.0, list));
                self.orphans.push(Orphan { id, place, list, ids });
            }
            return;
        };
        if is_absent || is_error && !said_so {
            return;
        }
        self.stand_ins.remove(&id);
        self.pairs.moved.insert(before, result.object.compact());
        self.pairs.gone.insert(place);
        self.pairs.paired += 1;
        let is_alone = list.is_none_or(|list| list.elements().count() == 1);
        self.pairs.skipped.extend(ids.filter(|_| is_alone));
    }

    /// Returns the start and the length of a list in a row. The orphans of a list come one after
    /// the other, so it is counted once.
    fn length_of(&self, row: u64, list: Value) -> (usize, usize) {
        let last = self.orphans.last().filter(|last| last.place.0 == row).and_then(|last| last.list);
        let known = last.filter(|(start, _)| *start == list.start());
        known.unwrap_or_else(|| (list.start(), list.elements().count()))
    }

    /// Removes the results whose call is nowhere, and the rows in which nothing else is.
    fn drop_orphans(&mut self) {
        let called = std::mem::take(&mut self.called);
        let mut orphans = std::mem::take(&mut self.orphans);
        orphans.retain(|orphan| !called.contains(&hash(orphan.id.as_bytes())));
        let mut in_list: HashMap<(u64, usize), usize> = HashMap::new();
        for Orphan { place, list, .. } in &orphans {
            list.iter().for_each(|(start, _)| *in_list.entry((place.0, *start)).or_default() += 1);
        }
        for Orphan { place, list, ids, .. } in orphans {
            self.pairs.orphans += 1;
            self.pairs.gone.insert(place);
            if list.is_none_or(|(start, length)| in_list[&(place.0, start)] == length) {
                self.pairs.skipped.extend(ids);
            }
        }
    }

    /// Returns true if a result is a row that others name.
    fn is_event(&self, result: &ToolResult, entry: &Entry) -> bool {
        result.object == entry.root && entry.layout().is_some_and(|layout| layout.chain.is_some())
    }

    /// Moves the calls of a message that goes on in this row behind it.
    fn go_on(&mut self, message: Value, at: u64, own_id: Option<&String>) {
        let id = message.get("id").and_then(Value::string);
        match (&self.turn, id) {
            (Some((turn, first)), Some(id)) if *turn == id => {
                for call in self.pending.iter_mut().skip(*first) {
                    (call.anchor, call.anchor_id) = (at, own_id.cloned());
                }
            }
            (_, id) => self.turn = id.map(|id| (id, self.pending.len())),
        }
    }

    /// Returns the row that answers a call, if the format has one.
    fn row_of(
        &self,
        kind: &CallPaths,
        id: &str,
        call: Value,
        message: Value,
        entry: &Entry,
        has_id: bool,
    ) -> Option<Filled> {
        let message = answer(kind, id, call, message);
        let Some(layout) = entry.layout().filter(|layout| !layout.is_document()) else {
            return Some(message);
        };
        let template = layout.answer.as_ref().filter(|_| layout.chain.is_none() || has_id)?;
        let mut row = Filled::default();
        row.write(template, &|name| match name {
            "message" => Some(message.clone()),
            other => plain(entry.root.get(other)?.compact()),
        });
        Some(row)
    }

    fn done(mut self) -> Pairs {
        self.drop_orphans();
        let mut pairs = std::mem::take(&mut self.pairs);
        for Pending { id, anchor, anchor_id, json } in self.pending {
            let Some(json) = json else {
                pairs.unpaired += 1;
                continue;
            };
            pairs.paired += 1;
            let first = anchor_id.unwrap_or_default();
            let parent = pairs.followed.get(&first).map_or(first.clone(), |(_, last)| last.clone());
            let new = new_id(&first, &id);
            pairs.after.entry(anchor).or_default().push(json.with(&parent, &new));
            if !first.is_empty() {
                pairs.followed.insert(first, (anchor, new));
            }
        }
        pairs
    }
}

/// Returns an id of the form that the row before has: a UUID, or eight hexadecimal digits.
fn new_id(row: &str, call: &str) -> String {
    let bits = |salt: &str| hash([salt, row, "\n", call].concat().as_bytes());
    let digits = format!("{:016x}{:016x}", bits("a"), bits("b"));
    if row.len() != 36 {
        return digits[..8].to_owned();
    }
    let [one, two, three, four, five] =
        [&digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..]];
    format!("{one}-{two}-4{three}-8{four}-{five}")
}

impl Pairs {
    /// Reads a session. `mends`: with the rows that its damaged lines still hold.
    pub fn read(session: &SessionFile, mends: bool, progress: &Progress) -> Result<Pairs, Failure> {
        let mut tree: Option<SessionTree> = None;
        each_entry(session, mends, progress, &mut |row, entry| {
            if row.format.is_tree() {
                tree.get_or_insert_default().push(row.number, entry.root);
            }
        })?;
        let mut reader = Reader::default();
        reader.pairs.branch = tree.map(SessionTree::branch);
        each_entry(session, mends, progress, &mut |row, entry| reader.take(row.number, entry))?;
        Ok(reader.done())
    }

    /// Returns true if a row changes, or others follow it.
    pub fn concerns(&self, number: u64, is_document: bool) -> bool {
        let is_any = !self.after.is_empty() || !self.within.is_empty() || !self.gone.is_empty();
        let has = || self.moved.keys().chain(&self.gone).any(|(row, _)| *row == number);
        is_any
            && (is_document
                || !self.followed.is_empty()
                || !self.skipped.is_empty()
                || self.within.contains(&number)
                || has())
    }

    /// Returns a row with the results of its calls, and after the row that it follows, if it
    /// changes; an empty one if it goes.
    pub fn changed(&self, row: &Row) -> Option<Vec<u8>> {
        if !self.concerns(row.number, row.format.is_document()) {
            return None;
        }
        let document = row.document()?;
        let entry = row.entry(&document);
        let mut splices = Splices::default();
        if self.within.contains(&row.number) {
            for message in entry.messages.iter().copied() {
                for (kind, id, call) in Table::get().answerable(message) {
                    if kind.lacks_result(call) == Some(true) {
                        mark(&mut splices, kind, &id, call, message);
                    }
                }
            }
        }
        // The messages and the blocks of the results that go, and how many of each list stay.
        let (mut gone, mut left) = (vec![], HashMap::new());
        let messages = entry.messages.iter().copied();
        let results = messages.flat_map(|message| {
            Table::get().results(message, None).into_iter().map(move |result| (message, result.object))
        });
        for (nth, (message, result)) in results.enumerate() {
            if let Some(json) = self.moved.get(&(row.number, nth)) {
                splices.replace(result, json.clone());
            }
            if self.gone.contains(&(row.number, nth)) {
                let block = block_of(message, result).and_then(|block| Some((block, block.parent()?)));
                if let Some((_, list)) = block {
                    let stay: &mut usize = left.entry(list.id()).or_insert_with(|| list.elements().count());
                    *stay = stay.saturating_sub(1);
                }
                gone.push((message, block));
            }
        }
        for (message, block) in gone {
            if let Some((block, _)) = block.filter(|(_, list)| left[&list.id()] > 0) {
                splices.remove(block);
                continue;
            }
            // A document and a checkpoint hold other messages as well.
            if row.format.is_document() || message.parent().is_some_and(Value::is_list) {
                splices.remove(message);
            } else {
                return Some(vec![]);
            }
        }
        if row.format.is_document() {
            for (message, at) in entry.messages.iter().zip(0..) {
                for json in self.after.get(&at).into_iter().flatten() {
                    splices.insert_after(*message, json.clone());
                }
            }
        }
        self.follow(&mut splices, row.number, &entry);
        (!splices.is_empty()).then(|| splices.written_row(document.root()))
    }

    /// Returns the rows that are put in after a row.
    pub fn rows_after(&self, row: &Row) -> &[String] {
        if row.format.is_document() { &[] } else { self.after.get(&row.number).map_or(&[], |rows| rows) }
    }

    /// Makes a row follow the new one after the row that it names. For a row that goes, it names
    /// the one before.
    fn follow(&self, splices: &mut Splices, number: u64, entry: &Entry) {
        // Rows without a message are in the chain too.
        let Some([_, parent]) = self.chain else { return };
        for name in NAMING {
            if let Some((named, first)) =
                entry.root.get(name).and_then(|named| Some((named, named.string()?)))
                && self.skipped.contains_key(&first)
            {
                splices.replace(named, self.left(first).map_or("null".to_owned(), |id| string(&id)));
            }
        }
        let Some(named) = entry.root.get(parent) else { return };
        let Some(first) = named.string() else { return };
        let Some(target) = self.left(first.clone()) else {
            return splices.replace(named, "null".to_owned());
        };
        if target != first {
            splices.replace(named, string(&target));
        }
        let Some((anchor, last)) = self.followed.get(&target) else { return };
        let is_on = self.branch.as_ref().is_none_or(|branch| branch.holds(number));
        if number > *anchor && is_on {
            splices.replace(named, string(last));
        }
    }

    /// Returns the id of a row or, if it goes, of the last one before it that stays.
    fn left(&self, mut id: String) -> Option<String> {
        while let Some(before) = self.skipped.get(&id) {
            id = before.clone()?;
        }
        Some(id)
    }
}

/// Members that name a row, beside that of the row before.
const NAMING: [&str; 4] = ["firstKeptEntryId", "targetId", "leafUuid", "logicalParentUuid"];

/// The words of hosts for a result that is missing, as in lib/pairs/stand_in.ts.
#[derive(Deserialize)]
struct StandIns {
    longest: usize,
    absent: String,
}

static STAND_INS: LazyLock<(usize, Regex)> = LazyLock::new(|| {
    let StandIns { longest, absent } =
        serde_json::from_str(include_str!("../stand_in.json")).expect("stand_in.json");
    (longest, RegexBuilder::new(&absent).case_insensitive(true).build().expect("stand_in.json"))
});

/// Returns true if a result is one short line, and if that says that there is none.
fn said(result: &ToolResult) -> (bool, bool) {
    let texts = texts_of(result);
    let (longest, absent) = &*STAND_INS;
    // An escape takes up to six bytes.
    if texts.iter().map(Literal::len).sum::<usize>() > longest * 6 {
        return (false, false);
    }
    let text = texts.iter().map(Literal::string).collect::<Vec<_>>().join("\n");
    let is_short = text.encode_utf16().count() <= *longest && !text.trim().contains('\n');
    (is_short, text == MISSING || is_short && absent.is_match(&text))
}

/// Returns the id of a row and that of the row before it, if rows have ids.
fn ids_of(entry: &Entry) -> Option<(String, Option<String>)> {
    let [id, parent] = entry.layout()?.chain.as_ref()?;
    let named = |name: &String| entry.root.get(name).and_then(Value::string);
    Some((named(id)?, named(parent)))
}

/// Writes the result of a call into it. A name with a dot leads into a member.
fn mark(splices: &mut Splices, kind: &CallPaths, id: &str, call: Value, message: Value) {
    let filled = answer(kind, id, call, message);
    let Some(document) = crate::json::Document::parse(filled.json.as_bytes()) else { return };
    for member in document.root().members() {
        let name = member.name().and_then(Value::string).unwrap_or_default();
        let (holder, name) = match name.split_once('.') {
            Some((outer, inner)) => (call.get(outer), inner.to_owned()),
            None => (Some(call), name),
        };
        if let Some(holder) = holder {
            splices.set(holder, &name, member.compact());
        }
    }
}

/// Calls back with each row that is JSON.
fn each_entry(
    session: &SessionFile,
    mends: bool,
    progress: &Progress,
    each: &mut dyn FnMut(&Row, &Entry),
) -> Result<(), Failure> {
    let mut rows = Rows::of_session(session);
    let mut reading = RowReader::of_session(session);
    let mut mender = (mends && session.document.is_none()).then(Mender::default);
    let mut take = |bytes: &[u8]| {
        let Some(row) = reading.next(bytes) else { return };
        if let Some(document) = row.document() {
            each(&row, &row.entry(&document));
        }
    };
    let mut start = 0;
    let mut take_line = |line: &[u8]| {
        let from = start;
        start += line.len() as u64;
        let taken = mender.as_mut().map(|mender| mender.take(line, from));
        let Taken { before, is_whole } = taken.unwrap_or(Taken { before: None, is_whole: true });
        before.iter().flatten().filter_map(Piece::row).for_each(&mut take);
        if is_whole {
            take(line);
        }
    };
    while let Some(block) = rows.next(|_| progress.step())? {
        each_row(block).for_each(&mut take_line);
    }
    take_line(&if mends { rows.mended_rest() } else { rows.rest().into() });
    let last = mender.as_mut().and_then(Mender::end);
    last.iter().flatten().filter_map(Piece::row).for_each(&mut take);
    (&session.file).seek(SeekFrom::Start(0))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns what is left of rows.
    fn paired(rows: &[&str]) -> (Vec<String>, u64, u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, rows.join("\n")).unwrap();
        let session = SessionFile::open_any(path).unwrap();
        let pairs = Pairs::read(&session, false, &Progress::default()).unwrap();
        let (mut reading, mut left) = (RowReader::of_session(&session), vec![]);
        for row in rows {
            let row = reading.next(row.as_bytes()).unwrap();
            let text = pairs.changed(&row).unwrap_or_else(|| row.text.to_vec());
            left.push(String::from_utf8(text).unwrap());
            left.extend_from_slice(pairs.rows_after(&row));
        }
        (left, pairs.paired, pairs.unpaired)
    }

    #[test]
    fn rows_that_follow_name_the_new_one() {
        let call = r#"{"type":"message","id":"0000000a","parentId":null,"timestamp":"T","message":{"role":"assistant","timestamp":1,"content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}}"#;
        let next = r#"{"type":"message","id":"0000000b","parentId":"0000000a","message":{"role":"user","content":"x"}}"#;
        let (left, paired_calls, _) = paired(&[r#"{"type":"session","version":3,"id":"s"}"#, call, next]);
        assert_eq!((left.len(), paired_calls), (4, 1));
        let new = &left[2];
        assert!(new.contains(r#""parentId":"0000000a""#) && new.contains(r#""toolCallId":"c1""#), "{new}");
        assert!(new.contains(r#""timestamp":1"#) && new.contains(r#""timestamp":"T""#), "{new}");
        let id = new_id("0000000a", "c1");
        assert!(new.contains(&format!(r#""id":"{id}""#)), "{new}");
        assert_eq!(left[3], next.replace("0000000a", &id));
        let all: Vec<&str> = left.iter().map(String::as_str).collect();
        assert_eq!(paired(&all), (left.clone(), 0, 0));
    }

    #[test]
    fn rows_without_ids_have_no_way() {
        let call = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}}"#;
        let (left, paired_calls, unpaired) = paired(&[r#"{"type":"session"}"#, call]);
        assert_eq!((left.len(), paired_calls, unpaired), (2, 0, 1));
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
            row("b", "\"a\"", &[result("gone3"), text.clone()]),
            r#"{"type":"summary","summary":"s","leafUuid":"b"}"#.to_owned(),
            r#"{"type":"system","uuid":"d","parentUuid":"a","logicalParentUuid":"a"}"#.to_owned(),
        ];
        let all: Vec<&str> = rows.iter().map(String::as_str).collect();
        let (left, _, _) = paired(&all);
        assert_eq!(left[0], "");
        assert_eq!(left[1], row("b", "null", &[text]));
        assert_eq!(left[2], rows[2]);
        assert_eq!(left[3], r#"{"type":"system","uuid":"d","parentUuid":null,"logicalParentUuid":null}"#);
        let call = r#"{"type":"assistant","uuid":"c","parentUuid":"b","message":{"role":"assistant","content":[{"type":"tool_use","id":"gone1","name":"t","input":{}}]}}"#;
        assert!(paired(&[&all[..], &[call]].concat()).0[0].contains("gone1"));
    }
}
