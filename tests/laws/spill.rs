//! Laws of saved outputs: the saved output equals the input, its pages make up the whole, and
//! searches and sweeps match simple models.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use crate::cases::cases;
use proptest::prelude::*;
use spillway::spill::file_name::{FileName, OutputSize};
use spillway::spill::line_reader::{OVERLAP, WINDOW};
use spillway::spill::pattern::SearchPattern;
use spillway::spill::read::{PageRequest, Slice, Start};
use spillway::spill::search::{LineMatch, SearchRequest};
use spillway::spill::sweep::Retention;
use spillway::spill::write::SavedCall;
use spillway::spill::{Record, SaveQueue, Store, list, read, search, sweep};

fn bash(call: &str) -> SavedCall {
    SavedCall { tool: "bash".into(), call: call.into(), secret: None }
}

/// Returns the id of the only output.
fn id_in(store: &Store) -> String {
    list(store).unwrap().remove(0).id
}

/// Generates bytes that are hard to page: sequences of every length, invalid ones, line ends, long
/// lines.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::sample::select(vec![
        "a",
        "error: x",
        "漢字かな",
        "😀",
        "👩‍👩‍👧‍👦",
        "é\u{301}",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\0",
        "\u{FEFF}",
        "\u{FFFD}",
        " ",
    ]);
    let piece = prop_oneof![
        8 => text.prop_map(|text| text.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 1..6),
        1 => prop::sample::select(vec![&b"\xE6\xBC"[..], b"\xF0\x9F\x98", b"\xF0\x9F", b"\x80\x80\x80\x80", b"\xC0\xAF"])
            .prop_map(<[u8]>::to_vec),
        1 => (0..300usize).prop_map(|long| "x漢".repeat(long).into_bytes()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn save(dir: &Path, bytes: &[u8]) -> (Store, Record) {
    let store = Store::at(dir.to_str().unwrap());
    let saving = SaveQueue::new(store.clone(), bash(""), u64::MAX);
    saving.push(bytes);
    let record = saving.finish(false).unwrap();
    (store, record)
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Reads all pages.
fn pages(store: &Store, lines: u64, bytes: usize, by_line: bool) -> Vec<Slice> {
    let id = id_in(store);
    let mut start = Start::Line(1);
    let mut pages = vec![];
    loop {
        let slice = read(store, &id, PageRequest { start, lines, bytes }).unwrap();
        let (next_line, next_byte) = (slice.next_line, slice.next_byte);
        pages.push(slice);
        start = match (next_line, next_byte) {
            (Some(line), Some(_)) if by_line => Start::Line(line),
            (_, Some(byte)) => Start::Byte(byte),
            _ => return pages,
        };
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn the_saved_output_is_the_input_or_its_start(
        bytes in hostile(),
        cuts in prop::collection::vec((1..400usize, any::<bool>()), 1..9),
        room in prop_oneof![Just(u64::MAX), 0..900u64],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().join("new").to_str().unwrap());
        let saving = SaveQueue::new(store.clone(), bash(""), room);
        let (mut rest, mut cuts) = (&bytes[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (cut, flush) = *cuts.next().unwrap();
            let (chunk, after) = rest.split_at(rest.len().min(cut));
            saving.push(chunk);
            if flush {
                saving.flush().unwrap();
                let records = list(&store).unwrap();
                prop_assert_eq!((records.len(), records[0].complete), (1, false));
            }
            rest = after;
        }
        let record = saving.finish(false).unwrap();
        let kept = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        prop_assert_eq!(fs::read(&record.path).unwrap(), &bytes[..kept]);
        let whole = OutputSize { bytes: bytes.len() as u64, lines: lines_of(&bytes).len() as u64 };
        prop_assert_eq!(record.whole, whole);
        prop_assert_eq!(record.complete, kept == bytes.len());
        prop_assert_eq!(list(&store).unwrap(), [record]);
    }

    #[test]
    fn consecutive_pages_make_up_the_whole(
        bytes in hostile(),
        lines in prop_oneof![Just(u64::MAX), 1..5u64],
        most in prop_oneof![1..40usize, Just(40_960)],
        by_line in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = save(dir.path(), &bytes);
        let pages = pages(&store, lines, most, by_line);
        let mut at = 0;
        for (index, page) in pages.iter().enumerate() {
            prop_assert_eq!(page.byte, at);
            prop_assert_eq!(page.line, newlines(&bytes[..at as usize]) + 1);
            prop_assert_eq!((page.total_bytes, page.total_lines), (bytes.len() as u64, lines_of(&bytes).len() as u64));
            prop_assert!(page.text.len() <= most || page.text.chars().count() == 1, "{page:?}");
            prop_assert!(newlines(page.text.as_bytes()) <= lines);
            at = page.next_byte.unwrap_or(bytes.len() as u64);
            prop_assert_eq!(page.next_byte.is_none(), index + 1 == pages.len());
            let is_line = at > 0 && bytes[at as usize - 1] == b'\n' && page.next_byte.is_some();
            prop_assert_eq!(page.next_line, is_line.then(|| newlines(&bytes[..at as usize]) + 1));
        }
        let whole: String = pages.into_iter().map(|page| page.text).collect();
        prop_assert_eq!(whole, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_line_and_any_byte_can_be_read(bytes in hostile(), line in 1..80u64, byte in 0..2_000u64) {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = save(dir.path(), &bytes);
        let slice = read(&store, &id_in(&store), PageRequest { start: Start::Line(line), lines: 1, bytes: 1 << 20 }).unwrap();
        let expected = lines_of(&bytes).get(line as usize - 1).copied().unwrap_or_default();
        prop_assert_eq!(&slice.text, &String::from_utf8_lossy(expected));
        let slice = read(&store, &id_in(&store), PageRequest { start: Start::Byte(byte), lines: u64::MAX, bytes: 1 << 20 }).unwrap();
        prop_assert!(slice.byte <= byte && byte.min(bytes.len() as u64) - slice.byte < 4);
        // The bytes before and after the position decode separately to the decoded whole.
        let before = String::from_utf8_lossy(&bytes[..slice.byte as usize]).into_owned();
        prop_assert_eq!(before + &slice.text, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_search_matches_a_simple_model(
        bytes in hostile(),
        pattern in prop::sample::select(vec!["x", "error", "字か", "😀", "a", "\0", "Ror:"]),
        ignore_case in any::<bool>(),
        regex in any::<bool>(),
        (line, context, max) in (1..9u64, 0..4usize, 1..9usize),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = save(dir.path(), &bytes);
        let compiled = if regex { SearchPattern::regex(pattern, ignore_case).unwrap() } else { SearchPattern::plain(pattern, ignore_case).unwrap() };
        let found = search(&store, &id_in(&store), SearchRequest { pattern: compiled, line, context, max }).unwrap();
        let lines: Vec<String> = lines_of(&bytes)
            .into_iter()
            .map(|line| {
                let content = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
                String::from_utf8_lossy(content).into_owned()
            })
            .collect();
        let case = |text: &str| if ignore_case { text.to_lowercase() } else { text.to_owned() };
        let expected: Vec<u64> = (line..=lines.len() as u64)
            .filter(|&at| case(&lines[at as usize - 1]).contains(&case(pattern)))
            .take(max)
            .collect();
        prop_assert_eq!(found.iter().map(|found| found.line).collect::<Vec<_>>(), expected);
        for LineMatch { line, byte, text, before, after } in found {
            let at = line as usize - 1;
            prop_assert!(text == lines[at] || lines[at].len() > 500 && text.contains("bytes]"));
            prop_assert!(text.len() < 1_600);
            prop_assert!(case(&String::from_utf8_lossy(&bytes[byte as usize..])).starts_with(&case(pattern)));
            prop_assert_eq!(before.len(), context.min(at));
            prop_assert_eq!(after.len(), context.min(lines.len() - 1 - at));
        }
    }

    #[test]
    fn a_sweep_matches_a_simple_model(
        files in prop::collection::vec((0..200u64, 0..100u64, any::<bool>()), 0..12),
        (total, max_age, min_age) in (0..600u64, 0..100u64, 0..100u64),
        retained in prop::collection::btree_set(0..12usize, 0..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        let now = SystemTime::now() + Duration::from_secs(5);
        let id = |at: usize| format!("{at:016x}");
        for (at, &(size, age, finished)) in files.iter().enumerate() {
            let name = FileName::new(&id(at), "bash");
            let name = if finished { name.finished(name.id.clone(), OutputSize { bytes: size, lines: 0 }) } else { name };
            fs::write(store.path(&name), vec![b'x'; size as usize]).unwrap();
            let file = File::options().write(true).open(store.path(&name)).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        fs::write(dir.path().join("of somebody else"), "x").unwrap();
        let limits = Retention {
            total_bytes: total,
            max_age: Duration::from_secs(max_age),
            min_age: Duration::from_secs(min_age),
        };
        // An output may be retained by the id that it had while it was written.
        let running = |at: usize| format!("{at:015x}f");
        let retain: Vec<String> =
            retained.iter().map(|&at| if at % 2 == 0 { id(at) } else { running(at) }).collect();
        for at in retained.iter().filter(|at| *at % 2 == 1 && **at < files.len()) {
            fs::write(dir.path().join(format!("{}.{}.alias", running(*at), id(*at))), "").unwrap();
        }
        let swept = sweep(&store, &limits, &retain, now).unwrap();

        let may_go = |at: usize| files[at].1 >= min_age && !retained.contains(&at);
        let mut stay: BTreeSet<usize> = (0..files.len()).filter(|&at| !may_go(at) || files[at].1 < max_age).collect();
        let held = |stay: &BTreeSet<usize>| stay.iter().map(|&at| files[at].0).sum::<u64>();
        let mut oldest: Vec<usize> = stay.iter().copied().filter(|&at| may_go(at)).collect();
        oldest.sort_by_key(|&at| (std::cmp::Reverse(files[at].1), id(at)));
        for at in oldest {
            if held(&stay) > total {
                stay.remove(&at);
            }
        }
        let left: BTreeSet<String> = list(&store).unwrap().into_iter().map(|record| record.id).collect();
        prop_assert_eq!(left, stay.iter().map(|&at| id(at)).collect::<BTreeSet<_>>());
        let all: u64 = files.iter().map(|file| file.0).sum();
        prop_assert_eq!((swept.removed, swept.bytes), ((files.len() - stay.len()) as u64, all - held(&stay)));
        prop_assert!(dir.path().join("of somebody else").exists());
    }

    #[test]
    fn matches_in_a_long_line_are_not_missed(
        before in 0..3 * WINDOW,
        after in 0..WINDOW,
        needle in prop_oneof![Just("needle".to_owned()), (1..OVERLAP / 3 - 1).prop_map(|long| "é漢".repeat(long / 5 + 1))],
        (regex, ignore_case) in (prop::option::of(prop::sample::select(vec!["", "(?:[a-z]{900}!)?"])), any::<bool>()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let line = ["x漢".repeat(before / 4), needle.clone(), "字y".repeat(after / 4)].concat();
        let (store, _) = save(dir.path(), format!("one\n{line}\nthree").as_bytes());
        let start: String = needle.chars().take(100).collect();
        let pattern = match regex {
            Some(long) => SearchPattern::regex(&format!("{start}{long}"), ignore_case).unwrap(),
            None => SearchPattern::plain(&needle, ignore_case).unwrap(),
        };
        let query = SearchRequest { pattern, line: 1, context: 1, max: 9 };
        let found = search(&store, &id_in(&store), query).unwrap();
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!((found[0].line, found[0].byte), (2, 4 + before as u64 / 4 * 4));
        prop_assert_eq!((&*found[0].before[0], &*found[0].after[0]), ("one", "three"));
    }
}

#[test]
fn sweeps_do_not_remove_outputs_being_saved() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path().to_str().unwrap());
    let limits = Retention { total_bytes: 0, max_age: Duration::ZERO, min_age: Duration::ZERO };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !ended.load(Relaxed) {
                    sweep(&store, &limits, &[], SystemTime::now()).unwrap();
                }
            });
        }
        let saved: Vec<_> = (0..3_000)
            .map(|at| SaveQueue::new(store.clone(), bash(&format!("{at}")), u64::MAX))
            .map(|saving| {
                saving.push(b"hello");
                saving.finish(false)
            })
            .collect();
        ended.store(true, Relaxed);
        for outcome in saved {
            outcome.unwrap();
        }
    });
}

/// Saves bytes in pieces of a size.
fn save_as(store: &Store, origin: SavedCall, bytes: &[u8], size: usize) -> Record {
    let saving = SaveQueue::new(store.clone(), origin, u64::MAX);
    for piece in bytes.chunks(size) {
        saving.push(piece);
        saving.flush().unwrap();
    }
    saving.finish(false).unwrap()
}

#[test]
fn writers_of_one_output_agree_on_its_id_and_leave_one_copy() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path().to_str().unwrap());
    let bytes = "one more line\n".repeat(5_000);
    let records: Vec<Record> = std::thread::scope(|scope| {
        let save = |at: usize| save_as(&store, bash("c1"), bytes.as_bytes(), 1 + 7_000 * at);
        let threads: Vec<_> = (1..9).map(|at| scope.spawn(move || save(at))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(records.iter().all(|record| *record == records[0]));
    assert_eq!(list(&store).unwrap(), [records[0].clone()]);
    let others = [
        save_as(&store, bash("c2"), bytes.as_bytes(), 9_999),
        save_as(&store, bash("c1"), &bytes.as_bytes()[1..], 9_999),
        save_as(&store, SavedCall { tool: "build".into(), ..bash("c1") }, bytes.as_bytes(), 9_999),
    ];
    let ids: BTreeSet<String> = others.iter().chain(&records[..1]).map(|record| record.id.clone()).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn ids_depend_on_the_secret_of_the_store_and_on_no_directory() {
    let id = |secret: Option<&str>| {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::at(dir.path().to_str().unwrap());
        let origin = SavedCall { secret: secret.map(Into::into), ..bash("") };
        save_as(&store, origin, b"output", 9).id
    };
    assert_eq!(id(Some("one")), id(Some("one")));
    assert_ne!(id(Some("one")), id(Some("other")));
    assert_ne!(id(None), id(None));
}

#[test]
fn a_told_running_id_leads_to_the_output_until_that_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path().to_str().unwrap());
    let page = || PageRequest { start: Start::Line(1), lines: 9, bytes: 99 };
    let saving = SaveQueue::new(store.clone(), bash(""), u64::MAX);
    let twin = SaveQueue::new(store.clone(), bash(""), u64::MAX);
    assert_eq!(saving.running(), None);
    for saving in [&saving, &twin] {
        saving.push(b"one\n");
        saving.flush().unwrap();
    }
    let [(running, _), (other, _)] = [&saving, &twin].map(|saving| saving.running().unwrap());
    assert_ne!(running, other);
    assert_eq!(read(&store, &running, page()).unwrap().text, "one\n");
    saving.push(b"two\n");
    let record = saving.finish(true).unwrap();
    twin.discard().unwrap();
    assert_ne!(record.id, running);
    assert_eq!(read(&store, &running, page()).unwrap().text, "one\ntwo\n");
    assert!(read(&store, &other, page()).is_err());
    assert_eq!(list(&store).unwrap(), [record]);
    let limits = Retention { total_bytes: 0, max_age: Duration::ZERO, min_age: Duration::ZERO };
    assert_eq!(sweep(&store, &limits, &[], SystemTime::now()).unwrap().removed, 1);
    assert!(read(&store, &running, page()).is_err());
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["key"]);
}

#[test]
fn a_running_id_leads_to_its_own_output_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path().to_str().unwrap());
    let text_of = |id: &str| fs::read_to_string(store.path(&store.open(id).unwrap().0.name)).unwrap();
    let mut told: Vec<(String, String)> = vec![];
    for job in 0..3 {
        let queue = SaveQueue::new(store.clone(), bash(""), u64::MAX);
        queue.push(b"begins alike\n");
        queue.flush().unwrap();
        let (id, _) = queue.running().unwrap();
        queue.push(format!("job {job}\n").as_bytes());
        queue.flush().unwrap();
        told.push((id, format!("begins alike\njob {job}\n")));
        for (id, text) in &told {
            assert_eq!(&text_of(id), text);
        }
        queue.finish(true).unwrap();
    }
    for (id, text) in &told {
        assert_eq!(&text_of(id), text);
    }
    // How much comes at once is chance.
    let ids = [&[&b"ab"[..], b"c"][..], &[b"abc"]].map(|pieces| {
        let dir = tempfile::tempdir().unwrap();
        let origin = SavedCall { secret: Some("s".into()), ..bash("c1") };
        let queue = SaveQueue::new(Store::at(dir.path().to_str().unwrap()), origin, u64::MAX);
        pieces.iter().for_each(|piece| {
            queue.push(piece);
            queue.flush().unwrap();
        });
        queue.running().unwrap().0
    });
    assert_eq!(ids[0], ids[1]);
}
