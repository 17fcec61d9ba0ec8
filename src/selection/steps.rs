//! The pieces of a text in the order in which they are kept, as far as any may fit.

use super::Selection;
use super::banners::banners;
use super::diff::{Place, Role};
use super::odd::odd;
use super::old::Old;
use super::order::{Order, Taken};
use super::page::{Page, Piece};
use super::reason::{DROPPED, Reason};
use super::shares::{Mix, WHOLE};
use super::shelf::Finding;
use super::spread;
use crate::limits::{Limits, Usage};
use crate::relevance::{Part, Relevance};

/// A piece that is kept, its size, the gaps that it adds, and the reason.
#[derive(Clone, Copy, Debug)]
pub struct Addition {
    pub at: usize,
    pub size: Usage,
    pub gaps: isize,
    pub reason: Reason,
}

/// The least weight of a failure in a text whose odd lines are sought. A source weighs less, and
/// its odd lines tell nothing.
const ODD: u64 = WHOLE / 10;

impl Selection {
    /// Orders the pieces until no more can fit. `places`: the places of the pieces in a diff.
    /// `mix`: the shares of the streams. `mark`: the chars of the largest mark in a gap.
    /// `explains`: order the lines that more room would keep next, too. Returns `None` if the
    /// text has nothing to keep but its ends.
    pub(crate) fn steps<'a>(
        &'a self,
        (pieces, places): (&'a [Piece<'a>], &'a [Option<Place>]),
        old: &Old,
        mix: Mix,
        mark: usize,
        limits: &Limits,
        explains: bool,
    ) -> Option<Vec<Addition>> {
        let last = pieces.last()?.unit.number;
        let units = old.first.number..=last;
        let is_in = |number: &usize| units.contains(number);
        let (state, question) = (&self.state, &self.aim.question);
        let mut findings: Vec<_> =
            state.lines.findings().filter(|finding| is_in(&finding.unit)).copied().collect();
        if mix.weight >= ODD {
            let numbers = |findings: &[Finding]| {
                let mut units: Vec<usize> = findings.iter().map(|finding| finding.unit).collect();
                units.sort_unstable();
                units
            };
            let (known, odd) = (numbers(&findings), odd(pieces).into_iter());
            findings.extend(odd.filter(|finding| known.binary_search(&finding.unit).is_err()));
            findings.extend(banners(pieces, &numbers(&findings)));
        }
        spread::sort(&mut findings, &units, state.tallies.last_run());
        let tallies = state.tallies.units().map(|(unit, _)| unit.number).filter(is_in).collect();
        let read = || {
            // Notices of earlier cuts say nothing about the text.
            let is_old = |piece: &Piece| old.size_of(piece.unit.number, piece.text, true).is_some();
            let text = |piece: &Piece<'a>| if piece.is_weighed && !is_old(piece) { piece.text } else { b"" };
            let part = |at| match places.get(at).copied().flatten() {
                Some(Place { role: Role::Change, file, .. }) => Part::Change(file),
                Some(Place { role: Role::Context, .. }) => Part::Context,
                _ => Part::Text,
            };
            let lines = pieces.iter().enumerate().map(|(at, piece)| (text(piece), part(at)));
            Relevance::new(lines, question)
        };
        let page = Page::new(pieces, places, units.clone(), mark, limits);
        let mut order = Order::new(page, mix, findings, tallies, !question.is_empty(), read);
        let (mut steps, mut taken) = (vec![], Usage::default());
        let mut explained = if explains { DROPPED } else { 0 };
        loop {
            for &Taken { at, gaps, reason } in &order.kept()[steps.len()..] {
                let size = pieces[at].size(last, limits);
                explained = explained.saturating_sub(usize::from(!taken.within(limits) && reason.tells()));
                taken = taken.plus(size);
                steps.push(Addition { at, size, gaps, reason });
            }
            if order.any() && !taken.within(limits) && explained == 0 || !order.step() {
                return order.any().then_some(steps);
            }
        }
    }
}
