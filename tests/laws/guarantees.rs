//! The guarantees of the contract as laws over hostile text, in all encodings.

use crate::cases::cases;
use crate::keeps::keep;
use proptest::prelude::*;
use spillway::encoding::{Latin1, Text, Utf8, Utf16};
use spillway::extent::Extent;
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::earlier::EarlierNotices;
use spillway::notice::saved::{Location, SavedPart};
use spillway::policy::{Keep, Policy, Share};
use spillway::share::{BlockCut, share};
use spillway::tokens::Estimate;
use spillway::truncate::figures::KeptParts;
use spillway::truncate::input::Input;
use spillway::truncate::sides::Sides;
use spillway::truncate::{Cut, Terms, truncate, truncate_with};

/// Generates text that is hard to cut: wide characters, joined emoji, lone surrogates, returns,
/// NUL, old and fake notices.
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

/// Closings, in which other tools say how to continue.
const CLOSINGS: [&str; 6] = [
    "\n\n[Showing lines 1-1603 of 5000 (50.0KB limit). Use offset=1604 to continue.]",
    "\n\n[Showing lines 90-99 of 99. Full output: /tmp/漢.log]\n\nCommand exited with code 1",
    "\n[12 more lines in file. Use offset=9 to continue.]\n",
    "\nFull output: /tmp/a.log",
    "\n  \"nextCursor\": \"abc\"\n}\n",
    ", \"nextCursor\": \"abc\"}",
];

/// Generates text with a closing, sometimes after many empty lines.
fn closed() -> impl Strategy<Value = (Vec<u16>, &'static str)> {
    let text = prop_oneof![3 => hostile(), 1 => Just(vec![])];
    let blank = prop_oneof![2 => Just(0), 1 => 0..20usize];
    (text, blank, prop::sample::select(CLOSINGS.to_vec())).prop_map(|(mut text, blank, closing)| {
        text.extend(vec![u16::from(b'\n'); blank]);
        text.extend(closing.encode_utf16());
        (text, closing)
    })
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

/// Generates the status of the saved output.
fn saved() -> impl Strategy<Value = SavedPart> {
    prop_oneof![
        3 => Just(SavedPart::Nowhere),
        1 => Just(SavedPart::Whole(Location::Path("/tmp/漢.log".into()))),
        1 => Just(SavedPart::Whole(Location::Id("a1".into()))),
        1 => Just(SavedPart::Part(Location::Path("/tmp/a.log".into()))),
        1 => Just(SavedPart::Failed("ENOSPC".into())),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let notice = prop_oneof![
        Just(Notice::None),
        Just(Notice::Hint),
        Just(Notice::Pi),
        Just(Notice::Count),
        Just(Notice::Template("<{omittedBytes:,} of {totalLines}: {keptLines}>".into())),
        Just(Notice::Template("({omittedChars} gone, whole: {saved})".into())),
        Just(Notice::Literal("two\nlines 漢".into())),
        Just(Notice::Literal("-- 478\nmore --\n".into())),
        Just(Notice::Literal("x".repeat(300))),
        Just(Notice::Literal(String::new())),
        Just(Notice::Glued(Box::new(Notice::Literal("\n\n[gone]".into())))),
        Just(Notice::Glued(Box::new(Notice::Template("[... {omittedChars} gone]".into())))),
    ];
    (limits(), keep(), 0.0..=1.0f64, any::<bool>(), notice, any::<bool>(), saved()).prop_map(
        |(limits, keep, head_share, snap, notice, is_error, saved)| Policy {
            limits,
            keep,
            head_share,
            snap,
            notice,
            is_error,
            saved,
            source: "outpüt".into(),
            needles: vec!["aa".into(), "漢".into()],
            query: vec!["aa bb-1 漢字".into(), "a.b/cc".into()],
            ..Policy::default()
        },
    )
}

fn truncated<T: Text>(text: T, policy: &Policy) -> Vec<u16> {
    let input = Input::whole(text);
    truncate(&input, policy).map_or_else(|| input.all(), |cut| cut.text(&input))
}

/// Keeps one or both ends of a text. Neither searches for findings nor cuts long lines.
fn ends<T: Text>(input: &Input<T>, policy: &Policy) -> Option<Cut> {
    truncate_with(input, Terms::from(policy), || None)
}

/// Returns the lengths of the separators before and after the notice.
fn separators(cut: &Cut) -> (usize, usize) {
    let lead = cut.notice.start - (cut.sides.head - cut.sides.start);
    (lead, cut.middle.encode_utf16().count() - lead - cut.notice.len())
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

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn every_limit_holds_and_the_text_is_well_formed(text in hostile(), policy in policy()) {
        is_within(&truncated(Utf16(&text), &policy), &policy.limits)?;
    }

    #[test]
    fn bytes_and_strings_have_equal_results(text in hostile(), policy in policy()) {
        // The hint counts strings in chars and bytes in bytes.
        prop_assume!(policy.notice != Notice::Hint);
        let bytes = String::from_utf16_lossy(&text).into_bytes();
        let from_bytes = String::from_utf16(&truncated(Utf8(&bytes), &policy)).unwrap();
        prop_assert_eq!(from_bytes, String::from_utf16(&truncated(Utf16(&text), &policy)).unwrap());
    }

    #[test]
    fn narrow_strings_have_equal_results(text in hostile(), policy in policy()) {
        let bytes: Vec<u8> = text.iter().map(|&unit| if unit > 0xFF { 0xE9 } else { unit as u8 }).collect();
        let units: Vec<u16> = bytes.iter().map(|&byte| byte.into()).collect();
        prop_assert_eq!(truncated(Latin1(&bytes), &policy), truncated(Utf16(&units), &policy));
    }

    #[test]
    fn hostile_bytes_hold_the_limits(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(0xF0), Just(0x9F)], 0..400), policy in policy()) {
        is_within(&truncated(Utf8(&bytes), &policy), &policy.limits)?;
    }

    #[test]
    fn a_second_cut_changes_nothing(text in hostile(), policy in policy()) {
        let once = truncated(Utf16(&text), &policy);
        prop_assert_eq!(truncated(Utf16(&once), &policy), once);
    }

    #[test]
    fn closings_stay_last((text, closing) in closed(), policy in policy(), tighter in policy()) {
        let line = closing.trim_matches('\n').trim_start_matches(", ");
        let mut text = text;
        for policy in [policy, tighter] {
            let is_host = matches!(policy.notice, Notice::Glued(_));
            let once = truncated(Utf16(&text), &policy);
            is_within(&once, &policy.limits)?;
            prop_assert_eq!(truncated(Utf16(&once), &policy), &once[..]);
            // Under these limits there is room for it beside any notice.
            let Limits { bytes, lines, chars, tokens, line_bytes } = policy.limits;
            let roomy = bytes.min(chars) >= 500 && lines >= 12 && tokens >= 190 && line_bytes == UNLIMITED;
            let line = line.trim_start();
            if roomy && !is_host && String::from_utf16_lossy(&text).trim_end_matches('\n').ends_with(line) {
                let decoded = String::from_utf16(&once).unwrap();
                prop_assert!(decoded.trim_end_matches('\n').ends_with(line), "{decoded:?}");
            }
            let bytes = String::from_utf16_lossy(&text).into_bytes();
            if policy.notice != Notice::Hint {
                prop_assert_eq!(truncated(Utf8(&bytes), &policy), &once[..]);
            }
            text = once;
        }
    }

    #[test]
    fn text_that_fits_is_unchanged(text in hostile(), policy in policy()) {
        let whole = well_formed(&text);
        if is_within(&whole, &policy.limits).is_ok() {
            prop_assert_eq!(truncated(Utf16(&text), &policy), whole);
        }
    }

    #[test]
    fn a_text_with_only_lines_truncated_is_kept_and_names_the_saved_output(text in prop_oneof![2 => hostile(), 1 => closed().prop_map(|(text, _)| text)], policy in policy(), keeps_breaks in any::<bool>()) {
        let limits = Limits { line_bytes: policy.limits.line_bytes.min(89), ..Limits::NONE };
        let saved = SavedPart::Whole(Location::Path("/tmp/漢.log".into()));
        let policy = Policy { limits, saved, snap: !keeps_breaks, ..policy };
        let input = Input::whole(Utf16(&text));
        let Some(cut) = truncate(&input, &policy) else { return Ok(()) };
        let silent = truncate(&input, &Policy { notice: Notice::None, ..policy.clone() }).unwrap();
        let notice = String::from_utf16_lossy(&cut.text(&input)[cut.notice.clone()]);
        // The short line with the path takes 27 bytes.
        let names = matches!(&policy.notice, Notice::Hint) || matches!(&policy.notice, Notice::Template(text) if text.contains("{saved}"));
        prop_assert_eq!(notice.contains("/tmp/漢.log"), names && limits.line_bytes >= 27);
        prop_assert!(notice.is_empty() || names);
        let kept = |cut: &Cut| cut.kept(&input).ranges.into_iter().flatten().collect::<Vec<_>>();
        let gone: Vec<_> = kept(&silent).into_iter().filter(|at| !kept(&cut).contains(at)).map(|at| text[at]).collect();
        let silent = silent.text(&input);
        // A notice of an earlier cut may be replaced by this one, and a line break by those before
        // it.
        if EarlierNotices::find(Utf16(&silent), Utf16(&silent), silent.len()).spans.is_empty() {
            prop_assert!(["", "\n", "\r\n"].contains(&&*String::from_utf16_lossy(&gone)), "{gone:?} is gone");
            prop_assert!(!keeps_breaks || gone.is_empty());
        }
    }

    #[test]
    fn kept_text_is_that_of_the_input(text in hostile(), policy in policy()) {
        let input = Input::whole(Utf16(&text));
        if let Some(cut) = ends(&input, &policy) {
            let Sides { start, head, tail, end } = cut.sides;
            prop_assert!(start <= head && head <= tail && tail <= end && end <= text.len());
            // At the ends, only an earlier notice may be omitted.
            let earlier = EarlierNotices::find(Utf16(&text), Utf16(&text), text.len()).content(text.len());
            prop_assert!(start == 0 || start == earlier.start && policy.notice != Notice::None);
            // A return before its newline is omitted with it, because it no longer belongs to a
            // line end.
            let is_end = end == earlier.end || end + 1 == earlier.end && text[end] == u16::from(b'\r');
            prop_assert!(end == text.len() || is_end && policy.notice != Notice::None);
            let whole = well_formed(&text);
            let expected = [&whole[start..head], &cut.middle.encode_utf16().collect::<Vec<_>>(), &whole[tail..end]].concat();
            prop_assert_eq!(cut.text(&input), expected);
            prop_assert!(cut.sides.has_head() || cut.keep != Keep::Head || !cut.sides.has_tail());
        }
    }

    #[test]
    fn one_more_code_point_would_exceed_a_limit(text in prop_oneof![2 => hostile(), 1 => closed().prop_map(|(text, _)| text)], policy in policy()) {
        let policy = Policy { snap: false, limits: Limits { line_bytes: UNLIMITED, ..policy.limits }, ..policy };
        // One more line may lengthen the range that a template names.
        if matches!(policy.notice, Notice::Template(_)) {
            return Ok(());
        }
        let input = Input::whole(Utf16(&text));
        // The sum of tokens before a kept closing depends on where the parts meet.
        if policy.limits.tokens != UNLIMITED && input.closing().is_some() {
            return Ok(());
        }
        let Some(cut) = ends(&input, &policy) else { return Ok(()) };
        // Closings are not searched for notices.
        let before = input.closing().map_or(text.len(), |closing| closing.start);
        let marks = [&text[..], &text[..before]]
            .map(|text| EarlierNotices::find(Utf16(text), Utf16(text), text.len()).spans)
            .concat();
        let Sides { start, head, tail, end } = cut.sides;
        let more = match cut.keep {
            Keep::Head if head < tail => Some((head + Utf16(&text).decode(head).1, tail)),
            Keep::Tail if start < tail => Some((head, Utf16(&text).floor(tail - 1))),
            _ => None,
        };
        let Some((head, tail)) = more else { return Ok(()) };
        // An earlier notice at the cut is kept whole or dropped.
        let at_mark = marks.iter().any(|mark| {
            mark.start <= head && head <= mark.end || mark.start <= tail && tail <= mark.end
        });
        // Without text beside it, a notice has no separators. A kept closing begins a line of its
        // own in any case.
        let (lead, trail) = separators(&cut);
        let beside = if cut.keep == Keep::Head { (lead, 0) } else { (lead, trail) };
        let alone = beside == (0, 0) && !cut.middle.is_empty() && !cut.sides.has_head();
        let middle = match (&policy.notice, cut.keep) {
            _ if !alone => cut.middle.clone(),
            (Notice::Literal(text), Keep::Head) if *text == cut.middle => format!("\n\n{text}"),
            (Notice::Literal(text), Keep::Tail) if *text == cut.middle => format!("{text}\n"),
            _ => return Ok(()),
        };
        if at_mark {
            return Ok(());
        }
        let middle: Vec<u16> = middle.encode_utf16().collect();
        let grown = [&text[start..head], &middle, &text[tail..end]].concat();
        prop_assert!(
            is_within(&well_formed(&grown), &policy.limits).is_err(),
            "{:?} could be {:?}", String::from_utf16_lossy(&cut.text(&input)), String::from_utf16_lossy(&grown)
        );
    }

    #[test]
    fn kept_lines_are_those_with_kept_text(text in hostile(), policy in policy()) {
        let input = Input::whole(Utf16(&text));
        let Some(cut) = truncate(&input, &policy) else { return Ok(()) };
        let KeptParts { ranges, lines, .. } = cut.kept(&input);
        let mut kept = vec![];
        let mut start = 0;
        for (number, line) in text.split_inclusive(|unit| *unit == u16::from(b'\n')).enumerate() {
            let end = start + line.len();
            if ranges.iter().any(|range| range.start < end && start < range.end) {
                kept.push(number + 1);
            }
            start = end;
        }
        let mut told: Vec<usize> = lines.ranges.iter().flat_map(|&(first, last)| first..=last).collect();
        told.dedup();
        prop_assert_eq!(told, kept, "{:?}", String::from_utf16_lossy(&cut.text(&input)));
    }

    #[test]
    fn the_end_with_the_larger_share_is_kept(text in hostile(), policy in policy(), one_end in any::<bool>()) {
        let head_share = if one_end { policy.head_share.round() } else { policy.head_share };
        let policy = Policy { keep: Keep::Ends, head_share, ..policy };
        let input = Input::whole(Utf16(&text));
        // The next notice takes the place of one between two ends, and no end goes on beyond it.
        if EarlierNotices::find(Utf16(&text), Utf16(&text), text.len()).gap.is_some() {
            return Ok(());
        }
        let Some(cut) = ends(&input, &policy) else { return Ok(()) };
        let (head, tail) = (cut.sides.has_head(), cut.sides.has_tail());
        prop_assert!(!(head_share == 0.0 && head || head_share == 1.0 && tail), "{cut:?}");
        // All that is not a notice of an earlier cut may be kept as one end.
        if cut.sides.start == 0 && cut.sides.head == cut.sides.end {
            return Ok(());
        }
        // The dropped end does not fit beside this notice.
        let lost = match (head_share > 0.5, head, tail) {
            (true, false, _) => Keep::Head,
            (false, _, false) => Keep::Tail,
            _ => return Ok(()),
        };
        if let Some(alone) = ends(&input, &Policy { keep: lost, ..policy.clone() })
            && (alone.sides.has_head() || alone.sides.has_tail()) {
            prop_assert!(alone.middle.trim() != cut.middle.trim(), "{cut:?} could be {alone:?}");
        }
    }

    #[test]
    fn windows_and_the_whole_have_equal_results(text in hostile(), policy in policy()) {
        let limits = Limits { bytes: policy.limits.bytes.min(900), line_bytes: UNLIMITED, ..policy.limits };
        let policy = Policy { limits, ..policy };
        // The windows must contain the longest notice, as those that are passed to us do.
        let window = spillway::notice::earlier::LONGEST;
        if text.is_empty() {
            return Ok(());
        }
        let text = text.repeat(window / text.len() + 2);
        // Notices between the ends are only found in a complete text.
        let size = Utf16(&text).size();
        let (head, tail) = (Utf16(&text[..window]), Utf16(&text[text.len() - window..]));
        let inputs = [Input::ends(head, tail, text.len()).with_totals(size), Input::whole(Utf16(&text))];
        let [windows, whole] = inputs.map(|input| ends(&input, &policy).map(|cut| (cut.kept(&input), cut)));
        prop_assert_eq!(windows.is_some(), whole.is_some());
        if EarlierNotices::find(Utf16(&text), Utf16(&text), text.len()).spans.is_empty() {
            prop_assert_eq!(windows, whole);
        }
    }

    #[test]
    fn blocks_share_the_limits(
        texts in prop::collection::vec(hostile(), 1..8),
        policy in policy(),
        how in prop_oneof![Just(Share::Fair), Just(Share::Order), Just(Share::Stay)],
    ) {
        let policy = Policy { share: how, ..policy };
        let inputs: Vec<_> = texts.iter().map(|text| Input::whole(Utf16(text))).collect();
        let blocks = share(&inputs, &policy, true);
        let mut sum = Extent::default();
        let (mut tokens, mut lines, mut left) = (0, 0, 0);
        for (block, input) in blocks.iter().zip(&inputs) {
            let text = match block {
                BlockCut::Whole => input.all(),
                BlockCut::Lines(text) => text.clone(),
                BlockCut::Cut(cut) => cut.middle.encode_utf16().collect(),
                BlockCut::Gone => {
                    prop_assert!(how != Share::Stay, "a block is gone");
                    continue;
                }
                BlockCut::Replaced(text) => text.encode_utf16().collect(),
            };
            left += 1;
            let longest = longest_line(&String::from_utf16(&text).unwrap());
            prop_assert!(longest <= policy.limits.line_bytes, "a line of {longest} bytes");
            let extent = Extent::of(Utf16(&text), &Limits { tokens: 1, ..policy.limits });
            tokens += extent.estimate.tokens();
            lines += extent.lines();
            sum.size = sum.size + extent.size;
            if how != Share::Stay && matches!(block, BlockCut::Cut(_)) && left > 1 {
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
