//! JSON within limits.

use napi_derive::napi;

use super::answer::answer;
use super::cut::JsText;
use super::policy::{PolicyHandle, asking};
use crate::policy::Policy;
use crate::shape::shape;

/// JSON with less in it, and counts of what is missing.
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

/// Rewrites JSON to fit a policy, with the question of this text if there is one. `is_rest`: it is
/// a part of a result, so the schema is not its own. Returns null for a text that is not JSON.
#[napi(catch_unwind)]
pub fn shape_json(
    #[napi(ts_arg_type = "ExternalObject<'policy'>")] policy: &PolicyHandle,
    json: String,
    query: Option<Vec<String>>,
    is_rest: Option<bool>,
) -> Option<ShapedJson> {
    let policy = asking(policy, query);
    let made = match is_rest {
        Some(true) => shape(&json, &Policy { schema: None, ..policy.into_owned() })?,
        _ => shape(&json, &policy)?,
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
