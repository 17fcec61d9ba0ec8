//! Policies as TypeScript packs them: numbers in one array, besides strings.

use crate::limits::{Limits, UNLIMITED};
use crate::policy::{Keep, Policy};
use crate::share::Share;
use crate::text::Size;
use crate::text::notice::Notice;
use crate::text::saved::{Place, Saved};

/// The number of packed values; `check` in lib/policy.ts writes them in this order.
const LENGTH: usize = 15;

/// Unpacks a policy. `Infinity` becomes the largest integer, which lifts the limit. If the full output was saved,
/// `source` is followed by its path, id or failure, starting at byte `at`: each string argument is expensive, and few
/// policies need this one.
pub fn unpack(numbers: &[f64], notice: String, mut source: String, needles: Vec<String>) -> (Policy, Share) {
    let mut packed = [0.0; LENGTH];
    packed.copy_from_slice(&numbers[..LENGTH]);
    let [bytes, lines, chars, tokens, line_bytes, keep, head_share, snap, kind, is_error, share, ..] = packed;
    let [.., how, at, pages, exceeded] = packed;
    let limits = Limits {
        bytes: bytes as usize,
        lines: lines as usize,
        chars: chars as usize,
        tokens: tokens as usize,
        line_bytes: line_bytes as usize,
    };
    let keep = [Keep::Auto, Keep::Head, Keep::Tail, Keep::Ends, Keep::Findings][keep as usize];
    let notice = match kind as usize {
        0 => Notice::None,
        1 => Notice::Hint,
        2 => Notice::Pi,
        3 => Notice::Count,
        4 => Notice::Template(notice),
        5 => Notice::Literal(notice),
        6 => Notice::Glued(Box::new(Notice::Template(notice))),
        _ => Notice::Glued(Box::new(Notice::Literal(notice))),
    };
    let saved = match how as usize {
        0 => Saved::Nowhere,
        how => {
            let name = source.split_off(at as usize);
            match how {
                1 => Saved::Whole(Place::Path(name)),
                2 => Saved::Part(Place::Path(name)),
                3 => Saved::Whole(Place::Id(name)),
                4 => Saved::Part(Place::Id(name)),
                _ => Saved::Failed(name),
            }
        }
    };
    let share = [Share::Fair, Share::Order, Share::Each, Share::Stay][share as usize];
    (
        Policy {
            limits,
            keep,
            head_share,
            snap: snap != 0.0,
            notice,
            source,
            saved,
            pages: pages != 0.0,
            exceeded: told(&limits, exceeded as usize),
            is_error: is_error != 0.0,
            needles,
        },
        share,
    )
}

/// Reads the limits exceeded by a text that is not passed whole: one bit per limit, in order. Returns `None` for no
/// bits.
fn told(limits: &Limits, bits: usize) -> Option<Limits> {
    let amount = |at: usize| if bits >> at & 1 == 1 { UNLIMITED } else { 0 };
    (bits != 0).then(|| limits.exceeded([amount(0), amount(1), amount(2), amount(3)]))
}

/// Returns the number of a resolved choice; `KEPT` in lib/text/made.ts names them in this order.
pub fn kept_as(keep: Keep) -> usize {
    match keep {
        Keep::Head | Keep::Auto => 0,
        Keep::Tail => 1,
        Keep::Ends => 2,
        Keep::Findings => 3,
    }
}

/// Reads the length, bytes and newlines of a whole text. The last two are NaN if they are not needed.
pub fn totals(numbers: &[f64]) -> Option<Size> {
    (!numbers[1].is_nan()).then(|| Size {
        chars: numbers[0] as usize,
        bytes: numbers[1] as usize,
        newlines: numbers[2] as usize,
        broken: 0,
    })
}

/// Writes integers to the start of an array that JavaScript reads.
pub fn write(numbers: &mut [f64], values: &[usize]) {
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = *value as f64;
    }
}
