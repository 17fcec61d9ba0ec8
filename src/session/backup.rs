//! Backups of a session: one from before its first repair, and one from before its latest.

use std::fs;
use std::io::{self, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::beside::{self, Owner};
use super::failure::Failure;
use super::lock::has_no_links;
use super::note::END;
use super::replacement::CHUNK;
use super::session_file::SessionFile;
use super::temp_file::{TempFile, with_end};
use crate::platform;

/// The ends of the names of backups.
pub const FIRST: &str = ".bak";
pub const LATEST: &str = ".bak.latest";

/// Fails if the name of a backup, or of the note beside it, is taken by anything but a file of the
/// owner, before a session is replaced that could then not be kept.
pub fn check(session: &SessionFile) -> Result<(), Failure> {
    let owner = Owner::Of(platform::owner(&session.found));
    let is_free = |end: &&str| beside::exists(&with_end(&session.path, end), owner).map(drop);
    [FIRST, LATEST, END].iter().try_for_each(is_free)
}

/// Keeps the replaced file as the backup of the latest repair, and also of the first if that is
/// missing. Returns its path. Both names are hard links to one file; on file systems without links,
/// only the first backup is made.
pub fn keep(old: &Path, session: &Path) -> io::Result<PathBuf> {
    keep_by(|first| fs::hard_link(old, first), old, session)
}

fn keep_by(link: impl Fn(&Path) -> io::Result<()>, old: &Path, session: &Path) -> io::Result<PathBuf> {
    let first = with_end(session, FIRST);
    let latest = with_end(session, LATEST);
    let is_first = match link(&first) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        Err(error) if has_no_links(&error) => {
            if fs::symlink_metadata(&first).is_err() {
                fs::rename(old, &first)?;
                // Left by an earlier repair.
                let _ = fs::remove_file(&latest);
                return Ok(first);
            }
            false
        }
        linked => {
            linked?;
            true
        }
    };
    fs::rename(old, &latest)?;
    // Renaming between two links to one file does nothing.
    let _ = fs::remove_file(old);
    Ok(if is_first { first } else { latest })
}

/// Copies a session that cannot have a second name.
pub fn copy(session: &SessionFile) -> Result<TempFile, Failure> {
    let (beside, file) = TempFile::make(&session.path, "", |path| platform::creation().open(path))?;
    session.give_rights(&file)?;
    session.from(0, |old| Ok(io::copy(&mut BufReader::with_capacity(CHUNK, old), &mut &file)?))?;
    file.sync_all()?;
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a directory with a session, and returns its path.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        (dir, session)
    }

    fn keep_text(session: &Path, text: &str) -> PathBuf {
        let old = with_end(session, ".old");
        fs::write(&old, text).unwrap();
        keep(&old, session).unwrap()
    }

    #[test]
    fn the_first_backup_stays_and_the_latest_follows() {
        let (dir, session) = place();
        let text = |end: &str| fs::read_to_string(with_end(&session, end)).unwrap();
        assert_eq!(keep_text(&session, "one"), with_end(&session, ".bak"));
        assert_eq!((text(".bak"), text(".bak.latest")), ("one".into(), "one".into()));
        assert_eq!(keep_text(&session, "two"), with_end(&session, ".bak.latest"));
        assert_eq!((text(".bak"), text(".bak.latest")), ("one".into(), "two".into()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn interrupted_backups_are_completed_by_the_next() {
        let (dir, session) = place();
        let old = with_end(&session, ".old");
        fs::write(&old, "one").unwrap();
        for name in [".bak", ".bak.latest"] {
            fs::hard_link(&old, with_end(&session, name)).unwrap();
        }
        keep(&old, &session).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn one_backup_suffices_without_hard_links() {
        let (dir, session) = place();
        let no_links = |_: &Path| Err(ErrorKind::Unsupported.into());
        fs::write(with_end(&session, ".bak.latest"), "of an earlier one").unwrap();
        for (text, end, files) in [("one", ".bak", 1), ("two", ".bak.latest", 2), ("three", ".bak.latest", 2)]
        {
            let old = with_end(&session, ".old");
            fs::write(&old, text).unwrap();
            assert_eq!(keep_by(no_links, &old, &session).unwrap(), with_end(&session, end));
            assert_eq!(fs::read_to_string(with_end(&session, end)).unwrap(), text);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), files);
        }
    }
}
