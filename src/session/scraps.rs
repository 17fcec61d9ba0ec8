//! The scraps of a repair: parts of damaged rows that are not JSON, a line each, in
//! `<file>.damaged`.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::beside::{self, Owner};
use super::failure::Failure;
use super::new_file::NewFile;
use super::progress::Progress;
use super::session_file::SessionFile;
use super::temp_file::{TempFile, with_end};
use crate::platform;

#[derive(Debug)]
pub struct Scraps {
    new: TempFile,
    file: NewFile,
    /// Bytes that earlier repairs put aside.
    earlier: u64,
}

/// The end of the name of the file that keeps them.
pub const END: &str = ".damaged";

impl Scraps {
    /// Begins a file with the scraps of earlier repairs.
    pub fn begin(session: &SessionFile) -> Result<Scraps, Failure> {
        let path = with_end(&session.path, END);
        let (new, mut file) = TempFile::make(&path, "", |path| platform::creation().read(true).open(path))?;
        session.give_rights(&file)?;
        let owner = Owner::Of(platform::owner(&session.found));
        let earlier = match beside::open(&path, owner)? {
            Some((mut old, _)) => io::copy(&mut old, &mut file)?,
            None => 0,
        };
        Ok(Scraps { new, file: NewFile::of(file), earlier })
    }

    pub fn put(&self, bytes: &[u8], progress: &Progress) -> Result<(), Failure> {
        progress.step()?;
        self.file.put(bytes)?;
        Ok(self.file.put(b"\n")?)
    }

    /// Truncates the scraps of this repair to `bytes`.
    pub fn shorten(&self, bytes: u64) -> io::Result<()> {
        self.file.whole()?.set_len(self.earlier + bytes)
    }

    /// Syncs the file to disk.
    pub fn sync(&self, progress: &Progress) -> Result<(), Failure> {
        progress.step()?;
        self.file.whole()?.sync_all()?;
        progress.step()
    }

    /// Puts the file in its place and returns its path, unless a repair that was killed then put
    /// the same aside.
    pub fn keep(mut self, session: &SessionFile) -> Result<PathBuf, Failure> {
        let path = with_end(&session.path, END);
        if !self.is_known()? {
            self.new.rename(path.clone())?;
            self.new.leave();
            platform::sync_names(path.parent().unwrap_or(&path));
        }
        Ok(path)
    }

    /// Returns true if earlier repairs put the same aside last.
    fn is_known(&self) -> io::Result<bool> {
        let mut file = self.file.whole()?;
        let length = file.metadata()?.len() - self.earlier;
        if length > self.earlier {
            return Ok(false);
        }
        let mut parts = [vec![], vec![]];
        for (part, start) in parts.iter_mut().zip([self.earlier - length, self.earlier]) {
            file.seek(SeekFrom::Start(start))?;
            file.take(length).read_to_end(part)?;
        }
        Ok(parts[0] == parts[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn scraps_of_all_repairs_are_kept_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let session = SessionFile::open(path.clone()).unwrap();
        let progress = Progress::default();
        for (scraps, kept) in [
            (&["one", "two"][..], "one\ntwo\n"),
            (&["one", "two"], "one\ntwo\n"),
            (&["three"], "one\ntwo\nthree\n"),
        ] {
            let aside = Scraps::begin(&session).unwrap();
            scraps.iter().for_each(|scrap| aside.put(scrap.as_bytes(), &progress).unwrap());
            let length = scraps.iter().map(|scrap| scrap.len() as u64 + 1).sum();
            aside.put(b"more", &progress).unwrap();
            aside.shorten(length).unwrap();
            let found = aside.keep(&session).unwrap();
            assert_eq!(fs::read_to_string(&found).unwrap(), kept);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
