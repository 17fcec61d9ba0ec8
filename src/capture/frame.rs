//! The frame around a process's captured output: labels of its streams, and a closing line.

use super::stream::{CapturedStream, StreamText};
use crate::encoding::{Size, Utf8};
use crate::extent::Extent;
use crate::fair::split_fairly;
use crate::limits::{Limits, Usage};
use crate::notice::saved::SavedPart;
use crate::policy::Policy;
use crate::truncate::Terms;
use crate::truncate::worded::{NoticeFacts, Words, exceeded_by, settle};

/// A stream and its label, which may be empty.
#[derive(Clone, Debug)]
struct Section {
    stream: usize,
    label: String,
    /// The section's share of the limits.
    room: Limits,
}

/// Output that has ended, in its frame.
#[derive(Clone, Debug)]
pub struct CaptureOutput {
    streams: Vec<CapturedStream>,
    sections: Vec<Section>,
    closing: String,
    /// The limits that the rooms were computed from.
    limits: Limits,
}

impl CaptureOutput {
    /// Gives each non-empty stream its room within the limits. `sections`: streams with their
    /// labels, in order. `closing`: the last line. If the frame does not fit, the labels are
    /// dropped first, then the closing line.
    pub fn new(
        streams: Vec<CapturedStream>,
        sections: &[(usize, &str)],
        closing: &str,
        policy: &Policy,
    ) -> CaptureOutput {
        let limits = &policy.limits;
        let is_alone = sections.len() == 1;
        let shown = sections.iter().filter(|(at, _)| is_alone || streams[*at].came().bytes > 0);
        let mut sections: Vec<Section> =
            shown.map(|&(stream, label)| Section { stream, label: label.into(), room: *limits }).collect();
        let mut closing = closing.to_owned();
        let fits = |sections: &[Section], closing: &str| {
            around(sections, closing, limits).is_some_and(|taken| taken.within(limits))
        };
        if !fits(&sections, &closing) {
            sections.iter_mut().for_each(|section| section.label.clear());
        }
        if !fits(&sections, &closing) {
            closing.clear();
        }
        // Each text may need a newline before the next part. That ends a line already counted, but
        // may cost a token.
        let newlines = sections.len().saturating_sub(usize::from(closing.is_empty()));
        let newlines = Usage { bytes: newlines, lines: 0, chars: newlines, tokens: newlines };
        let taken = around(&sections, &closing, limits).unwrap_or_default().plus(newlines);
        let room = limits.less(taken);
        let rooms = match sections.len() {
            0 | 1 => vec![room; sections.len()],
            // A small stream stays whole, however large the other.
            _ => share(&streams, &sections, &room, policy),
        };
        for (section, room) in sections.iter_mut().zip(rooms) {
            section.room = room;
        }
        CaptureOutput { streams, sections, closing, limits: *limits }
    }

    pub fn streams(&self) -> &[CapturedStream] {
        &self.streams
    }

    /// Truncates a section to its room, reduced by as much as the policy's limits have shrunk
    /// since. The notice names the limits that the whole output exceeds.
    pub fn truncate(&self, section: usize, policy: &Policy) -> StreamText {
        let terms = Terms::from(policy).naming(|limits| limits.exceeded(self.usage()));
        let Section { stream, room, .. } = &self.sections[section];
        let limits = room.less(Usage::between(&self.limits, &policy.limits));
        self.streams[*stream].truncate(Terms { limits, ..terms })
    }

    /// Truncates a section, or a stream alone, with the notice of a function.
    pub fn truncate_worded(
        &self,
        stream: usize,
        section: Option<usize>,
        policy: &Policy,
        words: Words,
    ) -> StreamText {
        let whole = &self.streams[stream];
        let cut = |own: &Policy| match section {
            Some(section) => self.truncate(section, own),
            None => whole.truncate(Terms::from(own)),
        };
        let facts = |text: &StreamText| {
            let extent = whole.extent();
            let total = Usage { bytes: whole.size().bytes, tokens: 0, ..extent.usage() };
            let exceeded = exceeded_by(extent.usage(), whole.has_long_line(), &policy.limits);
            let kept = text.cut.within.clone().unwrap_or_default();
            text.truncated.then(|| NoticeFacts::of(text.cut.keep, total, kept, exceeded))
        };
        let ranges = |text: &StreamText| text.cut.within.as_ref().map(|kept| kept.ranges.clone());
        let has = |text: &StreamText, notice: &str| text.cut.notice_text(0) == notice;
        settle(policy, words, cut, facts, has, |a, b| ranges(a) == ranges(b))
    }

    /// Returns the untruncated size of the whole output, frame included.
    fn usage(&self) -> Usage {
        let around = around(&self.sections, &self.closing, &self.limits).unwrap_or_default();
        let texts = self.sections.iter().map(|section| self.streams[section.stream].extent().usage());
        texts.fold(around, Usage::plus)
    }

    /// Iterates over the streams of the sections.
    pub fn sections(&self) -> impl Iterator<Item = usize> {
        self.sections.iter().map(|section| section.stream)
    }

    /// Joins the texts of the sections in their frame.
    pub fn compose(&self, texts: &[&[u8]]) -> Vec<u8> {
        let labels = self.sections.iter().map(|section| section.label.as_str());
        compose(labels.zip(texts.iter().copied()), &self.closing)
    }

    /// Frees all memory. Nothing can be truncated or composed afterwards.
    pub fn release(&mut self) {
        *self =
            CaptureOutput { streams: vec![], sections: vec![], closing: String::new(), limits: self.limits };
    }
}

/// Returns the room of each section, shared as among blocks of a result.
fn share(streams: &[CapturedStream], sections: &[Section], room: &Limits, policy: &Policy) -> Vec<Limits> {
    let sizes: Vec<Usage> = sections.iter().map(|section| streams[section.stream].usage(room)).collect();
    let all = streams.iter().fold(Size::default(), |sum, stream| sum + stream.size());
    let notice = policy.notice.largest(all, Terms::from(policy).labels(true, &SavedPart::Nowhere));
    let notice = taken(&notice, room);
    // Splitting a line rounds its tokens up twice.
    split_fairly(&sizes, Usage { tokens: notice.tokens + 2, ..notice }, room)
}

/// Returns the size of the labels and the closing line, or `None` if one exceeds the limit on
/// lines.
fn around(sections: &[Section], closing: &str, limits: &Limits) -> Option<Usage> {
    let lines = || sections.iter().map(|section| section.label.as_str()).chain([closing]);
    let fits = lines().all(|line| line.trim_end_matches('\n').len() <= limits.line_bytes);
    fits.then(|| lines().map(|line| taken(line, limits)).fold(Usage::default(), Usage::plus))
}

fn taken(text: &str, limits: &Limits) -> Usage {
    Extent::of(Utf8(text.as_bytes()), limits).usage()
}

/// Joins texts, each under its label and starting on a new line, and the closing line.
pub fn compose<'a>(sections: impl Iterator<Item = (&'a str, &'a [u8])>, closing: &str) -> Vec<u8> {
    let mut all = vec![];
    let start_line = |all: &mut Vec<u8>| {
        if all.last().is_some_and(|byte| *byte != b'\n') {
            all.push(b'\n');
        }
    };
    for (label, text) in sections {
        start_line(&mut all);
        all.extend_from_slice(label.as_bytes());
        all.extend_from_slice(text);
    }
    if !closing.is_empty() {
        start_line(&mut all);
        all.extend_from_slice(closing.as_bytes());
    }
    all
}
