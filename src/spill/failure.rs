//! Errors of saving and reading outputs.

use std::io;

#[derive(Debug)]
pub enum Failure {
    /// An error of the operating system.
    System(io::Error),
    /// A request that the store rejects, or an unknown output.
    Refused(String),
    /// An invalid search pattern.
    Pattern(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::System(error)
    }
}
