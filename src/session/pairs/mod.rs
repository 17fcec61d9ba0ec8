//! Tool calls and their results in a stored session: the twin of `lib/pairs`, which repairs live
//! histories. Both come to the same messages, and a property test holds them to it.
//!
//!   reading  What a model is sent of the session, as records of its calls and results (`history`).
//!   pairing  The call of each result, by id, then by tool, then by place (`known` has the calls).
//!   layout   Each message and block of the new history, by the rules of the provider.
//!   changes  The same as changes of rows: what goes, what comes after a row, and which list is new.
//!
//! A repair must not take away what a host can open. So a host's rows are treated as its own
//! program treats them:
//!
//! - Where rows have ids, a result that is put in is a row with an id, and the next row names it.
//!   It has the members that all rows of the file have (`around`). Ids of calls stay.
//! - Where rows are named by number, or other files hold byte offsets of them, no row comes in or
//!   goes: calls and results that would need it are only counted.
//! - A call and a result that are one object are completed in their place.
//!
//! Each step takes time in the size of the session: calls are looked up by their marks, and one
//! that has a result is not visited again.

mod around;
mod changes;
pub mod history;
mod ids;
mod known;
mod layout;
mod pairing;
mod pieces;
pub mod reading;
pub mod sound;
mod stand_in;
mod template;
mod words;

pub use changes::{Changes as Pairs, NAMING};
