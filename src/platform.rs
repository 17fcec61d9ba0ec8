//! Differences between operating systems.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Returns the `errno` of an error, or `None` outside Unix.
pub fn errno_of(error: &io::Error) -> Option<i32> {
    error.raw_os_error().filter(|_| cfg!(unix))
}

/// Returns Node's code for an error without an `errno`.
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

/// Returns the file's number within its file system, taken from [`identity`].
pub fn number(found: &Metadata) -> u64 {
    identity(found).1
}

#[cfg(unix)]
pub use unix::*;

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::{Permissions, TryLockError};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

    use rustix::fs::{Gid, OFlags, Uid, fchown};
    use rustix::process::{Pid, geteuid, test_kill_process};

    /// Returns an identity that distinguishes a file from its successors under that name.
    pub fn identity(found: &Metadata) -> (u64, u64) {
        (found.dev(), found.ino())
    }

    /// Opens a file without blocking on a FIFO.
    pub fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
    }

    /// Returns options that create a private file, fail if it exists, and append.
    pub fn creation() -> OpenOptions {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        options
    }

    pub fn is_directory() -> io::Error {
        rustix::io::Errno::ISDIR.into()
    }

    /// Opens a file without following a symbolic link.
    pub fn open_itself(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32).open(path)
    }

    /// Returns the user id of a file's owner.
    pub fn owner(found: &Metadata) -> u32 {
        found.uid()
    }

    pub fn is_ours(found: &Metadata) -> bool {
        owner(found) == geteuid().as_raw()
    }

    pub fn is_open_to_others(found: &Metadata) -> bool {
        found.mode() & 0o077 != 0
    }

    pub fn close_to_others(dir: &Path) -> io::Result<()> {
        std::fs::set_permissions(dir, Permissions::from_mode(0o700))
    }

    /// Returns a builder of private directories, and of their parents.
    pub fn private_dirs() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
    }

    /// Copies the owner of a file to a new one.
    pub fn take_owner(new: &File, old: &Metadata) -> io::Result<()> {
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            fchown(new, Some(Uid::from_raw(old.uid())), Some(Gid::from_raw(old.gid())))?;
        }
        Ok(())
    }

    /// Copies the mode of a file to a new one, without setuid and setgid.
    pub fn take_mode(new: &File, old: &Metadata) -> io::Result<()> {
        new.set_permissions(Permissions::from_mode(old.mode() & 0o777))
    }

    /// Syncs the names of a directory to disk if possible. Errors are ignored, since a rename has
    /// already taken effect.
    pub fn sync_names(dir: &Path) {
        let _ = File::open(dir).and_then(|dir| dir.sync_all());
    }

    /// Returns true if the process is alive, under any user.
    pub fn is_alive(pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }

    /// Returns the start time of a process in ticks since boot, if the system reports it.
    pub fn started(pid: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // A command's name may contain any character; it ends at the last bracket.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
    }

    /// Locks an open file until it is closed or the process ends. Returns false if another process
    /// holds the lock. On file systems without locks this always succeeds.
    pub fn hold(file: &File) -> bool {
        !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Like [`hold`], but waits for the lock.
    pub fn hold_after_others(file: &File) {
        while file.lock().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {}
    }

    /// Returns false if the file was removed after it was opened.
    pub fn has_name(found: &Metadata) -> bool {
        found.nlink() > 0
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub use linux::*;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use super::*;
    use std::ffi::CString;

    use rustix::fs::{
        CWD, RenameFlags, XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, renameat_with,
    };
    use rustix::io::Errno;

    /// Exchanges two names atomically, or fails with `Unsupported` if the file system cannot.
    pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(ErrorKind::Unsupported.into()),
            done => Ok(done?),
        }
    }

    /// Attributes that describe a file's bytes or the rights of a program; they do not apply to a
    /// file with other bytes.
    const OF_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.evm", b"security.ima"];
    /// The maximum length of a list of names or a value.
    const LONGEST: usize = 64 * 1024;

    fn attributes(file: &File) -> io::Result<Vec<(CString, Vec<u8>)>> {
        let mut names = vec![0; LONGEST];
        let length = match flistxattr(file, &mut names[..]) {
            Err(Errno::NOTSUP | Errno::NOSYS) => 0,
            length => length?,
        };
        names.truncate(length);
        let mut all = vec![];
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            if OF_CONTENT.contains(&name) {
                continue;
            }
            let (name, mut value) = (CString::new(name)?, vec![0; LONGEST]);
            let length = match fgetxattr(file, &name, &mut value[..]) {
                Err(Errno::NODATA) => continue,
                length => length?,
            };
            value.truncate(length);
            all.push((name, value));
        }
        Ok(all)
    }

    /// Makes the extended attributes of a new file equal to those of another, access lists
    /// included. On failure returns the name of the attribute that cannot be kept.
    pub fn take_attributes(new: &File, old: &File) -> Result<(), (String, io::Error)> {
        let tell = |name: &CString| {
            let name = name.to_string_lossy().into_owned();
            move |errno: Errno| (name, io::Error::from(errno))
        };
        let list = |file| attributes(file).map_err(|error| ("*".to_owned(), error));
        let (wanted, made) = (list(old)?, list(new)?);
        for (name, _) in made.iter().filter(|(name, _)| wanted.iter().all(|(other, _)| other != name)) {
            fremovexattr(new, name).map_err(tell(name))?;
        }
        for attribute in wanted.iter().filter(|attribute| !made.contains(attribute)) {
            let (name, value) = attribute;
            fsetxattr(new, name, value, XattrFlags::empty()).map_err(tell(name))?;
        }
        Ok(())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub use no_linux::*;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod no_linux {
    use super::*;

    pub fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn take_attributes(_: &File, _: &File) -> Result<(), (String, io::Error)> {
        Ok(())
    }
}

#[cfg(not(unix))]
pub use other::*;

/// Other systems give files no identity, owner or number; creation time and size stand in.
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

    pub fn open_itself(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        options.open(path)
    }

    pub fn owner(_: &Metadata) -> u32 {
        0
    }

    pub fn is_ours(_: &Metadata) -> bool {
        true
    }

    /// The directory protects its files.
    pub fn is_open_to_others(_: &Metadata) -> bool {
        false
    }

    pub fn close_to_others(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn private_dirs() -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        builder
    }

    pub fn take_owner(_: &File, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    pub fn take_mode(new: &File, old: &Metadata) -> io::Result<()> {
        new.set_permissions(old.permissions())
    }

    pub fn sync_names(_: &Path) {}

    /// Locks abandoned by a dead process expire by age.
    pub fn is_alive(_: u32) -> bool {
        true
    }

    pub fn started(_: u32) -> Option<u64> {
        None
    }

    /// Here a held file cannot be read by others, as it must be.
    pub fn hold(_: &File) -> bool {
        true
    }

    pub fn hold_after_others(_: &File) {}

    pub fn has_name(_: &Metadata) -> bool {
        true
    }
}
