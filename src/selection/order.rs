//! The order in which the units of a text are kept, whatever the limits.
//!
//! Each stream knows its next unit, and the stream that has used least of its share goes next. So
//! more room only adds to what is kept.

use std::collections::VecDeque;

use super::page::Page;
use super::reason::Reason;
use super::shares::{Mix, STREAMS, Shares, Stream, WHOLE};
use super::shelf::{Finding, Worth};
use crate::relevance::{Lines, Names, Relevance};

/// A piece that is kept, the gaps that it adds, and the reason.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub at: usize,
    pub gaps: isize,
    pub reason: Reason,
}

/// The units of a text in the order in which they are kept.
pub struct Order<'a> {
    page: Page<'a>,
    shares: Shares,
    used: Shares,
    done: [bool; STREAMS.len()],
    /// The share of names while they wait for the findings to end.
    waiting: Option<u64>,
    head: Option<usize>,
    tail: Option<usize>,
    before: Option<usize>,
    findings: std::vec::IntoIter<Finding>,
    context: VecDeque<(usize, Reason)>,
    around: VecDeque<(usize, Reason)>,
    tallies: std::vec::IntoIter<usize>,
    answers: std::vec::IntoIter<usize>,
    read: Box<dyn Fn() -> Relevance<'a> + 'a>,
    names: Option<Names<'a>>,
    kept: Vec<Taken>,
    /// Context of a diff may be left.
    has_rest: bool,
    /// A unit is kept for another reason than its place at an end.
    any: bool,
}

impl<'a> Order<'a> {
    /// Orders the pieces of a page. `findings` and `tallies` are in their order; `read` weighs the
    /// words of all pieces.
    pub fn new(
        page: Page<'a>,
        mix: Mix,
        findings: Vec<Finding>,
        tallies: Vec<usize>,
        asks: bool,
        read: impl Fn() -> Relevance<'a> + 'a,
    ) -> Order<'a> {
        let needles = findings.iter().take_while(|finding| finding.worth == Worth::ASKED_FOR);
        let needles: Vec<usize> = needles.filter_map(|finding| page.index(finding.unit)).collect();
        let Mix { weight, mut shares } = mix;
        let waiting = (weight == WHOLE).then(|| std::mem::take(&mut shares[Stream::Names as usize]));
        let mut order = Order {
            shares,
            used: Shares::default(),
            done: [false; STREAMS.len()],
            waiting,
            head: page.first(),
            tail: page.last(),
            before: tallies.first().and_then(|tally| page.index(*tally)),
            findings: findings.into_iter(),
            context: VecDeque::new(),
            around: VecDeque::new(),
            tallies: tallies.into_iter(),
            answers: vec![].into_iter(),
            read: Box::new(read),
            names: None,
            kept: vec![],
            has_rest: true,
            any: false,
            page,
        };
        // The ends come first, so that names are new to them.
        let head = order.shares[Stream::Head as usize];
        order.used[Stream::Names as usize] =
            order.page.little() * waiting.unwrap_or(order.shares[Stream::Names as usize]) / head.max(1);
        if asks {
            let relevance = (order.read)();
            order.answers = relevance.answers().into_iter();
            order.names = Some(Names::new(relevance, &order.page));
        }
        order.any = !needles.is_empty();
        let reason = Reason::finding(Worth::ASKED_FOR);
        needles.into_iter().for_each(|at| order.keep(at, Stream::Findings, reason));
        // Where there is room for little, the loudest finding says more than an end. Text that is
        // code has none.
        let [of_head, of_findings] =
            [Stream::Head, Stream::Findings].map(|stream| order.shares[stream as usize]);
        if of_findings > 0
            && !order.any
            && let Some(units) = order.next_of(Stream::Findings)
        {
            // Of a failure that is not known, a finding at an end is a line of that end.
            let ends = [order.page.first(), order.page.last()];
            let is_beyond = |(at, _): &(usize, Reason)| of_findings > of_head || !ends.contains(&Some(*at));
            order.any = units.iter().any(is_beyond);
            units.into_iter().for_each(|(at, reason)| order.keep(at, Stream::Findings, reason));
        }
        order
    }

    /// Returns the kept pieces so far, in order.
    pub fn kept(&self) -> &[Taken] {
        &self.kept
    }

    /// Returns true if some unit is kept for another reason than its place at an end of the text.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Keeps the next units. Returns false if none are left, or if all that is ever kept are the
    /// ends of the text.
    pub fn step(&mut self) -> bool {
        while let Some(stream) = self.next_stream() {
            if !self.any && self.is_of_ends() {
                return false;
            }
            let Some(units) = self.next_of(stream) else {
                self.done[stream as usize] = true;
                continue;
            };
            let before = self.kept.len();
            units.into_iter().for_each(|(unit, reason)| self.keep(unit, stream, reason));
            if self.kept.len() > before {
                self.any |= !matches!(stream, Stream::Head | Stream::Tail | Stream::Before);
                return true;
            }
        }
        false
    }

    /// Keeps a unit, and those that no longer pay for a gap in their place.
    fn keep(&mut self, at: usize, stream: Stream, reason: Reason) {
        let mut next = Some((at, reason)).filter(|(at, _)| !self.page.is_kept(*at));
        while let Some((at, reason)) = next {
            let gaps = self.page.keep(at);
            self.kept.push(Taken { at, gaps, reason });
            if let Some(names) = &mut self.names {
                names.learn(at);
                if matches!(stream, Stream::Names | Stream::Answers) {
                    names.charge(at);
                }
            }
            self.used[stream as usize] += self.page.room(at);
            next = self.page.closes(at).next().map(|at| (at, Reason::GAP));
        }
    }

    /// Returns the stream that has used least of its share.
    fn next_stream(&mut self) -> Option<Stream> {
        if let Some(names) = self.waiting
            && self.done[Stream::Findings as usize]
            && self.context.is_empty()
            && self.around.is_empty()
        {
            self.waiting = None;
            // It did not save up while it waited.
            let next = self.least();
            self.shares[Stream::Names as usize] = names;
            let saved = next.map_or(0, |next| self.used[next] * names / self.shares[next]);
            self.used[Stream::Names as usize] = saved.max(self.used[Stream::Names as usize]);
        }
        self.least().or_else(|| self.rest()).map(|at| STREAMS[at])
    }

    /// Returns the stream that takes what no other wants: the context of a diff.
    fn rest(&mut self) -> Option<usize> {
        let context = if std::mem::take(&mut self.has_rest) { self.page.context() } else { vec![] };
        self.around.extend(context.into_iter().map(|at| (at, Reason::place(Stream::Around))));
        self.shares[Stream::Around as usize] = self.shares[Stream::Around as usize].max(1);
        self.least()
    }

    /// Returns true if no stream has a unit but those of the ends.
    fn is_of_ends(&self) -> bool {
        let is_done = |stream: &Stream| match stream {
            Stream::Head | Stream::Tail | Stream::Before => true,
            Stream::Context => self.context.is_empty(),
            Stream::Around => self.around.is_empty(),
            stream => self.done[*stream as usize] || self.shares[*stream as usize] == 0,
        };
        self.waiting.is_none() && STREAMS.iter().all(is_done)
    }

    fn least(&self) -> Option<usize> {
        let is_ready = |at: &usize| match STREAMS[*at] {
            Stream::Context => !self.context.is_empty(),
            Stream::Around => !self.around.is_empty(),
            _ => !self.done[*at],
        };
        let open = (0..STREAMS.len()).filter(|at| self.shares[*at] > 0).filter(is_ready);
        open.min_by(|a, b| (self.used[*a] * self.shares[*b]).cmp(&(self.used[*b] * self.shares[*a])))
    }

    /// Returns the next units of a stream. Some may be kept already.
    fn next_of(&mut self, stream: Stream) -> Option<Vec<(usize, Reason)>> {
        let place = |at: usize| vec![(at, Reason::place(stream))];
        match stream {
            Stream::Head => {
                let at = self.head.take()?;
                self.head = self.page.after(at);
                Some(if self.page.is_context(at) { vec![] } else { place(at) })
            }
            Stream::Tail => {
                let at = self.tail.take()?;
                self.tail = self.page.before(at);
                Some(if self.page.is_context(at) { vec![] } else { place(at) })
            }
            Stream::Before => {
                let at = self.before.take()?;
                self.before = self.page.before(at);
                Some(place(at))
            }
            Stream::Findings => {
                let finding = self.findings.next()?;
                let at = self.page.index(finding.unit);
                self.look_around(&finding, at);
                Some(at.map(|at| (at, Reason::finding(finding.worth))).into_iter().collect())
            }
            Stream::Context => self.context.pop_front().map(|beside| vec![beside]),
            Stream::Around => self.around.pop_front().map(|beside| vec![beside]),
            Stream::Tallies => {
                let tally = self.tallies.next()?;
                Some(self.page.index(tally).map(place).unwrap_or_default())
            }
            Stream::Answers => {
                let (at, names) = (self.answers.next()?, self.names.as_ref()?);
                let reason = |at| (at, Reason::points(stream, names.asked(at)));
                let owners = self.page.owners(at).into_iter().map(|at| (at, Reason::place(stream)));
                Some(self.page.around(at).map(reason).chain(owners).collect())
            }
            Stream::Names => {
                if self.names.is_none() {
                    let mut relevance = (self.read)();
                    self.kept.iter().for_each(|taken| relevance.learn(taken.at));
                    self.names = Some(Names::new(relevance, &self.page));
                }
                let names = self.names.as_mut()?;
                let (at, lines) = names.next(&self.page)?;
                let owners = if self.page.is_in_diff(at) { self.page.owners(at) } else { vec![] };
                let owners = owners.into_iter().map(|at| (at, Reason::place(stream)));
                Some(lines.map(|at| (at, Reason::points(stream, names.value(at)))).chain(owners).collect())
            }
        }
    }

    /// Adds the lines around a finding to their streams, the nearest first.
    fn look_around(&mut self, finding: &Finding, at: Option<usize>) {
        let page = &self.page;
        let outward = |first: usize, last: usize| {
            let (unit, most) = (finding.unit, (finding.unit - first).max(last - finding.unit));
            (1..=most).flat_map(move |by| {
                [
                    Some(unit + by).filter(|after| *after <= last),
                    unit.checked_sub(by).filter(|before| *before >= first),
                ]
            })
        };
        let units = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
            let index = |unit| at.map_or_else(|| page.index(unit), |at| page.index_near(at, unit));
            numbers.filter_map(index).collect()
        };
        let near =
            units(&mut finding.heading.into_iter().chain(outward(finding.first, finding.last).flatten()));
        let (first, last) = (finding.around.0.min(finding.unit), finding.around.1.max(finding.unit));
        let far = outward(first, last).flatten();
        let far = units(&mut far.filter(|number| !(finding.first..=finding.last).contains(number)));
        let beside = |stream| move |at| (at, Reason::beside(stream, finding.worth));
        self.context.extend(near.into_iter().map(beside(Stream::Context)));
        self.around.extend(far.into_iter().map(beside(Stream::Around)));
    }
}
