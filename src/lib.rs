//! Truncates the output of tools.
//!
//! An agent's tool may return far more text than a model can read. This crate measures such a text,
//! determines the parts to keep within hard limits, and writes the notice about the omitted parts.
//! TypeScript (`lib/`) handles the caller's objects; all decisions are made here.
//!
//! - [`policy`], [`limits`]: the options of a caller.
//! - [`encoding`], [`tokens`], [`extent`]: a text as UTF-16 or UTF-8, its size and its tokens.
//! - [`media`]: images, audio and files, by their first bytes.
//! - [`notice`]: the words about omitted text, and their recognition in a text that was cut before.
//! - [`clean`]: the output of terminals as plain text.
//! - `sieve`: the places where one of many short texts may begin.
//! - [`redact`]: secrets replaced by marks.
//! - [`relevance`]: the worth of lines to a question.
//! - [`selection`]: the lines of a text or a stream that matter.
//! - [`truncate`]: the cut of a text that is over its limits.
//! - [`capture`]: both ends and the findings of a process's output, in bounded memory.
//! - [`share`]: one budget across the blocks of a result.
//! - [`plan`]: one budget across the results of a history.
//! - [`json`]: rows of JSON, read and edited in place.
//! - [`outline`]: a JSON value as lines that a person reads.
//! - [`shape`]: JSON within limits that still parses.
//! - [`dialect`]: the formats in which frameworks store tool results.
//! - [`slots`]: the texts of one tool result within limits, and the data beside them.
//! - [`session`]: stored sessions, inspected and repaired.
//! - [`spill`]: full outputs on disk.
//! - `hash`: hashes of texts.
//! - [`platform`]: differences between operating systems.
//! - `bindings`: the only module that uses Node-API.
//!
//! ```
//! use spillway::encoding::Utf8;
//! use spillway::limits::Limits;
//! use spillway::notice::Notice;
//! use spillway::policy::{Keep, Policy};
//! use spillway::truncate::{input::Input, truncate};
//!
//! let log = "starting\n".repeat(500) + "error: no such file\n";
//! let policy = Policy {
//!     keep: Keep::Tail,
//!     limits: Limits { lines: 3, ..Limits::NONE },
//!     notice: Notice::Pi,
//!     ..Policy::default()
//! };
//! let input = Input::whole(Utf8(log.as_bytes()));
//! let cut = truncate(&input, &policy).expect("it is longer than three lines");
//! let text = cut.utf8(&input);
//! assert_eq!(text, b"[... 4491 more characters truncated]\nstarting\nerror: no such file\n");
//! ```

#![deny(missing_debug_implementations)]

// Test builds do not register napi-derive exports, so the bindings are unused.
#[cfg_attr(test, allow(dead_code))]
mod bindings;
pub mod capture;
pub mod clean;
pub mod dialect;
pub mod encoding;
mod expression;
pub mod extent;
mod fair;
mod hash;
pub mod json;
pub mod limits;
pub mod media;
pub mod notice;
pub mod outline;
pub mod pairs;
pub mod plan;
pub mod platform;
pub mod policy;
mod prepare;
pub mod redact;
pub mod relevance;
pub mod selection;
pub mod session;
pub mod shape;
pub mod share;
mod sieve;
pub mod slots;
pub mod spill;
pub mod tokens;
pub mod truncate;
