//! Parses escape sequences in chunks of text.
//!
//! Recognised are CSI, the strings OSC, DCS, SOS, PM and APC, and the shorter escapes, introduced
//! by ESC or by their C1 control. A sequence is rejected if it exceeds [`LONGEST`] bytes, or
//! contains a control character, another introducer or the end of the text. Then only its
//! introducer is treated as stray, and the rest is text. Newlines thus end strings, and a stray
//! `ESC ]` affects no other text.
//!
//! Sequences contain no introducers, so rejected text is read at most twice.

/// Maximum bytes of a sequence, introducer and terminator included.
pub const LONGEST: usize = 4096;

/// One byte in each of eight lanes. Coloured output has short runs: there, vector instructions gain
/// only a fifth. They are three times faster on long plain text, but other steps dominate there.
const LANES: u64 = 0x0101_0101_0101_0101;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsiPiece<'a> {
    /// Text without control characters other than tabs. Never empty.
    Text(&'a str),
    /// A control character outside sequences, and its repetitions in a row. Newlines come one by
    /// one.
    Control(char, usize),
    /// A complete sequence.
    Sequence(&'a str),
    /// An introducer without a valid sequence.
    Stray(&'a str),
}

/// Splits chunks of text into pieces.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The incomplete sequence at the end of the last chunk. It is read again with the next one.
    begun: String,
}

/// The position in a sequence, which determines the characters that may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SequenceState {
    /// After ESC and this many intermediates.
    Escape(u8),
    Csi,
    /// In a string; `bell` if BEL terminates it too.
    Text {
        bell: bool,
    },
    /// In a string, after an ESC.
    TextEscape {
        bell: bool,
    },
}

enum SequenceEnd {
    /// The sequence ends before this position.
    Ended(usize),
    /// The text is not a valid sequence.
    Broken,
    /// The sequence may continue after the text.
    Open,
}

impl Parser {
    pub fn push(&mut self, text: &str, sink: impl FnMut(AnsiPiece)) {
        if self.begun.is_empty() {
            self.begun.push_str(parse(text, false, sink));
        } else {
            let joined = std::mem::take(&mut self.begun) + text;
            self.begun.push_str(parse(&joined, false, sink));
        }
    }

    /// Returns an incomplete sequence as text.
    pub fn finish(&mut self, sink: impl FnMut(AnsiPiece)) {
        parse(&std::mem::take(&mut self.begun), true, sink);
    }

    pub fn memory(&self) -> usize {
        self.begun.capacity()
    }
}

/// Splits a text. Returns the incomplete sequence at its end, unless that is the end of the stream.
fn parse(text: &str, is_last: bool, mut sink: impl FnMut(AnsiPiece)) -> &str {
    let mut rest = text;
    while let Some((at, first)) = plain(rest, &mut sink) {
        let (raw, body) = (&rest[at..], &rest[at + first.len_utf8()..]);
        let Some(state) = SequenceState::after(first) else {
            let again =
                if first == '\n' { 0 } else { body.chars().take_while(|&char| char == first).count() };
            sink(AnsiPiece::Control(first, 1 + again));
            rest = &body[again * first.len_utf8()..];
            continue;
        };
        let introducer = first.len_utf8();
        let end = match state.run(introducer, body) {
            SequenceEnd::Ended(end) => {
                sink(AnsiPiece::Sequence(&raw[..introducer + end]));
                end
            }
            SequenceEnd::Open if !is_last => return raw,
            SequenceEnd::Open | SequenceEnd::Broken => {
                sink(AnsiPiece::Stray(&raw[..introducer]));
                0
            }
        };
        rest = &body[end..];
    }
    ""
}

impl SequenceState {
    fn after(introducer: char) -> Option<SequenceState> {
        Some(match introducer {
            '\x1B' => SequenceState::Escape(0),
            '\u{9B}' => SequenceState::Csi,
            '\u{9D}' => SequenceState::Text { bell: true },
            '\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}' => SequenceState::Text { bell: false },
            _ => return None,
        })
    }

    /// Reads `text` after an introducer of `len` bytes.
    fn run(mut self, mut len: usize, text: &str) -> SequenceEnd {
        if self == SequenceState::Escape(0)
            && let Some(end) = short_csi(text.as_bytes())
        {
            return SequenceEnd::Ended(end);
        }
        for (at, char) in text.char_indices() {
            len += char.len_utf8();
            if len > LONGEST {
                return SequenceEnd::Broken;
            }
            self = match (self, char) {
                (SequenceState::Escape(0), '[') => SequenceState::Csi,
                (SequenceState::Escape(0), ']') => SequenceState::Text { bell: true },
                (SequenceState::Escape(0), 'P' | 'X' | '^' | '_') => SequenceState::Text { bell: false },
                (SequenceState::Escape(count @ 0..2), ' '..='/') => SequenceState::Escape(count + 1),
                (SequenceState::Csi, ' '..='?') => SequenceState::Csi,
                (SequenceState::Text { bell: true }, '\x07') | (SequenceState::Text { .. }, '\u{9C}') => {
                    return SequenceEnd::Ended(at + char.len_utf8());
                }
                (SequenceState::Text { bell }, '\x1B') => SequenceState::TextEscape { bell },
                (SequenceState::Text { bell }, _)
                    if char == '\t' || (char >= ' ' && SequenceState::after(char).is_none()) =>
                {
                    SequenceState::Text { bell }
                }
                (SequenceState::Escape(_), '0'..='~')
                | (SequenceState::Csi, '@'..='~')
                | (SequenceState::TextEscape { .. }, '\\') => {
                    return SequenceEnd::Ended(at + 1);
                }
                _ => return SequenceEnd::Broken,
            };
        }
        SequenceEnd::Open
    }
}

/// Returns the length of a short CSI after its ESC. Nearly all sequences have this form.
fn short_csi(body: &[u8]) -> Option<usize> {
    let parameters = body.strip_prefix(b"[")?;
    let last = parameters.iter().take(16).position(|byte| !(b' '..=b'?').contains(byte))?;
    (b'@'..=b'~').contains(&parameters[last]).then_some(last + 2)
}

/// Emits text up to the first control character, and returns that character with its position.
fn plain(text: &str, sink: &mut impl FnMut(AnsiPiece)) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let mut at = find_special(bytes);
    // 0xC2 begins a two-byte character; the second byte distinguishes C1 controls from printable
    // characters.
    while bytes.get(at) == Some(&0xC2) && bytes.get(at + 1).is_some_and(|&second| second >= 0xA0) {
        at += 2;
        at += find_special(&bytes[at..]);
    }
    if at > 0 {
        sink(AnsiPiece::Text(&text[..at]));
    }
    Some((at, text[at..].chars().next()?))
}

/// Returns the position of the first byte that may not be plain text, or the length. Such bytes are
/// control characters other than tab, DEL, and the first byte of C1 controls, which begins half the
/// characters of Latin-1 too.
fn find_special(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks();
    for (at, &word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word);
        let controls = zeros(word & (0xE0 * LANES)) & !zeros(word ^ (0x09 * LANES));
        let special = controls | zeros(word ^ (0x7F * LANES)) | zeros(word ^ (0xC2 * LANES));
        if special != 0 {
            return at * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let start = bytes.len() - rest.len();
    let is_special = |&byte: &u8| (byte < 0x20 && byte != b'\t') || byte == 0x7F || byte == 0xC2;
    start + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Sets the top bit of each lane that is zero. Lanes do not carry into each other.
fn zeros(word: u64) -> u64 {
    let low = 0x7F * LANES;
    !(((word & low) + low) | word | low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders pieces as text: `<sequence>`, `{stray}`, `^control`.
    fn shown(chunks: &[&str]) -> String {
        let (mut parser, mut shown) = (Parser::default(), String::new());
        let mut show = |piece: AnsiPiece| {
            shown += &match piece {
                AnsiPiece::Text(text) => text.to_owned(),
                AnsiPiece::Control(char, count) => format!("^{:X}", char as u32).repeat(count),
                AnsiPiece::Sequence(raw) => format!("<{}>", &raw.escape_default().to_string()),
                AnsiPiece::Stray(_) => "{}".to_owned(),
            }
        };
        for chunk in chunks {
            parser.push(chunk, &mut show);
        }
        parser.finish(&mut show);
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

    #[test]
    fn special_bytes_are_found_at_any_position() {
        for byte in 0..=u8::MAX {
            for at in 0..70 {
                let mut bytes = [b'x'; 70];
                bytes[at] = byte;
                let plain = byte == b'\t' || (byte >= 0x20 && byte != 0x7F && byte != 0xC2);
                assert_eq!(find_special(&bytes), if plain { 70 } else { at }, "{byte:#x} at {at}");
            }
        }
    }
}
