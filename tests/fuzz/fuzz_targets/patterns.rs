//! Search expressions are refused or searched: a match lies within its part, and a plain text is
//! found where it stands.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use spillway::spill::line_reader::LineReader;
use spillway::spill::pattern::SearchPattern;

fuzz_target!(|input: &[u8]| {
    let choose =
        |choices: &mut Unstructured| Ok((choices.arbitrary::<bool>()?, choices.int_in_range(0..=64)?));
    spillway_fuzz::with(input, choose, |(ignore_case, length), bytes| {
        let (pattern, text) = bytes.split_at(length.min(bytes.len()));
        let Ok(pattern) = std::str::from_utf8(pattern) else { return };
        let plain = SearchPattern::plain(pattern, ignore_case).expect("a short text is a pattern");
        let regex = SearchPattern::regex(pattern, ignore_case);
        let mut reader = LineReader::new(0, 1);
        reader.fill(text);
        reader.end();
        while let Some(part) = reader.next_part() {
            let stands = memmem(part.bytes, pattern.as_bytes());
            let found = plain.find(&part, 0);
            if !ignore_case && part.begins && part.ends {
                assert_eq!(found.clone().map(|found| found.start), stands);
            }
            for found in
                [found, regex.as_ref().ok().and_then(|regex| regex.find(&part, 0))].into_iter().flatten()
            {
                assert!(found.start <= found.end && found.end <= part.bytes.len());
            }
        }
    });
});

fn memmem(text: &[u8], part: &[u8]) -> Option<usize> {
    (0..=text.len().checked_sub(part.len())?).find(|&at| text[at..].starts_with(part))
}
