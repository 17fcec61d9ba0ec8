//! The path of a value: `.name` of a member, `["a name"]` where that is not a plain word, `[7]` of
//! an element.

use super::event::Container;

/// Bytes of the part of a path that is shown, but for its last name.
const SHOWN: usize = 200;

/// Bytes of a name that are shown.
const NAME: usize = 200;

/// Stands for what is not shown.
const MORE: &str = "…";

/// The containers around a value, and its place in the last.
#[derive(Clone, Debug, Default)]
pub struct Path {
    text: Vec<u8>,
    levels: Vec<Level>,
}

#[derive(Clone, Debug)]
struct Level {
    /// The length of the path before the segment of this container, and the start of the part that
    /// is shown within it.
    length: usize,
    shown: usize,
    segment: Segment,
}

#[derive(Clone, Debug)]
enum Segment {
    Index(u64),
    /// As it stands in JSON, without its quotes.
    Name(Vec<u8>),
}

impl Path {
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Goes into the container at this place.
    pub fn enter(&mut self, container: Container) {
        let length = self.text.len();
        self.segment();
        // The part that is shown begins with a segment.
        let least = self.text.len().saturating_sub(SHOWN);
        let first = self.levels.partition_point(|level| level.length < least);
        let shown = self.levels.get(first).map_or(length, |level| level.length);
        let segment = if container == Container::List { Segment::Index(0) } else { Segment::Name(vec![]) };
        self.levels.push(Level { length, shown, segment });
    }

    /// Goes back to the place of the container.
    pub fn leave(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.text.truncate(level.length);
        }
    }

    /// Names the member that comes next.
    pub fn name(&mut self, name: &[u8]) {
        if let Some(Level { segment: Segment::Name(known), .. }) = self.levels.last_mut() {
            known.clear();
            known.extend_from_slice(name);
        }
    }

    /// Goes past the value at this place.
    pub fn pass(&mut self) {
        if let Some(Level { segment: Segment::Index(index), .. }) = self.levels.last_mut() {
            *index += 1;
        }
    }

    /// Writes the path with ": ", or nothing for the value itself.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        let Some(shown) = self.levels.last().map(|level| level.shown) else { return };
        let length = self.text.len();
        self.segment();
        if shown > 0 {
            out.extend_from_slice(MORE.as_bytes());
        }
        out.extend_from_slice(&self.text[shown..]);
        out.extend_from_slice(b": ");
        self.text.truncate(length);
    }

    /// Adds the place in the last container to the path.
    fn segment(&mut self) {
        match self.levels.last().map(|level| &level.segment) {
            None => {}
            Some(Segment::Index(index)) => self.text.extend_from_slice(format!("[{index}]").as_bytes()),
            Some(Segment::Name(name)) => {
                let is_whole = name.len() <= NAME;
                let kept = if is_whole { &name[..] } else { &name[..floor(name, NAME)] };
                let mark: &[u8] = if is_whole { b"" } else { MORE.as_bytes() };
                let parts: [&[u8]; 4] = match kept.iter().copied().all(is_word) && !kept.is_empty() {
                    true if self.text.is_empty() => [b"", kept, mark, b""],
                    true => [b".", kept, mark, b""],
                    false => [b"[\"", kept, mark, b"\"]"],
                };
                parts.iter().for_each(|part| self.text.extend_from_slice(part));
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$' | b'@' | b'/') || !byte.is_ascii()
}

/// Returns the last position up to `at` that splits neither a char nor an escape.
fn floor(name: &[u8], at: usize) -> usize {
    let mut end = 0;
    while end < at {
        let size = match name[end] {
            b'\\' if name.get(end + 1) == Some(&b'u') => 6,
            b'\\' => 2,
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        };
        if end + size > at {
            break;
        }
        end += size;
    }
    end
}
