//! The report of a repair.

use std::path::PathBuf;

use serde::Serialize;

use super::cuts::Cuts;
use super::row_format::SessionKind;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairReport {
    pub changed: bool,
    pub format: SessionKind,
    pub rows: u64,
    pub clamped: u64,
    pub cuts: Cuts,
    pub damaged: u64,
    pub torn_tail: bool,
    /// Calls that were given a result, and those that the format has no way to give one.
    #[serde(skip_serializing_if = "is_none")]
    pub paired: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub unpaired: u64,
    /// Blanks that keep the length of rows, rows that would get longer by the marks for their
    /// secrets and keep these, and damaged rows that stay since none may go.
    #[serde(skip_serializing_if = "is_none")]
    pub padded: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub unredacted: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub unmended: u64,
    /// Results without a call, and second results of a call, that were removed, and those that the
    /// format has no way to remove.
    #[serde(skip_serializing_if = "is_none")]
    pub orphans: u64,
    #[serde(skip_serializing_if = "is_none")]
    pub strays: u64,
    /// Results that moved to their calls, ids and names that changed, and turns that became one.
    #[serde(skip_serializing_if = "is_none")]
    pub rearranged: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
    pub unmatched: usize,
    /// Rows recovered from repairs that were killed.
    #[serde(skip_serializing_if = "is_none")]
    pub recovered: u64,
    #[serde(skip_serializing_if = "Option::is_none", rename = "backupPath", serialize_with = "lossy")]
    pub backup: Option<PathBuf>,
    /// The file with scraps.
    #[serde(skip_serializing_if = "Option::is_none", rename = "damagedPath", serialize_with = "lossy")]
    pub aside: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<UnchangedReason>,
}

/// The reason why nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum UnchangedReason {
    #[serde(rename = "nothing to do")]
    NothingToDo,
    #[serde(rename = "empty session")]
    EmptySession,
    #[serde(rename = "dry run")]
    DryRun,
    /// A row that is not JSON may hold a result over the limits.
    #[serde(rename = "damaged rows")]
    DamagedRows,
    /// No row was recognised as part of a session.
    #[serde(rename = "format unknown")]
    FormatUnknown,
}

fn is_none(rows: &u64) -> bool {
    *rows == 0
}

fn lossy<S: serde::Serializer>(path: &Option<PathBuf>, out: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(out)
}
