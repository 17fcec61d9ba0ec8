//! Detection and replacement of binary output.

use super::StreamText;
use crate::encoding::Utf8;
use crate::extent::Extent;
use crate::limits::Limits;
use crate::notice::saved::SavedPart;
use crate::truncate::long_lines::has_long_line;

/// Fewer odd chars occur in text too: in another encoding, or in the output of `find -print0`.
const LEAST: usize = 8;

/// Returns true if at least three in ten chars are control characters or invalid UTF-8. Text in
/// Latin-1 has fewer; compressed data has about half.
pub fn is_binary(odd: usize, chars: usize) -> bool {
    odd >= LEAST && odd * 10 >= chars * 3
}

/// Returns the replacement for binary output, shortened until it fits the limits.
pub fn name_binary(bytes: usize, limits: &Limits, saved: &SavedPart) -> StreamText {
    let where_it_is = match saved {
        SavedPart::Nowhere => String::new(),
        SavedPart::Whole(place) => format!("; saved as {}", place.name()),
        SavedPart::Part(place) => format!("; the start of it saved as {}", place.name()),
        SavedPart::Failed(reason) => format!("; it could not be saved ({reason})"),
    };
    let name = format!("[binary output, {bytes} bytes{where_it_is}]");
    let short = format!("[binary output, {bytes} bytes]");
    let fits = |text: &str| {
        Extent::of(Utf8(text.as_bytes()), limits).fits(limits)
            && !has_long_line(Utf8(text.as_bytes()), limits.line_bytes)
    };
    let text = [name, short, "[...]".into()].into_iter().find(|text| fits(text));
    StreamText::named(text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::saved::Location;

    #[test]
    fn replacements_are_shortened_to_fit() {
        let named = |bytes| {
            let limits = Limits { bytes, ..Limits::NONE };
            name_binary(4_096, &limits, &SavedPart::Whole(Location::Path("/tmp/out".into()))).cut.middle
        };
        assert_eq!(named(99), "[binary output, 4096 bytes; saved as /tmp/out]");
        assert_eq!(named(40), "[binary output, 4096 bytes]");
        assert_eq!(named(9), "[...]");
        assert_eq!(named(0), "");
    }
}
