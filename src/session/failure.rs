//! Failures to read or repair a session.

use std::io;
use std::path::PathBuf;

use serde_json::json;

use crate::platform::{code_of, errno_of};

#[derive(Debug)]
pub enum Failure {
    /// An error of the operating system.
    System(io::Error),
    /// An error after the new file took its place. `kept`: the path of the old file, which the next
    /// repair settles.
    Late { error: io::Error, kept: Option<PathBuf> },
    /// An extended attribute that cannot be copied to the new file.
    Attribute(String),
    /// The lock is held, by this process itself if `own`: waiting cannot help then.
    Locked { message: String, own: bool },
    /// A file beside the session that is not read.
    Beside(String),
    /// The file changed in a way that cannot be carried over.
    Changed(String),
    /// The file is not JSON Lines.
    Format(String),
    /// A repair cannot be undone.
    Undo(String),
    /// A repair cannot be undone without rows that were appended since.
    Appended(String),
    /// A repair cannot be undone without losing other changes since.
    Newer(String),
    /// The caller stopped the work.
    Stopped,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::System(error)
    }
}

impl Failure {
    /// Returns the failure as JSON: a code, the system's error number, and a message; `late`
    /// describes the state after a replacement.
    pub fn json(&self) -> String {
        let error = match self {
            Failure::System(error) | Failure::Late { error, .. } => Some(error),
            _ => None,
        };
        let code = match self {
            Failure::System(error) | Failure::Late { error, .. } => code_of(error),
            Failure::Locked { own: true, .. } => "OWN_LOCK",
            Failure::Locked { .. } => "ERR_SPILLWAY_LOCKED",
            Failure::Beside(_) => "ERR_SPILLWAY_BESIDE",
            Failure::Changed(_) => "ERR_SPILLWAY_CHANGED",
            Failure::Attribute(_) => "ERR_SPILLWAY_ATTRIBUTE",
            Failure::Format(_) => "ERR_SPILLWAY_FORMAT",
            Failure::Undo(_) => "ERR_SPILLWAY_UNDO",
            Failure::Appended(_) => "ERR_SPILLWAY_APPENDED",
            Failure::Newer(_) => "ERR_SPILLWAY_NEWER",
            Failure::Stopped => "STOPPED",
        };
        let message = match self {
            Failure::System(error) | Failure::Late { error, .. } => error.to_string(),
            Failure::Locked { message, .. } => message.clone(),
            Failure::Beside(message)
            | Failure::Changed(message)
            | Failure::Attribute(message)
            | Failure::Format(message)
            | Failure::Undo(message)
            | Failure::Appended(message)
            | Failure::Newer(message) => message.clone(),
            Failure::Stopped => String::new(),
        };
        let mut told = json!({ "code": code, "message": message });
        let errno = error.and_then(errno_of).filter(|errno| *errno >= 0);
        told.as_object_mut().into_iter().for_each(|told| {
            told.extend(errno.map(|errno| ("errno".to_owned(), errno.into())));
            told.extend(self.late().map(|late| ("late".to_owned(), late.into())));
        });
        told.to_string()
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
