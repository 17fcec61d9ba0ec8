//! Reads the rows of a file in blocks. Memory holds one block, or the longest row.

use std::fs::File;
use std::io::{self, Read};

use super::fingerprint::Fingerprint;

/// Bytes per read.
const CHUNK: usize = 1 << 20;
/// Maximum capacity that is kept after a long row.
const KEPT: usize = 16 * CHUNK;

/// Reads complete rows, each with its newline.
#[derive(Debug)]
pub struct Rows<'f> {
    file: &'f File,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were returned.
    taken: usize,
    /// Of all bytes read.
    pub fingerprint: Fingerprint,
    pub read: u64,
}

impl<'f> Rows<'f> {
    pub fn of(file: &'f File) -> Self {
        Rows { file, buffer: vec![], taken: 0, fingerprint: Fingerprint::default(), read: 0 }
    }

    /// Returns the next complete rows, or `None` at the current end of the file. Calls `wait` before each read.
    pub fn next<E: From<io::Error>>(
        &mut self,
        mut wait: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<&[u8]>, E> {
        self.buffer.drain(..std::mem::take(&mut self.taken));
        if self.buffer.capacity() > KEPT && self.buffer.len() < CHUNK {
            self.buffer.shrink_to(CHUNK);
        }
        loop {
            wait(self.read)?;
            let from = self.buffer.len();
            let count = self.file.take(CHUNK as u64).read_to_end(&mut self.buffer)?;
            if count == 0 {
                return Ok(None);
            }
            let news = &self.buffer[from..];
            self.fingerprint.push(news);
            self.read += count as u64;
            if let Some(newline) = memchr::memrchr(b'\n', news) {
                self.taken = from + newline + 1;
                return Ok(Some(&self.buffer[..self.taken]));
            }
        }
    }

    /// Returns the bytes after the last newline, at the end of the file.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }
}

/// Iterates over the rows of a block, each with its newline.
pub fn each_row(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    memchr::memchr_iter(b'\n', block).map(move |newline| {
        let row = &block[from..=newline];
        from = newline + 1;
        row
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    #[test]
    fn rows_are_complete_at_any_length() {
        let file = tempfile::tempfile().unwrap();
        let long = "x".repeat(3 * CHUNK);
        let text = format!("a\n\nbc\n{long}\nlast\n{long}\ntorn");
        (&file).write_all(text.as_bytes()).unwrap();
        (&file).rewind().unwrap();
        let mut rows = Rows::of(&file);
        let mut seen = vec![];
        while let Some(block) = rows.next(|_| Ok::<(), io::Error>(())).unwrap() {
            assert_eq!(each_row(block).map(<[u8]>::len).sum::<usize>(), block.len());
            seen.extend_from_slice(block);
        }
        assert_eq!(rows.rest(), b"torn");
        seen.extend_from_slice(rows.rest());
        assert!(seen == text.as_bytes());
        // Reading continues at the previous end.
        (&file).write_all(b" no more\nx").unwrap();
        (&file).seek(io::SeekFrom::Start(text.len() as u64)).unwrap();
        assert_eq!(rows.next(|_| Ok::<(), io::Error>(())).unwrap(), Some(&b"torn no more\n"[..]));
        assert_eq!((rows.rest(), rows.read), (&b"x"[..], text.len() as u64 + 10));
    }
}
