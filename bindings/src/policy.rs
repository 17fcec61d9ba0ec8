//! Policies of TypeScript, which has checked every value.

use std::borrow::Cow;
use std::sync::Arc;

use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::redact::RulesHandle;
use spillway::limits::Limits;
use spillway::notice::Notice;
use spillway::notice::saved::{Location, SavedPart};
use spillway::policy::{JsonForm, Keep, Policy, Share};

/// A policy that the engine keeps between calls.
pub type PolicyHandle = External<Policy>;

/// A checked policy. Limits are positive, and `Infinity` lifts them.
#[napi(object, object_to_js = false)]
pub struct PolicyFields {
    pub bytes: f64,
    pub lines: f64,
    pub chars: f64,
    pub tokens: f64,
    pub line_bytes: f64,
    #[napi(ts_type = "'auto' | 'head' | 'tail' | 'ends' | 'findings' | 'relevant' | 'headOrEnds'")]
    pub keep: String,
    pub head_share: f64,
    pub snap: bool,
    #[napi(ts_type = "'none' | 'hint' | 'pi' | 'count' | 'template' | 'literal'")]
    pub notice: String,
    /// The text of a template or a literal notice.
    pub words: String,
    /// The notice follows the head without a separator.
    pub glued: bool,
    #[napi(ts_type = "'fair' | 'order' | 'each' | 'stay'")]
    pub share: String,
    pub source: String,
    /// How the full output was saved, if it was.
    #[napi(ts_type = "'path' | 'partialPath' | 'id' | 'partialId' | 'failed'")]
    pub saved: Option<String>,
    /// The path, the id or the error code of the saved output.
    pub saved_name: Option<String>,
    pub pages: bool,
    pub is_error: bool,
    pub needles: Vec<String>,
    pub query: Vec<String>,
    #[napi(ts_type = "'text' | 'data' | 'keep-shape'")]
    pub json: String,
    pub explains: bool,
    /// A JSON schema, as JSON.
    pub schema: Option<String>,
}

/// Makes a handle for a policy.
#[napi(catch_unwind, ts_return_type = "ExternalObject<'policy'>")]
pub fn policy_handle() -> PolicyHandle {
    External::new(Policy::default())
}

/// Sets the policy of a handle. `redact`: the rules of its redaction.
#[napi(catch_unwind)]
pub fn set_policy(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] handle: &mut PolicyHandle,
    fields: PolicyFields,
    #[napi(ts_arg_type = "ExternalObject<'redaction'> | undefined")] redact: Option<&RulesHandle>,
) -> Result<()> {
    let keep = match &*fields.keep {
        "auto" => Keep::Auto,
        "head" => Keep::Head,
        "tail" => Keep::Tail,
        "ends" => Keep::Ends,
        "findings" => Keep::Findings,
        "relevant" => Keep::Relevant,
        "headOrEnds" => Keep::HeadOrEnds,
        other => return Err(unknown("keep", other)),
    };
    let notice = match &*fields.notice {
        "none" => Notice::None,
        "hint" => Notice::Hint,
        "pi" => Notice::Pi,
        "count" => Notice::Count,
        "template" => Notice::Template(fields.words),
        "literal" => Notice::Literal(fields.words),
        other => return Err(unknown("notice", other)),
    };
    let share = match &*fields.share {
        "fair" => Share::Fair,
        "order" => Share::Order,
        "each" => Share::Each,
        "stay" => Share::Stay,
        other => return Err(unknown("share", other)),
    };
    let json = match &*fields.json {
        "text" => JsonForm::Text,
        "data" => JsonForm::Data,
        "keep-shape" => JsonForm::Shape,
        other => return Err(unknown("json", other)),
    };
    let name = fields.saved_name.unwrap_or_default();
    let saved = match fields.saved.as_deref() {
        None => SavedPart::Nowhere,
        Some("path") => SavedPart::Whole(Location::Path(name)),
        Some("partialPath") => SavedPart::Part(Location::Path(name)),
        Some("id") => SavedPart::Whole(Location::Id(name)),
        Some("partialId") => SavedPart::Part(Location::Id(name)),
        Some("failed") => SavedPart::Failed(name),
        Some(other) => return Err(unknown("saved", other)),
    };
    // `Infinity` becomes the largest integer, which lifts a limit.
    let limits = Limits {
        bytes: fields.bytes as usize,
        lines: fields.lines as usize,
        chars: fields.chars as usize,
        tokens: fields.tokens as usize,
        line_bytes: fields.line_bytes as usize,
    };
    **handle = Policy {
        limits,
        keep,
        head_share: fields.head_share,
        snap: fields.snap,
        notice: if fields.glued { Notice::Glued(Box::new(notice)) } else { notice },
        share,
        source: fields.source,
        saved,
        pages: fields.pages,
        is_error: fields.is_error,
        needles: fields.needles,
        query: fields.query,
        json,
        schema: fields.schema.map(Arc::from),
        explains: fields.explains,
        redact: redact.map(|rules| Arc::clone(rules)),
    };
    Ok(())
}

/// Makes the error of a field with a value that the engine does not know.
pub fn unknown(name: &str, value: &str) -> Error {
    Error::from_reason(format!("unknown {name}: {value}"))
}

/// Returns the policy with the question of one text, if there is one.
pub fn asking(policy: &Policy, query: Option<Vec<String>>) -> Cow<'_, Policy> {
    query.map_or(Cow::Borrowed(policy), |query| Cow::Owned(Policy { query, ..policy.clone() }))
}

/// Returns the name of a part that is kept, [`Keep::Auto`] resolved.
pub fn name_of(keep: Keep) -> &'static str {
    match keep {
        Keep::Head | Keep::HeadOrEnds | Keep::Auto => "head",
        Keep::Tail => "tail",
        Keep::Ends => "ends",
        Keep::Findings => "findings",
        Keep::Relevant => "relevant",
    }
}

/// Writes integers to the start of an array that JavaScript reads.
pub fn write(numbers: &mut [f64], values: &[usize]) {
    for (number, value) in numbers.iter_mut().zip(values) {
        *number = *value as f64;
    }
}
