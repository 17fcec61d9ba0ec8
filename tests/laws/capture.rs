//! Laws of captures: a captured stream equals the truncated whole, in bounded memory.

use crate::cases::cases;
use crate::keeps::keep;
use proptest::prelude::*;
use spillway::capture::{Capture, CaptureOutput, CapturedStream, StreamText};
use spillway::clean::{CleanOptions, Cleaner, clean};
use spillway::encoding::{Text, Utf8, Utf16};
use spillway::extent::Extent;
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::saved::{Location, SavedPart};
use spillway::policy::{Keep, Policy};
use spillway::truncate::input::Input;
use spillway::truncate::{Terms, truncate};

/// Generates output that is hard to capture: wide chars, incomplete sequences, returns, NUL, long
/// lines, colours, failures.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let of = |text: &str| Just(text.as_bytes().to_vec());
    let piece = prop_oneof![
        8 => "[a-z ]{1,30}".prop_map(String::into_bytes),
        6 => of("\n"),
        2 => of("\r\n"),
        1 => of("\r"),
        1 => of("漢字かな"),
        1 => of("👩‍👩‍👧‍👦é́"),
        1 => of("\0\t\x1B[31mred\x1B[0m"),
        1 => of("error: it failed }\n"),
        1 => of("FAILED\n    at one\n    at two\n"),
        1 => of("x\nx\nx\nx\n"),
        1 => Just("y".repeat(300).into_bytes()),
        1 => Just(" ".repeat(500).into_bytes()),
        1 => Just(" \n".repeat(200).into_bytes()),
        1 => Just("-".repeat(400).into_bytes()),
        1 => Just("{\"key\": \"value\"}, ".repeat(80).into_bytes()),
        1 => Just(vec![0xF0, 0x9F, 0x98]),
        1 => Just(vec![0xE2, 0x28, 0xFF]),
        1 => Just(vec![0xC3]),
        1 => Just(vec![0x80]),
    ];
    (prop::collection::vec(piece, 0..60), prop_oneof![3 => 1..4usize, 1 => 8..30usize])
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

/// Like [`output`], with notices of earlier cuts.
fn cut_before() -> impl Strategy<Value = Vec<u8>> {
    let notice = prop::sample::select(vec![
        "[... 123 more characters truncated]",
        "\n\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n",
        "\n[... 12 lines ...]\n",
    ]);
    prop::collection::vec(prop_oneof![output(), notice.prop_map(|text| text.as_bytes().to_vec())], 0..5)
        .prop_map(|parts| parts.concat())
}

fn bound(large: usize) -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(UNLIMITED), 1 => 0..4usize, 4 => 0..large]
}

fn policy() -> impl Strategy<Value = Policy> {
    let notice = prop_oneof![
        Just(Notice::None),
        Just(Notice::Hint),
        Just(Notice::Pi),
        Just(Notice::Count),
        Just(Notice::Template("<{omittedBytes:,} of {totalBytes}, {omittedLines}: {keptLines}>".into())),
        Just(Notice::Template("{saved}".into())),
        Just(Notice::Literal("two\nlines 漢".into())),
    ];
    let saved = prop_oneof![
        1 => Just(SavedPart::Nowhere),
        1 => Just(SavedPart::Whole(Location::Id("a1".into()))),
        1 => Just(SavedPart::Part(Location::Path("/tmp/漢.log".into()))),
        1 => Just(SavedPart::Failed("ENOSPC".into())),
    ];
    let line_bytes = prop_oneof![2 => Just(UNLIMITED), 1 => 0..90usize, 1 => 200..2_000usize];
    let limits = (bound(3_000), bound(60), bound(2_000), bound(600), line_bytes).prop_map(
        |(bytes, lines, chars, tokens, line_bytes)| Limits { bytes, lines, chars, tokens, line_bytes },
    );
    (limits, keep(), 0.0..=1.0f64, any::<bool>(), notice, any::<bool>(), saved).prop_map(
        |(limits, keep, head_share, snap, notice, is_error, saved)| Policy {
            limits,
            keep,
            head_share,
            snap,
            notice,
            is_error,
            saved,
            needles: vec!["zz".into(), "漢".into()],
            query: vec!["line zz".into(), "漢字 fail".into()],
            ..Policy::default()
        },
    )
}

fn cleaning() -> impl Strategy<Value = CleanOptions> {
    any::<[bool; 5]>().prop_map(CleanOptions::from)
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![prop::collection::vec(1..9usize, 1..9), prop::collection::vec(1..5_000usize, 1..9)]
}

/// Splits bytes into chunks that cycle through these lengths.
fn chunks<'a>(bytes: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let (mut rest, mut cuts) = (bytes, cuts.iter().cycle());
    std::iter::from_fn(move || {
        let (chunk, after) = rest.split_at(rest.len().min(*cuts.next()?));
        rest = after;
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn captured(
    bytes: &[u8],
    cuts: &[usize],
    policy: &Policy,
    clean: Option<CleanOptions>,
    is_text: bool,
) -> Vec<CapturedStream> {
    let mut capture = Capture::new(policy, clean, false, false);
    for chunk in chunks(bytes, cuts) {
        capture.push(0, chunk, is_text);
    }
    capture.finish()
}

fn left(streams: Vec<CapturedStream>, policy: &Policy) -> StreamText {
    CaptureOutput::new(streams, &[(0, "")], "", policy).truncate(0, policy)
}

fn text(left: StreamText) -> String {
    left.cut.middle
}

/// Returns the truncated whole.
fn of_whole<T: Text>(input: Input<T>, policy: &Policy) -> String {
    let cut = truncate(&input, policy);
    String::from_utf16(&cut.map_or_else(|| input.all(), |cut| cut.text(&input))).unwrap()
}

fn of_bytes(bytes: &[u8], policy: &Policy) -> String {
    of_whole(Input::whole(Utf8(bytes)), policy)
}

fn of_units(units: &[u16], policy: &Policy) -> String {
    of_whole(Input::whole(Utf16(units)), policy)
}

fn units(utf8: &[u8]) -> Vec<u16> {
    String::from_utf8_lossy(utf8).encode_utf16().collect()
}

fn is_within(text: &str, limits: &Limits) -> bool {
    let longest = text.lines().map(str::len).max().unwrap_or(0);
    Extent::of(Utf8(text.as_bytes()), limits).fits(limits) && longest <= limits.line_bytes
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn captured_bytes_equal_the_truncated_whole(bytes in output(), cuts in cuts(), policy in policy()) {
        let streams = captured(&bytes, &cuts, &policy, None, false);
        prop_assume!(!streams[0].came().is_binary());
        prop_assert_eq!(text(left(streams, &policy)), of_bytes(&bytes, &policy));
    }

    #[test]
    fn captured_strings_equal_the_truncated_whole(bytes in output(), cuts in cuts(), policy in policy()) {
        let bytes = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
        let streams = captured(&bytes, &cuts, &policy, None, true);
        prop_assume!(!streams[0].came().is_binary());
        prop_assert_eq!(text(left(streams, &policy)), of_units(&units(&bytes), &policy));
    }

    #[test]
    fn cleaned_output_equals_the_truncated_cleaned_whole(bytes in output(), cuts in cuts(), policy in policy(), options in cleaning()) {
        let streams = captured(&bytes, &cuts, &policy, Some(options), false);
        prop_assume!(!streams[0].came().is_binary());
        prop_assert_eq!(text(left(streams, &policy)), of_units(&units(&clean(&bytes, options)), &policy));
    }

    #[test]
    fn notices_of_earlier_cuts_are_text(bytes in cut_before(), cuts in cuts(), policy in policy()) {
        let policy = Policy { limits: Limits { line_bytes: UNLIMITED, ..policy.limits }, ..policy };
        let streams = captured(&bytes, &cuts, &policy, None, false);
        prop_assume!(!streams[0].came().is_binary());
        prop_assert_eq!(text(left(streams, &policy)), of_whole(Input::whole(Utf8(&bytes)).fresh(), &policy));
    }

    #[test]
    fn a_snapshot_equals_a_capture_that_ends_there(bytes in output(), cuts in cuts(), policy in policy(), clean in prop::option::of(cleaning())) {
        let mut capture = Capture::new(&policy, clean, false, false);
        let mut came = 0;
        let often = chunks(&bytes, &cuts).count().div_ceil(5);
        for (at, chunk) in chunks(&bytes, &cuts).enumerate() {
            capture.push(0, chunk, false);
            came += chunk.len();
            if at % often == 0 {
                let now = left(capture.clone().finish(), &policy);
                prop_assert_eq!(now, left(captured(&bytes[..came], &[usize::MAX], &policy, clean, false), &policy));
            }
        }
        prop_assert_eq!(left(capture.finish(), &policy), left(captured(&bytes, &[usize::MAX], &policy, clean, false), &policy));
    }

    #[test]
    fn kept_text_is_counted(bytes in output(), cuts in cuts(), policy in policy()) {
        let streams = captured(&bytes, &cuts, &policy, None, false);
        prop_assume!(!streams[0].came().is_binary());
        let came = *streams[0].came();
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert_eq!((came.bytes, came.size.chars), (bytes.len(), whole.encode_utf16().count()));
        prop_assert_eq!(came.lines(), whole.split_inclusive('\n').count());
        let is_long = whole.split_inclusive('\n').any(|line| {
            let content = line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line);
            content.len() > policy.limits.line_bytes
        });
        prop_assert_eq!(streams[0].has_long_line(), is_long);
        let left = left(streams, &policy);
        let input = Input::whole(Utf8(&bytes));
        if let Some(cut) = truncate(&input, &policy) {
            let (ours, kept) = (left.cut.within.clone().unwrap(), cut.kept(&input));
            prop_assert_eq!((ours.size.bytes, ours.size.chars, ours.lines), (kept.size.bytes, kept.size.chars, kept.lines));
            prop_assert_eq!((left.cut.notice.clone(), left.cut.keep), (cut.notice, cut.keep));
        }
        prop_assert_eq!(left.truncated, text(left.clone()) != whole);
    }

    #[test]
    fn separate_streams_share_the_limits(
        outputs in [output(), output()], cuts in cuts(), policy in policy(), closing in prop::sample::select(vec!["", "[exit code 1]"])
    ) {
        let mut capture = Capture::new(&policy, None, true, false);
        let mut both = [chunks(&outputs[0], &cuts), chunks(&outputs[1], &cuts)];
        loop {
            let [out, err] = both.each_mut().map(|chunks| chunks.next());
            if let Some(chunk) = out { capture.push(0, chunk, false); }
            if let Some(chunk) = err { capture.push(1, chunk, false); }
            if out.is_none() && err.is_none() { break }
        }
        let streams = capture.finish();
        for (stream, output) in streams.iter().zip(&outputs) {
            let alone = stream.truncate(Terms::from(&policy));
            if !stream.came().is_binary() {
                prop_assert_eq!(text(alone), of_bytes(output, &policy));
            }
        }
        let captured = CaptureOutput::new(streams, &[(1, "stderr:\n"), (0, "stdout:\n")], closing, &policy);
        let texts: Vec<String> = (0..captured.sections().count()).map(|at| text(captured.truncate(at, &policy))).collect();
        let all = String::from_utf8(captured.compose(&texts.iter().map(String::as_bytes).collect::<Vec<_>>())).unwrap();
        prop_assert!(is_within(&all, &policy.limits), "{all:?}");
        if is_within(closing, &policy.limits) {
            prop_assert!(all.ends_with(closing), "{all:?}");
        }
    }

    #[test]
    fn the_closing_line_is_kept_within_the_limits(bytes in output(), policy in policy()) {
        let closing = "[exit code 137]";
        let streams = captured(&bytes, &[usize::MAX], &policy, None, false);
        let whole = streams[0].clone();
        let captured = CaptureOutput::new(streams, &[(0, "")], closing, &policy);
        let left = captured.truncate(0, &policy);
        let all = String::from_utf8(captured.compose(&[left.cut.middle.as_bytes()])).unwrap();
        prop_assert!(is_within(&all, &policy.limits), "{all:?}");
        prop_assert_eq!(all.ends_with(closing), is_within(closing, &policy.limits));
        // Text that fits beside the line is not truncated.
        let alone = whole.truncate(Terms { limits: Limits::NONE, ..Terms::from(&policy) });
        let together = captured.compose(&[alone.cut.middle.as_bytes()]);
        if !alone.truncated && is_within(&(String::from_utf8(together).unwrap() + "\n"), &policy.limits) && policy.limits.tokens == UNLIMITED {
            prop_assert!(!left.truncated);
        }
    }

    #[test]
    fn an_incomplete_code_point_is_buffered(texts in ["[a漢😀\n]{0,40}", "[b字é\n]{0,40}"], cuts in prop::collection::vec(1..5usize, 1..9)) {
        let policy = Policy { limits: Limits::NONE, ..Policy::default() };
        let mut capture = Capture::new(&policy, None, false, true);
        let mut both = [chunks(texts[0].as_bytes(), &cuts), chunks(texts[1].as_bytes(), &cuts[..1])];
        let mut raw = vec![];
        for turn in 0..(texts[0].len() + texts[1].len()) * 2 {
            if let Some(chunk) = both[turn % 2].next() {
                capture.push(turn % 2, chunk, false);
                raw.extend_from_slice(chunk);
            }
        }
        prop_assert_eq!(capture.take_raw(), raw);
        let all = text(left(capture.finish(), &policy));
        for (at, signs) in ["a漢😀", "b字é"].iter().enumerate() {
            let only = |text: &str| text.chars().filter(|sign| signs.contains(*sign)).collect::<String>();
            prop_assert_eq!(only(&all), only(&texts[at]));
        }
        prop_assert!(!all.contains(char::REPLACEMENT_CHARACTER));
    }
}

#[test]
fn memory_is_bounded_by_the_limits() {
    /// Smaller budgets take as much for the search.
    const BUDGET: usize = 51_200;
    /// A search takes up to twenty budgets and a table, and both windows three budgets each.
    const MOST: usize = 26 * BUDGET + (256 << 10) + Cleaner::MOST_MEMORY;
    let limits = Limits { bytes: BUDGET, ..Limits::NONE };
    let chunk = |part: &str| part.repeat(60_000 / part.len()).into_bytes();
    let streams = [
        ("lines", chunk("a line of output\n")),
        ("no newline", chunk("y")),
        ("zeros", vec![0; 60_000]),
        ("newlines", chunk("\n")),
        ("failures", chunk("error: no such file\n")),
        ("no UTF-8", vec![0xC3; 60_000]),
        ("a bar that is drawn again and again", chunk("\rdownloading ####    ")),
        ("colours", chunk("\x1B[31m\x1B[0m")),
        ("no end of a sequence", chunk("\x1B]x")),
        ("wide", chunk("漢字")),
    ];
    for (name, chunk) in streams {
        for line_bytes in if crate::cases::is_long() { &[UNLIMITED, 100, 0][..] } else { &[100] } {
            for clean in [Some(CleanOptions::ALL), None] {
                let limits = Limits { line_bytes: *line_bytes, ..limits };
                let policy = Policy { limits, keep: Keep::Auto, ..Policy::default() };
                let mut capture = Capture::new(&policy, clean, false, false);
                for _ in 0..100 {
                    capture.push(0, &chunk, false);
                    assert!(capture.memory() <= MOST, "{name}: {}", capture.memory());
                }
                let streams = capture.finish();
                assert_eq!(streams[0].came().bytes, chunk.len() * 100, "{name}");
                let policy = Policy { is_error: true, ..policy };
                assert!(is_within(&text(left(streams, &policy)), &limits), "{name}");
            }
        }
    }
}

#[test]
fn limits_on_lines_or_tokens_bound_memory_too() {
    let lines = if crate::cases::is_long() { 1_000_000 } else { 300_000 };
    for limits in [Limits { lines: 100, ..Limits::NONE }, Limits { tokens: 2_000, ..Limits::NONE }] {
        for keep in [Keep::Head, Keep::Ends, Keep::Findings, Keep::Relevant] {
            let policy = Policy { limits, keep, ..Policy::default() };
            let mut capture = Capture::new(&policy, None, false, true);
            for n in 0..lines {
                capture.push(0, format!("line {n} of many\n").as_bytes(), true);
                if capture.is_over() {
                    capture.take_raw();
                }
            }
            // A token may stand for 200 bytes, and a window holds both ends.
            assert!(capture.memory() < 4 << 20, "{limits:?} {keep:?}: {}", capture.memory());
            assert!(is_within(&text(left(capture.finish(), &policy)), &limits));
        }
    }
}

#[test]
fn binary_output_is_replaced_by_its_size() {
    let policy = Policy { saved: SavedPart::Whole(Location::Path("/tmp/out".into())), ..Policy::default() };
    for (bytes, is_binary) in [
        (vec![0; 100], true),
        ((0..=255).cycle().take(5_000).collect(), true),
        ("a\0b\0".as_bytes().repeat(100), true),
        (b"./src/lib.rs\0./src/main.rs\0".repeat(100), false),
        ("\u{1B}[31m\u{8}\u{7}\r\n".as_bytes().repeat(100), false),
        (b"Gr\xFC\xDFe aus K\xF6ln\n".repeat(100), false),
        ("漢字".as_bytes().repeat(100), false),
        (vec![0, 0xFF], false),
    ] {
        let streams = captured(&bytes, &[7], &policy, None, false);
        let named = format!("[binary output, {} bytes; saved as /tmp/out]", bytes.len());
        assert_eq!(streams[0].came().is_binary(), is_binary, "{named}");
        assert_eq!(text(left(streams, &policy)) == named, is_binary, "{named}");
    }
}

#[test]
fn the_smaller_stream_stays_whole() {
    let policy = Policy { keep: Keep::Findings, ..Policy::default() };
    let mut capture = Capture::new(&policy, None, true, false);
    for _ in 0..20_000 {
        capture.push(0, &b"one more line of progress\n".repeat(40), false);
    }
    capture.push(1, b"note: three\nlines\nof it", false);
    let captured =
        CaptureOutput::new(capture.finish(), &[(0, "stdout:\n"), (1, "stderr:\n")], "[exit code 0]", &policy);
    let texts = [0, 1].map(|at| captured.truncate(at, &policy));
    assert!(texts[0].truncated && !texts[1].truncated);
    let all = String::from_utf8(captured.compose(&[0, 1].map(|at| texts[at].cut.middle.as_bytes()))).unwrap();
    assert!(all.starts_with("stdout:\none more line") && all.len() <= 51_200 && all.len() > 45_000);
    assert!(all.ends_with("\nstderr:\nnote: three\nlines\nof it\n[exit code 0]"));
}
