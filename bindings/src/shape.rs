//! JSON within limits.

use napi_derive::napi;

use crate::answer::answer;
use crate::cut::JsText;
use crate::policy::{PolicyHandle, asking};
use spillway::policy::Policy;
use spillway::shape::{ShapeOutcome, cut_texts, shape, shape_told};

/// Shortened JSON, and counts of its omissions.
#[napi(object, object_from_js = false)]
pub struct ShapedJson {
    #[napi(ts_type = "string")]
    pub json: JsText,
    pub is_less: bool,
    pub elements: u32,
    pub strings: u32,
    pub members: u32,
    pub validates: bool,
}

/// The form that JSON keeps.
#[derive(Clone, Copy)]
pub struct ShapeForm {
    /// A notice in the JSON counts the omissions.
    pub tells: bool,
    /// It is a part of a result, so the schema is not its own.
    pub is_rest: bool,
}

/// Rewrites JSON to fit a policy, with the question of this text if there is one. `tells`: adds a
/// notice to a list or an object that counts the omissions. `is_rest`: it is a part of a result, so
/// the schema is not its own. Returns null for a text that is not JSON; with `tells` also for other
/// JSON, and if the notice would leave no room.
#[napi(catch_unwind)]
pub fn shape_json(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    json: String,
    query: Option<Vec<String>>,
    tells: Option<bool>,
    is_rest: Option<bool>,
) -> Option<ShapedJson> {
    let form = ShapeForm { tells: tells == Some(true), is_rest: is_rest == Some(true) };
    shaped(&json, &asking(policy, query), form)
}

/// The texts of data that were cut before.
#[napi(object, object_from_js = false)]
pub struct CutTexts {
    pub texts: Vec<String>,
    /// Bytes of the JSON beside them.
    pub beside: f64,
}

/// Finds the texts of data that were cut before. Returns null for a text that is not JSON, or has
/// none.
#[napi(catch_unwind)]
pub fn cut_texts_of(json: String) -> Option<CutTexts> {
    cut_texts(&json).map(|(texts, beside)| CutTexts { texts, beside: beside as f64 })
}

/// Rewrites JSON to fit a policy.
pub fn shaped(json: &str, policy: &Policy, form: ShapeForm) -> Option<ShapedJson> {
    let made: ShapeOutcome = match form {
        ShapeForm { tells: true, .. } => shape_told(json, policy)?,
        ShapeForm { is_rest: true, .. } => shape(json, &policy.of_rest())?,
        _ => shape(json, policy)?,
    };
    let [elements, strings, members] = [made.elements, made.strings, made.members].map(|count| count as u32);
    Some(ShapedJson {
        json: answer(made.json),
        is_less: made.is_less,
        elements,
        strings,
        members,
        validates: made.validates,
    })
}
