//! Why a session could not be read or repaired.

use std::io;

use super::answer::Answer;

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

impl Failure {
    /// What it is as JSON: a code, or the number that the system has for it, and a message.
    pub fn json(&self) -> String {
        let system;
        let (code, message) = match self {
            Failure::System(error) => {
                system = error.to_string();
                ("EIO", &system)
            }
            Failure::Locked { message, own: true } => ("OWN_LOCK", message),
            Failure::Locked { message, own: false } => ("ERR_SPILLWAY_LOCKED", message),
            Failure::Changed(message) => ("ERR_SPILLWAY_CHANGED", message),
            Failure::Format(message) => ("ERR_SPILLWAY_FORMAT", message),
            Failure::Stopped => ("STOPPED", &String::new()),
        };
        let answer = Answer::default().text("code", Some(code)).text("message", Some(message));
        let errno = match self {
            Failure::System(error) => error.raw_os_error().and_then(|errno| u64::try_from(errno).ok()),
            _ => None,
        };
        match errno {
            Some(errno) => answer.number("errno", errno).done(),
            None => answer.done(),
        }
    }
}
