//! Compiles regular expressions of a caller, bounded in steps and memory.

use std::fmt::Display;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Maximum steps of an expression. Each may take 20 ns per byte if the engine does not build an
/// automaton, and a search cannot be interrupted inside a window.
const MOST_STEPS: usize = 8_192;

/// Compiles an expression. The error says why it cannot be.
pub fn compile(text: &str, ignore_case: bool) -> Result<Regex, String> {
    let parsed = ParserBuilder::new().utf8(false).build().parse(text).map_err(reason)?;
    if steps(&parsed) > MOST_STEPS {
        return Err(format!("written out, its repetitions come to more than {MOST_STEPS} steps"));
    }
    RegexBuilder::new(text).case_insensitive(ignore_case).build().map_err(reason)
}

/// Compiles a plain text.
pub fn literal(text: &str, ignore_case: bool) -> Result<Regex, String> {
    RegexBuilder::new(&regex::escape(text)).case_insensitive(ignore_case).build().map_err(reason)
}

/// Returns the last line of an error, which has the reason. Earlier lines show the position.
fn reason(error: impl Display) -> String {
    let error = error.to_string();
    let last = error.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Counts the steps of an expression with its repetitions expanded.
fn steps(hir: &Hir) -> usize {
    let sum = |all: &[Hir]| all.iter().map(steps).fold(0, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Capture(group) => steps(&group.sub).saturating_add(2),
        HirKind::Concat(all) => sum(all),
        HirKind::Alternation(all) => sum(all).saturating_add(1),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            steps(&repeated.sub).saturating_add(1).saturating_mul(times as usize)
        }
    }
}
