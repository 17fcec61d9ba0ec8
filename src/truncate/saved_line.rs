//! Notices for a text that fits once its lines are truncated: marks name the omitted chars but not
//! the saved output.

use super::closing::{Closing, keep_closing};
use super::head_tail::HeadTail;
use super::input::Input;
use super::{Cut, Terms};
use crate::encoding::{NEWLINE, RETURN, Text};
use crate::notice::Notice;
use crate::policy::Keep;

/// Adds a notice that names the full output, or a short line if only that fits. Keeps all of the
/// text if either fits beside it, and otherwise as much as the policy keeps. Returns `None` if
/// neither fits beside any text.
pub fn add<T: Text>(input: &Input<T>, terms: Terms, closing: Option<&Closing>) -> Option<Cut> {
    let short = terms.policy.saved.line().map(Notice::Literal);
    let notices = || std::iter::once(terms.notice).chain(&short);
    let mut ways = [true, false].into_iter().flat_map(|all| notices().map(move |notice| (all, notice)));
    ways.find_map(|(all, notice)| {
        let terms = Terms { notice, ..terms };
        let cut = |text: &Input<T>, terms: Terms, closing: Option<&Closing>| {
            let mut ends = HeadTail::new(text, input, closing, terms);
            if all {
                ends.fitter.keep = Keep::Head;
            }
            let end = ends.fitter.content.end;
            let is_left = |cut: &Cut| match all {
                true => is_break(text.in_tail(cut.sides.head..end)),
                false => cut.sides.has_head() || cut.sides.has_tail(),
            };
            ends.with_notice(notice).filter(is_left)
        };
        let closed = closing.and_then(|closing| {
            let before = &input.before(closing.start);
            keep_closing(input, terms, closing, |room| cut(before, room, Some(closing)))
        });
        closed.or_else(|| cut(input, terms, None))
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
