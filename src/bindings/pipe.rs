//! System pipes, which Node cannot create.

use napi::bindgen_prelude::*;
use napi_derive::napi;

/// Opens a pipe that children do not inherit by default. Returns the reading and the writing end; the caller must close
/// both.
#[cfg(unix)]
#[napi(catch_unwind)]
pub fn open_pipe() -> Result<Vec<i32>> {
    use std::os::fd::IntoRawFd;

    let (from, to) = std::io::pipe()?;
    Ok(vec![from.into_raw_fd(), to.into_raw_fd()])
}
