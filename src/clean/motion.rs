//! Sequences that move the cursor or erase.

/// The effect of a sequence on the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up(usize),
    Down(usize),
    /// Down, to the start of the line.
    NextLine(usize),
    /// Up, to the start of the line.
    PreviousLine(usize),
    Right(usize),
    Left(usize),
    /// To a column, counted from 0.
    Column(usize),
    EraseToEnd,
    EraseToStart,
    EraseLine,
    /// To the end of the line, and all lines below.
    EraseBelow,
}

impl Motion {
    /// Parses a complete sequence. Private and all other sequences have no effect on the text.
    pub fn of(raw: &str) -> Option<Motion> {
        let &last = raw.as_bytes().last()?;
        // Most sequences set colours.
        if !matches!(last, b'A'..=b'G' | b'J' | b'K') {
            return None;
        }
        let inside = raw.strip_prefix("\x1B[").or_else(|| raw.strip_prefix('\u{9B}'))?;
        let parameters = &inside[..inside.len() - 1];
        let first = parameters.split(';').next().unwrap_or_default();
        if !parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
            return None;
        }
        // Numbers too large to parse saturate.
        let number = if first.is_empty() { 0 } else { first.parse().unwrap_or(u16::MAX) };
        let count = usize::from(number.max(1));
        Some(match (last, number) {
            (b'A', _) => Motion::Up(count),
            (b'B', _) => Motion::Down(count),
            (b'C', _) => Motion::Right(count),
            (b'D', _) => Motion::Left(count),
            (b'E', _) => Motion::NextLine(count),
            (b'F', _) => Motion::PreviousLine(count),
            (b'G', _) => Motion::Column(count - 1),
            (b'J', 0) => Motion::EraseBelow,
            (b'K', 0) => Motion::EraseToEnd,
            (b'K', 1) => Motion::EraseToStart,
            (b'K', 2) => Motion::EraseLine,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_default_and_saturate() {
        for (raw, motion) in [
            ("\x1B[A", Some(Motion::Up(1))),
            ("\x1B[0A", Some(Motion::Up(1))),
            ("\u{9B}3;9A", Some(Motion::Up(3))),
            ("\x1B[G", Some(Motion::Column(0))),
            ("\x1B[99999999999999999999C", Some(Motion::Right(65_535))),
            ("\x1B[K", Some(Motion::EraseToEnd)),
            ("\x1B[2K", Some(Motion::EraseLine)),
            ("\x1B[3K", None),
            ("\x1B[2J", None),
            ("\x1B[?K", None),
            ("\x1B[1 A", None),
            ("\x1B[m", None),
            ("\x1B(A", None),
            ("\x1B]0;A", None),
        ] {
            assert_eq!(Motion::of(raw), motion, "{raw:?}");
        }
    }
}
