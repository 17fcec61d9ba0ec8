//! A new file that is written in many small parts, a row or a scrap each.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};

/// Bytes that wait to be written together.
const ROOM: usize = 1 << 16;

#[derive(Debug)]
pub struct NewFile {
    /// Opened to append.
    file: File,
    waiting: RefCell<Vec<u8>>,
}

impl NewFile {
    pub fn of(file: File) -> NewFile {
        NewFile { file, waiting: RefCell::default() }
    }

    pub fn put(&self, bytes: &[u8]) -> io::Result<()> {
        let is_full = self.waiting.borrow().len() + bytes.len() > ROOM;
        if is_full {
            self.whole()?;
        }
        if bytes.len() > ROOM {
            return (&self.file).write_all(bytes);
        }
        self.waiting.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the file with all that was put.
    pub fn whole(&self) -> io::Result<&File> {
        let waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        (&self.file).write_all(&waiting)?;
        Ok(&self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};

    #[test]
    fn parts_of_any_size_are_written_in_order() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let file = NewFile::of(OpenOptions::new().append(true).open(place.path()).unwrap());
        let mut all = vec![];
        for (at, size) in [0, 1, ROOM - 1, 3, ROOM, ROOM + 1, 2, 3 * ROOM, 5].into_iter().enumerate() {
            let part = vec![b'a' + at as u8; size];
            file.put(&part).unwrap();
            all.extend_from_slice(&part);
        }
        file.whole().unwrap().set_len(all.len() as u64).unwrap();
        assert!(fs::read(place.path()).unwrap() == all);
    }
}
