//! Notices for a text that fits once its lines are truncated: marks name the omitted chars but not the saved output.

use super::clamp::{Cutter, before_closing};
use super::earlier::Closing;
use super::notice::Notice;
use super::source::{Clamped, Source};
use super::units::{NEWLINE, RETURN, Text};
use crate::limits::Limits;
use crate::policy::{Keep, Policy};

/// Adds a notice that names the full output, or a short line if only that fits. Keeps all of the text if either fits
/// beside it, and otherwise as much as the policy keeps. Returns `None` if neither fits beside any text.
pub fn tell<T: Text>(
    source: &Source<T>,
    limits: &Limits,
    policy: &Policy,
    notice: &Notice,
) -> Option<Clamped> {
    let short = policy.saved.line().map(Notice::Literal);
    let notices = || std::iter::once(notice).chain(&short);
    let mut ways = [true, false].into_iter().flat_map(|all| notices().map(move |notice| (all, notice)));
    ways.find_map(|(all, notice)| {
        let cut = |text: &Source<T>, closing: Option<Closing>, room: &Limits| {
            let mut cutter = Cutter::new(text, source, closing, room, policy, notice);
            if all {
                cutter.keeper.keep = Keep::Head;
            }
            let end = cutter.keeper.content.end;
            let is_left = |cut: &Clamped| match all {
                true => is_break(text.in_tail(cut.kept.head..end)),
                false => cut.kept.has_head() || cut.kept.has_tail(),
            };
            cutter.beside(notice).filter(is_left)
        };
        before_closing(source, limits, notice, |before, closing, room| cut(before, Some(closing), room))
            .or_else(|| cut(source, None, limits))
    })
}

/// Returns true if the text is at most a line break, which the break before a notice replaces.
fn is_break<T: Text>(rest: T) -> bool {
    match rest.len() {
        0 => true,
        1 => rest.unit(0) == NEWLINE,
        2 => rest.unit(0) == RETURN && rest.unit(1) == NEWLINE,
        _ => false,
    }
}
