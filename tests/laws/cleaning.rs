//! Laws of cleaning hostile output.

use crate::cases::cases;
use proptest::prelude::*;
use spillway::clean::{CleanOptions, Cleaner, clean};

/// Generates output that is hard to clean: cursor movements, unterminated strings, incomplete
/// sequences, marks, incomplete code points.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "a",
        "bc",
        "漢字",
        "😀",
        "é\u{301}",
        "\u{200D}",
        " ",
        "  ",
        "\t",
        "7",
        ";",
        "[",
        "]",
        "K",
        "m",
        "\\",
    ]);
    let controls = prop::sample::select(vec![
        "\r", "\r\r\n", "\x08", "\x08\x08", "\x1B", "\x07", "\0", "\x18", "\x7F", "\u{85}", "\u{9C}", "\x0B",
        "\x1B[", "\x1B]", "\x1BP", "\x1B(", "\u{9B}", "\u{9D}", "\u{90}",
    ]);
    let sequences = prop::sample::select(vec![
        "\x1B[K",
        "\x1B[1K",
        "\x1B[2K",
        "\x1B[J",
        "\x1B[A",
        "\x1B[2A",
        "\x1B[B",
        "\x1B[3G",
        "\x1B[9C",
        "\x1B[2D",
        "\x1B[E",
        "\x1B[F",
        "\x1B[1;31m",
        "\u{9B}0m",
        "\x1B]0;t\x07",
        "\x1B]8;;x\x1B\\",
        "\x1BPq\u{9C}",
        "\x1B(B",
        "\x1B7",
        "\x1B[?25l",
        "\x1B[2J",
    ]);
    let lines = prop::sample::select(vec![
        "\n",
        "\r\n",
        "x\n",
        "x\nx\nx\n",
        "\n\n\n",
        "[previous line 2 more times]\n",
        "<p>",
        "<li>&lt;p>",
        "&#27;",
    ]);
    let text = |piece: &str| piece.as_bytes().to_vec();
    let piece = prop_oneof![
        6 => words.prop_map(text),
        3 => controls.prop_map(text),
        3 => sequences.prop_map(text),
        3 => lines.prop_map(text),
        1 => prop::collection::vec(any::<u8>(), 1..3),
    ];
    (prop::collection::vec(piece, 0..40), 1..4usize).prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

fn options() -> impl Strategy<Value = CleanOptions> {
    any::<[bool; 5]>().prop_map(CleanOptions::from)
}

fn cleaned(bytes: &[u8], options: CleanOptions) -> String {
    String::from_utf8(clean(bytes, options)).expect("clean text is UTF-8")
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn chunking_does_not_change_the_result(bytes in hostile(), options in options(), cuts in prop::collection::vec(1..9usize, 1..9)) {
        let (mut cleaner, mut out) = (Cleaner::new(options), vec![]);
        let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
            cleaner.push(chunk, &mut out);
            // Snapshots do not change the cleaner.
            cleaner.clone().finish(&mut vec![]);
            rest = after;
        }
        cleaner.finish(&mut out);
        prop_assert_eq!(String::from_utf8(out).unwrap(), cleaned(&bytes, options));
    }

    #[test]
    fn a_second_cleaning_changes_nothing(bytes in hostile(), options in options()) {
        let once = cleaned(&bytes, options);
        prop_assert_eq!(cleaned(once.as_bytes(), options), once);
    }

    #[test]
    fn control_characters_and_third_repetitions_are_removed(bytes in hostile()) {
        let text = cleaned(&bytes, CleanOptions::ALL);
        prop_assert!(!text.contains(|char: char| char.is_control() && char != '\t' && char != '\n'), "{text:?}");
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        prop_assert!(!lines.windows(3).any(|three| three[0] == three[1] && three[1] == three[2]), "{text:?}");
    }

    #[test]
    fn text_without_anything_to_clean_is_unchanged(text in "([a-z\t 漢😀é\u{200D}]{0,9}\n?){0,20}", options in options()) {
        let options = CleanOptions { repeats: false, ..options };
        prop_assert_eq!(cleaned(text.as_bytes(), options), text);
    }

    #[test]
    fn without_options_text_is_unchanged(bytes in hostile()) {
        prop_assert_eq!(cleaned(&bytes, CleanOptions::NONE), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn retained_sequences_are_not_dropped(bytes in hostile()) {
        let options = CleanOptions { control: true, ..CleanOptions::NONE };
        let kept = |text: &str| text.chars().filter(|char| matches!(char, '\x1B' | '\u{9B}' | '\u{9D}')).count();
        prop_assert_eq!(kept(&cleaned(&bytes, options)), kept(&String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn a_plain_model_of_a_terminal_agrees(bytes in hostile()) {
        let options = CleanOptions { repeats: false, ..CleanOptions::ALL };
        prop_assert_eq!(cleaned(&bytes, options), model::show(&String::from_utf8_lossy(&bytes)));
    }
}

/// A straightforward model of a terminal: char by char, without windows, margins or limits.
mod model {
    #[derive(Clone, Copy, PartialEq)]
    enum Cell {
        Printed(char),
        Blank,
        /// A cell of a tab that starts this many cells before.
        Tab(usize),
    }

    #[derive(Default)]
    struct Terminal {
        lines: Vec<Vec<Cell>>,
        /// True for lines with overwritten text.
        rewritten: Vec<bool>,
        row: usize,
        column: usize,
    }

    pub fn show(text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let mut terminal = Terminal { lines: vec![vec![]], rewritten: vec![false], ..Terminal::default() };
        let mut at = 0;
        while at < chars.len() {
            let len = sequence(&chars[at..]);
            match chars[at] {
                _ if len > 0 => terminal.obey(&chars[at..at + len]),
                '\r' => terminal.column = 0,
                '\x08' => terminal.column = terminal.column.saturating_sub(1),
                '\n' => {
                    terminal.row += 1;
                    terminal.column = 0;
                    if terminal.row == terminal.lines.len() {
                        terminal.lines.push(vec![]);
                        terminal.rewritten.push(false);
                    }
                }
                '\t' => terminal.tab(),
                char if char.is_control() => {}
                char => terminal.print(char),
            }
            at += len.max(1);
        }
        terminal.shown()
    }

    /// Returns the length of the leading sequence, or 0.
    fn sequence(chars: &[char]) -> usize {
        let introducers = ['\x1B', '\u{90}', '\u{98}', '\u{9B}', '\u{9D}', '\u{9E}', '\u{9F}'];
        if !introducers.contains(&chars[0]) {
            return 0;
        }
        let (kind, from) = match (chars[0], chars.get(1)) {
            ('\x1B', Some(&second)) => (second, 2),
            ('\x1B', None) => return 0,
            ('\u{9B}', _) => ('[', 1),
            ('\u{9D}', _) => (']', 1),
            _ => ('P', 1),
        };
        match kind {
            '[' => {
                let parameters = chars[from..].iter().take_while(|char| (' '..='?').contains(*char)).count();
                let last = from + parameters;
                if chars.get(last).is_some_and(|char| ('@'..='~').contains(char)) { last + 1 } else { 0 }
            }
            ']' | 'P' | 'X' | '^' | '_' => {
                for at in from..chars.len() {
                    match chars[at] {
                        '\x07' if kind == ']' => return at + 1,
                        '\u{9C}' => return at + 1,
                        '\x1B' if chars.get(at + 1) == Some(&'\\') => return at + 2,
                        '\t' => {}
                        char if char < ' ' || introducers.contains(&char) => return 0,
                        _ => {}
                    }
                }
                0
            }
            _ => {
                let intermediates = chars[1..].iter().take_while(|char| (' '..='/').contains(*char)).count();
                let last = 1 + intermediates;
                let ends = chars.get(last).is_some_and(|char| ('0'..='~').contains(char));
                if ends && intermediates <= 2 { last + 1 } else { 0 }
            }
        }
    }

    impl Terminal {
        fn obey(&mut self, sequence: &[char]) {
            let text: String = sequence.iter().collect();
            let Some(inside) = text.strip_prefix("\x1B[").or(text.strip_prefix('\u{9B}')) else { return };
            let (numbers, kind) = inside.split_at(inside.len() - 1);
            if numbers.contains(|char: char| !char.is_ascii_digit() && char != ';') {
                return;
            }
            let number: usize = numbers.split(';').next().unwrap_or("").parse().unwrap_or(0);
            let count = number.max(1);
            match (kind, number) {
                ("A", _) => self.row = self.row.saturating_sub(count),
                ("F", _) => (self.row, self.column) = (self.row.saturating_sub(count), 0),
                ("B", _) => self.row = (self.row + count).min(self.lines.len() - 1),
                ("E", _) => (self.row, self.column) = ((self.row + count).min(self.lines.len() - 1), 0),
                ("C", _) => self.column += count,
                ("D", _) => self.column = self.column.saturating_sub(count),
                ("G", _) => self.column = count - 1,
                ("K", 0) => self.erase(self.column, usize::MAX),
                ("K", 1) => self.erase(0, self.column + 1),
                ("K", 2) => self.erase(0, usize::MAX),
                ("J", 0) => {
                    self.erase(self.column, usize::MAX);
                    self.lines[self.row + 1..].fill(vec![]);
                    self.rewritten[self.row + 1..].fill(false);
                }
                _ => {}
            }
        }

        fn erase(&mut self, from: usize, to: usize) {
            for at in from..to.min(self.lines[self.row].len()) {
                self.break_tab(at);
                self.lines[self.row][at] = Cell::Blank;
            }
            self.rewritten[self.row] &= self.end() > 0;
        }

        /// Returns the end of the line without trailing blanks.
        fn end(&self) -> usize {
            self.lines[self.row].iter().rposition(|&cell| cell != Cell::Blank).map_or(0, |last| last + 1)
        }

        fn break_tab(&mut self, at: usize) {
            let line = &mut self.lines[self.row];
            if let Some(&Cell::Tab(offset)) = line.get(at) {
                let start = at - offset;
                let mut next = start;
                while line.get(next) == Some(&Cell::Tab(next - start)) {
                    line[next] = Cell::Printed(' ');
                    next += 1;
                }
            }
        }

        fn print(&mut self, char: char) {
            self.break_tab(self.column);
            self.rewritten[self.row] |= self.column < self.end();
            let line = &mut self.lines[self.row];
            while line.len() <= self.column {
                line.push(Cell::Blank);
            }
            line[self.column] = Cell::Printed(char);
            self.column += 1;
        }

        fn tab(&mut self) {
            let stop = (self.column / 8 + 1) * 8;
            let end = self.end();
            let line = &mut self.lines[self.row];
            line.truncate(end);
            if self.column == line.len() {
                line.extend((0..stop - self.column).map(Cell::Tab));
            }
            self.column = stop;
        }

        fn shown(mut self) -> String {
            let text = |(line, rewritten): (&Vec<Cell>, &bool)| {
                let blank = |cell| cell == Cell::Blank || *rewritten && cell == Cell::Printed(' ');
                let shown = line.iter().rposition(|&cell| !blank(cell)).map_or(0, |last| last + 1);
                line[..shown]
                    .iter()
                    .filter_map(|&cell| match cell {
                        Cell::Printed(char) => Some(char),
                        Cell::Blank => Some(' '),
                        Cell::Tab(0) => Some('\t'),
                        Cell::Tab(_) => None,
                    })
                    .collect::<String>()
            };
            let below = self.lines.split_off(self.row + 1);
            let mut rewritten = self.rewritten.iter();
            let mut shown: Vec<String> = self.lines.iter().zip(&mut rewritten).map(text).collect();
            let mut below: Vec<String> = below.iter().zip(rewritten).map(text).collect();
            // One empty line at the end stands for the newline of the line above, unless that line
            // has the cursor.
            while below.ends_with(&[String::new(), String::new()]) || below == [""] {
                below.pop();
            }
            shown.extend(below);
            shown.join("\n")
        }
    }
}
