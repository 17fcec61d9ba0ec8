//! Why a session could not be read or repaired.

use std::io;
use std::path::PathBuf;

use super::answer::Answer;
use crate::system::{code_of, errno_of};

#[derive(Debug)]
pub enum Failure {
    /// What the operating system said.
    System(io::Error),
    /// What it said once the new file was in its place; `kept`: where the old one waits for the next repair.
    Late { error: io::Error, kept: Option<PathBuf> },
    /// The file has an attribute that a new one cannot have.
    Attribute(String),
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
    /// What it is as JSON: a code, or the number that the system has for it, and a message; `late`: what had been done.
    pub fn json(&self) -> String {
        let system;
        let (code, message) = match self {
            Failure::System(error) | Failure::Late { error, .. } => {
                system = error.to_string();
                (code_of(error), &system)
            }
            Failure::Locked { message, own: true } => ("OWN_LOCK", message),
            Failure::Locked { message, own: false } => ("ERR_SPILLWAY_LOCKED", message),
            Failure::Changed(message) => ("ERR_SPILLWAY_CHANGED", message),
            Failure::Attribute(message) => ("ERR_SPILLWAY_ATTRIBUTE", message),
            Failure::Format(message) => ("ERR_SPILLWAY_FORMAT", message),
            Failure::Stopped => ("STOPPED", &String::new()),
        };
        let answer = Answer::default().text("code", Some(code)).text("message", Some(message));
        let errno = match self {
            Failure::System(error) | Failure::Late { error, .. } => {
                errno_of(error).and_then(|errno| u64::try_from(errno).ok())
            }
            _ => None,
        };
        let answer = match errno {
            Some(errno) => answer.number("errno", errno),
            None => answer,
        };
        answer.text("late", self.late().as_deref()).done()
    }

    /// The same where the new file had taken its place already.
    pub fn after_rename(self, kept: Option<PathBuf>) -> Failure {
        match self {
            Failure::System(error) => Failure::Late { error, kept },
            other => other,
        }
    }

    fn late(&self) -> Option<String> {
        let Failure::Late { kept, .. } = self else { return None };
        let kept = kept.as_ref().map(|kept| format!("; the next repair brings them from {}", kept.display()));
        let done = "the file was replaced, but rows that came meanwhile may be missing";
        Some(format!("{done}{}", kept.unwrap_or_default()))
    }
}
