//! The lines that say whose a line is: the names of the records and the sections that it is in.

use super::page::Piece;

/// Maximum owners of a line, and levels above it that are looked at.
const MOST: usize = 4;
const LEVELS: usize = 8;

/// The first lines of a record that may have its name, and the lines that are read to find them.
const NAMES: usize = 3;
const READ: usize = 16;

/// The lines above each line.
#[derive(Debug, Default)]
pub struct Owners {
    /// The nearest line before that is indented less.
    above: Vec<Option<u32>>,
    /// The first line of the paragraph.
    first: Vec<u32>,
}

impl Owners {
    pub fn new(pieces: &[Piece]) -> Owners {
        let mut owners = Owners::default();
        let mut levels: Vec<(usize, u32)> = vec![];
        let mut first = None;
        for (at, piece) in pieces.iter().enumerate() {
            if at > 0 && pieces[at - 1].unit.number + 1 != piece.unit.number {
                levels.clear();
                first = None;
            }
            let indent = indent_of(piece.text);
            if piece.text[indent..].trim_ascii().is_empty() {
                first = None;
                owners.above.push(None);
                owners.first.push(at as u32);
                continue;
            }
            while levels.last().is_some_and(|(level, _)| *level >= indent) {
                levels.pop();
            }
            owners.above.push(levels.last().map(|(_, at)| *at));
            levels.push((indent, at as u32));
            if first.is_none() || is_section(piece.text) {
                first = Some(at as u32);
            }
            owners.first.push(first.unwrap_or(at as u32));
        }
        owners
    }

    /// Returns the owners of a line, the nearest first.
    pub fn of(&self, pieces: &[Piece], at: usize) -> Vec<usize> {
        let mut owners = vec![];
        let mut top = at;
        for _ in 0..LEVELS {
            let Some(above) = self.above[top].filter(|_| owners.len() < MOST) else { break };
            let above = above as usize;
            if says(pieces[above].text) {
                owners.push(above);
            } else {
                // A bracket alone begins a record, whose first lines name it.
                let first = (above + 1..at).take(READ);
                let of_record = first.filter(|line| self.above[*line] == Some(above as u32)).take(NAMES);
                owners.extend(of_record.filter(|line| *line != top && says(pieces[*line].text)));
            }
            top = above;
        }
        let first = self.first[top] as usize;
        if first != top && first != at && says(pieces[first].text) {
            owners.push(first);
        }
        owners.truncate(MOST);
        owners
    }
}

fn says(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}

/// Returns true for the name of a section in brackets.
fn is_section(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"[") && line.ends_with(b"]")
}

fn indent_of(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    /// Returns the owners of the line that has a mark.
    fn owners(text: &str) -> Vec<&str> {
        let mut next = Unit::default();
        let piece = |text: &'_ str| {
            let unit = Unit { bytes: text.len(), chars: text.len(), ends_line: true, ..next };
            next = unit.next(0, 0, false);
            unit
        };
        let units: Vec<Unit> = text.split_inclusive('\n').map(piece).collect();
        let lines = text.split_inclusive('\n').zip(units);
        let pieces: Vec<Piece> =
            lines.map(|(text, unit)| Piece { unit, text: text.as_bytes(), is_weighed: true }).collect();
        let at = text.split_inclusive('\n').position(|line| line.contains('!')).unwrap();
        let of = Owners::new(&pieces).of(&pieces, at);
        of.into_iter().map(|at| std::str::from_utf8(pieces[at].text).unwrap().trim()).collect()
    }

    #[test]
    fn a_line_belongs_to_the_names_of_its_records() {
        for (text, expected) in [
            ("- crate: a\n  hue:\n    rim: 1\n    hub: !\n", &["hue:", "- crate: a"][..]),
            ("[\n  {\n    \"id\": 1,\n    \"of\": {\n      \"as\": \"!\"\n", &["\"of\": {", "\"id\": 1,"]),
            ("[one]\na = 1\n[two]\nb = 2\nc = !\n", &["[two]"]),
            ("Berth: 7\nHost: a\nTags: b\n      !\n", &["Tags: b", "Berth: 7"]),
            (
                "  # x.y will change\n  ~ kind \"x\" {\n      ~ tags = {\n          + a = !\n",
                &["~ tags = {", "~ kind \"x\" {", "# x.y will change"],
            ),
            ("one\n\n!\n", &[]),
        ] {
            assert_eq!(owners(text), expected, "{text}");
        }
    }
}
