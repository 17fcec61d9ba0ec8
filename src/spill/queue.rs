//! The buffer of an output before it is written to a file.

use super::file_name::Whole;

/// Counts the whole output and buffers the bytes to be written.
#[derive(Debug)]
pub struct Queue {
    waiting: Vec<u8>,
    /// Memory of the previous batch, for reuse.
    spare: Vec<u8>,
    /// Bytes that the file can still accept.
    room: u64,
    bytes: u64,
    newlines: u64,
    /// Text follows the last newline.
    open: bool,
}

impl Queue {
    pub fn new(room: u64) -> Queue {
        Queue { waiting: vec![], spare: vec![], room, bytes: 0, newlines: 0, open: false }
    }

    /// Accepts bytes and returns the number of buffered ones. Bytes beyond the room are only counted.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.open = bytes.last().map_or(self.open, |&last| last != b'\n');
        let fits = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.waiting.extend_from_slice(&bytes[..fits]);
        self.room -= fits as u64;
        self.waiting.len()
    }

    /// Takes the buffered bytes. Return them with `recycle` for reuse.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.waiting, std::mem::take(&mut self.spare))
    }

    pub fn recycle(&mut self, mut batch: Vec<u8>) {
        batch.clear();
        self.spare = batch;
    }

    /// Returns the size of the whole output.
    pub fn whole(&self) -> Whole {
        Whole { bytes: self.bytes, lines: self.newlines + u64::from(self.open) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_room_are_counted_but_not_kept() {
        let mut queue = Queue::new(5);
        assert_eq!(queue.push(b"ab\n"), 3);
        assert_eq!(queue.push(b"cd\nef"), 5);
        assert_eq!(queue.take(), b"ab\ncd");
        assert_eq!(queue.push(b"gh"), 0);
        assert_eq!(queue.whole(), Whole { bytes: 10, lines: 3 });
    }

    #[test]
    fn empty_pieces_neither_add_nor_end_lines() {
        let mut queue = Queue::new(u64::MAX);
        assert_eq!(queue.whole(), Whole { bytes: 0, lines: 0 });
        queue.push(b"a");
        queue.push(b"");
        assert_eq!(queue.whole().lines, 1);
    }
}
