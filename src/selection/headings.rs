//! The heading of a line: the nearest preceding line with less indentation, or the first line of
//! its paragraph. A command begins a paragraph.

use super::bytes;
use super::prefix::without_prefix;
use super::unit::Unit;

/// Maximum levels stored, and maximum bytes of a heading.
const LEVELS: usize = 8;
const LONGEST: usize = 400;

/// A line that may be a heading.
#[derive(Clone, Debug)]
struct Heading {
    indent: usize,
    unit: Unit,
    text: Vec<u8>,
}

#[derive(Clone, Debug, Default)]
pub struct Headings {
    /// Each level is indented more than the previous one. Levels from `depth` on are unused, and
    /// their buffers are reused.
    levels: Vec<Heading>,
    depth: usize,
    /// The first line since the last blank one, or the last command since then.
    paragraph: Option<(Unit, Vec<u8>)>,
}

impl Headings {
    /// Takes the next line, and its text after the prefix, and returns its heading.
    pub fn take(&mut self, unit: Unit, text: &[u8], said: &[u8]) -> Option<(Unit, &[u8])> {
        let indent = indent_of(said);
        if said[indent..].iter().all(u8::is_ascii_whitespace) {
            self.paragraph = None;
            return None;
        }
        self.close(indent);
        let above = self.depth.checked_sub(1);
        self.push(indent, unit, text);
        let begins = self.paragraph.is_none() || is_command(said);
        let continues = indent == 0 && !begins;
        if begins && text.len() <= LONGEST {
            self.paragraph = Some((unit, text.to_vec()));
        }
        match above {
            Some(above) => self.levels.get(above).map(|heading| (heading.unit, &*heading.text)),
            None => self.paragraph.as_ref().filter(|_| continues).map(|(unit, text)| (*unit, &**text)),
        }
    }

    /// Ends the paragraph, and begins another with a line, if one is given.
    pub fn begin_paragraph(&mut self, first: Option<(Unit, &[u8])>) {
        self.paragraph = first.map(|(unit, text)| (unit, text.to_vec()));
    }

    /// Returns true if the next line does not begin a paragraph, unless it is a command.
    pub fn in_paragraph(&self) -> bool {
        self.paragraph.is_some()
    }

    /// Takes lines, the last one first, and none of them a command. Equals taking each in order,
    /// except for their paragraph.
    pub fn pass<'a>(&mut self, lines: impl Iterator<Item = (Unit, &'a [u8])>) {
        let (mut least, mut levels) = (usize::MAX, vec![]);
        for (unit, text) in lines {
            // Behind blanks only a time can be a prefix.
            let blanks = indent_of(text);
            if blanks > 0 && blanks >= least && memchr::memchr(b':', text).is_none() {
                continue;
            }
            let plain = bytes::plain(text);
            let said = without_prefix(&plain);
            let indent = indent_of(said);
            if indent < least && !said.trim_ascii_start().is_empty() {
                least = indent;
                levels.push((indent, unit, text));
            }
            // No line before is above one without indentation.
            if least == 0 {
                break;
            }
        }
        for (indent, unit, text) in levels.into_iter().rev() {
            self.close(indent);
            self.push(indent, unit, text);
        }
    }

    /// Leaves the levels that are indented as much or more.
    fn close(&mut self, indent: usize) {
        while self.depth > 0 && self.levels[self.depth - 1].indent >= indent {
            self.depth -= 1;
        }
    }

    fn push(&mut self, indent: usize, unit: Unit, text: &[u8]) {
        if self.depth == LEVELS || text.len() > LONGEST {
            return;
        }
        match self.levels.get_mut(self.depth) {
            Some(level) => {
                (level.indent, level.unit) = (indent, unit);
                level.text.clear();
                level.text.extend_from_slice(text);
            }
            None => self.levels.push(Heading { indent, unit, text: text.to_vec() }),
        }
        self.depth += 1;
    }
}

/// The paragraph of the last of many lines that are passed.
pub struct Paragraph {
    is_open: bool,
    /// The number of the line that begins it, or `None` if it is as it was before.
    pub begins: Option<Option<usize>>,
}

impl Paragraph {
    pub fn new(headings: &Headings) -> Paragraph {
        Paragraph { is_open: headings.paragraph.is_some(), begins: None }
    }

    /// Takes a line that is neither blank nor a command.
    pub fn take(&mut self, line: &[u8], number: usize) {
        if !self.is_open && line.len() <= LONGEST {
            (self.is_open, self.begins) = (true, Some(Some(number)));
        }
    }

    /// Takes a blank line.
    pub fn end(&mut self) {
        (self.is_open, self.begins) = (false, Some(None));
    }
}

fn indent_of(said: &[u8]) -> usize {
    said.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns true for the echo of a command, or for the head of a group, as shells and CI systems
/// print them. A step may be named before it: `[build 4/9] RUN make`.
pub fn is_command(said: &[u8]) -> bool {
    const BEGINNINGS: [&str; 7] = ["$ ", "+ ", "> ", "==> ", "##[group]", "::group::", "RUN "];
    let step = said.strip_prefix(b"[").and_then(|said| said.iter().position(|byte| *byte == b']'));
    let said = step.map_or(said, |end| said[end + 2..].trim_ascii_start());
    BEGINNINGS.iter().any(|beginning| said.starts_with(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of each line's heading.
    fn above(text: &str) -> Vec<Option<usize>> {
        let mut headings = Headings::default();
        let mut next = Unit::default();
        let of_line = |line: &str| {
            let unit = Unit { bytes: line.len(), chars: line.len(), ends_line: true, ..next };
            next = unit.next(0, 0, false);
            headings.take(unit, line.as_bytes(), line.as_bytes()).map(|(unit, _)| unit.number)
        };
        text.split_inclusive('\n').map(of_line).collect()
    }

    #[test]
    fn headings_are_indented_less() {
        let text = "first\n  a\n    b\n    c\n  d\n\nsecond\nthird\n";
        assert_eq!(above(text), [None, Some(0), Some(1), Some(1), Some(0), None, None, Some(6)]);
    }

    #[test]
    fn a_command_heads_what_it_prints() {
        for command in ["$ make", "+ ./run.sh a", "##[group]Build", "[app 4/9] RUN make"] {
            let text = format!("one\ntwo\n{command}\nthree\nfour\n\nfive\n");
            assert_eq!(above(&text), [None, Some(0), None, Some(2), Some(2), None, None], "{command}");
        }
        assert_eq!(above("one\n[x]\n[y\n")[2], Some(0));
    }
}
