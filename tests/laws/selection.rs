//! Laws of the search for findings, over text with many of them.

use std::collections::BTreeSet;

use crate::cases::cases;
use crate::keeps::KEEPS;
use proptest::prelude::*;
use spillway::encoding::{Text, Utf8, Utf16};
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::earlier::EarlierNotices;
use spillway::policy::{Keep, Policy};
use spillway::selection::{SearchTerms, Selection};
use spillway::truncate::input::Input;
use spillway::truncate::{Cut, Terms, compose, truncate};

/// Generates a log with failures: informative and other lines, long ones, wide ones, notices of
/// this package.
fn log() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => "[a-z ]{0,40}\n",
        2 => "error: [a-z]{1,8} is missing in [a-z]{1,5}\\.rs:[0-9]{1,3}\n",
        1 => "[A-Z][a-z]{3,9}Error: [0-9]{1,4}\n(    at [a-z]{1,9}\n){0,12}",
        1 => Just("-  was: 7\n+  is: 19\n".to_owned()),
        1 => Just("漢字 failed 👩‍👩‍👧‍👦\r\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => hunks(),
        1 => "([a-z]{3,9}, ){150,300}error( [a-z]{3}){0,90}\n",
        1 => Just("x".repeat(1_500)),
        1 => Just("\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n".to_owned()),
        1 => Just("[... 123 more characters truncated]".to_owned()),
    ];
    prop::collection::vec(line, 0..120).prop_map(|lines| lines.concat())
}

/// Generates the hunks of a file: context, changes, context. A line of context alone may stand in
/// place of a mark.
fn hunks() -> impl Strategy<Value = String> {
    let code = || "  [a-z]{3,9} = [a-z]{3,9}\\([a-z]{2,8}, [0-9]{1,3}\\)";
    let lines = |least, most| prop::collection::vec(code(), least..most);
    let hunk =
        (lines(2, 14), lines(0, 5), lines(1, 5), lines(2, 14)).prop_map(|(before, old, new, after)| {
            let (same, all) = (before.len() + after.len(), |mark: char, lines: Vec<String>| -> String {
                lines.into_iter().map(|line| format!("{mark}{line}\n")).collect()
            });
            let head = format!("@@ -9,{} +9,{} @@\n", same + old.len(), same + new.len());
            [head, all(' ', before), all('-', old), all('+', new), all(' ', after)].concat()
        });
    prop::collection::vec(hunk, 1..5).prop_map(|hunks| hunks.concat())
}

/// Generates a unified diff of some files.
fn diff() -> impl Strategy<Value = String> {
    let file = ("[a-z]{3,8}/[a-z]{3,8}\\.rs", hunks());
    let file = file.prop_map(|(name, hunks)| {
        format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{hunks}")
    });
    prop::collection::vec(file, 3..20).prop_map(|files| files.concat())
}

fn policy() -> impl Strategy<Value = Policy> {
    let bound = |most: usize| prop_oneof![1 => Just(UNLIMITED), 3 => 0..most];
    let notice = prop_oneof![
        Just(Notice::Hint),
        Just(Notice::None),
        Just(Notice::Pi),
        Just(Notice::Template("<{keptLines} of {totalLines}>".into()))
    ];
    let limits = (bound(6_000), bound(120), bound(6_000), bound(2_000));
    let keep = prop_oneof![Just(Keep::Findings), Just(Keep::Relevant), Just(Keep::Auto)];
    (limits, notice, keep).prop_map(|((bytes, lines, chars, tokens), notice, keep)| Policy {
        limits: Limits { bytes, lines, chars, tokens, line_bytes: UNLIMITED },
        notice,
        keep,
        needles: vec!["zz".into()],
        query: vec!["error in zz.rs".into()],
        ..Policy::default()
    })
}

fn search(chunks: &[&[u8]], policy: &Policy) -> Selection {
    let mut selection = Selection::new(&policy.limits, SearchTerms::of(policy));
    for chunk in chunks {
        selection.push(chunk);
    }
    selection.finish();
    selection
}

/// Cuts a searched stream by its size alone.
fn cut(selection: &Selection, policy: &Policy) -> Option<Cut> {
    let size = selection.size();
    let input = Input::ends(Utf8(b""), Utf8(b""), size.bytes).with_totals(size);
    compose::cut(selection, &input, Terms::from(policy), None)
}

fn found(text: &str, policy: &Policy) -> Option<Cut> {
    let selection = search(&[text.as_bytes()], policy);
    compose::cut(&selection, &Input::whole(Utf8(text.as_bytes())), Terms::from(policy), None)
}

/// Returns the numbers of the lines that a cut keeps whole.
fn whole(text: &str, policy: &Policy) -> BTreeSet<usize> {
    let input = Input::whole(Utf8(text.as_bytes()));
    let Some(cut) = truncate(&input, policy) else { return (0..lines(text).len()).collect() };
    let ranges = cut.kept(&input).ranges;
    let mut char = 0;
    let mut kept = BTreeSet::new();
    for (number, line) in lines(text).into_iter().enumerate() {
        let (start, content) = (char, line.trim_end_matches('\n').encode_utf16().count());
        char += line.encode_utf16().count();
        if content > 0 && ranges.iter().any(|range| range.start <= start && start + content <= range.end) {
            kept.insert(number);
        }
    }
    kept
}

/// Splits a text into lines, newlines included.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn is_mark(line: &str) -> bool {
    let inside = line.trim_end().strip_prefix("[... ").and_then(|line| line.strip_suffix(" ...]"));
    inside.is_some_and(|line| [" lines", " line", " chars"].iter().any(|unit| line.ends_with(unit)))
}

/// Returns the lines that lie entirely in a gap, which is given in chars.
fn whole_lines(text: &str, gap: &std::ops::Range<usize>) -> usize {
    let mut char = 0;
    let ends = lines(text).into_iter().map(|line| {
        let start = char;
        char += line.encode_utf16().count();
        start..char
    });
    ends.filter(|line| gap.start <= line.start && line.end <= gap.end).count()
}

/// Forms of lines in a flood, around two names: errors, results, levels, headings and names.
const FLOODS: [[&str; 3]; 12] = [
    ["error: ", " is missing in ", ""],
    ["FATAL ", ": cannot ", " the ring"],
    ["", "Error: failed to ", ""],
    ["panic: ", " at ", ".rs:12: refused"],
    ["E501 ", " denied ", ""],
    ["7 failed, 12 passed in ", " of ", ""],
    ["", " exited with code 3 in ", ""],
    ["FAILED ", "::", ""],
    ["{\"level\":\"fatal\",\"msg\":\"", " ", "\"}"],
    ["## ", " ", ""],
    ["", ": ", " is there"],
    ["export function ", "(", "): void {}"],
];

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn chunking_does_not_change_the_result(text in log(), policy in policy(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..30)) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        let chunks: Vec<&[u8]> = at.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]).collect();
        let selection = search(&chunks, &policy);
        prop_assert_eq!(cut(&selection, &policy), found(&text, &policy));
    }

    #[test]
    fn ranges_sizes_and_lines_refer_to_the_input(text in log(), policy in policy()) {
        let Some(found) = found(&text, &policy) else { return Ok(()) };
        let kept = found.within.unwrap();
        let units: Vec<u16> = text.encode_utf16().collect();
        let parts: Vec<String> = kept.ranges.iter().map(|range| String::from_utf16(&units[range.clone()]).unwrap()).collect();
        prop_assert!(kept.ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{:?}", kept.ranges);
        prop_assert_eq!(kept.size.bytes, parts.iter().map(String::len).sum::<usize>());
        prop_assert_eq!(kept.size.chars, kept.ranges.iter().map(|range| range.len()).sum::<usize>());
        // There is one mark between parts, and the notice after them.
        let mut rest = found.middle.as_str();
        // An earlier notice at the start is dropped without a mark.
        let looks = policy.notice != Notice::None;
        let first = if looks { EarlierNotices::at_ends(Utf16(&units), Utf16(&units), units.len()).leading } else { 0 };
        for (at, part) in parts.iter().enumerate() {
            let start = if at > 0 || kept.ranges[0].start > first {
                let mark = rest.trim_start_matches('\n');
                let end = mark.find('\n').map_or(mark.len(), |end| end + 1);
                prop_assert!(is_mark(&mark[..end]), "{:?} in {:?}", &mark[..end], found.middle);
                let gap = if at > 0 { kept.ranges[at - 1].end } else { first }..kept.ranges[at].start;
                let digits: String = mark[..end].chars().filter(char::is_ascii_digit).collect();
                let whole = whole_lines(&text, &gap);
                prop_assert_eq!(digits.parse::<usize>().unwrap(), if whole > 0 { whole } else { gap.len() });
                rest.len() - mark.len() + end
            } else {
                0
            };
            prop_assert!(rest[start..].starts_with(part.as_str()), "{part:?} is not at {start} of {rest:?}");
            rest = &rest[start + part.len()..];
        }
        // Kept lines are those with text in the kept parts.
        let mut numbers = vec![];
        let mut char = 0;
        for (number, line) in lines(&text).into_iter().enumerate() {
            let end = char + line.encode_utf16().count();
            if kept.ranges.iter().any(|range| range.start < end && range.end > char) {
                numbers.push(number + 1);
            }
            char = end;
        }
        let told: Vec<usize> = kept.lines.ranges.iter().flat_map(|&(first, last)| first..=last).collect();
        let mut once = told.clone();
        once.dedup();
        prop_assert_eq!(once, numbers);
        prop_assert_eq!(kept.lines.total, lines(&text).len());
    }

    #[test]
    fn only_lines_over_a_thousand_bytes_are_kept_in_part(text in log(), policy in policy()) {
        let Some(found) = found(&text, &policy) else { return Ok(()) };
        let ranges = found.within.unwrap().ranges;
        let mut char = 0;
        for line in lines(&text) {
            let (start, content) = (char, line.trim_end_matches('\n').encode_utf16().count());
            char += line.encode_utf16().count();
            let kept: usize = ranges.iter().map(|range| range.end.min(start + content).saturating_sub(range.start.max(start))).sum();
            // An earlier notice glued to the last line is dropped.
            let glued = char == text.encode_utf16().count() && line.ends_with(']');
            prop_assert!(kept == 0 || kept == content || line.len() > 1_000 || glued, "{kept} of {line:?}");
        }
    }

    #[test]
    fn of_lines_that_are_all_alike_both_ends_are_kept(numbers in prop::collection::vec(0..99_999, 12..200), policy in policy()) {
        let text: String = numbers.iter().map(|number| format!("row {number} of it\n")).collect();
        prop_assume!(found(&text, &policy).is_none());
        let input = Input::whole(Utf8(text.as_bytes()));
        let cut = |keep, head_share| truncate(&input, &Policy { keep, head_share, ..policy.clone() });
        let ends = cut(policy.keep, 0.5);
        match policy.keep {
            Keep::Findings => prop_assert_eq!(ends, cut(Keep::Ends, 0.2)),
            _ => {
                let text = |cut: Option<Cut>| cut.map(|cut| cut.text(&input));
                let others = [text(cut(Keep::Ends, 0.5)), text(cut(Keep::Head, 0.5))];
                prop_assert!(others.contains(&text(ends)));
            }
        }
    }

    #[test]
    fn more_room_only_adds_lines(text in log(), policy in policy(), (a, b) in (64..9_000usize, 64..9_000usize), in_lines in any::<bool>()) {
        let cut = |room: usize| {
            let limits = match in_lines {
                true => Limits { lines: 1 + room / 40, ..Limits::NONE },
                false => Limits { chars: room, ..Limits::NONE },
            };
            let policy = Policy { limits, notice: Notice::None, ..policy.clone() };
            (found(&text, &policy), whole(&text, &policy))
        };
        let ((small, fewer), (large, more)) = (cut(a.min(b)), cut(a.max(b)));
        // A text that was cut before bounds the next cut by its own lines. The marks of gaps may
        // take more, and then lines go for them.
        let input = Input::whole(Utf8(text.as_bytes()));
        let is_within = |cut: &Cut| lines(&cut.string(&input)).len() <= lines(&text).len();
        if small.is_some() && large.as_ref().is_some_and(is_within) {
            prop_assert!(fewer.is_subset(&more), "{:?}", fewer.difference(&more));
        }
    }

    /// The loudest line of failure stands third in every order, behind one line of each end. For
    /// weaker lines nothing can be promised, because a known failure moves the shares.
    #[test]
    fn a_told_failure_keeps_the_loudest_line_that_an_untold_one_keeps(text in log(), at in any::<prop::sample::Index>(), chars in 64..6_000usize) {
        let mut all = lines(&text);
        let at = at.index(all.len() + 1);
        all.insert(at, "error: thread main panicked: FATAL: the lock is gone\n");
        let text = all.concat();
        let policy = |is_error| {
            let limits = Limits { chars, ..Limits::NONE };
            Policy { limits, is_error, notice: Notice::None, ..Policy::default() }
        };
        let is_kept = |is_error| {
            let input = Input::whole(Utf8(text.as_bytes()));
            truncate(&input, &policy(is_error)).is_none_or(|cut| cut.string(&input).contains("the lock is gone"))
        };
        // Without room for a search only the ends are left.
        prop_assume!(found(&text, &policy(true)).is_some());
        prop_assert!(is_kept(true) || !is_kept(false));
    }

    /// The changes are what a reader asks a diff for, and context is what more room adds.
    #[test]
    fn changes_of_a_diff_are_kept_before_its_context(text in diff(), room in 4..90_usize, is_relevant in any::<bool>()) {
        let chars = 500 + text.chars().count() * room / 100;
        let keep = if is_relevant { Keep::Relevant } else { Keep::Auto };
        let policy = Policy { limits: Limits { chars, ..Limits::NONE }, keep, notice: Notice::None, ..Policy::default() };
        let kept = whole(&text, &policy);
        let share = |marks: &[char]| {
            let of_kind = |line: &&str| line.starts_with(marks) && !line.starts_with("---") && !line.starts_with("+++");
            let all = lines(&text).iter().filter(|line| of_kind(line)).count();
            let left = lines(&text).iter().enumerate().filter(|(at, line)| of_kind(line) && kept.contains(at)).count();
            100 * left / all.max(1)
        };
        let (changes, context) = (share(&['+', '-']), share(&[' ']));
        prop_assert!(changes == 100 || context == 0, "{changes} {context}");
    }

    /// A shorter notice and an end are omitted before the only finding.
    #[test]
    fn more_room_never_drops_the_only_finding(noun in "[a-z]{4,9}", before in 20..90_usize, after in 20..90_usize, rooms in prop::collection::vec(64..420_usize, 8), in_lines in any::<bool>()) {
        let row = |at: usize| format!("the {noun} of row {at} is moved on\n");
        let text = (0..before).map(row).collect::<String>() + "error: the berth is gone\n" + &(0..after).map(row).collect::<String>();
        let is_kept = |room: &usize| {
            let limits = match in_lines {
                true => Limits { lines: room / 40, ..Limits::NONE },
                false => Limits { chars: *room, ..Limits::NONE },
            };
            let policy = Policy { limits, is_error: true, notice: Notice::Hint, ..Policy::default() };
            let input = Input::whole(Utf8(text.as_bytes()));
            truncate(&input, &policy).is_none_or(|cut| cut.string(&input).contains("the berth is gone"))
        };
        let mut rooms = rooms;
        rooms.sort_unstable();
        let kept: Vec<bool> = rooms.iter().map(is_kept).collect();
        prop_assert!(kept.is_sorted(), "{rooms:?} {kept:?}");
    }

    #[test]
    fn a_flood_of_one_form_leaves_the_finding_of_another(
        words in prop::collection::vec("[a-z]{3,9}", 900),
        form in prop::sample::select(&[["error: ", " is missing in "], ["FATAL ", ": cannot "], ["", "Error: failed to "]][..]),
        count in 100..300usize,
    ) {
        let [start, middle] = form;
        let flood = |words: &[String]| format!("{start}{}{middle}{}{}\n", words[0], words[1], words[2]);
        let flood: String = words.chunks(3).take(count).map(flood).collect();
        let found = "src/ring.rs:12:5: berth refused, no such ring\n";
        let text = [&flood, found, &"all is well\n".repeat(900)].concat();
        let limits = Limits { chars: 8_000, ..Limits::NONE };
        let policy = Policy { limits, is_error: true, ..Policy::default() };
        prop_assert!(whole(&text, &policy).contains(&count));
    }

    /// A page that a tool fetched, or a test that it ran, may print lines to hide others.
    #[test]
    fn no_flood_hides_a_failure_elsewhere(
        names in prop::collection::vec("[a-z]{3,9}", 97),
        forms in prop::sample::subsequence(FLOODS.to_vec(), 1..FLOODS.len()),
        [at, flooded] in prop::array::uniform2(0..4_000_usize),
        is_error in any::<bool>(),
    ) {
        // Both stand apart, and far from the ends.
        prop_assume!(at > 400 && flooded > 400 && at.abs_diff(flooded) > 40);
        let name = |nth: usize| format!("{}_{}", names[nth % 97], names[nth * 31 % 89]);
        let row = |nth: usize| format!("2026-11-27 09:14:{:02} moved {} on\n", nth % 60, names[nth % 7]);
        let mut flood = String::new();
        for nth in 0.. {
            let [start, middle, end] = forms[nth % forms.len()];
            flood += &[start, &name(nth), middle, &name(nth + 11), end, "\n"].concat();
            if flood.len() > 22_000 {
                break;
            }
        }
        let mut lines: Vec<String> = (0..4_400).map(row).collect();
        lines[at] = "src/ring.rs:12:5: error: berth 7 is gone\n".into();
        lines[at + 1] = "cannot hand over the ship\n".into();
        lines[flooded] = flood;
        let text = lines.concat();
        let limits = Limits { chars: 8_000, ..Limits::NONE };
        let input = Input::whole(Utf8(text.as_bytes()));
        let kept = truncate(&input, &Policy { limits, is_error, ..Policy::default() }).unwrap().string(&input);
        prop_assert!(kept.contains("berth 7 is gone") && kept.contains("hand over the ship"), "{kept}");
    }

    #[test]
    fn a_line_with_a_rare_needle_is_kept_before_all_else(text in log(), policy in policy(), keep in prop::sample::select(&KEEPS[..]), at in any::<prop::sample::Index>()) {
        let mut lines = lines(&text);
        lines.insert(at.index(lines.len() + 1), "the berth zq-4711 was handed over\n");
        let text = lines.concat();
        // A last line without a newline goes on with that line. It is kept whole or not at all.
        let line = text.lines().find(|line| line.contains("zq-4711")).unwrap();
        prop_assume!(line.encode_utf16().count() < 250);
        let policy = Policy { limits: Limits { chars: 300, ..Limits::NONE }, keep, needles: vec!["zq-4711".into()], notice: Notice::None, ..policy };
        let units = text.encode_utf16().collect::<Vec<_>>();
        if let Some(cut) = truncate(&Input::whole(Utf16(&units)), &policy) {
            prop_assert!(cut.string(&Input::whole(Utf16(&units))).contains("zq-4711"));
        }
    }
}

#[test]
fn memory_stays_within_twenty_times_the_usual_budget() {
    /// Smaller budgets take as much.
    const BUDGET: usize = 51_200;
    /// The size of the similarity table does not depend on the budget.
    const TABLE: usize = 8_192 * 16;
    let policy = Policy {
        limits: Limits { bytes: BUDGET, ..Limits::NONE },
        keep: Keep::Findings,
        ..Policy::default()
    };
    type Line = Box<dyn Fn(usize) -> String>;
    let lines = if crate::cases::is_long() { 1_000_000 } else { 200_000 };
    let streams: [(&str, Line); 7] = [
        ("errors", Box::new(|n| format!("error: {n}\n"))),
        ("empty lines", Box::new(|_| "\n".into())),
        ("one line", Box::new(|_| "error, ".into())),
        (
            "different lines",
            Box::new(|n| {
                let letters: String = n.to_string().bytes().map(|digit| (digit + 49) as char).collect();
                format!("error {letters}\n")
            }),
        ),
        (
            "ever worse",
            Box::new(move |n| {
                ["leak: ", "error ", "fatal: ", "PANICKED! "][n * 4 / lines].to_string() + "x\n"
            }),
        ),
        ("notices", Box::new(|n| format!("[... {n} chars omitted]\n\n"))),
        ("traces", Box::new(|n| if n % 30 == 0 { format!("TypeError: {n}\n") } else { "    at x\n".into() })),
    ];
    for (name, line) in streams {
        let mut selection = Selection::new(&policy.limits, SearchTerms::of(&policy));
        let mut most = 0;
        for n in 0..lines {
            selection.push(line(n).as_bytes());
            if n % 10_000 == 0 {
                most = most.max(selection.memory());
            }
        }
        selection.finish();
        assert!(most <= 20 * BUDGET + TABLE, "{name}: {most}");
        let found = cut(&selection, &policy);
        assert_eq!(found.is_some(), !["empty lines", "notices"].contains(&name), "{name}");
        assert!(
            found.is_none_or(|found| found.middle.len() <= BUDGET && found.middle.len() > BUDGET / 2),
            "{name}"
        );
    }
}

#[test]
fn a_skipped_part_is_marked_with_its_lines() {
    let policy =
        Policy { limits: Limits { bytes: 600, ..Limits::NONE }, keep: Keep::Findings, ..Policy::default() };
    let (before, hidden, after) =
        ("a line\n".repeat(100), "hidden error\n".repeat(50), "b line\n".repeat(99) + "fatal: end");
    let mut selection = Selection::new(&policy.limits, SearchTerms::of(&policy));
    selection.push(before.as_bytes());
    selection.skip(Utf8(hidden.as_bytes()).size());
    selection.push(after.as_bytes());
    selection.finish();
    let Cut { middle, within, .. } = cut(&selection, &policy).unwrap();
    let lines = within.unwrap().lines;
    assert_eq!(lines.total, 250);
    assert_eq!(lines.ranges.last().unwrap().1, 250);
    assert!(!middle.contains("hidden") && middle.contains("fatal: end"));
}
