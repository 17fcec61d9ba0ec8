//! The parts of a diff: the lines that it changes, their headers, and the context beside them.
//!
//! A reader of a diff asked for the changes. So context is kept only for room that no change needs,
//! and a change brings the headers that say where it is. A hunk states how many lines it has, so
//! that a text which goes on behind it is not taken for a part of it.

use super::page::Piece;
use super::unit::ESCAPED_NEWLINE;

/// The role of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Change,
    Context,
    Header,
}

/// A line of a diff, and the headers that it stands under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub role: Role,
    /// The number of the file among those of the text.
    pub file: usize,
    /// The header of its file and that of its hunk, as indexes.
    pub headers: [Option<usize>; 2],
}

/// Maximum lines between the first header of a file and its first hunk.
const HEADERS: usize = 16;

/// Lines that a part of a diff still has.
#[derive(Clone, Copy, Debug)]
enum Rest {
    /// Of a unified hunk: lines of the old files together, and of the new file, and the columns of
    /// marks.
    Unified { old: usize, new: usize, columns: usize },
    /// Of one side of a context hunk.
    Side { lines: usize },
    /// Of a hunk without context: lines of the old and of the new file.
    Plain { old: usize, new: usize },
}

#[derive(Default)]
struct Reader {
    places: Vec<Option<Place>>,
    rest: Option<Rest>,
    file: usize,
    /// The headers of the current file and hunk, and the last header.
    header: Option<usize>,
    hunk: Option<usize>,
    last: Option<usize>,
    any: bool,
}

/// Returns the place of each piece in a diff, or nothing if none is in one.
pub fn places(pieces: &[Piece]) -> Vec<Option<Place>> {
    // Few texts have a hunk.
    if !(0..pieces.len()).any(|at| hunk(line(pieces, at)).is_some()) {
        return vec![];
    }
    let mut reader = Reader::default();
    for at in 0..pieces.len() {
        let follows = follows(pieces, at);
        if !follows {
            reader.leave();
        }
        let goes_on = follows && {
            let before = &pieces[at - 1];
            !before.unit.ends_line && !before.text.ends_with(ESCAPED_NEWLINE)
        };
        if goes_on && let Some(place) = reader.places[at - 1] {
            reader.places.push(Some(place));
            continue;
        }
        reader.take(line(pieces, at));
    }
    if reader.any { reader.places } else { vec![] }
}

/// Returns true if a piece directly follows the stored piece before it.
fn follows(pieces: &[Piece], at: usize) -> bool {
    at > 0 && pieces[at - 1].unit.number + 1 == pieces[at].unit.number
}

/// Returns the line of a piece without its newline.
fn line<'a>(pieces: &[Piece<'a>], at: usize) -> &'a [u8] {
    let Piece { unit, text, .. } = pieces[at];
    let is_piece = !unit.ends_line || follows(pieces, at) && !pieces[at - 1].unit.ends_line;
    let line = if is_piece { of_string(text) } else { text };
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the line in a piece of a JSON string.
fn of_string(piece: &[u8]) -> &[u8] {
    let line = piece.strip_suffix(ESCAPED_NEWLINE).unwrap_or(piece);
    let quoted = |mark: &[u8]| memchr::memmem::find(line, mark).map(|at| &line[at + 1..]);
    quoted(b"\"@@ -").or_else(|| quoted(b"\"diff --")).unwrap_or(line)
}

impl Reader {
    /// Ends the file.
    fn leave(&mut self) {
        (self.rest, self.header, self.hunk, self.last) = (None, None, None, None);
    }

    fn take(&mut self, line: &[u8]) {
        let at = self.places.len();
        let role = self.of_hunk(line).or_else(|| self.of_header(line, at));
        let place = role.map(|role| Place {
            role,
            file: self.file,
            headers: [self.header, self.hunk].map(|header| header.filter(|header| *header != at)),
        });
        self.places.push(place);
    }

    /// Takes a line of a hunk.
    fn of_hunk(&mut self, line: &[u8]) -> Option<Role> {
        let role = match self.rest.as_mut()? {
            Rest::Unified { old, new, columns } => {
                let marks = &line[..line.len().min(*columns)];
                if line.starts_with(b"\\") {
                    return Some(Role::Context);
                }
                if !marks.iter().all(|mark| matches!(mark, b' ' | b'+' | b'-')) {
                    self.rest = None;
                    return None;
                }
                let taken = marks.iter().filter(|mark| **mark == b'+').count();
                let gone = marks.contains(&b'-');
                // A blank line of context may have lost its mark.
                *old = old.saturating_sub(if gone {
                    marks.iter().filter(|mark| **mark == b'-').count()
                } else {
                    *columns - taken
                });
                *new = new.saturating_sub(usize::from(!gone));
                if taken > 0 || gone { Role::Change } else { Role::Context }
            }
            Rest::Side { lines } => {
                if !matches!(line, [b' ' | b'!' | b'+' | b'-', b' ', ..] | [] | [b'!' | b'+' | b'-']) {
                    self.rest = None;
                    return None;
                }
                *lines = lines.saturating_sub(1);
                if matches!(line, [b'!' | b'+' | b'-', ..]) { Role::Change } else { Role::Context }
            }
            Rest::Plain { old, new } => {
                match line {
                    [b'<', b' ', ..] | [b'<'] if *old > 0 => *old -= 1,
                    [b'>', b' ', ..] | [b'>'] if *new > 0 => *new -= 1,
                    b"---" => return Some(Role::Header),
                    [b'\\', ..] => return Some(Role::Context),
                    _ => {
                        self.rest = None;
                        return None;
                    }
                }
                Role::Change
            }
        };
        if matches!(
            self.rest,
            Some(
                Rest::Unified { old: 0, new: 0, .. }
                    | Rest::Side { lines: 0, .. }
                    | Rest::Plain { old: 0, new: 0 }
            )
        ) {
            self.rest = None;
        }
        self.any = true;
        Some(role)
    }

    /// Takes a line that is not in a hunk.
    fn of_header(&mut self, line: &[u8], at: usize) -> Option<Role> {
        if let Some(rest) = hunk(line) {
            // A hunk alone has no file to name.
            self.rest = Some(rest);
            self.hunk = Some(at);
            self.last = None;
            return Some(Role::Header);
        }
        let begins = line.starts_with(b"diff ");
        let names = [&b"--- "[..], b"+++ ", b"*** "].iter().any(|mark| line.starts_with(mark));
        let goes_on = self.last.is_some_and(|last| at - last < HEADERS) && !line.is_empty();
        if begins || names && !goes_on {
            self.file += 1;
            (self.header, self.hunk, self.last) = (Some(at), None, Some(at));
            return Some(Role::Header);
        }
        if goes_on {
            return Some(Role::Header);
        }
        if !line.is_empty() {
            self.leave();
        }
        None
    }
}

/// Reads the header of a hunk: `@@ -1,3 +1,4 @@`, `@@@ -1,3 -1,4 +1,5 @@@`, `*** 1,5 ****`,
/// `--- 1,6 ----`, `12,14c12`.
fn hunk(line: &[u8]) -> Option<Rest> {
    match line.first()? {
        b'@' => {
            let columns = line.iter().take_while(|byte| **byte == b'@').count() - 1;
            let mut ranges = line[columns + 1..].split(|byte| *byte == b' ').skip(1);
            let mut old = 0;
            for _ in 0..columns {
                old += length(ranges.next()?.strip_prefix(b"-")?)?;
            }
            let new = length(ranges.next()?.strip_prefix(b"+")?)?;
            (columns > 0 && columns < 9).then_some(Rest::Unified { old, new, columns })
        }
        b'*' | b'-' => {
            let range = line.strip_prefix(b"*** ").and_then(|rest| rest.strip_suffix(b" ****"));
            let range =
                range.or_else(|| line.strip_prefix(b"--- ").and_then(|rest| rest.strip_suffix(b" ----")))?;
            Some(Rest::Side { lines: span(range)? })
        }
        b'0'..=b'9' => {
            let at = line.iter().position(|byte| !byte.is_ascii_digit() && *byte != b',')?;
            if !matches!(line[at], b'a' | b'c' | b'd') {
                return None;
            }
            let (old, new) = (span(&line[..at])?, span(&line[at + 1..])?);
            Some(match line[at] {
                b'a' => Rest::Plain { old: 0, new },
                b'd' => Rest::Plain { old, new: 0 },
                _ => Rest::Plain { old, new },
            })
        }
        _ => None,
    }
}

fn number(text: &[u8]) -> Option<usize> {
    let is_number = !text.is_empty() && text.len() < 10 && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}

/// Returns the lines of a range that is given by its start and its length.
fn length(range: &[u8]) -> Option<usize> {
    match memchr::memchr(b',', range) {
        Some(comma) => number(&range[..comma]).and(number(&range[comma + 1..])),
        None => number(range).map(|_| 1),
    }
}

/// Returns the lines of a range that is given by its start and its end.
fn span(range: &[u8]) -> Option<usize> {
    match memchr::memchr(b',', range) {
        Some(comma) => {
            let (first, last) = (number(&range[..comma])?, number(&range[comma + 1..])?);
            Some((last + 1).saturating_sub(first))
        }
        None => number(range).map(|_| 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    /// Returns a letter for each line: a change, context, a header, or another line.
    fn roles(text: &str) -> String {
        let mut next = Unit::default();
        let mut piece = |text: &'static str| {
            let ends_line = text.ends_with('\n');
            let unit = Unit { bytes: text.len(), chars: text.len(), ends_line, ..next };
            next = unit.next(0, 0, false);
            Piece { unit, text: text.as_bytes(), is_weighed: true }
        };
        let text: &'static str = text.to_owned().leak();
        // A long line is read in pieces that end at escaped newlines.
        let ends = |byte: char| byte == '\n';
        let lines = text.split_inclusive(ends).flat_map(|line| line.split_inclusive("\\n"));
        let pieces: Vec<Piece> = lines.map(&mut piece).collect();
        let letter = |place: &Option<Place>| match place.map(|place| place.role) {
            Some(Role::Change) => 'c',
            Some(Role::Context) => ' ',
            Some(Role::Header) => 'h',
            None => '.',
        };
        places(&pieces).iter().map(letter).collect()
    }

    #[test]
    fn each_form_of_a_diff_has_changes_headers_and_context() {
        for (text, expected) in [
            (
                "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n-b\n+c\n d\n-- e\n",
                "hhhhh cc .",
            ),
            ("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+-- x\n+++ y\nafter\n", "hhhccc."),
            ("commit 1\n\n    say\n\ndiff --git a/x b/x\n@@ -1,2 +1 @@\n-b\n\n\ncommit 2\n", "....hhc .."),
            ("diff --cc x\n@@@ -1,2 -1,2 +1,3 @@@\n  a\n- b\n +c\n++d\n", "hh ccc"),
            ("diff -r a/x b/x\n2,3c2\n< a\n< b\n---\n> c\n9a9\n> d\nend\n", "hhcchchc."),
            (
                "*** a\n--- b\n***************\n*** 1,3 ****\n  a\n! b\n  c\n--- 1,3 ----\n  a\n! d\n  c\n",
                "hhhh c h c ",
            ),
            ("{\"patch\":\"@@ -1,2 +1,2 @@\\n a\\n-b\\n+c\\n\",\"x\":1}\n", "h cc."),
        ] {
            assert_eq!(roles(text), expected, "{text}");
        }
    }

    #[test]
    fn other_lines_are_in_no_diff() {
        for text in
            ["- a\n+ b\n  c\n", "---\ntitle: x\n---\n", "@@ what\n+a\n", "+++ b\n--- a\n", "12c\n< a\n", ""]
        {
            assert_eq!(roles(text), "", "{text}");
        }
    }
}
