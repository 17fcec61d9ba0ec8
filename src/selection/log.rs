//! Tells a log from other text.

/// Maximum bytes of a line that are read.
const READ: usize = 160;

/// A text is a log if one line of so many says when or how it went, and at least so many lines do.
const SHARE: usize = 3;
const LEAST: usize = 3;

/// Returns true if many lines of a text begin with a time or a level, tell progress, or state a
/// result. Words of failure do not make a log: sources have them.
pub fn is_log<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut all, mut telling) = (0, 0);
    let most = lines.size_hint().1.unwrap_or(usize::MAX);
    for line in lines {
        let line = line[..line.len().min(READ)].trim_ascii();
        if !line.is_empty() {
            all += 1;
            telling +=
                usize::from(has_time(line) || has_level(line) || is_step(line) || tells_progress(line));
            // Lines to come cannot change that.
            if telling >= LEAST && telling * SHARE >= most {
                return true;
            }
        }
    }
    telling >= LEAST && telling * SHARE >= all
}

/// Returns true for a time of day near the start: `12:00:01`, also after a date or the name of a
/// job.
fn has_time(line: &[u8]) -> bool {
    let start = &line[..line.len().min(64)];
    memchr::memchr_iter(b':', start).any(|colon| {
        let Some(at) = colon.checked_sub(2) else { return false };
        let Some([a, b, b':', c, d, b':', e, f]) = start[at..].first_chunk() else { return false };
        let before = at.checked_sub(1).map(|before| start[before]);
        [a, b, c, d, e, f].iter().all(|byte| byte.is_ascii_digit())
            && !before.is_some_and(|byte| byte.is_ascii_digit())
            && !start[..at].contains(&b'"')
    })
}

/// Returns true for a mark and a word in capitals, as runners of tests begin steps: `=== RUN`, `---
/// PASS:`, `[ RUN ]`.
fn is_step(line: &[u8]) -> bool {
    let marks = line.iter().take_while(|byte| matches!(byte, b'=' | b'-' | b'[' | b'*')).count();
    let Some(rest) = line[marks..].strip_prefix(b" ").filter(|_| marks > 0) else { return false };
    let rest = rest.trim_ascii_start();
    let capitals = rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    (2..=8).contains(&capitals) && matches!(rest.get(capitals), Some(b' ' | b':' | b']'))
}

/// Returns true for a level at the start: `INFO`, `[warn]`, `error:`, also after a time, and for a
/// record with one.
fn has_level(line: &[u8]) -> bool {
    if line.starts_with(b"{\"") {
        return [&b"\"level\":"[..], b"\"severity\":", b"\"lvl\":"]
            .iter()
            .any(|name| memchr::memmem::find(line, name).is_some());
    }
    const LEVELS: [&str; 9] =
        ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"];
    let start = &line[..line.len().min(48)];
    let bracket = start.first().is_some_and(|byte| matches!(byte, b'[' | b'<' | b'('));
    let word = &start[usize::from(bracket)..];
    let end = word.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(word.len());
    let (word, after) = word.split_at(end);
    let is_level = LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level.as_bytes()));
    let is_shouted = word.iter().all(u8::is_ascii_uppercase);
    is_level && (bracket || is_shouted || after.starts_with(b":") || after.starts_with(b"["))
}

/// Returns true for a line that begins or ends with the state of a step: `ok`, `PASS`, `✓`, `45%`,
/// `Compiling x`.
fn tells_progress(line: &[u8]) -> bool {
    const STATES: [&str; 12] = [
        "ok", "pass", "passed", "fail", "failed", "skip", "skipped", "ignored", "done", "cached", "success",
        "error",
    ];
    /// Bytes of the longest state, and of up to two marks beside it: `[ok]`.
    const LONGEST: usize = 7;
    const MARKS: usize = 2;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let (Some(first), last) = (words.next(), words.next_back()) else { return false };
    let is_state = |word: &[u8]| {
        let (mut letters, mut length) = ([0; LONGEST + MARKS], 0);
        if word.len() > letters.len() {
            return false;
        }
        for letter in word.iter().filter(|byte| byte.is_ascii_alphabetic()) {
            letters[length] = letter.to_ascii_lowercase();
            length += 1;
        }
        length + MARKS >= word.len() && STATES.iter().any(|state| letters[..length] == *state.as_bytes())
    };
    let is_mark =
        |word: &[u8]| ["✓", "✔", "✗", "✕", "✖", "×", "√"].iter().any(|mark| word == mark.as_bytes());
    let is_percent =
        |word: &[u8]| word.len() > 1 && word.ends_with(b"%") && word[word.len() - 2].is_ascii_digit();
    let is_step = first.len() > 5
        && first.ends_with(b"ing")
        && first[0].is_ascii_uppercase()
        && first.iter().all(u8::is_ascii_alphabetic);
    is_step
        || is_mark(first)
        || is_state(first) && last.is_some()
        || [Some(first), last].into_iter().flatten().any(is_percent)
        || last.is_some_and(is_state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> bool {
        is_log(text.split_inclusive('\n').map(str::as_bytes))
    }

    #[test]
    fn times_levels_and_progress_make_a_log() {
        for text in [
            "2026-04-22T16:09:39.67Z a\n2026-04-22T16:09:39.68Z b\n2026-04-22T16:09:40Z c\n",
            "build\tinstall\t12:00:01 a\nbuild\tinstall\t12:00:02 b\nbuild\tinstall\t12:00:03 c\n",
            "[INFO] a\n[WARN] b\n  at x\n  at y\nINFO c\n",
            "test a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ok\n\nthread panicked\n",
            "   Compiling a v1.0\n   Compiling b v2.0\n   Compiling c v0.1\nerror: x\n",
            " 10% a\n 20% b\n100% c\n",
            "=== RUN   TestA\n    --- PASS: TestA/b (0.00s)\n=== CONT  TestA\n    a_test.go:3: x\n",
            "[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[  FAILED  ] A.c\nx\n",
            "{\"level\":30,\"msg\":\"a\"}\n{\"level\":30,\"msg\":\"b\"}\n{\"level\":50,\"msg\":\"c\"}\n",
        ] {
            assert!(log(text), "{text}");
        }
    }

    #[test]
    fn sources_listings_and_prose_are_no_logs() {
        for text in [
            "fn main() {\n    let error = Error::new();\n    panic!(\"failed\");\n}\n",
            "src/a.rs:12: // error: no such file\nsrc/b.rs:3: fail();\nsrc/c.rs:9: ok\n",
            "drwxr-xr-x 2 root root 4096 Nov 23 08:21 a\n-rw-r--r-- 1 root root 9 Nov 23 08:21 b\n",
            "{\n  \"at\": \"2026-04-22T16:09:39Z\",\n  \"level\": \"error\"\n}\n",
            "Running the tests takes a while.\nErrors are shown.\nThis is prose.\nAnd so on.\n",
            "",
        ] {
            assert!(!log(text), "{text}");
        }
    }
}
