//! Laws of plans for tool results.

use crate::cases::cases;
use proptest::prelude::*;
use spillway::encoding::{Utf8, Utf16};
use spillway::limits::{Limits, UNLIMITED};
use spillway::notice::Notice;
use spillway::notice::counts::Amount;
use spillway::plan::{Aggregate, Floor, Latest, Order, ResultCap, ResultLengths, notice_chars, plan};
use spillway::policy::{Keep, Policy};
use spillway::truncate::figures::Original;
use spillway::truncate::input::Input;
use spillway::truncate::truncate;

/// Generates sizes near those at which plans change: sizes of marks, notices, and the digits in
/// them.
fn chars() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 0..120usize,
        2 => prop_oneof![90..110usize, 990..1_010usize, 9_990..10_010usize],
        3 => 0..30_000usize,
        1 => 0..6_000_000usize,
    ]
}

fn results() -> impl Strategy<Value = Vec<ResultLengths>> {
    let result = (chars(), any::<bool>(), prop_oneof![4 => Just(0), 1 => 0..9_000_000usize]);
    let result = result.prop_map(|(chars, latest, more)| ResultLengths {
        chars,
        original: chars + more,
        named: 0,
        latest,
    });
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

fn lengths(results: &[ResultLengths], steps: &[ResultCap]) -> Vec<usize> {
    let mut lengths: Vec<usize> = results.iter().map(|result| result.chars).collect();
    for step in steps {
        lengths[step.index] = step.max_chars;
    }
    lengths
}

/// Returns the length of each result after each of three steps, computed independently. The latest
/// have one floor.
fn ladders(results: &[ResultLengths], cap: usize, budget: &Aggregate, notice: &Policy) -> Vec<[usize; 3]> {
    let with = |result: &ResultLengths, kept: usize| {
        let missing = result.original.saturating_sub(kept);
        let amount = Amount { omitted: missing, total: result.original };
        kept.saturating_add(notice_chars(notice, amount)).max(5)
    };
    let floors = |result: &ResultLengths| [with(result, budget.min_keep), with(result, 0)];
    let is_latest = |result: &&ResultLengths| budget.latest == Latest::Last && result.latest;
    let latest = results.iter().filter(is_latest).map(floors);
    let latest = latest.fold([0; 2], |[a, b], [c, d]| [a.max(c), b.max(d)]);
    let rungs = |result: &ResultLengths| {
        let [content, bare] = if is_latest(&result) { latest } else { floors(result) };
        let content = content.min(result.chars).min(cap.max(5));
        let bare = bare.min(content);
        [content, bare, bare.min(5)]
    };
    results.iter().map(rungs).collect()
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
        let shares = |step: &&ResultCap| budget.latest == Latest::Last && results[step.index].latest;
        let sharing = steps.iter().filter(shares).count();
        for step in &steps {
            // One more char, or one of each that shares, would exceed the cap or the budget.
            prop_assert!(step.max_chars >= cap || sum + sharing.max(1) > budget.chars, "{step:?} of {sum}");
        }
    }

    #[test]
    fn steps_are_taken_in_order(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
    ) {
        let left = lengths(&results, &plan(&results, cap, &budget, |missing| notice_chars(&notice, missing)));
        let ladders = ladders(&results, cap, &budget, &notice);
        let (latest, mut older): (Vec<usize>, Vec<usize>) =
            (0..results.len()).partition(|&at| budget.latest == Latest::Last && results[at].latest);
        if budget.order == Order::Newest {
            older.reverse();
        }
        // The steps by which results shrink, in the order in which they must be taken. The latest
        // take theirs together.
        let mut stretches = vec![];
        for (is_latest, rung) in [(false, 0), (false, 1), (true, 1), (false, 2), (true, 2)] {
            let alone: Vec<Vec<usize>> = older.iter().map(|&at| vec![at]).collect();
            let groups = if is_latest { vec![latest.clone()] } else { alone };
            let is_first = rung == if is_latest { 1 } else { 0 };
            let top = |at: usize| {
                if is_first { results[at].chars.min(cap.max(5)) } else { ladders[at][rung - 1] }
            };
            let sum = |group: &[usize], of: &dyn Fn(usize) -> usize| -> usize {
                group.iter().map(|&at| of(at)).sum()
            };
            let ends = |group: &Vec<usize>| {
                [sum(group, &top), sum(group, &|at| ladders[at][rung]), sum(group, &|at| left[at])]
            };
            stretches.extend(groups.iter().map(ends));
        }
        // Steps before some point are complete, and those after it are not started.
        let mut stretches = stretches.into_iter().filter(|[top, bottom, _]| top > bottom);
        let taken = stretches.by_ref().take_while(|[_, bottom, left]| left <= bottom).count();
        prop_assert!(stretches.all(|[top, _, left]| left >= top), "after {taken} stretches");
    }

    #[test]
    fn the_latest_share_what_is_left(
        results in results(), cap in cap(), budget in aggregate(), notice in notice(),
        order in any::<prop::sample::Index>(),
    ) {
        let budget = Aggregate { latest: Latest::Last, ..budget };
        let planned = |results: &[ResultLengths]| {
            lengths(results, &plan(results, cap, &budget, |missing| notice_chars(&notice, missing)))
        };
        let left = planned(&results);
        let latest: Vec<usize> = (0..results.len()).filter(|&at| results[at].latest).collect();
        let capped = |at: usize| results[at].chars.min(cap.max(5));
        let (cut, whole): (Vec<usize>, Vec<usize>) =
            latest.iter().partition(|&&at| left[at] < capped(at));
        // All that are cut have one length, which no other exceeds.
        let Some(&first) = cut.first() else { return Ok(()) };
        prop_assert!(cut.iter().all(|&at| left[at] == left[first]));
        prop_assert!(whole.iter().all(|&at| left[at] <= left[first]));
        // Results under an equal share of their room stay whole.
        let older: usize = (0..left.len()).filter(|at| !latest.contains(at)).map(|at| left[at]).sum();
        let room = budget.chars.saturating_sub(older);
        prop_assert!(cut.iter().all(|&at| capped(at) > room / latest.len()));
        // Less than a char of each is unused: under 2 % of the room where a share has 50 chars.
        let used: usize = latest.iter().map(|&at| left[at]).sum();
        prop_assert!(used + cut.len() > room, "{used} of {room}");
        // In any other order, each keeps the same.
        let mut turned = latest.clone();
        turned.rotate_left(order.index(latest.len()));
        let swap = order.index(latest.len().div_ceil(2));
        turned.swap(swap, latest.len() - 1 - swap);
        let mut others = results.clone();
        for (&to, &from) in latest.iter().zip(&turned) {
            others[to] = results[from];
        }
        let again = planned(&others);
        prop_assert!(latest.iter().zip(&turned).all(|(&to, &from)| again[to] == left[from]));
        prop_assert!((0..left.len()).all(|at| results[at].latest || again[at] == left[at]));
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
            ladders(&results, cap, &budget, &notice).iter().map(|rungs| rungs[0]).collect();
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
        let bare: Vec<usize> =
            ladders(&results, UNLIMITED, &budget, &pi).iter().map(|rungs| rungs[1]).collect();
        let is_notice = |at: usize| left[at] <= bare[at] && left[at] < results[at].chars.min(cap.max(5));
        let latest_is_notice = (0..results.len()).any(|at| results[at].latest && is_notice(at));
        let other_is_whole = (0..results.len())
            .any(|at| !results[at].latest && left[at] == results[at].chars && left[at] > bare[at]);
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
        let measured = |texts: &[Vec<u16>]| -> Vec<ResultLengths> {
            let result = |(text, (_, latest, _)): (&Vec<u16>, &(usize, bool, usize))| ResultLengths {
                chars: text.len(),
                original: Original::of(&Input::whole(Utf16(text))).chars,
                named: 0,
                latest: *latest,
            };
            texts.iter().zip(&sizes).map(result).collect()
        };
        let planned = |results: &[ResultLengths]| plan(results, cap, &budget, |missing| notice_chars(&notice, missing));
        // Results as stored: some were cut before.
        let texts: Vec<Vec<u16>> = (sizes.iter())
            .map(|&(chars, latest, seed)| cut(&text_of(chars, seed), if latest { UNLIMITED } else { before.max(60) }, &notice))
            .collect();
        let steps = planned(&measured(&texts));
        let mut left = texts.clone();
        let ladders = ladders(&measured(&texts), UNLIMITED, &budget, &notice);
        for step in &steps {
            left[step.index] = cut(&texts[step.index], step.max_chars, &notice);
            prop_assert!(left[step.index].len() <= step.max_chars);
            prop_assert!(!left[step.index].is_empty());
            if notice.notice != Notice::Pi {
                continue;
            }
            let shown = String::from_utf16(&left[step.index]).unwrap();
            let [content, bare, _] = ladders[step.index];
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
    let results = vec![ResultLengths { chars: 5_000, original: 5_000, named: 0, latest: false }; 100_000];
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
    let text = |text: &str| Original::of(&Input::whole(Utf8(text.as_bytes()))).chars;
    assert_eq!(text("abc"), 3);
    assert_eq!(text("abc[... 1000 more characters truncated]"), 1_003);
    assert_eq!(text("abc\n\n[tool output truncated: 90 of 93 chars omitted (limit 9B); x]"), 93);
}
