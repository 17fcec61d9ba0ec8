//! Laws of texts that are cut repeatedly: the amounts that their notices name.

use std::ops::Range;

use crate::cases::cases;
use crate::keeps::KEEPS;
use proptest::prelude::*;
use spillway::encoding::{Text, Utf8, Utf16};
use spillway::limits::Limits;
use spillway::notice::saved::{Location, SavedPart};
use spillway::notice::{Notice, parse};
use spillway::policy::Policy;
use spillway::truncate::input::Input;
use spillway::truncate::{Cut, truncate};

/// One unit of a text, and true if it belongs to the original.
type Unit = (u16, bool);

/// Generates texts that do not contain parts of notices or marks.
fn original() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => "[A-Z]{0,30}\n",
        1 => "ERROR:[A-Z]{3}\n",
        1 => "漢字ERROR:É[A-Z]{9}😀\n",
        1 => "[A-Z]{100}\n",
    ];
    prop::collection::vec(line, 20..200).prop_map(|lines| lines.concat())
}

fn policy() -> impl Strategy<Value = Policy> {
    let keep = prop::sample::select(&KEEPS[..5]);
    let notice = prop_oneof![
        2 => Just(Notice::Hint),
        1 => Just(Notice::Pi),
        1 => Just(Notice::Count),
        1 => Just(Notice::Glued(Box::new(Notice::Pi))),
    ];
    (keep, notice, 0.0..=1.0f64, any::<bool>()).prop_map(|(keep, notice, head_share, snap)| Policy {
        keep,
        notice,
        head_share,
        snap,
        ..Policy::default()
    })
}

/// Cuts a text. Returns the cut, its text, and the kept ranges.
fn cut_input<T: Text>(input: &Input<T>, policy: &Policy) -> Option<(Cut, Vec<u16>, Vec<Range<usize>>)> {
    let cut = truncate(input, policy)?;
    let (out, kept) = (cut.text(input), cut.kept(input));
    Some((cut, out, kept.ranges))
}

/// Cuts a text. Returns the result, with the origin of its units, and the notice, or `None` if the
/// text fits.
fn cut(text: &[Unit], as_bytes: bool, policy: &Policy) -> Option<(Vec<Unit>, String)> {
    let units: Vec<u16> = text.iter().map(|(unit, _)| *unit).collect();
    let bytes = String::from_utf16(&units).unwrap();
    let (cut, out, ranges) = if as_bytes {
        cut_input(&Input::whole(Utf8(bytes.as_bytes())), policy)?
    } else {
        cut_input(&Input::whole(Utf16(&units)), policy)?
    };
    let mut left: Vec<Unit> = out.iter().map(|unit| (*unit, false)).collect();
    let (mut from, last) = (0, ranges.len().saturating_sub(1));
    for (nth, range) in ranges.into_iter().enumerate() {
        let part = &units[range.clone()];
        let is_tail = nth == last && cut.within.is_none() && cut.sides.has_tail();
        let first = if is_tail { out.len() - part.len() } else { from };
        let at = (first..=out.len() - part.len()).find(|&at| out[at..].starts_with(part)).unwrap();
        left[at..at + part.len()].copy_from_slice(&text[range]);
        from = at + part.len();
    }
    let notice = String::from_utf16(&out[cut.notice]).unwrap();
    Some((left, notice))
}

proptest! {
    #![proptest_config(cases(4))]

    #[test]
    fn every_notice_names_the_amount_omitted_from_the_original(
        original in original(),
        is_saved in any::<bool>(),
        cuts in prop::collection::vec((policy(), 0.3..0.9f64, any::<bool>()), 1..5),
    ) {
        let mut text: Vec<Unit> = original.encode_utf16().map(|unit| (unit, true)).collect();
        let chars = text.len();
        let (mut counted, mut crossed) = (None, false);
        let mut before: Vec<String> = vec![];
        let mut searched = false;
        for (steps, (policy, part, as_bytes)) in (1..).zip(cuts) {
            let policy = Policy {
                limits: Limits { chars: (text.len() as f64 * part) as usize, ..Limits::NONE },
                saved: if is_saved && steps == 1 { SavedPart::Whole(Location::Id("a1".into())) } else { SavedPart::Nowhere },
                ..policy
            };
            let show = |text: &[Unit]| String::from_utf16(&text.iter().map(|(unit, _)| *unit).collect::<Vec<_>>()).unwrap();
            let whole = show(&text);
            let Some((left, notice)) = cut(&text, as_bytes, &policy) else { continue };
            text = left;
            let shown = show(&text);
            // After a notice without an amount, later ones cannot count against the original.
            let first = notice.lines().next().unwrap_or_default();
            let Some((told, in_bytes)) = parse::parse(first.as_bytes()) else { return Ok(()) };
            crossed |= counted.is_some_and(|counted| counted != in_bytes);
            counted = Some(in_bytes);
            let kept: Vec<u16> = text.iter().filter(|unit| unit.1).map(|unit| unit.0).collect();
            let bytes = original.len() - String::from_utf16(&kept).unwrap().len();
            let missing = if in_bytes { bytes } else { chars - kept.len() };
            searched |= policy.searches();
            if original.is_ascii() || !crossed {
                // Newlines around an earlier notice may remain beside a mark without belonging to
                // the original.
                let spare = if searched { 4 * steps } else { 0 };
                prop_assert!((missing.saturating_sub(spare)..=missing + spare).contains(&told), "{told} for {missing}: {shown:?} of {whole:?}");
            }
            // A char is one to three bytes.
            prop_assert!(told <= bytes + 4 * steps && chars - kept.len() <= told * 3, "{told} of {missing}: {shown}");
            // A notice between both ends describes the gap at its position. Other old notices must
            // be dropped.
            let stale = before.iter().filter(|old| !notice.contains(&***old) && shown.contains(&**old)).count();
            prop_assert!(stale == 0, "{before:?} in {shown:?}");
            let is_at_end = shown.starts_with(&notice) || shown.ends_with(&notice);
            before.extend(is_at_end.then_some(notice));
        }
    }
}
