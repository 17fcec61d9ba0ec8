//! Copies of a session as it was: before its first repair, and before its latest.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::file::{Beside, with_end};
use super::lock::has_no_links;
use super::stored::Session;
use super::watch::Watch;
use crate::system;

/// Keeps a session as it is now, and returns where. Links cost nothing: what takes the session's place is another file.
pub fn keep(session: &Session, watch: &Watch) -> Result<PathBuf, Failure> {
    let first = with_end(&session.path, ".bak");
    let latest = with_end(&session.path, ".bak.latest");
    watch.step()?;
    let is_first = match add(session, &first) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        added => {
            added?;
            true
        }
    };
    watch.step()?;
    let (made, ()) = Beside::make(&session.path, |path| add(session, path))?;
    watch.step()?;
    made.rename(&latest)?;
    Ok(if is_first { first } else { latest })
}

/// Gives a session a second name until that is dropped; nothing where there are no links.
pub fn hold(session: &Session) -> Option<Beside> {
    Beside::make(&session.path, |name| fs::hard_link(&session.path, name)).ok().map(|(held, ())| held)
}

/// Keeps what was held as the session before its latest repair, and returns where.
pub fn keep_held(session: &Session, held: Beside) -> io::Result<PathBuf> {
    let latest = with_end(&session.path, ".bak.latest");
    held.rename(&latest)?;
    Ok(latest)
}

/// Gives a session a second name that is not taken, or a copy where there are no links.
fn add(session: &Session, name: &Path) -> io::Result<()> {
    match fs::hard_link(&session.path, name) {
        Err(error) if has_no_links(&error) => copy(session, name),
        linked => linked,
    }
}

/// Copies a session to a name that is not taken, where it appears whole.
fn copy(session: &Session, name: &Path) -> io::Result<()> {
    if fs::symlink_metadata(name).is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let (beside, file) = Beside::make(name, |path| system::creation().open(path))?;
    io::copy(&mut &File::open(&session.path)?, &mut &file)?;
    file.set_permissions(session.found.permissions())?;
    file.sync_all()?;
    beside.rename(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stays_and_the_latest_follows() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap().join("s.jsonl");
        let text = |end: &str| fs::read_to_string(with_end(&path, end)).unwrap();
        let keep = |text: &str| {
            // Another file each time, as after a repair.
            let _ = fs::remove_file(&path);
            fs::write(&path, text).unwrap();
            super::keep(&Session::open(path.clone()).unwrap(), &Watch::default()).unwrap()
        };
        assert_eq!(keep("one"), with_end(&path, ".bak"));
        assert_eq!((text(".bak"), text(".bak.latest")), ("one".into(), "one".into()));
        assert_eq!(keep("two"), with_end(&path, ".bak.latest"));
        assert_eq!((text(".bak"), text(".bak.latest")), ("one".into(), "two".into()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_copy_does_where_there_are_no_links() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "text").unwrap();
        let session = Session::open(path.clone()).unwrap();
        let name = with_end(&path, ".bak");
        copy(&session, &name).unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"text");
        assert_eq!(fs::metadata(&name).unwrap().permissions(), session.found.permissions());
        assert_eq!(copy(&session, &name).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
