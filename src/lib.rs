//! Decides what stays of a tool's output.
//!
//! A tool of an agent may answer with far more than a model can read. This crate measures such a text, finds what to
//! keep of it within hard limits, and words the notice that tells what is missing. TypeScript (`lib/`) touches the
//! caller's objects; everything that is decided is decided here.
//!
//! - [`policy`], [`limits`]: what a caller asked for.
//! - [`text`]: sizes, cuts and notices of one text, as UTF-16 or UTF-8, and its cleaning.
//! - [`outcome`], [`lined`]: what a cut leaves of a text, and of one with lines over the limit.
//! - [`findings`]: the lines of a text or a stream that tell what went wrong.
//! - [`capture`]: both ends and the findings of a process's output, however much of it comes.
//! - [`share`], [`room`]: one budget over the blocks of a result.
//! - [`context`]: a context window, and one budget over the results of a history.
//! - [`json`]: rows of JSON, read and written where they stand.
//! - [`dialect`]: where frameworks keep the text of a tool result.
//! - [`session`]: stored sessions, looked through and repaired.
//! - [`spill`]: full outputs on disk.
//! - `signal`: who sent a signal, and how a child ended.
//! - `hash`: numbers that stand for texts.
//! - [`system`]: what operating systems differ in.
//! - `bindings`: the only place that knows Node-API.
//!
//! ```
//! use spillway::limits::Limits;
//! use spillway::policy::{Keep, Policy};
//! use spillway::text::{Source, Utf8, clamp, notice::Notice};
//!
//! let log = "starting\n".repeat(500) + "error: no such file\n";
//! let policy = Policy {
//!     keep: Keep::Tail,
//!     limits: Limits { lines: 3, ..Limits::NONE },
//!     notice: Notice::Pi,
//!     ..Policy::default()
//! };
//! let source = Source::whole(Utf8(log.as_bytes()));
//! let cut = clamp(&source, &policy).expect("it is longer than three lines");
//! let text = String::from_utf16_lossy(&source.compose(&cut));
//! assert_eq!(text, "[... 4491 more characters truncated]\nstarting\nerror: no such file\n");
//! ```

#![deny(missing_debug_implementations)]

// In a test build napi-derive registers nothing, so nothing calls the shells.
#[cfg_attr(test, allow(dead_code))]
mod bindings;
pub mod capture;
pub mod context;
pub mod dialect;
pub mod findings;
mod hash;
pub mod json;
pub mod limits;
pub mod lined;
pub mod outcome;
pub mod policy;
pub mod room;
pub mod session;
pub mod share;
#[cfg(unix)]
#[cfg_attr(test, allow(dead_code))]
mod signal;
pub mod spill;
pub mod system;
pub mod text;
