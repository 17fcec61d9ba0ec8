//! Newlines before positions all over an output, so that a page deep in it does not count those of
//! all bytes before.
//!
//! They are counted as an output is saved, or when a page is read for the first time, and kept in
//! this process: a directory has nothing but outputs. A file of another size or time is counted
//! anew.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Bytes between two marks. It doubles when there are too many.
const STEP: u64 = 256 * 1024;
/// Marks of one output.
const MOST: usize = 4_096;
/// Outputs whose marks are kept.
const OUTPUTS: usize = 64;

/// The newlines in the first bytes of an output, and those before each mark.
#[derive(Clone, Debug)]
pub struct LineMarks {
    size: u64,
    newlines: u64,
    step: u64,
    /// Newlines before `step` bytes, twice as many, and so on.
    before: Vec<u64>,
}

/// A position, and the newlines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineMark {
    pub at: u64,
    pub newlines: u64,
}

impl Default for LineMarks {
    fn default() -> LineMarks {
        LineMarks { size: 0, newlines: 0, step: STEP, before: vec![] }
    }
}

impl LineMarks {
    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    /// Counts the next bytes.
    pub fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.step - self.size % self.step;
            let (part, rest) = bytes.split_at(bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)));
            self.newlines += memchr::memchr_iter(b'\n', part).count() as u64;
            self.size += part.len() as u64;
            bytes = rest;
            if self.size.is_multiple_of(self.step) {
                self.before.push(self.newlines);
                self.thin_out();
            }
        }
    }

    fn thin_out(&mut self) {
        if self.before.len() < MOST {
            return;
        }
        self.step *= 2;
        self.before = self.before.iter().skip(1).step_by(2).copied().collect();
    }

    /// Counts the next bytes of a file, at most `size`, until there are enough.
    pub fn count(
        &mut self,
        mut file: &File,
        size: u64,
        enough: impl Fn(&LineMarks) -> bool,
    ) -> io::Result<()> {
        let mut buffer = vec![];
        while self.size < size && !enough(self) {
            buffer.resize(STEP as usize, 0);
            file.seek(SeekFrom::Start(self.size))?;
            let read = file.take(size - self.size).read(&mut buffer)?;
            if read == 0 {
                break;
            }
            self.add(&buffer[..read]);
        }
        Ok(())
    }

    /// Returns the last mark up to a position.
    pub fn up_to(&self, at: u64) -> LineMark {
        self.mark(self.before.len().min(usize::try_from(at / self.step).unwrap_or(usize::MAX)))
    }

    /// Returns the last mark with fewer newlines before it, or the start.
    pub fn before(&self, newlines: u64) -> LineMark {
        self.mark(self.before.partition_point(|&before| before < newlines))
    }

    fn mark(&self, nth: usize) -> LineMark {
        let newlines = nth.checked_sub(1).map_or(0, |last| self.before[last]);
        LineMark { at: nth as u64 * self.step, newlines }
    }
}

/// Bytes and time of a file, by which it differs from another one of its name.
type Stamp = (u64, Option<SystemTime>);

#[derive(Debug)]
struct MarksEntry {
    path: PathBuf,
    stamp: Stamp,
    marks: Arc<LineMarks>,
}

static KNOWN: Mutex<VecDeque<MarksEntry>> = Mutex::new(VecDeque::new());

fn known() -> MutexGuard<'static, VecDeque<MarksEntry>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stamp_of(found: &Metadata) -> Stamp {
    (found.len(), found.modified().ok())
}

/// Returns the marks of a file, as far as they are known.
pub fn recall(path: &Path, found: &Metadata) -> Arc<LineMarks> {
    let all = known();
    let same = |known: &&MarksEntry| known.path == path && known.stamp == stamp_of(found);
    all.iter().find(same).map(|known| Arc::clone(&known.marks)).unwrap_or_default()
}

/// Keeps the marks of a file in place of those known, and forgets those not used for longest.
pub fn remember(path: &Path, found: &Metadata, marks: Arc<LineMarks>) {
    let mut all = known();
    all.retain(|known| known.path != path);
    if marks.size() >= STEP {
        all.push_back(MarksEntry { path: path.to_owned(), stamp: stamp_of(found), marks });
    }
    if all.len() > OUTPUTS {
        all.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn text(lines: usize) -> Vec<u8> {
        (0..lines).flat_map(|at| format!("{}\n", "x".repeat(at % 97)).into_bytes()).collect()
    }

    fn newlines(bytes: &[u8]) -> u64 {
        memchr::memchr_iter(b'\n', bytes).count() as u64
    }

    #[test]
    fn a_mark_tells_the_newlines_before_it_however_the_bytes_came() {
        let text = text(40_000);
        for size in [1_009, STEP as usize, text.len()] {
            let mut marks = LineMarks::default();
            text.chunks(size).for_each(|part| marks.add(part));
            assert_eq!((marks.size(), marks.newlines()), (text.len() as u64, 40_000));
            for at in (0..text.len()).step_by(99_991) {
                let mark = marks.up_to(at as u64);
                assert!(mark.at <= at as u64 && at as u64 - mark.at < STEP);
                assert_eq!(mark.newlines, newlines(&text[..mark.at as usize]));
            }
            for line in [0, 1, 20_000, 40_000, 50_000] {
                let mark = marks.before(line);
                assert!(mark.newlines < line || mark.at == 0);
                let next = text.len().min((mark.at + STEP) as usize);
                assert!(newlines(&text[..next]) >= line.min(40_000));
            }
        }
    }

    #[test]
    fn marks_are_few_whatever_the_size() {
        let mut marks = LineMarks::default();
        let piece = [b"\n".as_slice(), &[b'x'; STEP as usize - 1]].concat();
        for _ in 0..3 * MOST {
            marks.add(&piece);
        }
        assert!(marks.before.len() < MOST && marks.step == 4 * STEP);
        for at in [0, 5, STEP, 77 * STEP + 1, 3 * MOST as u64 * STEP] {
            let mark = marks.up_to(at);
            assert!(at - mark.at < 4 * STEP);
            assert_eq!(mark.newlines, mark.at / STEP);
        }
    }

    #[test]
    fn a_file_is_counted_as_far_as_needed() {
        let text = text(40_000);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        let size = text.len() as u64;
        let mut marks = LineMarks::default();
        marks.count(&file, size, |marks| marks.size() > STEP).unwrap();
        assert!(marks.size() > STEP && marks.size() < size);
        marks.count(&file, size, |_| false).unwrap();
        assert_eq!((marks.size(), marks.newlines()), (size, 40_000));
        // The file is shorter than it was said to be.
        marks.count(&file, size + 9, |_| false).unwrap();
        assert_eq!(marks.size(), size);
    }

    #[test]
    fn marks_are_those_of_one_state_of_a_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&text(40_000)).unwrap();
        let mut marks = LineMarks::default();
        marks.add(&text(40_000));
        let before = file.as_file().metadata().unwrap();
        remember(file.path(), &before, marks.into());
        assert_eq!(recall(file.path(), &before).newlines(), 40_000);
        file.write_all(b"more").unwrap();
        assert_eq!(recall(file.path(), &file.as_file().metadata().unwrap()).size(), 0);
    }
}
