//! Keeps what a policy keeps of any amount of a process's output, in memory that the policy bounds.
//!
//! Chunks of two streams come as they come. A [`Stream`] cleans them, cuts long lines, counts, and keeps both ends and the
//! findings; nothing else of them stays. What is left in the end, or of a copy at any moment, is exactly what a cut of
//! the whole would leave.

mod binary;
mod frame;
mod left;
mod long_lines;
mod stream;
mod window;

use crate::limits::{Limits, UNLIMITED};
use crate::policy::Policy;
use crate::text::clean;
use crate::text::seam::Seam;

pub use frame::{Captured, compose};
pub use left::Left;
pub use stream::{Came, Stream};

/// Raw bytes that are kept for a file where no limit bounds them.
const RAW: usize = 8 << 20;

/// The output of a process, as it comes.
#[derive(Clone, Debug)]
pub struct Capture {
    limits: Limits,
    /// One of its own for each stream, or one for both.
    streams: Vec<Stream>,
    seams: [Seam; 2],
    /// All that came, in order of arrival, until it is taken.
    raw: Option<Vec<u8>>,
}

impl Capture {
    /// `separate`: each stream has a text and limits of its own. `keeps_raw`: what came may have to be saved.
    pub fn new(policy: &Policy, clean: Option<clean::Options>, separate: bool, keeps_raw: bool) -> Capture {
        let stream = Stream::new(policy, clean);
        Capture {
            limits: policy.limits,
            streams: if separate { vec![stream.clone(), stream] } else { vec![stream] },
            seams: Default::default(),
            raw: keeps_raw.then(Vec::new),
        }
    }

    /// Takes what was captured out; nothing more comes then.
    pub fn take(&mut self) -> Capture {
        let ended = Capture { limits: self.limits, streams: vec![], seams: Default::default(), raw: None };
        std::mem::replace(self, ended)
    }

    /// Takes a chunk of stream 0 or 1. A code point that it ends inside of waits for the next chunk of the same stream.
    /// `is_text`: it was a string, and is counted so.
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

    /// Whether what came has to be saved now: it is over a limit, or too much to wait.
    pub fn is_over(&self) -> bool {
        let most = if self.limits.bytes == UNLIMITED { RAW } else { RAW.max(self.limits.bytes) };
        self.streams.iter().any(Stream::is_over) || self.raw.as_ref().is_some_and(|raw| raw.len() > most)
    }

    /// Which of the texts stream 0 or 1 goes to.
    fn stream_of(&self, at: usize) -> usize {
        at.min(self.streams.len() - 1)
    }

    /// Gives away what came until now; what comes from now on is not kept for that.
    pub fn take_raw(&mut self) -> Vec<u8> {
        self.raw.take().unwrap_or_default()
    }

    /// Takes the end of stream 0 or 1.
    pub fn end(&mut self, at: usize) {
        let stream = self.stream_of(at);
        self.seams[at].finish(|piece| self.streams[stream].push(piece));
    }

    /// Takes the end of both, for what is left.
    pub fn finish(mut self) -> Vec<Stream> {
        self.end(0);
        self.end(1);
        for stream in &mut self.streams {
            stream.finish();
        }
        self.streams
    }

    /// Bytes of memory that are bounded by the policy; what is to be saved is not counted.
    pub fn memory(&self) -> usize {
        self.streams.iter().map(Stream::memory).sum()
    }
}
