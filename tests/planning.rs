//! Laws of plans for tool results.

mod cases;

use cases::cases;
use proptest::prelude::*;
use spillway::encoding::{Utf8, Utf16};
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::counts::Amount;
use spillway::plan::{Aggregate, Floor, Latest, Order, Step, ToolResult, notice_chars, plan};
use spillway::policy::{Keep, Policy};
use spillway::truncate::figures::original_chars;
use spillway::truncate::input::Input;
use spillway::truncate::truncate;

/// Generates sizes near those at which plans change: sizes of marks, notices, and the digits in them.
fn chars() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 0..120usize,
        2 => prop_oneof![90..110usize, 990..1_010usize, 9_990..10_010usize],
        3 => 0..30_000usize,
        1 => 0..6_000_000usize,
    ]
}

fn results() -> impl Strategy<Value = Vec<ToolResult>> {
    let result = (chars(), any::<bool>(), prop_oneof![4 => Just(0), 1 => 0..9_000_000usize]);
    let result =
        result.prop_map(|(chars, latest, more)| ToolResult { chars, original: chars + more, latest });
    prop::collection::vec(result, 0..40)
}

fn aggregate() -> impl Strategy<Value = Aggregate> {
    let budget =
        prop_oneof![1 => Just(UNLIMITED), 2 => 0..300usize, 4 => 0..60_000usize, 1 => 0..9_000_000usize];
    let min_keep = prop_oneof![2 => Just(0), 2 => Just(2_000), 2 => 0..400usize, 1 => Just(UNLIMITED)];
    let order = prop_oneof![Just(Order::Oldest), Just(Order::Newest)];
    let latest = prop_oneof![Just(Latest::AsOthers), Just(Latest::Last)];
    (budget, order, latest, min_keep).prop_map(|(chars, order, latest, min_keep)| Aggregate {
        chars,
        order,
        latest,
        min_keep,
        floor: Floor::Dots,
    })
}

fn cap() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(UNLIMITED), 1 => 0..50usize, 3 => 0..20_000usize]
}

fn notice() -> impl Strategy<Value = Policy> {
    let notices = prop_oneof![
        4 => Just(Notice::Pi),
        1 => Just(Notice::Hint),
        1 => Just(Notice::Count),
        1 => Just(Notice::None),
        1 => Just(Notice::Literal("漢 gone".into())),
    ];
    let keep = prop_oneof![2 => Just(Keep::Head), 1 => Just(Keep::Tail), 1 => Just(Keep::Ends)];
    (notices, keep).prop_map(|(notice, keep)| Policy {
        limits: Limits::NONE,
        keep,
        notice,
        snap: false,
        ..Policy::default()
    })
}

fn lengths(results: &[ToolResult], steps: &[Step]) -> Vec<usize> {
    let mut lengths: Vec<usize> = results.iter().map(|result| result.chars).collect();
    for step in steps {
        lengths[step.index] = step.max_chars;
    }
    lengths
}

/// Returns the length of a result after each of its three steps, computed independently.
fn ladder(result: &ToolResult, cap: usize, min_keep: usize, notice: &Policy) -> [usize; 3] {
    let with = |kept: usize| {
        let missing = result.original.saturating_sub(kept);
        let amount = Amount { omitted: missing, total: result.original };
        kept.saturating_add(notice_chars(notice, amount))
    };
    let capped = result.chars.min(cap.max(5));
    let content = capped.min(with(min_keep).max(5));
    let bare = content.min(with(0).max(5));
    [content, bare, bare.min(5)]
}

fn text_of(chars: usize, seed: usize) -> Vec<u16> {
    let line = ["plain words of a log ", "漢字と😀 ", "x", "a\r\n\n", "done: 3 errors }\n"][seed % 5];
    let units: Vec<u16> = line.encode_utf16().cycle().take(chars).collect();
    String::from_utf16_lossy(&units).encode_utf16().collect()
}

/// Returns the text truncated by the engine to a limit in chars.
fn cut(text: &[u16], chars: usize, policy: &Policy) -> Vec<u16> {
    let policy = Policy { limits: Limits { chars, ..policy.limits }, ..policy.clone() };
    let input = Input::whole(Utf16(text));
    truncate(&input, &policy).map_or_else(|| input.all(), |cut| cut.text(&input))
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn the_budget_holds_and_nothing_grows_or_is_emptied(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
    ) {
        let steps = plan(&results, cap, &budget, |missing| notice_chars(&notice, missing));
        let left = lengths(&results, &steps);
        let least: usize = results.iter().map(|result| result.chars.min(5)).sum();
        prop_assert!(left.iter().sum::<usize>() <= budget.chars.max(least));
        for step in &steps {
            prop_assert!(step.max_chars < results[step.index].chars);
            prop_assert!(step.max_chars >= 5 && step.max_chars <= cap.max(5));
        }
        prop_assert!(steps.is_sorted_by_key(|step| step.index));
    }

    #[test]
    fn results_are_not_truncated_unnecessarily(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
    ) {
        let steps = plan(&results, cap, &budget, |missing| notice_chars(&notice, missing));
        let left = lengths(&results, &steps);
        let sum: usize = left.iter().sum();
        for step in steps {
            // One more char would exceed the cap or the budget.
            prop_assert!(step.max_chars >= cap || sum >= budget.chars, "{step:?} of {sum}");
        }
    }

    #[test]
    fn steps_are_taken_in_order(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
    ) {
        let left = lengths(&results, &plan(&results, cap, &budget, |missing| notice_chars(&notice, missing)));
        let is_latest = |at: usize| budget.latest == Latest::Last && results[at].latest;
        // The steps by which results shrink, in the order in which they must be taken.
        let mut stretches = vec![];
        for (latest, rung) in [(false, 0), (false, 1), (true, 0), (true, 1), (false, 2), (true, 2)] {
            let mut group: Vec<usize> = (0..results.len()).filter(|&at| is_latest(at) == latest).collect();
            if budget.order == Order::Newest {
                group.reverse();
            }
            for at in group {
                let rungs = ladder(&results[at], cap, budget.min_keep, &notice);
                let top = if rung == 0 { results[at].chars.min(cap.max(5)) } else { rungs[rung - 1] };
                stretches.push((at, top, rungs[rung]));
            }
        }
        // Steps before some point are complete, and those after it are not started.
        let mut stretches = stretches.into_iter().filter(|(_, top, bottom)| top > bottom);
        let taken = stretches.by_ref().take_while(|&(at, _, bottom)| left[at] <= bottom).count();
        prop_assert!(stretches.all(|(at, top, _)| left[at] >= top), "after {taken} stretches");
    }

    #[test]
    fn a_floor_either_has_no_effect_or_stops_all_results(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
    ) {
        let planned = |chars, floor| {
            let budget = Aggregate { chars, floor, ..budget };
            lengths(&results, &plan(&results, cap, &budget, |missing| notice_chars(&notice, missing)))
        };
        let least: Vec<usize> =
            results.iter().map(|result| ladder(result, cap, budget.min_keep, &notice)[0]).collect();
        let left = planned(0, Floor::Content);
        prop_assert_eq!(&left, &least);
        let with = planned(budget.chars, Floor::Content);
        prop_assert!(with.iter().zip(&least).all(|(with, least)| with >= least));
        // Other results shrink further before the latest do.
        if budget.min_keep == 0 || budget.latest == Latest::AsOthers {
            prop_assert!(with == planned(budget.chars, Floor::Dots) || with == least);
        }
    }

    #[test]
    fn the_latest_is_not_reduced_to_a_notice_while_another_is_whole(
        results in results(), cap in cap(), budget in aggregate(),
    ) {
        let pi = Policy { notice: Notice::Pi, ..Policy::default() };
        let budget = Aggregate { latest: Latest::Last, ..budget };
        let left = lengths(&results, &plan(&results, cap, &budget, |missing| notice_chars(&pi, missing)));
        let bare = |at: usize| ladder(&results[at], UNLIMITED, 0, &pi)[1];
        let is_notice = |at: usize| left[at] <= bare(at) && left[at] < results[at].chars.min(cap.max(5));
        let latest_is_notice = (0..results.len()).any(|at| results[at].latest && is_notice(at));
        let other_is_whole = (0..results.len())
            .any(|at| !results[at].latest && left[at] == results[at].chars && left[at] > bare(at));
        prop_assert!(!(latest_is_notice && other_is_whole));
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn a_plan_carried_out_by_the_engine_needs_no_second(
        sizes in prop::collection::vec((prop_oneof![0..200usize, 0..30_000usize], any::<bool>(), 0..5usize), 0..12),
        cap in cap(), budget in aggregate(), notice in notice(), before in 0..20_000usize,
    ) {
        let measured = |texts: &[Vec<u16>]| -> Vec<ToolResult> {
            let result = |(text, (_, latest, _)): (&Vec<u16>, &(usize, bool, usize))| ToolResult {
                chars: text.len(),
                original: original_chars(&Input::whole(Utf16(text))),
                latest: *latest,
            };
            texts.iter().zip(&sizes).map(result).collect()
        };
        let planned = |results: &[ToolResult]| plan(results, cap, &budget, |missing| notice_chars(&notice, missing));
        // Results as stored: some were cut before.
        let texts: Vec<Vec<u16>> = (sizes.iter())
            .map(|&(chars, latest, seed)| cut(&text_of(chars, seed), if latest { UNLIMITED } else { before.max(60) }, &notice))
            .collect();
        let steps = planned(&measured(&texts));
        let mut left = texts.clone();
        for step in &steps {
            left[step.index] = cut(&texts[step.index], step.max_chars, &notice);
            prop_assert!(left[step.index].len() <= step.max_chars);
            prop_assert!(!left[step.index].is_empty());
            if notice.notice != Notice::Pi {
                continue;
            }
            let shown = String::from_utf16(&left[step.index]).unwrap();
            let [content, bare, _] = ladder(&measured(&texts)[step.index], UNLIMITED, budget.min_keep, &notice);
            if step.max_chars >= bare {
                prop_assert!(shown.contains(" more characters truncated]"), "{step:?}: {shown}");
            }
            if step.max_chars >= content && notice.keep == Keep::Head {
                let text = &texts[step.index];
                let limits = Limits { chars: step.max_chars, ..notice.limits };
                let input = Input::whole(Utf16(text));
                let cut = truncate(&input, &Policy { limits, ..notice.clone() }).unwrap();
                let kept = cut.kept(&input).size;
                let earlier = measured(&texts)[step.index].original != text.len();
                // A surrogate pair at the cut is dropped whole.
                prop_assert!(earlier || kept.chars + 1 >= budget.min_keep, "{step:?}: {kept:?}");
            }
        }
        prop_assert_eq!(planned(&measured(&left)), vec![]);
        let least: usize = texts.iter().map(|text| text.len().min(5)).sum();
        prop_assert!(left.iter().map(Vec::len).sum::<usize>() <= budget.chars.max(least));
    }
}

/// A cost that were not linear in the number of results would hang.
#[test]
fn a_hundred_thousand_results_are_planned() {
    let results = vec![ToolResult { chars: 5_000, original: 5_000, latest: false }; 100_000];
    let budget = Aggregate {
        chars: 600_000,
        order: Order::Oldest,
        latest: Latest::Last,
        min_keep: 2_000,
        floor: Floor::Dots,
    };
    let steps = plan(&results, UNLIMITED, &budget, |missing| 32 + missing.omitted.to_string().len());
    assert_eq!(lengths(&results, &steps).iter().sum::<usize>(), 600_000);
}

#[test]
fn the_original_is_read_from_the_notice() {
    let text = |text: &str| original_chars(&Input::whole(Utf8(text.as_bytes())));
    assert_eq!(text("abc"), 3);
    assert_eq!(text("abc[... 1000 more characters truncated]"), 1_003);
    assert_eq!(text("abc\n\n[tool output truncated: 90 of 93 chars omitted (limit 9B); x]"), 93);
}
