//! Saving full outputs.

use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use super::spill::{SpillFailure, SpillRow, outcome};
use super::task::Background;
use crate::spill::{Saving, Store};

/// Begins to save an output, keeping at most `room` bytes.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'saving'>")]
pub fn start_saving(dir: String, id: String, tool: String, room: f64) -> External<Arc<Saving>> {
    External::new(Saving::new(Store::at(&dir), &id, &tool, room as u64).into())
}

/// Buffers bytes and returns the number waiting to be written.
#[napi(catch_unwind)]
pub fn save_bytes(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
    bytes: &[u8],
) -> f64 {
    saving.push(bytes) as f64
}

/// Writes the buffered bytes.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn flush_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.flush().err().map(SpillFailure::from))
}

#[napi(catch_unwind, ts_return_type = "Promise<SpillRow | SpillFailure>")]
pub fn finish_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || outcome(saving.finish(), SpillRow::from))
}

/// Removes the saved part of an unfinished output.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn discard_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<Saving>>,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.discard().err().map(SpillFailure::from))
}
