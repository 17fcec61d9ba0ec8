//! Why a session could not be read or repaired.

use std::io;

#[derive(Debug)]
pub enum Failure {
    /// What the operating system said.
    System(io::Error),
    /// Another holds the lock; `own`: this very process, so that waiting is no use.
    Locked { message: String, own: bool },
    /// The file changed in a way that cannot be carried over.
    Changed(String),
    /// It is no file of rows.
    Format(String),
    /// The caller asked to stop.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::System(error)
    }
}
