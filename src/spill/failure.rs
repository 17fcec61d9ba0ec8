//! Why an output could not be saved, or read back.

use std::io;

#[derive(Debug)]
pub enum Failure {
    /// What the operating system said.
    System(io::Error),
    /// What this store refuses or does not hold.
    Refused(String),
    /// What cannot be searched for.
    Pattern(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::System(error)
    }
}
