//! The secret of a store in a directory: a file beside the outputs, made once.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};

use super::StoreFailure;
use super::identity::StoreKey;
use super::store::Store;
use crate::platform;

/// Name of the file.
pub const NAME: &str = "key";

/// Returns the key of a prepared directory. The first process makes it; all that start at the same
/// time use one.
pub fn key_of(store: &Store) -> Result<StoreKey, StoreFailure> {
    loop {
        if let Some(key) = read(store)? {
            return Ok(key);
        }
        make(store)?;
    }
}

/// Reads the key. Returns `None` if there is none, if a process died while it made one, or if
/// another user may know it.
fn read(store: &Store) -> io::Result<Option<StoreKey>> {
    let mut bytes = vec![];
    let file = match store.open_named(NAME) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let found = file.metadata()?;
    if !found.is_file() || !platform::is_ours(&found) || platform::is_open_to_others(&found) {
        return Ok(None);
    }
    file.take(StoreKey::BYTES as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == StoreKey::BYTES).then(|| StoreKey::of(&bytes)))
}

/// Makes a key under another name first: a key is there whole or not at all.
fn make(store: &Store) -> io::Result<()> {
    // Keyed hashes, whose keys the system has drawn: as hard to guess as random numbers.
    let random = || RandomState::new().build_hasher().finish();
    let bytes: Vec<u8> = (0..StoreKey::BYTES / 8).flat_map(|_| random().to_le_bytes()).collect();
    let draft = format!("{NAME}.{:016x}", random());
    let mut file = store.create_named(&draft)?;
    let [from, to] = [&draft, NAME].map(|name| store.path_of(name));
    let made = file.write_all(&bytes).and_then(|()| file.sync_all()).and_then(|()| {
        match fs::hard_link(&from, &to) {
            // Another process was faster, unless its key is of no use.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && read(store)?.is_some() => Ok(()),
            Ok(()) => Ok(()),
            // The file system has no links.
            Err(_) => fs::rename(&from, &to),
        }
    });
    let _ = fs::remove_file(&from);
    made
}

/// Returns true for the name of a key, or of one that is being made.
pub fn is_key(file: &str) -> bool {
    let draft = file.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('.'));
    file == NAME
        || draft.is_some_and(|end| end.len() == 16 && end.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::file_name::OutputSize;
    use crate::spill::identity::Identity;

    fn id(key: StoreKey) -> String {
        Identity::new(key, "", "").finished(OutputSize { bytes: 0, lines: 0 })
    }

    #[test]
    fn processes_that_start_at_once_use_one_key() {
        let dir = tempfile::tempdir().unwrap();
        let ids: Vec<String> = std::thread::scope(|scope| {
            let start = || {
                let store = Store::at(dir.path().to_str().unwrap());
                id(key_of(&store).unwrap_or_else(|_| panic!("no key")))
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]));
        let names = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), [NAME]);
    }

    #[test]
    fn a_key_that_is_not_whole_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        fs::write(dir.path().join(NAME), "short").unwrap();
        let [one, other] = [(), ()].map(|()| id(key_of(&store).unwrap_or_else(|_| panic!("no key"))));
        assert_eq!(one, other);
        assert!(is_key("key") && is_key("key.0123456789abcdef") && !is_key("keys") && !is_key("key.txt"));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        let planted = [7; StoreKey::BYTES];
        let file = dir.path().join(NAME);
        fs::write(&file, planted).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let key = key_of(&store).unwrap_or_else(|_| panic!("no key"));
        assert_ne!(id(key), id(StoreKey::of(&planted)));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    }
}
