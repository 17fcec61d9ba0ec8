//! Rows that wait to be written in order, while long rows before them are cut on threads of their
//! own.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use super::question::name_of;
use super::rewrite_row::{RowChange, RowOptions};
use super::rows::Row;
use crate::dialect::ToolResult;
use crate::json::Document;

/// Bytes from which cutting a row outweighs starting a thread by far.
const LONG: usize = 128 * 1024;
/// Bytes of a session from which threads are worth it. Of smaller ones, several are repaired at
/// once.
const LARGE: u64 = 16 << 20;
/// Maximum bytes that wait, besides the row that is read.
const MOST: usize = 32 << 20;
/// Bytes of a thread's stack, as libuv's threads have them.
const STACK: usize = 8 << 20;

#[derive(Debug)]
pub struct Ahead<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    options: &'s RowOptions,
    waiting: VecDeque<PendingRows<'s>>,
    /// Bytes and long rows that wait, and the maximum of these.
    bytes: usize,
    cutting: usize,
    most_cutting: usize,
}

#[derive(Debug)]
enum PendingRows<'s> {
    Rows(RowOutput),
    Cut(usize, ScopedJoinHandle<'s, RowOutput>),
}

/// Rows to be written.
#[derive(Debug, Default)]
pub struct RowOutput {
    pub rows: Vec<u8>,
    /// The rows differ from those of the old file.
    pub is_new: bool,
    /// Counts of a row cut on another thread.
    pub change: RowChange,
}

/// Questions to each result of a row, by the name that its call has.
pub type RowQuestions = Vec<(Option<String>, Vec<String>)>;

impl<'s, 'e> Ahead<'s, 'e> {
    /// `size`: the bytes of the session.
    pub fn new(scope: &'s Scope<'s, 'e>, options: &'s RowOptions, size: u64) -> Ahead<'s, 'e> {
        let cores = || thread::available_parallelism().map_or(1, |cores| cores.get().min(8));
        // One more than there are cores keeps these busy while the next row is read.
        let most_cutting = if size < LARGE { 0 } else { cores() + 1 };
        Ahead { scope, options, waiting: VecDeque::new(), bytes: 0, cutting: 0, most_cutting }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Returns true for a row that is long to cut. Redacted results may have other names, by which
    /// nothing was asked.
    pub fn takes(&self, row: &[u8]) -> bool {
        let policy = &self.options.rules.policy;
        self.most_cutting > 0
            && (LONG..=MOST).contains(&row.len())
            && policy.searches()
            && policy.redact.is_none()
    }

    /// Cuts a row on another thread, to a row of its length if it keeps that. Returns false if none
    /// can be started.
    pub fn cut(&mut self, row: Row, document: &Document, asked: RowQuestions, keeps_length: bool) -> bool {
        let Row { number, format, text } = row;
        let (options, rows, length, nodes) = (self.options, text.to_vec(), text.len(), document.nodes());
        let work = move || {
            let row = Row { number, format, text: &rows };
            let document = nodes.of(row.text);
            let ask = &mut |result: &ToolResult| {
                let name = name_of(result);
                asked.iter().find(|(of, _)| *of == name).map(|(_, texts)| texts.clone()).unwrap_or_default()
            };
            let mut change = options.rewrite(&rows, &row.entry(&document), &[], &[], ask);
            let new = change.row.take();
            match change.of_length(new, keeps_length.then_some(&rows)) {
                Some(rows) => RowOutput { rows, is_new: true, change },
                None => RowOutput { is_new: false, change, rows },
            }
        };
        let Ok(thread) = Builder::new().stack_size(STACK).spawn_scoped(self.scope, work) else {
            return false;
        };
        self.waiting.push_back(PendingRows::Cut(length, thread));
        self.bytes += length;
        self.cutting += 1;
        true
    }

    /// Lets rows wait for those before them.
    pub fn push(&mut self, rows: &[u8], is_new: bool) {
        self.bytes += rows.len();
        match self.waiting.back_mut() {
            Some(PendingRows::Rows(last)) if last.is_new == is_new => last.rows.extend_from_slice(rows),
            _ => self.waiting.push_back(PendingRows::Rows(RowOutput {
                rows: rows.to_vec(),
                is_new,
                ..RowOutput::default()
            })),
        }
    }

    /// Returns the next rows. `all`: waits for them in any case, not only if too many wait.
    pub fn next(&mut self, all: bool) -> Option<RowOutput> {
        let waits = all || self.bytes > MOST || self.cutting >= self.most_cutting;
        match self.waiting.front()? {
            PendingRows::Cut(_, thread) if !waits && !thread.is_finished() => return None,
            _ => {}
        }
        match self.waiting.pop_front()? {
            PendingRows::Rows(rows) => {
                self.bytes -= rows.rows.len();
                Some(rows)
            }
            PendingRows::Cut(length, thread) => {
                self.bytes -= length;
                self.cutting -= 1;
                Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Keep, Policy};
    use crate::session::progress::Progress;
    use crate::session::repair::{RepairRequest, repair};
    use crate::session::row_format::RowFormat;
    use crate::slots::slot_rules::SlotRules;
    use std::fs;
    use std::time::SystemTime;

    fn options() -> RowOptions {
        let policy = Policy { keep: Keep::Auto, ..Policy::default() };
        RowOptions { rules: SlotRules { policy, clean: None }, asks: true, ..RowOptions::default() }
    }

    #[test]
    fn rows_stay_in_order() {
        let result = |at: usize, length: usize| {
            let line = format!("{at}: é some words of a line that says nothing\\n");
            format!("{{\"role\":\"tool\",\"content\":\"{}\"}}\n", line.repeat(length / line.len()))
        };
        let lengths = [500, 2_000_000, 60_000, 90, 150_000, 140_000, 3_000, 300_000, 1_200_000, 40, 70_000];
        let mut rows: Vec<String> = (0..55).map(|at| result(at, lengths[at % lengths.len()])).collect();
        rows[20] = format!("{{not JSON{}\n", " ".repeat(LONG));
        rows[30] = "\n".into();
        assert!(rows.concat().len() as u64 >= LARGE);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, rows.concat()).unwrap();
        let options = options();
        let request = RepairRequest {
            path: path.clone(),
            options: options.clone(),
            budget: None,
            backup: false,
            dry_run: false,
            lock: false,
            mend: false,
            pairs: false,
            born: SystemTime::now(),
        };
        let report = repair(&request, &Progress::default()).unwrap();
        let rewritten = |text: &String| {
            let row = Row { number: 0, format: RowFormat::default(), text: text.as_bytes() };
            let document = row.document()?;
            options.rewrite(row.text, &row.entry(&document), &[], &[], &mut |_| vec![]).row
        };
        let new: Vec<Option<Vec<u8>>> = rows.iter().map(rewritten).collect();
        assert_eq!(report.clamped, new.iter().flatten().count() as u64);
        let all = rows.iter().zip(new).map(|(old, new)| new.unwrap_or_else(|| old.clone().into_bytes()));
        assert!(fs::read(&path).unwrap() == all.collect::<Vec<_>>().concat());
    }
}
