//! A cut holds every limit, is well-formed, is the same for strings and bytes, and a second one
//! changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillway::encoding::{Text, Utf8, Utf16};
use spillway::notice::Notice;
use spillway::policy::Policy;
use spillway::truncate::input::Input;
use spillway::truncate::truncate;

fn truncated<T: Text>(text: T, policy: &Policy) -> String {
    let input = Input::whole(text);
    let units = truncate(&input, policy).map_or_else(|| input.all(), |cut| cut.text(&input));
    String::from_utf16(&units).expect("a cut is well-formed")
}

fuzz_target!(|input: &[u8]| {
    spillway_fuzz::with(input, spillway_fuzz::policy, |policy, text| {
        let once = truncated(Utf8(text), &policy);
        spillway_fuzz::assert_within(&once, &policy.limits);
        assert_eq!(truncated(Utf8(once.as_bytes()), &policy), once);
        // The hint counts bytes in bytes and strings in chars, and invalid bytes are not the bytes
        // of their U+FFFD.
        if let (Ok(text), true) = (str::from_utf8(text), policy.notice != Notice::Hint) {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(truncated(Utf16(&units), &policy), once);
        }
    });
});
