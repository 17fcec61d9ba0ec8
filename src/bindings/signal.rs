//! What a signal tells, for whoever passes it on.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::signal;

/// Listens to a signal that has a handler, for the two below.
#[napi(catch_unwind)]
pub fn watch_signal(number: i32) -> Result<()> {
    Ok(signal::watch(number)?)
}

/// Tells whether a signal that was heard came from the terminal, and so to this process as well. To be asked once for each.
#[napi(catch_unwind)]
pub fn terminal_reached(number: i32, process: i32) -> bool {
    signal::terminal_reached(number, process)
}

/// Returns the signal that ended the child which ended last; 0 where it exited.
#[napi(catch_unwind)]
pub fn child_ended_by() -> i32 {
    signal::ended_by()
}
