//! Truncates the output of tools.
//!
//! An agent's tool may return far more text than a model can read. This crate measures such a text,
//! determines the parts to keep within hard limits, and writes the notice about the omitted parts.
//! TypeScript (`lib/`) handles the caller's objects; all decisions are made here. The crate in
//! `bindings/` is the shell between the two.
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
//! - [`hash`]: hashes of texts.
//! - [`platform`]: differences between operating systems.
//!
//! An agent in Rust depends on this crate alone: nothing in it knows Node-API. Text that fits comes
//! back as it came, and no content makes it panic.
//!
//! ```
//! use std::sync::Arc;
//!
//! use spillway::encoding::Utf8;
//! use spillway::limits::Limits;
//! use spillway::policy::Policy;
//! use spillway::redact::{SecretRules, redacted};
//! use spillway::truncate::{input::Input, truncate};
//!
//! /// Returns the output of a tool as a model may read it: without secrets, in at most 300 bytes.
//! fn for_model(output: &str) -> String {
//!     let safe = redacted(output, &Arc::new(SecretRules::default()));
//!     let safe = safe.unwrap_or_else(|| output.into());
//!     let policy = Policy { limits: Limits { bytes: 300, ..Limits::NONE }, ..Policy::default() };
//!     let input = Input::whole(Utf8(&safe));
//!     match truncate(&input, &policy) {
//!         Some(cut) => cut.string(&input),
//!         None => String::from_utf8_lossy(&safe).into_owned(),
//!     }
//! }
//!
//! let log = "compiling\n".repeat(500) + "error: no such key\n" + &"closing\n".repeat(500);
//! let text = for_model(&log);
//! assert!(text.len() <= 300);
//! assert!(text.contains("\nerror: no such key\n"));
//! assert_eq!(for_model("3 tests passed"), "3 tests passed");
//! ```

#![deny(missing_debug_implementations, rustdoc::broken_intra_doc_links)]
// The essays at the heads of modules name constants that only their modules see.
#![allow(rustdoc::private_intra_doc_links)]

pub mod capture;
pub mod clean;
pub mod dialect;
pub mod encoding;
mod expression;
pub mod extent;
mod fair;
pub mod hash;
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
