//! Captures the output of a process in memory bounded by its policy.
//!
//! Chunks of two streams may arrive in any order. A [`CapturedStream`] cleans them, cuts long
//! lines, counts, and keeps only both ends and the findings. The result, or that of a copy at any
//! time, equals a cut of the whole output.

mod binary;
mod frame;
mod long_lines;
mod stream;
mod window;

use crate::clean;
use crate::encoding::decoder::Seam;
use crate::limits::{Limits, UNLIMITED};
use crate::policy::Policy;

pub use frame::{CaptureOutput, compose};
pub use stream::{Came, CapturedStream, StreamText};

/// Maximum raw bytes buffered for a file if bytes are unlimited.
const RAW: usize = 8 << 20;

/// The output of a process so far.
#[derive(Clone, Debug)]
pub struct Capture {
    limits: Limits,
    /// One stream for each output, or one for both.
    streams: Vec<CapturedStream>,
    seams: [Seam; 2],
    /// Raw bytes in order of arrival, until they are taken.
    raw: Option<Vec<u8>>,
}

impl Capture {
    /// Starts a capture. `separate`: each stream has its own text and limits. `keeps_raw`: the
    /// output may have to be saved.
    pub fn new(
        policy: &Policy,
        clean: Option<clean::CleanOptions>,
        separate: bool,
        keeps_raw: bool,
    ) -> Capture {
        let stream = CapturedStream::new(policy, clean);
        Capture {
            limits: policy.limits,
            streams: if separate { vec![stream.clone(), stream] } else { vec![stream] },
            seams: Default::default(),
            raw: keeps_raw.then(Vec::new),
        }
    }

    /// Takes the captured state out. Nothing may be pushed afterwards.
    pub fn take(&mut self) -> Capture {
        let ended = Capture { limits: self.limits, streams: vec![], seams: Default::default(), raw: None };
        std::mem::replace(self, ended)
    }

    /// Takes a chunk of stream 0 or 1. An incomplete code point at its end waits for the stream's
    /// next chunk. `is_text`: the chunk was a string, which is counted in chars.
    pub fn push(&mut self, at: usize, chunk: &[u8], is_text: bool) {
        if let Some(raw) = &mut self.raw {
            raw.extend_from_slice(chunk);
        }
        let stream = self.stream_of(at);
        if !is_text {
            self.streams[stream].comes_as_bytes();
        }
        self.seams[at].push(chunk, |piece| self.streams[stream].push(piece));
    }

    /// Returns true if the output must be saved now: it is over a limit, or too large to buffer.
    pub fn is_over(&self) -> bool {
        let most = if self.limits.bytes == UNLIMITED { RAW } else { RAW.max(self.limits.bytes) };
        self.streams.iter().any(CapturedStream::is_over)
            || self.raw.as_ref().is_some_and(|raw| raw.len() > most)
    }

    /// Returns the index of the text for stream 0 or 1.
    fn stream_of(&self, at: usize) -> usize {
        at.min(self.streams.len() - 1)
    }

    /// Takes the raw bytes buffered so far, and stops buffering.
    pub fn take_raw(&mut self) -> Vec<u8> {
        self.raw.take().unwrap_or_default()
    }

    /// Ends stream 0 or 1.
    pub fn end(&mut self, at: usize) {
        let stream = self.stream_of(at);
        self.seams[at].finish(|piece| self.streams[stream].push(piece));
    }

    /// Ends both streams and returns their texts.
    pub fn finish(mut self) -> Vec<CapturedStream> {
        self.end(0);
        self.end(1);
        for stream in &mut self.streams {
            stream.finish();
        }
        self.streams
    }

    /// Returns the bytes of memory that the policy bounds; raw bytes are not included.
    pub fn memory(&self) -> usize {
        self.streams.iter().map(CapturedStream::memory).sum()
    }
}
