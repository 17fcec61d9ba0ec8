//! File names of a store: the id, the name of the tool, and the size of the whole output.
//!
//! The name is the only metadata, and it is set by a single rename: if a writer dies, its output
//! keeps the name of an unfinished one. A file shorter than the size in its name is not complete.

use std::fmt;

/// Hexadecimal digits of an id.
const ID: usize = 16;
/// Chars of the tool's name in a file name.
const TOOL: usize = 40;

/// Bytes and lines of a whole output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSize {
    pub bytes: u64,
    pub lines: u64,
}

/// A file name: `ID.TOOL.part` while it is written, `ID.TOOL.BYTESb.LINESl.txt` afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    pub id: String,
    tool: String,
    /// `None` while it is written.
    pub whole: Option<OutputSize>,
}

impl FileName {
    /// Returns the name of a new file. Chars of the tool's name other than ASCII letters, digits
    /// and "-" become "_".
    pub fn new(id: &str, tool: &str) -> FileName {
        let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
        let tool: String = tool.chars().take(TOOL).map(plain).collect();
        FileName {
            id: id.to_owned(),
            tool: if tool.is_empty() { "output".to_owned() } else { tool },
            whole: None,
        }
    }

    /// Returns the name of the finished file.
    pub fn finished(&self, id: String, whole: OutputSize) -> FileName {
        FileName { id, whole: Some(whole), ..self.clone() }
    }

    /// Parses a file name. Returns `None` if it is not in our format.
    pub fn parse(file: &str) -> Option<FileName> {
        let parts: Vec<&str> = file.split('.').collect();
        let (id, tool, whole) = match parts[..] {
            [id, tool, "part"] => (id, tool, None),
            [id, tool, bytes, lines, "txt"] => {
                let bytes = bytes.strip_suffix('b')?.parse().ok()?;
                let lines = lines.strip_suffix('l')?.parse().ok()?;
                (id, tool, Some(OutputSize { bytes, lines }))
            }
            _ => return None,
        };
        let name = FileName { whole, ..FileName::new(id, tool) };
        (is_id(id) && name.to_string() == file).then_some(name)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.whole {
            None => write!(out, "{}.{}.part", self.id, self.tool),
            Some(OutputSize { bytes, lines }) => {
                write!(out, "{}.{}.{bytes}b.{lines}l.txt", self.id, self.tool)
            }
        }
    }
}

/// An empty file, `RUNNING.ID.alias`: leads from the id that an output had while it was written to
/// its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    pub running: String,
    pub id: String,
}

impl Alias {
    pub fn parse(file: &str) -> Option<Alias> {
        let (running, id) = file.strip_suffix(".alias")?.split_once('.')?;
        (is_id(running) && is_id(id)).then(|| Alias { running: running.into(), id: id.into() })
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}.{}.alias", self.running, self.id)
    }
}

fn is_id(text: &str) -> bool {
    text.len() == ID && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";

    #[test]
    fn names_survive_a_round_trip() {
        let name = FileName::new(ID, "bash");
        assert_eq!(name.to_string(), "0123456789abcdef.bash.part");
        assert_eq!(FileName::parse(&name.to_string()), Some(name.clone()));
        let finished = name.finished("fedcba9876543210".into(), OutputSize { bytes: 70, lines: 3 });
        assert_eq!(finished.to_string(), "fedcba9876543210.bash.70b.3l.txt");
        assert_eq!(FileName::parse(&finished.to_string()), Some(finished));
    }

    #[test]
    fn aliases_survive_a_round_trip() {
        let alias = Alias { running: ID.into(), id: "fedcba9876543210".into() };
        assert_eq!(Alias::parse(&alias.to_string()), Some(alias));
        for file in ["", ".alias", "0123456789abcdef.alias", "0123456789abcdef.bash.alias"] {
            assert_eq!(Alias::parse(file), None, "{file}");
        }
    }

    #[test]
    fn a_tool_name_cannot_escape_the_directory() {
        for (tool, named) in [
            ("../../etc/passwd", "______etc_passwd"),
            ("mcp__a.b c", "mcp__a_b_c"),
            ("", "output"),
            ("漢字\0\n", "____"),
            (&"x".repeat(300), &"x".repeat(40)),
        ] {
            assert_eq!(FileName::new(ID, tool).to_string(), format!("{ID}.{named}.part"));
        }
    }

    #[test]
    fn other_file_names_are_rejected() {
        for file in [
            "",
            ".",
            "0123456789abcdef",
            "0123456789abcdef.bash",
            "0123456789abcdef..part",
            "0123456789ABCDEF.bash.part",
            "0123456789abcde.bash.part",
            "0123456789abcdef.bash.70b.txt",
            "0123456789abcdef.bash.070b.3l.txt",
            "0123456789abcdef.bash.+70b.3l.txt",
            "0123456789abcdef.ba_h.99999999999999999999b.3l.txt",
            "0123456789abcdef.a/b.part",
        ] {
            assert_eq!(FileName::parse(file), None, "{file}");
        }
    }
}
