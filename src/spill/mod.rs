//! Full outputs on disk: saved as streams, found by id, read in parts, searched, and swept.

pub mod failure;
pub mod file_name;
pub mod line_reader;
pub mod listing;
pub mod pattern;
pub mod piece;
pub mod queue;
pub mod read;
pub mod search;
pub mod store;
pub mod sweep;
pub mod write;
pub mod writer;

pub use failure::Failure;
pub use listing::list;
pub use read::read;
pub use search::search;
pub use store::Store;
pub use sweep::sweep;
pub use write::Saving;
pub use writer::Record;
