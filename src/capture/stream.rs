//! One captured text, reduced to the parts that a policy can need.

use std::borrow::Cow;

use super::binary::{is_binary, name_binary};
use super::long_lines::{LineFragment, LongLines};
use super::window::Window;
use crate::clean;
use crate::encoding::{Size, Text, Utf8, Utf16, count};
use crate::extent::Extent;
use crate::limits::{Limits, UNLIMITED, Usage};
use crate::notice::saved::SavedPart;
use crate::notice::span::Span;
use crate::policy::{Keep, Policy};
use crate::prepare::Preparation;
use crate::selection::{SearchTerms, Selection};
use crate::tokens::Estimate;
use crate::truncate::figures::KeptParts;
use crate::truncate::input::Input;
use crate::truncate::sides::Sides;
use crate::truncate::{Cut, Terms, truncate_with};

/// The size of a stream's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Came {
    pub bytes: usize,
    /// Its size after decoding.
    pub size: Size,
    /// It does not end in a newline.
    pub open: bool,
    /// Control characters that do not occur in text.
    controls: usize,
}

impl Came {
    fn add(&mut self, piece: &[u8], size: Size) {
        self.bytes += piece.len();
        self.size = self.size + size;
        self.open = if piece.is_empty() { self.open } else { !piece.ends_with(b"\n") };
    }

    pub fn lines(&self) -> usize {
        self.size.lines(self.open)
    }

    pub fn is_binary(&self) -> bool {
        is_binary(self.controls + self.size.broken, self.size.chars)
    }
}

/// Keeps both ends and the findings of a stream, and counts the rest.
#[derive(Clone, Debug)]
pub struct CapturedStream {
    limits: Limits,
    preparation: Option<Preparation>,
    prepared: Vec<u8>,
    came: Came,
    /// The text under the limits: the input, or its prepared form.
    text: Came,
    /// Counted only if tokens are limited.
    estimate: Estimate,
    long_lines: Option<LongLines>,
    kept: StreamParts,
    /// Some input arrived as bytes, and is counted in bytes.
    in_bytes: bool,
}

#[derive(Clone, Debug)]
struct StreamParts {
    window: Window,
    /// Present if the policy may need it.
    search: Option<Selection>,
}

impl CapturedStream {
    pub fn new(policy: &Policy, clean: Option<clean::CleanOptions>) -> CapturedStream {
        let limits = policy.limits.after_cutting_lines();
        // Without limits, no search is needed.
        let is_limited = Limits { line_bytes: UNLIMITED, ..limits } != Limits::NONE;
        // The command may turn out to have failed.
        let may_search = policy.searches() || policy.keep == Keep::HeadOrEnds;
        CapturedStream {
            limits: policy.limits,
            preparation: Preparation::new(clean, policy.redact.as_ref()),
            prepared: vec![],
            came: Came::default(),
            text: Came::default(),
            estimate: Estimate::default(),
            long_lines: (limits.line_bytes != UNLIMITED).then(|| LongLines::new(limits.line_bytes)),
            kept: StreamParts {
                window: Window::new(&policy.limits, policy.keep),
                search: (is_limited && may_search).then(|| Selection::new(&limits, SearchTerms::of(policy))),
            },
            in_bytes: false,
        }
    }

    /// Records that some input arrives as bytes.
    pub fn comes_as_bytes(&mut self) {
        self.in_bytes = true;
    }

    /// Takes a piece that ends between two code points.
    pub fn push(&mut self, piece: &[u8]) {
        let size = Utf8(piece).size();
        self.came.add(piece, size);
        self.came.controls += count::controls(piece);
        match &mut self.preparation {
            None => self.take(piece, size),
            Some(preparation) => {
                let mut prepared = std::mem::take(&mut self.prepared);
                preparation.push(piece, &mut prepared);
                self.take_prepared(prepared);
            }
        }
    }

    /// Ends the stream.
    pub fn finish(&mut self) {
        if let Some(preparation) = &mut self.preparation {
            let mut prepared = std::mem::take(&mut self.prepared);
            preparation.finish(&mut prepared);
            self.take_prepared(prepared);
        }
        if let Some(long_lines) = &mut self.long_lines {
            long_lines.finish(|part| self.kept.take_part(part));
        }
        self.kept.search.iter_mut().for_each(Selection::finish);
    }

    fn take_prepared(&mut self, mut prepared: Vec<u8>) {
        self.take(&prepared, Utf8(&prepared).size());
        prepared.clear();
        self.prepared = prepared;
    }

    fn take(&mut self, text: &[u8], size: Size) {
        self.text.add(text, size);
        if self.limits.counts_tokens() {
            self.estimate = self.estimate.and(Utf8(text));
        }
        match &mut self.long_lines {
            None => self.kept.take(text, size),
            Some(long_lines) => long_lines.push(text, |part| self.kept.take_part(part)),
        }
    }

    pub fn came(&self) -> &Came {
        &self.came
    }

    /// Returns the size of the text before lines are cut. Input that arrived as bytes is counted in
    /// bytes.
    pub fn size(&self) -> Size {
        if self.counts_bytes() { Size { bytes: self.text.bytes, ..self.text.size } } else { self.text.size }
    }

    /// Returns the extent of the text before lines are cut.
    pub fn extent(&self) -> Extent {
        Extent { size: self.text.size, open: self.text.open, estimate: self.estimate }
    }

    pub fn has_long_line(&self) -> bool {
        self.long_lines.as_ref().is_some_and(LongLines::any)
    }

    /// Returns true if the input or its prepared form is over a limit.
    pub fn is_over(&self) -> bool {
        let came = Extent { size: self.came.size, open: self.came.open, estimate: Estimate::default() };
        !came.fits(&self.limits) || !self.extent().fits(&self.limits) || self.has_long_line()
    }

    /// Returns the usage of each limit; if the text does not fit, more than any limit allows.
    pub fn usage(&self, limits: &Limits) -> Usage {
        // Leaves room to add a notice without overflow.
        const MOST: usize = usize::MAX / 4;
        let name;
        let text = match &self.kept.window {
            _ if self.came.is_binary() => {
                name = name_binary(self.came.bytes, &Limits::NONE, &SavedPart::Nowhere).cut.middle;
                name.as_bytes()
            }
            window if window.is_whole() => window.head(),
            _ => return Usage { bytes: MOST, lines: MOST, chars: MOST, tokens: MOST },
        };
        Extent::of(Utf8(text), limits).usage()
    }

    /// Returns the bytes of memory in use.
    pub fn memory(&self) -> usize {
        let StreamParts { window, search } = &self.kept;
        let search = search.as_ref().map_or(0, Selection::memory);
        let preparation = self.preparation.as_ref().map_or(0, Preparation::memory);
        window.memory() + search + preparation + self.prepared.capacity()
    }

    fn counts_bytes(&self) -> bool {
        self.in_bytes && !self.preparation.as_ref().is_some_and(Preparation::cleans)
    }

    /// Truncates the ended stream. The result equals that of truncating the whole text, except that
    /// notices of earlier cuts count as text.
    pub fn truncate(&self, terms: Terms) -> StreamText {
        if self.came.is_binary() {
            return name_binary(self.came.bytes, &terms.limits, &terms.policy.saved);
        }
        let terms = terms.naming(|limits| limits.exceeded(self.extent().usage()));
        let limits = terms.limits;
        let limits = if self.has_long_line() { limits.after_cutting_lines() } else { limits };
        let terms = Terms { limits, ..terms };
        let window = &self.kept.window;
        let (head, tail) = (window.head(), window.tail());
        if self.counts_bytes() {
            let input = Input::ends(Utf8(head), Utf8(tail), window.total());
            return self.truncate_input(input, &window.marks(), terms);
        }
        let units = |part| {
            let mut units = vec![];
            Utf8(part).write(&mut units);
            units
        };
        let (head, tail) = (units(head), units(if window.is_whole() { &[] } else { tail }));
        let input = Input::ends(Utf16(&head), Utf16(&tail), window.size().chars);
        self.truncate_input(input, &window.marks_in_chars(), terms)
    }

    fn truncate_input<T: Text>(&self, input: Input<T>, marks: &[Span], terms: Terms) -> StreamText {
        let input = Input { chars: Some(self.kept.window.size().chars), ..input };
        let input = input.with_totals(self.size()).with_marks(marks).fresh();
        let cut = truncate_with(&input, terms, || self.kept.search.as_ref().map(Cow::Borrowed));
        let truncated = cut.is_some() || self.has_long_line();
        let cut = cut.unwrap_or_else(|| Cut::whole(&input));
        let kept = cut.kept(&input);
        StreamText { cut: cut.detached(&input, kept), truncated }
    }
}

/// The text of a stream within its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamText {
    /// Independent of the stream.
    pub cut: Cut,
    /// Some of the text was omitted.
    pub truncated: bool,
}

impl StreamText {
    /// Returns a replacement for a whole text.
    pub fn named(text: String) -> StreamText {
        let (notice, within) = (0..text.len(), Some(KeptParts::default()));
        let cut = Cut { keep: Keep::Head, sides: Sides::default(), middle: text, notice, within };
        StreamText { cut, truncated: true }
    }
}

impl StreamParts {
    fn take_part(&mut self, part: LineFragment) {
        match part {
            LineFragment::Text(text) => self.take(text, Utf8(text).size()),
            LineFragment::Mark(mark) => {
                self.window.push_mark(mark);
                self.search.iter_mut().for_each(|search| search.push_mark(mark));
            }
        }
    }

    fn take(&mut self, text: &[u8], size: Size) {
        self.window.push(text, size);
        if let Some(search) = &mut self.search {
            if size.broken == 0 {
                return search.push(text);
            }
            for chunk in text.utf8_chunks() {
                search.push(chunk.valid().as_bytes());
                if !chunk.invalid().is_empty() {
                    search.push_broken(chunk.invalid().len());
                }
            }
        }
    }
}
