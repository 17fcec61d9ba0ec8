//! Details of child processes that Node does not offer: system pipes, and the senders of signals.

use std::os::fd::IntoRawFd;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::signal;

/// Opens a pipe that children do not inherit by default. Returns the reading and the writing end; the caller must close
/// both.
#[napi(catch_unwind)]
pub fn open_pipe() -> Result<Vec<i32>> {
    let (from, to) = std::io::pipe()?;
    Ok(vec![from.into_raw_fd(), to.into_raw_fd()])
}

/// Watches a signal that has a handler, for the two functions below.
#[napi(catch_unwind)]
pub fn watch_signal(number: i32) -> Result<()> {
    Ok(signal::watch(number)?)
}

/// Returns true if a received signal came from the terminal and so reached `process` as well. Call it once per signal.
#[napi(catch_unwind)]
pub fn terminal_reached(number: i32, process: i32) -> bool {
    signal::terminal_reached(number, process)
}

/// Returns the signal that ended the most recent child, or 0 if it exited.
#[napi(catch_unwind)]
pub fn child_ended_by() -> i32 {
    signal::ended_by()
}
