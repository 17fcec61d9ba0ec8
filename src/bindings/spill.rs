//! Saving full outputs, and reading them back.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::task::Background;
use crate::spill::{Failure, Record, Saving, Store};

/// Why something could not be done. Of what the system refused the number is given, and a name where that means nothing.
#[napi(object)]
pub struct SpillFailure {
    pub code: Option<String>,
    pub errno: Option<i32>,
    pub message: String,
}

impl From<Failure> for SpillFailure {
    fn from(failure: Failure) -> SpillFailure {
        let (code, message) = match failure {
            Failure::System(error) if cfg!(unix) && error.raw_os_error().is_some() => {
                return SpillFailure { code: None, errno: error.raw_os_error(), message: error.to_string() };
            }
            Failure::System(error) => (name_of(error.kind()), error.to_string()),
            Failure::Refused(message) => ("ERR_SPILLWAY_SPILL", message),
            Failure::Pattern(message) => ("ERR_SPILLWAY_OPTION", message),
        };
        SpillFailure { code: Some(code.to_owned()), errno: None, message }
    }
}

/// What Node calls an error whose number is none of C's.
fn name_of(kind: std::io::ErrorKind) -> &'static str {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::StorageFull => "ENOSPC",
        ErrorKind::ReadOnlyFilesystem => "EROFS",
        ErrorKind::FileTooLarge => "EFBIG",
        _ => "EIO",
    }
}

#[napi(object)]
pub struct SpillRow {
    pub id: String,
    pub path: String,
    pub bytes: f64,
    pub lines: f64,
    pub complete: bool,
}

impl From<Record> for SpillRow {
    fn from(record: Record) -> SpillRow {
        SpillRow {
            id: record.id,
            path: record.path.to_string_lossy().into_owned(),
            bytes: record.whole.bytes as f64,
            lines: record.whole.lines as f64,
            complete: record.complete,
        }
    }
}

/// Begins to save an output of which `room` bytes are kept.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'saving'>")]
pub fn start_saving(dir: String, id: String, tool: String, room: f64) -> External<Arc<Saving>> {
    External::new(Saving::new(Store::at(&dir), &id, &tool, room as u64).into())
}

/// Takes bytes, and returns how many wait to be written.
#[napi(catch_unwind)]
pub fn save_bytes(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
    bytes: &[u8],
) -> f64 {
    saving.push(bytes) as f64
}

/// Writes what waits.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn flush_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background<Option<SpillFailure>>> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.flush().err().map(SpillFailure::from))
}

#[napi(catch_unwind, ts_return_type = "Promise<SpillRow | SpillFailure>")]
pub fn finish_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background<Either<SpillRow, SpillFailure>>> {
    let saving = Arc::clone(saving);
    Background::run(move || either(saving.finish()))
}

/// Removes what was saved of an output that is not finished.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn discard_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background<Option<SpillFailure>>> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.discard().err().map(SpillFailure::from))
}

fn either<T, R: From<T>>(outcome: std::result::Result<T, Failure>) -> Either<R, SpillFailure> {
    match outcome {
        Ok(value) => Either::A(value.into()),
        Err(failure) => Either::B(failure.into()),
    }
}
