//! Images, audio and files: their kind and size from the first bytes, and where base64 stands in a
//! text.

pub mod base64;
pub mod budget;
pub mod item;
pub mod payload;
pub mod pixels;
pub mod provider_limits;
pub mod runs;
pub mod sniff;

pub use budget::MediaBudget;
pub use item::Item;
pub use provider_limits::ProviderLimits;
pub use sniff::{Medium, sniff};

use crate::notice::counts::grouped;

/// Chars within which a data URL must name its type.
const PREFIX: usize = 256;

/// Returns the words that replace a payload. `bytes`: its size. `said`: the type that its holder
/// declares, used if the bytes do not identify one.
pub fn words(medium: Option<Medium>, said: Option<&str>, bytes: usize) -> String {
    let mut words = format!("[... {} bytes", grouped(bytes));
    if let Some(kind) = medium.map(|medium| medium.kind).or(said.filter(|said| is_name(said))) {
        words += &format!(" of {kind}");
    }
    if let Some((width, height)) = medium.and_then(|medium| medium.size) {
        words += &format!(" {width}x{height}");
    }
    words + " omitted]"
}

/// Returns true if bytes are words of this module, which formats without text blocks carry as a
/// file.
pub fn are_words(bytes: &[u8]) -> bool {
    bytes.len() < PREFIX && bytes.starts_with(b"[... ") && bytes.ends_with(b" omitted]")
}

/// Returns true if the text is a media type or a name that the words may quote.
pub fn is_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((one, other)) => is_part(one) && is_part(other),
        None => is_part(text),
    }
}

pub fn is_part(text: &str) -> bool {
    let is_named = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte);
    (1..=60).contains(&text.len()) && text.bytes().all(is_named)
}

/// Returns the media type of a base64 data URL, and its payload.
pub fn data_type(text: &str) -> Option<(&str, &str)> {
    let comma = text.bytes().take(PREFIX).position(|byte| byte == b',')?;
    let kind = text[..comma].strip_prefix("data:")?.strip_suffix(";base64")?.split(';').next()?;
    Some((kind, &text[comma + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_kind_size_and_dimensions() {
        let png = Medium { kind: "image/png", size: Some((1_280, 720)) };
        assert_eq!(
            words(Some(png), Some("x/y"), 1_048_576),
            "[... 1,048,576 bytes of image/png 1280x720 omitted]"
        );
        assert_eq!(words(None, Some("a/b"), 3), "[... 3 bytes of a/b omitted]");
        assert_eq!(words(None, Some("a b"), 0), "[... 0 bytes omitted]");
        assert!(are_words(words(Some(png), None, 9).as_bytes()));
        assert!(!are_words(b"[... GIF89a") && !are_words(&[b'['; 400]));
    }

    #[test]
    fn data_urls_name_their_type() {
        assert_eq!(data_type("data:a/b;x=1;base64,AAA="), Some(("a/b", "AAA=")));
        assert_eq!(data_type("data:;base64,"), Some(("", "")));
        assert!(data_type("data:,a").is_none() && data_type("a/b;base64,AAA=").is_none());
    }
}
