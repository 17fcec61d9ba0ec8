//! Tells code from other lines.

/// Maximum bytes of a line that are read at its start.
const READ: usize = 120;

/// Returns true if a line looks like code: it ends or begins as statements do. A whole JSON record
/// does not.
pub fn is_code(line: &[u8]) -> bool {
    let line = without_number(line).trim_ascii();
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return false };
    if matches!((first, last), (b'{', b'}') | (b'[', b']')) && line.len() > 2 {
        return false;
    }
    matches!(last, b';' | b'{' | b'}' | b'(' | b',' | b'[') || begins(&line[..line.len().min(READ)])
}

/// Returns a line without its number, as listings print it: `12\t`, `12:`, `12→`.
fn without_number(line: &[u8]) -> &[u8] {
    let start = line.trim_ascii_start();
    let digits = start.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match start[digits..] {
        [b'\t' | b':' | b'|', ref rest @ ..] | [0xE2, 0x86, 0x92, ref rest @ ..] if digits > 0 => rest,
        _ => line,
    }
}

fn begins(line: &[u8]) -> bool {
    const BEGINNINGS: [&str; 25] = [
        "//",
        "/*",
        "* ",
        "#include",
        "import ",
        "from ",
        "export ",
        "const ",
        "let ",
        "var ",
        "def ",
        "class ",
        "fn ",
        "pub ",
        "func ",
        "function ",
        "return ",
        "if ",
        "for ",
        "while ",
        "elif ",
        "else",
        "try:",
        "except ",
        "raise ",
    ];
    BEGINNINGS.iter().any(|beginning| line.starts_with(beginning.as_bytes())) || is_decorator(line)
}

/// Returns true for `@name` and `@name(...)`. The name of a package in front of a line is not a
/// decorator.
fn is_decorator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"@") else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let name = rest.iter().take_while(|byte| is_name(byte)).count();
    name > 0 && matches!(rest.get(name), None | Some(b'('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_comments_and_numbered_lines_are_code() {
        for line in [
            "let a = 1;",
            "  }",
            "    call(",
            "// a comment",
            "   12\tconst a = [",
            "12:  return a",
            "   7→}",
            "def run(self):",
            "@cached",
            "@app.route('/a')",
        ] {
            assert!(is_code(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn sayings_and_records_are_no_code() {
        for line in [
            "",
            "error: no such file",
            "{\"level\":50,\"msg\":\"x\"}",
            "12:00:01 INFO started",
            "a.ts:12:3: failed",
            "@quay/web:build: part 7 is built",
        ] {
            assert!(!is_code(line.as_bytes()), "{line}");
        }
    }
}
