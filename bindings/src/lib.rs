//! The Node-API boundary: one file per capability, and each export is a thin shell.
//!
//! Numbers travel in reused `Float64Array`s, since objects cost ten times as much to read or make
//! here. Every export catches panics: an uncaught one would end the host process.

// Test builds do not register napi-derive exports, so they are unused.
#![cfg_attr(test, allow(dead_code))]

mod ahead;
mod answer;
mod capture;
mod clean;
mod cut;
mod held_strings;
mod items;
mod media;
mod pairs;
mod plan;
mod policy;
#[cfg(unix)]
mod process;
mod redact;
mod session;
mod shape;
mod slots;
mod spill;
mod structured;
mod task;
mod text;
mod truncate;
mod units;
mod whole_lines;
mod words;
