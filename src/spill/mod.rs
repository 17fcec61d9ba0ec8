//! Full outputs on disk: saved as streams, found by id, read in parts, searched, and swept.

pub mod file_name;
pub mod identity;
pub mod key_file;
pub mod line_reader;
pub mod marks;
pub mod outlined;
pub mod pattern;
pub mod read;
pub mod search;
pub mod store;
pub mod sweep;
pub mod write;

pub use read::read;
pub use search::search;
pub use store::{Record, Store, list};
pub use sweep::sweep;
pub use write::SaveQueue;

/// An error of saving or reading outputs.
#[derive(Debug)]
pub enum StoreFailure {
    /// An error of the operating system.
    System(std::io::Error),
    /// A request that the store rejects, or an unknown output.
    Refused(String),
    /// An invalid search pattern.
    Pattern(String),
}

impl From<std::io::Error> for StoreFailure {
    fn from(error: std::io::Error) -> StoreFailure {
        StoreFailure::System(error)
    }
}
