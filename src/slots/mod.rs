//! Texts and data of one tool result within limits, for results in memory and for stored rows.
//!
//! A slot is a place of a result that holds a text, or JSON that counts as a text. This room takes
//! strings and returns strings, so both readers use it: TypeScript brings the JSON of live values,
//! and [`session`](crate::session) that of rows.

pub mod caller;
pub mod clamp_slots;
pub mod held_text;
pub mod nested_json;
pub mod payload_name;
mod shared_texts;
pub mod side_data;
pub mod slot_json;
pub mod slot_rules;
pub mod slot_text;
