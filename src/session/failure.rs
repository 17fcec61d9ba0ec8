//! Failures to read or repair a session.

use std::io;
use std::path::PathBuf;

use super::answer::Answer;
use crate::platform::{code_of, errno_of};

#[derive(Debug)]
pub enum Failure {
    /// An error of the operating system.
    System(io::Error),
    /// An error after the new file took its place. `kept`: the path of the old file, which the next repair settles.
    Late { error: io::Error, kept: Option<PathBuf> },
    /// An extended attribute that cannot be copied to the new file.
    Attribute(String),
    /// The lock is held, by this process itself if `own`: waiting cannot help then.
    Locked { message: String, own: bool },
    /// The file changed in a way that cannot be carried over.
    Changed(String),
    /// The file is not JSON Lines.
    Format(String),
    /// The caller stopped the work.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::System(error)
    }
}

impl Failure {
    /// Returns the failure as JSON: a code, the system's error number, and a message; `late` describes the state after
    /// a replacement.
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

    /// Turns an error of the system into one after the replacement.
    pub fn after_rename(self, kept: Option<PathBuf>) -> Failure {
        match self {
            Failure::System(error) => Failure::Late { error, kept },
            other => other,
        }
    }

    fn late(&self) -> Option<String> {
        let Failure::Late { kept, .. } = self else { return None };
        let kept =
            kept.as_ref().map(|kept| format!("; the next repair restores them from {}", kept.display()));
        let done = "the file was replaced, but rows appended meanwhile may be missing";
        Some(format!("{done}{}", kept.unwrap_or_default()))
    }
}
