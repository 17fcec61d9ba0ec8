//! Tells a log from other text.

use std::collections::{HashMap, HashSet};

use super::prefix::{after_columns, common_column};
use crate::relevance::form;

/// Maximum bytes of a line that are read.
const READ: usize = 160;

/// A text is a log if one line of so many says when or how it went, and at least so many lines do.
const SHARE: usize = 3;
const LEAST: usize = 3;

/// A column is common if so many lines have it. A text in which half of the lines, and so many at
/// least, say how it went or begin with a common column is a log as well.
const COMMON: usize = 4;
const COLUMNED: usize = 8;

/// Returns true if many lines of a text begin with a time, a level or a common column, tell
/// progress, or state a result. Words of failure do not make a log: sources have them.
pub fn is_log<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut all, mut telling) = (0, 0);
    let most = lines.size_hint().1.unwrap_or(usize::MAX);
    let mut columns: HashMap<u64, usize> = HashMap::new();
    for line in lines {
        let line = line.trim_ascii();
        if !line.is_empty() {
            all += 1;
            if tells(line) {
                telling += 1;
                // Lines to come cannot change that.
                if telling >= LEAST && telling * SHARE >= most {
                    return true;
                }
            } else if let Some(column) = common_column(line) {
                *columns.entry(column).or_default() += 1;
            }
        }
    }
    let columned = telling + columns.values().filter(|count| **count >= COMMON).sum::<usize>();
    telling >= LEAST && telling * SHARE >= all || columned >= COLUMNED && columned * 2 >= all
}

/// A text may be a log if one line of so many tells how it went.
const HINTS: usize = 30;

/// Returns true if a text has a sign of a log: some lines that tell how it went, or many of one
/// form.
pub fn may_be_log<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut all, mut telling, mut forms) = (0, 0, HashSet::new());
    for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
        all += 1;
        telling += usize::from(tells(line.trim_ascii()));
        forms.insert(form(line));
    }
    telling * HINTS >= all || forms.len() * 2 <= all
}

/// Returns true for a line that says when or how it went.
fn tells(line: &[u8]) -> bool {
    let start = &line[..line.len().min(READ)];
    has_time(line) || has_level(start) || is_step(start) || tells_progress(start)
}

/// Returns true for a time of day near the start: `12:00:01`, also after a date or the name of a
/// job.
fn has_time(line: &[u8]) -> bool {
    has_time_at(line) || after_columns(line).is_some_and(has_time_at)
}

fn has_time_at(line: &[u8]) -> bool {
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
    fn a_common_column_of_any_form_makes_a_log() {
        let columns: [fn(usize) -> String; 12] = [
            |n| format!("#11 {n}.25"),
            |_| "harbor-app-1        |".into(),
            |n| format!("[  +{n} ms]"),
            |n| format!("[{n:5}.004311]"),
            |n| format!("[{n}/900]"),
            |n| format!("[quay {}]", n % 3),
            |n| format!("({n})"),
            |n| format!("<{n}>"),
            |n| format!("ferry{} │", n % 4),
            |n| format!("{n}.125s"),
            |n| format!("+{n}ms"),
            |n| {
                format!(
                    "{} of a matrix with many names, and all of them long\tstep\t2026-03-04T10:11:12Z",
                    n % 2
                )
            },
        ];
        for column in columns {
            let text: String = (1..40).map(|n| format!("{} some part is moved\n", column(n))).collect();
            assert!(log(&text), "{text}");
            // Half of the lines are enough, and a few say nothing.
            let mixed: String = text.lines().map(|line| format!("{line}\nit goes on\n")).collect();
            assert!(log(&mixed), "{mixed}");
            let few: String =
                text.lines().take(9).map(|line| format!("{line}\n{}", "it goes on\n".repeat(9))).collect();
            assert!(!log(&few), "{few}");
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
            "ant | 1\nbee | 2\ncat | 3\ndog | 4\neel | 5\nfox | 6\ngnu | 7\nhen | 8\nibis | 9\n",
            "1.2 3.4\n1.3 3.5\n1.4 3.6\n1.5 3.7\n1.6 3.8\n1.7 3.9\n1.8 4.0\n1.9 4.1\n",
            "12: let a = 1;\n13: let b = 2;\n14: call(a, b);\n15: end\n16: end\n17: x()\n18: y()\n19: z()\n",
            "- [x] one\n- [ ] two\n- [x] six\n- [ ] ten\n- [x] add\n- [ ] sub\n- [x] mul\n- [ ] div\n",
            "",
        ] {
            assert!(!log(text), "{text}");
        }
    }
}
