//! Files that are made beside a session, and go unless they take the place of another.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::system;

/// A name beside a file. What has it is removed when this is dropped.
#[derive(Debug)]
pub struct Beside {
    path: PathBuf,
}

/// What such names have behind the name of the file; the number of the process follows.
const MARK: &str = ".spillway-";
const END: &str = ".tmp";

impl Beside {
    /// Makes something under a name that nothing has.
    pub fn make<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(Beside, T)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Relaxed);
            let path = with_end(path, format!("{MARK}{}.{number}{END}", std::process::id()));
            match make(&path) {
                // Left behind by a process that had the same number.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    let made = made?;
                    return Ok((Beside { path }, made));
                }
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes another name, from what had it. Where both are names of one file already the first would stay, and goes too.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A path with more behind its name.
#[inline(never)]
pub fn with_end(path: &Path, end: impl AsRef<OsStr>) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Removes what processes left beside a file when they were ended.
pub fn sweep(file: &Path) {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name().and_then(OsStr::to_str)) else { return };
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let found = entry.file_name();
        let rest = found.to_str().and_then(|found| found.strip_prefix(name)?.strip_suffix(END));
        let process = rest.and_then(|rest| rest.split_once(MARK)?.1.split('.').next()?.parse().ok());
        if process.is_some_and(|process| !system::is_alive(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_takes_no_place_goes() {
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
        let (beside, _) = Beside::make(&session, |path| File::create_new(path)).unwrap();
        assert!(names()[0].starts_with("s.jsonl.spillway-"));
        drop(beside);
        assert!(names().is_empty());
        let (beside, _) = Beside::make(&session, |path| File::create_new(path)).unwrap();
        beside.rename(&session).unwrap();
        assert_eq!(names(), ["s.jsonl"]);
    }

    #[test]
    fn what_ended_processes_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| drop(File::create_new(dir.path().join(name)).unwrap());
        let alive = format!("s.jsonl.spillway-{}.0.tmp", std::process::id());
        let stays = ["s.jsonl", "other.jsonl.spillway-4194399.0.tmp", "s.jsonl.spillway-x.tmp", &alive];
        stays.iter().for_each(|name| file(name));
        file("s.jsonl.spillway-4194399.0.tmp");
        file("s.jsonl.lock.spillway-4194399.7.tmp");
        sweep(&dir.path().join("s.jsonl"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), stays.len());
        assert!(stays.iter().all(|name| dir.path().join(name).exists()));
    }
}
