//! Parts of a file, without reading the surrounding text.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

const CHUNK: usize = 256 * 1024;

/// Reads the bytes of a range, or fewer if the file ends within it.
pub fn read(mut file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    file.seek(SeekFrom::Start(range.start))?;
    file.take(range.end.saturating_sub(range.start)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Counts the newlines of a range.
pub fn newlines(file: &File, range: Range<u64>) -> io::Result<u64> {
    let mut count = 0;
    walk(file, range, |_, chunk| {
        count += newlines_in(chunk);
        true
    })?;
    Ok(count)
}

/// Returns the start of a line in the first `size` bytes, or `size` if they have fewer lines.
pub fn line_start(file: &File, line: u64, size: u64) -> io::Result<u64> {
    let mut newlines = line - 1;
    if newlines == 0 {
        return Ok(0);
    }
    let mut start = size;
    walk(file, 0..size, |at, chunk| {
        let here = newlines_in(chunk);
        if here < newlines {
            newlines -= here;
            return true;
        }
        let last = memchr::memchr_iter(b'\n', chunk).nth(newlines as usize - 1);
        start = at + last.map_or(0, |last| last as u64 + 1);
        false
    })?;
    Ok(start)
}

fn newlines_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Passes a range to `each` in chunks with their positions, until it returns false.
fn walk(mut file: &File, range: Range<u64>, mut each: impl FnMut(u64, &[u8]) -> bool) -> io::Result<()> {
    file.seek(SeekFrom::Start(range.start))?;
    let mut chunk = vec![0; CHUNK];
    let mut at = range.start;
    while at < range.end {
        let most = CHUNK.min(usize::try_from(range.end - at).unwrap_or(CHUNK));
        let read = file.read(&mut chunk[..most])?;
        if read == 0 || !each(at, &chunk[..read]) {
            break;
        }
        at += read as u64;
    }
    Ok(())
}
