//! Truncating one text.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::ahead::SearchHandle;
use crate::answer::answer;
use crate::cut::{Cut, JsText};
use crate::policy::{PolicyHandle, asking, write};
use crate::units::{Narrow, Numbers, Units, units};
use crate::words::{NoticeWords, Worded};
use spillway::encoding::{Latin1, Size, StringPiece, Text, Utf8, Utf16};
use spillway::policy::{Keep, Policy};
use spillway::truncate;
use spillway::truncate::figures::KeptParts;
use spillway::truncate::input::Input;
use spillway::truncate::pass::Found;
use spillway::truncate::worded::truncate_worded;

/// A function that reads a piece of a string from a position, in chars. With `true`, it returns
/// null if the piece is not surely narrow.
type Read<'a> = Function<'a, FnArgs<(f64, bool)>, Unknown<'a>>;

/// Truncates a text given as the windows `head` and `tail`; if `tail` is empty, `head` is the whole
/// text, of `total` chars. Returns null if the text fits, and otherwise the text between the kept
/// head and the kept tail, with figures if they are asked for. `io` brings the bytes and newlines
/// of the text, or NaN if they are not known. It receives the starts and ends of the head, the tail
/// and the notice, and the ill-formed code points in the kept parts. `most`: chars searched for
/// findings. `query`: what was asked of this text alone. `found`: a search that was done.
/// `words`: a function that words the notice. `narrow`: the windows have no chars above 0xFF, and
/// are read in half the time.
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments, reason = "an object costs more than a small cut")]
pub fn truncate_text(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    narrow: bool,
    #[napi(ts_arg_type = "string")] head: Unknown,
    #[napi(ts_arg_type = "string")] tail: Unknown,
    total: f64,
    #[napi(ts_arg_type = "(start: number, narrow: boolean) => string | null")] read: Read,
    most: f64,
    figures: bool,
    query: Option<Vec<String>>,
    #[napi(ts_arg_type = "ExternalObject<'search'> | null")] found: Option<&External<SearchHandle>>,
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
    #[napi(ts_arg_type = "((facts: number[], keep: string) => string | null) | undefined")] words: Option<
        NoticeWords,
    >,
) -> Result<Option<Either3<Latin1String, Utf16String, Cut>>> {
    let windows = Windows {
        policy: &policy_of(policy, query, &words),
        total: total as usize,
        pieces: &Pieces::new(read, narrow),
        most: most as usize,
        found: &cell_of(found),
        figures,
        words: words.as_ref(),
    };
    match narrow {
        true => windows.truncate(Latin1(&units(head)?), Latin1(&units(tail)?), io),
        false => windows.truncate(Utf16(&units(head)?), Utf16(&units(tail)?), io),
    }
}

/// Returns the place of a search, with the search that was done if there is one.
fn cell_of(found: Option<&External<SearchHandle>>) -> OnceCell<Arc<Found>> {
    let cell = OnceCell::new();
    if let Some(found) = found {
        let _ = cell.set(Arc::clone(&found.0));
    }
    cell
}

/// A text that arrives as windows, and the terms of its cut.
struct Windows<'a> {
    policy: &'a Policy,
    total: usize,
    pieces: &'a Pieces<'a>,
    most: usize,
    found: &'a OnceCell<Arc<Found>>,
    figures: bool,
    words: Option<&'a NoticeWords<'a>>,
}

impl Windows<'_> {
    fn truncate<T: Text>(
        &self,
        head: T,
        tail: T,
        io: &mut [f64],
    ) -> Result<Option<Either3<Latin1String, Utf16String, Cut>>> {
        let each = |take: &mut dyn FnMut(StringPiece) -> bool| self.pieces.each(take);
        let input = Input::ends(head, tail, self.total);
        let input = match input.is_whole() {
            true => input,
            false => input.with_pieces(&each, self.most).with_found(self.found),
        };
        let input = match io[0].is_nan() {
            true => input,
            false => input.with_totals(Size {
                bytes: io[0] as usize,
                chars: self.total,
                newlines: io[1] as usize,
                broken: 0,
            }),
        };
        let cut = truncate_by(&input, self.policy, self.words)?;
        let kept = cut.as_ref().filter(|_| self.figures).map(|cut| cut.kept(&input));
        self.pieces.check()?;
        let Some(cut) = cut else { return Ok(None) };
        let [head, tail] = cut.sides.parts();
        let broken = {
            let (head, tail) = input.parts(cut.sides);
            head.broken() + tail.broken()
        };
        write(io, &[head.start, head.end, tail.start, tail.end, cut.notice.start, cut.notice.end, broken]);
        Ok(Some(with_figures(answer(cut.middle.into_bytes()), kept, cut.keep, cut.notice)))
    }
}

/// Returns a policy for one text. A notice function may set the handle to another.
fn policy_of<'a>(
    policy: &'a Policy,
    query: Option<Vec<String>>,
    words: &Option<NoticeWords>,
) -> Cow<'a, Policy> {
    let policy = asking(policy, query);
    if words.is_some() { Cow::Owned(policy.into_owned()) } else { policy }
}

/// Truncates a text, with the notice of a function if there is one.
fn truncate_by<T: Text>(
    input: &Input<T>,
    policy: &Policy,
    words: Option<&NoticeWords>,
) -> Result<Option<truncate::Cut>> {
    let Some(worded) = words.map(Worded::new) else { return Ok(truncate::truncate(input, policy)) };
    let cut = truncate_worded(input, policy, Some(&|facts| worded.text(facts)));
    worded.check()?;
    Ok(cut)
}

/// Adds figures to a text if there are any.
fn with_figures(
    text: JsText,
    kept: Option<KeptParts>,
    keep: Keep,
    notice: Range<usize>,
) -> Either3<Latin1String, Utf16String, Cut> {
    match (kept, text) {
        (Some(kept), text) => Either3::C(Cut::new(text, keep, notice, kept)),
        (None, Either::A(text)) => Either3::A(text),
        (None, Either::B(text)) => Either3::B(text),
    }
}

/// Truncates bytes in place. Returns null if they fit, and otherwise the truncated text, with
/// figures if they are asked for. `io` brings the chars and newlines of the bytes, or NaN if they
/// are not known or the bytes are ill-formed. It receives the start and the end of the notice.
#[napi(catch_unwind)]
pub fn truncate_bytes(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    bytes: &[u8],
    figures: bool,
    #[napi(ts_arg_type = "Float64Array")] io: Numbers,
    #[napi(ts_arg_type = "((facts: number[], keep: string) => string | null) | undefined")] words: Option<
        NoticeWords,
    >,
) -> Result<Option<Either3<Latin1String, Utf16String, Cut>>> {
    let (input, policy) = (Input::whole(Utf8(bytes)), &policy_of(policy, None, &words));
    let Some(cut) = truncate_by(&input, policy, words.as_ref())? else { return Ok(None) };
    let known = || if io[0].is_nan() { input } else { input.with_counts(io[0] as usize, io[1] as usize) };
    let kept = figures.then(|| cut.kept(&known()));
    let (head, tail) = input.parts(cut.sides);
    let parts = [head.0, cut.middle.as_bytes(), tail.0];
    let is_ascii = parts.iter().all(|part| part.is_ascii());
    let text = if is_ascii { answer(parts.concat()) } else { Either::B(cut.text(&input).into()) };
    write(io, &[cut.notice.start, cut.notice.end]);
    Ok(Some(with_figures(text, kept, cut.keep, cut.notice)))
}

/// Reads the pieces of a string from JavaScript.
struct Pieces<'a> {
    read: Read<'a>,
    /// The start of the string is narrow.
    narrow: bool,
    failure: Cell<Option<Error>>,
}

impl<'a> Pieces<'a> {
    fn new(read: Read<'a>, narrow: bool) -> Self {
        Pieces { read, narrow, failure: Cell::new(None) }
    }

    fn each(&self, take: &mut dyn FnMut(StringPiece) -> bool) {
        let (mut at, mut narrow) = (0, self.narrow);
        loop {
            match self.next(at, &mut narrow, take) {
                Ok(0) => return,
                Ok(units) => at += units,
                Err(error) => return self.failure.set(Some(error)),
            }
        }
    }

    /// Passes on the piece from a position. Returns its length, or 0 to stop.
    fn next(&self, at: usize, narrow: &mut bool, take: &mut dyn FnMut(StringPiece) -> bool) -> Result<usize> {
        if *narrow {
            let piece = self.read.call((at as f64, true).into())?;
            if piece.get_type()? == ValueType::String {
                let piece: Narrow = units(piece)?;
                return Ok(if take(StringPiece::Narrow(Latin1(&piece))) { piece.len() } else { 0 });
            }
            *narrow = false;
        }
        let piece: Units = units(self.read.call((at as f64, false).into())?)?;
        Ok(if take(StringPiece::Wide(Utf16(&piece))) { piece.len() } else { 0 })
    }

    fn check(&self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
