//! Faults of a repair: it is killed at every step, two run at once, a writer appends meanwhile. The
//! file is the old one or the new one, never a mix, and nothing that is left behind keeps the next
//! repair from its work.

#![cfg(unix)]

mod ended;
mod exchange;
mod paired;
mod rights;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use spillway::dialect::Table;
use spillway::limits::Limits;
use spillway::platform;
use spillway::policy::Policy;
use spillway::session::failure::Failure;
use spillway::session::lock::Lock;
use spillway::session::progress::Progress;
use spillway::session::repair::{RepairRequest, repair};
use spillway::session::report::RepairReport;
use spillway::session::rewrite_row::{RowOptions, SideData};
use spillway::slots::slot_rules::SlotRules;

/// Returns true if all steps are tried.
fn is_long() -> bool {
    std::env::var("SPILLWAY_CASES").is_ok()
}

fn request(path: &Path) -> RepairRequest {
    Table::set(include_str!("../../src/dialects.json")).unwrap();
    let policy = Policy { limits: Limits { bytes: 400, ..Limits::NONE }, ..Policy::default() };
    let rules = SlotRules { policy, clean: None };
    RepairRequest {
        path: path.to_owned(),
        options: RowOptions {
            rules,
            side: SideData::Cap { max: 100, spare: 0 },
            asks: true,
            ..RowOptions::default()
        },
        budget: None,
        backup: true,
        dry_run: false,
        lock: true,
        mend: false,
        pairs: false,
        born: SystemTime::now(),
    }
}

/// A session of some megabytes in which every third row is too long.
fn session() -> String {
    let row = |at: usize| {
        let text = if at.is_multiple_of(3) { "too long ".repeat(4_000) } else { "short".into() };
        format!("{{\"role\":\"tool\",\"tool_call_id\":\"{at}\",\"content\":\"{text}\"}}\n")
    };
    (0..200).map(row).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    format!("{}{end}", path.display()).into()
}

/// Identifies a file.
fn number(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| platform::number(&found))
}

/// The outcome of a repair, and its number of steps.
fn repaired(given: &str, lock: bool) -> (String, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, given).unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let watch = Progress::with_hook(move |step| count.store(step + 1, Relaxed));
    assert!(repair(&RepairRequest { lock, ..request(&path) }, &watch).unwrap().changed);
    (text(&path), steps.load(Relaxed))
}

const SESSION: &str = "SPILLWAY_TEST_SESSION";
const STEP: &str = "SPILLWAY_TEST_STEP";
const BACKUP: &str = "SPILLWAY_TEST_BACKUP";

/// The files of a session that was repaired.
const REPAIRED: [&str; 4] = ["s.jsonl", "s.jsonl.bak", "s.jsonl.bak.latest", "s.jsonl.bak.note"];

/// A row that comes while a session is repaired.
const LATE: &str = "{\"role\":\"user\",\"content\":\"late\"}\n";

/// Calls `act` at each step of a repair.
fn repair_while(path: &Path, act: impl Fn(u64) + Send + Sync + 'static) -> Result<RepairReport, Failure> {
    repair(&RepairRequest { lock: false, ..request(path) }, &Progress::with_hook(act))
}

#[test]
fn rows_that_come_meanwhile_are_carried_over() {
    let old: String = session().lines().take(30).map(|row| format!("{row}\n")).collect();
    let (new, steps) = repaired(&old, false);
    for at in 0..steps {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let file = path.clone();
        let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
        let result = repair_while(&path, move |step| {
            if step == at {
                (&writer).write_all(LATE.as_bytes()).unwrap();
            }
        });
        let report = result.unwrap_or_else(|failure| panic!("step {at} of {steps}: {failure:?}"));
        // A row that is written after the last look is in the old file alone, which is kept.
        let found = text(&file);
        let is_late = at + 3 >= steps;
        assert!(found == format!("{new}{LATE}") || is_late && found == new, "step {at} of {steps}");
        assert!(text(&with_end(&file, ".bak")) == format!("{old}{LATE}"));
        assert_eq!(report.bytes_after, found.len() as u64);
    }
}

#[test]
fn a_row_that_comes_in_two_pieces_is_not_lost() {
    let old: String = session().lines().take(30).map(|row| format!("{row}\n")).collect();
    let (new, steps) = repaired(&old, false);
    let (start, end) = ("{\"role\":\"user\",\"con", "tent\":\"late\"}");
    let after = |first: u64, second: u64| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
        repair_while(&path, move |step| {
            if step == first {
                (&writer).write_all(start.as_bytes()).unwrap();
            }
            if step == second {
                (&writer).write_all(format!("{end}\n").as_bytes()).unwrap();
            }
        })
        .unwrap();
        text(&path)
    };
    let whole = format!("{new}{start}{end}\n");
    assert!(after(0, steps / 2) == whole);
    // If its end came after the last look, its start has a newline already, and the row comes once
    // more.
    let twice = format!("{new}{start}\n{start}{end}\n");
    let mut again = 0;
    for second in 2..steps {
        let found = after(1, second);
        assert!(found == whole || found == twice, "{second} of {steps}");
        again += u64::from(found == twice);
    }
    assert!(again > 0 && again < steps / 4, "{again} of {steps}");
}

#[test]
fn what_is_put_aside_is_there_once_whenever_a_repair_stops() {
    let rows: Vec<String> = session().lines().take(9).map(str::to_owned).collect();
    let torn = &rows[0][..50];
    let old = format!("{}\n{torn}{}{}\n\0\0{}\n", rows[1], rows[2], rows[3], rows[4]);
    let whole: String = rows[1..5].iter().map(|row| format!("{row}\n")).collect();
    let (new, _) = repaired(&whole, false);
    let mended = |path: &Path, at: Option<u64>| {
        let watch = Arc::new_cyclic(|own: &std::sync::Weak<Progress>| {
            let own = own.clone();
            Progress::with_hook(move |step| {
                if Some(step) == at {
                    own.upgrade().unwrap().stop();
                }
            })
        });
        repair(&RepairRequest { lock: false, mend: true, ..request(path) }, &watch)
    };
    let mut stopped = 0;
    for at in 0..60 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let is_stopped = mended(&path, Some(at)).is_err();
        assert!(text(&path) == *if is_stopped { &old } else { &new }, "step {at}");
        stopped += u64::from(is_stopped);
        mended(&path, None).unwrap();
        assert!(text(&path) == new, "step {at}");
        assert_eq!(text(&with_end(&path, ".damaged")), format!("{torn}\n"), "step {at}");
        assert_eq!(names(dir.path()), [&REPAIRED[..], &["s.jsonl.damaged"]].concat());
    }
    assert!(stopped > 5, "{stopped}");
}

#[test]
fn a_stop_after_the_rename_loses_no_row() {
    let old = session();
    let (new, steps) = repaired(&old, false);
    let late = session().lines().next().unwrap().to_owned() + "\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, &old).unwrap();
    let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let row = late.clone();
    let watch = Arc::new_cyclic(|own: &std::sync::Weak<Progress>| {
        let own = own.clone();
        Progress::with_hook(move |step| {
            if step == steps - 2 {
                (&writer).write_all(row.as_bytes()).unwrap();
                own.upgrade().unwrap().stop();
            }
        })
    });
    let report = repair(&RepairRequest { lock: false, ..request(&path) }, &watch).unwrap();
    assert_eq!(report.rows, 201);
    assert!(text(&path) == new + &repaired(&late, false).0);
}

#[test]
fn a_directory_that_moves_away_keeps_both_files() {
    let old = session();
    let (new, _) = repaired(&old, false);
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    fs::create_dir(&here).unwrap();
    let path = here.join("s.jsonl");
    fs::write(&path, &old).unwrap();
    let (from, to, first) = (here.clone(), there.clone(), number(&path));
    let result = repair_while(&path, move |_| {
        if number(&from.join("s.jsonl")).is_some_and(|number| Some(number) != first) {
            fs::rename(&from, &to).unwrap();
        }
    });
    assert!(matches!(result, Err(Failure::Late { .. })), "{result:?}");
    let files = names(&there).into_iter().filter(|name| !name.ends_with(".note"));
    let texts: Vec<String> = files.map(|name| text(&there.join(name))).collect();
    assert!(texts == [new, old]);
}

#[test]
fn a_header_that_was_torn_tells_the_format_once_it_is_whole() {
    let (start, end) = (r#"{"type":"session","#, r#""version":3,"id":"s"}"#);
    // A tool result to those who read bare messages; in a session of Pi none.
    let other = format!(r#"{{"role":"tool","tool_call_id":"1","content":"{}"}}"#, "too long ".repeat(900));
    let whole = format!("{start}{end}\n{other}\n");
    let mut in_time = 0;
    // There are fewer steps.
    for at in 0..40 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, start).unwrap();
        let (rest, writer) =
            (whole[start.len()..].to_owned(), fs::OpenOptions::new().append(true).open(&path).unwrap());
        let report = repair_while(&path, move |step| {
            if step == at {
                (&writer).write_all(rest.as_bytes()).unwrap();
            }
        });
        // The start alone is not a session, so that nothing is done to it.
        assert!([start, &whole].contains(&text(&path).as_str()), "step {at}: {report:?}");
        in_time += u64::from(report.unwrap().rows == 2);
    }
    assert!(in_time > 5, "{in_time}");
}

#[test]
fn a_file_that_changes_otherwise_stays_as_it_is() {
    let old: String = session().lines().take(30).map(|row| format!("{row}\n")).collect();
    let (new, steps) = repaired(&old, false);
    type Change = fn(&Path);
    let changes: [(&str, Change); 3] = [
        ("shorter", |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(70).unwrap()),
        ("replaced", |path| {
            let other = with_end(path, ".other");
            fs::write(&other, "{\"role\":\"user\"}\n").unwrap();
            fs::rename(other, path).unwrap();
        }),
        ("removed", |path| fs::remove_file(path).unwrap()),
    ];
    for (what, change) in changes {
        let run = |at: u64| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            fs::write(&path, &old).unwrap();
            let file = path.clone();
            let result = repair_while(&path, move |step| {
                if step == at {
                    change(&file);
                }
            });
            (result, fs::read_to_string(&path).ok(), names(dir.path()))
        };
        let mut kept = 0;
        for at in steps / 2..steps {
            let (result, found, left) = run(at);
            let expected = match what {
                // Once the new file has the name, it is that file which becomes shorter.
                "shorter" if result.is_ok() => Some(new[..70].to_owned()),
                "shorter" => Some(old[..70].to_owned()),
                "replaced" => Some("{\"role\":\"user\"}\n".to_owned()),
                _ => None,
            };
            assert!(found == expected, "{what} at step {at} of {steps}");
            // A repair that failed leaves nothing, and no backup that is the file itself.
            if result.is_err() {
                assert!(matches!(result, Err(Failure::Changed(_))), "{what}: {result:?}");
                assert_eq!(
                    left,
                    if what == "removed" { vec![] } else { vec!["s.jsonl".to_owned()] },
                    "{what}"
                );
            }
            kept += u64::from(result.is_ok());
        }
        assert!((2..12).contains(&kept), "{what}: {kept} of {steps}");
    }
}

#[test]
fn a_lock_that_took_the_place_of_ours_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl.lock");
    let born = SystemTime::now();
    let lock = Lock::take(&path, born, &Progress::default()).unwrap();
    // Another took ours for one that was left behind. Its file may well get the number that ours
    // had.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "of another").unwrap();
    drop(lock);
    assert_eq!(text(&path), "of another");
    drop(Lock::take(&dir.path().join("other.lock"), born, &Progress::default()).unwrap());
    assert_eq!(names(dir.path()), ["s.jsonl.lock"]);
}

#[test]
fn of_several_at_once_one_repairs_and_the_others_find_nothing_to_do() {
    let old = session();
    let (new, _) = repaired(&old, true);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, &old).unwrap();
    // Threads of one process would hold the lock themselves; these only touch the same file at
    // once.
    let changed: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| match repair(&request(&path), &Progress::default()) {
                    Ok(report) => usize::from(report.changed),
                    Err(Failure::Locked { own: true, .. }) => 0,
                    Err(failure) => panic!("{failure:?}"),
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).sum()
    });
    assert_eq!(changed, 1);
    assert!(text(&path) == new);
    assert_eq!(names(dir.path()), REPAIRED);
}

#[test]
fn a_repair_that_is_stopped_leaves_everything_as_it_was() {
    let old = session();
    let steps = repaired(&old, true).1;
    for at in (0..steps).step_by(7) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let watch = Arc::new_cyclic(|own: &std::sync::Weak<Progress>| {
            let own = own.clone();
            Progress::with_hook(move |step| {
                if step == at {
                    own.upgrade().unwrap().stop();
                }
            })
        });
        match repair(&request(&path), &watch) {
            Err(Failure::Stopped) => {
                assert!(text(&path) == old, "step {at}");
                let left = names(dir.path());
                assert!(
                    !left.iter().any(|name| name.contains("spillway-") || name.ends_with(".lock")),
                    "{left:?}"
                );
            }
            Ok(report) => assert!(report.changed && at + 30 > steps, "step {at} of {steps}"),
            Err(failure) => panic!("{failure:?}"),
        }
    }
}
