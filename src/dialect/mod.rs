//! Dialects: how frameworks store tool results, read from JSON rows.
//!
//! The table is `src/dialects.json`; `lib/dialect/dialect.ts` reads it for live objects and documents its fields. Both
//! readers find equal results: slots, ids, error flags and side data.

mod form;
mod names;
pub mod object;
pub mod path;
mod rest;
pub mod result;
pub mod table;

pub use object::Object;
pub use result::{Slot, ToolResult};
pub use table::Table;
