//! Dialects: how frameworks store tool results, read from JSON rows.
//!
//! The table is `src/dialects.json`; `lib/dialect/results.ts` reads it for live objects and
//! documents its fields. The first row with a form that matches a value wins. Both readers find
//! equal results: texts, ids and error flags.

pub mod call_paths;
mod form;
pub mod pair_rules;
pub mod path;
pub mod result;
pub mod structured;
pub mod table;
mod unread;

pub use call_paths::{CallPaths, Template};
pub use pair_rules::PairRules;
pub use result::{Slot, ToolResult};
pub use table::Table;
