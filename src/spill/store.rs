//! The directory of saved outputs, and its files.
//!
//! The directory must belong to this user alone, which is checked before every use. Other files in it are not followed,
//! read or removed. This assumes that other users cannot rename the directory itself: the caller chooses its parent.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::failure::Failure;
use super::file_name::Name;

#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

/// A file of the store.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: Name,
    pub size: u64,
    pub modified: SystemTime,
}

impl Entry {
    /// Returns true if the file holds the full output.
    pub fn is_complete(&self) -> bool {
        self.name.whole.is_some_and(|whole| whole.bytes == self.size)
    }
}

/// Attempts to find a file. Reading a directory while a file is renamed may return neither name.
const LOOKS: usize = 3;

impl Store {
    pub fn at(dir: &str) -> Store {
        Store { dir: dir.into() }
    }

    pub fn path(&self, name: &Name) -> PathBuf {
        self.dir.join(name.to_string())
    }

    /// Creates the directory if it does not exist. If this user's directory is accessible to others, it is restricted
    /// if it contains only saved outputs, and rejected otherwise.
    pub fn prepare(&self) -> Result<(), Failure> {
        let Some(found) = self.check()? else {
            private(DirBuilder::new().recursive(true)).create(&self.dir)?;
            return self.check().map(|_| ());
        };
        if !owner::is_open_to_others(&found) {
            return Ok(());
        }
        for file in fs::read_dir(&self.dir)? {
            if file?.file_name().to_str().and_then(Name::parse).is_none() {
                return Err(
                    self.refuse("can be entered by other users, and holds other files than saved outputs")
                );
            }
        }
        Ok(owner::close_to_others(&self.dir)?)
    }

    /// Rejects an untrusted directory. Returns `None` if it does not exist.
    fn check(&self) -> Result<Option<Metadata>, Failure> {
        let found = match fs::symlink_metadata(&self.dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        if found.is_symlink() {
            return Err(self.refuse("is a symbolic link"));
        }
        if !found.is_dir() {
            return Err(self.refuse("is not a directory"));
        }
        if !owner::is_ours(&found) {
            return Err(self.refuse("belongs to another user"));
        }
        Ok(Some(found))
    }

    fn refuse(&self, what: &str) -> Failure {
        Failure::Refused(format!("outputs are not saved in {}, which {what}", self.dir.display()))
    }

    /// Creates a file, which must not exist.
    pub fn create(&self, name: &Name) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        owner::restrict(&mut options).open(self.path(name))
    }

    /// Returns the files of the store, oldest first, or an empty list if there is no directory.
    pub fn entries(&self) -> Result<Vec<Entry>, Failure> {
        let mut entries = self.entries_of("")?;
        entries.sort_unstable_by(|one, other| {
            (one.modified, &one.name.id).cmp(&(other.modified, &other.name.id))
        });
        Ok(entries)
    }

    fn entries_of(&self, id: &str) -> Result<Vec<Entry>, Failure> {
        if self.check()?.is_none() {
            return Ok(vec![]);
        }
        let mut entries = vec![];
        for _ in 0..LOOKS {
            entries.clear();
            if self.look(id, &mut entries)? {
                break;
            }
        }
        Ok(entries)
    }

    /// Collects the files whose ids start with `id`. Returns false if one disappeared in the meantime: it may have been
    /// renamed.
    fn look(&self, id: &str, entries: &mut Vec<Entry>) -> Result<bool, Failure> {
        let mut settled = true;
        for file in fs::read_dir(&self.dir)? {
            let file = file?;
            let name = file.file_name().to_str().and_then(Name::parse);
            let Some(name) = name.filter(|name| name.id.starts_with(id)) else { continue };
            match file.metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => settled = false,
                Err(error) => return Err(error.into()),
                Ok(found) if found.is_file() && owner::is_ours(&found) => {
                    entries.push(Entry { name, size: found.len(), modified: found.modified()? });
                }
                Ok(_) => {}
            }
        }
        Ok(settled)
    }

    /// Opens the file of an id.
    pub fn open(&self, id: &str) -> Result<(Entry, File), Failure> {
        for _ in 0..LOOKS {
            let Some(entry) = self.entries_of(id)?.pop() else { continue };
            if let Some(open) = self.open_entry(entry)? {
                return Ok(open);
            }
        }
        Err(Failure::Refused(format!("no output is saved under {id}: there was none, or it was removed")))
    }

    /// Opens a listed file. Returns `None` if it was renamed or removed in the meantime.
    pub fn open_entry(&self, mut entry: Entry) -> Result<Option<(Entry, File)>, Failure> {
        let file = match self.open_to_read(&entry.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        entry.size = file.metadata()?.len();
        Ok(Some((entry, file)))
    }

    pub fn open_to_read(&self, name: &Name) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        owner::restrict(&mut options).open(self.path(name))
    }

    /// Removes a file. Returns false if it did not exist.
    pub fn remove(&self, name: &Name) -> io::Result<bool> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    builder
}

/// Owner and permissions of files.
#[cfg(unix)]
mod owner {
    use super::*;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};

    use rustix::fs::OFlags;

    pub fn is_ours(found: &Metadata) -> bool {
        found.uid() == rustix::process::geteuid().as_raw()
    }

    pub fn is_open_to_others(found: &Metadata) -> bool {
        found.mode() & 0o077 != 0
    }

    pub fn close_to_others(dir: &Path) -> io::Result<()> {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
    }

    /// Does not follow links or block on pipes, and creates files with permissions for this user only.
    pub fn restrict(options: &mut OpenOptions) -> &mut OpenOptions {
        options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
    }
}

/// Without file modes, the directory protects its files, and only age shows if one is still being written.
#[cfg(not(unix))]
mod owner {
    use super::*;

    pub fn is_ours(_: &Metadata) -> bool {
        true
    }

    pub fn is_open_to_others(_: &Metadata) -> bool {
        false
    }

    pub fn close_to_others(_: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn restrict(options: &mut OpenOptions) -> &mut OpenOptions {
        options
    }
}
