//! Parses escape sequences in chunks of text.
//!
//! Recognised are CSI, the strings OSC, DCS, SOS, PM and APC, and the shorter escapes, introduced by ESC or by their C1
//! control. A sequence is rejected if it exceeds [`LONGEST`] bytes, or contains a control character, another introducer
//! or the end of the text. Then only its introducer is treated as stray, and the rest is text. Newlines thus end
//! strings, and a stray `ESC ]` affects no other text.
//!
//! Sequences contain no introducers, so rejected text is read at most twice.

use super::special;

/// Maximum bytes of a sequence, introducer and terminator included.
pub const LONGEST: usize = 4096;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text without control characters other than tabs. Never empty.
    Text(&'a str),
    /// A control character outside sequences.
    Control(char),
    /// Repetitions of the preceding control character.
    Controls(char, usize),
    /// A complete sequence.
    Sequence(&'a str),
    /// An introducer without a valid sequence.
    Stray(&'a str),
}

/// Splits chunks of text into pieces.
#[derive(Clone, Debug, Default)]
pub struct Escapes {
    /// The incomplete sequence at the end of the last chunk.
    begun: String,
    state: State,
}

/// The parser's position in a sequence, which determines the characters that may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum State {
    /// After ESC and this many intermediates.
    Escape(u8),
    #[default]
    Csi,
    /// In a string; `bell` if BEL terminates it too.
    Text { bell: bool },
    /// In a string, after an ESC.
    TextEscape { bell: bool },
}

enum Run {
    /// The sequence ends before this position.
    Ended(usize),
    /// The character at this position is not valid in the sequence.
    Broken(usize),
    /// The sequence may continue after the text.
    Open,
}

impl Escapes {
    pub fn push(&mut self, text: &str, mut sink: impl FnMut(Piece)) {
        let mut rest = text;
        if !self.begun.is_empty() {
            rest = self.resume(rest, &mut sink);
        }
        while !rest.is_empty() {
            rest = self.read(rest, &mut sink);
        }
    }

    /// Returns an incomplete sequence as text.
    pub fn finish(&mut self, mut sink: impl FnMut(Piece)) {
        while !self.begun.is_empty() {
            self.give_back(&mut sink);
        }
    }

    pub fn memory(&self) -> usize {
        self.begun.capacity()
    }

    /// Reads plain text and the sequence after it. Returns the remaining text.
    fn read<'a>(&mut self, text: &'a str, sink: &mut impl FnMut(Piece)) -> &'a str {
        let Some((at, introducer)) = plain(text, sink) else { return "" };
        let (raw, body) = (&text[at..], &text[at + introducer.len_utf8()..]);
        let Some(mut state) = State::after(introducer) else {
            sink(Piece::Control(introducer));
            return again(introducer, body, sink);
        };
        let introducer = &raw[..introducer.len_utf8()];
        if state == State::Escape(0)
            && let Some(end) = short_csi(body.as_bytes())
        {
            sink(Piece::Sequence(&raw[..introducer.len() + end]));
            return &body[end..];
        }
        match state.run(introducer.len(), body) {
            Run::Ended(end) => {
                sink(Piece::Sequence(&raw[..introducer.len() + end]));
                &body[end..]
            }
            Run::Broken(end) => {
                // An ESC that did not end a string begins the next sequence.
                let end = end - usize::from(state.has_escape());
                sink(Piece::Stray(introducer));
                read_back(&body[..end], sink);
                &body[end..]
            }
            Run::Open => {
                self.begun.push_str(raw);
                self.state = state;
                ""
            }
        }
    }

    /// Continues the incomplete sequence of the last chunk. Returns the remaining text.
    fn resume<'a>(&mut self, text: &'a str, sink: &mut impl FnMut(Piece)) -> &'a str {
        let mut rest = text;
        loop {
            match self.state.run(self.begun.len(), rest) {
                Run::Open => {
                    self.begun.push_str(rest);
                    return "";
                }
                Run::Ended(end) => {
                    self.begun.push_str(&rest[..end]);
                    sink(Piece::Sequence(&self.begun));
                    self.begun.clear();
                    return &rest[end..];
                }
                Run::Broken(end) => {
                    self.begun.push_str(&rest[..end]);
                    rest = &rest[end..];
                    self.give_back(sink);
                    if self.begun.is_empty() {
                        return rest;
                    }
                }
            }
        }
    }

    /// Returns the incomplete sequence as text. An ESC that did not end a string begins a new one.
    fn give_back(&mut self, sink: &mut impl FnMut(Piece)) {
        let escape = self.state.has_escape();
        let end = self.begun.len() - usize::from(escape);
        let introducer = self.begun.chars().next().map_or(0, char::len_utf8);
        sink(Piece::Stray(&self.begun[..introducer]));
        read_back(&self.begun[introducer..end], sink);
        self.begun.clear();
        if escape {
            self.begun.push('\x1B');
            self.state = State::Escape(0);
        }
    }
}

impl State {
    fn after(introducer: char) -> Option<State> {
        Some(match introducer {
            '\x1B' => State::Escape(0),
            '\u{9B}' => State::Csi,
            '\u{9D}' => State::Text { bell: true },
            '\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}' => State::Text { bell: false },
            _ => return None,
        })
    }

    fn has_escape(self) -> bool {
        matches!(self, State::TextEscape { .. })
    }

    /// Advances through `text` in a sequence of which `len` bytes were read before.
    fn run(&mut self, mut len: usize, text: &str) -> Run {
        for (at, char) in text.char_indices() {
            len += char.len_utf8();
            if len > LONGEST {
                return Run::Broken(at);
            }
            *self = match (*self, char) {
                (State::Escape(0), '[') => State::Csi,
                (State::Escape(0), ']') => State::Text { bell: true },
                (State::Escape(0), 'P' | 'X' | '^' | '_') => State::Text { bell: false },
                (State::Escape(count @ 0..2), ' '..='/') => State::Escape(count + 1),
                (State::Csi, ' '..='?') => State::Csi,
                (State::Text { bell: true }, '\x07') | (State::Text { .. }, '\u{9C}') => {
                    return Run::Ended(at + char.len_utf8());
                }
                (State::Text { bell }, '\x1B') => State::TextEscape { bell },
                (State::Text { bell }, _)
                    if char == '\t' || (char >= ' ' && State::after(char).is_none()) =>
                {
                    State::Text { bell }
                }
                (State::Escape(_), '0'..='~')
                | (State::Csi, '@'..='~')
                | (State::TextEscape { .. }, '\\') => {
                    return Run::Ended(at + 1);
                }
                _ => return Run::Broken(at),
            };
        }
        Run::Open
    }
}

/// Returns the length of a short CSI after its ESC. Nearly all sequences have this form.
fn short_csi(body: &[u8]) -> Option<usize> {
    let parameters = body.strip_prefix(b"[")?;
    let last = parameters.iter().take(16).position(|byte| !(b' '..=b'?').contains(byte))?;
    (b'@'..=b'~').contains(&parameters[last]).then_some(last + 2)
}

/// Emits text up to the first control character, and returns that character with its position.
fn plain(text: &str, sink: &mut impl FnMut(Piece)) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let mut at = special::find(bytes);
    // 0xC2 begins a two-byte character; the second byte distinguishes C1 controls from printable characters.
    while bytes.get(at) == Some(&0xC2) && bytes.get(at + 1).is_some_and(|&second| second >= 0xA0) {
        at += 2;
        at += special::find(&bytes[at..]);
    }
    if at > 0 {
        sink(Piece::Text(&text[..at]));
    }
    Some((at, text[at..].chars().next()?))
}

/// Emits further repetitions of a control character, such as runs of NUL, and returns the remaining text.
fn again<'a>(control: char, text: &'a str, sink: &mut impl FnMut(Piece)) -> &'a str {
    if control == '\n' || !text.starts_with(control) {
        return text;
    }
    let rest = text.trim_start_matches(control);
    sink(Piece::Controls(control, (text.len() - rest.len()) / control.len_utf8()));
    rest
}

/// Emits the text of a rejected sequence. It contains no introducer.
fn read_back(text: &str, sink: &mut impl FnMut(Piece)) {
    let mut rest = text;
    while let Some((at, char)) = plain(rest, sink) {
        sink(Piece::Control(char));
        rest = &rest[at + char.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders pieces as text: `<sequence>`, `{stray}`, `^control`.
    fn shown(chunks: &[&str]) -> String {
        let (mut escapes, mut shown) = (Escapes::default(), String::new());
        let mut show = |piece: Piece| {
            shown += &match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Control(char) => format!("^{:X}", char as u32),
                Piece::Controls(char, count) => format!("^{:X}", char as u32).repeat(count),
                Piece::Sequence(raw) => format!("<{}>", &raw.escape_default().to_string()),
                Piece::Stray(_) => "{}".to_owned(),
            }
        };
        for chunk in chunks {
            escapes.push(chunk, &mut show);
        }
        escapes.finish(&mut show);
        shown
    }

    #[test]
    fn all_kinds_of_sequences_are_delimited() {
        for (text, pieces) in [
            ("a\x1B[1;31mb", r"a<\u{1b}[1;31m>b"),
            ("a\u{9B}?25lb\u{9B}2 q", r"a<\u{9b}?25l>b<\u{9b}2 q>"),
            ("\x1B]0;title\x07b", r"<\u{1b}]0;title\u{7}>b"),
            ("\x1B]8;;http://x\x1B\\b", r"<\u{1b}]8;;http://x\u{1b}\\>b"),
            ("\x1BPq\u{9C}\x1B_x\x1B\\\x1BXy\u{9C}", r"<\u{1b}Pq\u{9c}><\u{1b}_x\u{1b}\\><\u{1b}Xy\u{9c}>"),
            ("\u{90}a\u{9C}\u{9D}b\x07\u{9F}c\u{9C}", r"<\u{90}a\u{9c}><\u{9d}b\u{7}><\u{9f}c\u{9c}>"),
            ("\x1B(B\x1B#8\x1B7\x1B=\x1B$(Dx", r"<\u{1b}(B><\u{1b}#8><\u{1b}7><\u{1b}=><\u{1b}$(D>x"),
            ("«\u{A0}é»\u{85}", "«\u{A0}é»^85"),
        ] {
            assert_eq!(shown(&[text]), pieces, "{text:?}");
            let chars: Vec<String> = text.chars().map(String::from).collect();
            let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(shown(&chars), pieces, "{text:?} char by char");
        }
    }

    #[test]
    fn rejected_sequences_are_returned_as_text() {
        for (text, pieces) in [
            ("\x1B", "{}"),
            ("\x1B]0;no end\nb", "{}]0;no end^Ab"),
            ("\x1BPno end\x07b", "{}Pno end^7b"),
            ("\x1B]a\x1B[mb", r"{}]a<\u{1b}[m>b"),
            ("\x1B]a\x1B", "{}]a{}"),
            ("\x1B]a\u{9B}mb", r"{}]a<\u{9b}m>b"),
            ("\x1B[1\r2m", "{}[1^D2m"),
            ("\x1B[漢", "{}[漢"),
            ("\x1B\x1B[m", r"{}<\u{1b}[m>"),
            ("\x1B    x", "{}    x"),
        ] {
            assert_eq!(shown(&[text]), pieces, "{text:?}");
        }
    }

    #[test]
    fn sequences_are_accepted_up_to_the_maximum_length() {
        let longest = format!("\x1B]{}\x07", "x".repeat(LONGEST - 3));
        assert!(shown(&[&longest]).starts_with('<'));
        let longer = format!("\x1B]{}\x07", "x".repeat(LONGEST - 2));
        assert_eq!(shown(&[&longer]), format!("{{}}]{}^7", "x".repeat(LONGEST - 2)));
        assert_eq!(shown(&[&longer[..9], &longer[9..]]), shown(&[&longer]));
    }
}
