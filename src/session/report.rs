//! The report of a repair.

use std::path::{Path, PathBuf};

use super::answer::Answer;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub changed: bool,
    pub rows: u64,
    pub clamped: u64,
    pub damaged: u64,
    pub torn_tail: bool,
    pub bytes_before: u64,
    pub bytes_after: u64,
    pub unmatched: usize,
    /// Rows recovered from repairs that were killed.
    pub recovered: u64,
    pub backup: Option<PathBuf>,
    pub reason: Option<Reason>,
}

/// The reason why nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    NothingToDo,
    EmptySession,
    DryRun,
    /// No row was recognised as part of a session.
    FormatUnknown,
}

impl Reason {
    pub fn text(self) -> &'static str {
        match self {
            Reason::NothingToDo => "nothing to do",
            Reason::EmptySession => "empty session",
            Reason::DryRun => "dry run",
            Reason::FormatUnknown => "format unknown",
        }
    }
}

impl Report {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let answer = Answer::default()
            .flag("changed", self.changed)
            .number("rows", self.rows)
            .number("clamped", self.clamped)
            .number("damaged", self.damaged)
            .flag("tornTail", self.torn_tail)
            .number("bytesBefore", self.bytes_before)
            .number("bytesAfter", self.bytes_after)
            .number("unmatched", self.unmatched as u64);
        let answer = match self.recovered {
            0 => answer,
            rows => answer.number("recovered", rows),
        };
        answer
            .text("backupPath", self.backup.as_deref().map(Path::to_string_lossy).as_deref())
            .text("reason", self.reason.map(Reason::text))
            .done()
    }
}
