//! The elements of HTML, by what they do to the lines of a text.

/// The part of an element in the layout of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Stands in a line.
    Inline,
    /// Begins and ends a line.
    Block,
    /// Is set off by blank lines.
    Paragraph,
    /// A paragraph, with its level.
    Heading(u8),
    Break,
    Rule,
    List,
    Item,
    Table,
    Row,
    Cell,
    /// Keeps its white space.
    Preformatted,
    Link,
    Image,
    /// Text that is not shown.
    Hidden,
    /// No element of HTML.
    Unknown,
}

/// Bytes of the longest name.
pub const LONGEST: usize = 10;

const INLINE: &[u8] = b" a abbr acronym audio b base bdi bdo big button canvas cite code data datalist del dfn em \
    embed font i input ins kbd label link map mark meta meter object output param picture progress q rp rt ruby s samp \
    select slot small source span strike strong sub sup svg textarea time track tt u var video wbr ";

const BLOCK: &[u8] = b" address area article aside body caption center dd details dialog dir div dt fieldset \
    figcaption footer form frame frameset head header hgroup html legend main nav noscript optgroup option search \
    section summary tbody template tfoot thead colgroup col ";

const PARAGRAPH: &[u8] = b" blockquote dl figure p title ";

/// Elements whose content is not markup.
const HIDDEN: &[u8] = b" iframe noembed noframes script style ";

impl Element {
    /// Returns the element of a name in lower case.
    pub fn of(name: &[u8]) -> Element {
        match name {
            b"a" => Element::Link,
            b"br" => Element::Break,
            b"hr" => Element::Rule,
            b"img" => Element::Image,
            b"li" => Element::Item,
            b"ol" | b"ul" | b"menu" => Element::List,
            b"pre" | b"xmp" | b"listing" => Element::Preformatted,
            b"td" | b"th" => Element::Cell,
            b"table" => Element::Table,
            b"tr" => Element::Row,
            [b'h', level @ b'1'..=b'6'] => Element::Heading(level - b'0'),
            _ if has(HIDDEN, name) => Element::Hidden,
            _ if has(BLOCK, name) => Element::Block,
            _ if has(PARAGRAPH, name) => Element::Paragraph,
            _ if has(INLINE, name) => Element::Inline,
            _ => Element::Unknown,
        }
    }
}

fn has(names: &[u8], name: &[u8]) -> bool {
    let mut all = names.split(|byte| *byte == b' ');
    !name.is_empty() && all.any(|known| known == name)
}
