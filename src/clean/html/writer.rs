//! The text of a page: lines, in which white space is collapsed.
//!
//! Line ends and spaces wait until text follows, so that a page neither begins nor ends with them,
//! and a run of empty elements takes no lines. Depth is a count, so memory does not grow with it.

use super::element::Element;

/// Spaces before the item of a list, at most.
const DEEPEST: usize = 8;

/// Bytes of the longest target of a link that is shown.
pub const TARGET: usize = 2_048;

#[derive(Clone, Debug, Default)]
pub struct HtmlWriter {
    /// Something was written.
    begun: bool,
    /// Newlines that wait, at most two, and a space.
    newlines: u8,
    space: bool,
    /// The mark of an item or a heading, which waits for its text.
    mark: Vec<u8>,
    lists: usize,
    preformatted: usize,
    /// Nothing has followed the tag that keeps white space.
    is_first: bool,
    /// Cells of the row so far, and true until the last of them has text.
    cells: usize,
    is_fresh: bool,
    /// The target of the open link, and its text as far as that may be the target.
    target: Vec<u8>,
    linked: Vec<u8>,
}

impl HtmlWriter {
    pub fn text(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        if self.preformatted > 0 {
            return self.preformatted(text, out);
        }
        while !text.is_empty() {
            let word = text.iter().position(|byte| is_space(*byte)).unwrap_or(text.len());
            if word > 0 {
                self.write(&text[..word], out);
            }
            let rest = &text[word..];
            let spaces = rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len());
            self.space |= spaces > 0;
            text = &rest[spaces..];
        }
    }

    fn preformatted(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_first) {
            // This newline belongs to the tag.
            text = text.strip_prefix(b"\n").unwrap_or(text);
        }
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let shown = line.strip_suffix(b"\n").unwrap_or(line);
            let shown = shown.strip_suffix(b"\r").unwrap_or(shown);
            if !shown.is_empty() {
                self.write(shown, out);
            }
            if line.ends_with(b"\n") {
                self.newlines = self.newlines.saturating_add(1);
            }
        }
    }

    /// Writes what waits, and text.
    fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.settle(out);
        self.begun = true;
        self.is_fresh = false;
        out.extend_from_slice(text);
        if !self.target.is_empty() && self.linked.len() <= self.target.len() {
            let room = self.target.len() + 1 - self.linked.len();
            self.linked.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    fn settle(&mut self, out: &mut Vec<u8>) {
        if self.begun {
            (0..self.newlines).for_each(|_| out.push(b'\n'));
            if self.newlines == 0 && self.space && self.mark.is_empty() {
                out.push(b' ');
                self.is_linked(b' ');
            }
        }
        (self.newlines, self.space) = (0, false);
        if !self.mark.is_empty() {
            out.append(&mut self.mark);
            self.begun = true;
        }
    }

    fn is_linked(&mut self, byte: u8) {
        if !self.linked.is_empty() && self.linked.len() <= self.target.len() {
            self.linked.push(byte);
        }
    }

    /// Ends the line, or the paragraph with two newlines.
    fn end_line(&mut self, newlines: u8) {
        if !self.is_fresh {
            self.newlines = self.newlines.max(newlines);
        }
        self.space = false;
    }

    pub fn open(&mut self, element: Element, out: &mut Vec<u8>) {
        match element {
            Element::Block => self.end_line(1),
            Element::Paragraph | Element::Table => self.end_line(2),
            Element::Break => {
                let before = self.newlines;
                self.end_line(before.saturating_add(1).min(2));
            }
            Element::Rule => {
                self.end_line(2);
                self.write(b"---", out);
                self.end_line(2);
            }
            Element::Heading(level) => {
                self.end_line(2);
                self.mark = [&b"######"[..usize::from(level.min(6))], b" "].concat();
            }
            Element::List => {
                self.end_line(if self.lists == 0 { 2 } else { 1 });
                self.lists = self.lists.saturating_add(1);
            }
            Element::Item => {
                self.end_line(1);
                let depth = self.lists.saturating_sub(1).min(DEEPEST);
                self.mark = [&b"                "[..2 * depth], b"- "].concat();
            }
            Element::Row => {
                self.end_line(1);
                (self.cells, self.is_fresh) = (0, false);
            }
            Element::Cell => {
                if self.cells > 0 {
                    // What waits is the row's own line end, if the last cell was empty.
                    self.newlines = if self.is_fresh { self.newlines } else { 0 };
                    self.space = false;
                    self.mark.clear();
                    self.settle(out);
                    out.extend_from_slice(b" | ");
                    self.begun = true;
                }
                self.cells = self.cells.saturating_add(1);
                self.is_fresh = true;
            }
            Element::Preformatted => {
                self.end_line(2);
                self.preformatted = self.preformatted.saturating_add(1);
                self.is_first = true;
            }
            Element::Inline | Element::Link | Element::Image | Element::Hidden | Element::Unknown => {}
        }
    }

    pub fn close(&mut self, element: Element, out: &mut Vec<u8>) {
        match element {
            Element::Block | Element::Item => self.end_line(1),
            Element::Row => {
                (self.cells, self.is_fresh) = (0, false);
                self.end_line(1);
            }
            Element::Table => {
                (self.cells, self.is_fresh) = (0, false);
                self.end_line(2);
            }
            Element::Paragraph => self.end_line(2),
            Element::Heading(_) => {
                self.mark.clear();
                self.end_line(2);
            }
            Element::List => {
                self.lists = self.lists.saturating_sub(1);
                self.end_line(if self.lists == 0 { 2 } else { 1 });
            }
            Element::Preformatted => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.newlines = self.newlines.min(1);
                self.end_line(2);
            }
            Element::Link => self.end_link(out),
            _ => {}
        }
    }

    /// Begins a link, and ends the one before it.
    pub fn link(&mut self, target: Vec<u8>, out: &mut Vec<u8>) {
        self.end_link(out);
        self.target = target;
    }

    fn end_link(&mut self, out: &mut Vec<u8>) {
        let (target, linked) = (std::mem::take(&mut self.target), std::mem::take(&mut self.linked));
        if linked.is_empty() || target.starts_with(b"#") || is_code(&target) || linked == target {
            return;
        }
        out.extend_from_slice(b" (");
        out.extend_from_slice(&target);
        out.push(b')');
    }

    /// Shows the words that stand for an image.
    pub fn image(&mut self, words: &[u8], out: &mut Vec<u8>) {
        let words: Vec<&[u8]> = words.split(|byte| is_space(*byte)).filter(|word| !word.is_empty()).collect();
        if !words.is_empty() {
            self.write(&[b"[", &*words.join(&b' '), b"]"].concat(), out);
        }
    }

    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_link(out);
        *self = HtmlWriter::default();
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Returns true for a target that is a program or the data itself.
fn is_code(target: &[u8]) -> bool {
    [&b"javascript:"[..], b"data:", b"vbscript:"]
        .iter()
        .any(|scheme| target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
