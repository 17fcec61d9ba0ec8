//! What operating systems differ in.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Returns the number of an error, where it is one of C's.
pub fn errno_of(error: &io::Error) -> Option<i32> {
    error.raw_os_error().filter(|_| cfg!(unix))
}

/// Returns what Node calls an error of which the number tells nothing.
pub fn code_of(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "ENOENT",
        ErrorKind::PermissionDenied => "EACCES",
        ErrorKind::StorageFull => "ENOSPC",
        ErrorKind::ReadOnlyFilesystem => "EROFS",
        ErrorKind::FileTooLarge => "EFBIG",
        _ => "EIO",
    }
}

#[cfg(unix)]
pub use unix::*;

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

    use rustix::fs::{FlockOperation, Gid, OFlags, Uid, fchown, flock};
    use rustix::process::{Pid, test_kill_process};

    /// What tells a file from others that have had its name.
    pub fn identity(found: &Metadata) -> (u64, u64) {
        (found.dev(), found.ino())
    }

    /// Does not wait where there is a pipe.
    pub fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
    }

    /// Options to make a file for this user alone that was not there, and to write at its end.
    pub fn creation() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        options
    }

    pub fn is_directory() -> io::Error {
        rustix::io::Errno::ISDIR.into()
    }

    /// Gives a new file the owner and the mode of another.
    pub fn take_after(new: &File, old: &Metadata) -> io::Result<()> {
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            fchown(new, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())))?;
        }
        new.set_permissions(old.permissions())
    }

    /// Writes the names of a directory to disk, where that can be done. What was renamed has its name already, so that it
    /// is no failure where it cannot.
    pub fn sync_names(dir: &Path) {
        let _ = File::open(dir).and_then(|dir| dir.sync_all());
    }

    /// Whether a process lives; one of another user does too.
    pub fn is_alive(pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }

    /// When a process started, in ticks since the system did, where the system tells.
    pub fn started(pid: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the command may hold anything; it ends at the last bracket.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
    }

    /// Holds an open file against others who ask for the same, until it is closed or its process ends; false when one
    /// does. A file system without such locks holds nothing.
    pub fn hold(file: &File) -> bool {
        flock(file, FlockOperation::NonBlockingLockExclusive) != Err(rustix::io::Errno::WOULDBLOCK)
    }
}

#[cfg(not(unix))]
pub use other::*;

/// Where files have no identity, owner or number of their own, their age and size do.
#[cfg(not(unix))]
mod other {
    use super::*;
    use std::time::UNIX_EPOCH;

    pub fn identity(found: &Metadata) -> (u64, u64) {
        let created = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        (0, created.map_or(0, |at| at.as_nanos() as u64))
    }

    pub fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub fn creation() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        options
    }

    pub fn is_directory() -> io::Error {
        io::ErrorKind::IsADirectory.into()
    }

    pub fn take_after(new: &File, old: &Metadata) -> io::Result<()> {
        new.set_permissions(old.permissions())
    }

    pub fn sync_names(_: &Path) {}

    /// A lock of a process that ended without a word goes by its age.
    pub fn is_alive(_: u32) -> bool {
        true
    }

    pub fn started(_: u32) -> Option<u64> {
        None
    }

    pub fn hold(_: &File) -> bool {
        true
    }
}
