//! Full outputs on disk: saved as they come, found by id, read in parts, searched, and swept.

pub mod failure;
pub mod name;
pub mod queue;
pub mod saving;
pub mod store;
pub mod writer;

pub use failure::Failure;
pub use saving::Saving;
pub use store::Store;
pub use writer::Record;
