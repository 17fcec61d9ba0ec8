//! Files beside a session, which anyone who may write to its directory can put there.
//!
//! A link of such a name may lead to a file that only this process may read, a FIFO may never end,
//! and what another user wrote must not become a part of a session. So each is opened here: links
//! are not followed, and only a regular file of the owner of the session is read. New files are
//! created under names that nothing has, which follows no link either.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

use super::failure::Failure;
use crate::platform;

/// The users whose file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The owner of the session, by its id.
    Of(u32),
    /// Any, for a lock: no byte of it is kept, and whoever may write to a session may lock it.
    Any,
}

/// Opens a file beside a session for reading. Returns `None` if there is none.
pub fn open(path: &Path, owner: Owner) -> Result<Option<(File, Metadata)>, Failure> {
    if !exists(path, owner)? {
        return Ok(None);
    }
    let file = match platform::open_itself(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    // Another file may have taken the name.
    let found = file.metadata()?;
    check(path, &found, owner)?;
    Ok(Some((file, found)))
}

/// Returns true if a name beside a session is taken. Fails unless that is by a file of the owner.
pub fn exists(path: &Path, owner: Owner) -> Result<bool, Failure> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        found => check(path, &found?, owner).map(|()| true),
    }
}

/// Fails unless a file is a regular file of the owner.
fn check(path: &Path, found: &Metadata, owner: Owner) -> Result<(), Failure> {
    let is = match () {
        () if found.is_symlink() => "a symbolic link",
        () if found.is_dir() => "a directory",
        () if !found.is_file() => "a device, pipe or socket",
        () if owner != Owner::Any && owner != Owner::Of(platform::owner(found)) => {
            "a file of another user than the owner of the session"
        }
        () => return Ok(()),
    };
    let name = path.display();
    Err(Failure::Beside(format!(
        "{name} is {is}, which is not read or replaced; move it away and run this again"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn only_files_of_the_owner_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "text").unwrap();
        fs::create_dir(path("directory")).unwrap();
        let own = platform::owner(&fs::metadata(path("file")).unwrap());
        let (mut file, _) = open(&path("file"), Owner::Of(own)).unwrap().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open(&path("missing"), Owner::Of(own)).unwrap().is_none());
        let refused = |name: &str, owner: Owner| match open(&path(name), owner) {
            Err(Failure::Beside(message)) => message.contains(name),
            _ => false,
        };
        assert!(refused("directory", Owner::Any));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
            std::os::unix::fs::symlink(path("missing"), path("dangling")).unwrap();
            rustix::fs::mknodat(rustix::fs::CWD, path("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
                .unwrap();
            for name in ["link", "dangling", "fifo"] {
                assert!(refused(name, Owner::Any) && refused(name, Owner::Of(own)), "{name}");
            }
            assert!(refused("file", Owner::Of(own + 1)));
            assert!(open(&path("file"), Owner::Any).unwrap().is_some());
        }
    }
}
