//! Capturing the output of a process.

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::answer::answer;
use crate::cut::{Cut, JsText};
use crate::policy::{PolicyHandle, write};
use crate::units::Numbers;
use crate::words::{NoticeWords, Worded};
use spillway::capture::{self, Capture, CaptureOutput, StreamText};
use spillway::clean::CleanOptions;
use spillway::policy::Policy;

/// Begins a capture under a policy. `clean`: options as `start_cleaning` takes them, or empty to
/// keep the output as it is. `separate`: streams have separate texts. `keeps_raw`: raw bytes are
/// buffered for a file until taken.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'capture'>")]
pub fn start_capture(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    clean: Vec<bool>,
    separate: bool,
    keeps_raw: bool,
) -> External<Capture> {
    let clean = <[bool; 5]>::try_from(clean).ok();
    let options = clean.map(CleanOptions::from);
    External::new(Capture::new(policy, options, separate, keeps_raw))
}

/// Feeds a chunk of stream 0 or 1 and returns true if the output is over a limit. `is_text`: the
/// chunk was a string.
#[napi(catch_unwind)]
pub fn capture_chunk(
    #[napi(ts_arg_type = "ExternalObject<'capture'>")] capture: &mut External<Capture>,
    stream: u32,
    chunk: &[u8],
    is_text: bool,
) -> bool {
    capture.push(stream as usize, chunk, is_text);
    capture.is_over()
}

#[napi(catch_unwind)]
pub fn end_captured_stream(
    #[napi(ts_arg_type = "ExternalObject<'capture'>")] capture: &mut External<Capture>,
    stream: u32,
) {
    capture.end(stream as usize);
}

/// Takes the raw bytes buffered so far.
#[napi(catch_unwind)]
pub fn take_captured_bytes(
    #[napi(ts_arg_type = "ExternalObject<'capture'>")] capture: &mut External<Capture>,
) -> Buffer {
    capture.take_raw().into()
}

/// The end of a capture: its texts, and a handle to truncate them again.
#[napi(object, object_from_js = false)]
pub struct CaptureEnd {
    #[napi(ts_type = "ExternalObject<'captured'>")]
    pub captured: External<CaptureOutput>,
    pub texts: CapturedTexts,
}

/// The texts of a capture within their limits.
#[napi(object, object_from_js = false)]
pub struct CapturedTexts {
    /// The sections in their frame.
    #[napi(ts_type = "string")]
    pub text: JsText,
    /// The non-empty streams, in the order of the frame.
    pub sections: Vec<CapturedCut>,
    /// Each stream under the limits alone, if the streams are separate.
    pub streams: Vec<CapturedCut>,
}

/// A truncated text of a capture.
#[napi(object, object_from_js = false)]
pub struct CapturedCut {
    pub stream: u32,
    pub truncated: bool,
    pub cut: Cut,
}

impl CapturedCut {
    fn of(stream: usize, text: StreamText) -> CapturedCut {
        CapturedCut { stream: stream as u32, truncated: text.truncated, cut: text.cut.into() }
    }
}

/// Ends the capture, or a copy of it, and frames the result: `streams` under `labels`, in order,
/// then a closing line. `stdout` and `stderr`: the policies of the streams. `numbers` receives ten
/// numbers per stream: bytes, chars and lines of input, 1 if binary; bytes, chars and lines of the
/// text under the limits, its bytes once decoded, its tokens if limited, and 1 if it has a long
/// line.
#[napi(catch_unwind)]
#[allow(clippy::too_many_arguments, reason = "one call ends a capture")]
pub fn end_capture(
    #[napi(ts_arg_type = "ExternalObject<'capture'>")] capture: &mut External<Capture>,
    copy: bool,
    streams: Vec<u32>,
    labels: Vec<String>,
    closing: String,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] stdout: &PolicyHandle,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] stderr: &PolicyHandle,
    #[napi(ts_arg_type = "Float64Array")] numbers: Numbers,
) -> CaptureEnd {
    let ended = if copy { (**capture).clone() } else { capture.take() };
    let sections: Vec<(usize, &str)> =
        streams.iter().zip(&labels).map(|(stream, label)| (*stream as usize, label.as_str())).collect();
    let captured = CaptureOutput::new(ended.finish(), &sections, &closing, stdout);
    for (stream, row) in captured.streams().iter().zip(numbers.chunks_mut(10)) {
        let (came, text, extent) = (stream.came(), stream.size(), stream.extent());
        write(row, &[came.bytes, came.size.chars, came.lines(), usize::from(came.is_binary())]);
        write(&mut row[4..], &[text.bytes, text.chars, extent.lines(), extent.size.bytes]);
        write(&mut row[8..], &[extent.estimate.tokens(), usize::from(stream.has_long_line())]);
    }
    let texts = texts_of(&captured, [stdout, stderr]);
    CaptureEnd { captured: External::new(captured), texts }
}

/// Truncates the texts under other policies, as after the full output was saved.
#[napi(catch_unwind)]
pub fn captured_texts(
    #[napi(ts_arg_type = "ExternalObject<'captured'>")] captured: &External<CaptureOutput>,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] stdout: &PolicyHandle,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] stderr: &PolicyHandle,
) -> CapturedTexts {
    texts_of(captured, [stdout, stderr])
}

fn texts_of(captured: &CaptureOutput, policies: [&Policy; 2]) -> CapturedTexts {
    let sections: Vec<(usize, StreamText)> = captured
        .sections()
        .enumerate()
        .map(|(at, stream)| (stream, captured.truncate(at, policies[stream])))
        .collect();
    let parts: Vec<&[u8]> = sections.iter().map(|(_, text)| text.cut.middle.as_bytes()).collect();
    let text = answer(captured.compose(&parts));
    let alone = captured.streams().iter().zip(policies).enumerate().filter(|_| captured.streams().len() > 1);
    CapturedTexts {
        text,
        sections: sections.into_iter().map(|(stream, text)| CapturedCut::of(stream, text)).collect(),
        streams: alone
            .map(|(at, (stream, policy))| CapturedCut::of(at, stream.truncate(policy.into())))
            .collect(),
    }
}

/// Frees the memory without waiting for the garbage collector.
#[napi(catch_unwind)]
pub fn release_captured(
    #[napi(ts_arg_type = "ExternalObject<'captured'>")] captured: &mut External<CaptureOutput>,
) {
    captured.release();
}

/// Detaches an array buffer and frees its memory at once. Other holders see it empty.
#[napi(catch_unwind)]
pub fn release_chunk(buffer: ArrayBuffer) -> Result<()> {
    buffer.detach()
}

/// Truncates the text of a stream, with the notice of a function: a section of the frame to its
/// room, or the stream alone to the limits.
#[napi(catch_unwind)]
pub fn truncate_captured(
    #[napi(ts_arg_type = "ExternalObject<'captured'>")] captured: &External<CaptureOutput>,
    stream: u32,
    section: Option<u32>,
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    #[napi(ts_arg_type = "(facts: number[], keep: string) => string | null")] words: NoticeWords,
) -> Result<CapturedCut> {
    // The function may set the handle to another policy.
    let (policy, worded) = (Policy::clone(policy), Worded::new(&words));
    let (stream, section) = (stream as usize, section.map(|section| section as usize));
    let text = captured.truncate_worded(stream, section, &policy, &|facts| worded.text(facts));
    worded.check()?;
    Ok(CapturedCut::of(stream, text))
}

/// Joins the texts of the sections with the labels and the closing line around them.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn compose_captured(
    #[napi(ts_arg_type = "ExternalObject<'captured'>")] captured: &External<CaptureOutput>,
    texts: Vec<String>,
) -> JsText {
    answer(captured.compose(&texts.iter().map(String::as_bytes).collect::<Vec<_>>()))
}

/// Joins texts under their labels, followed by the closing line.
#[napi(catch_unwind, ts_return_type = "string")]
pub fn compose_output(labels: Vec<String>, texts: Vec<String>, closing: String) -> JsText {
    let sections = labels.iter().map(String::as_str).zip(texts.iter().map(String::as_bytes));
    answer(capture::compose(sections, &closing))
}
