//! Pipes of the system, as Node makes none.

use napi::bindgen_prelude::*;
use napi_derive::napi;

/// Opens a pipe that no child inherits by itself: where to read, and where to write. Whoever asked has to close both.
#[cfg(unix)]
#[napi(catch_unwind)]
pub fn open_pipe() -> Result<Vec<i32>> {
    use std::os::fd::IntoRawFd;

    let (from, to) = std::io::pipe()?;
    Ok(vec![from.into_raw_fd(), to.into_raw_fd()])
}
