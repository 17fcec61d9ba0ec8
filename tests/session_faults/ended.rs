//! Repairs that come to no end: killed at every step, or without room for what they still have to
//! write.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::*;

/// Runs in a process of its own, which is killed at a step.
#[test]
fn a_repair_that_is_killed() {
    let (Ok(path), Ok(last)) = (std::env::var(SESSION), std::env::var(STEP)) else { return };
    let last: u64 = last.parse().unwrap();
    let watch = Progress::with_hook(move |step| {
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
        .args(["--exact", "ended::a_repair_that_is_killed", "--quiet"])
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
    // `npm test` takes some of them.
    let every = if is_long() { 1 } else { 18 };
    let instants: Vec<u64> = instants.into_iter().rev().step_by(every).collect();
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
        let report = repair(&request(&path), &Progress::default()).unwrap();
        assert_eq!(report.changed, found == old, "after step {step}");
        assert!(text(&path) == new);
        let backup = with_end(&path, ".bak");
        assert!(text(&backup) == old);
        assert!(!names(dir.path()).contains(&"s.jsonl.lock".into()), "after step {step}");
        let again = repair(&request(&path), &Progress::default()).unwrap();
        assert!(!again.changed);
        // Files that a killed process left go with the next repair that writes.
        fs::write(&path, &old).unwrap();
        assert!(repair(&request(&path), &Progress::default()).unwrap().changed);
        assert_eq!(names(dir.path()), REPAIRED, "after step {step}");
    }
    assert!(seen[0] > 100 / every && seen[1] > 0, "{seen:?}");
}

/// Runs in a process of its own, whose files cannot grow once the new one is in its place and a row
/// has come to the old.
#[test]
fn a_repair_that_has_no_more_room() {
    let (Ok(path), Ok(backup)) = (std::env::var(SESSION), std::env::var(BACKUP)) else { return };
    let path = fs::canonicalize(path).unwrap();
    let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let (file, old) = (path.clone(), text(&path));
    let has_come = AtomicU64::new(0);
    let watch = Progress::with_hook(move |_| {
        if text(&file) != old && has_come.fetch_add(1, Relaxed) == 0 {
            (&writer).write_all(LATE.as_bytes()).unwrap();
            let size = fs::metadata(&file).unwrap().len();
            let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
            setrlimit(Resource::Fsize, Rlimit { current: Some(size), maximum }).unwrap();
        }
    });
    let failure = repair(&RepairRequest { backup: backup == "true", ..request(&path) }, &watch).unwrap_err();
    let (json, kept) = (failure.json(), names(path.parent().unwrap()).pop().unwrap());
    assert!(kept.starts_with("s.jsonl.spillway-0.") && json.contains(&format!("/{kept}\"")), "{json}");
    assert!(json.contains(&format!(r#""errno":{}"#, rustix::io::Errno::FBIG.raw_os_error())), "{json}");
}

#[test]
fn rows_that_cannot_be_carried_over_are_brought_by_the_next_repair() {
    let old = session();
    let (new, _) = repaired(&old, true);
    for backup in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, &old).unwrap();
        // A process that ignores the signal gets an error in its place.
        let run = r#"trap '' XFSZ; exec "$0" --exact ended::a_repair_that_has_no_more_room --quiet"#;
        let output = Command::new("sh")
            .args([std::ffi::OsStr::new("-c"), run.as_ref(), std::env::current_exe().unwrap().as_ref()])
            .envs([(SESSION, path.as_os_str()), (BACKUP, backup.to_string().as_ref())])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(text(&path) == new);
        assert_eq!(names(dir.path()).len(), 2 + usize::from(backup));
        // It has nothing else to do, and keeps no backup of its own.
        let report =
            repair(&RepairRequest { backup: false, ..request(&path) }, &Progress::default()).unwrap();
        assert_eq!((report.changed, report.recovered, report.clamped), (true, 1, 0));
        assert_eq!(report.reason, None);
        assert!(text(&path) == format!("{new}{LATE}"));
        let kept: &[&str] = if backup { &REPAIRED[1..] } else { &[] };
        assert_eq!(names(dir.path())[1..], *kept);
        for name in kept.iter().take(2) {
            assert!(text(&dir.path().join(name)) == format!("{old}{LATE}"));
        }
    }
}
