//! Bytes on their way to a file: what has come of an output, and what of it is still to be written.

use super::name::Whole;

/// Takes an output as it comes, counts all of it, and keeps what waits to be written.
#[derive(Debug)]
pub struct Queue {
    waiting: Vec<u8>,
    /// Memory of the batch before, to be used again.
    spare: Vec<u8>,
    /// Bytes that the file may still take.
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

    /// Takes bytes, and returns how many wait. Those beyond the room only count.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        self.bytes += bytes.len() as u64;
        self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.open = bytes.last().map_or(self.open, |&last| last != b'\n');
        let fits = bytes.len().min(usize::try_from(self.room).unwrap_or(usize::MAX));
        self.waiting.extend_from_slice(&bytes[..fits]);
        self.room -= fits as u64;
        self.waiting.len()
    }

    /// What waits, to be given back to `recycle`.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.waiting, std::mem::take(&mut self.spare))
    }

    pub fn recycle(&mut self, mut batch: Vec<u8>) {
        batch.clear();
        self.spare = batch;
    }

    /// Size of all that came.
    pub fn whole(&self) -> Whole {
        Whole { bytes: self.bytes, lines: self.newlines + u64::from(self.open) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_room_counts_but_is_not_kept() {
        let mut queue = Queue::new(5);
        assert_eq!(queue.push(b"ab\n"), 3);
        assert_eq!(queue.push(b"cd\nef"), 5);
        assert_eq!(queue.take(), b"ab\ncd");
        assert_eq!(queue.push(b"gh"), 0);
        assert_eq!(queue.whole(), Whole { bytes: 10, lines: 3 });
    }

    #[test]
    fn nothing_is_no_line_and_an_empty_piece_ends_none() {
        let mut queue = Queue::new(u64::MAX);
        assert_eq!(queue.whole(), Whole { bytes: 0, lines: 0 });
        queue.push(b"a");
        queue.push(b"");
        assert_eq!(queue.whole().lines, 1);
    }
}
