//! Tells the layout of a session from as few of its rows as it takes.

use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::progress::Progress;
use super::rewrite_row::RowOptions;
use super::row_format::SessionKind;
use super::rows::{RowReader, Rows, each_row};
use super::session_file::SessionFile;

/// The layout of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LayoutSource {
    pub format: SessionKind,
    /// The layout is known by the source of its agent alone.
    pub by_source: bool,
}

/// Reads a session up to the first row of a layout.
pub fn kind_of(path: &Path, options: &RowOptions, progress: &Progress) -> Result<LayoutSource, Failure> {
    progress.step()?;
    let session = SessionFile::open_any(path.to_owned())?;
    let (mut reading, mut format) = (RowReader::of_session(&session), SessionKind::Unknown);
    let mut rows = Rows::of_session(&session);
    let mut take = |row: &[u8]| {
        let Some(row) = reading.next(row) else { return SessionKind::Unknown };
        let Some(document) = row.document() else { return SessionKind::Unknown };
        let entry = row.entry(&document);
        SessionKind::of(&entry, !options.results(&entry).is_empty())
    };
    while format == SessionKind::Unknown
        && let Some(block) = rows.next(|_| progress.step())?
    {
        format =
            each_row(block).map(&mut take).find(|kind| *kind != SessionKind::Unknown).unwrap_or_default();
    }
    if format == SessionKind::Unknown {
        format = take(rows.rest());
    }
    // A damaged document shows its layout, and no messages.
    if let Some(layout) = session.document.filter(|_| format == SessionKind::Unknown) {
        format = SessionKind::Known(layout);
    }
    Ok(LayoutSource { format, by_source: matches!(format, SessionKind::Known(layout) if layout.by_source) })
}
