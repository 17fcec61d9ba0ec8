//! The lock of a session: `FILE.lock`, in the format of OpenClaw.
//!
//! It contains the process id and start time of its holder, and its own creation time. A lock is
//! created as a link to a complete file, so readers never see a partial one. A stale lock is
//! removed only if it is still the lock that was judged stale.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::Value;

use super::beside::{self, Owner};
use super::failure::Failure;
use super::iso8601;
use super::progress::Progress;
use super::temp_file::TempFile;
use crate::platform;

/// The end of a lock's name.
pub const END: &str = ".lock";

/// A lock held by this process until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    identity: (u64, u64),
    /// Kept open to prevent reuse of the file identity.
    file: File,
}

/// Age from which OpenClaw considers a lock stale.
const OLDEST: Duration = Duration::from_secs(30 * 60);
/// Bytes read of a lock. Locks are shorter.
const LONGEST: u64 = 64 * 1024;
/// Attempts to acquire a lock that disappears in the meantime.
const TRIES: usize = 8;

/// Returns the path of the lock. It is beside the path used by the caller, with links resolved only
/// in the directory.
pub fn path_of(file: &Path) -> io::Result<PathBuf> {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = file.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut name = name.to_owned();
    name.push(END);
    Ok(fs::canonicalize(dir)?.join(name))
}

impl Lock {
    /// Acquires a lock, or fails with its holder. `born`: start time of this process. Older locks
    /// without a start time are not its own.
    pub fn take(path: &Path, born: SystemTime, progress: &Progress) -> Result<Lock, Failure> {
        for _ in 0..TRIES {
            progress.step()?;
            if let Some(lock) = Lock::make(path, progress)? {
                return Ok(lock);
            }
            let Some(held) = LockFile::read(path)? else { continue };
            match held.judge(born, SystemTime::now()) {
                LockState::Stale => held.clear(path, born)?,
                LockState::LockFile(by) => {
                    let own = by == Some(std::process::id());
                    let state = match by {
                        Some(_) if own => "is held by this process, in another place".into(),
                        Some(pid) => format!("is held by process {pid}"),
                        None => {
                            "is held, and does not name its holder (where no agent runs, remove it)".into()
                        }
                    };
                    return Err(Failure::Locked { message: format!("{} {state}", path.display()), own });
                }
            }
        }
        let message =
            format!("could not lock {}: it changed hands {TRIES} times; run this again", path.display());
        Err(Failure::Locked { message, own: false })
    }

    /// Creates the lock, or returns `None` if there is one.
    fn make(path: &Path, progress: &Progress) -> Result<Option<Lock>, Failure> {
        let (beside, mut file) = TempFile::make(path, "", create)?;
        file.write_all(payload(SystemTime::now()).as_bytes())?;
        let identity = platform::identity(&file.metadata()?);
        progress.note();
        match fs::hard_link(beside.path(), path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            Err(error) if has_no_links(&error) => return Lock::make_in_place(path),
            Err(error) => return Err(error.into()),
        }
        progress.note();
        Ok(Some(Lock { path: path.to_owned(), identity, file }))
    }

    /// Like [`Lock::make`], for file systems without hard links. The lock is briefly empty.
    fn make_in_place(path: &Path) -> Result<Option<Lock>, Failure> {
        let file = match create(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            file => file?,
        };
        let identity = platform::identity(&file.metadata()?);
        let lock = Lock { path: path.to_owned(), identity, file };
        (&lock.file).write_all(payload(SystemTime::now()).as_bytes())?;
        Ok(Some(lock))
    }
}

impl Drop for Lock {
    /// Releases the lock, unless it was replaced.
    fn drop(&mut self) {
        let is_ours =
            fs::symlink_metadata(&self.path).is_ok_and(|found| platform::identity(&found) == self.identity);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Creates a lock file, which other users may read.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Returns true if the error indicates a file system without hard links.
pub fn has_no_links(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unsupported
            | ErrorKind::PermissionDenied
            | ErrorKind::CrossesDevices
            | ErrorKind::TooManyLinks
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LockOwner {
    pid: u32,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    starttime: Option<u64>,
}

fn payload(now: SystemTime) -> String {
    let pid = std::process::id();
    let payload = LockOwner { pid, created_at: iso8601::iso(now), starttime: platform::started(pid) };
    serde_json::to_string_pretty(&payload).unwrap_or_default()
}

/// An existing lock.
#[derive(Debug)]
struct LockFile {
    file: File,
    found: Metadata,
    pid: Option<u32>,
    created: Option<SystemTime>,
    started: Option<u64>,
}

/// The state of a lock, and the process that holds it if the lock names one.
#[derive(Debug, PartialEq, Eq)]
enum LockState {
    Stale,
    LockFile(Option<u32>),
}

impl LockFile {
    /// Reads a lock, or returns `None` if it no longer exists.
    fn read(path: &Path) -> Result<Option<LockFile>, Failure> {
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            // Some libraries lock with a directory. It does not identify its holder, and we must
            // not remove it.
            let message = format!("{} is held by a program that locks with a directory", path.display());
            return Err(Failure::Locked { message, own: false });
        }
        let Some((file, found)) = beside::open(path, Owner::Any)? else { return Ok(None) };
        let mut text = vec![];
        (&file).take(LONGEST).read_to_end(&mut text)?;
        let payload: Value = serde_json::from_slice(&text).unwrap_or_default();
        let pid = payload["pid"].as_u64().and_then(|pid| pid.try_into().ok()).filter(|pid| *pid > 0);
        let created = payload["createdAt"].as_str().and_then(iso8601::parse);
        Ok(Some(LockFile { file, found, pid, created, started: payload["starttime"].as_u64() }))
    }

    /// Determines if the lock is held or stale.
    fn judge(&self, born: SystemTime, now: SystemTime) -> LockState {
        let is_old = |since: SystemTime| now.duration_since(since).is_ok_and(|age| age > OLDEST);
        // A lock without a process id may still be being written.
        let Some(pid) = self.pid else {
            let is_stale = self.found.modified().is_ok_and(is_old);
            return if is_stale { LockState::Stale } else { LockState::LockFile(None) };
        };
        let is_recycled = self.started.zip(platform::started(pid)).is_some_and(|(then, now)| then != now);
        if !platform::is_alive(pid) || is_recycled {
            return LockState::Stale;
        }
        let held = LockState::LockFile(Some(pid));
        if pid == std::process::id() {
            // Without a start time, an older process with the same id may have created it.
            let is_older = self.started.is_none() && self.created.is_some_and(|created| created < born);
            return if is_older { LockState::Stale } else { held };
        }
        let since = self.created.or_else(|| self.found.modified().ok());
        if since.is_some_and(is_old) { LockState::Stale } else { held }
    }

    /// Removes a stale lock, unless it was replaced. An advisory lock on the file itself serialises
    /// concurrent removals.
    fn clear(&self, path: &Path, born: SystemTime) -> Result<(), Failure> {
        if !platform::hold(&self.file) {
            return Ok(());
        }
        let again = LockFile::read(path)?;
        let is_same = again.as_ref().is_some_and(|again| {
            platform::identity(&again.found) == platform::identity(&self.found)
                && again.judge(born, SystemTime::now()) == LockState::Stale
        });
        if is_same {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}
