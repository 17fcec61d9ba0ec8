//! Applies a budget for all results of a session, or an existing plan.

use std::hash::{DefaultHasher, Hasher};

use super::active_branch::SessionTree;
use super::failure::Failure;
use super::history::{CallHistory, ResultRow};
use super::layout::Layout;
use super::pairs::RowChanges;
use super::progress::Progress;
use super::repair::RepairRequest;
use super::rewrite_row::ResultSize;
use super::row_format::{RowEntry, RowFormat};
use super::rows::{Row, RowReader, each_line};
use super::session_file::SessionFile;
use crate::dialect::{self, Table};
use crate::limits::UNLIMITED;
use crate::media::{self, Item};
use crate::plan::{Aggregate, ResultLengths, notice_chars, plan_with_originals};
use crate::policy::Policy;
use crate::truncate::figures::Original;

/// The target of all results together.
#[derive(Clone, Debug)]
pub enum ResultsTarget {
    Aggregate(Aggregate),
    Media(media::MediaBudget),
    Plan(Vec<PlanStep>),
}

/// A step of a plan over messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// The index of the message.
    pub index: u64,
    pub call_id: Option<String>,
    /// Chars of the result.
    pub chars: usize,
    pub max_chars: usize,
    /// Bytes of payloads in blocks of their own that the result may keep.
    pub media: usize,
}

/// The maximum size of a result. It applies only if the result is still the measured one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    pub row: u64,
    /// The index of the result in its row.
    pub nth: usize,
    pub present: usize,
    pub max_chars: usize,
    /// Tells of each payload if it goes.
    pub gone: Vec<bool>,
}

impl Limit {
    /// Returns those of one row, of limits in order.
    pub fn in_row(limits: &[Limit], row: u64) -> &[Limit] {
        let first = limits.partition_point(|limit| limit.row < row);
        &limits[first..limits.partition_point(|limit| limit.row <= row)]
    }
}

/// Scans a session before the repair, and finds the results to truncate.
#[derive(Debug)]
pub struct BudgetSurvey {
    format: RowFormat,
    tree: SessionTree,
    results: Vec<SurveyResult>,
    /// The rows and messages with an answer of the model.
    answers: Vec<(u64, u64)>,
    messages: u64,
    /// The first message in the context, by the last compaction of a linear session.
    first: u64,
    /// Each row is a message itself.
    is_plain: bool,
}

#[derive(Debug)]
struct SurveyResult {
    row: u64,
    nth: usize,
    /// The index of the message, where a row without any counts as one.
    message: u64,
    measured: ResultSize,
}

impl BudgetSurvey {
    pub fn of(format: RowFormat) -> BudgetSurvey {
        let is_plain = format.layout.is_none_or(Layout::is_plain);
        BudgetSurvey {
            format,
            tree: SessionTree::default(),
            results: vec![],
            answers: vec![],
            messages: 0,
            first: 0,
            is_plain,
        }
    }

    /// Scans a session and returns the result of [`BudgetSurvey::limits`].
    pub fn read(
        session: &SessionFile,
        budget: &ResultsTarget,
        request: &RepairRequest,
        mends: bool,
        pairs: &RowChanges,
        lights: &[Limit],
        progress: &Progress,
    ) -> Result<(Vec<Limit>, usize), Failure> {
        let options = &request.options;
        let mut survey: Option<BudgetSurvey> = None;
        let mut reading = RowReader::of_session(session);
        let mut history = CallHistory::of(session);
        let mut unpaired = reading;
        let mut take_row = |bytes: &[u8], from: u64, is_made: bool| {
            let Some(row) = reading.next(bytes) else { return Ok(()) };
            let survey = survey.get_or_insert_with(|| BudgetSurvey::of(row.format));
            let once = options.sent_once(&row);
            let row = Row { text: once.as_deref().unwrap_or(row.text), ..row };
            if let Some(document) = row.document() {
                let entry = row.entry(&document);
                let parsed = ResultRow {
                    start: from,
                    bytes: if is_made { &[] } else { bytes },
                    format: row.format,
                    entry: (once.is_none() && !is_made).then_some(&entry),
                };
                let ask = &mut |result: &dialect::ToolResult| history.asked(result, &parsed);
                let lights = Limit::in_row(lights, row.number);
                options.prepared(row.text, &entry, lights, |_, entry, _| {
                    let sizes = match budget {
                        ResultsTarget::Media(_) => options.bounded_media(entry),
                        _ => options.measure(entry, ask),
                    };
                    survey.push(row.number, entry, sizes);
                });
            }
            history.check()
        };
        each_line(session, mends, progress, |bytes, from, is_mended| {
            match pairs.in_place_of(bytes, &mut unpaired) {
                Some(rows) => rows.iter().try_for_each(|row| take_row(row, from, true)),
                None => take_row(bytes, from, is_mended),
            }
        })?;
        Ok(survey.map_or((vec![], 0), |survey| survey.limits(budget, &options.rules.policy)))
    }

    /// Takes a row that is valid JSON, with its number and the sizes of its results.
    pub fn push(&mut self, number: u64, entry: &RowEntry, sizes: Vec<ResultSize>) {
        self.is_plain &= entry.is_plain();
        let message = self.messages;
        self.messages += entry.messages.len().max(1) as u64;
        let chain = self.format.layout.and_then(|layout| layout.chain.as_ref());
        if let Some(chain) = chain.filter(|_| self.format.is_tree()) {
            self.tree.push(number, entry.root, chain);
        } else if entry.is_aside() {
            return;
        } else if let Some(first) = entry.first_kept() {
            self.first = first.unwrap_or(message).min(message);
        }
        for (at, value) in (message..).zip(&entry.messages) {
            if Table::get().is_answer(*value) {
                self.answers.push((number, at));
            }
        }
        for (nth, measured) in sizes.into_iter().enumerate() {
            let message = message + measured.message as u64;
            self.results.push(SurveyResult { row: number, nth, message, measured });
        }
    }

    /// Returns the payloads that a request carries, each with the number of its row and the index
    /// of its message, and the chars of its results together.
    pub fn sent(mut self) -> (Vec<(u64, u64, Item)>, u64) {
        self.retain_sent();
        let chars = self.results.iter().map(|seen| seen.measured.chars as u64).sum();
        let items = |seen: &SurveyResult| {
            let (row, message) = (seen.row, seen.message);
            seen.measured.media.clone().into_iter().map(move |item| (row, message, item))
        };
        (self.results.iter().flat_map(items).collect(), chars)
    }

    /// Returns the limits of results in order, and the number of plan steps without a matching
    /// result.
    pub fn limits(mut self, budget: &ResultsTarget, policy: &Policy) -> (Vec<Limit>, usize) {
        self.retain_sent();
        match budget {
            ResultsTarget::Aggregate(aggregate) => (self.planned(aggregate, policy), 0),
            ResultsTarget::Media(budget) => (self.lights(budget), 0),
            ResultsTarget::Plan(steps) => self.matched(steps),
        }
    }

    /// Drops results and answers outside of the active branch, or before the last compaction.
    fn retain_sent(&mut self) {
        if self.format.is_tree() {
            let branch = std::mem::take(&mut self.tree).branch();
            self.results.retain(|seen| branch.holds(seen.row));
            self.answers.retain(|(row, _)| branch.holds(*row));
        }
        self.results.retain(|seen| seen.message >= self.first);
    }

    /// Returns the results that lose payloads.
    fn lights(&self, budget: &media::MediaBudget) -> Vec<Limit> {
        let items: Vec<Item> = self.results.iter().flat_map(|seen| &seen.measured.media).copied().collect();
        let mut gone = budget.gone(&items).into_iter();
        let lights = self.results.iter().map(|seen| {
            let gone = gone.by_ref().take(seen.measured.media.len()).collect();
            Limit { gone, ..seen.limit(usize::MAX) }
        });
        lights.filter(|light| light.gone.contains(&true)).collect()
    }

    fn planned(&self, budget: &Aggregate, policy: &Policy) -> Vec<Limit> {
        let last = self.answers.last().map_or(0, |(_, message)| *message);
        let mut results: Vec<ResultLengths> = self
            .results
            .iter()
            .map(|seen| {
                let chars = seen.measured.chars;
                ResultLengths { chars, original: chars, named: 0, latest: seen.message >= last }
            })
            .collect();
        let names = policy.notice.names_saved();
        let original = |index: &usize| {
            let Original { chars, named } = self.results[*index].measured.original;
            Original { chars, named: if names { named } else { 0 } }
        };
        let originals = |indexes: &[usize]| indexes.iter().map(original).collect();
        let notice = |missing| notice_chars(policy, missing);
        let steps = plan_with_originals(&mut results, UNLIMITED, budget, notice, originals);
        steps.iter().map(|step| self.results[step.index].limit(step.max_chars)).collect()
    }

    /// Matches each step to a result, by call id and length. In files of plain messages, the index
    /// can replace the call id.
    fn matched(&self, steps: &[PlanStep]) -> (Vec<Limit>, usize) {
        let mut known: Vec<(usize, usize)> = vec![];
        for (at, seen) in self.results.iter().enumerate() {
            let call = seen.measured.id.as_deref().map(ResultKey::Call);
            let place = self.is_plain.then_some(ResultKey::Place(seen.message));
            known.extend(call.into_iter().chain(place).map(|key| (key.hash(seen.measured.present), at)));
        }
        known.sort_unstable();
        let mut limits: Vec<Option<Limit>> = vec![None; self.results.len()];
        let mut unmatched = 0;
        for step in steps {
            let key = step.call_id.as_deref().map_or(ResultKey::Place(step.index), ResultKey::Call);
            let hash = key.hash(step.chars);
            let from = known.partition_point(|(other, _)| *other < hash);
            let mut same = known[from..].iter().take_while(|(other, _)| *other == hash).map(|(_, at)| *at);
            match same.find(|at| limits[*at].is_none()) {
                Some(at) => {
                    let budget = media::MediaBudget { bytes: step.media, ..media::MediaBudget::NONE };
                    let gone = budget.gone(&self.results[at].measured.media);
                    limits[at] = Some(Limit { gone, ..self.results[at].limit(step.max_chars) });
                }
                None => unmatched += 1,
            }
        }
        (limits.into_iter().flatten().collect(), unmatched)
    }
}

/// The identity of a result in a plan, besides its length.
#[derive(Clone, Copy, Debug)]
enum ResultKey<'a> {
    Call(&'a str),
    Place(u64),
}

impl ResultKey<'_> {
    fn hash(self, chars: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        match self {
            ResultKey::Call(id) => hasher.write(id.as_bytes()),
            ResultKey::Place(place) => hasher.write_u64(place),
        }
        hasher.write_u8(u8::from(matches!(self, ResultKey::Call(_))));
        hasher.write_usize(chars);
        hasher.finish() as usize
    }
}

impl SurveyResult {
    fn limit(&self, max_chars: usize) -> Limit {
        Limit { row: self.row, nth: self.nth, present: self.measured.present, max_chars, gone: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use crate::session::rewrite_row::RowOptions;

    fn surveyed(rows: &[&str]) -> BudgetSurvey {
        let options = RowOptions::default();
        let mut survey = BudgetSurvey::of(RowFormat::default());
        for (number, row) in rows.iter().enumerate() {
            let document = Document::parse(row.as_bytes()).unwrap();
            let entry = RowEntry::of(document.root(), RowFormat::default());
            survey.push(number as u64, &entry, options.measure(&entry, &mut |_| vec![]));
        }
        survey
    }

    fn step(index: u64, call_id: Option<&str>, chars: usize) -> PlanStep {
        PlanStep { index, call_id: call_id.map(str::to_owned), chars, max_chars: 1, media: 0 }
    }

    #[test]
    fn steps_are_matched_by_call_and_length() {
        let a = r#"{"role":"tool","tool_call_id":"a","content":"12345"}"#;
        let b = r#"{"role":"tool","tool_call_id":"b","content":"12345"}"#;
        let plan = |rows: &[&str], steps: &[PlanStep]| {
            let budget = ResultsTarget::Plan(steps.to_vec());
            let (limits, unmatched) = surveyed(rows).limits(&budget, &Policy::default());
            (limits.iter().map(|limit| limit.row).collect::<Vec<_>>(), unmatched)
        };
        assert_eq!(plan(&[a, b], &[step(9, Some("b"), 5)]), (vec![1], 0));
        assert_eq!(plan(&[a, b], &[step(0, Some("a"), 4), step(0, Some("c"), 5)]), (vec![], 2));
        assert_eq!(plan(&[a, b], &[step(1, None, 5), step(0, None, 5), step(0, None, 5)]), (vec![0, 1], 1));
        assert_eq!(plan(&[a, a], &[step(0, Some("a"), 5), step(0, Some("a"), 5)]), (vec![0, 1], 0));
        assert_eq!(plan(&[a, a], &[step(1, None, 5), step(0, Some("a"), 5)]), (vec![0, 1], 0));
        let pi = format!(r#"{{"type":"message","message":{a}}}"#);
        assert_eq!(plan(&[&pi], &[step(0, None, 5)]), (vec![], 1));
        assert_eq!(plan(&[&pi], &[step(7, Some("a"), 5)]), (vec![0], 0));
    }
}
