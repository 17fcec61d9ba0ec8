//! What stands around what is left of a process's output: labels of its streams, and how it ended.

use super::left::Left;
use super::stream::Stream;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::room::{Taken, fair_rooms};
use crate::text::extent::Extent;
use crate::text::{Size, Utf8};

/// A stream under a label. An empty label is none.
#[derive(Clone, Debug)]
struct Section {
    stream: usize,
    label: String,
    /// Of the limits of the whole.
    room: Limits,
}

/// Output that has ended, with what stands around it in the text of all.
#[derive(Clone, Debug)]
pub struct Captured {
    streams: Vec<Stream>,
    sections: Vec<Section>,
    closing: String,
    /// Under which the rooms were given.
    limits: Limits,
}

impl Captured {
    /// Gives each stream that has a text its room within the limits. `sections`: streams with their labels, in order.
    /// `closing`: a line that comes last, kept where it fits at all; labels that do not fit beside it go.
    pub fn new(streams: Vec<Stream>, sections: &[(usize, &str)], closing: &str, policy: &Policy) -> Captured {
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
        // Each text may need a newline before what follows. It ends a line that was counted, but may be worth a token.
        let newlines = sections.len().saturating_sub(usize::from(closing.is_empty()));
        let newlines = Taken { bytes: newlines, lines: 0, chars: newlines, tokens: newlines };
        let taken = around(&sections, &closing, limits).unwrap_or_default().plus(newlines);
        let room = taken.rest_of(limits);
        let rooms = match sections.len() {
            0 | 1 => vec![room; sections.len()],
            // A small one stays whole, however large the other.
            _ => share(&streams, &sections, &room, policy),
        };
        for (section, room) in sections.iter_mut().zip(rooms) {
            section.room = room;
        }
        Captured { streams, sections, closing, limits: *limits }
    }

    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// What is left of a section within its room, which is so much smaller as the limits of the policy have become. It
    /// gives way to all that the limits are for, and its notice names the limits that all of that is over.
    pub fn clamp(&self, section: usize, policy: &Policy) -> Left {
        let policy = &*policy.naming(&policy.notice, |limits| limits.exceeded(self.amounts()));
        let Section { stream, room, .. } = &self.sections[section];
        let room = Taken::between(&self.limits, &policy.limits).rest_of(room);
        self.streams[*stream].clamp(&room, policy)
    }

    /// What the text of all would take.
    fn amounts(&self) -> [usize; 4] {
        let around = around(&self.sections, &self.closing, &self.limits).unwrap_or_default();
        let around = [around.bytes, around.lines, around.chars, around.tokens];
        let texts = self.sections.iter().map(|section| self.streams[section.stream].extent().amounts());
        texts.fold(around, |all, one| std::array::from_fn(|at| all[at] + one[at]))
    }

    /// The stream of each section.
    pub fn sections(&self) -> impl Iterator<Item = usize> {
        self.sections.iter().map(|section| section.stream)
    }

    /// Puts the texts of the sections together.
    pub fn compose(&self, texts: &[&[u8]]) -> Vec<u8> {
        let labels = self.sections.iter().map(|section| section.label.as_str());
        compose(labels.zip(texts.iter().copied()), &self.closing)
    }

    /// Gives all memory back. Nothing is left that could be clamped or composed.
    pub fn release(&mut self) {
        *self = Captured { streams: vec![], sections: vec![], closing: String::new(), limits: self.limits };
    }
}

/// The room of each section, shared as the blocks of a result share theirs.
fn share(streams: &[Stream], sections: &[Section], room: &Limits, policy: &Policy) -> Vec<Limits> {
    let sizes: Vec<Taken> = sections.iter().map(|section| streams[section.stream].taken(room)).collect();
    let all = streams.iter().fold(Size::default(), |sum, stream| sum + stream.size());
    let notice = policy.notice.largest(all, policy.labels(true));
    let notice = taken(&notice, room);
    // A line that is cut in two is rounded up twice.
    fair_rooms(&sizes, Taken { tokens: notice.tokens + 2, ..notice }, room)
}

/// What labels and the closing line take; nothing where one is longer than a line may be.
fn around(sections: &[Section], closing: &str, limits: &Limits) -> Option<Taken> {
    let lines = || sections.iter().map(|section| section.label.as_str()).chain([closing]);
    let fits = lines().all(|line| line.trim_end_matches('\n').len() <= limits.line_bytes);
    fits.then(|| lines().map(|line| taken(line, limits)).fold(Taken::default(), Taken::plus))
}

fn taken(text: &str, limits: &Limits) -> Taken {
    Taken::of(Extent::of(Utf8(text.as_bytes()), limits))
}

/// Puts texts together, each under its label and on lines of its own, and the closing line last.
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
