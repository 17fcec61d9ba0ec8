//! What the context of a stored session is spent on.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

use super::body::Body;
use super::clamp::clamp_slots;
use super::entry::{Entry, Format, Place, format_of, is_blank, mark_of};
use super::failure::Failure;
use super::row::{Options, bodies_of};
use super::rows::{Rows, each_row};
use super::session::Session;
use super::watch::{Progress, Watch};
use crate::dialect::path::Follower;
use crate::dialect::{Object, Table, ToolResult};
use crate::text::Size;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub format: Shape,
    pub rows: u64,
    pub bytes: u64,
    pub results: u64,
    /// Largest first.
    pub by_tool: Vec<OfTool>,
    pub largest: Vec<OfResult>,
    pub oversized: u64,
    pub damaged: u64,
}

/// What kind of session a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    Pi,
    ClaudeCode,
    Messages,
    #[default]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfTool {
    pub tool: String,
    pub results: u64,
    pub chars: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfResult {
    /// The line of the file, counted from 1.
    pub row: u64,
    pub tool: Option<String>,
    pub call_id: Option<String>,
    pub chars: usize,
    pub bytes: usize,
}

/// A tool of which nobody says the name.
const UNKNOWN: &str = "unknown";

/// Reads a session, of which the `top` largest results are named.
pub fn inspect(path: &Path, options: &Options, top: usize, watch: &Watch) -> Result<Report, Failure> {
    watch.step()?;
    let session = Session::open(path.to_owned())?;
    let mut inspector = Inspector {
        options,
        top,
        format: None,
        line: 0,
        calls: Calls::default(),
        tools: BTreeMap::new(),
        report: Report::default(),
    };
    let mut rows = Rows::of(&session.file);
    let total = session.found.len();
    while let Some(block) = rows.next(|bytes| {
        watch.tell(Progress { bytes, total: total.max(bytes), ..watch.progress() });
        watch.step()
    })? {
        each_row(block).for_each(|row| inspector.take(row));
    }
    inspector.take(rows.rest());
    Ok(Report { bytes: rows.read, ..inspector.done() })
}

struct Inspector<'a> {
    options: &'a Options,
    top: usize,
    format: Option<Format>,
    line: u64,
    calls: Calls,
    tools: BTreeMap<String, OfTool>,
    report: Report,
}

/// The tools that were called, by the hashes of the ids of their calls.
#[derive(Debug, Default)]
struct Calls {
    names: Vec<String>,
    by_id: BTreeMap<u64, usize>,
}

impl Calls {
    fn put(&mut self, id: &str, tool: String) {
        let at = self.names.iter().position(|name| *name == tool).unwrap_or_else(|| {
            self.names.push(tool);
            self.names.len() - 1
        });
        self.by_id.insert(hash(id), at);
    }

    fn tool(&self, id: &str) -> Option<&String> {
        self.by_id.get(&hash(id)).map(|at| &self.names[*at])
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}

impl Inspector<'_> {
    fn take(&mut self, row: &[u8]) {
        self.line += 1;
        let row = if self.line == 1 { &row[mark_of(row)..] } else { row };
        if is_blank(row) {
            return;
        }
        self.report.rows += 1;
        let format = *self.format.get_or_insert_with(|| format_of(row));
        let Some(entry) = Entry::read(row, format) else {
            self.report.damaged += 1;
            return;
        };
        let (table, follower) = (Table::get(), Table::get().follower(row));
        let results = self.options.results(row, &entry);
        if self.report.format == Shape::Unknown {
            self.report.format = shape_of(follower, &entry, format, !results.is_empty());
        }
        if let Some(message) = &entry.message {
            table.each_call(row, message, |id, tool| self.calls.put(&id, tool));
        }
        for result in &results {
            self.count(follower, result);
        }
    }

    fn count(&mut self, follower: Follower, result: &ToolResult) {
        let row = follower.row;
        let bodies = bodies_of(row, result);
        let size = bodies.iter().map(Body::size).fold(Size::default(), |sum, size| sum + size);
        let Size { chars, bytes, .. } = size;
        let call_id = result.id(follower);
        let called = || call_id.as_deref().and_then(|id| self.calls.tool(id)).cloned();
        let tool = result.tool(follower).or_else(called);
        let rules = self.options.rules.failed(result.is_error(follower));
        self.report.oversized += u64::from(clamp_slots(row, &result.slots, &bodies, &rules).truncated);
        self.report.results += 1;
        let name = tool.clone().unwrap_or_else(|| UNKNOWN.to_owned());
        let of_tool =
            self.tools.entry(name.clone()).or_insert_with(|| OfTool { tool: name, ..OfTool::default() });
        of_tool.results += 1;
        of_tool.chars += chars;
        of_tool.bytes += bytes;
        let largest = &mut self.report.largest;
        let at = largest.partition_point(|other| other.chars >= chars);
        if at < self.top {
            largest.insert(at, OfResult { row: self.line, tool, call_id, chars, bytes });
            largest.truncate(self.top);
        }
    }

    fn done(self) -> Report {
        let mut by_tool: Vec<OfTool> = self.tools.into_values().collect();
        by_tool.sort_by_key(|of_tool| std::cmp::Reverse(of_tool.chars));
        Report { by_tool, ..self.report }
    }
}

fn shape_of(follower: Follower, entry: &Entry, format: Format, has_results: bool) -> Shape {
    let is_message = |message: &Object| {
        follower.text(message, "role").is_some() || Table::get().is_from_model(follower.row, message)
    };
    match (format, entry.place) {
        (Format::Pi { .. }, _) | (_, Place::Pi) => Shape::Pi,
        (_, Place::ClaudeCode) => Shape::ClaudeCode,
        _ if has_results || entry.message.as_ref().is_some_and(is_message) => Shape::Messages,
        _ => Shape::Unknown,
    }
}
