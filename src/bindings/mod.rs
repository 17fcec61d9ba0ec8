//! The only place that knows Node-API: one file per capability, each export a shell.
//!
//! Numbers come and go in `Float64Array`s that TypeScript keeps, since an object costs ten times as much to read or
//! make here. Every export catches panics: an uncaught one would end the host process.

mod answer;
mod capture;
mod clean;
mod cut;
mod findings;
mod pipe;
mod plan;
mod policy;
mod saving;
mod session;
mod share;
#[cfg(unix)]
mod signal;
mod spill;
mod task;
mod text;
mod units;
mod whole_lines;
mod window;

use napi_derive::napi;

/// Panics, so that a test can see a panic arrive as an error.
#[napi(catch_unwind)]
pub fn panic_for_test() {
    panic!("asked to panic");
}
