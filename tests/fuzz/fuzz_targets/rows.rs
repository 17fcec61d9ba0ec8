//! Repaired rows of a stored session stay JSON with the same members around the texts, one row
//! each; a second repair changes nothing.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use spillway::dialect::Table;
use spillway::dialect::structured::CopyChoice;
use spillway::policy::{Policy, Share};
use spillway::slots::slot_rules::SlotRules;
use spillway::session::prefilter::Prefilter;
use spillway::session::rewrite_row::{RowOptions, SideData};
use spillway::session::rows::{RowReader, Row};

/// Returns a file as a repair without a budget leaves it.
fn repaired(file: &[u8], options: &RowOptions) -> Vec<u8> {
    let (mut reading, gate) = (RowReader::default(), Prefilter::of(options));
    let mut out = vec![];
    for row in file.split_inclusive(|byte| *byte == b'\n') {
        let read = reading.next(row);
        let document = read.as_ref().and_then(Row::document);
        let new = read.zip(document.as_ref()).map(|(read, document)| {
            out.extend_from_slice(&row[..row.len() - read.text.len()]);
            let new = options.rewrite(read.text, &read.entry(document), &[], &[], &mut |_| vec![]).row;
            assert!(new.is_none() || gate.may_matter(read.text), "{}", String::from_utf8_lossy(row));
            new.unwrap_or_else(|| read.text.to_vec())
        });
        out.extend_from_slice(new.as_deref().unwrap_or(row));
    }
    out
}

fuzz_target!(|input: &[u8]| {
    Table::set(include_str!("../../../src/dialects.json")).expect("the table is read");
    let choose = |choices: &mut Unstructured| {
        let share = *choices.choose(&[Share::Fair, Share::Order, Share::Each])?;
        let policy = Policy { share, ..spillway_fuzz::policy(choices)? };
        let side =
            [SideData::Keep, SideData::Drop, SideData::Cap { max: choices.int_in_range(0..=900)?, spare: 0 }];
        let side = *choices.choose(&side)?;
        Ok(RowOptions { rules: SlotRules { policy, clean: None }, side, structured: CopyChoice::Both, asks: true, media: None, dialect: None })
    };
    spillway_fuzz::with(input, choose, |options, file| {
        let once = repaired(file, &options);
        let rows = |file: &[u8]| file.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        let (before, after) = (rows(file), rows(&once));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            if serde_json::from_slice::<Value>(before).is_ok() {
                assert!(serde_json::from_slice::<Value>(after).is_ok(), "{}", String::from_utf8_lossy(after));
            }
        }
        let twice = repaired(&once, &options);
        assert!(twice == once, "{}\n{}", String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
    });
});
