//! Tool calls and their results in a stored session, repaired by the rules of [`crate::pairs`].
//!
//!   reading  What a model is sent of the session, as records of its calls and results (`parts`).
//!   changes  The new arrangement as changes of rows: what goes, what comes after a row, and which
//!            list is new.
//!
//! A repair must not take away what a host can open. So a host's rows are treated as its own
//! program treats them:
//!
//! - Where rows have ids, a result that is put in is a row with an id, and the next row names it.
//!   It has the members that all rows of the file have (`row_members`). Ids of calls stay.
//! - Where rows are named by number, or other files hold byte offsets of them, no row comes in or
//!   goes: calls and results that would need it are only counted.
//! - A call and a result that are one object are completed in their place.

mod changes;
mod parts;
mod pieces;
pub mod reading;
mod row_members;
mod template;
pub mod well_paired;
mod word_changes;

pub use changes::{NAMING, RowChanges};
