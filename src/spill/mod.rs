//! Full outputs on disk: saved as streams, found by id, read in parts, searched, and swept.

pub mod failure;
pub mod listing;
pub mod name;
pub mod pattern;
pub mod piece;
pub mod queue;
pub mod reader;
pub mod saving;
pub mod scan;
pub mod search;
pub mod store;
pub mod sweep;
pub mod writer;

pub use failure::Failure;
pub use listing::list;
pub use reader::read;
pub use saving::Saving;
pub use search::search;
pub use store::Store;
pub use sweep::sweep;
pub use writer::Record;
