//! Temporary files beside a session, removed unless they replace another file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{lock, note, scraps};
use crate::platform;

/// A file name beside the session. The file is removed on drop.
#[derive(Debug)]
pub struct TempFile {
    path: PathBuf,
}

/// The suffix of these names: it contains the process id, its start time, a counter and an optional
/// state.
const MARK: &str = ".spillway-";
const END: &str = ".tmp";

/// The ends of the names of files that are written beside a session.
const BESIDE: [&str; 3] = [lock::END, note::END, scraps::END];

impl TempFile {
    /// Makes a file under an unused name that contains a state.
    pub fn make<T>(
        path: &Path,
        state: &str,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(TempFile, T)> {
        loop {
            let path = own_name(path, state);
            match make(&path) {
                // Left by a process with the same id.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    let made = made?;
                    return Ok((TempFile { path }, made));
                }
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file.
    pub fn rename(&mut self, to: PathBuf) -> io::Result<()> {
        fs::rename(&self.path, &to)?;
        self.path = to;
        Ok(())
    }

    /// Keeps the file, and returns its path.
    pub fn leave(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Appends to the last component of a path.
pub fn with_end(path: &Path, end: impl AsRef<OsStr>) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// The state of a swap, stored in the name of a file; see [`super::swap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwapState {
    /// The inode numbers of the old file and the new one.
    pub old: u64,
    pub new: u64,
    /// Bytes of old that were carried over to new, and how many of them belong to an incomplete
    /// last row.
    pub read: u64,
    pub rest: u64,
    /// The length of the session before the row at `read` was appended to it, and the hash of that
    /// row as appended; 0 if there is none.
    pub written: u64,
    pub row: u64,
    /// Keep old as a backup.
    pub backup: bool,
}

impl SwapState {
    pub fn text(&self) -> String {
        let SwapState { old, new, read, rest, written, row, backup } = *self;
        format!("{old:x}-{new:x}-{read:x}-{rest:x}-{written:x}-{row:x}-{:x}", u8::from(backup))
    }

    pub fn parse(text: &str) -> Option<SwapState> {
        let numbers: Option<Vec<u64>> =
            text.split('-').map(|number| u64::from_str_radix(number, 16).ok()).collect();
        let [old, new, read, rest, written, row, backup] = numbers?.try_into().ok()?;
        Some(SwapState { old, new, read, rest, written, row, backup: backup != 0 })
    }
}

/// Returns a name that identifies this process.
pub fn own_name(file: &Path, state: &str) -> PathBuf {
    /// The start time of this process.
    static STARTED: LazyLock<u64> = LazyLock::new(|| platform::started(std::process::id()).unwrap_or(0));
    name_of(file, std::process::id(), *STARTED, state)
}

/// Returns a name that identifies no process.
pub fn abandoned_name(file: &Path, state: &str) -> PathBuf {
    name_of(file, 0, 0, state)
}

fn name_of(file: &Path, pid: u32, started: u64, state: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let dot = if state.is_empty() { "" } else { "." };
    let number = COUNT.fetch_add(1, Relaxed);
    with_end(file, format!("{MARK}{pid}.{started}.{number}{dot}{state}{END}"))
}

/// Lists the files that ended processes left beside a file, with their states.
pub fn left_behind(file: &Path) -> Vec<(PathBuf, Option<String>)> {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else { return vec![] };
    let Ok(entries) = fs::read_dir(dir) else { return vec![] };
    let told = |found: &OsStr| {
        let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes())?;
        let (of, told) = std::str::from_utf8(rest).ok()?.strip_suffix(END)?.split_once(MARK)?;
        // The name of another session may begin with this one.
        if !of.is_empty() && !BESIDE.contains(&of) {
            return None;
        }
        let mut told = told.split('.');
        let mut number = || told.next().and_then(|number| number.parse::<u64>().ok());
        let (pid, started) = (number()?, number());
        let state = told.nth(1).map(str::to_owned);
        // A file beside a session is not swapped, but a session may have its name.
        if !of.is_empty() && state.is_some() {
            return None;
        }
        (!is_at_work(u32::try_from(pid).ok()?, started)).then_some(state)
    };
    let found = |entry: DirEntry| told(&entry.file_name()).map(|state| (entry.path(), state));
    entries.flatten().filter_map(found).collect()
}

/// Returns true if the process with this id is alive and started at that time.
fn is_at_work(pid: u32, started: Option<u64>) -> bool {
    let is_another = || {
        started.filter(|then| *then > 0).zip(platform::started(pid)).is_some_and(|(then, now)| then != now)
    };
    platform::is_alive(pid) && !is_another()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn files_are_removed_unless_they_replace_another() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        let names = || {
            let mut names: Vec<String> = fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let (beside, _) = TempFile::make(&session, "", |path| File::create_new(path)).unwrap();
        assert!(names()[0].starts_with("s.jsonl.spillway-"));
        drop(beside);
        assert!(names().is_empty());
        let (mut beside, _) = TempFile::make(&session, "", |path| File::create_new(path)).unwrap();
        assert!(left_behind(&session).is_empty());
        beside.rename(session.clone()).unwrap();
        assert_eq!(beside.leave(), session);
        assert_eq!(names(), ["s.jsonl"]);
    }

    #[test]
    fn files_of_ended_processes_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("s.jsonl");
        let pid = std::process::id();
        let own = own_name(&session, "state").file_name().unwrap().to_str().unwrap().to_owned();
        let stays = [
            "s.jsonl",
            "other.jsonl.spillway-4194399.1.0.tmp",
            "s.jsonl.spillway-x.tmp",
            &own,
            // Of other sessions, whose names begin with this one.
            "s.jsonl.old.spillway-4194399.8.7.d.tmp",
            "s.jsonl0.spillway-4194399.8.7.d.tmp",
            "s.jsonl0.spillway-4194399.8.7.tmp",
            "s.jsonl.lock.spillway-4194399.8.7.d.tmp",
            "s.jsonl.bak.spillway-4194399.8.7.tmp",
        ];
        let recycled = format!("s.jsonl.spillway-{pid}.1.0.recycled.tmp");
        let left = [
            ("s.jsonl.spillway-4194399.0.tmp", None),
            ("s.jsonl.spillway-4194399.8.0.a-b.tmp", Some("a-b")),
            ("s.jsonl.spillway-0.0.3.c.tmp", Some("c")),
            ("s.jsonl.lock.spillway-4194399.8.7.tmp", None),
            ("s.jsonl.bak.note.spillway-4194399.8.7.tmp", None),
            ("s.jsonl.damaged.spillway-4194399.8.7.tmp", None),
        ];
        let recycled = platform::started(pid).map(|_| (recycled.as_str(), Some("recycled")));
        let left: Vec<(&str, Option<&str>)> = left.into_iter().chain(recycled).collect();
        for name in left.iter().map(|(name, _)| name).chain(&stays) {
            File::create_new(dir.path().join(name)).unwrap();
        }
        let mut found = left_behind(&session);
        found.sort();
        let mut expected: Vec<(PathBuf, Option<String>)> =
            left.iter().map(|(name, state)| (dir.path().join(name), state.map(str::to_owned))).collect();
        expected.sort();
        assert_eq!(found, expected);
    }
}
