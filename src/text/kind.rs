//! What a code point is to a tokenizer.

/// Kinds of code points that tokenizers treat alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// None: what stands before the first code point.
    #[default]
    Start,
    Space,
    Tab,
    Newline,
    Return,
    Digit,
    Lower,
    Upper,
    /// Latin letters beyond ASCII: of western Europe, of the rest of it, and of Vietnamese.
    Accented,
    Extended,
    Toned,
    Greek,
    Cyrillic,
    /// Hebrew and Arabic, and Armenian and Georgian, which weigh as much.
    Semitic,
    Indic,
    Thai,
    /// And Burmese.
    Khmer,
    Han,
    Kana,
    Hangul,
    /// Lao, Tibetan, Ethiopic: two tokens each.
    Sparse,
    /// What is in no vocabulary and goes by its bytes.
    Unknown,
    Emoji,
    /// Others beyond the basic plane.
    Astral,
    // From here on signs.
    Punctuation,
    /// Chinese and Japanese punctuation, full-width forms.
    Wide,
    Symbol,
    Pictograph,
    Control,
}

use Kind::*;

impl Kind {
    pub const ALL: [Kind; 29] = [
        Start,
        Space,
        Tab,
        Newline,
        Return,
        Digit,
        Lower,
        Upper,
        Accented,
        Extended,
        Toned,
        Greek,
        Cyrillic,
        Semitic,
        Indic,
        Thai,
        Khmer,
        Han,
        Kana,
        Hangul,
        Sparse,
        Unknown,
        Emoji,
        Astral,
        Punctuation,
        Wide,
        Symbol,
        Pictograph,
        Control,
    ];

    #[inline]
    pub fn of(point: char) -> Kind {
        match point as usize {
            ascii @ ..0x80 => ASCII[ascii],
            point @ ..0x10000 => BLOCKS[point / BLOCK],
            0x1F000..0x1FB00 => Emoji,
            _ => Astral,
        }
    }

    /// Whether only repetitions of the same code point are taken together.
    #[inline]
    pub fn is_sign(self) -> bool {
        self as u8 >= Punctuation as u8
    }
}

const ASCII: [Kind; 0x80] = {
    let mut kinds = [Punctuation; 0x80];
    let mut at = 0;
    while at < 0x80 {
        kinds[at] = match at as u8 {
            b' ' => Space,
            b'\t' => Tab,
            b'\n' => Newline,
            b'\r' => Return,
            b'0'..=b'9' => Digit,
            b'a'..=b'z' => Lower,
            b'A'..=b'Z' => Upper,
            0..=0x1F | 0x7F => Control,
            _ => Punctuation,
        };
        at += 1;
    }
    kinds
};

/// Code points of a block. Scripts share few of these, and those that they share are seldom met.
const BLOCK: usize = 0x40;

/// Where kinds start; each goes on to the next.
const STARTS: [(usize, Kind); 45] = [
    (0x80, Symbol),
    (0xC0, Accented),
    (0x100, Extended),
    (0x380, Greek),
    (0x400, Cyrillic),
    (0x540, Semitic),
    (0x700, Unknown),
    (0x740, Semitic),
    (0x780, Unknown),
    (0x8C0, Semitic),
    (0x900, Indic),
    (0xE00, Thai),
    (0xE80, Sparse),
    (0x1000, Khmer),
    (0x1080, Semitic),
    (0x1100, Unknown),
    (0x1200, Sparse),
    (0x1380, Unknown),
    (0x1780, Khmer),
    (0x1800, Unknown),
    (0x1E00, Toned),
    (0x1F00, Greek),
    (0x2000, Symbol),
    (0x2100, Pictograph),
    (0x2180, Symbol),
    (0x2200, Pictograph),
    (0x2500, Symbol),
    (0x2600, Pictograph),
    (0x2C00, Unknown),
    (0x3000, Wide),
    (0x3040, Kana),
    (0x3100, Han),
    (0x3200, Unknown),
    (0x4E00, Han),
    (0xA000, Unknown),
    (0xAC00, Hangul),
    (0xD7C0, Unknown),
    (0xFB40, Semitic),
    (0xFE00, Symbol),
    (0xFE40, Wide),
    (0xFE80, Semitic),
    (0xFF00, Wide),
    (0xFF80, Unknown),
    (0xFFC0, Symbol),
    (0x10000, Astral),
];

static BLOCKS: [Kind; 0x10000 / BLOCK] = {
    let mut blocks = [Start; 0x10000 / BLOCK];
    let mut at = 0;
    while at + 1 < STARTS.len() {
        let mut block = STARTS[at].0 / BLOCK;
        while block < STARTS[at + 1].0 / BLOCK {
            blocks[block] = STARTS[at].1;
            block += 1;
        }
        at += 1;
    }
    blocks
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_has_its_kind() {
        let of = |text: &str| text.chars().map(Kind::of).collect::<Vec<_>>();
        assert_eq!(of("aZ5 \t\n\r~"), [Lower, Upper, Digit, Space, Tab, Newline, Return, Punctuation]);
        assert_eq!(
            of("éłếλжعעհქ"),
            [Accented, Extended, Toned, Greek, Cyrillic, Semitic, Semitic, Semitic, Semitic]
        );
        assert_eq!(of("हதไខမລአ"), [Indic, Indic, Thai, Khmer, Khmer, Sparse, Sparse]);
        assert_eq!(of("漢かナ한。，ꀀ"), [Han, Kana, Kana, Hangul, Wide, Wide, Unknown]);
        assert_eq!(of("°—→│✅\u{FFFD}\0"), [Symbol, Symbol, Symbol, Symbol, Pictograph, Symbol, Control]);
        assert_eq!(of("😀𠀀"), [Emoji, Astral]);
    }

    #[test]
    fn kinds_are_in_order_and_starts_are_those_of_blocks() {
        assert!(Kind::ALL.iter().enumerate().all(|(at, kind)| *kind as usize == at));
        assert!(STARTS.is_sorted_by(|a, b| a.0 < b.0) && STARTS.iter().all(|(start, _)| start % BLOCK == 0));
    }
}
