//! Plans how much of each tool result in a history may stay.
//!
//! Every result is first capped on its own. If the total is still over budget, older results shrink
//! in turn, from one end of the history to the other: to some content and a notice, then to a
//! notice, and the result that meets the budget keeps the exact remainder. The latest results then
//! share what is left: small ones stay whole, the others get equal room. If that is less than a
//! notice, older results shrink to `[...]`, and the latest share what is left then.

use crate::fair::level;
use crate::limits::Limits;
use crate::notice::NoticePlace;
use crate::notice::counts::{Amount, Counts, Labels, line_ranges};
use crate::notice::saved::SavedPart;
use crate::policy::{Keep, Policy};
use crate::truncate::Terms;
use crate::truncate::figures::Original;
use crate::truncate::sides::separators;

/// A tool result, reduced to its lengths for planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLengths {
    pub chars: usize,
    /// Chars before it was first truncated, which notices count from; equal to `chars` if it never
    /// was.
    pub original: usize,
    /// Chars by which its notice is longer that names the saved output, if the notice does.
    pub named: usize,
    /// It follows the last message of the model.
    pub latest: bool,
}

/// The results that shrink first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Oldest,
    Newest,
}

/// When the latest results shrink to meet a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latest {
    AsOthers,
    Last,
    Never,
}

/// A budget for all results together.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate {
    pub chars: usize,
    pub order: Order,
    pub latest: Latest,
    /// Chars of content that each result keeps if possible.
    pub min_keep: usize,
    /// The smallest size of a result, even over budget.
    pub floor: Floor,
}

/// A result to truncate, to fewer chars than it has but at least `[...]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultCap {
    pub index: usize,
    pub max_chars: usize,
}

/// The least a result can shrink to: `[...]`.
const DOTS: usize = 5;

/// Plans cuts that keep each result within `cap` and all within the budget. `notice` returns the
/// chars of a notice for an omitted amount. Planning is idempotent: the planned results need no
/// further cuts.
pub fn plan(
    results: &[ResultLengths],
    cap: usize,
    budget: &Aggregate,
    notice: impl Fn(Amount) -> usize,
) -> Vec<ResultCap> {
    let mut left: Vec<usize> = results.iter().map(|result| result.chars.min(cap.max(DOTS))).collect();
    let (latest, mut older): (Vec<usize>, Vec<usize>) =
        (0..results.len()).partition(|&at| budget.latest != Latest::AsOthers && results[at].latest);
    if budget.order == Order::Newest {
        older.reverse();
    }
    let spared = budget.latest == Latest::Never;
    let applies = |(is_latest, floor): &(bool, Floor)| *floor <= budget.floor && !(*is_latest && spared);
    for (is_latest, floor) in STEPS.into_iter().filter(applies) {
        let over = left.iter().sum::<usize>().saturating_sub(budget.chars);
        let least = |at: &usize| least_chars(floor, &results[*at], budget, &notice);
        match over {
            0 => break,
            _ if is_latest => shrink_equally(&mut left, &latest, least, over),
            _ => shrink_in_turn(&mut left, &older, least, over),
        }
    }
    let kept = left.into_iter().enumerate().filter(|&(index, max_chars)| max_chars < results[index].chars);
    kept.map(|(index, max_chars)| ResultCap { index, max_chars }).collect()
}

/// Rounds of planning: each original size changes the length of a notice, and a few chars move.
const ROUNDS: usize = 4;
/// Chars above the minimum that leave room for a notice with any number of digits.
const FEW: usize = 512;

/// Plans as [`plan`] does, and looks up the original sizes of results that keep little more than a
/// notice. `originals` returns those of the results at some indexes.
pub fn plan_with_originals(
    results: &mut [ResultLengths],
    cap: usize,
    budget: &Aggregate,
    notice: impl Fn(Amount) -> usize,
    mut originals: impl FnMut(&[usize]) -> Vec<Original>,
) -> Vec<ResultCap> {
    let few = budget.min_keep.saturating_add(FEW);
    let mut steps = plan(results, cap, budget, &notice);
    for _ in 1..ROUNDS {
        let small: Vec<usize> =
            steps.iter().filter(|step| step.max_chars <= few).map(|step| step.index).collect();
        let mut is_new = false;
        for (&index, Original { chars, named }) in small.iter().zip(originals(&small)) {
            let known = ResultLengths { original: chars, named, ..results[index] };
            is_new |= known != std::mem::replace(&mut results[index], known);
        }
        if !is_new {
            break;
        }
        steps = plan(results, cap, budget, &notice);
    }
    steps
}

/// Shrinks results one after the other, until they are `over` chars smaller.
fn shrink_in_turn(left: &mut [usize], group: &[usize], least: impl Fn(&usize) -> usize, mut over: usize) {
    for at in group {
        let freed = left[*at].saturating_sub(least(at)).min(over);
        left[*at] -= freed;
        over -= freed;
        if over == 0 {
            return;
        }
    }
}

/// Shrinks results to one level at which they are `over` chars smaller, in whichever order they
/// stand. One floor holds for all, or a result under an equal share would shrink for the longer
/// notice of another.
fn shrink_equally(left: &mut [usize], group: &[usize], least: impl Fn(&usize) -> usize, over: usize) {
    let sizes: Vec<usize> = group.iter().map(|&at| left[at]).collect();
    let room = sizes.iter().sum::<usize>().saturating_sub(over);
    let most = level(sizes, room).max(group.iter().map(least).max().unwrap_or(0));
    for &at in group {
        left[at] = left[at].min(most);
    }
}

/// The size that a result shrinks to in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Floor {
    /// The minimum content and a notice.
    Content,
    Notice,
    Dots,
}

const STEPS: [(bool, Floor); 6] = [
    (false, Floor::Content),
    (false, Floor::Notice),
    (true, Floor::Content),
    (true, Floor::Notice),
    (false, Floor::Dots),
    (true, Floor::Dots),
];

/// Returns the chars that a result shrinks to in one step.
fn least_chars(
    floor: Floor,
    result: &ResultLengths,
    budget: &Aggregate,
    notice: impl Fn(Amount) -> usize,
) -> usize {
    let total = result.original;
    let with_notice = |kept: usize| {
        kept.saturating_add(notice(Amount { omitted: total.saturating_sub(kept), total }))
            .saturating_add(result.named)
    };
    let chars = match floor {
        Floor::Content => with_notice(budget.min_keep),
        Floor::Notice => with_notice(0),
        Floor::Dots => DOTS,
    };
    chars.max(DOTS)
}

/// Returns the chars of a policy's notice, separators included. Assumes that 'auto' keeps the head,
/// and the largest possible numbers of bytes and lines.
pub fn notice_chars(policy: &Policy, missing: Amount) -> usize {
    let place = match policy.keep {
        _ if missing.omitted == missing.total => NoticePlace::Alone,
        Keep::Tail => NoticePlace::BeforeTail,
        Keep::Ends | Keep::Findings | Keep::Relevant => NoticePlace::Between,
        Keep::Head | Keep::HeadOrEnds | Keep::Auto => NoticePlace::AfterHead,
    };
    // The cut will have its own limit in chars, which is below the total.
    let limits = Limits { chars: policy.limits.chars.min(missing.total), ..policy.limits };
    let bytes = Amount { omitted: missing.omitted.saturating_mul(3), total: missing.total.saturating_mul(3) };
    let tells_lines = policy.notice.needs(false).lines;
    let kept_lines = if tells_lines { line_ranges([(1, missing.total)]) } else { String::new() };
    let counts = Counts { chars: missing, bytes, lines: missing, kept_lines, ..Counts::default() };
    let labels = Labels { limits, ..Terms::from(policy).labels(false, &SavedPart::Nowhere) };
    let text = policy.notice.render(place, &counts, labels);
    let (lead, trail) = separators(&policy.notice, place, &text);
    lead.len() + text.encode_utf16().count() + trail.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNLIMITED;
    use crate::notice::Notice;

    const RECOVERY: Aggregate = Aggregate {
        chars: UNLIMITED,
        order: Order::Oldest,
        latest: Latest::Last,
        min_keep: 0,
        floor: Floor::Dots,
    };

    /// Plans for results with these chars, the latest from index `latest` on, and returns what each
    /// keeps.
    fn left(chars: &[usize], latest: usize, cap: usize, budget: Aggregate) -> Vec<usize> {
        let result = |(at, &chars): (usize, &usize)| ResultLengths {
            chars,
            original: chars,
            named: 0,
            latest: at >= latest,
        };
        let results: Vec<_> = chars.iter().enumerate().map(result).collect();
        let policy = Policy { notice: Notice::Pi, ..Policy::default() };
        let mut left = chars.to_vec();
        for step in plan(&results, cap, &budget, |missing| notice_chars(&policy, missing)) {
            left[step.index] = step.max_chars;
        }
        left
    }

    #[test]
    fn results_shrink_step_by_step() {
        let sizes = [10_000, 20, 6_000, 9_000, 8_000];
        let at = |chars| left(&sizes, 3, UNLIMITED, Aggregate { chars, min_keep: 2_000, ..RECOVERY });
        // 2,036 fits 2,000 chars and "[... 8000 more characters truncated]".
        for (budget, expected) in [
            (33_020, sizes),
            (33_019, [9_999, 20, 6_000, 9_000, 8_000]),
            (25_000, [2_036, 20, 5_944, 9_000, 8_000]),
            (21_000, [1_944, 20, 2_036, 9_000, 8_000]),
            (19_000, [37, 20, 1_943, 9_000, 8_000]),
            (17_092, [37, 20, 36, 8_999, 8_000]),
            (10_000, [37, 20, 36, 4_953, 4_953]),
            (4_165, [37, 20, 36, 2_036, 2_036]),
            (165, [37, 20, 36, 36, 36]),
            (164, [36, 20, 36, 36, 36]),
            (92, [5, 5, 10, 36, 36]),
            (41, [5, 5, 5, 13, 13]),
            (0, [5, 5, 5, 5, 5]),
        ] {
            assert_eq!(at(budget), expected, "{budget}");
        }
    }

    #[test]
    fn results_shrink_only_to_the_floor() {
        let sizes = [10_000, 20, 6_000, 9_000];
        let at =
            |min_keep, floor| left(&sizes, 3, 8_000, Aggregate { chars: 0, min_keep, floor, ..RECOVERY });
        assert_eq!(at(2_000, Floor::Content), [2_036, 20, 2_036, 2_036]);
        assert_eq!(at(2_000, Floor::Notice), [37, 20, 36, 36]);
        assert_eq!(at(0, Floor::Content), [37, 20, 36, 36]);
        assert_eq!(at(9_500, Floor::Content), [8_000, 20, 6_000, 8_000]);
    }

    #[test]
    fn a_result_whose_notice_names_its_saved_output_has_room_for_that() {
        let result = |named| ResultLengths { chars: 9_000, original: 9_000, named, latest: false };
        let policy = Policy { notice: Notice::Pi, ..Policy::default() };
        let budget = Aggregate { chars: 0, floor: Floor::Notice, ..RECOVERY };
        let notice = |missing| notice_chars(&policy, missing);
        let left = |named| plan(&[result(named)], UNLIMITED, &budget, notice)[0].max_chars;
        assert_eq!((left(0), left(30)), (36, 66));
    }

    #[test]
    fn order_and_protection_are_configurable() {
        let sizes = [18_000, 17_000, 16_000];
        let at = |order, latest| {
            left(&sizes, 2, UNLIMITED, Aggregate { chars: 40_000, order, latest, ..RECOVERY })
        };
        assert_eq!(at(Order::Oldest, Latest::Last), [7_000, 17_000, 16_000]);
        assert_eq!(at(Order::Newest, Latest::Last), [18_000, 6_000, 16_000]);
        assert_eq!(at(Order::Newest, Latest::AsOthers), [18_000, 17_000, 5_000]);
        let spared = Aggregate { chars: 0, latest: Latest::Never, ..RECOVERY };
        assert_eq!(left(&sizes, 2, 15_000, spared), [5, 5, 15_000]);
    }

    #[test]
    fn the_cap_applies_first_and_leaves_dots() {
        let budget = Aggregate { chars: 38_400, ..RECOVERY };
        assert_eq!(left(&[500_000, 24_000, 24_000], 3, 38_400, budget), [38, 14_362, 24_000]);
        assert_eq!(left(&[500_000, 3, 80], 3, 0, RECOVERY), [5, 3, 5]);
    }

    #[test]
    fn notice_chars_match_the_placement() {
        let chars = |notice, keep, omitted| {
            let policy = Policy { notice, keep, ..Policy::default() };
            notice_chars(&policy, Amount { omitted, total: 12_345 })
        };
        assert_eq!(chars(Notice::Pi, Keep::Auto, 999), "[... 999 more characters truncated]".len());
        assert_eq!(chars(Notice::Pi, Keep::Ends, 999), 4 + "[... 999 more characters truncated]".len());
        let count = "... (1,999 chars truncated from output)\n";
        assert_eq!(chars(Notice::Count, Keep::Tail, 1_999), count.len());
        assert_eq!(chars(Notice::Count, Keep::Tail, 12_345), count.len());
        assert_eq!(chars(Notice::None, Keep::Head, 9), 0);
    }
}
