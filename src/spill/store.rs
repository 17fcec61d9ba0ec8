//! The directory of saved outputs, and its files.
//!
//! The directory must belong to this user alone, which is checked before every use. Other files in
//! it are not followed, read or removed. This assumes that other users cannot rename the directory
//! itself: the caller chooses its parent.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::StoreFailure;
use super::file_name::{Alias, FileName, OutputSize};
use super::key_file::is_key;
use super::read::lines_of;
use crate::platform;

#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

/// A saved output. It is complete if the file holds all of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: String,
    pub path: PathBuf,
    pub whole: OutputSize,
    pub complete: bool,
}

/// A file of the store.
#[derive(Clone, Debug)]
pub struct StoredFile {
    pub name: FileName,
    pub size: u64,
    pub modified: SystemTime,
}

impl StoredFile {
    /// Returns true if the file holds the full output.
    pub fn is_complete(&self) -> bool {
        self.name.whole.is_some_and(|whole| whole.bytes == self.size)
    }
}

/// Attempts to find a file. Reading a directory while a file is renamed may return neither name.
const LOOKS: usize = 3;

/// Outputs whose names are kept, so that each page of one does not read the whole directory.
const OUTPUTS: usize = 64;

/// Names that a directory showed, with that directory.
static OPENED: Mutex<VecDeque<(PathBuf, FileName)>> = Mutex::new(VecDeque::new());

impl Store {
    pub fn at(dir: &str) -> Store {
        Store { dir: dir.into() }
    }

    pub fn path(&self, name: &FileName) -> PathBuf {
        self.dir.join(name.to_string())
    }

    /// Creates the directory if it does not exist. If this user's directory is accessible to
    /// others, it is restricted if it contains only saved outputs, and rejected otherwise.
    pub fn prepare(&self) -> Result<(), StoreFailure> {
        let Some(found) = self.check()? else {
            platform::private_dirs().create(&self.dir)?;
            return self.check().map(|_| ());
        };
        if !platform::is_open_to_others(&found) {
            return Ok(());
        }
        for file in fs::read_dir(&self.dir)? {
            if !file?.file_name().to_str().is_some_and(is_ours) {
                return Err(
                    self.refuse("can be entered by other users, and holds other files than saved outputs")
                );
            }
        }
        Ok(platform::close_to_others(&self.dir)?)
    }

    /// Rejects an untrusted directory. Returns `None` if it does not exist.
    fn check(&self) -> Result<Option<Metadata>, StoreFailure> {
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
        if !platform::is_ours(&found) {
            return Err(self.refuse("belongs to another user"));
        }
        Ok(Some(found))
    }

    fn refuse(&self, what: &str) -> StoreFailure {
        StoreFailure::Refused(format!("outputs are not saved in {}, which {what}", self.dir.display()))
    }

    pub fn path_of(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }

    /// Creates a file, which must not exist.
    pub fn create(&self, name: &FileName) -> io::Result<File> {
        self.create_named(&name.to_string())
    }

    pub fn create_named(&self, file: &str) -> io::Result<File> {
        platform::creation().open(self.path_of(file))
    }

    pub fn open_named(&self, file: &str) -> io::Result<File> {
        platform::open_itself(&self.path_of(file), OpenOptions::new().read(true))
    }

    /// Returns the aliases of outputs, or an empty list if there is no directory.
    pub fn aliases(&self) -> Result<Vec<Alias>, StoreFailure> {
        if self.check()?.is_none() {
            return Ok(vec![]);
        }
        let mut aliases = vec![];
        for file in fs::read_dir(&self.dir)? {
            aliases.extend(file?.file_name().to_str().and_then(Alias::parse));
        }
        Ok(aliases)
    }

    /// Returns the files of the store, oldest first, or an empty list if there is no directory.
    pub fn entries(&self) -> Result<Vec<StoredFile>, StoreFailure> {
        let mut entries = self.entries_of("")?;
        entries.sort_unstable_by(|one, other| {
            (one.modified, &one.name.id).cmp(&(other.modified, &other.name.id))
        });
        Ok(entries)
    }

    fn entries_of(&self, id: &str) -> Result<Vec<StoredFile>, StoreFailure> {
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

    /// Collects the files whose ids start with `id`. Returns false if one disappeared in the
    /// meantime: it may have been renamed.
    fn look(&self, id: &str, entries: &mut Vec<StoredFile>) -> Result<bool, StoreFailure> {
        let mut settled = true;
        for file in fs::read_dir(&self.dir)? {
            let file = file?;
            let name = file.file_name().to_str().and_then(FileName::parse);
            let Some(name) = name.filter(|name| name.id.starts_with(id)) else { continue };
            match file.metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => settled = false,
                Err(error) => return Err(error.into()),
                Ok(found) if found.is_file() && platform::is_ours(&found) => {
                    entries.push(StoredFile { name, size: found.len(), modified: found.modified()? });
                }
                Ok(_) => {}
            }
        }
        Ok(settled)
    }

    /// Opens the file of an id.
    pub fn open(&self, id: &str) -> Result<(StoredFile, File), StoreFailure> {
        if let Some(open) = self.open_again(id)? {
            return Ok(open);
        }
        for _ in 0..LOOKS {
            let found = match self.entries_of(id)?.pop() {
                None => self.entries_of_alias(id)?.pop(),
                entry => entry,
            };
            let Some(entry) = found else { continue };
            if let Some(open) = self.open_entry(entry)? {
                self.remember(&open.0.name);
                return Ok(open);
            }
        }
        Err(StoreFailure::Refused(format!(
            "no output is saved under {id}: there was none, or it was removed"
        )))
    }

    /// Returns the files of the output that was written under an id.
    fn entries_of_alias(&self, running: &str) -> Result<Vec<StoredFile>, StoreFailure> {
        match self.aliases()?.into_iter().find(|alias| alias.running == running) {
            Some(alias) => self.entries_of(&alias.id),
            None => Ok(vec![]),
        }
    }

    /// Opens a finished output under the name that the directory showed before, if that file is
    /// still there.
    fn open_again(&self, id: &str) -> Result<Option<(StoredFile, File)>, StoreFailure> {
        let Some(name) = self.recall(id) else { return Ok(None) };
        if self.check()?.is_none() {
            return Ok(None);
        }
        match fs::symlink_metadata(self.path(&name)) {
            Ok(found) if found.is_file() && platform::is_ours(&found) => {
                self.open_entry(StoredFile { name, size: found.len(), modified: found.modified()? })
            }
            _ => Ok(None),
        }
    }

    fn recall(&self, id: &str) -> Option<FileName> {
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, name) = opened.iter().find(|(dir, name)| name.id == id && *dir == self.dir)?;
        Some(name.clone())
    }

    /// Keeps the name of a finished output, which does not change, and forgets the oldest.
    fn remember(&self, name: &FileName) {
        if name.whole.is_none() {
            return;
        }
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|(dir, known)| known.id != name.id || *dir != self.dir);
        opened.truncate(OUTPUTS - 1);
        opened.push_front((self.dir.clone(), name.clone()));
    }

    /// Opens a listed file. Returns `None` if it was renamed or removed in the meantime.
    pub fn open_entry(&self, mut entry: StoredFile) -> Result<Option<(StoredFile, File)>, StoreFailure> {
        let file = match self.open_to_read(&entry.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        entry.size = file.metadata()?.len();
        Ok(Some((entry, file)))
    }

    pub fn open_to_read(&self, name: &FileName) -> io::Result<File> {
        self.open_named(&name.to_string())
    }

    /// Removes a file. Returns false if it did not exist.
    pub fn remove(&self, name: &FileName) -> io::Result<bool> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }
}

/// Returns true for the name of a file of a store.
fn is_ours(file: &str) -> bool {
    FileName::parse(file).is_some() || Alias::parse(file).is_some() || is_key(file)
}

/// Lists the outputs, oldest first. Unfinished outputs, including those of a terminated writer, are
/// not complete.
pub fn list(store: &Store) -> Result<Vec<Record>, StoreFailure> {
    let mut records = vec![];
    for entry in store.entries()? {
        match measure(store, entry) {
            Ok((entry, whole)) => {
                let (path, complete) = (store.path(&entry.name), entry.is_complete());
                records.push(Record { id: entry.name.id, path, whole, complete });
            }
            // It was removed in the meantime.
            Err(StoreFailure::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

/// Returns the size of an output. If its file was renamed in the meantime, searches for the id,
/// which reads the whole directory.
fn measure(store: &Store, entry: StoredFile) -> Result<(StoredFile, OutputSize), StoreFailure> {
    if let Some(whole) = entry.name.whole {
        return Ok((entry, whole));
    }
    let id = entry.name.id.clone();
    let (entry, file) = match store.open_entry(entry)? {
        Some(open) => open,
        None => store.open(&id)?,
    };
    let whole = match entry.name.whole {
        Some(whole) => whole,
        None => OutputSize { bytes: entry.size, lines: lines_of(&file, entry.size)? },
    };
    Ok((entry, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_output_is_opened_by_its_listed_name() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        store.prepare().unwrap();
        // A search by id, which reads the whole directory, would return one of these files for
        // both.
        std::fs::write(dir.path().join("0123456789abcdef.bash.part"), "one\ntwo").unwrap();
        std::fs::write(dir.path().join("0123456789abcdef.node.part"), "three").unwrap();
        let mut sizes: Vec<u64> = list(&store).unwrap().iter().map(|record| record.whole.bytes).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [5, 7]);
    }

    #[test]
    fn a_renamed_or_removed_output_is_searched_by_id() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        let part = dir.path().join("0123456789abcdef.bash.part");
        store.prepare().unwrap();
        std::fs::write(&part, "one\n").unwrap();
        let seen = store.entries().unwrap().remove(0);
        std::fs::rename(&part, dir.path().join("0123456789abcdef.bash.4b.1l.txt")).unwrap();
        assert!(measure(&store, seen.clone()).unwrap().0.is_complete());
        std::fs::remove_file(dir.path().join("0123456789abcdef.bash.4b.1l.txt")).unwrap();
        assert!(matches!(measure(&store, seen), Err(StoreFailure::Refused(_))));
    }

    #[test]
    fn the_name_of_an_opened_output_is_known_while_its_file_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        store.prepare().unwrap();
        let [part, whole, other] = ["part", "4b.1l.txt", "5b.1l.txt"]
            .map(|end| dir.path().join(format!("0123456789abcdef.bash.{end}")));
        let opened = || store.open("0123456789abcdef").map(|(entry, _)| entry.name.to_string()).ok();
        let is_known = || store.recall("0123456789abcdef").is_some();
        fs::write(&part, "one\n").unwrap();
        // This name will change.
        assert_eq!((opened().is_some(), is_known()), (true, false));
        fs::rename(&part, &whole).unwrap();
        assert_eq!((opened(), is_known()), (Some("0123456789abcdef.bash.4b.1l.txt".into()), true));
        assert_eq!(Store::at("elsewhere").recall("0123456789abcdef"), None);
        fs::rename(&whole, &other).unwrap();
        assert_eq!(opened(), Some("0123456789abcdef.bash.5b.1l.txt".into()));
        fs::remove_file(&other).unwrap();
        assert_eq!(opened(), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/null", &other).unwrap();
            assert_eq!((opened(), is_known()), (None, true));
        }
        for at in 0..OUTPUTS {
            let name =
                FileName::new("", "bash").finished(format!("{at:016x}"), OutputSize { bytes: 1, lines: 1 });
            store.remember(&name);
            store.remember(&name);
            assert_eq!(store.recall(&name.id), Some(name));
        }
        assert!(!is_known() && OPENED.lock().unwrap().len() <= OUTPUTS);
    }
}
