//! Rows that come while the calls of a session are paired. They may hold the result that a call
//! lacks, so an earlier decision no longer holds.

use spillway::session::undo::{Undo, undo};

use super::exchange::{Place, place};
use super::*;

/// A session that ends with a call, its result, and other words behind it.
struct Case {
    call: &'static str,
    result: String,
    words: String,
}

fn cases() -> [Case; 2] {
    let found = "found ".repeat(400);
    let call = r#"{"type":"session","version":3,"id":"s"}
{"type":"message","id":"0000000a","parentId":null,"message":{"role":"user","content":"Look."}}
{"type":"message","id":"0000000b","parentId":"0000000a","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"t","arguments":{}}]}}
"#;
    let row = |message: &str| {
        let row = r#"{"type":"message","id":"0000000c","parentId":"0000000b","message":"#;
        format!("{row}{message}}}\n")
    };
    let result = format!(
        r#"{{"role":"toolResult","toolCallId":"c1","toolName":"t","content":[{{"type":"text","text":"{found}"}}]}}"#
    );
    let words = r#"{"role":"user","content":"Go on."}"#;
    let linked = Case { call, result: row(&result), words: row(words) };
    let call = r#"{"role":"user","content":"Look."}
{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}]}
"#;
    let result = format!("{{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{found}\"}}\n");
    [linked, Case { call, result, words: format!("{words}\n") }]
}

/// Returns the rows that are sent: with ids, those from the last one back over the row before it.
fn sent(path: &Path) -> Vec<String> {
    let all = text(path);
    let mut before = None;
    let mut rows: Vec<String> = vec![];
    for row in all.lines().rev() {
        let of = |name: &str| row.split_once(&format!("\"{name}\":\"")).map(|(_, rest)| rest[..8].to_owned());
        let is_sent = before.is_none() || of("id") == before;
        if is_sent || !all.contains("parentId") {
            rows.push(row.to_owned());
            before = of("parentId");
        }
    }
    rows
}

/// Repairs calls and results without a lock, and appends a row before a step. Returns the number of
/// steps.
fn paired_while(path: &Path, late: String, at: u64) -> (Result<RepairReport, Failure>, u64) {
    let writer = fs::OpenOptions::new().append(true).open(path).unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let watch = Progress::with_hook(move |step| {
        count.store(step + 1, Relaxed);
        if step == at {
            (&writer).write_all(late.as_bytes()).unwrap();
        }
    });
    let outcome = repair(&RepairRequest { lock: false, pairs: true, ..request(path) }, &watch);
    (outcome, steps.load(Relaxed))
}

fn undone(path: &Path) {
    let request = Undo {
        path: path.to_owned(),
        first: false,
        keep_appended: true,
        discard_changes: false,
        born: SystemTime::now(),
    };
    undo(&request, &Progress::default()).unwrap();
}

/// Appends a row at every step of a repair, until the row comes behind the last step. Calls `judge`
/// each time with the session, the outcome, and the bytes that writers gave the session.
fn at_every_step(call: &str, late: &str, judge: impl Fn(&Place, Result<RepairReport, Failure>, &str)) {
    for at in 0.. {
        let place = place(call);
        let (outcome, steps) = paired_while(&place.path, late.to_owned(), at);
        let has_come = at < steps;
        judge(&place, outcome, &[call, if has_come { late } else { "" }].concat());
        if !has_come {
            assert!(at > 20, "{at} steps");
            break;
        }
    }
}

#[test]
fn a_result_that_comes_meanwhile_is_the_only_one_that_is_sent() {
    for Case { call, result, .. } in cases() {
        let seen = [const { AtomicU64::new(0) }; 3];
        at_every_step(call, &result, |place, outcome, written| {
            let path = &place.path;
            let is_made = text(path).contains("[No result");
            match outcome {
                // It came with the last look, and nothing was written.
                Err(failure) => {
                    assert!(matches!(failure, Failure::Changed(_)), "{failure:?}");
                    assert!(text(path) == written);
                    seen[0].fetch_add(1, Relaxed);
                }
                // It came after that, and is carried over.
                Ok(_) if is_made => _ = seen[1].fetch_add(1, Relaxed),
                Ok(_) => _ = seen[2].fetch_add(1, Relaxed),
            }
            repair(&RepairRequest { lock: false, pairs: true, ..request(path) }, &Progress::default())
                .unwrap();
            let sent = sent(path).join("\n");
            let is_there = written.contains("found") && text(path).contains("found");
            let results = sent.matches("[No result").count() + sent.matches("found found").count().min(1);
            assert!(results == 1 && sent.contains("found") == is_there, "{sent}");
            assert!(!place.names().iter().any(|name| name.contains("spillway-")), "{:?}", place.names());
        });
        assert!(seen.iter().all(|seen| seen.load(Relaxed) > 0), "{seen:?}");
    }
}

#[test]
fn rows_that_come_meanwhile_are_there_once_after_an_undo() {
    for Case { call, result, words } in cases() {
        for late in [result, words] {
            at_every_step(call, &late, |place, outcome, written| {
                let path = &place.path;
                if outcome.is_ok_and(|report| report.changed) {
                    undone(path);
                }
                assert!(text(path) == written, "{}", text(path));
            });
        }
    }
}
