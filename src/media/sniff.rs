//! Identifies a file, and the size of an image, by its first bytes.

/// The kind of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Medium {
    /// Its media type.
    pub kind: &'static str,
    /// Width and height of an image, if its header contains them. Neither is 0.
    pub size: Option<(u32, u32)>,
}

const JPEG: &[u8] = b"\xFF\xD8\xFF";

/// First bytes that identify a type by themselves.
const SIGNATURES: [(&[u8], &str); 13] = [
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"\xFF\xFB", "audio/mpeg"),
    (b"\xFF\xF3", "audio/mpeg"),
    (b"\xFF\xF2", "audio/mpeg"),
    (b"\xFF\xF1", "audio/aac"),
    (b"\xFF\xF9", "audio/aac"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"\x1A\x45\xDF\xA3", "video/webm"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1F\x8B\x08", "application/gzip"),
    (b"\xD0\xCF\x11\xE0", "application/x-ole-storage"),
];

/// Brands of files that begin with a box `ftyp`. Any other brand is a video.
const BRANDS: [(&[u8], &str); 6] = [
    (b"avif", "image/avif"),
    (b"avis", "image/avif"),
    (b"heic", "image/heic"),
    (b"mif1", "image/heic"),
    (b"M4A ", "audio/mp4"),
    (b"qt  ", "video/quicktime"),
];

/// Returns the kind of a file by its start.
pub fn sniff(head: &[u8]) -> Option<Medium> {
    let image = |kind, size: Option<(u32, u32)>| {
        Some(Medium { kind, size: size.filter(|(width, height)| *width > 0 && *height > 0) })
    };
    if head.starts_with(b"\x89PNG\r\n\x1A\n") {
        return image("image/png", large(head, 16).zip(large(head, 20)));
    }
    if head.starts_with(JPEG) {
        return image("image/jpeg", jpeg_size(head));
    }
    if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        return image("image/gif", small(head, 6).zip(small(head, 8)));
    }
    if head.starts_with(b"RIFF") {
        return match head.get(8..12)? {
            b"WEBP" => image("image/webp", webp_size(head)),
            b"WAVE" => image("audio/wav", None),
            b"AVI " => image("video/x-msvideo", None),
            _ => None,
        };
    }
    // The size of the header follows the reserved bytes. Without it, two letters would tell a
    // bitmap.
    if head.starts_with(b"BM") && head.get(6..10) == Some(&[0; 4]) {
        return image("image/bmp", bmp_size(head));
    }
    if head.get(4..8) == Some(b"ftyp") {
        let brand = head.get(8..12)?;
        let kind = BRANDS.iter().find(|(own, _)| *own == brand).map_or("video/mp4", |(_, kind)| kind);
        return image(kind, if kind.starts_with("image/") { box_size(head) } else { None });
    }
    if head.starts_with(b"II*\0") || head.starts_with(b"MM\0*") {
        return image("image/tiff", None);
    }
    let (_, kind) = SIGNATURES.iter().find(|(own, _)| head.starts_with(own))?;
    image(kind, None)
}

/// Reads a big-endian number of two bytes.
fn big(head: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?).into())
}

/// Images that [`sniff`] identifies, and other names of one.
const IMAGES: [&str; 8] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/avif",
    "image/heic",
    "image/tiff",
];
const NAMES_OF_JPEG: [&str; 2] = ["jpg", "pjpeg"];

/// Returns true if a payload claims to be an image of a type that its first bytes would show, and
/// they do not: it is another image, a text, nothing, or ends before its size. Some claim a format
/// alone, such as "png". `is_whole`: `found` was read from all bytes.
pub fn is_broken(found: Option<Medium>, said: Option<&str>, is_whole: bool) -> bool {
    let Some(said) = said.map(str::to_ascii_lowercase) else { return false };
    let format = said.strip_prefix("image/").unwrap_or(&said);
    let is_of = |image: &&&str| match NAMES_OF_JPEG.contains(&format) {
        true => **image == JPEG_TYPE,
        false => image.strip_prefix("image/") == Some(format),
    };
    let Some(claimed) = IMAGES.iter().find(is_of).copied() else { return false };
    let Some(Medium { kind, size }) = found.filter(|found| found.kind == claimed) else { return true };
    match kind {
        "image/png" | "image/gif" | "image/webp" => size.is_none(),
        // Its size may stand behind metadata of any length.
        JPEG_TYPE => size.is_none() && is_whole,
        _ => false,
    }
}

const JPEG_TYPE: &str = "image/jpeg";

/// Reads a big-endian number of four bytes.
fn large(head: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a little-endian number of two bytes.
fn small(head: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?).into())
}

fn little(head: &[u8], at: usize, bytes: usize) -> Option<u32> {
    Some(head.get(at..at + bytes)?.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

/// The frame of a JPEG, which tells its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    At(usize),
    /// The segments before it go on past these bytes.
    Beyond,
    Missing,
}

/// Follows the segments of a JPEG by their lengths to the start of its frame.
fn frame_of(head: &[u8]) -> Frame {
    let mut at = 2;
    loop {
        let (Some(start), Some(marker)) = (head.get(at), head.get(at + 1)) else { return Frame::Beyond };
        match marker {
            _ if *start != 0xFF => return Frame::Missing,
            // Fill bytes, and markers without a segment.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD8 => at += 2,
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                return if at + 9 <= head.len() { Frame::At(at) } else { Frame::Beyond };
            }
            // The image itself starts before any frame.
            0xD9 | 0xDA => return Frame::Missing,
            _ => match big(head, at + 2) {
                Some(length) => at += 2 + length as usize,
                None => return Frame::Beyond,
            },
        }
    }
}

fn jpeg_size(head: &[u8]) -> Option<(u32, u32)> {
    let Frame::At(at) = frame_of(head) else { return None };
    big(head, at + 7).zip(big(head, at + 5))
}

/// Returns true if more bytes may tell the size of an image: a camera or an editor may write any
/// number of segments first, of up to 64 KiB each.
pub fn goes_on(head: &[u8]) -> bool {
    head.starts_with(JPEG) && frame_of(head) == Frame::Beyond
}

fn webp_size(head: &[u8]) -> Option<(u32, u32)> {
    match head.get(12..16)? {
        b"VP8 " => Some((small(head, 26)? & 0x3FFF, small(head, 28)? & 0x3FFF)),
        b"VP8L" => {
            let bits = little(head, 21, 4)?;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => Some((little(head, 24, 3)? + 1, little(head, 27, 3)? + 1)),
        _ => None,
    }
}

fn bmp_size(head: &[u8]) -> Option<(u32, u32)> {
    match little(head, 14, 4)? {
        12 => small(head, 18).zip(small(head, 20)),
        // A negative height tells that rows start at the top.
        _ => Some((
            little(head, 18, 4)?.cast_signed().unsigned_abs(),
            little(head, 22, 4)?.cast_signed().unsigned_abs(),
        )),
    }
}

/// Finds the largest size that boxes name: a picture may have a thumbnail or tiles.
fn box_size(head: &[u8]) -> Option<(u32, u32)> {
    let sizes = memchr::memmem::find_iter(head, b"ispe")
        .filter_map(|at| large(head, at + 8).zip(large(head, at + 12)));
    sizes.max_by_key(|(width, height)| u64::from(*width) * u64::from(*height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    /// A header of each kind of image, of 300 x 200.
    fn images() -> Vec<(&'static str, Vec<u8>)> {
        let be = [[0, 0, 1, 44], [0, 0, 0, 200]].concat();
        vec![
            ("image/png", bytes(&[b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", &be])),
            (
                "image/jpeg",
                bytes(&[
                    b"\xFF\xD8\xFF\xE0\0\x06ABCD\xFF\xFF\xC4\0\x04zz\xFF\xC2\0\x11\x08\0\xC8\x01\x2C\x03",
                ]),
            ),
            ("image/gif", b"GIF89a\x2C\x01\xC8\0".to_vec()),
            ("image/webp", b"RIFF____WEBPVP8 ____\0\0\0\x9D\x01\x2A\x2C\x01\xC8\0".to_vec()),
            ("image/webp", b"RIFF____WEBPVP8L____\x2F\x2B\xC1\x31\0".to_vec()),
            ("image/webp", b"RIFF____WEBPVP8X____\0\0\0\0\x2B\x01\0\xC7\0\0".to_vec()),
            ("image/bmp", b"BM____\0\0\0\0____\x28\0\0\0\x2C\x01\0\0\x38\xFF\xFF\xFF".to_vec()),
            ("image/bmp", b"BM____\0\0\0\0____\x0C\0\0\0\x2C\x01\xC8\0".to_vec()),
            ("image/avif", bytes(&[b"\0\0\0\x1Cftypavif____ispe\0\0\0\0", &be])),
        ]
    }

    #[test]
    fn images_tell_their_size() {
        for (kind, head) in images() {
            assert_eq!(sniff(&head), Some(Medium { kind, size: Some((300, 200)) }), "{kind}");
        }
    }

    #[test]
    fn a_frame_behind_any_number_of_segments_is_found() {
        let segment = [&b"\xFF\xE1\xFF\xFF"[..], &[0xC0; 65_533]].concat();
        let frame = b"\xFF\xC0\0\x11\x08\0\xC8\x01\x2C\x03";
        let jpeg = [&b"\xFF\xD8"[..], &segment.repeat(20), frame].concat();
        assert_eq!(sniff(&jpeg).unwrap().size, Some((300, 200)));
        assert!(!goes_on(&jpeg));
        for end in (3..jpeg.len() - 1).step_by(9_973).chain([jpeg.len() - 2]) {
            assert!(goes_on(&jpeg[..end]), "{end}");
        }
        for other in [&b"\xFF\xD8\xFF\xDA\0\0"[..], b"\xFF\xD8\xFF\xE1\0\x02xx", b"GIF89a", b"\xFF\xD8"] {
            assert!(!goes_on(other));
        }
    }

    #[test]
    fn a_truncated_header_has_a_kind_at_most() {
        for (kind, head) in images() {
            for end in 0..head.len() {
                let found = sniff(&head[..end]);
                assert!(
                    found.is_none_or(|found| found.kind == kind && found.size != Some((0, 0))),
                    "{kind} {end}"
                );
            }
        }
    }

    #[test]
    fn other_files_tell_their_kind() {
        for (head, kind) in [
            (&b"%PDF-1.7"[..], "application/pdf"),
            (b"RIFF____WAVEfmt ", "audio/wav"),
            (b"\0\0\0\x18ftypisom", "video/mp4"),
            (b"\0\0\0\x18ftypM4A ", "audio/mp4"),
            (b"II*\0", "image/tiff"),
        ] {
            assert_eq!(sniff(head), Some(Medium { kind, size: None }));
        }
        for none in [&b""[..], b"hello", b"BM by letter", b"RIFF", b"RIFF____ACON", b"\xFF\xD8"] {
            assert_eq!(sniff(none), None);
        }
    }

    #[test]
    fn images_are_what_they_claim() {
        for (kind, head) in images() {
            let read = |head: &[u8], said: &str| is_broken(sniff(head), Some(said), true);
            assert!(!read(&head, kind) && !read(&head, &kind.to_uppercase()), "{kind}");
            for other in IMAGES.iter().filter(|other| **other != kind) {
                assert!(read(&head, other), "{kind} as {other}");
            }
            for unknown in ["image/svg+xml", "image/*", "image", "application/pdf"] {
                assert!(!read(&head, unknown), "{unknown}");
            }
            for text in [&b""[..], b"hello", b"<!DOCTYPE html>"] {
                assert!(read(text, kind), "{kind}");
            }
        }
        let (_, png) = &images()[0];
        assert!(is_broken(sniff(&png[..20]), Some("image/png"), false));
        let jpeg = sniff(b"\xFF\xD8\xFF\xE0\0\x06ABCD");
        assert!(is_broken(jpeg, Some("image/jpg"), true) && !is_broken(jpeg, Some("image/jpg"), false));
        assert!(is_broken(None, Some("png"), true) && is_broken(sniff(png), Some("jpg"), true));
        assert!(!is_broken(sniff(png), Some("png"), true) && !is_broken(None, Some("wav"), true));
        assert!(!is_broken(None, None, true));
    }

    proptest! {
        #[test]
        fn no_header_panics(which in 0..9usize, tail in prop::collection::vec(any::<u8>(), 0..80), cut in 0..40usize) {
            let (_, head) = &images()[which];
            let hostile = [&head[..cut.min(head.len())], &tail].concat();
            if let Some((width, height)) = sniff(&hostile).and_then(|found| found.size) {
                prop_assert!(width > 0 && height > 0);
            }
            sniff(&tail);
        }
    }
}
