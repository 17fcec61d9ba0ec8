//! Findings do not depend on chunks, hold the limits, and their ranges are those of the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillway::findings::{Findings, Found, Request};
use spillway::limits::{Limits, UNLIMITED};
use spillway::policy::Policy;

fn found(chunks: &[&[u8]], policy: &Policy) -> Option<Found> {
    let mut findings = Findings::new(&policy.limits, &policy.needles);
    for chunk in chunks {
        findings.push(chunk);
    }
    findings.finish();
    findings.clamp(&Request::of(policy, findings.size()))
}

fuzz_target!(|input: &[u8]| {
    let choose = |choices: &mut _| Ok((spillway_fuzz::policy(choices)?, choices.arbitrary::<[u8; 3]>()?));
    spillway_fuzz::with(input, choose, |(policy, lengths), bytes| {
        let limits = Limits { line_bytes: UNLIMITED, ..policy.limits };
        let policy = Policy { limits, ..policy };
        let text = String::from_utf8_lossy(bytes);
        let whole = found(&[text.as_bytes()], &policy);
        assert_eq!(found(&spillway_fuzz::chunks(text.as_bytes(), &lengths), &policy), whole);
        let Some(found) = whole else { return };
        spillway_fuzz::assert_within(&found.text, &limits);
        let units: Vec<u16> = text.encode_utf16().collect();
        for pair in found.ranges.windows(2) {
            assert!(pair[0].end < pair[1].start);
        }
        for range in found.ranges {
            let part = String::from_utf16(&units[range]).expect("a range is well-formed");
            assert!(found.text.contains(&part));
        }
    });
});
