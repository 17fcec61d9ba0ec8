//! System pipes for child processes, which Node does not offer.

use std::os::fd::IntoRawFd;

use napi::bindgen_prelude::*;
use napi_derive::napi;

/// Opens a pipe that children do not inherit by default. Returns the reading and the writing end;
/// the caller must close both.
#[napi(catch_unwind)]
pub fn open_pipe() -> Result<Vec<i32>> {
    let (from, to) = std::io::pipe()?;
    Ok(vec![from.into_raw_fd(), to.into_raw_fd()])
}
