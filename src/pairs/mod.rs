//! Gives every tool call of a history its result, where its provider expects it.
//!
//! Live histories and stored sessions are repaired by the same steps. `lib/pairs` and
//! `session/pairs` read the messages as records, and write what is decided here.
//!
//!   pairing      The call of each result, by id, then by tool, then by place (`call_index` has the
//!                calls). Results with ids come first, so none loses its call to a result without.
//!   renames      Names for calls whose ids the provider rejects.
//!   arrangement  Each message and block of the new history, by the rules of the provider.
//!   plan         The same as changes of the messages that stay.
//!
//! A second result of a call is dropped, unless the first stands in for a missing one (`stand_in`).
//! A call without a result gets one that says so. A result without a call is dropped, or becomes
//! words of the user.
//!
//! Each step takes time in the size of the history: calls are looked up by their marks, and one
//! that has a result is not visited again.

pub mod arrangement;
mod call_index;
pub mod pairing;
pub mod plan;
pub mod records;
pub mod renames;
pub mod stand_in;
