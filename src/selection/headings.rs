//! The heading of a line: the nearest preceding line with less indentation, or the first line of its paragraph.

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
    /// Each level is indented more than the previous one. Levels from `depth` on are unused, and their buffers are
    /// reused.
    levels: Vec<Heading>,
    depth: usize,
    /// The first line since the last blank one.
    paragraph: Option<Heading>,
}

impl Headings {
    /// Takes the next line, and what it says behind its prefix, and returns its heading.
    pub fn take(&mut self, unit: Unit, text: &[u8], said: &[u8]) -> Option<(Unit, &[u8])> {
        let indent = said.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if said[indent..].trim_ascii().is_empty() {
            self.paragraph = None;
            return None;
        }
        while self.depth > 0 && self.levels[self.depth - 1].indent >= indent {
            self.depth -= 1;
        }
        let above = self.depth.checked_sub(1);
        self.push(indent, unit, text);
        let first = indent == 0 && self.paragraph.is_some();
        if self.paragraph.is_none() && text.len() <= LONGEST {
            self.paragraph = Some(Heading { indent, unit, text: text.to_vec() });
        }
        let heading = match above {
            Some(above) => self.levels.get(above),
            None => self.paragraph.as_ref().filter(|_| first),
        };
        heading.map(|heading| (heading.unit, &*heading.text))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_indented_less() {
        let text = "first\n  a\n    b\n    c\n  d\n\nsecond\nthird\n";
        let mut headings = Headings::default();
        let mut unit: Option<Unit> = None;
        let above: Vec<_> = text
            .split_inclusive('\n')
            .map(|line| {
                let next = match unit {
                    Some(unit) => unit.next(line.len(), line.len(), true),
                    None => Unit {
                        number: 0,
                        char: 0,
                        line: 0,
                        bytes: 6,
                        chars: 6,
                        foreign: Default::default(),
                        ends_line: true,
                    },
                };
                unit = Some(next);
                headings
                    .take(next, line.as_bytes(), line.as_bytes())
                    .map(|(unit, text)| (unit.number, text.len()))
            })
            .collect();
        let first = Some((0, 6));
        assert_eq!(above, [None, first, Some((1, 4)), Some((1, 4)), first, None, None, Some((6, 7))]);
    }
}
