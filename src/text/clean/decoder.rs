//! UTF-8 that comes in chunks.

/// Decodes chunks as the WHATWG decoder does: each maximal invalid sequence comes out as one U+FFFD. A byte order mark is
/// text like any other.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// The start of a code point that the last chunk ended in.
    begun: [u8; 4],
    len: usize,
}

const BROKEN: &str = "\u{FFFD}";

impl Decoder {
    pub fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(&str)) {
        while self.len > 0 && !bytes.is_empty() {
            self.begun[self.len] = bytes[0];
            match std::str::from_utf8(&self.begun[..=self.len]) {
                Ok(point) => sink(point),
                Err(error) if error.error_len().is_none() => {
                    (self.len, bytes) = (self.len + 1, &bytes[1..]);
                    continue;
                }
                Err(_) => {
                    // The byte that broke the sequence may begin another.
                    self.len = 0;
                    sink(BROKEN);
                    break;
                }
            }
            (self.len, bytes) = (0, &bytes[1..]);
        }
        // Nearly always all is valid but for the code point that the chunk ends in.
        let (whole, rest) = bytes.split_at(end_of_whole(bytes));
        if let Ok(text) = simdutf8::basic::from_utf8(whole) {
            sink(text);
            bytes = rest;
        }
        while !bytes.is_empty() {
            let (valid, error) = match std::str::from_utf8(bytes) {
                Ok(text) => return sink(text),
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            let (valid, rest) = bytes.split_at(valid);
            if !valid.is_empty() {
                sink(std::str::from_utf8(valid).unwrap_or_default());
            }
            let Some(broken) = error else {
                self.begun[..rest.len()].copy_from_slice(rest);
                self.len = rest.len();
                return;
            };
            sink(BROKEN);
            bytes = &rest[broken..];
        }
    }

    pub fn finish(&mut self, mut sink: impl FnMut(&str)) {
        if std::mem::take(&mut self.len) > 0 {
            sink(BROKEN);
        }
    }
}

/// Where the code point starts that a chunk ends in the middle of, or else the length.
fn end_of_whole(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let needed = match bytes[at] {
            0x80..0xC0 => continue,
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0.. => 4,
            _ => 1,
        };
        return if needed > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_decode_as_the_whole_does(
            chunks in prop::collection::vec(prop::collection::vec(hostile_byte(), 0..6), 0..12)
        ) {
            let (mut decoder, mut text) = (Decoder::default(), String::new());
            for chunk in &chunks {
                decoder.push(chunk, |piece| text.push_str(piece));
            }
            decoder.finish(|piece| text.push_str(piece));
            let whole = chunks.concat();
            prop_assert_eq!(text, String::from_utf8_lossy(&whole));
        }
    }

    fn hostile_byte() -> impl Strategy<Value = u8> {
        let bytes = vec![b'a', 0x80, 0xA0, 0xC2, 0xE2, 0x82, 0xAC, 0xED, 0xF0, 0x9F, 0xF4, 0xFF];
        prop_oneof![1 => any::<u8>(), 4 => prop::sample::select(bytes)]
    }
}
