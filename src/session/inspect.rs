//! Reports how a stored session spends its context.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::budget_survey::BudgetSurvey;
use super::cuts::Cuts;
use super::failure::Failure;
use super::flaws::{FlawReader, Flaws};
use super::progress::{Progress, ProgressCounts};
use super::rewrite_row::{RowOptions, texts_of};
use super::row_format::{RowFormat, SessionKind};
use super::row_payloads::Payloads;
use super::rows::{Row, RowReader, Rows, each_row};
use super::session_file::SessionFile;
use crate::dialect::{Table, ToolResult};
use crate::encoding::{Size, Utf16};
use crate::hash::hash;
use crate::json::Literal;
use crate::media::Item;
use crate::tokens::Estimate;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    pub format: SessionKind,
    pub rows: u64,
    pub bytes: u64,
    #[serde(rename = "toolResults")]
    pub results: u64,
    /// Largest first.
    pub by_tool: Vec<ToolTotals>,
    pub largest: Vec<LargeResult>,
    /// Payloads of the results.
    pub media: Payloads,
    /// The payloads that the next request carries: each with its line, its bytes, its width and
    /// height or 0, its class, and 1 if the user sent it, as `judge_media` reads them.
    pub sent: Vec<[u64; 6]>,
    /// Tokens of the results that the next request carries, each within the limits.
    pub result_tokens: u64,
    pub cuts: Cuts,
    pub damaged: u64,
    #[serde(flatten)]
    pub flaws: Flaws,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolTotals {
    pub tool: String,
    pub results: u64,
    pub chars: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LargeResult {
    /// The line in the file, counted from 1.
    pub row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    pub chars: usize,
    pub bytes: usize,
}

/// The name of an unidentified tool.
const UNKNOWN: &str = "unknown";

/// Reads a session and reports its sizes, with the `top` largest results.
pub fn inspect(
    path: &Path,
    options: &RowOptions,
    top: usize,
    progress: &Progress,
) -> Result<Inspection, Failure> {
    progress.step()?;
    let session = SessionFile::open_any(path.to_owned())?;
    let mut inspector = Inspector {
        options,
        top,
        line: 0,
        reading: RowReader::of_session(&session),
        tools: Tools::default(),
        report: Inspection::default(),
        survey: None,
        flaws: FlawReader::default(),
    };
    let mut rows = Rows::of_session(&session);
    let total = session.found.len();
    while let Some(block) = rows.next(|bytes| {
        progress.tell(ProgressCounts { bytes, total: total.max(bytes), ..progress.counts() });
        progress.step()
    })? {
        each_row(block).for_each(|row| inspector.take(row));
    }
    inspector.take(&rows.mended_rest());
    inspector.report.damaged += u64::from(session.is_broken);
    Ok(Inspection { bytes: rows.read, ..inspector.done() })
}

struct Inspector<'a> {
    options: &'a RowOptions,
    top: usize,
    line: u64,
    reading: RowReader,
    tools: Tools,
    report: Inspection,
    survey: Option<BudgetSurvey>,
    flaws: FlawReader,
}

/// Tools that were called or answered, by the hashes of their names and call ids.
#[derive(Debug, Default)]
struct Tools {
    all: Vec<ToolTotals>,
    by_name: HashMap<u64, usize>,
    by_call: HashMap<u64, usize>,
}

impl Tools {
    fn named(&mut self, tool: &str) -> usize {
        let Tools { all, by_name, .. } = self;
        *by_name.entry(hash(tool.as_bytes())).or_insert_with(|| {
            all.push(ToolTotals { tool: tool.to_owned(), ..ToolTotals::default() });
            all.len() - 1
        })
    }

    fn called(&self, id: &str) -> Option<String> {
        self.by_call.get(&hash(id.as_bytes())).map(|at| self.all[*at].tool.clone())
    }
}

impl Inspector<'_> {
    fn take(&mut self, row: &[u8]) {
        self.line += 1;
        let Some(read) = self.reading.next(row) else { return };
        let once = self.options.sent_once(&read);
        let read = Row { text: once.as_deref().unwrap_or(read.text), ..read };
        let Some(document) = read.document() else {
            self.report.damaged += 1;
            return;
        };
        let entry = read.entry(&document);
        let (places, results): (Vec<usize>, Vec<ToolResult>) =
            self.options.results_by_message(&entry).into_iter().unzip();
        if self.report.format == SessionKind::Unknown {
            self.report.format = SessionKind::of(&entry, !results.is_empty());
        }
        for call in entry.messages.iter().flat_map(|message| Table::get().calls(*message)) {
            let Some((id, tool)) = call.id.zip(call.tool) else { continue };
            let tool = self.tools.named(&tool);
            self.tools.by_call.insert(hash(id.as_bytes()), tool);
        }
        self.flaws.push(self.line, &entry);
        self.report.cuts += self.options.cuts(&entry, &results);
        let is_document = read.format.is_document();
        let mut sizes = self.options.media_sizes(&entry);
        for (size, result) in sizes.iter_mut().zip(&results) {
            size.chars = self.tokens_of(result);
        }
        let of_tools = sizes.iter().flat_map(|size| &size.media).filter(|item| !item.from_user);
        self.report.media += Payloads::of(&of_tools.copied().collect::<Vec<Item>>());
        self.survey.get_or_insert_with(|| BudgetSurvey::of(read.format)).push(self.line, &entry, sizes);
        let line = self.line;
        for (at, result) in places.iter().zip(&results).filter(|(_, result)| result.is_filled) {
            self.line = if is_document { *at as u64 + 1 } else { line };
            self.count(result);
        }
        if is_document {
            self.reading.rows = entry.messages.len() as u64;
        }
    }

    /// Returns the tokens of a result, or of what the limits leave of it.
    fn tokens_of(&self, result: &ToolResult) -> usize {
        let texts = texts_of(result);
        let tokens = texts.iter().map(|text| Estimate::of(Utf16(&text.units())).tokens()).sum::<usize>();
        let bytes = texts.iter().map(Literal::size).map(|size| size.bytes).sum::<usize>();
        let most = self.options.rules.policy.limits.bytes;
        let share = if bytes > most { most as f64 / bytes as f64 } else { 1.0 };
        (tokens as f64 * share).ceil() as usize
    }

    fn count(&mut self, result: &ToolResult) {
        let texts = texts_of(result);
        let size = texts.iter().map(Literal::size).fold(Size::default(), |sum, size| sum + size);
        let Size { chars, bytes, .. } = size;
        let call_id = result.id();
        let tool = result.tool().or_else(|| self.tools.called(call_id.as_deref()?));
        self.report.results += 1;
        let at = self.tools.named(tool.as_deref().unwrap_or(UNKNOWN));
        let of_tool = &mut self.tools.all[at];
        of_tool.results += 1;
        of_tool.chars += chars;
        of_tool.bytes += bytes;
        let largest = &mut self.report.largest;
        let at = largest.partition_point(|other| other.chars >= chars);
        if at < self.top {
            largest.insert(at, LargeResult { row: self.line, tool, call_id, chars, bytes });
            largest.truncate(self.top);
        }
    }

    fn done(self) -> Inspection {
        let (all, is_document) = (self.tools.all, self.reading.format.is_some_and(RowFormat::is_document));
        let sent = |(row, message, item): (u64, u64, Item)| {
            let (width, height) = item.size.unwrap_or_default();
            let row = if is_document { message + 1 } else { row };
            let flags = [item.class as u64, u64::from(item.from_user)];
            [row, item.bytes as u64, width.into(), height.into(), flags[0], flags[1]]
        };
        let (payloads, result_tokens) = self.survey.map(BudgetSurvey::sent).unwrap_or_default();
        let sent = payloads.into_iter().map(sent).collect();
        let mut order: Vec<(usize, usize)> =
            all.iter().enumerate().map(|(at, of)| (usize::MAX - of.chars, at)).collect();
        order.sort_unstable();
        let by_tool = order.iter().map(|(_, at)| &all[*at]).filter(|of| of.results > 0).cloned().collect();
        Inspection {
            rows: self.reading.rows,
            by_tool,
            sent,
            result_tokens,
            flaws: self.flaws.done(),
            ..self.report
        }
    }
}
