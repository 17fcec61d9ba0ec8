//! Rewrites one row.

use super::body::Body;
use super::budget::Limit;
use super::clamp::{Clamped, Fit, Left, Rules, body_of, clamp_json, clamp_slots};
use super::draft::Draft;
use super::entry::Entry;
use super::patch::Patch;
use super::side::{self, Side};
use crate::dialect::path::Follower;
use crate::dialect::{Table, ToolResult};
use crate::json::scan::{Kind, Span};
use crate::json::tree::{TOP, Tree};
use crate::json::write;
use crate::text::Utf16;
use crate::text::earlier;
use crate::text::figures::original_chars;
use crate::text::source::Source;

/// The options that apply to every row.
#[derive(Clone, Debug)]
pub struct Options {
    pub rules: Rules,
    pub side: SideData,
    /// Only process results of this dialect.
    pub dialect: Option<String>,
}

/// The treatment of side data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideData {
    Keep,
    /// Shrink to `max` bytes if larger than `max + spare`.
    Cap {
        max: usize,
        spare: usize,
    },
    Drop,
}

/// The changes to a row.
#[derive(Debug)]
pub struct Rewritten {
    pub patch: Patch,
    /// Some of a result was omitted.
    pub cut: bool,
    /// The number of limits that matched a result.
    pub limits: usize,
}

/// A tool result, measured for planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    pub id: Option<String>,
    /// Chars at present, and after its own limits.
    pub present: usize,
    pub chars: usize,
    /// Chars before it was first truncated.
    pub original: usize,
}

impl Options {
    pub fn results(&self, row: &[u8], entry: &Entry) -> Vec<ToolResult<'static>> {
        let Some(message) = &entry.message else { return vec![] };
        Table::get().results(row, message, self.dialect.as_deref())
    }

    /// Truncates the results of a row. `limits` are those of a budget for some of its results, in order.
    #[inline(never)]
    pub fn rewrite(&self, row: &[u8], entry: &Entry, limits: &[Limit]) -> Rewritten {
        let follower = Table::get().follower(row);
        let results = self.results(row, entry);
        let (mut draft, mut cut, mut applied) = (Draft::of(follower), false, 0);
        for (nth, result) in results.iter().enumerate() {
            let rules = self.rules.failed(result.is_error(follower));
            let bodies = bodies_of(row, result);
            let limit = limits.binary_search_by_key(&nth, |limit| limit.nth).ok().map(|at| &limits[at]);
            let limit = limit.filter(|limit| limit.present == chars_of(&bodies));
            applied += usize::from(limit.is_some());
            let rules = limit.map_or_else(|| rules.clone(), |limit| rules.shortened(limit.max_chars));
            let clamped = clamp_slots(row, &result.slots, &bodies, &rules);
            drop(bodies);
            cut |= clamped.truncated;
            if clamped.changes() {
                draft.edit(result, clamped.left);
            }
            cut |= self.cap_side(&mut draft, follower, result);
        }
        let second = entry.second_copy(follower).filter(|_| !results.is_empty());
        if let Some(copy) = second {
            cut |= self.cap(&mut draft, row, entry.root.span, copy.key, copy.value);
        }
        let patch = draft.done();
        if patch.changes(row) {
            Rewritten { patch, cut, limits: applied }
        } else {
            Rewritten { patch: Patch::default(), cut: false, limits: applied }
        }
    }

    /// Caps or drops the side data of a result.
    #[inline(never)]
    fn cap_side(&self, draft: &mut Draft, follower: Follower, result: &ToolResult) -> bool {
        let mut cut = false;
        let sides = if self.side == SideData::Keep { vec![] } else { result.side(follower) };
        for side in sides {
            let Some(member) = side.member else { continue };
            cut |= self.cap(draft, follower.row, side.holder, member.key, side.value);
            let is_structured = member.key.of(follower.row) == b"\"structuredContent\"";
            if self.side == SideData::Drop && is_structured && result.slots.is_empty() {
                self.say_in_text(draft, follower, result, side.value);
            }
        }
        if cut {
            draft.mirror(result);
        }
        cut
    }

    #[inline(never)]
    fn cap(&self, draft: &mut Draft, row: &[u8], holder: Span, key: Span, value: Span) -> bool {
        let left = match self.side {
            SideData::Keep => Side::Same,
            SideData::Cap { max, spare } => side::cap(row, value, max, max.saturating_add(spare)),
            SideData::Drop => Side::Gone,
        };
        match left {
            Side::Same => return false,
            Side::Json(json) => draft.replace(value, json),
            Side::Gone => draft.remove(holder, key),
        }
        true
    }

    /// Puts dropped structured content of an MCP result into a text block, since it has no other text.
    fn say_in_text(&self, draft: &mut Draft, follower: Follower, result: &ToolResult, value: Span) {
        let row = follower.row;
        let body = Body::Made(Tree::of(row, value).json(TOP));
        let body = body.cleaned(self.rules.clean).map_or(body, Body::Made);
        let text = match clamp_json(&body, &self.rules.policy) {
            Fit::Cleaned(text) | Fit::Cut(text) => text,
            Fit::Whole | Fit::Broken => body.literal().units(),
        };
        let mut block = b"{\"type\":\"text\",\"text\":".to_vec();
        write::literal(&text, &mut block);
        block.push(b'}');
        let content = follower.get(&result.object, "content");
        match content.filter(|content| Kind::of(content.of(row)) == Kind::Array) {
            Some(content) => draft.push(content, block),
            None => draft.set(result.object.span, "content", [b"[", &block[..], b"]"].concat()),
        }
    }

    /// Measures the results of a row.
    #[inline(never)]
    pub fn measure(&self, row: &[u8], entry: &Entry) -> Vec<Measured> {
        let follower = Table::get().follower(row);
        let measure = |result: &ToolResult| {
            let rules = self.rules.failed(result.is_error(follower));
            let bodies = bodies_of(row, result);
            let clamped = clamp_slots(row, &result.slots, &bodies, &rules);
            let (chars, original) = after(&bodies, &clamped);
            Measured { id: result.id(follower), present: chars_of(&bodies), chars, original }
        };
        self.results(row, entry).iter().map(measure).collect()
    }
}

pub fn bodies_of<'a>(row: &'a [u8], result: &ToolResult) -> Vec<Body<'a>> {
    result.slots.iter().map(|slot| body_of(row, slot)).collect()
}

fn chars_of(bodies: &[Body]) -> usize {
    bodies.iter().map(|body| body.size().chars).sum()
}

/// Returns the remaining chars, and those before the first truncation.
fn after(bodies: &[Body], clamped: &Clamped) -> (usize, usize) {
    let (mut chars, mut original) = (0, 0);
    for (body, left) in bodies.iter().zip(&clamped.left) {
        let (head, tail, length) = match left {
            Left::Gone => continue,
            Left::Text(text) => (text.clone(), vec![], text.len()),
            Left::Same | Left::WellFormed => {
                let length = body.size().chars;
                // The ends of a long text suffice to find most notices.
                if length <= earlier::SEARCHED {
                    (body.literal().units(), vec![], length)
                } else {
                    (body.literal().head(earlier::LONGEST), body.literal().tail(earlier::LONGEST), length)
                }
            }
        };
        chars += length;
        original += original_chars(&Source::ends(Utf16(&head), Utf16(&tail), length));
    }
    (chars, original)
}
