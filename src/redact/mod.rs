//! Replaces secrets by marks such as `[redacted: github token]`.
//!
//! A format begins with a text, its anchor. One automaton finds the anchors, and the expression of the format is tried
//! where one stands, on the next 64 KiB at most. A decision waits until that much was read or the stream ended, so the
//! result does not depend on the chunks.

mod format;

use format::Formats;

/// Most bytes of a match.
pub const REACH: usize = 64 << 10;

/// Redacts a stream in bounded memory. Finishing a clone does not affect the original.
#[derive(Clone, Debug)]
pub struct Redactor {
    formats: &'static Formats,
    /// Text that is not decided yet.
    held: Vec<u8>,
    /// Last byte written. An anchor inside a word is none.
    before: Option<u8>,
}

impl Default for Redactor {
    fn default() -> Self {
        Redactor { formats: Formats::get(), held: vec![], before: None }
    }
}

impl Redactor {
    /// Reads a chunk of UTF-8, which may end within a character, and appends what is final so far.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        self.decide(false, out);
    }

    /// Ends the stream, appends the rest, and resets the redactor.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.decide(true, out);
        self.before = None;
    }

    fn decide(&mut self, ended: bool, out: &mut Vec<u8>) {
        let text = &self.held[..];
        let (mut done, mut from) = (0, 0);
        let stop = loop {
            let Some(at) = self.formats.next_anchor(text, from) else {
                let open = if ended { 0 } else { self.formats.longest_anchor - 1 };
                break text.len().saturating_sub(open).max(from);
            };
            if !ended && text.len() - at < REACH {
                break at;
            }
            let before = if at > done { Some(text[at - 1]) } else { self.before };
            let window = &text[at..text.len().min(at + REACH)];
            let Some((secret, kind)) = self.formats.find(before, window) else {
                from = at + 1;
                continue;
            };
            out.extend_from_slice(&text[done..at + secret.start]);
            out.extend_from_slice(b"[redacted: ");
            out.extend_from_slice(kind.as_bytes());
            out.push(b']');
            self.before = Some(b']');
            done = at + secret.end;
            from = done;
        };
        out.extend_from_slice(&text[done..stop]);
        self.before = text[done..stop].last().copied().or(self.before);
        self.held.drain(..stop);
    }
}

/// Returns the text without its secrets.
pub fn redact(text: &[u8]) -> Vec<u8> {
    let (mut redactor, mut out) = (Redactor::default(), Vec::with_capacity(text.len()));
    redactor.push(text, &mut out);
    redactor.finish(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn examples() -> Vec<String> {
        let formats = &Formats::get().list;
        formats
            .iter()
            .flat_map(|format| format.examples.iter().chain(&format.others))
            .map(|parts| parts.concat())
            .collect()
    }

    fn in_chunks(text: &[u8], sizes: &[usize]) -> Vec<u8> {
        let (mut redactor, mut out, mut rest) = (Redactor::default(), vec![], text);
        for &size in sizes.iter().cycle() {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            redactor.push(chunk, &mut out);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        redactor.finish(&mut out);
        out
    }

    #[test]
    fn each_format_is_told_from_what_is_like_it() {
        for format in &Formats::get().list {
            for parts in &format.examples {
                let text = format!("see {} there", parts.concat());
                let redacted = String::from_utf8(redact(text.as_bytes())).unwrap();
                assert!(
                    redacted.contains(&format!("[redacted: {}]", format.kind)),
                    "{}: {redacted}",
                    format.kind
                );
            }
            for parts in &format.others {
                let text = format!("see {} there", parts.concat());
                assert_eq!(String::from_utf8(redact(text.as_bytes())).unwrap(), text, "{}", format.kind);
            }
        }
    }

    #[test]
    fn each_format_is_published() {
        let page = include_str!("../../docs/redact.md");
        for format in &Formats::get().list {
            let anchors: Vec<_> =
                format.anchors.iter().map(|anchor| format!("`{}`", anchor.trim())).collect();
            let row = format!("| {} | {} |", format.kind, anchors.join(", "));
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn what_follows_a_long_secret_is_read() {
        let text = format!("{} {} {}", examples().concat(), "x ".repeat(REACH), examples().join(" "));
        assert_eq!(in_chunks(text.as_bytes(), &[4096]), redact(text.as_bytes()));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter_and_a_second_pass_changes_nothing(
            picks in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, "[ -~é\n]{0,12}"), 0..12),
            sizes in prop::collection::vec(1..40usize, 1..6),
        ) {
            let known = examples();
            let mut text = String::new();
            for (index, glue, noise) in &picks {
                text += index.get(&known[..]).as_str();
                text += ["", " ", "\n", noise][*glue];
            }
            let whole = redact(text.as_bytes());
            prop_assert_eq!(&in_chunks(text.as_bytes(), &sizes), &whole);
            prop_assert_eq!(String::from_utf8(redact(&whole)).unwrap(), String::from_utf8(whole).unwrap());
        }
    }
}
