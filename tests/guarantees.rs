//! The guarantees of the contract as laws over hostile text, for both encodings.

use proptest::prelude::*;
use spillway::limits::{Limits, UNLIMITED};
use spillway::lined::clamp_lines;
use spillway::outcome;
use spillway::policy::{Keep, Policy};
use spillway::share::{Block, Share, share};
use spillway::text::extent::Extent;
use spillway::text::notice::Notice;
use spillway::text::tokens::Estimate;
use spillway::text::{Latin1, Source, Text, Utf8, Utf16, clamp};

/// Text made of what breaks cuts: wide characters, joined emoji, lone halves, returns, NUL, old and fake notices.
fn hostile() -> impl Strategy<Value = Vec<u16>> {
    let of = |text: &str| Just(text.encode_utf16().collect::<Vec<u16>>());
    let piece = prop_oneof![
        6 => "[a-z ]{1,12}".prop_map(|text| text.encode_utf16().collect::<Vec<u16>>()),
        2 => "[A-Za-z0-9 ._/-]{1,12}".prop_map(|text| text.encode_utf16().collect::<Vec<u16>>()),
        3 => of("\n"),
        1 => of("\r\n"),
        1 => of("\n\n"),
        1 => of("漢字かな"),
        1 => of("👩‍👩‍👧‍👦"),
        1 => of("é́"),
        1 => of("\0\t\r"),
        1 => Just(vec![0xD83D]),
        1 => Just(vec![0xDE00]),
        1 => of("[... 123 more characters truncated]"),
        1 => of("\n\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n"),
        1 => of("... (1,234 chars truncated from x)"),
        1 => of("error: done }"),
        1 => of("Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    ];
    (prop::collection::vec(piece, 0..40), 1..4usize).prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

fn bound(large: usize) -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(UNLIMITED), 1 => 0..4usize, 4 => 0..large]
}

fn limits() -> impl Strategy<Value = Limits> {
    (bound(600), bound(40), bound(500), bound(200), prop_oneof![3 => Just(UNLIMITED), 1 => 0..90usize])
        .prop_map(|(bytes, lines, chars, tokens, line_bytes)| Limits {
            bytes,
            lines,
            chars,
            tokens,
            line_bytes,
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    let keep = prop_oneof![
        Just(Keep::Head),
        Just(Keep::Tail),
        Just(Keep::Ends),
        Just(Keep::Findings),
        Just(Keep::Auto)
    ];
    let notice = prop_oneof![
        Just(Notice::None),
        Just(Notice::Hint),
        Just(Notice::Pi),
        Just(Notice::Count),
        Just(Notice::Template("<{omittedBytes:,} of {totalLines}: {keptLines}>".into())),
        Just(Notice::Literal("two\nlines 漢".into())),
        Just(Notice::Literal("x".repeat(300))),
        Just(Notice::Literal(String::new())),
        Just(Notice::Glued(Box::new(Notice::Literal("\n\n[gone]".into())))),
        Just(Notice::Glued(Box::new(Notice::Template("[... {omittedChars} gone]".into())))),
    ];
    (limits(), keep, 0.0..=1.0f64, any::<bool>(), notice, any::<bool>()).prop_map(
        |(limits, keep, head_share, snap, notice, is_error)| Policy {
            limits,
            keep,
            head_share,
            snap,
            notice,
            is_error,
            source: "outpüt".into(),
            needles: vec!["aa".into(), "漢".into()],
            ..Policy::default()
        },
    )
}

fn clamped<T: Text>(text: T, policy: &Policy) -> Vec<u16> {
    if let Some(lined) = clamp_lines(text, policy) {
        return lined.text;
    }
    let source = Source::whole(text);
    let outcome = outcome::clamp(&source, &policy.limits, policy, &policy.notice);
    outcome.map_or_else(|| source.all(), |outcome| outcome.text(&source))
}

fn longest_line(text: &str) -> usize {
    text.split_inclusive('\n')
        .map(|line| line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line).len())
        .max()
        .unwrap_or(0)
}

fn is_within(text: &[u16], limits: &Limits) -> Result<(), TestCaseError> {
    let decoded = String::from_utf16(text);
    prop_assert!(decoded.is_ok(), "ill-formed: {text:04x?}");
    let decoded = decoded.unwrap();
    let lines = decoded.matches('\n').count() + usize::from(!decoded.is_empty() && !decoded.ends_with('\n'));
    prop_assert!(decoded.len() <= limits.bytes, "{} bytes in {decoded:?}", decoded.len());
    prop_assert!(text.len() <= limits.chars, "{} chars in {decoded:?}", text.len());
    prop_assert!(lines <= limits.lines, "{lines} lines in {decoded:?}");
    let tokens = Estimate::of(Utf16(text)).tokens();
    prop_assert!(tokens <= limits.tokens, "{tokens} tokens in {decoded:?}");
    let longest = longest_line(&decoded);
    prop_assert!(longest <= limits.line_bytes, "a line of {longest} bytes in {decoded:?}");
    Ok(())
}

fn well_formed(text: &[u16]) -> Vec<u16> {
    String::from_utf16_lossy(text).encode_utf16().collect()
}

/// How many cases each law is tried on: `SPILLWAY_CASES`, which `npm run soak` sets, or 4,000.
fn config() -> ProptestConfig {
    let cases = std::env::var("SPILLWAY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4_000);
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: cases,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_limit_holds_and_the_text_is_well_formed(text in hostile(), policy in policy()) {
        is_within(&clamped(Utf16(&text), &policy), &policy.limits)?;
    }

    #[test]
    fn bytes_and_strings_come_to_the_same(text in hostile(), policy in policy()) {
        // The hint counts the one in chars and the other in bytes.
        prop_assume!(policy.notice != Notice::Hint);
        let bytes = String::from_utf16_lossy(&text).into_bytes();
        let from_bytes = String::from_utf16(&clamped(Utf8(&bytes), &policy)).unwrap();
        prop_assert_eq!(from_bytes, String::from_utf16(&clamped(Utf16(&text), &policy)).unwrap());
    }

    #[test]
    fn narrow_strings_come_to_the_same(text in hostile(), policy in policy()) {
        let bytes: Vec<u8> = text.iter().map(|&unit| if unit > 0xFF { 0xE9 } else { unit as u8 }).collect();
        let units: Vec<u16> = bytes.iter().map(|&byte| byte.into()).collect();
        prop_assert_eq!(clamped(Latin1(&bytes), &policy), clamped(Utf16(&units), &policy));
    }

    #[test]
    fn hostile_bytes_hold_the_limits(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(0xF0), Just(0x9F)], 0..400), policy in policy()) {
        is_within(&clamped(Utf8(&bytes), &policy), &policy.limits)?;
    }

    #[test]
    fn a_second_clamp_changes_nothing(text in hostile(), policy in policy()) {
        let once = clamped(Utf16(&text), &policy);
        prop_assert_eq!(clamped(Utf16(&once), &policy), once);
    }

    #[test]
    fn what_fits_comes_back(text in hostile(), policy in policy()) {
        let whole = well_formed(&text);
        if is_within(&whole, &policy.limits).is_ok() {
            prop_assert_eq!(clamped(Utf16(&text), &policy), whole);
        }
    }

    #[test]
    fn what_is_kept_is_the_input(text in hostile(), policy in policy()) {
        let source = Source::whole(Utf16(&text));
        if let Some(cut) = clamp(&source, &policy) {
            prop_assert!(cut.head <= cut.tail && cut.tail <= text.len());
            let whole = well_formed(&text);
            let expected = [&whole[..cut.head], &cut.mid.encode_utf16().collect::<Vec<_>>(), &whole[cut.tail..]].concat();
            prop_assert_eq!(source.compose(&cut), expected);
            prop_assert!(cut.head > 0 || cut.keep != Keep::Head || cut.tail == text.len());
        }
    }

    #[test]
    fn one_more_code_point_would_be_too_much(text in hostile(), policy in policy()) {
        let policy = Policy { snap: false, limits: Limits { line_bytes: UNLIMITED, ..policy.limits }, ..policy };
        // One line more may make the range that a template names longer.
        if matches!(policy.notice, Notice::Template(_)) {
            return Ok(());
        }
        let source = Source::whole(Utf16(&text));
        let Some(cut) = clamp(&source, &policy) else { return Ok(()) };
        let marks = spillway::text::earlier::Earlier::find(Utf16(&text), Utf16(&text), text.len()).spans;
        let more = match cut.keep {
            Keep::Head if cut.head < text.len() => Some((cut.head + Utf16(&text).decode(cut.head).1, cut.tail)),
            Keep::Tail if cut.tail > 0 => Some((cut.head, Utf16(&text).floor(cut.tail - 1))),
            _ => None,
        };
        let Some((head, tail)) = more else { return Ok(()) };
        // An earlier notice at the cut is taken whole or not at all.
        let at_mark = marks.iter().any(|mark| {
            mark.start <= head && head <= mark.end || mark.start <= tail && tail <= mark.end
        });
        // Beside nothing a notice stands without separators.
        let alone = cut.separators == (0, 0) && !cut.mid.is_empty() && cut.head == 0;
        if at_mark || alone {
            return Ok(());
        }
        let mid: Vec<u16> = cut.mid.encode_utf16().collect();
        let grown = [&text[..head], &mid, &text[tail..]].concat();
        prop_assert!(
            is_within(&well_formed(&grown), &policy.limits).is_err(),
            "{:?} could be {:?}", String::from_utf16_lossy(&source.compose(&cut)), String::from_utf16_lossy(&grown)
        );
    }

    #[test]
    fn windows_give_what_the_whole_gives(text in hostile(), policy in policy()) {
        let limits = Limits { bytes: policy.limits.bytes.min(900), line_bytes: UNLIMITED, ..policy.limits };
        let policy = Policy { limits, ..policy };
        // What a notice may reach back to is in a window, as it is in those that are handed over.
        let window = spillway::text::earlier::LONGEST;
        if text.is_empty() {
            return Ok(());
        }
        let text = text.repeat(window / text.len() + 2);
        // A notice between the ends is seen only in a whole text.
        let size = Utf16(&text).size();
        let (head, tail) = (Utf16(&text[..window]), Utf16(&text[text.len() - window..]));
        let source = Source::ends(head, tail, text.len()).with_totals(Some(size));
        let (whole, ends) = (clamp(&Source::whole(Utf16(&text)), &policy), clamp(&source, &policy));
        prop_assert_eq!(ends.is_some(), whole.is_some());
        if let (Some(ends), Some(whole)) = (ends, whole)
            && spillway::text::earlier::Earlier::find(Utf16(&text), Utf16(&text), text.len()).spans.is_empty() {
            prop_assert_eq!(ends, whole);
        }
    }

    #[test]
    fn blocks_share_the_limits(
        texts in prop::collection::vec(hostile(), 1..8),
        policy in policy(),
        how in prop_oneof![Just(Share::Fair), Just(Share::Order), Just(Share::Stay)],
    ) {
        let policy = Policy { limits: Limits { line_bytes: UNLIMITED, ..policy.limits }, ..policy };
        let sources: Vec<_> = texts.iter().map(|text| Source::whole(Utf16(text))).collect();
        let blocks = share(&sources, &policy, how);
        let mut sum = Extent::default();
        let (mut tokens, mut lines, mut left) = (0, 0, 0);
        for (block, source) in blocks.iter().zip(&sources) {
            let text = match block {
                Block::Whole => source.all(),
                Block::Cut(cut) => cut.text(source),
                Block::Gone => {
                    prop_assert!(how != Share::Stay, "a block is gone");
                    continue;
                }
                Block::Replaced(text) => text.encode_utf16().collect(),
            };
            left += 1;
            let extent = Extent::of(Utf16(&text), &Limits { tokens: 1, ..policy.limits });
            tokens += extent.estimate.tokens();
            lines += extent.lines();
            sum.size = sum.size + extent.size;
            if how != Share::Stay && matches!(block, Block::Cut(_)) && left > 1 {
                prop_assert!(!String::from_utf16(&text).unwrap().trim().is_empty(), "an empty block");
            }
        }
        prop_assert!(left > 0);
        let limits = policy.limits;
        prop_assert!(sum.size.bytes <= limits.bytes && sum.size.chars <= limits.chars);
        prop_assert!(tokens <= limits.tokens, "{tokens} tokens in {blocks:?}");
        prop_assert!(lines <= limits.lines, "{lines} lines in {blocks:?}");
    }
}
