//! Clean text does not depend on chunks, is UTF-8, and cleaning it again changes nothing. Memory is
//! bounded.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use spillway::clean::{Cleaner, clean};

fuzz_target!(|input: &[u8]| {
    let choose =
        |choices: &mut Unstructured| Ok((spillway_fuzz::cleaning(choices)?, choices.arbitrary::<[u8; 3]>()?));
    spillway_fuzz::with(input, choose, |(options, lengths), bytes| {
        let (mut cleaner, mut out) = (Cleaner::new(options), vec![]);
        for chunk in spillway_fuzz::chunks(bytes, &lengths) {
            cleaner.push(chunk, &mut out);
            assert!(cleaner.memory() <= Cleaner::MOST_MEMORY);
        }
        // A snapshot changes nothing.
        cleaner.clone().finish(&mut vec![]);
        cleaner.finish(&mut out);
        let text = String::from_utf8(out).expect("clean text is UTF-8");
        assert_eq!(text.as_bytes(), clean(bytes, options));
        assert_eq!(text.as_bytes(), clean(text.as_bytes(), options));
    });
});
