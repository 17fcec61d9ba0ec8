//! Reads the history of a session: which dialect it is of, which of its rows a model is sent, and
//! what its host gives each row.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::parts::MessageParts;
use super::row_members::RowMembers;
use crate::dialect::{PairRules, Table};
use crate::hash::hash;
use crate::json::Value;
use crate::pairs::arrangement::Freedom;
use crate::pairs::records::Records;
use crate::session::active_branch::{Branch, SessionTree};
use crate::session::failure::Failure;
use crate::session::layout::{Layout, Mended};
use crate::session::progress::Progress;
use crate::session::row_format::RowEntry;
use crate::session::rows::{Row, RowReader, each_line};
use crate::session::session_file::SessionFile;

/// The layout of the rows with messages, `None` if each row is one.
pub type RowLayout = Option<&'static Layout>;

/// The dialect of a history: that of its first call with an id, else of its first call, else of its
/// first result.
#[derive(Debug, Default)]
pub struct DialectFinder {
    sure: Option<(&'static PairRules, RowLayout)>,
    of_call: Option<(&'static PairRules, RowLayout)>,
    of_result: Option<(&'static PairRules, RowLayout)>,
}

impl DialectFinder {
    pub fn take(&mut self, message: Value, layout: RowLayout) {
        if self.sure.is_some() {
            return;
        }
        for rules in Table::get().pair_rules() {
            let (has_call, is_sure) = rules.has_call(message);
            if is_sure {
                self.sure = Some((rules, layout));
                return;
            }
            if has_call && self.of_call.is_none() {
                self.of_call = Some((rules, layout));
            }
        }
        if self.of_result.is_none() && self.of_call.is_none() {
            let dialect = Table::get().result_objects(message).map(|(dialect, _)| dialect);
            let named = dialect.filter(|dialect| dialect.is_paired).and_then(|dialect| {
                Table::get().pair_rules().iter().find(|rules| rules.name == dialect.name)
            });
            self.of_result = named.map(|rules| (rules, layout));
        }
    }

    /// Returns the dialect that no later message changes.
    pub fn sure(&self) -> Option<(&'static PairRules, RowLayout)> {
        self.sure
    }

    pub fn found(&self) -> Option<(&'static PairRules, RowLayout)> {
        self.sure.or(self.of_call).or(self.of_result)
    }
}

/// A row with an id, that of the row before it, and the hash of all that it holds.
#[derive(Clone, Debug)]
pub struct RowId {
    pub id: Rc<str>,
    pub before: Option<Rc<str>>,
    pub hash: u64,
}

impl RowId {
    /// Reads the id of a row. `known`: those of the rows before, which it may name.
    fn of(root: Value, [id, before]: &[String; 2], known: &HashSet<Rc<str>>) -> RowId {
        let named = |name: &str| root.get(name).and_then(Value::string);
        let before = named(before).map(|id| known.get(&*id).cloned().unwrap_or_else(|| id.into()));
        RowId { id: named(id).unwrap_or_default().into(), before, hash: hash(root.source()) }
    }
}

/// Returns true if the results of each message with calls come before the next one.
pub fn is_apart(layout: RowLayout) -> bool {
    layout.is_some_and(|layout| layout.apart)
}

/// The history of a session.
#[derive(Debug)]
pub struct Reading {
    pub history: Records,
    pub layout: RowLayout,
    pub branch: Option<Branch>,
    /// The row of each message, where rows have ids.
    pub ids: Vec<RowId>,
    /// The numbers of rows that are not read, which may be copies of others.
    pub others: Vec<(RowId, u64)>,
    /// The hashed ids of calls in rows that are not sent with those of the history, or by
    /// themselves.
    pub called: HashSet<u64>,
    /// The hashed ids of results in such rows, which an agent may find by itself.
    pub answered: HashSet<u64>,
    /// Other files hold offsets into the session, so no row comes, goes or gets longer.
    pub keeps_offsets: bool,
    /// Bytes of the session that were read.
    pub read: u64,
    /// The rows, or the messages of a document.
    pub row_members: RowMembers,
    /// The members of all results that name the tool, beside those of the template. `None` without
    /// a result.
    pub naming: Option<Vec<String>>,
    /// The ids and the tools of the calls so far.
    called_ids: HashSet<Rc<str>>,
    tools: HashSet<Rc<str>>,
    known: HashSet<Rc<str>>,
    /// A row lacks an id.
    lacks_id: bool,
}

impl Reading {
    /// Reads a session. `mends`: with the rows that its damaged lines still hold.
    pub fn of(session: &SessionFile, mends: bool, progress: &Progress) -> Result<Option<Reading>, Failure> {
        let (mut trees, mut finder) = (HashMap::new(), DialectFinder::default());
        each_entry(session, mends, progress, &mut |row, entry| {
            for (layout, chain) in Layout::linked().filter(|(layout, _)| row.format.may_link(layout)) {
                // Rows without a message are in the chain too, those of side conversations are not.
                if entry.root.get(&chain[0]).is_some() && !layout.is_aside(entry.root) {
                    let tree = trees.entry(&layout.name).or_insert_with(|| SessionTree::of(layout));
                    tree.push(row.number, entry.root, chain);
                }
            }
            if !entry.is_aside() {
                entry.messages.iter().for_each(|message| finder.take(*message, entry.layout()));
            }
        })?;
        let Some((rules, layout)) = finder.found() else { return Ok(None) };
        let tree = layout.and_then(|layout| trees.remove(&layout.name));
        let mut reading = Reading {
            history: Records::of(rules, is_apart(layout)),
            layout,
            branch: tree.map(SessionTree::branch),
            ids: vec![],
            others: vec![],
            called: HashSet::new(),
            answered: HashSet::new(),
            keeps_offsets: session.keeps_offsets()?,
            read: 0,
            row_members: RowMembers::default(),
            naming: None,
            called_ids: HashSet::new(),
            tools: HashSet::new(),
            known: HashSet::new(),
            lacks_id: false,
        };
        reading.read =
            each_entry(session, mends, progress, &mut |row, entry| reading.take(row.number, entry))?;
        Ok(Some(reading))
    }

    fn take(&mut self, number: u64, entry: &RowEntry) {
        if !entry.format().is_document() {
            self.row_members.count(entry.root);
        }
        if entry.layout() != self.layout {
            return;
        }
        let chain = self.layout.and_then(|layout| layout.chain.as_ref());
        let own = chain
            .filter(|_| !entry.messages.is_empty())
            .map(|chain| RowId::of(entry.root, chain, &self.known));
        let is_sent = self.branch.as_ref().is_none_or(|branch| branch.holds(number));
        if entry.is_aside() || !is_sent {
            self.others.extend(own.map(|own| (own, number)));
            return self.take_aside(number, entry);
        }
        if chain.is_some() {
            let Some(own) = own else { return };
            // A row that is there twice is one: its host takes one of them.
            if !own.id.is_empty() && !self.known.insert(own.id.clone()) {
                return self.others.push((own, number));
            }
            self.lacks_id |= own.id.is_empty();
            self.ids.extend(entry.messages.iter().map(|_| own.clone()));
            self.row_members.push(entry.root);
        } else {
            entry.messages.iter().for_each(|message| self.row_members.push(*message));
            if entry.format().is_document() {
                entry.messages.iter().for_each(|message| self.row_members.count(*message));
            }
        }
        // A list of messages in a row takes the place of all before it.
        let is_checkpoint = |message: &Value| message.parent().is_some_and(Value::is_list);
        if !entry.format().is_document()
            && !self.history.rules.are_one
            && entry.messages.iter().any(is_checkpoint)
        {
            let rules = self.history.rules;
            let before = std::mem::replace(&mut self.history, Records::of(rules, is_apart(self.layout)));
            let ids = before.calls.iter().filter_map(|call| call.id.as_ref());
            self.called.extend(ids.map(|id| hash(id.as_bytes())));
            self.ids.clear();
        }
        let is_event = self.layout.is_some_and(|layout| layout.chain.is_some());
        for (message, nth) in entry.messages.iter().copied().zip(0..) {
            let first = self.history.answers.len();
            let parts = MessageParts::of(self.history.rules, message);
            self.history.push(number, nth, message, &parts);
            self.name(&parts);
            // A program reads its own events, and no model is sent a second one.
            let is_event = is_event && message == entry.root;
            self.history.answers[first..].iter_mut().for_each(|answer| answer.stays = is_event);
        }
    }

    /// Notes the ids in a row that no model is sent.
    fn take_aside(&mut self, number: u64, entry: &RowEntry) {
        // A row of another branch is never sent before one of this branch, unless the agent
        // itself looks for what belongs together.
        let mends = |what| self.layout.is_some_and(|layout| layout.mends(what));
        if mends(Mended::Results) || self.branch.as_ref().is_none_or(|branch| branch.held(number)) {
            let calls = entry.messages.iter().flat_map(|message| Table::get().calls(*message));
            self.called.extend(calls.filter_map(|call| Some(hash(call.id?.as_bytes()))));
        }
        if mends(Mended::Calls) && mends(Mended::Results) {
            let parts = entry.messages.iter().map(|message| MessageParts::of(self.history.rules, *message));
            let ids = parts.flat_map(|MessageParts { answers, dialect, .. }| {
                let id = |answer: Value| Some(hash(dialect?.id.first_text(answer)?.as_bytes()));
                answers.into_iter().filter_map(id).collect::<Vec<_>>()
            });
            self.answered.extend(ids);
        }
    }

    /// Notes the tools of calls, and the members of results that name theirs.
    fn name(&mut self, MessageParts { calls, dialect, answers }: &MessageParts) {
        for (kind, call) in calls.iter().copied() {
            self.called_ids.extend(kind.id.first_text(call).map(Rc::from));
            self.tools.extend(kind.tool_of(call).map(Rc::from));
        }
        for answer in answers.iter().copied() {
            let id = dialect.and_then(|dialect| dialect.id.first_text(answer));
            if id.is_none_or(|id| !self.called_ids.contains(&*id)) {
                continue;
            }
            let tools = &self.tools;
            let names = |name: &str| {
                answer.get(name).and_then(Value::string).is_some_and(|text| tools.contains(&*text))
            };
            let naming = self.naming.get_or_insert_with(|| {
                answer.members().filter_map(|member| member.name()?.string()).collect()
            });
            naming.retain(|name| names(name));
        }
    }

    /// Returns how freely results can be added, moved and removed, or `None` if they cannot.
    pub fn freedom(&self) -> Option<Freedom> {
        let is_free = self.layout.is_none_or(Layout::is_document);
        let may = |layout: &Layout| layout.chain.is_some() && layout.answer.is_some() && !self.lacks_id;
        let freedom = if is_free {
            Freedom::Free
        } else {
            self.layout.filter(|layout| may(layout)).map(|_| Freedom::Rows)?
        };
        (!self.keeps_offsets).then_some(freedom)
    }
}

/// Calls back with each row that is JSON, and returns the bytes read.
pub fn each_entry(
    session: &SessionFile,
    mends: bool,
    progress: &Progress,
    each: &mut dyn FnMut(&Row, &RowEntry),
) -> Result<u64, Failure> {
    let mut reading = RowReader::of_session(session);
    each_line(session, mends, progress, |bytes, _, _| {
        if let Some(row) = reading.next(bytes)
            && let Some(document) = row.document_on_node()
        {
            each(&row, &row.entry(&document));
        }
        Ok(())
    })
}
