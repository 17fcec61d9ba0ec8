//! Inputs of the targets: a few choices, which make a policy, and then the text.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use spillway::clean;
use spillway::encoding::Utf8;
use spillway::extent::Extent;
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::saved::{Location, SavedPart};
use spillway::policy::{Keep, Policy};

/// Calls a law with a part of the choices and the bytes that remain. Inputs that are too short are
/// not tried.
pub fn with<T>(
    input: &[u8],
    choose: impl FnOnce(&mut Unstructured) -> Result<T>,
    law: impl FnOnce(T, &[u8]),
) {
    let mut choices = Unstructured::new(input);
    if let Ok(chosen) = choose(&mut choices) {
        law(chosen, choices.take_rest());
    }
}

fn limit(choices: &mut Unstructured, most: usize) -> Result<usize> {
    Ok(if choices.arbitrary()? { choices.int_in_range(0..=most)? } else { UNLIMITED })
}

pub fn limits(choices: &mut Unstructured) -> Result<Limits> {
    Ok(Limits {
        bytes: limit(choices, 2_000)?,
        lines: limit(choices, 60)?,
        chars: limit(choices, 2_000)?,
        tokens: limit(choices, 600)?,
        line_bytes: limit(choices, 200)?,
    })
}

pub fn policy(choices: &mut Unstructured) -> Result<Policy> {
    let keeps = [Keep::Head, Keep::Tail, Keep::Ends, Keep::Findings, Keep::Relevant, Keep::Auto];
    let template = "<{omittedBytes:,} of {totalLines}: {keptLines}, {saved}>";
    let notices = [
        Notice::Hint,
        Notice::None,
        Notice::Pi,
        Notice::Count,
        Notice::Template(template.into()),
        Notice::Literal("two\nlines 漢".into()),
    ];
    let saved =
        [SavedPart::Nowhere, SavedPart::Whole(Location::Path("/tmp/漢.log".into())), SavedPart::Failed("ENOSPC".into())];
    Ok(Policy {
        limits: limits(choices)?,
        keep: *choices.choose(&keeps)?,
        head_share: f64::from(choices.arbitrary::<u8>()?) / 255.0,
        snap: choices.arbitrary()?,
        notice: choices.choose(&notices)?.clone(),
        saved: choices.choose(&saved)?.clone(),
        is_error: choices.arbitrary()?,
        needles: vec!["aa".into(), "漢".into()],
        query: vec!["aa src/a.rs".into(), "漢字".into()],
        ..Policy::default()
    })
}

pub fn cleaning(choices: &mut Unstructured) -> Result<clean::CleanOptions> {
    Ok(clean::CleanOptions::from(choices.arbitrary::<[bool; 5]>()?))
}

/// Splits bytes into chunks of these lengths, again and again.
pub fn chunks<'a>(bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = vec![];
    for length in lengths.iter().cycle() {
        let (chunk, after) = rest.split_at(rest.len().min(1 + usize::from(*length)));
        chunks.push(chunk);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    chunks
}

/// Asserts that a text holds all limits.
pub fn assert_within(text: &str, limits: &Limits) {
    let text_limits = Limits { line_bytes: UNLIMITED, ..*limits };
    assert!(Extent::of(Utf8(text.as_bytes()), &text_limits).fits(&text_limits), "{limits:?}: {text:?}");
    let longest = text.lines().map(str::len).max().unwrap_or(0);
    assert!(longest <= limits.line_bytes, "{limits:?}: {text:?}");
}
