//! A cut holds every limit, is well-formed, is the same for strings and bytes, and a second one changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillway::lined::clamp_lines;
use spillway::outcome;
use spillway::policy::Policy;
use spillway::text::notice::Notice;
use spillway::text::{Source, Text, Utf8, Utf16};

fn clamp<T: Text>(text: T, policy: &Policy) -> String {
    let source = Source::whole(text);
    let units = match clamp_lines(text, policy) {
        Some(lined) => lined.text,
        None => outcome::clamp(&source, &policy.limits, policy, &policy.notice)
            .map_or_else(|| source.all(), |outcome| outcome.text(&source)),
    };
    String::from_utf16(&units).expect("a cut is well-formed")
}

fuzz_target!(|input: &[u8]| {
    spillway_fuzz::with(input, spillway_fuzz::policy, |policy, text| {
        let once = clamp(Utf8(text), &policy);
        spillway_fuzz::assert_within(&once, &policy.limits);
        assert_eq!(clamp(Utf8(once.as_bytes()), &policy), once);
        // The hint counts bytes in bytes and strings in chars.
        if policy.notice != Notice::Hint {
            let units: Vec<u16> = String::from_utf8_lossy(text).encode_utf16().collect();
            assert_eq!(clamp(Utf16(&units), &policy), once);
        }
    });
});
