//! One line that comes again and again: all but the first of a long run only have to be counted.

use super::{screen, special};

/// Lines that are read before the others are counted: more than can still be edited, and then three that are folded.
const READ: usize = screen::LINES + 4;

/// Fewer are not worth the trouble.
const LEAST: usize = 2 * READ;

/// Bytes of the longest line.
const LONGEST: usize = 1024;

/// The part of a text that only has to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub start: usize,
    pub end: usize,
    pub lines: usize,
}

impl Run {
    /// Finds a run of the first whole line. Where the first two differ, as nearly always, that is told at once.
    pub fn find(text: &[u8]) -> Option<Run> {
        let start = memchr::memchr(b'\n', text)? + 1;
        let line = &text[start..];
        let length = memchr::memchr(b'\n', &line[..line.len().min(LONGEST)])? + 1;
        let line = &line[..length];
        if !text[start + length..].starts_with(line) || special::find(line) + 1 < length {
            return None;
        }
        let lines = 1 + same(&text[start..], &text[start + length..]) / length;
        let at = |lines| start + lines * length;
        (lines >= LEAST).then(|| Run { start: at(READ), end: at(lines), lines: lines - READ })
    }
}

/// How far two texts are the same.
fn same(one: &[u8], other: &[u8]) -> usize {
    const BLOCK: usize = 256;
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(one, other)| one == other).count();
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::super::{Cleaner, Options};
    use super::*;

    #[test]
    fn a_run_is_counted_from_where_it_is_folded() {
        let text = "begin\n".to_owned() + &"x y\n".repeat(1_000) + "x z\n";
        let run = Run::find(text.as_bytes()).unwrap();
        assert_eq!(run, Run { start: 6 + READ * 4, end: 4_006, lines: 1_000 - READ });
        for none in
            ["", "x\n", "x\ny\ny\n", &"a\nb\n".repeat(500), &"x\x07\n".repeat(500), &"y\n".repeat(LEAST)]
        {
            assert_eq!(Run::find(none.as_bytes()), None, "{none:?}");
        }
    }

    #[test]
    fn counting_comes_to_what_reading_comes_to() {
        let ends = [
            "",
            "x",
            "\n",
            "\n\n",
            "\x1B[2A",
            "\x1B[70Ab",
            "ab\x1B[2D",
            "\x1B[",
            "\x1B]t",
            "\r",
            "x\r",
            "x\n\x1B[A",
            "[previous line 2 more times]\n",
            "漢\n漢\n",
            "\x1B[5Cy",
        ];
        for line in ["x\n", "\n", "漢字\n", "a line\tof words\n", "[previous line 2 more times]\n"] {
            for options in [
                Options::ALL,
                Options { ansi: false, ..Options::ALL },
                Options { carriage_returns: false, ..Options::ALL },
            ] {
                for before in ends {
                    for after in ends {
                        let text = [before, &line.repeat(LEAST + 9), after].concat();
                        let cleaned = |chunk| {
                            let (mut cleaner, mut out) = (Cleaner::new(options), vec![]);
                            text.as_bytes().chunks(chunk).for_each(|chunk| cleaner.push(chunk, &mut out));
                            cleaner.finish(&mut out);
                            String::from_utf8(out).unwrap()
                        };
                        assert_eq!(cleaned(text.len()), cleaned(8), "{before:?} {line:?} {after:?}");
                    }
                }
            }
        }
    }
}
