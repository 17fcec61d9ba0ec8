//! Where frameworks keep the text of a tool result, read from rows of JSON.
//!
//! The table is `src/dialects.json`, the very one that `lib/dialect/dialect.ts` reads for live objects; what its fields
//! say is written there. Both readers find the same results, with the same slots, ids, error flags and copies beside
//! the text.

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
