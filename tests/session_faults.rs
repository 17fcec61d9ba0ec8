//! Faults of a repair: it is killed at every step, two run at once, a writer appends meanwhile. The file is the old one or
//! the new one, never a mix, and nothing that is left behind keeps the next repair from its work.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spillway::limits::Limits;
use spillway::policy::Policy;
use spillway::session::clamp::Rules;
use spillway::session::failure::Failure;
use spillway::session::lock::Lock;
use spillway::session::repair::{Request, repair};
use spillway::session::report::Report;
use spillway::session::row::{Options, SideData};
use spillway::session::watch::Watch;
use spillway::share::Share;

fn request(path: &Path) -> Request {
    let policy = Policy { limits: Limits { bytes: 400, ..Limits::NONE }, ..Policy::default() };
    let rules = Rules { policy, share: Share::Fair, clean: None };
    Request {
        path: path.to_owned(),
        options: Options { rules, side: SideData::Cap { max: 100, spare: 0 }, dialect: None },
        budget: None,
        backup: true,
        dry_run: false,
        lock: true,
        born: SystemTime::now(),
    }
}

/// A session of some megabytes, of which every third row is too long.
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

/// What a repair makes of a session, and in how many steps.
fn repaired(given: &str, lock: bool) -> (String, u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, given).unwrap();
    let steps = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&steps);
    let watch = Watch::with_hook(move |step| count.store(step + 1, Relaxed));
    assert!(repair(&Request { lock, ..request(&path) }, &watch).unwrap().changed);
    (text(&path), steps.load(Relaxed))
}

const SESSION: &str = "SPILLWAY_TEST_SESSION";
const STEP: &str = "SPILLWAY_TEST_STEP";
const BACKUP: &str = "SPILLWAY_TEST_BACKUP";

/// Runs in a process of its own, which is killed at a step.
#[test]
fn a_repair_that_is_killed() {
    let (Ok(path), Ok(last)) = (std::env::var(SESSION), std::env::var(STEP)) else { return };
    let last: u64 = last.parse().unwrap();
    let watch = Watch::with_hook(move |step| {
        if step == last {
            // SIGKILL: nothing that would run at an exit does.
            let pid = rustix::process::getpid();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
    });
    repair(&request(Path::new(&path)), &watch).unwrap();
}

fn killed_at(path: &Path, step: u64) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_repair_that_is_killed", "--quiet"])
        .env(SESSION, path)
        .env(STEP, step.to_string())
        .output()
        .unwrap()
        .status
}

#[test]
fn a_kill_at_any_step_leaves_the_old_file_or_the_new() {
    let old = session();
    let (new, steps) = repaired(&old, true);
    // The last steps are those around links, syncs and renames; the first those around the lock.
    let spread = (0..200).map(|at| at * steps / 200);
    let edges = (0..25).chain(steps.saturating_sub(40)..steps);
    let mut instants: Vec<u64> = spread.chain(edges).collect();
    instants.sort_unstable();
    instants.dedup();
    assert!(instants.len() >= 200, "{steps} steps");
    let mut seen = [0, 0];
    for step in instants {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let status = killed_at(&path, step);
        assert!(!status.success(), "step {step} of {steps} was not reached");
        let found = text(&path);
        assert!(found == old || found == new, "a mix after step {step} of {steps}");
        seen[usize::from(found == new)] += 1;
        let report = repair(&request(&path), &Watch::default()).unwrap();
        assert_eq!(report.changed, found == old, "after step {step}");
        assert!(text(&path) == new);
        let backup = with_end(&path, ".bak");
        assert!(text(&backup) == old);
        assert!(!names(dir.path()).contains(&"s.jsonl.lock".into()), "after step {step}");
        let again = repair(&request(&path), &Watch::default()).unwrap();
        assert!(!again.changed);
        // What a killed process left goes with the next repair that writes.
        fs::write(&path, &old).unwrap();
        assert!(repair(&request(&path), &Watch::default()).unwrap().changed);
        assert_eq!(names(dir.path()), ["s.jsonl", "s.jsonl.bak", "s.jsonl.bak.latest"], "after step {step}");
    }
    assert!(seen[0] > 100 && seen[1] > 1, "{seen:?}");
}

/// A row that comes while a session is repaired.
const LATE: &str = "{\"role\":\"user\",\"content\":\"late\"}\n";

/// Calls `act` at each step of a repair.
fn repair_while(path: &Path, act: impl Fn(u64) + Send + Sync + 'static) -> Result<Report, Failure> {
    repair(&Request { lock: false, ..request(path) }, &Watch::with_hook(act))
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
        // The last look is before the last step; a row that is written after it is in the old file alone.
        let found = text(&file);
        let is_last = at + 1 == steps;
        assert!(found == format!("{new}{LATE}") || is_last && found == new, "step {at} of {steps}");
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
    // Where its end came after the last look, its start has a newline already, and the row comes once more.
    let twice = format!("{new}{start}\n{start}{end}\n");
    let mut again = 0;
    for second in 2..steps {
        let found = after(1, second);
        assert!(found == whole || found == twice, "{second} of {steps}");
        again += u64::from(found == twice);
    }
    assert!(again > 0 && again < steps / 4, "{again} of {steps}");
}

/// Runs in a process of its own, whose files cannot grow once the new one is in its place and a row has come to the old.
#[test]
fn a_repair_that_has_no_more_room() {
    let (Ok(path), Ok(backup)) = (std::env::var(SESSION), std::env::var(BACKUP)) else { return };
    let path = fs::canonicalize(path).unwrap();
    let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let (file, old) = (path.clone(), text(&path));
    let has_come = AtomicU64::new(0);
    let watch = Watch::with_hook(move |_| {
        if text(&file) != old && has_come.fetch_add(1, Relaxed) == 0 {
            (&writer).write_all(LATE.as_bytes()).unwrap();
            let size = fs::metadata(&file).unwrap().len();
            let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
            setrlimit(Resource::Fsize, Rlimit { current: Some(size), maximum }).unwrap();
        }
    });
    let failure = repair(&Request { backup: backup == "true", ..request(&path) }, &watch).unwrap_err();
    let kept = if backup == "true" { ".bak" } else { ".bak.latest" };
    let (json, kept) = (failure.json(), with_end(&path, kept));
    assert!(json.contains(&format!("kept in {}\"", kept.display())), "{json}");
    assert!(json.contains(&format!(r#""errno":{}"#, rustix::io::Errno::FBIG.raw_os_error())), "{json}");
}

#[test]
fn rows_that_cannot_be_carried_over_are_in_the_file_that_is_kept() {
    let old = session();
    let (new, _) = repaired(&old, true);
    for (backup, kept) in
        [("true", vec!["s.jsonl.bak", "s.jsonl.bak.latest"]), ("false", vec!["s.jsonl.bak.latest"])]
    {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        // A process that ignores the signal gets an error in its place.
        let run = r#"trap '' XFSZ; exec "$0" --exact a_repair_that_has_no_more_room --quiet"#;
        let output = Command::new("sh")
            .args([std::ffi::OsStr::new("-c"), run.as_ref(), std::env::current_exe().unwrap().as_ref()])
            .envs([(SESSION, path.as_os_str()), (BACKUP, backup.as_ref())])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(text(&path) == new);
        assert_eq!(names(dir.path())[1..], kept);
        assert!(text(&dir.path().join(kept[0])) == format!("{old}{LATE}"));
    }
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
    let watch = Arc::new_cyclic(|own: &std::sync::Weak<Watch>| {
        let own = own.clone();
        Watch::with_hook(move |step| {
            if step == steps - 2 {
                (&writer).write_all(row.as_bytes()).unwrap();
                own.upgrade().unwrap().stop();
            }
        })
    });
    let report = repair(&Request { lock: false, ..request(&path) }, &watch).unwrap();
    assert_eq!(report.rows, 201);
    assert!(text(&path) == new + &repaired(&late, false).0);
}

#[test]
fn a_directory_that_cannot_be_synced_is_no_failure() {
    let old = session();
    let (new, steps) = repaired(&old, false);
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    fs::create_dir(&here).unwrap();
    fs::write(here.join("s.jsonl"), &old).unwrap();
    let (from, to) = (here.clone(), there.clone());
    let report = repair_while(&here.join("s.jsonl"), move |step| {
        if step == steps - 2 {
            fs::rename(&from, &to).unwrap();
        }
    });
    assert!(report.unwrap().changed);
    assert!(text(&there.join("s.jsonl")) == new);
}

#[test]
fn a_header_that_was_torn_tells_the_format_once_it_is_whole() {
    let (start, end) = (r#"{"type":"session","#, r#""version":3,"id":"s"}"#);
    // A tool result to those who read bare messages; in a session of Pi none.
    let other = format!(r#"{{"role":"tool","tool_call_id":"1","content":"{}"}}"#, "too long ".repeat(900));
    let whole = format!("{start}{end}\n{other}\n");
    let mut in_time = 0;
    for at in 0..repaired(start, false).1 {
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
        let is_late = text(&path).starts_with(&format!("{start}\n"));
        assert!(is_late || text(&path) == whole, "step {at}: {report:?}");
        in_time += u64::from(!is_late && report.unwrap().rows == 2);
    }
    assert!(in_time > 5, "{in_time}");
}

#[test]
fn a_file_that_changes_otherwise_stays_as_it_is() {
    let old: String = session().lines().take(30).map(|row| format!("{row}\n")).collect();
    let steps = repaired(&old, false).1;
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
        let (result, _, left) = run(steps / 2);
        assert!(matches!(result, Err(Failure::Changed(_))), "{what}: {result:?}");
        assert_eq!(left, if what == "removed" { vec![] } else { vec!["s.jsonl".to_owned()] }, "{what}");
        // The three last steps come after the rename; before it, also what comes while backups are made stops the repair.
        for at in steps / 2..steps - 2 {
            let (result, found, _) = run(at);
            assert!(result.is_err(), "{what} at step {at} of {steps}");
            let expected = match what {
                "shorter" => Some(old[..70].to_owned()),
                "replaced" => Some("{\"role\":\"user\"}\n".to_owned()),
                _ => None,
            };
            assert!(found == expected, "{what} at step {at} of {steps}");
        }
    }
}

#[test]
fn a_lock_that_took_the_place_of_ours_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl.lock");
    let born = SystemTime::now();
    let lock = Lock::take(&path, born, &Watch::default()).unwrap();
    // Another took ours for one that was left behind. Its file may well get the number that ours had.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "of another").unwrap();
    drop(lock);
    assert_eq!(text(&path), "of another");
    drop(Lock::take(&dir.path().join("other.lock"), born, &Watch::default()).unwrap());
    assert_eq!(names(dir.path()), ["s.jsonl.lock"]);
}

#[test]
fn of_several_at_once_one_repairs_and_the_others_find_nothing_to_do() {
    let old = session();
    let (new, _) = repaired(&old, true);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    fs::write(&path, &old).unwrap();
    // Threads of one process would hold the lock themselves; these only touch the same file at once.
    let changed: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| match repair(&request(&path), &Watch::default()) {
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
    assert_eq!(names(dir.path()), ["s.jsonl", "s.jsonl.bak", "s.jsonl.bak.latest"]);
}

#[test]
fn a_repair_that_is_stopped_leaves_everything_as_it_was() {
    let old = session();
    let steps = repaired(&old, true).1;
    for at in (0..steps).step_by(7) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        let watch = Arc::new_cyclic(|own: &std::sync::Weak<Watch>| {
            let own = own.clone();
            Watch::with_hook(move |step| {
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
