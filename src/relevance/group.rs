//! The groups of a text: matches under their file, entries under their folder, changes under their
//! file.

use crate::encoding::byte_table::byte_table;

/// Maximum bytes of a line that are read.
const READ: usize = 400;

/// Returns the name of the group that a line belongs to: the path at its start, the folder of a
/// path alone, or the heading that the line is.
pub fn group(line: &[u8]) -> Option<&[u8]> {
    let line = line[..line.len().min(READ)].trim_ascii();
    if ["#", "==", "diff ", "@@ "].iter().any(|mark| line.starts_with(mark.as_bytes())) {
        return Some(line).filter(|line| line.iter().any(u8::is_ascii_alphanumeric));
    }
    let end = line.iter().position(|byte| !IN_PATH[usize::from(*byte)]).unwrap_or(line.len());
    let path = &line[..end];
    let folder = path.iter().rposition(|byte| matches!(byte, b'/' | b'\\'));
    if end == line.len() {
        return folder.map(|folder| &path[..folder]).filter(|folder| !folder.is_empty());
    }
    let is_place = matches!(line[end..], [b':' | b'(', b'0'..=b'9', ..]);
    let is_file = is_place && path.contains(&b'.') || folder.is_some_and(|folder| folder > 0);
    (is_file && matches!(line[end], b':' | b'(' | b' ' | b'\t')).then_some(path)
}

/// The bytes of paths.
const IN_PATH: [bool; 256] = byte_table!(byte => byte.is_ascii_alphanumeric()
    || matches!(byte, b'/' | b'\\' | b'.' | b'_' | b'-' | b'@' | b'+' | b'~')
    || !byte.is_ascii());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_their_path_folder_or_heading() {
        let group =
            |line: &str| group(line.as_bytes()).map(|group| String::from_utf8(group.to_vec()).unwrap());
        for (line, expected) in [
            ("src/a.rs:12: let x = 1;", "src/a.rs"),
            ("  a.ts(3,4): error", "a.ts"),
            ("src/http/parse.rs", "src/http"),
            ("## Usage", "## Usage"),
            ("==> a.log <==", "==> a.log <=="),
            ("diff --git a/x b/x", "diff --git a/x b/x"),
        ] {
            assert_eq!(group(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "",
            "plain words",
            "e.g. this",
            "fmt.print(x)",
            "a.b = 1",
            "/* x */",
            "#",
            "====",
            "file",
            "let x = a/b;",
        ] {
            assert_eq!(group(line), None, "{line}");
        }
    }
}
