//! Findings and relevant lines do not depend on chunks, hold the limits, and their ranges are those
//! of the input.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use spillway::encoding::Utf8;
use spillway::selection::{Selection, SearchTerms};
use spillway::limits::{Limits, UNLIMITED};
use spillway::policy::Policy;
use spillway::truncate::input::Input;
use spillway::truncate::{Cut, Terms, compose};

fn found(text: &str, chunks: &[&[u8]], policy: &Policy) -> Option<Cut> {
    let mut selection = Selection::new(&policy.limits, SearchTerms::of(policy));
    for chunk in chunks {
        selection.push(chunk);
    }
    selection.finish();
    compose::cut(&selection, &Input::whole(Utf8(text.as_bytes())), Terms::from(policy), None)
}

fuzz_target!(|input: &[u8]| {
    let choose =
        |choices: &mut Unstructured| Ok((spillway_fuzz::policy(choices)?, choices.arbitrary::<[u8; 3]>()?));
    spillway_fuzz::with(input, choose, |(policy, lengths), bytes| {
        let limits = Limits { line_bytes: UNLIMITED, ..policy.limits };
        let policy = Policy { limits, ..policy };
        let text = String::from_utf8_lossy(bytes);
        let whole = found(&text, &[text.as_bytes()], &policy);
        assert_eq!(found(&text, &spillway_fuzz::chunks(text.as_bytes(), &lengths), &policy), whole);
        let Some(found) = whole else { return };
        let input = Input::whole(Utf8(text.as_bytes()));
        let left = String::from_utf16(&found.text(&input)).expect("findings are well-formed");
        spillway_fuzz::assert_within(&left, &limits);
        let ranges = found.kept(&input).ranges;
        for pair in ranges.windows(2) {
            assert!(pair[0].end < pair[1].start);
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        for range in ranges {
            let part = String::from_utf16(&units[range]).expect("a range is well-formed");
            assert!(left.contains(&part));
        }
    });
});
