//! The instant in which the new file of a session gets its name: kills, writers and replacements
//! around each of its steps, and file systems that cannot exchange names.

use super::*;

const ROW_AT: &str = "SPILLWAY_TEST_ROW_AT";

pub fn small() -> String {
    session().lines().take(6).map(|row| format!("{row}\n")).collect()
}

/// Rows that differ, as those of a session do.
fn late(at: u64) -> String {
    format!("{{\"role\":\"user\",\"content\":\"late {at}\"}}\n")
}

fn append(path: &Path, row: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(row.as_bytes()).unwrap();
}

fn replace(path: &Path, text: &str) {
    let other = with_end(path, ".other");
    fs::write(&other, text).unwrap();
    fs::rename(other, path).unwrap();
}

pub struct Place {
    _dir: tempfile::TempDir,
    pub path: PathBuf,
}

pub fn place(text: &str) -> Place {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap().join("s.jsonl");
    fs::write(&path, text).unwrap();
    Place { _dir: dir, path }
}

impl Place {
    pub fn names(&self) -> Vec<String> {
        names(self.path.parent().unwrap())
    }
}

/// Runs in a process of its own: a row comes to the old file at one step, and the process is killed
/// at another.
#[test]
fn a_repair_that_is_killed_late() {
    let (Ok(path), Ok(row), Ok(last)) = (std::env::var(SESSION), std::env::var(ROW_AT), std::env::var(STEP))
    else {
        return;
    };
    let (row_at, last): (u64, u64) = (row.parse().unwrap(), last.parse().unwrap());
    let backup = std::env::var(BACKUP).unwrap() == "true";
    let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let file = PathBuf::from(&path);
    let watch = Progress::with_hook(move |step| {
        if step == row_at {
            (&writer).write_all(late(0).as_bytes()).unwrap();
        }
        if step == row_at + 1 && last > step {
            append(&file, &late(1));
        }
        if step == last {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
    });
    repair(&RepairRequest { backup, lock: false, ..request(Path::new(&path)) }, &watch).unwrap();
}

fn run_killed(path: &Path, row_at: u64, last: u64, backup: bool) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "exchange::a_repair_that_is_killed_late", "--quiet"])
        .env(SESSION, path)
        .env(ROW_AT, row_at.to_string())
        .env(STEP, last.to_string())
        .env(BACKUP, backup.to_string())
        .output()
        .unwrap();
    assert!(!output.status.success() || last == u64::MAX, "step {last} was not reached");
}

#[test]
fn rows_are_neither_lost_nor_doubled_by_kills_one_after_the_other() {
    const NEVER: u64 = u64::MAX;
    let old = small();
    let (new, steps) = repaired(&old, false);
    // `npm test` takes some of them.
    let seconds = if is_long() { &[NEVER, 3, 5, 6, 7][..] } else { &[NEVER, 5] };
    let mut recovered = 0;
    for row_at in steps - 9..steps - 4 {
        for last in row_at + 1..steps + 4 {
            for &second in seconds {
                let place = place(&old);
                let backup = last.is_multiple_of(2);
                run_killed(&place.path, row_at, last, backup);
                let came = text(&place.path);
                if second != NEVER {
                    // May be done before.
                    let _ = Command::new(std::env::current_exe().unwrap())
                        .args(["--exact", "exchange::a_repair_that_is_killed_late", "--quiet"])
                        .env(SESSION, &place.path)
                        .env(ROW_AT, (NEVER - 1).to_string())
                        .env(STEP, second.to_string())
                        .env(BACKUP, "false")
                        .output();
                }
                let report =
                    repair(&RepairRequest { backup: false, ..request(&place.path) }, &Progress::default())
                        .unwrap();
                recovered += report.recovered;
                let found = text(&place.path);
                let context = format!(
                    "row at {row_at}, killed at {last} of {steps}, then at {second}: {:?}",
                    place.names()
                );
                for row in [late(0), late(1)].iter().filter(|row| **row == late(0) || last > row_at + 1) {
                    assert_eq!(found.matches(row.as_str()).count(), 1, "{context}\n{came}");
                }
                assert!(found.starts_with(&new), "{context}");
                let left = place.names();
                assert!(!left.iter().any(|name| name.contains("spillway-")), "{context}");
                if left.len() > 1 {
                    assert_ne!(number(&with_end(&place.path, ".bak")), number(&place.path), "{context}");
                    assert!(text(&with_end(&place.path, ".bak")).starts_with(&old), "{context}");
                }
            }
        }
    }
    assert!(recovered > 4 * seconds.len() as u64, "{recovered}");
}

/// Calls `act` at each step of a repair without a backup.
fn repair_while(path: &Path, act: impl Fn(u64) + Send + Sync + 'static) -> Result<RepairReport, Failure> {
    repair(&RepairRequest { lock: false, backup: false, ..request(path) }, &Progress::with_hook(act))
}

#[test]
fn of_several_replacements_in_the_last_instant_the_last_stays() {
    let old = small();
    let steps = repaired(&old, false).1;
    let of = |at: u64| late(at).repeat(3);
    for first in steps - 10..steps + 2 {
        for second in first + 1..first + 5 {
            for third in second + 1..second + 3 {
                let place = place(&old);
                let path = place.path.clone();
                let done = Arc::new(AtomicU64::new(0));
                let count = Arc::clone(&done);
                let _ = repair_while(&place.path, move |step| {
                    if step == first || step == second || step == third {
                        replace(&path, &of(count.fetch_add(1, Relaxed)));
                    }
                });
                let last = done.load(Relaxed);
                let context = format!("steps {first}, {second}, {third} of {steps}: {:?}", place.names());
                assert!(last > 0 || first >= steps, "{context}");
                assert!(last == 0 || text(&place.path) == of(last - 1), "{context}");
                // A file that came between may be kept, not the new file.
                assert!(!place.names().iter().any(|name| name.contains("spillway-")), "{context}");
            }
        }
    }
}

#[test]
fn rows_that_come_to_either_file_while_another_takes_the_place_are_kept() {
    let old = small();
    let steps = repaired(&old, false).1;
    let other = late(7);
    for at in steps - 10..steps {
        for row_at in at + 1..at + 6 {
            let place = place(&old);
            let (path, other) = (place.path.clone(), other.clone());
            let has_come = Arc::new(AtomicU64::new(0));
            let come = Arc::clone(&has_come);
            let _ = repair_while(&place.path, move |step| {
                if step == at {
                    replace(&path, &other);
                }
                if step == row_at {
                    append(&path, &late(8));
                    come.store(1, Relaxed);
                }
            });
            let rows = if has_come.load(Relaxed) == 1 { late(7) + &late(8) } else { late(7) };
            assert_eq!(text(&place.path), rows, "steps {at} and {row_at} of {steps}");
            assert_eq!(place.names(), ["s.jsonl"]);
        }
    }
}

/// A system call and the error that it ends in.
#[cfg(target_os = "linux")]
pub type Refused = (libc::c_long, i32);

#[cfg(target_os = "linux")]
pub const NO_LINKS: Refused = (libc::SYS_linkat, libc::EOPNOTSUPP);

/// Has system calls of this thread fail as where a file system does not know them: the exchange of
/// names, and others.
#[cfg(target_os = "linux")]
fn refuse(calls: &[Refused]) {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};
    let load = |offset: u32| sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset };
    let unless =
        |k: i64, jf| sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: 0, jf, k: k as u32 };
    let answer = |k: u32| sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k };
    let fail = |errno: i32| answer(libc::SECCOMP_RET_ERRNO | errno as u32);
    // The low half of the fifth argument, on machines that write that first.
    let flags = load(16 + 8 * 4);
    let exchange = i64::from(libc::RENAME_EXCHANGE);
    let mut filter = vec![
        load(0),
        unless(libc::SYS_renameat2, 3),
        flags,
        unless(exchange, 1),
        fail(libc::EINVAL),
        load(0),
    ];
    filter.extend(calls.iter().flat_map(|(call, errno)| [unless(*call, 1), fail(*errno)]));
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter outlive both calls, which copy them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

/// Runs on a thread whose system calls are refused.
#[cfg(target_os = "linux")]
pub fn where_refused<T: Send>(calls: &[Refused], run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let run = || {
            refuse(calls);
            run()
        };
        scope.spawn(run).join().unwrap()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_exchanges_no_names_does_too() {
    let old = small();
    let new = repaired(&old, false).0;
    for (calls, kept) in [(&[][..], vec![".bak", ".bak.latest"]), (&[NO_LINKS], vec![".bak"])] {
        let place = place(&old);
        let repair = || repair(&request(&place.path), &Progress::default()).unwrap();
        let report = where_refused(calls, repair);
        assert_eq!(report.backup, Some(with_end(&place.path, ".bak")));
        assert!(text(&place.path) == new);
        // The note as well.
        assert_eq!(place.names().len(), 2 + kept.len());
        for end in kept {
            assert!(text(&with_end(&place.path, end)) == old, "{end}");
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions();
            assert_eq!(mode(&with_end(&place.path, end)), mode(&place.path));
        }
        fs::write(&place.path, &old).unwrap();
        let report = where_refused(calls, repair);
        assert_eq!(report.backup, Some(with_end(&place.path, ".bak.latest")));
        assert_eq!(place.names().len(), 4);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rows_and_changes_are_kept_where_names_are_not_exchanged() {
    let old = small();
    let new = repaired(&old, false).0;
    let steps = AtomicU64::new(0);
    for at in 0.. {
        let place = place(&old);
        let writer = fs::OpenOptions::new().append(true).open(&place.path).unwrap();
        let count = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&count);
        let watch = Progress::with_hook(move |step| {
            seen.store(step + 1, Relaxed);
            if step == at {
                (&writer).write_all(LATE.as_bytes()).unwrap();
            }
        });
        let report = where_refused(&[], || repair(&request(&place.path), &watch)).unwrap();
        assert!(report.changed);
        let found = text(&place.path);
        let is_late = at + 3 >= count.load(Relaxed);
        assert!(found == format!("{new}{LATE}") || is_late && found == new, "step {at}");
        steps.store(count.load(Relaxed), Relaxed);
        if at >= count.load(Relaxed) {
            break;
        }
    }
    // Until the rename what changes otherwise stops it, and nothing is left beside it.
    let mut stopped = 0;
    let steps = steps.into_inner();
    for at in steps / 2..steps {
        for cut in [true, false] {
            let place = place(&old);
            let (path, first) = (place.path.clone(), number(&place.path));
            let was_first = Arc::new(AtomicU64::new(0));
            let was = Arc::clone(&was_first);
            let watch = Progress::with_hook(move |step| {
                if step == at {
                    was.store(u64::from(number(&path) == first), Relaxed);
                    if cut {
                        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(70).unwrap();
                    } else {
                        replace(&path, LATE);
                    }
                }
            });
            let result = where_refused(&[], || {
                repair(&RepairRequest { backup: at.is_multiple_of(2), ..request(&place.path) }, &watch)
            });
            let is_replaced = was_first.load(Relaxed) == 0;
            assert_eq!(result.is_ok(), is_replaced, "step {at}: {result:?}");
            let expected = if !cut {
                LATE
            } else if is_replaced {
                &new[..70]
            } else {
                &old[..70]
            };
            assert!(text(&place.path) == expected, "step {at}");
            assert!(is_replaced || place.names() == ["s.jsonl"], "step {at}: {:?}", place.names());
            stopped += u64::from(!is_replaced);
        }
    }
    assert!(stopped > 4, "{stopped}");
}
