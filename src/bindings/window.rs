//! The context window of a model, and the route for a prompt that exceeds it.

use napi_derive::napi;

use super::units::Numbers;
use crate::context::window::{self, Window};

/// `Number.MAX_SAFE_INTEGER`. Larger limits are lifted.
const EXACT: usize = (1 << 53) - 1;

/// Takes the tokens of a window, its reserve, and the maximum chars of one tool result (NaN for the default). Returns
/// the tokens of a prompt, those chars, and the maximum chars of all results.
#[napi(catch_unwind)]
pub fn window(#[napi(ts_arg_type = "Float64Array")] io: Numbers) {
    let window = Window { tokens: io[0] as usize, reserve: io[1] as usize };
    let each = if io[2].is_nan() { window.result_chars() } else { io[2] as usize };
    for (number, value) in io.iter_mut().zip([window.budget(), each, window.all_results_chars(each)]) {
        *number = if value > EXACT { f64::INFINITY } else { value as f64 };
    }
}

/// Chooses the route for a prompt of `tokens`. `least` is the number of tokens after shrinking all tool results, or NaN
/// if none can shrink. Returns 0 if the prompt fits, 1 for compaction, 2 for truncation, 3 for both.
#[napi(catch_unwind)]
pub fn route(tokens: f64, budget: f64, least: f64) -> u32 {
    let least = (!least.is_nan()).then_some(least as usize);
    window::route(tokens as usize, budget as usize, least) as u32
}
