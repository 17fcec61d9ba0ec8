//! Detects repeated lines: lines that differ only in numbers, quoted texts and white space.

/// Maximum bytes of a line that are compared.
const COMPARED: usize = 160;

/// Maximum length of a quoted text that is ignored.
const QUOTED: usize = 60;

/// Maximum distinct lines stored. Further lines always count as new.
const REMEMBERED: usize = 4_096;

/// Counts lines by likeness.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Open addressing over a power of two of slots, at most half full. A hash of 0 marks a free slot.
    slots: Vec<(u64, u16)>,
    taken: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { slots: vec![(0, 0); 64], taken: 0 }
    }
}

impl Seen {
    /// Counts a line and returns the number of earlier lines like it.
    pub fn count(&mut self, line: &[u8]) -> u16 {
        let hash = likeness(line);
        let slot = self.slot(hash);
        let (known, count) = &mut self.slots[slot];
        if *known == hash {
            *count = count.saturating_add(1);
            return *count - 1;
        }
        if self.taken < REMEMBERED {
            self.slots[slot] = (hash, 1);
            self.taken += 1;
            if self.taken * 2 > self.slots.len() {
                self.grow();
            }
        }
        0
    }

    fn slot(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].0 != hash && self.slots[at].0 != 0 {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let slots = vec![(0, 0); self.slots.len() * 2];
        for entry in std::mem::replace(&mut self.slots, slots).into_iter().filter(|entry| entry.0 != 0) {
            let slot = self.slot(entry.0);
            self.slots[slot] = entry;
        }
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<(u64, u16)>()
    }
}

/// Hashes a line, ignoring numbers, quoted texts and the width of white space. Never returns 0.
pub fn likeness(line: &[u8]) -> u64 {
    let line = line[..line.len().min(COMPARED)].trim_ascii();
    // FNV-1a spreads lines well enough and is equal on every platform.
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        match rest[0] {
            b'0'..=b'9' => {
                let hex = matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
                let number = if hex { &rest[2..] } else { rest };
                let is_digit = |byte: &u8| if hex { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
                add(b'0');
                at += rest.len() - number.len() + number.iter().take_while(|byte| is_digit(byte)).count();
            }
            quote @ (b'"' | b'\'' | b'`') => match closing(rest, quote) {
                Some(end) => {
                    add(b'Q');
                    at += end + 1;
                }
                None => {
                    add(quote);
                    at += 1;
                }
            },
            b' ' | b'\t' => {
                add(b' ');
                at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            }
            byte => {
                add(byte);
                at += 1;
            }
        }
    }
    hash.max(1)
}

/// Returns the end of a short, non-empty quoted text.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let end = 1 + text[1..].iter().take(QUOTED + 1).position(|byte| *byte == quote)?;
    (end > 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_quotes_and_blanks_are_ignored() {
        let alike = |a: &str, b: &str| likeness(a.as_bytes()) == likeness(b.as_bytes());
        assert!(alike("  error 17 at 0x7fe in 'a.c'", "error   2 at 0x0 in 'long name.c'  "));
        assert!(!alike("error in a", "error in b"));
        assert!(!alike("it's 1", "its 1"));
    }

    #[test]
    fn repeats_are_counted_up_to_a_number_of_distinct_lines() {
        let mut seen = Seen::default();
        assert_eq!([seen.count(b"error 1"), seen.count(b"error 2"), seen.count(b"other")], [0, 1, 0]);
        for n in 0..100_000_u32 {
            let letters: String = n.to_string().bytes().map(|digit| (digit + 49) as char).collect();
            seen.count(letters.as_bytes());
        }
        assert_eq!(seen.count(b"error 3"), 2);
        assert!(seen.memory() <= 4 * REMEMBERED * 16);
    }
}
