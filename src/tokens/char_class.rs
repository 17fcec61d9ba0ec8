//! Kinds of code points, as tokenizers treat them.

/// Kinds of code points that tokenizers treat alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Before the first code point.
    #[default]
    Start,
    Space,
    Tab,
    Newline,
    Return,
    Digit,
    Lower,
    Upper,
    /// Non-ASCII Latin letters of western Europe; [`Kind::Extended`] has those of other languages,
    /// [`Kind::Toned`] those of Vietnamese.
    Accented,
    Extended,
    Toned,
    Greek,
    Cyrillic,
    /// Combining marks: vowels of Hebrew and Arabic, standalone accents. No vocabulary has many
    /// letters with them.
    Mark,
    /// Hebrew and Arabic, also Armenian and Georgian, which have similar weights.
    Semitic,
    Indic,
    Thai,
    /// Khmer and Burmese.
    Khmer,
    Han,
    Kana,
    Hangul,
    /// Lao, Tibetan, Ethiopic, non-ASCII control characters, superscript and subscript digits: two
    /// tokens each.
    Sparse,
    /// Not in any vocabulary, encoded by bytes.
    Unknown,
    Emoji,
    /// Other code points beyond the basic plane.
    Astral,
    // Signs from here on.
    Punctuation,
    /// Chinese and Japanese punctuation, full-width forms.
    Wide,
    Symbol,
    /// Blocks and bullets. Unlike the dashes of rules, vocabularies do not have several in one
    /// token.
    Shade,
    Pictograph,
    Control,
    /// The backslash. Vocabularies contain at most one level of escaping.
    Escape,
}

use Kind::*;

impl Kind {
    pub const ALL: [Kind; 32] = [
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
        Mark,
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
        Shade,
        Pictograph,
        Control,
        Escape,
    ];

    #[inline]
    pub fn of(point: char) -> Kind {
        match point as usize {
            low @ ..LOW => LOW_KINDS[low],
            high => Kind::of_high(high),
        }
    }

    /// Returns the kind of a code point from [`LOW`] on.
    #[inline]
    pub fn of_high(point: usize) -> Kind {
        match point {
            ..0x10000 => BLOCKS[point / BLOCK],
            0x1F000..0x1FB00 => Emoji,
            _ => Astral,
        }
    }

    /// Returns true if only repetitions of one code point form a run.
    #[inline]
    pub const fn is_sign(self) -> bool {
        self as u8 >= Punctuation as u8
    }
}

const fn ascii(byte: u8) -> Kind {
    match byte {
        b' ' => Space,
        b'\t' => Tab,
        b'\n' => Newline,
        b'\r' => Return,
        b'0'..=b'9' => Digit,
        b'a'..=b'z' => Lower,
        b'A'..=b'Z' => Upper,
        0..=0x1F | 0x7F => Control,
        b'\\' => Escape,
        _ => Punctuation,
    }
}

/// Code points below this, of at most two bytes of UTF-8, are looked up individually. The others
/// are looked up by block.
pub const LOW: usize = 0x800;

/// Code points of a block. Few blocks are shared by scripts, and those are rare in texts.
const BLOCK: usize = 0x10;

/// Starts of kinds. Each extends to the next start.
const STARTS: [(usize, Kind); 63] = [
    (0x80, Sparse),
    (0xA0, Symbol),
    (0xC0, Accented),
    (0x100, Extended),
    (0x1A0, Toned),
    (0x1C0, Extended),
    (0x300, Mark),
    (0x370, Greek),
    (0x400, Cyrillic),
    (0x530, Semitic),
    (0x590, Mark),
    (0x5D0, Semitic),
    (0x610, Mark),
    (0x620, Semitic),
    (0x64B, Mark),
    (0x660, Semitic),
    (0x670, Mark),
    (0x671, Semitic),
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
    (0x2070, Sparse),
    (0x20A0, Symbol),
    (0x2100, Pictograph),
    (0x2180, Symbol),
    (0x2200, Pictograph),
    (0x2500, Symbol),
    (0x2590, Shade),
    (0x25A0, Symbol),
    (0x25B0, Pictograph),
    // Braille, used in spinners.
    (0x2800, Unknown),
    (0x2900, Pictograph),
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

pub const LOW_KINDS: [Kind; LOW] = {
    let mut kinds = by_starts::<LOW>(1);
    let mut at = 0;
    while at < 0x80 {
        kinds[at] = ascii(at as u8);
        at += 1;
    }
    kinds
};

static BLOCKS: [Kind; 0x10000 / BLOCK] = by_starts(BLOCK);

/// Returns the kinds of `BLOCKS` blocks of `size` code points.
const fn by_starts<const BLOCKS: usize>(size: usize) -> [Kind; BLOCKS] {
    let mut kinds = [Start; BLOCKS];
    let mut at = 0;
    while at + 1 < STARTS.len() {
        let mut block = STARTS[at].0 / size;
        while block < STARTS[at + 1].0 / size && block < BLOCKS {
            kinds[block] = STARTS[at].1;
            block += 1;
        }
        at += 1;
    }
    kinds
}

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
        assert_eq!(of("█░●⠋₂\u{85}\\"), [Symbol, Shade, Pictograph, Unknown, Sparse, Sparse, Escape]);
        assert_eq!(of("בָ\u{5C1}بَ\u{670}e\u{301}"), [Semitic, Mark, Mark, Semitic, Mark, Mark, Lower, Mark]);
        assert_eq!(of("😀𠀀"), [Emoji, Astral]);
    }

    #[test]
    fn kinds_are_in_order_and_start_at_blocks() {
        assert!(Kind::ALL.iter().enumerate().all(|(at, kind)| *kind as usize == at));
        assert!(STARTS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(STARTS.iter().all(|(start, _)| *start < LOW || start % BLOCK == 0));
    }
}
