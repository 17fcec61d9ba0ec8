//! Which lines say the same: lines that differ only in numbers, quoted texts and blanks.

/// Bytes of a line that are compared.
const COMPARED: usize = 160;

/// Longest text in quotes that is passed over.
const QUOTED: usize = 60;

/// How many different lines are told apart. Beyond that, new ones count as never seen.
const REMEMBERED: usize = 4_096;

/// How often lines of each likeness have come.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Open addressing, a power of two of slots, at most half of them taken; a hash of 0 is a free slot.
    slots: Vec<(u64, u16)>,
    taken: usize,
}

impl Default for Seen {
    fn default() -> Self {
        Seen { slots: vec![(0, 0); 64], taken: 0 }
    }
}

impl Seen {
    /// Counts a line, and tells how many like it came before.
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

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<(u64, u16)>()
    }
}

/// A hash of the line that numbers, quoted texts and the width of blanks do not change. Never 0.
fn likeness(line: &[u8]) -> u64 {
    let line = line[..line.len().min(COMPARED)].trim_ascii();
    // FNV-1a: a good enough spread for lines, and the same everywhere.
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

/// Where a quoted text ends that is not empty and not long.
fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let end = 1 + text[1..].iter().take(QUOTED + 1).position(|byte| *byte == quote)?;
    (end > 1).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_quotes_and_blanks_make_no_difference() {
        let alike = |a: &str, b: &str| likeness(a.as_bytes()) == likeness(b.as_bytes());
        assert!(alike("  error 17 at 0x7fe in 'a.c'", "error   2 at 0x0 in 'long name.c'  "));
        assert!(!alike("error in a", "error in b"));
        assert!(!alike("it's 1", "its 1"));
    }

    #[test]
    fn what_comes_again_is_counted_up_to_a_number_of_different_lines() {
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
