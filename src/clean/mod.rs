//! Converts terminal output to plain text.
//!
//! A [`Cleaner`] reads bytes in chunks and writes clean UTF-8; the result does not depend on the
//! chunks. Each byte passes through decoding, the parsing of escape sequences, the lines that can
//! still change, and the folding of repeated lines. Each step buffers a bounded amount, in total a
//! few MiB, for any input.

mod ansi;
mod fast_path;
mod html;
mod line;
mod motion;
mod repeats;
mod screen;

use crate::encoding::decoder::Decoder;
use ansi::{AnsiPiece, Parser};
use fast_path::{Skip, find_skip};
use html::HtmlStep;
use motion::Motion;
use repeats::Repeats;
use screen::{Final, Screen};

pub use fast_path::{is_clean, look};
pub use html::is_page;
pub use repeats::leave_two;

/// Cleaning steps. All but `html` are on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanOptions {
    /// Removes escape sequences. Otherwise they are kept and take no columns.
    pub ansi: bool,
    /// Applies carriage returns, backspaces and, with `ansi`, cursor movements and erasures.
    pub carriage_returns: bool,
    /// Removes control characters other than tab and newline. Otherwise each takes a column.
    pub control: bool,
    /// Folds three or more identical lines in a row into one line and a mark.
    pub repeats: bool,
    /// Turns a page of HTML into text, before all else.
    pub html: bool,
}

impl From<[bool; 5]> for CleanOptions {
    fn from([ansi, carriage_returns, control, repeats, html]: [bool; 5]) -> CleanOptions {
        CleanOptions { ansi, carriage_returns, control, repeats, html }
    }
}

impl CleanOptions {
    /// The steps of terminal output.
    pub const ALL: CleanOptions =
        CleanOptions { ansi: true, carriage_returns: true, control: true, repeats: true, html: false };
    pub const NONE: CleanOptions =
        CleanOptions { ansi: false, carriage_returns: false, control: false, repeats: false, html: false };
}

/// Cleans a stream. Finishing a clone does not affect the original.
#[derive(Clone, Debug)]
pub struct Cleaner {
    decoder: Decoder,
    html: Option<HtmlStep>,
    parser: Parser,
    page: PageRouter,
}

impl Cleaner {
    pub fn new(options: CleanOptions) -> Self {
        Cleaner {
            decoder: Decoder::default(),
            html: options.html.then(HtmlStep::default),
            parser: Parser::default(),
            page: PageRouter::new(options),
        }
    }

    /// Reads a chunk and appends the output that is final so far.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Cleaner { decoder, html, parser, page } = self;
        decoder.push(bytes, |text| match html {
            None => page.read(parser, text, out),
            Some(html) => html.push(text, |text, out| page.read(parser, text, out), out),
        });
    }

    /// Ends the stream, appends the rest of the output, and resets the cleaner.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let Cleaner { decoder, html, parser, page } = self;
        decoder.finish(|text| match html {
            None => page.read(parser, text, out),
            Some(html) => html.push(text, |text, out| page.read(parser, text, out), out),
        });
        match html {
            None => page.end(parser, out),
            Some(html) => html.finish(
                |text, out| {
                    page.read(parser, text, out);
                    page.end(parser, out);
                },
                out,
            ),
        }
        *self = Cleaner::new(self.page.options);
    }

    /// Returns the bytes of memory in use, at most [`Cleaner::MOST_MEMORY`].
    pub fn memory(&self) -> usize {
        let html = self.html.as_ref().map_or(0, HtmlStep::memory);
        html + self.parser.memory() + self.page.screen.memory() + self.page.repeats.memory()
    }

    pub const MOST_MEMORY: usize = 4 << 20;
}

/// Cleans a whole text.
pub fn clean(bytes: &[u8], options: CleanOptions) -> Vec<u8> {
    let (mut cleaner, mut out) = (Cleaner::new(options), vec![]);
    cleaner.push(bytes, &mut out);
    cleaner.finish(&mut out);
    out
}

/// Routes the pieces of a text by the options.
#[derive(Clone, Debug)]
struct PageRouter {
    options: CleanOptions,
    screen: Screen,
    repeats: Repeats,
}

impl PageRouter {
    fn new(options: CleanOptions) -> Self {
        // Without cursor movements, a line cannot change after it ends.
        let screen = Screen::new(if options.ansi { screen::LINES } else { 1 });
        PageRouter { options, screen, repeats: Repeats::new(options.repeats) }
    }

    /// Returns true if no step follows that of HTML.
    fn only_decodes(&self) -> bool {
        CleanOptions { html: false, ..self.options } == CleanOptions::NONE
    }

    fn end(&mut self, parser: &mut Parser, out: &mut Vec<u8>) {
        if !self.only_decodes() {
            parser.finish(|piece| self.take(piece, out));
            self.finish(out);
        }
    }

    fn read(&mut self, parser: &mut Parser, text: &str, out: &mut Vec<u8>) {
        if self.only_decodes() {
            return out.extend_from_slice(text.as_bytes());
        }
        let mut rest = text;
        if let Some((part, skip)) = find_skip(text.as_bytes(), self.options.repeats) {
            parser.push(&text[..part.start], |piece| self.take(piece, out));
            self.skip(&text[part.clone()], skip, out);
            rest = &text[part.end..];
        }
        parser.push(rest, |piece| self.take(piece, out));
    }

    fn take(&mut self, piece: AnsiPiece, out: &mut Vec<u8>) {
        let CleanOptions { ansi, carriage_returns, control, .. } = self.options;
        let mut end = Final { repeats: &mut self.repeats, out };
        match piece {
            AnsiPiece::Text(text) => self.print(text, out),
            AnsiPiece::Control('\n', _) if carriage_returns => self.screen.newline(&mut end),
            AnsiPiece::Control('\n', _) => end.newline(),
            AnsiPiece::Control('\r', _) if carriage_returns => self.screen.carriage_return(),
            AnsiPiece::Control('\u{8}', count) if carriage_returns => {
                (0..count).for_each(|_| self.screen.backspace(&mut end));
            }
            AnsiPiece::Control(char, count) => {
                if !control || matches!(char, '\r' | '\u{8}') {
                    (0..count).for_each(|_| self.print(char.encode_utf8(&mut [0; 4]), out));
                }
            }
            AnsiPiece::Sequence(raw) | AnsiPiece::Stray(raw) if !ansi && carriage_returns => {
                self.screen.keep(raw, &mut end);
            }
            AnsiPiece::Sequence(raw) | AnsiPiece::Stray(raw) if !ansi => end.text(raw),
            AnsiPiece::Sequence(raw) if carriage_returns => {
                if let Some(motion) = Motion::of(raw) {
                    self.screen.apply(motion, &mut end);
                }
            }
            AnsiPiece::Sequence(_) | AnsiPiece::Stray(_) => {}
        }
    }

    fn print(&mut self, text: &str, out: &mut Vec<u8>) {
        let mut end = Final { repeats: &mut self.repeats, out };
        if self.options.carriage_returns { self.screen.print(text, &mut end) } else { end.text(text) }
    }

    /// Takes lines that need not be read. More lines than can be edited must precede them.
    fn skip(&mut self, lines: &str, skip: Skip, out: &mut Vec<u8>) {
        match skip {
            Skip::Repeated(count) => self.repeats.hold(count),
            Skip::Clean => {
                self.screen.make_all_final(&mut Final { repeats: &mut self.repeats, out });
                self.repeats.pass(lines.as_bytes(), out);
            }
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        let mut end = Final { repeats: &mut self.repeats, out };
        self.screen.finish(&mut end);
        self.repeats.finish(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        String::from_utf8(clean(text.as_bytes(), CleanOptions::ALL)).unwrap()
    }

    #[test]
    fn shows_what_a_terminal_would_show() {
        for (text, shown) in [
            ("", ""),
            ("abcdef\rxy", "xycdef"),
            ("a\r\nb\r\r\nc\r", "a\nb\nc"),
            ("N\x08NA\x08A _\x08b", "NA b"),
            ("\x08\x08a\x08", "a"),
            ("loading\r\x1B[Kdone\n", "done\n"),
            ("abc  \rx", "xbc"),
            ("漢字です\r😀", "😀字です"),
            ("abcdef\x1B[3G\x1B[K", "ab"),
            ("abc\x1B[1Kd", "   d"),
            ("a\x1B[5Cb\x1B[2Dc", "a    cb"),
            ("\x1B[32mok\x1B[0m\0\x07\u{85}\tx", "ok\tx"),
            // Redrawn lines.
            ("a: 1\nb: 1\n\x1B[2Aa: 2\nb: 2\n", "a: 2\nb: 2\n"),
            ("a\nb\nc\x1B[2F\x1B[Jd", "d"),
            ("a\nb\x1B[1Ac\x1B[1Ed", "ac\nd"),
            ("a\n\x1B[9Ab\x1B[9Bc", "b\n c"),
        ] {
            assert_eq!(all(text), shown, "{text:?}");
        }
    }

    #[test]
    fn disabled_steps_change_nothing() {
        let text = "\x1B[1mab\x1B[0m\rc\x1B[K\x07\nd\x08\r\n\n\n\n";
        let of = |ansi, carriage_returns, control, repeats| {
            String::from_utf8(clean(
                text.as_bytes(),
                CleanOptions { ansi, carriage_returns, control, repeats, html: false },
            ))
            .unwrap()
        };
        assert_eq!(of(false, false, false, false), text);
        assert_eq!(of(true, false, false, false), "ab\rc\x07\nd\x08\r\n\n\n\n");
        assert_eq!(of(false, true, true, false), "\x1B[0mcb\x1B[K\nd\n\n\n\n");
        assert_eq!(of(false, false, true, false), text.replace('\x07', ""));
        assert_eq!(of(true, true, false, false), "c\x07\nd\n\n\n\n");
        assert_eq!(of(true, true, true, true), "c\nd\n\n[previous line 2 more times]\n");
    }

    #[test]
    fn lines_above_the_window_are_final() {
        let lines: String = (0..100).map(|line| format!("{line}\n")).collect();
        let shown = all(&format!("{lines}\x1B[999Atop\n"));
        // The window also holds the cursor's line, which is empty.
        let top = 100 - (screen::LINES - 1);
        assert_eq!(shown, lines.replace(&format!("\n{top}\n"), "\ntop\n"));
    }

    #[test]
    fn lines_too_long_to_edit_continue_after_their_final_part() {
        let long = "x".repeat(screen::LONGEST);
        assert_eq!(all(&format!("{long}yz\rY")), format!("{long}Yz"));
        assert_eq!(all(&format!("{long}\rY")), format!("Y{}", &long[1..]));
        assert_eq!(all(&format!("a\n{long}y\x1B[Ab")), format!("a\n{long}yb"));
        assert_eq!(all(&long.repeat(30)), long.repeat(30));
        let wide = "漢".repeat(screen::LONGEST);
        assert_eq!(all(&wide), wide);
    }

    #[test]
    fn memory_is_bounded_for_any_input() {
        let forever = |part: &str| part.repeat((12 << 20) / part.len());
        let full = |line: &str| format!("\x1B[2K{}\r", line.repeat(screen::LONGEST / line.len() - 1));
        for text in [
            forever("\x1B"),
            forever("\x1B]"),
            forever("\x1B]x"),
            format!("\x1B]{}", forever("x")),
            format!("\x1B[{}", forever("1;")),
            forever("x"),
            forever("x\r"),
            forever("ab\r漢"),
            forever("\x1B[A"),
            forever("x\n\x1B[A\x1B[B"),
            forever("\x1B[9999C\x1B[Ax"),
            forever(&format!("{}x\n", full("\t"))),
            forever(&format!("{}x\n", full("漢"))),
            forever("\t\rx\n"),
            forever("\n"),
            forever(&format!("{}\n", "y".repeat(4_000))),
        ] {
            for ansi in [true, false] {
                let mut cleaner = Cleaner::new(CleanOptions { ansi, ..CleanOptions::ALL });
                let mut out = vec![];
                // Fewer lines are buffered if sequences are kept.
                let len = if ansi { text.len() } else { text.len() / 8 };
                for chunk in text.as_bytes()[..len].chunks(60_000) {
                    cleaner.push(chunk, &mut out);
                    assert!(cleaner.memory() <= Cleaner::MOST_MEMORY, "{} bytes", cleaner.memory());
                    out.clear();
                }
            }
        }
    }
}
