//! Saving outputs, reading them back, and sweeping them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::task::Background;
use crate::units::Numbers;
use spillway::platform::{code_of, errno_of};
use spillway::spill::file_name::OutputSize;
use spillway::spill::identity::{Identity, StoreKey};
use spillway::spill::outlined::{OutlinePage, OutlineSearch, OutlineSurvey, OutputForm};
use spillway::spill::pattern::SearchPattern;
use spillway::spill::read::{self, OutputWindow, PageRequest, Slice, Start};
use spillway::spill::search::{LineMatch, SearchRequest, Searcher};
use spillway::spill::sweep::{Retention, Swept};
use spillway::spill::write::SavedCall;
use spillway::spill::{self, Record, SaveQueue, Store, StoreFailure};

/// A failure: its code, the system's error number, and a message.
#[napi(object)]
pub struct SpillFailure {
    pub code: String,
    pub errno: Option<i32>,
    pub message: String,
}

impl From<StoreFailure> for SpillFailure {
    fn from(failure: StoreFailure) -> SpillFailure {
        let (errno, code, message) = match failure {
            StoreFailure::System(error) => (errno_of(&error), code_of(&error), error.to_string()),
            StoreFailure::Refused(message) => (None, "ERR_SPILLWAY_SPILL", message),
            StoreFailure::Pattern(message) => (None, "ERR_SPILLWAY_OPTION", message),
        };
        SpillFailure { code: code.to_owned(), errno, message }
    }
}

#[napi(object)]
pub struct SpillRow {
    pub id: String,
    pub path: String,
    pub bytes: f64,
    pub lines: f64,
    pub complete: bool,
}

impl From<Record> for SpillRow {
    fn from(record: Record) -> SpillRow {
        SpillRow {
            id: record.id,
            path: record.path.to_string_lossy().into_owned(),
            bytes: record.whole.bytes as f64,
            lines: record.whole.lines as f64,
            complete: record.complete,
        }
    }
}

/// Converts a result to its JavaScript form.
fn outcome<T, R>(
    outcome: std::result::Result<T, StoreFailure>,
    shown: impl FnOnce(T) -> R,
) -> Either<R, SpillFailure> {
    match outcome {
        Ok(value) => Either::A(shown(value)),
        Err(failure) => Either::B(failure.into()),
    }
}

/// Begins to save an output of a call, keeping at most `room` bytes. `secret`: the key of ids,
/// unless it is in the directory.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'saving'>")]
pub fn start_saving(
    dir: String,
    tool: String,
    call: String,
    secret: Option<String>,
    room: f64,
) -> External<Arc<SaveQueue>> {
    let origin = SavedCall { tool, call, secret };
    External::new(SaveQueue::new(Store::at(&dir), origin, room as u64).into())
}

/// Returns the id and the path under which an output can be read while it is written. Null until
/// something was.
#[napi(catch_unwind)]
pub fn running_save(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<SaveQueue>>,
) -> Option<Vec<String>> {
    saving.running().map(|(id, path)| vec![id, path.to_string_lossy().into_owned()])
}

/// The identity of an output that another store keeps.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'identity'>")]
pub fn start_identity(secret: String, tool: String, call: String) -> External<Identity> {
    External::new(Identity::new(StoreKey::of(secret.as_bytes()), &tool, &call))
}

/// Adds content to an identity.
#[napi(catch_unwind)]
pub fn add_to_identity(
    #[napi(ts_arg_type = "ExternalObject<'identity'>")] identity: &mut External<Identity>,
    bytes: &[u8],
) {
    identity.add(bytes);
}

/// Returns the id of an output of this size.
#[napi(catch_unwind)]
pub fn identity_of(
    #[napi(ts_arg_type = "ExternalObject<'identity'>")] identity: &External<Identity>,
    bytes: f64,
    lines: f64,
) -> String {
    identity.finished(OutputSize { bytes: bytes as u64, lines: lines as u64 })
}

/// Returns a random number of 64 bits, in hexadecimal digits. `RandomState` takes its keys from the
/// system; Node takes 3 ms to load the code for such a number.
#[napi(catch_unwind)]
pub fn random_name() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Buffers bytes and returns the number waiting to be written.
#[napi(catch_unwind)]
pub fn save_bytes(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<SaveQueue>>,
    bytes: &[u8],
) -> f64 {
    saving.push(bytes) as f64
}

/// Writes the buffered bytes.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn flush_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<SaveQueue>>,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.flush().err().map(SpillFailure::from))
}

#[napi(catch_unwind, ts_return_type = "Promise<SpillRow | SpillFailure>")]
pub fn finish_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<SaveQueue>>,
    told: bool,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || outcome(saving.finish(told), SpillRow::from))
}

/// Removes the saved part of an unfinished output.
#[napi(catch_unwind, ts_return_type = "Promise<SpillFailure | null>")]
pub fn discard_saving(
    #[napi(ts_arg_type = "ExternalObject<'saving'>")] saving: &External<Arc<SaveQueue>>,
) -> AsyncTask<Background> {
    let saving = Arc::clone(saving);
    Background::run(move || saving.discard().err().map(SpillFailure::from))
}

/// Lists the saved outputs, oldest first.
#[napi(catch_unwind, ts_return_type = "Promise<SpillRow[] | SpillFailure>")]
pub fn list_saved(dir: String) -> AsyncTask<Background> {
    let rows = |records: Vec<Record>| records.into_iter().map(SpillRow::from).collect::<Vec<_>>();
    Background::run(move || outcome(spill::list(&Store::at(&dir)), rows))
}

#[napi(object)]
pub struct SpillPage {
    #[napi(ts_type = "string")]
    pub text: Either<Latin1String, Utf16String>,
    pub line: f64,
    pub byte: f64,
    pub total_lines: f64,
    pub total_bytes: f64,
    pub next_line: Option<f64>,
    pub next_byte: Option<f64>,
}

impl From<Slice> for SpillPage {
    fn from(slice: Slice) -> SpillPage {
        SpillPage {
            text: answer(slice.text.into_bytes()),
            line: slice.line as f64,
            byte: slice.byte as f64,
            total_lines: slice.total_lines as f64,
            total_bytes: slice.total_bytes as f64,
            next_line: slice.next_line.map(|line| line as f64),
            next_byte: slice.next_byte.map(|byte| byte as f64),
        }
    }
}

/// Reads from a line, counted from 1, or from a byte if `by_byte`.
#[napi(catch_unwind, ts_return_type = "Promise<SpillPage | SpillFailure>")]
pub fn read_saved(
    dir: String,
    id: String,
    start: f64,
    by_byte: bool,
    lines: f64,
    bytes: f64,
) -> AsyncTask<Background> {
    let page = page(start, by_byte, lines, bytes);
    Background::run(move || outcome(spill::read(&Store::at(&dir), &id, page), SpillPage::from))
}

fn page(start: f64, by_byte: bool, lines: f64, bytes: f64) -> PageRequest {
    let start = if by_byte { Start::Byte(start as u64) } else { Start::Line(start as u64) };
    PageRequest { start, lines: lines as u64, bytes: bytes as usize }
}

#[napi(object)]
pub struct SpillHit {
    pub line: f64,
    pub byte: f64,
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

impl From<LineMatch> for SpillHit {
    fn from(found: LineMatch) -> SpillHit {
        let LineMatch { line, byte, text, before, after } = found;
        let [before, after] =
            [before, after].map(|lines| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>());
        SpillHit { line: line as f64, byte: byte as f64, text, before, after }
    }
}

/// Searches for plain text or a regular expression. `options`: 1 for a regular expression, 1 to
/// ignore case, the first line to search, lines of context, and the maximum number of matches.
#[napi(catch_unwind, ts_return_type = "Promise<SpillHit[] | SpillFailure>")]
pub fn search_saved(dir: String, id: String, pattern: String, options: &[f64]) -> AsyncTask<Background> {
    let packed = packed(options);
    let found = move || spill::search(&Store::at(&dir), &id, query(&pattern, packed)?);
    Background::run(move || outcome(found(), hits))
}

fn packed(options: &[f64]) -> [f64; 5] {
    let mut packed = [0.0; 5];
    packed.copy_from_slice(options);
    packed
}

fn hits(matches: Vec<LineMatch>) -> Vec<SpillHit> {
    matches.into_iter().map(SpillHit::from).collect()
}

/// Begins a search with the bytes at a position in a line. `options` are those of `search_saved`.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'search'> | SpillFailure")]
pub fn start_search(
    pattern: String,
    options: &[f64],
    at: f64,
    line: f64,
) -> Either<Fed<Search>, SpillFailure> {
    let search = |query| fed(Search::Text(Searcher::new(query, at as u64, line as u64).into()));
    outcome(query(&pattern, packed(options)), search)
}

/// A search of the lines of an output, or of those of its outline.
pub enum Search {
    Text(Box<Searcher>),
    Outline(Box<OutlineSearch>),
}

/// Searches the next bytes. Returns false if no more are needed.
#[napi(catch_unwind, ts_return_type = "Promise<boolean | SpillFailure>")]
pub fn search_bytes(
    #[napi(ts_arg_type = "ExternalObject<'search'>")] search: &Fed<Search>,
    bytes: &[u8],
) -> AsyncTask<Background> {
    let (search, bytes) = (Arc::clone(search), bytes.to_vec());
    let more = move || match &mut *locked(&search) {
        Search::Text(search) => search.push(&bytes),
        Search::Outline(search) => search.push(&bytes),
    };
    Background::run(move || outcome(more(), |more| more))
}

#[napi(catch_unwind, ts_return_type = "Promise<SpillHit[] | SpillFailure>")]
pub fn finish_search(
    #[napi(ts_arg_type = "ExternalObject<'search'>")] search: &Fed<Search>,
) -> AsyncTask<Background> {
    let search = Arc::clone(search);
    let found = move || match &mut *locked(&search) {
        Search::Text(search) => search.finish(),
        Search::Outline(search) => search.finish(),
    };
    Background::run(move || outcome(found(), hits))
}

/// Locks work even if a panic poisoned it: its results are of no use, but it is in no one's way.
fn locked<T>(work: &Mutex<T>) -> MutexGuard<'_, T> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work that is given the bytes of an output.
type Fed<T> = External<Arc<Mutex<T>>>;

fn fed<T: 'static>(work: T) -> Fed<T> {
    External::new(Arc::new(Mutex::new(work)))
}

/// Begins to tell whether an output is one JSON value, whose lines are those of its outline.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'survey'>")]
pub fn start_survey() -> Fed<OutlineSurvey> {
    fed(OutlineSurvey::default())
}

/// Takes the next bytes. Returns false once they are not JSON.
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn survey_bytes(
    #[napi(ts_arg_type = "ExternalObject<'survey'>")] survey: &Fed<OutlineSurvey>,
    bytes: &[u8],
) -> AsyncTask<Background> {
    let (survey, bytes) = (Arc::clone(survey), bytes.to_vec());
    Background::run(move || locked(&survey).push(&bytes))
}

/// Ends the bytes. Returns 0 for a text, 1 for an outline, and 2 for an outline of a value that
/// does not end.
#[napi(catch_unwind)]
pub fn finish_survey(#[napi(ts_arg_type = "ExternalObject<'survey'>")] survey: &Fed<OutlineSurvey>) -> u32 {
    match locked(survey).finish() {
        OutputForm::Text => 0,
        OutputForm::Outline => 1,
        OutputForm::OpenOutline => 2,
    }
}

/// Begins a page of an outline. The arguments are those of `read_saved`. `source` receives the
/// position of the first byte that it needs.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'outline page'>")]
pub fn start_outline_page(
    #[napi(ts_arg_type = "ExternalObject<'survey'>")] survey: &Fed<OutlineSurvey>,
    start: f64,
    by_byte: bool,
    lines: f64,
    bytes: f64,
    #[napi(ts_arg_type = "Float64Array")] source: Numbers,
) -> Fed<OutlinePage> {
    let page = OutlinePage::new(&locked(survey), page(start, by_byte, lines, bytes));
    source[0] = page.source() as f64;
    fed(page)
}

/// Takes the next bytes, the last of the output if `is_last`. Returns the page once they hold it.
#[napi(catch_unwind, ts_return_type = "Promise<SpillPage | SpillFailure | null>")]
pub fn outline_page_bytes(
    #[napi(ts_arg_type = "ExternalObject<'outline page'>")] page: &Fed<OutlinePage>,
    bytes: &[u8],
    is_last: bool,
) -> AsyncTask<Background> {
    let (page, bytes) = (Arc::clone(page), bytes.to_vec());
    Background::run(move || outcome(locked(&page).push(&bytes, is_last), |slice| slice.map(SpillPage::from)))
}

/// Begins a search of an outline. `options` are those of `search_saved`, `source` is that of
/// `start_outline_page`.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'search'> | SpillFailure")]
pub fn start_outline_search(
    #[napi(ts_arg_type = "ExternalObject<'survey'>")] survey: &Fed<OutlineSurvey>,
    pattern: String,
    options: &[f64],
    #[napi(ts_arg_type = "Float64Array")] source: Numbers,
) -> Either<Fed<Search>, SpillFailure> {
    outcome(query(&pattern, packed(options)), |query| {
        let search = OutlineSearch::new(&locked(survey), query);
        source[0] = search.source() as f64;
        fed(Search::Outline(search.into()))
    })
}

/// Returns a digest of a part of an output. It detects accidental changes, not malicious ones.
#[napi(catch_unwind)]
pub fn digest_of(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

/// Reads a page of an output from consecutive bytes of it. `place`: their position, the newlines
/// before them, and the bytes and lines of the whole. Returns the position that the bytes must
/// reach if that is beyond them.
#[napi(catch_unwind, ts_return_type = "Promise<SpillPage | number>")]
pub fn page_in(
    bytes: &[u8],
    place: &[f64],
    start: f64,
    by_byte: bool,
    lines: f64,
    most: f64,
) -> AsyncTask<Background> {
    let mut numbers = [0; 4];
    for (number, &given) in numbers.iter_mut().zip(place) {
        *number = given as u64;
    }
    let bytes = bytes.to_vec();
    let page = page(start, by_byte, lines, most);
    Background::run(move || {
        let [at, newlines, size, lines] = numbers;
        match read::page_in(&OutputWindow { bytes: &bytes, at, newlines, size, lines }, page) {
            Ok(slice) => Either::A(SpillPage::from(slice)),
            Err(reach) => Either::B(reach as f64),
        }
    })
}

fn query(pattern: &str, options: [f64; 5]) -> std::result::Result<SearchRequest, StoreFailure> {
    let [regex, ignore_case, line, context, max] = options;
    let ignore_case = ignore_case != 0.0;
    let pattern = match regex != 0.0 {
        true => SearchPattern::regex(pattern, ignore_case)?,
        false => SearchPattern::plain(pattern, ignore_case)?,
    };
    Ok(SearchRequest { pattern, line: line as u64, context: context as usize, max: max as usize })
}

#[napi(object)]
pub struct SpillSwept {
    pub removed: f64,
    pub bytes: f64,
}

impl From<Swept> for SpillSwept {
    fn from(swept: Swept) -> SpillSwept {
        SpillSwept { removed: swept.removed as f64, bytes: swept.bytes as f64 }
    }
}

/// Removes saved outputs by age and total size. Ages are in milliseconds.
#[napi(catch_unwind, ts_return_type = "Promise<SpillSwept | SpillFailure>")]
pub fn sweep_saved(
    dir: String,
    total_bytes: f64,
    max_age: f64,
    min_age: f64,
    retain: Vec<String>,
) -> AsyncTask<Background> {
    let [max_age, min_age] = [max_age, min_age].map(|age| Duration::from_millis(age as u64));
    let limits = Retention { total_bytes: total_bytes as u64, max_age, min_age };
    let sweep = move || spill::sweep(&Store::at(&dir), &limits, &retain, SystemTime::now());
    Background::run(move || outcome(sweep(), SpillSwept::from))
}
