//! A payload of a request, as far as limits count it.

use super::sniff::{Medium, is_broken};

/// The class of a payload, which decides the limits that apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Audio, video, and base64 in a text.
    #[default]
    Other,
    Image,
    Document,
    /// An image by its type alone: its bytes are something else.
    Broken,
}

/// A payload with its measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its bytes, decoded.
    pub bytes: usize,
    /// Width and height of an image, if its header contains them.
    pub size: Option<(u32, u32)>,
    pub class: Class,
    /// The user sent it, rather than a tool.
    pub from_user: bool,
}

impl Item {
    /// Returns the chars of its base64.
    pub fn sent(&self) -> usize {
        self.bytes.div_ceil(3).saturating_mul(4)
    }

    /// Returns the longer side of an image in pixels, 0 if its header does not contain it.
    pub fn side(&self) -> usize {
        self.size.map_or(0, |(width, height)| width.max(height) as usize)
    }
}

impl Class {
    /// Returns true for what its holder declares as an image.
    pub fn is_image(self) -> bool {
        matches!(self, Class::Image | Class::Broken)
    }

    /// Returns the class of a block by its first bytes or, if these are not known, by the type that
    /// its holder declares. `is_whole`: the first bytes are all.
    pub fn of(medium: Option<Medium>, said: Option<&str>, is_whole: bool) -> Class {
        if is_broken(medium, said, is_whole) {
            return Class::Broken;
        }
        let kind = medium.map(|medium| medium.kind).or(said).unwrap_or_default();
        let is = |name: &str| kind.split(['/', '_']).any(|part| part == name);
        match () {
            () if is("image") => Class::Image,
            () if is("audio") || is("video") => Class::Other,
            () => Class::Document,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_decide_before_the_declared_type() {
        let pdf = Some(Medium { kind: "application/pdf", size: None });
        let of = |medium, said| Class::of(medium, said, true);
        assert_eq!(of(pdf, Some("image")), Class::Document);
        assert_eq!(of(pdf, Some("image/png")), Class::Broken);
        assert_eq!(of(None, Some("image/png")), Class::Broken);
        assert_eq!(of(None, Some("image/svg+xml")), Class::Image);
        assert_eq!(of(None, Some("input_image")), Class::Image);
        assert_eq!(of(None, Some("audio/wav")), Class::Other);
        assert_eq!(of(None, None), Class::Document);
    }

    #[test]
    fn base64_takes_four_chars_for_three_bytes() {
        let sent = |bytes| Item { bytes, ..Item::default() }.sent();
        assert_eq!([0, 1, 3, 4].map(sent), [0, 4, 4, 8]);
    }
}
