//! What a file of a store is called: its id, the tool that it comes from, and what is known of the whole.
//!
//! The name is the only record there is, and one rename makes it: an output whose writer died keeps the name of one that
//! is being written. A file that is shorter than its name says is not complete.

use std::fmt;

/// Hexadecimal digits of an id.
const ID: usize = 16;
/// Chars of a tool's name that a file is named by.
const TOOL: usize = 40;

/// Bytes and lines of a whole output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    pub bytes: u64,
    pub lines: u64,
}

/// The name of a file: `ID.TOOL.part` while it is written, `ID.TOOL.BYTESb.LINESl.txt` after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub id: String,
    tool: String,
    /// Nothing while it is written.
    pub whole: Option<Whole>,
}

impl Name {
    /// Names a file that is to be written. Of the tool's name, what is no ASCII letter, digit or "-" becomes "_".
    pub fn new(id: &str, tool: &str) -> Name {
        let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
        let tool: String = tool.chars().take(TOOL).map(plain).collect();
        Name {
            id: id.to_owned(),
            tool: if tool.is_empty() { "output".to_owned() } else { tool },
            whole: None,
        }
    }

    /// The name of the same file once all of it is there.
    pub fn finished(&self, whole: Whole) -> Name {
        Name { whole: Some(whole), ..self.clone() }
    }

    /// Reads a file's name; nothing when it is none of ours.
    pub fn parse(file: &str) -> Option<Name> {
        let parts: Vec<&str> = file.split('.').collect();
        let (id, tool, whole) = match parts[..] {
            [id, tool, "part"] => (id, tool, None),
            [id, tool, bytes, lines, "txt"] => {
                let bytes = bytes.strip_suffix('b')?.parse().ok()?;
                let lines = lines.strip_suffix('l')?.parse().ok()?;
                (id, tool, Some(Whole { bytes, lines }))
            }
            _ => return None,
        };
        let name = Name { whole, ..Name::new(id, tool) };
        (is_id(id) && name.to_string() == file).then_some(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.whole {
            None => write!(out, "{}.{}.part", self.id, self.tool),
            Some(Whole { bytes, lines }) => {
                write!(out, "{}.{}.{bytes}b.{lines}l.txt", self.id, self.tool)
            }
        }
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
    fn names_are_read_as_they_are_written() {
        let name = Name::new(ID, "bash");
        assert_eq!(name.to_string(), "0123456789abcdef.bash.part");
        assert_eq!(Name::parse(&name.to_string()), Some(name.clone()));
        let finished = name.finished(Whole { bytes: 70, lines: 3 });
        assert_eq!(finished.to_string(), "0123456789abcdef.bash.70b.3l.txt");
        assert_eq!(Name::parse(&finished.to_string()), Some(finished));
    }

    #[test]
    fn a_tool_cannot_name_another_place() {
        for (tool, named) in [
            ("../../etc/passwd", "______etc_passwd"),
            ("mcp__a.b c", "mcp__a_b_c"),
            ("", "output"),
            ("漢字\0\n", "____"),
            (&"x".repeat(300), &"x".repeat(40)),
        ] {
            assert_eq!(Name::new(ID, tool).to_string(), format!("{ID}.{named}.part"));
        }
    }

    #[test]
    fn what_is_not_ours_is_no_name() {
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
            assert_eq!(Name::parse(file), None, "{file}");
        }
    }
}
